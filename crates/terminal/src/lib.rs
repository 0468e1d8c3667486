//! How a command speaks with who called it: answers and failures with their exit codes, secrets
//! that are typed, and how far long work is.
#![forbid(unsafe_code)]

pub mod input;
pub mod output;
pub mod progress;

pub use output::{Failure, Output, note};
pub use progress::Progress;

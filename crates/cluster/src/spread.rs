//! How what a node tells reaches the others.
pub use crate::tell::{Alone, Believe, BoxFuture, Receipt, Tell};

//! What a process that serves has of its system, whichever it is: its log, its clock, its memory,
//! its sockets, and the manager that started it.

mod clock;
pub mod log;
mod log_budget;
mod log_lines;
pub mod memory;
pub mod sockets;
pub mod systemd;

pub use clock::SystemClock;

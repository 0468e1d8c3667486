//! Lines of the log that wait for their export. The log is the process', and so is this.
use crate::Queue;
use std::sync::atomic::AtomicBool;

/// Most lines that wait for their export; further ones are dropped and counted.
pub const MAX_WAITING_LINES: usize = 8_192;

/// A line of the log: what standard error has, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// When, Unix nanoseconds.
    pub at: u64,
    /// "ERROR", "WARN", "INFO", "DEBUG" or "TRACE".
    pub level: &'static str,
    /// The place of the program.
    pub target: &'static str,
    /// The constant text.
    pub message: String,
    /// What it is about.
    pub fields: Vec<(&'static str, String)>,
    /// The trace and the span that it was written in, where they are recorded.
    pub span: Option<(String, String)>,
}

/// Whether anybody takes them.
pub static ON: AtomicBool = AtomicBool::new(false);
/// Those that wait.
pub static LINES: Queue<Line> = Queue::new(MAX_WAITING_LINES);

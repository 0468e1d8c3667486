//! What is handed in.
use crate::proposal::FORMAT;
use std::{sync::Arc, time::Duration};

/// Times, and where random numbers come from.
#[derive(Clone)]
pub struct Settings {
    /// How often a leader is heard.
    pub heartbeat: Duration,
    /// Between these a node that hears no leader waits, after it has not heard one for the longer
    /// of them: so an election begins within twice the second.
    pub election: (Duration, Duration),
    /// How long a call may wait for a majority, and how long one may be gone before calls are
    /// refused at once.
    pub deadline: Duration,
    /// Random numbers: names of sessions, of snapshots under way and of generations.
    pub random: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// The newest format of entries that this node reads, and that it writes where all members
    /// read it. Another one than the usual is another version of the program, in a test.
    pub format: u8,
}

impl Settings {
    /// The usual times: a leader that dies is replaced within 1.3 seconds, a call waits 2 at most.
    pub fn new(random: Arc<dyn Fn() -> u64 + Send + Sync>) -> Settings {
        Settings {
            heartbeat: Duration::from_millis(100),
            election: (Duration::from_millis(300), Duration::from_millis(600)),
            deadline: Duration::from_secs(2),
            random,
            format: FORMAT,
        }
    }
}

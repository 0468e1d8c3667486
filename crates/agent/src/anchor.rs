//! What a log is known to have contained, and since when.
//!
//! A key that was given up as compromised proves nothing any more, for whoever stole it can date
//! back. What a log had taken in before, and the log's checkpoint says so, still counts.
//!
//! The same holds of every retired key, if a verifier wants it so ([`Anchors::demanded`]): that an
//! object was issued before a rotation is otherwise its signer's word alone.

use std::collections::HashMap;

use crate::id::Hash;

/// Objects that a trusted log had taken in, with the time of the checkpoint that shows it (Unix
/// seconds).
#[derive(Debug, Clone, Default)]
pub struct Anchors {
    times: HashMap<Hash, u64>,
    demanded: bool,
}

impl Anchors {
    /// None.
    pub fn none() -> Anchors {
        Anchors::default()
    }

    /// None yet, and the demand for one: what a retired key has signed counts only if a log had
    /// taken it in before the rotation, whatever date it has.
    pub fn demanded() -> Anchors {
        Anchors {
            demanded: true,
            ..Anchors::default()
        }
    }

    /// Whether a retired key's objects need one of these.
    pub fn are_demanded(&self) -> bool {
        self.demanded
    }

    /// Adds an object that [`crate::log::Checkpoint`] was verified to contain. The earliest time
    /// stays.
    pub fn add(&mut self, object: Hash, time: u64) {
        let known = self.times.entry(object).or_insert(time);
        *known = (*known).min(time);
    }

    /// Whether the object was in a log before this time.
    pub fn before(&self, object: &Hash, time: u64) -> bool {
        self.times.get(object).is_some_and(|at| *at < time)
    }
}

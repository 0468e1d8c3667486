//! Which entries are whose.
use crate::{
    NodeId,
    member::{KIND, Members},
};
use signet_merge::{entry::Entry, tell::Believe};
use std::sync::Arc;

/// Kinds below are the cluster's own, the others the rooms' above.
const FIRST_ABOVE: u8 = 16;

/// What is announced about members goes to their table, the rest to the rooms above.
pub(super) struct Routed {
    pub(super) members: Arc<Members>,
    pub(super) above: Arc<dyn Believe>,
}

impl Believe for Routed {
    fn believe(&self, origin: &NodeId, entries: &[Entry]) {
        if entries.iter().all(|entry| entry.kind >= FIRST_ABOVE) {
            return self.above.believe(origin, entries);
        }
        let mut above = Vec::new();
        for entry in entries {
            if entry.kind >= FIRST_ABOVE {
                above.push(entry.clone());
            } else if entry.kind == KIND
                && let Err(error) = self.members.believe(entry)
            {
                tracing::warn!(%origin, %error, "rejected an invalid statement about a member");
            }
        }
        if !above.is_empty() {
            self.above.believe(origin, &above);
        }
    }

    fn is_current(&self, entry: &Entry) -> bool {
        match entry.kind {
            KIND => self.members.is_current(entry),
            // A later version's: this one cannot say that it does not matter.
            1..FIRST_ABOVE => true,
            FIRST_ABOVE.. => self.above.is_current(entry),
        }
    }
}

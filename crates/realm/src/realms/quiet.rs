//! Realms that nobody asks for any more are closed where too many are open: whoever knows the names
//! of realms can have each opened, and must not fill the memory by it.
use super::{Realms, Slot};
use std::sync::Arc;

/// Most realms beside the first that stay open; of more, those that were asked for longest ago are
/// closed, and opened again by their next request.
pub const MAX_OPEN_REALMS: usize = 500;
/// For how long nobody asked for a realm that is closed, milliseconds.
const QUIET_MS: u64 = 5_000;

impl Realms {
    /// Closes realms that are too many and quiet. To be called every few seconds. One that has
    /// something to send stays open.
    pub async fn close_quiet(self: &Arc<Self>) {
        let Some(opener) = self.opener() else { return };
        let table = self.table();
        let mut open: Vec<&Arc<Slot>> = table.slots().collect();
        open.retain(|slot| slot.opened().is_some());
        let Some(over) = open.len().checked_sub(MAX_OPEN_REALMS).filter(|n| *n > 0) else {
            return;
        };
        let quiet_since = self.first().now_ms().saturating_sub(QUIET_MS);
        open.retain(|slot| slot.asked_at_ms() <= quiet_since);
        open.sort_unstable_by_key(|slot| slot.asked_at_ms());
        let mut closed = Vec::new();
        for slot in open.into_iter().take(over) {
            if !opener.has_work(slot.entry()).await {
                closed.push(slot.entry().name.clone());
            }
        }
        closed.sort_unstable();
        self.reopen(|entry| closed.binary_search(&entry.name).is_ok());
    }
}

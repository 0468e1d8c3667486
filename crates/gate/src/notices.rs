//! Log lines about what a proxy does wrong: at most one a minute of each kind, however many
//! requests it spoils.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Seconds between two lines of one kind.
const PAUSE: u64 = 60;

/// When each kind was last logged.
#[derive(Default)]
pub(crate) struct Notices {
    pub(crate) misconfigured: Notice,
    pub(crate) unknown_caller: Notice,
    pub(crate) unproven_request: Notice,
    pub(crate) unknown_application: Notice,
}

/// One kind.
#[derive(Default)]
pub(crate) struct Notice(AtomicU64);

impl Notice {
    /// Whether it is time for a line; true for one caller in a minute. `now`: Unix seconds.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        let last = self.0.load(Relaxed);
        (last == 0 || now >= last.saturating_add(PAUSE))
            && self
                .0
                .compare_exchange(last, now.max(1), Relaxed, Relaxed)
                .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_due_once_a_minute() {
        let notice = Notice::default();
        let due: Vec<bool> = [100, 100, 159, 160, 161, 220]
            .into_iter()
            .map(|now| notice.is_due(now))
            .collect();
        assert_eq!(due, [true, false, false, true, false, true]);
    }
}

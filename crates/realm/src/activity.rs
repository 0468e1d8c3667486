//! What this process did in the last day, minute by minute, for the console's charts.
//!
//! Nothing is counted twice: the counters of the metrics are looked at every few seconds, and what
//! they grew by belongs to the minute in which it was seen. It is in memory alone, of this process
//! alone, and begins with its start.
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Minutes that are kept: a day.
pub const MAX_MINUTES: usize = 1440;

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Logins that worked.
    pub logins: u64,
    /// Token responses.
    pub tokens: u64,
    /// Logins and requests for tokens that were refused.
    pub refusals: u64,
}

impl Counts {
    fn since(self, before: Counts) -> Counts {
        Counts {
            logins: self.logins.saturating_sub(before.logins),
            tokens: self.tokens.saturating_sub(before.tokens),
            refusals: self.refusals.saturating_sub(before.refusals),
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Counts) -> Counts {
        Counts {
            logins: self.logins.saturating_add(other.logins),
            tokens: self.tokens.saturating_add(other.tokens),
            refusals: self.refusals.saturating_add(other.refusals),
        }
    }
}

#[derive(Default)]
struct Ring {
    /// The counters when they were last looked at.
    seen: Counts,
    /// Minutes since the epoch in which something was counted, the oldest first.
    minutes: VecDeque<(u64, Counts)>,
}

/// See the module.
#[derive(Default)]
pub struct Activity(Mutex<Ring>);

impl Activity {
    /// The counters are these at `now`, Unix seconds.
    pub fn note(&self, now: u64, counters: Counts) {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let grown = counters.since(ring.seen);
        ring.seen = counters;
        if grown == Counts::default() {
            return;
        }
        let minute = now / 60;
        match ring.minutes.back_mut() {
            // A clock that was set back adds to the latest minute: the order stays.
            Some((last, counts)) if *last >= minute => *counts = counts.and(grown),
            Some(_) | None => ring.minutes.push_back((minute, grown)),
        }
        while ring.minutes.len() > MAX_MINUTES {
            ring.minutes.pop_front();
        }
    }

    /// The last `spans` spans of `minutes` minutes each up to `now`, Unix seconds, the oldest
    /// first: the minute at which each begins, and what was counted in it.
    pub fn last(&self, now: u64, spans: u64, minutes: u64) -> Vec<(u64, Counts)> {
        let minutes = minutes.max(1);
        let current = now / 60 / minutes;
        let first = (current + 1).saturating_sub(spans);
        let mut all: Vec<(u64, Counts)> = (first..=current)
            .map(|span| (span * minutes, Counts::default()))
            .collect();
        let ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (minute, counts) in &ring.minutes {
            let at = (minute / minutes).checked_sub(first);
            let at = at.and_then(|at| usize::try_from(at).ok());
            if let Some((_, sum)) = at.and_then(|at| all.get_mut(at)) {
                *sum = sum.and(*counts);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logins(count: u64) -> Counts {
        Counts {
            logins: count,
            ..Counts::default()
        }
    }

    #[test]
    fn what_the_counters_grew_by_belongs_to_its_minute_and_older_days_are_forgotten() {
        let activity = Activity::default();
        activity.note(600, logins(3));
        activity.note(630, logins(4));
        activity.note(660, logins(4));
        activity.note(720, logins(9));
        let counted: Vec<u64> = activity
            .last(720, 4, 1)
            .iter()
            .map(|(_, counts)| counts.logins)
            .collect();
        assert_eq!(counted, [0, 4, 0, 5]);
        let whole = activity.last(720, 1, 60);
        assert_eq!(whole, [(0, logins(9))]);
        for minute in 0..3000_u64 {
            activity.note(minute * 60, logins(10 + minute));
        }
        let all = activity.last(2999 * 60, 4000, 1);
        let kept = all.iter().filter(|(_, counts)| counts.logins > 0).count();
        assert_eq!(kept, MAX_MINUTES);
    }
}

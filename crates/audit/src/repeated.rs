//! What its caller may repeat at will without a secret, and what changes nothing: counted. A record
//! for each would let anybody fill the disk by what is allowed, as refusals would by what is not
//! ([`crate::refusals`]).
//!
//! All that say the same within a minute (action, client, subject, operation and so on) are one
//! line at its end, with their number. Callers that are counted separately in a minute are bounded;
//! what is beyond is counted by what was done alone.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use crate::event::{Entry, Event, Kind};

/// Kinds of what is counted that are counted separately in a minute; further ones are counted by
/// what was done alone
const MAX_KINDS: usize = 1024;

/// Counts what is repeated.
#[derive(Default)]
pub(crate) struct Repeated {
    hasher: RandomState,
    seen: Mutex<HashMap<u64, Seen>>,
}

struct Seen {
    kind: Kind<String>,
    count: u64,
    since_ms: u64,
}

impl Repeated {
    pub(crate) fn add(&self, event: &Event<'_>) {
        // Every step leaves a whole state.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = event.kind();
        if !self.add_as(&mut seen, kind, event.at_ms(), MAX_KINDS) {
            // As many as the program has actions and operations.
            self.add_as(&mut seen, kind.of_anybody(), event.at_ms(), usize::MAX);
        }
    }

    /// Whether there was room for the kind.
    fn add_as(
        &self,
        seen: &mut HashMap<u64, Seen>,
        kind: Kind<&str>,
        at_ms: u64,
        most: usize,
    ) -> bool {
        let hash = self.hasher.hash_one(kind);
        if let Some(seen) = seen.get_mut(&hash) {
            let same = seen.kind.borrowed() == kind;
            seen.count += u64::from(same);
            return same;
        }
        if seen.len() >= most {
            return false;
        }
        let first = Seen {
            kind: kind.owned(),
            count: 1,
            since_ms: at_ms,
        };
        seen.insert(hash, first);
        true
    }

    /// The lines of what was counted since, and every count at zero again.
    pub(crate) fn take(&self, now_ms: u64) -> Vec<Entry> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = std::mem::take(&mut *seen);
        let line = |seen: Seen| {
            Event::of_kind(seen.kind.borrowed(), now_ms)
                .counted(Some(seen.count), seen.since_ms)
                .entry(None)
        };
        seen.into_values().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Action, Content};

    fn pushed(client: &str, at_ms: u64) -> Event<'_> {
        Event::new(Action::PUSHED, at_ms).client(client)
    }

    fn said(entry: &Entry) -> (Option<String>, u64) {
        let members = Content::parse(&entry.content).unwrap().members;
        let client = members.get("client_id").and_then(|id| id.as_str());
        (
            client.map(str::to_owned),
            members["count"].as_u64().unwrap(),
        )
    }

    #[test]
    fn what_is_repeated_is_a_line_for_each_caller_and_loses_no_count() {
        let repeated = Repeated::default();
        for at in 0..2000 {
            repeated.add(&pushed("web", at));
            repeated.add(&pushed("app", at));
        }
        let mut lines: Vec<_> = repeated.take(60_000).iter().map(said).collect();
        lines.sort();
        let expected = ["app", "web"].map(|client| (Some(client.to_owned()), 2000));
        assert_eq!(lines, expected);
        assert!(repeated.take(60_000).is_empty());
    }

    #[test]
    fn callers_beyond_the_bound_are_counted_together() {
        let repeated = Repeated::default();
        let names: Vec<String> = (0..5000).map(|n| n.to_string()).collect();
        for name in &names {
            repeated.add(&pushed(name, 5));
        }
        let lines: Vec<_> = repeated.take(60_000).iter().map(said).collect();
        assert_eq!(lines.len(), MAX_KINDS + 1);
        let counted: u64 = lines.iter().map(|(_, count)| count).sum();
        assert_eq!(counted, 5000);
        let together = lines.iter().filter(|(client, _)| client.is_none());
        assert_eq!(together.count(), 1);
    }
}

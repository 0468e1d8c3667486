//! Refusals, bounded: any sender of requests may cause them, and must not fill the disk by it.
//!
//! The first refusal of its kind in a minute is a line at once, with its request. Others that say
//! the same (action, client, subject, error and so on) are counted, and the count is a line at the
//! minute's end. New kinds have a budget of lines a second; what is beyond it is counted in all,
//! and one line says how many are left out.
//!
//! What is allowed does not pass here and costs what it did.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use super::event::{Action, Entry, Event, Kind};

/// Kinds of refusals that are counted separately in a minute.
const MAX_KINDS: usize = 4096;

/// Counts refusals.
pub(crate) struct Refusals {
    per_second: u32,
    hasher: RandomState,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    seen: HashMap<u64, Seen>,
    second: u64,
    listed: u32,
    left_out: u64,
    left_out_since: u64,
}

struct Seen {
    kind: Kind<String>,
    /// After the first, which is a line of its own.
    count: u64,
    since_ms: u64,
}

impl Refusals {
    pub(crate) fn new(per_second: u32) -> Refusals {
        Refusals {
            per_second,
            hasher: RandomState::new(),
            state: Mutex::default(),
        }
    }

    /// Whether this refusal is a line of its own; counted where it is not.
    pub(crate) fn admit(&self, event: &Event<'_>) -> bool {
        let (kind, at_ms) = (event.kind(), event.at_ms());
        let hash = self.hasher.hash_one(kind);
        // Every step leaves a whole state.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = state.seen.get_mut(&hash)
            && seen.kind.borrowed() == kind
        {
            if seen.count == 0 {
                seen.since_ms = at_ms;
            }
            seen.count += 1;
            return false;
        }
        let second = at_ms / 1000;
        if state.second != second {
            (state.second, state.listed) = (second, 0);
        }
        let is_full = state.seen.len() >= MAX_KINDS || state.seen.contains_key(&hash);
        if is_full || state.listed >= self.per_second {
            if state.left_out == 0 {
                state.left_out_since = at_ms;
            }
            state.left_out += 1;
            return false;
        }
        state.listed += 1;
        let seen = Seen {
            kind: kind.owned(),
            count: 0,
            since_ms: at_ms,
        };
        state.seen.insert(hash, seen);
        true
    }

    /// The lines of what was counted since, and every count at zero again.
    pub(crate) fn take(&self, now_ms: u64) -> Vec<Entry> {
        let state = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let next = State {
                second: state.second,
                listed: state.listed,
                ..State::default()
            };
            std::mem::replace(&mut *state, next)
        };
        let counted = state.seen.into_values().filter(|seen| seen.count > 0);
        let mut entries: Vec<Entry> = counted
            .map(|seen| {
                Event::of_kind(seen.kind.borrowed(), now_ms)
                    .counted(Some(seen.count), seen.since_ms)
                    .entry(None)
            })
            .collect();
        if state.left_out > 0 {
            let gap = Event::new(Action::GAP, now_ms)
                .because("refusals_over_budget")
                .counted(Some(state.left_out), state.left_out_since);
            entries.push(gap.entry(None));
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(client: &str, at_ms: u64) -> Event<'_> {
        Event::new(Action::TOKEN, at_ms)
            .client(client)
            .refused("invalid_client")
    }

    fn count(entry: &Entry) -> u64 {
        let content = crate::event::Content::parse(&entry.content).unwrap();
        content.members["count"].as_u64().unwrap()
    }

    #[test]
    fn identical_refusals_are_counted_and_not_listed() {
        let refusals = Refusals::new(20);
        let listed = (0..1000).filter(|at| refusals.admit(&refused("web", 5000 + at)));
        assert_eq!(listed.count(), 1);
        assert!(refusals.admit(&refused("other", 5000)));
        let lines = refusals.take(60_000);
        assert_eq!(lines.iter().map(count).collect::<Vec<_>>(), [999]);
        // A new minute begins with a line.
        assert!(refusals.take(60_000).is_empty());
        assert!(refusals.admit(&refused("web", 61_000)));
    }

    #[test]
    fn refusals_of_many_kinds_have_a_budget_and_one_line_says_how_many_are_left_out() {
        let refusals = Refusals::new(20);
        let names: Vec<String> = (0..10_000).map(|n| n.to_string()).collect();
        let listed = names
            .iter()
            .filter(|name| refusals.admit(&refused(name, 5000)));
        assert_eq!(listed.count(), 20);
        let lines = refusals.take(60_000);
        assert_eq!(lines.iter().map(count).collect::<Vec<_>>(), [9980]);
        assert_eq!(&*lines[0].action, Action::GAP.0);
        // However long it lasts, a minute's kinds are bounded.
        let listed = (0..1000).flat_map(|second| names.iter().map(move |name| (second, name)));
        let listed = listed.filter(|(second, name)| {
            let name = format!("{second} {name}");
            refusals.admit(&refused(&name, 60_000 + second * 1000))
        });
        assert_eq!(listed.count(), MAX_KINDS);
    }
}

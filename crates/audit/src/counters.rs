//! What is asked so often that a line for each would say less than a count.

use papaya::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::event::{Action, Entry, Event};

/// What is counted, for each caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counted {
    /// Introspections, by the client that asked; yes: the token was active.
    Introspection,
    /// Answers of `/userinfo`, by client.
    Userinfo,
    /// Reads of the admin API, by who read.
    AdminRead,
}

impl Counted {
    const ALL: [Counted; 3] = [
        Counted::Introspection,
        Counted::Userinfo,
        Counted::AdminRead,
    ];

    const fn action(self) -> Action {
        match self {
            Counted::Introspection => Action::INTROSPECT,
            Counted::Userinfo => Action::USERINFO,
            Counted::AdminRead => Action::ADMIN_READ,
        }
    }

    /// The names of the two answers.
    const fn answers(self) -> [&'static str; 2] {
        match self {
            Counted::Introspection => ["active", "inactive"],
            Counted::Userinfo | Counted::AdminRead => ["answered", "refused"],
        }
    }
}

#[derive(Default)]
struct Counts([AtomicU64; 2]);

/// One map for each kind. Callers were authenticated, so there are no more of them than there are
/// records.
#[derive(Default)]
pub(crate) struct Counters([HashMap<Box<str>, Counts>; 3]);

impl Counters {
    pub(crate) fn add(&self, what: Counted, caller: &str, yes: bool) {
        let map = self.0[what as usize].pin();
        let at = usize::from(!yes);
        if let Some(counts) = map.get(caller) {
            counts.0[at].fetch_add(1, Relaxed);
            return;
        }
        map.get_or_insert_with(caller.into(), Counts::default).0[at].fetch_add(1, Relaxed);
    }

    /// A line for each caller and answer that was counted since, and every count at zero again.
    pub(crate) fn take(&self, since_ms: u64, now_ms: u64) -> Vec<Entry> {
        let mut entries = Vec::new();
        for what in Counted::ALL {
            for (caller, counts) in &self.0[what as usize].pin() {
                for (count, answer) in counts.0.iter().zip(what.answers()) {
                    let count = count.swap(0, Relaxed);
                    if count == 0 {
                        continue;
                    }
                    let event = Event::new(what.action(), now_ms)
                        .happened()
                        .operation(answer)
                        .counted(Some(count), since_ms);
                    let event = match what {
                        Counted::AdminRead => event.subject(caller),
                        Counted::Introspection | Counted::Userinfo => event.client(caller),
                    };
                    entries.push(event.entry(None));
                }
            }
        }
        entries
    }
}

//! What people are found by: their names and addresses, in memory, so that a search reads the
//! accounts that it shows and no others.
//!
//! The index is made of the accounts' rows from time to time, while somebody searches
//! ([`Accounts::index`](crate::Accounts::index)). Accounts that this node has written since are
//! noted and looked at besides; what another node wrote since is found a little later. A hit is
//! always read and compared again, so nothing is shown that is not so. Below [`LEAST`] accounts,
//! and above [`MAX_INDEXED`], no index is made, and a search reads on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use signet_store::{Change, Layer, Outcome, Store, StoreFuture, Table};

use crate::record::User;

/// Accounts from which on there is an index.
pub(crate) const LEAST: usize = 1_000;
/// Most accounts of an index; a larger realm has none.
pub const MAX_INDEXED: usize = 500_000;
/// Most accounts that are noted until there is another index.
pub const MAX_NOTED: usize = 10_000;
/// An index is made again while somebody has searched within so many seconds.
const WANTED: u64 = 900;

/// One text for all people, in the order of their ids.
#[derive(Default)]
pub(crate) struct Texts {
    ids: Vec<String>,
    /// Where each person's text ends.
    ends: Vec<usize>,
    text: String,
}

impl Texts {
    /// The next person, whose id comes after those before.
    pub(crate) fn push(&mut self, user: &User) {
        self.put(&user.id, &user.texts());
    }

    fn put(&mut self, id: &str, texts: &[String]) {
        for text in texts {
            self.text.push_str(text);
            // Names have no line ends.
            self.text.push('\n');
        }
        self.ends.push(self.text.len());
        self.ids.push(id.to_owned());
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Ids of people after this one whose text has these words, ascending.
    fn find<'a>(&'a self, words: &'a str, after: Option<&str>) -> impl Iterator<Item = &'a str> {
        let begin = after.map_or(0, |after| {
            self.ids.partition_point(|id| id.as_str() <= after)
        });
        let mut from = begin.checked_sub(1).map_or(0, |before| self.ends[before]);
        std::iter::from_fn(move || {
            let at = from + self.text.get(from..)?.find(words)?;
            let person = self.ends.partition_point(|end| *end <= at);
            from = *self.ends.get(person)?;
            self.ids.get(person).map(String::as_str)
        })
    }
}

#[derive(Default)]
struct State {
    texts: Option<Arc<Texts>>,
    /// When somebody searched last, Unix seconds.
    asked_at: u64,
    /// Accounts that were written here, with a number that grows.
    noted: BTreeMap<String, u64>,
    number: u64,
    /// More was written than is noted.
    is_lost: bool,
}

/// See the module.
#[derive(Default)]
pub(crate) struct PeopleIndex(Mutex<State>);

impl PeopleIndex {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, change: &Change) {
        let ops = std::iter::once(&change.first).chain(&change.then);
        for key in ops
            .map(|op| op.key())
            .filter(|key| key.table == Table::User)
        {
            let Ok(id) = std::str::from_utf8(&key.partition) else {
                continue;
            };
            let mut state = self.state();
            state.number += 1;
            let number = state.number;
            match state.noted.len() < MAX_NOTED {
                true => drop(state.noted.insert(id.to_owned(), number)),
                false => state.is_lost = true,
            }
        }
    }

    /// Whether somebody has searched lately.
    pub(crate) fn is_wanted(&self, now: u64) -> bool {
        self.state().asked_at.saturating_add(WANTED) > now
    }

    /// The number up to which what was noted is in an index that is begun now.
    pub(crate) fn begin(&self) -> u64 {
        self.state().number
    }

    /// The index that was begun there.
    pub(crate) fn finish(&self, begun: u64, texts: Option<Texts>) {
        let mut state = self.state();
        state.texts = texts.map(Arc::new);
        state.noted.retain(|_, number| *number > begun);
        state.is_lost = false;
    }

    /// Ids of people after this one who may have these words, ascending, `limit` at most. None:
    /// there is no index.
    pub(crate) fn find(
        &self,
        words: &str,
        after: Option<&str>,
        limit: usize,
        now: u64,
    ) -> Option<Vec<String>> {
        let (texts, noted) = {
            let mut state = self.state();
            state.asked_at = now;
            let texts = state.texts.clone().filter(|_| !state.is_lost)?;
            let behind = state.noted.keys();
            let behind = behind.filter(|id| after.is_none_or(|after| id.as_str() > after));
            (texts, behind.cloned().collect::<Vec<_>>())
        };
        let found = texts.find(words, after).take(limit);
        let mut ids: Vec<String> = found.map(str::to_owned).collect();
        // Behind the last of a full page there are others, which were not looked for.
        let last = ids.last().filter(|_| ids.len() == limit).cloned();
        let noted = noted.into_iter();
        ids.extend(noted.filter(|id| last.as_ref().is_none_or(|last| id < last)));
        ids.sort();
        ids.dedup();
        Some(ids)
    }
}

/// The store of the accounts, which notes what is written.
pub(crate) struct Noting {
    pub(crate) inner: Arc<dyn Store>,
    pub(crate) index: Arc<PeopleIndex>,
}

impl Layer for Noting {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    // Before it is done: a search that comes in between reads the row, whatever it says.
    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        self.index.note(&change);
        self.inner.commit(change, now)
    }

    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>> {
        changes.iter().for_each(|change| self.index.note(change));
        self.inner.commit_each(changes, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_found_by_a_part_of_a_text_once_each_and_in_order() {
        let mut texts = Texts::default();
        for (id, name) in [
            ("a", "Ada"),
            ("b", "Barbara"),
            ("c", "Claude"),
            ("d", "Adada"),
        ] {
            texts.put(id, &[name.to_lowercase()]);
        }
        let find = |words: &str, after: Option<&str>| {
            let found = texts.find(words, after);
            found.map(str::to_owned).collect::<Vec<_>>().join("")
        };
        assert_eq!(find("ada", None), "ad");
        assert_eq!(find("a", None), "abcd");
        assert_eq!(find("a", Some("b")), "cd");
        assert_eq!(find("ada", Some("a")), "d");
        assert_eq!(
            find("ab", None),
            "",
            "no text goes from one person to the next"
        );
        assert_eq!(find("x", None), "");
    }
}

//! Many realms in one store, none of which can name another's rows.
//!
//! A realm's rows stand in partitions that begin with its name behind a mark; the default realm's
//! have no mark, as all rows had before there were realms. A [`RealmStore`] writes the prefix on
//! the way in and takes it off on the way out, so what is above it cannot even say the key of
//! another realm's row: [`Store::page`] of a realm is the range of its prefix, and the default
//! realm's leaves all ranges out.
//!
//! What it does not separate: [`Store::sweep`] and [`Store::check`] are the engine's, for all
//! realms at once, and so is the disk.
use crate::{Change, Key, Layer, Op, Outcome, Row, Store, StoreError, StoreFuture, Table};
use std::{fmt, future::ready, sync::Arc};

/// Begins the partitions of every realm but the default one. The default realm's partitions are
/// names and addresses, which have no control characters, and random ids, of which one in 2^56
/// would be refused.
const MARK: &[u8] = b"\0realm\0";
/// Ends the realm's name: a name has no zero byte, so no prefix begins with another.
const END: u8 = 0;

/// The name of a realm: 1 to 32 of `a-z`, `0-9` and `-`, the first a letter. The default realm has
/// none; its text is empty.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct RealmId(Arc<str>);

/// The text is no name of a realm.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a realm's name is 1 to 32 of a-z, 0-9 and -, and begins with a letter")]
pub struct InvalidRealmId;

impl RealmId {
    /// The realm that there is without being asked for.
    pub fn default_realm() -> RealmId {
        RealmId::default()
    }

    /// A named realm.
    ///
    /// # Errors
    /// [`InvalidRealmId`]: also for the empty text, which names none.
    pub fn parse(text: &str) -> Result<RealmId, InvalidRealmId> {
        let allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        let first = text.bytes().next().is_some_and(|c| c.is_ascii_lowercase());
        if !first || text.len() > 32 || !text.bytes().all(allowed) {
            return Err(InvalidRealmId);
        }
        Ok(RealmId(text.into()))
    }

    /// The name; empty for the default realm.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the default realm.
    pub fn is_default(&self) -> bool {
        self.0.is_empty()
    }

    /// Whose a partition of the whole store is.
    pub fn of_partition(partition: &[u8]) -> RealmId {
        let name = prefix_of(partition).get(MARK.len()..);
        let name = name.and_then(|name| std::str::from_utf8(name).ok());
        name.and_then(|name| RealmId::parse(name).ok())
            .unwrap_or_default()
    }

    fn prefix(&self) -> Vec<u8> {
        match self.is_default() {
            true => Vec::new(),
            false => [MARK, self.0.as_bytes(), &[END]].concat(),
        }
    }
}

impl fmt::Debug for RealmId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_default() {
            true => f.write_str("RealmId(default)"),
            false => write!(f, "RealmId({})", self.0),
        }
    }
}

/// What the partitions of this one's realm begin with; of the default realm's, nothing.
pub(crate) fn prefix_of(partition: &[u8]) -> &[u8] {
    let Some(name) = partition.strip_prefix(MARK) else {
        return &[];
    };
    let end = name.iter().position(|byte| *byte == END);
    end.map_or(&[], |end| &partition[..MARK.len() + end])
}

/// A partition of the whole store, as its realm has it.
pub(crate) fn without_prefix(partition: &[u8]) -> &[u8] {
    match prefix_of(partition).len() {
        0 => partition,
        // The name's end is no part of it.
        length => &partition[length + 1..],
    }
}

/// One realm's view of a store. See the module.
pub struct RealmStore {
    inner: Arc<dyn Store>,
    /// Empty: the default realm.
    prefix: Vec<u8>,
}

impl RealmStore {
    /// The view of this realm. `inner` is the whole store: views do not nest.
    pub fn new(realm: &RealmId, inner: Arc<dyn Store>) -> RealmStore {
        RealmStore {
            inner,
            prefix: realm.prefix(),
        }
    }

    fn is_default(&self) -> bool {
        self.prefix.is_empty()
    }

    fn is_own(&self, partition: &[u8]) -> Result<(), StoreError> {
        match self.is_default() && partition.starts_with(MARK) {
            true => Err(StoreError::Invalid("the key is another realm's")),
            false => Ok(()),
        }
    }

    fn inward(&self, mut key: Key) -> Result<Key, StoreError> {
        self.is_own(&key.partition)?;
        if !self.is_default() {
            key.partition = [&self.prefix, &*key.partition].concat();
        }
        Ok(key)
    }

    fn outward(&self, mut key: Key) -> Key {
        key.partition.drain(..self.prefix.len());
        key
    }

    fn op(&self, op: Op) -> Result<Op, StoreError> {
        Ok(match op {
            Op::Insert { key, value, end } => Op::Insert {
                key: self.inward(key)?,
                value,
                end,
            },
            Op::Replace {
                key,
                version,
                value,
                end,
            } => Op::Replace {
                key: self.inward(key)?,
                version,
                value,
                end,
            },
            Op::Remove { key, version } => Op::Remove {
                key: self.inward(key)?,
                version,
            },
            Op::Put { key, value, end } => Op::Put {
                key: self.inward(key)?,
                value,
                end,
            },
            Op::Delete { key } => Op::Delete {
                key: self.inward(key)?,
            },
        })
    }

    fn change(&self, change: Change) -> Result<Change, StoreError> {
        Ok(Change {
            first: self.op(change.first)?,
            then: change
                .then
                .into_iter()
                .map(|op| self.op(op))
                .collect::<Result<_, _>>()?,
        })
    }

    /// The default realm's page: the engine's, without the rows behind the mark. They are one
    /// range, so at most one row and one more page are read.
    async fn default_page(
        &self,
        table: Table,
        after: Option<&Key>,
        limit: usize,
        now: u64,
    ) -> Result<Vec<(Key, Row)>, StoreError> {
        let mut page = self.inner.page(table, after, limit, now).await?;
        let whole = page.len() < limit;
        let marked = |(key, _): &(Key, Row)| key.partition.starts_with(MARK);
        if !page.iter().any(marked) {
            return Ok(page);
        }
        page.retain(|row| !marked(row));
        if whole {
            return Ok(page);
        }
        // The last partition that could begin with the mark is the mark itself, with its last byte
        // one higher: nothing of a realm is behind it.
        let mut behind = MARK.to_vec();
        if let Some(last) = behind.last_mut() {
            *last += 1;
        }
        let behind = Key::new(table, behind);
        if page.last().is_none_or(|(last, _)| *last < behind) && page.len() < limit {
            // A page begins after its key: this one could be the default realm's.
            let row = self.inner.get(&behind, now).await?;
            page.extend(row.map(|row| (behind.clone(), row)));
        }
        let missing = limit - page.len();
        if missing > 0 {
            let last = page.last().map(|(last, _)| last);
            let from = last
                .filter(|last| **last > behind)
                .unwrap_or(&behind)
                .clone();
            let rest = self.inner.page(table, Some(&from), missing, now).await?;
            page.extend(rest);
        }
        Ok(page)
    }

    async fn realm_page(
        &self,
        table: Table,
        after: Option<&Key>,
        limit: usize,
        now: u64,
    ) -> Result<Vec<(Key, Row)>, StoreError> {
        let after = match after {
            Some(after) => self.inward(after.clone())?,
            // The prefix without its end: before every partition that begins with it, and itself
            // nobody's.
            None => Key::new(table, &self.prefix[..self.prefix.len() - 1]),
        };
        let mut page = self.inner.page(table, Some(&after), limit, now).await?;
        page.retain(|(key, _)| key.partition.starts_with(&self.prefix));
        Ok(page
            .into_iter()
            .map(|(key, row)| (self.outward(key), row))
            .collect())
    }
}

fn refused<'a, T: Send + 'a>(error: StoreError) -> StoreFuture<'a, T> {
    Box::pin(ready(Err(error)))
}

impl Layer for RealmStore {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn get<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        if self.is_default() {
            return match self.is_own(&key.partition) {
                Ok(()) => self.inner.get(key, now),
                Err(error) => refused(error),
            };
        }
        Box::pin(async move { self.inner.get(&self.inward(key.clone())?, now).await })
    }

    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        match self.change(change) {
            Ok(change) => self.inner.commit(change, now),
            Err(error) => refused(error),
        }
    }

    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>> {
        let changes: Result<Vec<Change>, _> = changes.into_iter().map(|c| self.change(c)).collect();
        match changes {
            Ok(changes) => self.inner.commit_each(changes, now),
            Err(error) => refused(error),
        }
    }

    fn take<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        if self.is_default() {
            return match self.is_own(&key.partition) {
                Ok(()) => self.inner.take(key, now),
                Err(error) => refused(error),
            };
        }
        Box::pin(async move { self.inner.take(&self.inward(key.clone())?, now).await })
    }

    fn partition<'a>(
        &'a self,
        table: Table,
        partition: &'a [u8],
        after: &'a [u8],
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        if self.is_default() {
            return match self.is_own(partition) {
                Ok(()) => self.inner.partition(table, partition, after, limit, now),
                Err(error) => refused(error),
            };
        }
        Box::pin(async move {
            let partition = [&self.prefix, partition].concat();
            let rows = self.inner.partition(table, &partition, after, limit, now);
            let rows = rows.await?.into_iter();
            Ok(rows.map(|(key, row)| (self.outward(key), row)).collect())
        })
    }

    fn page<'a>(
        &'a self,
        table: Table,
        after: Option<&'a Key>,
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        match self.is_default() {
            true => Box::pin(self.default_page(table, after, limit, now)),
            false => Box::pin(self.realm_page(table, after, limit, now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_realms_name_is_short_and_plain() {
        for name in ["a", "acme", "a-1", &"x".repeat(32)] {
            assert_eq!(RealmId::parse(name).expect(name).as_str(), name);
        }
        for name in [
            "",
            "1a",
            "-a",
            "A",
            "a.b",
            "a/b",
            "a\0",
            "\u{e4}",
            &"x".repeat(33),
        ] {
            assert_eq!(RealmId::parse(name), Err(InvalidRealmId), "{name}");
        }
    }

    #[test]
    fn no_prefix_begins_with_another() {
        let prefix = |name| RealmId::parse(name).expect("a name").prefix();
        for (one, other) in [("a", "ab"), ("ab", "a"), ("a", "a-"), ("a", "b")] {
            assert!(!prefix(one).starts_with(&prefix(other)), "{one} {other}");
        }
    }
}

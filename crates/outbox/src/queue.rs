//! The rows of one kind: what waits, in the order in which it is due, and what is done.
use std::marker::PhantomData;

use signet_encoding::base64url;
use signet_store::{Change, Key, Op, Row, Store, StoreError, Table};

use crate::item::{Item, Payload, State};

/// Rows that are read at once.
const PAGE: usize = 256;
/// How much longer than until it is due a row is kept, seconds. What waits is sent or given up long
/// before.
const KEPT: u64 = 400 * 86_400;
/// How often a row is looked up again that somebody else has written meanwhile.
const MAX_TRIES: usize = 8;

/// Where the items of a kind lie.
pub struct Queue<P> {
    waiting: &'static str,
    /// The partition of what is done, and for how long it is shown, seconds.
    done: Option<(&'static str, u64)>,
    payload: PhantomData<fn() -> P>,
}

/// An item that is due.
#[derive(Clone, Debug)]
pub struct Due<P> {
    /// What is due.
    pub item: Item<P>,
    key: Key,
    version: u64,
}

/// An item that is this node's for a while.
#[derive(Clone, Debug)]
pub struct Claimed<P> {
    /// What is to be sent.
    pub item: Item<P>,
    /// Until when it is this node's, Unix seconds.
    pub until: u64,
    key: Key,
}

/// What is due, and whether there is more.
#[derive(Debug)]
pub struct Look<P> {
    /// In the order in which it became due.
    pub due: Vec<Due<P>>,
    /// After which row more may be due; none: there is no more.
    pub next: Option<Vec<u8>>,
}

/// What happens to a row that was due or claimed.
pub(crate) enum Then {
    /// It is removed.
    Gone,
    /// It is due again then, Unix seconds.
    Again(u64),
    /// It is done: shown, where its kind shows what is done.
    Done,
}

fn encode<P: Payload>(item: &Item<P>) -> Vec<u8> {
    // Invariant: payloads are strings, numbers and lists of them, which always serialize.
    serde_json::to_vec(item).expect("an item serializes")
}

fn decode<P: Payload>(row: &Row) -> Result<Item<P>, StoreError> {
    serde_json::from_slice(&row.value).map_err(|_| StoreError::Corrupt("outbox".into()))
}

fn is_due(key: &Key, now: u64) -> bool {
    let due = key.sort.first_chunk::<8>();
    due.is_none_or(|due| u64::from_be_bytes(*due) <= now)
}

/// Most items of a kind that are counted for a metric.
const MAX_COUNTED: usize = 1_000;

/// What is due of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// How many items, at most 1000.
    pub due: u64,
    /// For how many seconds the one that is due for the longest time has been due.
    pub oldest: u64,
}

impl<P: Payload> Queue<P> {
    /// Of this name, which never changes: it is part of the keys. What is done is removed.
    pub const fn new(name: &'static str) -> Queue<P> {
        Queue {
            waiting: name,
            done: None,
            payload: PhantomData,
        }
    }

    /// As [`Queue::new`], where what is done lies under a name of its own and is shown for a while,
    /// `seconds`.
    pub const fn shown(name: &'static str, done: &'static str, seconds: u64) -> Queue<P> {
        Queue {
            waiting: name,
            done: Some((done, seconds)),
            payload: PhantomData,
        }
    }

    fn key(&self, partition: &str, at: u64, item: &Item<P>) -> Key {
        let mut sort = at.to_be_bytes().to_vec();
        sort.extend_from_slice(item.id.as_bytes());
        Key::with_sort(Table::Outbox, partition.as_bytes(), sort)
    }

    /// The write that puts an item there, due `at` that time, Unix seconds: to be made by the
    /// change that causes it.
    pub fn put(&self, item: &Item<P>, at: u64, now: u64) -> Op {
        Op::Put {
            key: self.key(self.waiting, at, item),
            value: encode(item),
            end: Some(at.max(now).saturating_add(KEPT)),
        }
    }

    /// Puts an item there that is this node's from the beginning, for `lease` seconds: whoever
    /// makes it also makes the first attempt.
    ///
    /// # Errors
    /// The store's; then it is not there.
    pub async fn put_claimed(
        &self,
        store: &dyn Store,
        item: Item<P>,
        lease: u64,
        now: u64,
    ) -> Result<Claimed<P>, StoreError> {
        let until = now.saturating_add(lease);
        let key = self.key(self.waiting, until, &item);
        let put = self.put(&item, until, now);
        store.commit(Change::new(put), now).await?;
        Ok(Claimed { item, until, key })
    }

    /// What is due, after this row, `limit` rows at most.
    ///
    /// # Errors
    /// The store's.
    pub async fn look(
        &self,
        store: &dyn Store,
        after: &[u8],
        limit: usize,
        now: u64,
    ) -> Result<Look<P>, StoreError> {
        let rows = store.partition(Table::Outbox, self.waiting.as_bytes(), after, limit, now);
        let rows = rows.await?;
        let last = rows.last().filter(|_| rows.len() == limit);
        let next = last
            .filter(|(key, _)| is_due(key, now))
            .map(|(key, _)| key.sort.clone());
        let due = rows.into_iter().take_while(|(key, _)| is_due(key, now));
        let due = due.map(|(key, row)| {
            Ok(Due {
                item: decode(&row)?,
                key,
                version: row.version,
            })
        });
        Ok(Look {
            due: due.collect::<Result<_, StoreError>>()?,
            next,
        })
    }

    /// Whether anything waits, due or not.
    ///
    /// # Errors
    /// The store's.
    pub async fn waits(&self, store: &dyn Store, now: u64) -> Result<bool, StoreError> {
        let rows = store.partition(Table::Outbox, self.waiting.as_bytes(), &[], 1, now);
        Ok(!rows.await?.is_empty())
    }

    /// What is due: how much, up to [`MAX_COUNTED`], and for how long the first of it has been.
    ///
    /// # Errors
    /// The store's.
    pub async fn due(&self, store: &dyn Store, now: u64) -> Result<Waits, StoreError> {
        let partition = self.waiting.as_bytes();
        let rows = store.partition(Table::Outbox, partition, &[], MAX_COUNTED, now);
        let rows = rows.await?;
        let due = rows.iter().take_while(|(key, _)| is_due(key, now)).count();
        // Rows lie in the order in which they are due.
        let first = rows.first().filter(|_| due > 0);
        let since = first.and_then(|(key, _)| key.sort.first_chunk());
        Ok(Waits {
            due: due as u64,
            oldest: since.map_or(0, |at| now.saturating_sub(u64::from_be_bytes(*at))),
        })
    }

    /// Claims an item for `lease` seconds. None: another node was first.
    ///
    /// # Errors
    /// The store's.
    pub async fn claim(
        &self,
        store: &dyn Store,
        due: Due<P>,
        lease: u64,
        now: u64,
    ) -> Result<Option<Claimed<P>>, StoreError> {
        let until = now.saturating_add(lease);
        let is_claimed = self.move_due(store, &due, &due.item, Then::Again(until), now);
        if !is_claimed.await? {
            return Ok(None);
        }
        let key = self.key(self.waiting, until, &due.item);
        let item = due.item;
        Ok(Some(Claimed { item, until, key }))
    }

    /// The write that `then` means for a row whose item is now this.
    fn write(&self, item: &Item<P>, then: Then, now: u64) -> Option<Op> {
        match (then, self.done) {
            (Then::Again(at), _) => Some(self.put(item, at, now)),
            (Then::Done, Some((done, seconds))) => Some(Op::Put {
                key: self.key(done, now, item),
                value: encode(item),
                end: Some(now.saturating_add(seconds)),
            }),
            (Then::Done, None) | (Then::Gone, _) => None,
        }
    }

    /// Whether it was still there as it was read.
    pub(crate) async fn move_due(
        &self,
        store: &dyn Store,
        due: &Due<P>,
        item: &Item<P>,
        then: Then,
        now: u64,
    ) -> Result<bool, StoreError> {
        let change = Change {
            first: Op::Remove {
                key: due.key.clone(),
                version: due.version,
            },
            then: self.write(item, then, now).into_iter().collect(),
        };
        Ok(store.commit(change, now).await?.is_done())
    }

    /// Whether it was still this node's. Where its claim is over and another node has it, nothing
    /// is written.
    pub(crate) async fn move_claimed(
        &self,
        store: &dyn Store,
        claimed: &Claimed<P>,
        item: &Item<P>,
        then: Then,
        now: u64,
    ) -> Result<bool, StoreError> {
        let then = self.write(item, then, now);
        for _ in 0..MAX_TRIES {
            // What it says may have been sealed again meanwhile.
            let Some(row) = store.get(&claimed.key, now).await? else {
                return Ok(false);
            };
            let change = Change {
                first: Op::Remove {
                    key: claimed.key.clone(),
                    version: row.version,
                },
                then: then.clone().into_iter().collect(),
            };
            if store.commit(change, now).await?.is_done() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes again what waiting items say, where `change` has something else for them. How many.
    /// Nodes may send meanwhile: it is done when nothing is left to change.
    ///
    /// # Errors
    /// Those of `change`, and the store's; [`StoreError::Unavailable`] where rows are written all
    /// the time. Then some may be left.
    pub async fn rewrite<E: From<StoreError>>(
        &self,
        store: &dyn Store,
        now: u64,
        mut change: impl FnMut(&Item<P>) -> Result<Option<P>, E>,
    ) -> Result<usize, E> {
        let mut written = 0;
        for _ in 0..MAX_TRIES {
            let (mut after, mut left) = (Vec::new(), false);
            loop {
                let waiting = self.waiting.as_bytes();
                let rows = store.partition(Table::Outbox, waiting, &after, PAGE, now);
                let rows = rows.await?;
                let Some((last, _)) = rows.last() else { break };
                after.clone_from(&last.sort);
                for (key, row) in rows {
                    let item = decode(&row)?;
                    let Some(what) = change(&item)? else { continue };
                    // A row that is sent now may move to where this has already been.
                    left = true;
                    let replace = Op::Replace {
                        key,
                        version: row.version,
                        value: encode(&Item { what, ..item }),
                        end: row.end,
                    };
                    let outcome = store.commit(Change::new(replace), now).await?;
                    written += usize::from(outcome.is_done());
                }
            }
            if !left {
                return Ok(written);
            }
        }
        Err(StoreError::Unavailable("the outbox is written all the time".into()).into())
    }

    /// A page of what is done and of what waits, without watches, after this row. For the admin API
    /// only. Also says where the next page begins; none: this was the last.
    ///
    /// # Errors
    /// The store's.
    pub async fn page(
        &self,
        store: &dyn Store,
        after: Option<&str>,
        limit: usize,
        now: u64,
    ) -> Result<(Vec<Item<P>>, Option<String>), StoreError> {
        let after = after.and_then(|after| {
            let (partition, sort) = after.split_once('.')?;
            Some((partition, base64url::decode(sort.as_bytes()).ok()?))
        });
        let partitions = self.done.map(|(done, _)| done).into_iter();
        let mut found = Vec::new();
        for partition in partitions.chain([self.waiting]) {
            let from = match &after {
                // Of those before it everything was shown.
                Some((of, _)) if *of == self.waiting && partition != *of => continue,
                Some((of, sort)) if *of == partition => sort.clone(),
                Some(_) | None => Vec::new(),
            };
            let mut after = Key::with_sort(Table::Outbox, partition.as_bytes(), from);
            'rows: loop {
                let rows = store.page(Table::Outbox, Some(&after), PAGE, now).await?;
                let is_last = rows.len() < PAGE;
                for (key, row) in rows {
                    if key.partition != partition.as_bytes() {
                        break 'rows;
                    }
                    let item: Item<P> = decode(&row)?;
                    if item.state != State::Watching {
                        found.push(item);
                    }
                    if found.len() == limit {
                        let sort = base64url::encode(&key.sort);
                        return Ok((found, Some(format!("{partition}.{sort}"))));
                    }
                    after = key;
                }
                if is_last {
                    break;
                }
            }
        }
        Ok((found, None))
    }
}

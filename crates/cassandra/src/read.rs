//! Reads of more than one row.
use crate::{
    error::Trouble,
    session::Stored,
    settle::{self, State},
    shared::{Deadline, Shared},
};
use futures_util::future::try_join_all;
use scylla::response::PagingState;
use signet_store::{Key, Row, StoreError, Table};
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// Stored rows that one statement reads of a partition at most.
const SLICE: usize = 200;

/// Rows whose values a page reads at once.
const AT_ONCE: usize = 16;

/// The row at a key.
pub(crate) async fn get(
    shared: &Arc<Shared>,
    key: &Key,
    now: u64,
) -> Result<Option<Row>, StoreError> {
    let mut deadline = Deadline::new();
    let stored = settle::settled(shared, key, false, &mut deadline).await?;
    Ok(stored.row(now))
}

/// One read of a partition from a place on, as it is after every change that is decided: where one
/// was on the way, it is written and the rows are read again, so that none is of before and another
/// of after it.
async fn slice(
    shared: &Arc<Shared>,
    at: &Key,
    limit: i32,
    deadline: &mut Deadline,
) -> Result<Vec<(Key, Stored)>, StoreError> {
    loop {
        let rows = match shared.note(shared.session.partition(at, limit).await) {
            Ok(rows) => rows,
            Err(trouble @ (Trouble::Refused(_) | Trouble::Corrupt(_))) => {
                return Err(trouble.for_caller());
            }
            Err(Trouble::NotDone(_) | Trouble::Unknown(_)) => {
                shared.refuse_if_down()?;
                deadline.pause().await?;
                continue;
            }
        };
        let mut moved = false;
        let mut known = HashMap::new();
        for (_, stored) in &rows {
            let (Some(name), Some(home)) = (stored.lock, &stored.home) else {
                continue;
            };
            if known.contains_key(&name) {
                continue;
            }
            let state = settle::state(shared, name, home, deadline).await?;
            known.insert(name, state);
            match state {
                State::Undecided => {}
                State::Decided => {
                    settle::finish(shared, name, home, deadline).await?;
                    moved = true;
                }
                State::Gone => {
                    // Given up, or written since the rows were read.
                    for (key, stored) in &rows {
                        if stored.lock == Some(name) {
                            settle::unlock(shared, key, name, deadline).await?;
                        }
                    }
                    moved = true;
                }
            }
        }
        if !moved {
            return Ok(rows);
        }
        deadline.check()?;
    }
}

/// At most `limit` living rows of a partition after a sort.
pub(crate) async fn partition(
    shared: &Arc<Shared>,
    mut at: Key,
    limit: usize,
    now: u64,
) -> Result<Vec<(Key, Row)>, StoreError> {
    let mut deadline = Deadline::new();
    let mut found = Vec::new();
    while found.len() < limit {
        // Some may have ended: a little more than what is asked for.
        let wanted = (limit - found.len()).saturating_add(8).min(SLICE);
        let asked = i32::try_from(wanted).unwrap_or(i32::MAX);
        let rows = slice(shared, &at, asked, &mut deadline).await?;
        let last = rows.len() < wanted;
        if let Some((key, _)) = rows.last() {
            at = key.clone();
        }
        let living = rows
            .into_iter()
            .filter_map(|(key, stored)| Some((key, stored.row(now)?)));
        found.extend(living.take(limit - found.len()));
        if last {
            break;
        }
        deadline.check()?;
    }
    Ok(found)
}

/// The first keys of a table after one, in their order, which the ring does not keep: the whole
/// table is gone through, and the `limit` lowest keys are remembered. Whether there are more.
async fn lowest(
    shared: &Arc<Shared>,
    table: Table,
    after: Option<&Key>,
    limit: usize,
    now: u64,
) -> Result<(BTreeSet<Key>, bool), StoreError> {
    let mut keys = BTreeSet::new();
    let mut more = false;
    let mut from = PagingState::start();
    loop {
        let mut deadline = Deadline::new();
        let (rows, next) = loop {
            match shared.note(shared.session.scan(Some(table), from.clone()).await) {
                Ok(page) => break page,
                Err(trouble @ (Trouble::Refused(_) | Trouble::Corrupt(_))) => {
                    return Err(trouble.for_caller());
                }
                Err(Trouble::NotDone(_) | Trouble::Unknown(_)) => {
                    shared.refuse_if_down()?;
                    deadline.pause().await?;
                }
            }
        };
        for (key, stored) in rows {
            let wanted = stored.lives(now) || stored.lock.is_some();
            if !wanted || after.is_some_and(|after| key <= *after) {
                continue;
            }
            keys.insert(key);
            if keys.len() > limit {
                keys.pop_last();
                more = true;
            }
        }
        match next {
            Some(state) => from = state,
            None => return Ok((keys, more)),
        }
    }
}

/// At most `limit` living rows of a table after a key, by partition and sort.
pub(crate) async fn page(
    shared: &Arc<Shared>,
    table: Table,
    after: Option<Key>,
    limit: usize,
    now: u64,
) -> Result<Vec<(Key, Row)>, StoreError> {
    let mut after = after.map(|key| Key { table, ..key });
    let mut found = Vec::new();
    while found.len() < limit {
        let wanted = limit - found.len();
        let (keys, more) = lowest(shared, table, after.as_ref(), wanted, now).await?;
        after = keys.last().cloned().or(after);
        let keys: Vec<Key> = keys.into_iter().collect();
        for some in keys.chunks(AT_ONCE) {
            let rows = try_join_all(some.iter().map(|key| get(shared, key, now))).await?;
            let living = some.iter().cloned().zip(rows);
            found.extend(living.filter_map(|(key, row)| Some((key, row?))));
        }
        if !more {
            break;
        }
    }
    Ok(found)
}

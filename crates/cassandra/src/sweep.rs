//! Sweeping: what a time to live does not do by itself.
//!
//! Rows leave by themselves an hour after their end. A sweep goes through a part of the ring, each
//! one where the last one stopped, and removes the ended rows that it meets before that hour. It
//! also looks for what a dead node left behind: changes that are decided and not written
//! everywhere, and locks of changes that were never decided. Neither is ever seen as a half, so
//! none of this is urgent.
use crate::{
    error::Trouble,
    intent::{self, Write},
    session::{Expect, Stored},
    settle::{self, Waiter},
    shared::{Deadline, Shared},
};
use scylla::response::PagingState;
use signet_store::{Key, StoreError};
use std::sync::{Arc, Mutex, PoisonError};

/// Stored rows that one sweep of a Cassandra store goes through at most
pub const SWEEP_ROWS: usize = 5000;

/// Seconds after which a change that goes on is one of a dead node.
const LEFT_SECONDS: u64 = 30;

/// Where the next sweep begins; None: at the beginning.
#[derive(Default)]
pub(crate) struct Cursor(Mutex<Option<PagingState>>);

impl Cursor {
    // Invariant: a panic while the lock is held leaves it whole.
    fn get(&self) -> Option<PagingState> {
        let held = self.0.lock();
        held.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, state: Option<PagingState>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

/// Whether a row has ended, and its value is still there.
fn has_ended(stored: &Stored, now: u64) -> bool {
    stored.version.is_some() && stored.ends != intent::REMOVED && !stored.lives(now)
}

async fn remove(shared: &Arc<Shared>, key: &Key, stored: &Stored) -> Result<bool, StoreError> {
    let _held = shared.hold(std::iter::once(key)).await?;
    let write = Write::removal(key, shared.clock.next());
    let expect = Expect::Exact(stored.version);
    match shared.note(shared.session.write(&write, expect).await) {
        Ok(removed) => Ok(removed),
        Err(trouble) => Err(trouble.for_caller()),
    }
}

/// Ends what a dead node left at a row.
async fn tidy(shared: &Arc<Shared>, key: &Key, stored: &Stored) -> Result<(), StoreError> {
    let mut deadline = Deadline::new();
    if let Some(pend) = stored.pend.filter(|name| name.age() > LEFT_SECONDS) {
        settle::finish(shared, pend, key, &mut deadline).await?;
    }
    if let Some(name) = stored.lock.filter(|name| name.age() > LEFT_SECONDS) {
        let home = stored.home.as_ref().unwrap_or(key);
        if settle::state(shared, name, home, &mut deadline).await? == settle::State::Undecided {
            settle::unlock(shared, home, name, &mut deadline).await?;
        }
        let mut waiter = Waiter::new(None);
        waiter.settle(shared, key, stored, &mut deadline).await?;
    }
    Ok(())
}

/// Removes at most `limit` ended rows of the part that is due; how many it removed.
pub(crate) async fn sweep(
    shared: &Arc<Shared>,
    cursor: &Cursor,
    now: u64,
    limit: usize,
) -> Result<usize, StoreError> {
    let (mut removed, mut seen) = (0, 0);
    let mut from = cursor.get();
    while seen < SWEEP_ROWS {
        let begin = from.clone().unwrap_or_else(PagingState::start);
        let (rows, next) = match shared.note(shared.session.scan(None, begin).await) {
            Ok(page) => page,
            Err(trouble) => {
                // A place that the servers do not know any more would fail for ever.
                if matches!(trouble, Trouble::Refused(_)) {
                    cursor.set(None);
                }
                return Err(trouble.for_caller());
            }
        };
        seen += rows.len();
        for (key, stored) in &rows {
            if stored.lock.is_some() || stored.pend.is_some() {
                tidy(shared, key, stored).await?;
            }
            if has_ended(stored, now) {
                if removed == limit {
                    cursor.set(from);
                    return Ok(removed);
                }
                removed += usize::from(remove(shared, key, stored).await?);
            }
        }
        cursor.set(next.clone());
        from = next;
        if from.is_none() {
            break;
        }
    }
    Ok(removed)
}

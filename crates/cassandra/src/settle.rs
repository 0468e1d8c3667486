//! What to do about another change's lock.
//!
//! A change of several rows locks the row that decides (its home), then the others, then writes
//! the home: that is the decision, one lightweight transaction, and from then on everybody who
//! meets a lock of it writes what is missing. A lock says where its home is, so:
//!
//! - the home has the change as decided: the row is written first, whoever meets it;
//! - the home has the change's lock: it is undecided, and the row is still what it was;
//! - the home has neither: the change was given up, and its lock means nothing.
//!
//! A name is never used for a second lock of a row, and rows of a change are written only while
//! they have its lock. So what is tried twice, by two nodes or late, is written once.
use crate::{
    error::Trouble,
    intent::Write,
    session::Stored,
    shared::{Deadline, Shared},
    stamp::Name,
};
use futures_util::future::try_join_all;
use signet_store::{Key, StoreError};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// How long a lock that does not move is waited for before its change is given up: its node is
/// then dead or slow.
const PATIENCE: Duration = Duration::from_secs(1);

/// How a change stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Decided,
    Undecided,
    /// It was given up, or is written everywhere.
    Gone,
}

/// Reads until there is an answer, or no time left.
pub(crate) async fn read(
    shared: &Arc<Shared>,
    key: &Key,
    serial: bool,
    deadline: &mut Deadline,
) -> Result<Stored, StoreError> {
    loop {
        let answer = match serial {
            true => shared.session.read_serial(key).await,
            false => shared.session.read(key).await,
        };
        match shared.note(answer) {
            Ok(stored) => {
                if let Some(version) = stored.version {
                    shared.clock.observe(version);
                }
                return Ok(stored);
            }
            Err(trouble @ (Trouble::Refused(_) | Trouble::Corrupt(_))) => {
                return Err(trouble.for_caller());
            }
            Err(Trouble::NotDone(_) | Trouble::Unknown(_)) => {
                shared.refuse_if_down()?;
                deadline.pause().await?;
            }
        }
    }
}

/// How the change with this name and home stands.
pub(crate) async fn state(
    shared: &Arc<Shared>,
    name: Name,
    home: &Key,
    deadline: &mut Deadline,
) -> Result<State, StoreError> {
    let at_home = read(shared, home, false, deadline).await?;
    Ok(if at_home.pend == Some(name) {
        State::Decided
    } else if at_home.lock == Some(name) {
        State::Undecided
    } else {
        State::Gone
    })
}

/// Reads a row as it is after every change that is decided.
pub(crate) async fn settled(
    shared: &Arc<Shared>,
    key: &Key,
    serial: bool,
    deadline: &mut Deadline,
) -> Result<Stored, StoreError> {
    loop {
        let stored = read(shared, key, serial, deadline).await?;
        let (Some(name), Some(home)) = (stored.lock, &stored.home) else {
            return Ok(stored);
        };
        match state(shared, name, home, deadline).await? {
            State::Undecided => return Ok(stored),
            State::Decided => finish(shared, name, home, deadline).await?,
            State::Gone => {
                // Written in between, or given up: then the lock is still there.
                let again = read(shared, key, serial, deadline).await?;
                if again.lock == Some(name) || again.lock.is_none() {
                    return Ok(again);
                }
            }
        }
    }
}

/// Does a statement that may be done again until it is answered; whether it was applied by this or
/// by somebody else before makes no difference.
async fn until_answered<F>(
    shared: &Arc<Shared>,
    deadline: &mut Deadline,
    mut statement: impl FnMut() -> F,
) -> Result<bool, StoreError>
where
    F: Future<Output = Result<bool, Trouble>>,
{
    loop {
        match shared.note(statement().await) {
            Ok(applied) => return Ok(applied),
            Err(trouble @ (Trouble::Refused(_) | Trouble::Corrupt(_))) => {
                return Err(trouble.for_caller());
            }
            Err(Trouble::NotDone(_) | Trouble::Unknown(_)) => {
                shared.refuse_if_down()?;
                deadline.pause().await?;
            }
        }
    }
}

/// Takes a lock off a row, if it is there.
pub(crate) async fn unlock(
    shared: &Arc<Shared>,
    key: &Key,
    name: Name,
    deadline: &mut Deadline,
) -> Result<bool, StoreError> {
    until_answered(shared, deadline, || shared.session.unlock(key, name)).await
}

/// Writes some rows of a decided change.
pub(crate) async fn apply(
    shared: &Arc<Shared>,
    name: Name,
    writes: &[Write],
    deadline: Deadline,
) -> Result<(), StoreError> {
    let each = writes.iter().map(async |write| {
        let mut deadline = deadline;
        until_answered(shared, &mut deadline, || shared.session.apply(write, name)).await
    });
    try_join_all(each).await?;
    Ok(())
}

/// Notes at its home that a change is written everywhere.
pub(crate) async fn clear(
    shared: &Arc<Shared>,
    name: Name,
    home: &Key,
    deadline: &mut Deadline,
) -> Result<(), StoreError> {
    until_answered(shared, deadline, || shared.session.clear(home, name)).await?;
    Ok(())
}

/// Writes what a decided change has left to write.
pub(crate) async fn finish(
    shared: &Arc<Shared>,
    name: Name,
    home: &Key,
    deadline: &mut Deadline,
) -> Result<(), StoreError> {
    loop {
        match shared.note(shared.session.pending(home, name).await) {
            Ok(None) => return Ok(()),
            Ok(Some(writes)) => {
                apply(shared, name, &writes, *deadline).await?;
                return clear(shared, name, home, deadline).await;
            }
            Err(trouble @ (Trouble::Refused(_) | Trouble::Corrupt(_))) => {
                return Err(trouble.for_caller());
            }
            Err(Trouble::NotDone(_) | Trouble::Unknown(_)) => {
                shared.refuse_if_down()?;
                deadline.pause().await?;
            }
        }
    }
}

/// Whoever wants to write a locked row: who they are, and what they have been waiting for.
pub(crate) struct Waiter {
    /// When their own change began, where they hold locks themselves.
    began: Option<u64>,
    seen: Option<(Name, Instant)>,
}

impl Waiter {
    pub(crate) fn new(began: Option<u64>) -> Waiter {
        Waiter { began, seen: None }
    }

    /// Gets a lock out of the way, or waits a little for it to go. Of two changes that wait for
    /// each other the younger is given up, and begins again with its old turn; so one of them goes
    /// on.
    pub(crate) async fn settle(
        &mut self,
        shared: &Arc<Shared>,
        key: &Key,
        stored: &Stored,
        deadline: &mut Deadline,
    ) -> Result<(), StoreError> {
        let Some(name) = stored.lock else {
            return Ok(());
        };
        let home = stored.home.as_ref().unwrap_or(key);
        match state(shared, name, home, deadline).await? {
            State::Decided => return finish(shared, name, home, deadline).await,
            State::Gone => {
                unlock(shared, key, name, deadline).await?;
                return Ok(());
            }
            State::Undecided => {}
        }
        let since = match self.seen {
            Some((seen, since)) if seen == name => since,
            _ => {
                let now = Instant::now();
                self.seen = Some((name, now));
                now
            }
        };
        let younger = self.began.is_some_and(|began| began < name.began());
        if younger || since.elapsed() > PATIENCE {
            unlock(shared, home, name, deadline).await?;
            return Ok(());
        }
        deadline.pause().await
    }
}

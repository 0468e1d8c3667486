//! Changes. One of a single row is one lightweight transaction; one of several rows is decided by
//! one, at the row of its first operation (see `settle`).
use crate::{
    error::Trouble,
    fault::Point,
    intent::{self, Write},
    session::{Expect, Stored},
    settle::{self, Waiter},
    shared::{Deadline, Held, Shared},
    stamp::Name,
};
use futures_util::future::join_all;
use signet_store::{Change, Key, Op, Outcome, Row, StoreError};
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// Most bytes of one change of a Cassandra store, keys and values together: what a server's
/// default takes in one statement, with room to spare
pub const MAX_CHANGE_BYTES: usize = 4194304;

/// What a call has to itself until it is done with, which may be after its answer.
pub(crate) struct Place(Arc<OwnedSemaphorePermit>);

impl Place {
    pub(crate) fn new(permit: OwnedSemaphorePermit) -> Place {
        Place(Arc::new(permit))
    }
}

fn unknown() -> StoreError {
    StoreError::Unavailable("whether the change was done is not known".to_owned())
}

/// The weight of what a change writes, in bytes.
pub(crate) fn weight(change: &Change) -> usize {
    let writes = std::iter::once(&change.first).chain(&change.then);
    writes.map(|op| Write::of(op, 0, 0).weight()).sum()
}

/// What the condition says to a row: what it must still be when it is written.
fn evaluate(first: &Op, stored: &Stored, now: u64) -> Result<Expect, Outcome> {
    let lives = stored.lives(now);
    let refused = || Outcome::Refused(stored.clone().row(now));
    match first {
        Op::Insert { end, .. } if lives || end.is_some_and(|end| end <= now) => Err(refused()),
        Op::Insert { .. } => Ok(Expect::Exact(stored.version)),
        Op::Replace { version, .. } | Op::Remove { version, .. } => {
            match lives && stored.version == Some(*version) {
                true => Ok(Expect::Exact(stored.version)),
                false => Err(refused()),
            }
        }
        Op::Put { .. } | Op::Delete { .. } => Ok(Expect::Any),
    }
}

/// What the row is most likely to be: most changes then need no read. None: it has to be read.
fn guess(first: &Op, now: u64) -> Option<Expect> {
    match first {
        Op::Insert { end, .. } if end.is_some_and(|end| end <= now) => None,
        Op::Insert { .. } => Some(Expect::Exact(None)),
        Op::Replace { version, .. } | Op::Remove { version, .. } => {
            Some(Expect::Live(*version, now))
        }
        Op::Put { .. } | Op::Delete { .. } => Some(Expect::Any),
    }
}

/// Whether a row surely has not been written since it was expected so.
fn unchanged(expect: Expect, stored: &Stored) -> bool {
    match expect {
        Expect::Any => false,
        Expect::Exact(version) => stored.version == version,
        Expect::Live(version, _) => stored.version == Some(version),
    }
}

fn done(first: &Op, version: u64) -> Outcome {
    Outcome::Done {
        version: match first {
            Op::Insert { .. } | Op::Replace { .. } | Op::Put { .. } => version,
            Op::Remove { .. } | Op::Delete { .. } => 0,
        },
    }
}

/// One change.
pub(crate) async fn commit(
    shared: &Arc<Shared>,
    place: &Place,
    change: Change,
    now: u64,
) -> Result<Outcome, StoreError> {
    let Change { first, then } = change;
    // Of several operations on one key the last one stays.
    let mut at_home = first.clone();
    let mut others: Vec<Op> = Vec::with_capacity(then.len());
    for op in then {
        if op.key() == first.key() {
            at_home = op;
            continue;
        }
        others.retain(|other| other.key() != op.key());
        others.push(op);
    }
    let keys = std::iter::once(first.key()).chain(others.iter().map(Op::key));
    let held = shared.hold(keys).await?;
    if others.is_empty() {
        let version = shared.clock.next();
        return single(shared, &first, Write::of(&at_home, version, now), now).await;
    }
    let several = Several {
        shared,
        first: &first,
        at_home: &at_home,
        others: &others,
        now,
        began: shared.clock.next(),
    };
    let (outcome, decided) = several.commit().await?;
    if let Some(decided) = decided {
        decided.write_in_time(shared, held, place);
    }
    Ok(outcome)
}

/// A change of one row.
async fn single(
    shared: &Arc<Shared>,
    first: &Op,
    write: Write,
    now: u64,
) -> Result<Outcome, StoreError> {
    let key = first.key();
    let mut deadline = Deadline::new();
    let mut waiter = Waiter::new(None);
    let mut expect = guess(first, now);
    // A try may have been done, or may still be.
    let mut in_doubt = false;
    loop {
        if let Some(expect) = expect {
            let answer = shared.note(shared.session.write(&write, expect).await);
            match shared.lose(Point::WriteAnswer, answer) {
                Ok(true) => return Ok(done(first, write.version)),
                Ok(false) => {}
                Err(Trouble::Unknown(_)) => in_doubt = true,
                Err(Trouble::NotDone(_)) => {
                    shared.refuse_if_down()?;
                    deadline.pause().await?;
                    continue;
                }
                Err(trouble @ (Trouble::Refused(_) | Trouble::Corrupt(_))) => {
                    return Err(trouble.for_caller());
                }
            }
        }
        let stored = settle::settled(shared, key, in_doubt, &mut deadline).await?;
        if stored.version == Some(write.version) {
            return Ok(done(first, write.version));
        }
        // The version names the write, so a row that is as it was may be written again: only one
        // of the tries is applied.
        if in_doubt && !expect.is_some_and(|expect| unchanged(expect, &stored)) {
            return Err(unknown());
        }
        match evaluate(first, &stored, now) {
            Ok(anew) => expect = Some(anew),
            Err(refused) => return Ok(refused),
        }
        if stored.lock.is_some() {
            waiter.settle(shared, key, &stored, &mut deadline).await?;
        } else if in_doubt {
            deadline.pause().await?;
        }
        shared.refuse_if_down()?;
        deadline.check()?;
    }
}

/// Removes and returns.
pub(crate) async fn take(
    shared: &Arc<Shared>,
    key: &Key,
    now: u64,
) -> Result<Option<Row>, StoreError> {
    let _held = shared.hold(std::iter::once(key)).await?;
    let mut deadline = Deadline::new();
    let stored = settle::settled(shared, key, false, &mut deadline).await?;
    let mut found = stored.row(now);
    while let Some(row) = found {
        let first = Op::Remove {
            key: key.clone(),
            version: row.version,
        };
        let write = Write::removal(key, shared.clock.next());
        found = match single(shared, &first, write, now).await? {
            Outcome::Done { .. } => return Ok(Some(row)),
            Outcome::Refused(other) => other,
        };
        deadline.check()?;
    }
    Ok(None)
}

/// A change that is decided, and what it has left to write.
struct Decided {
    name: Name,
    home: Key,
    writes: Vec<Write>,
}

impl Decided {
    /// Writes the rest. The change is answered meanwhile: whoever meets a row of it writes it, so
    /// nobody sees a half. Until then the keys are held and the call counts as going on.
    fn write_in_time(self, shared: &Arc<Shared>, held: Held, place: &Place) {
        let (shared, permit) = (shared.clone(), place.0.clone());
        tokio::spawn(async move {
            let _places = (held, permit);
            if let Err(error) = self.write(&shared).await {
                // Whoever meets one of its rows, or sweeps, goes on with it.
                tracing::debug!(%error, "a decided change is left to others to write");
            }
        });
    }

    async fn write(&self, shared: &Arc<Shared>) -> Result<(), StoreError> {
        let mut deadline = Deadline::new();
        let (some, rest) = self.writes.split_at(self.writes.len().div_ceil(2));
        match shared.fault {
            // A test may end it halfway.
            Some(_) => {
                settle::apply(shared, self.name, some, deadline).await?;
                shared.reach(Point::SomeApplied)?;
                settle::apply(shared, self.name, rest, deadline).await?;
                shared.reach(Point::AllApplied)?;
            }
            None => settle::apply(shared, self.name, &self.writes, deadline).await?,
        }
        settle::clear(shared, self.name, &self.home, &mut deadline).await
    }
}

/// A change of several rows.
struct Several<'a> {
    shared: &'a Arc<Shared>,
    first: &'a Op,
    at_home: &'a Op,
    others: &'a [Op],
    now: u64,
    began: u64,
}

/// How one try ended.
enum Tried {
    Decided(Vec<Write>, u64),
    Refused(Outcome),
    /// Nothing was done, and nothing will be.
    Again,
}

impl Several<'_> {
    async fn commit(&self) -> Result<(Outcome, Option<Decided>), StoreError> {
        let mut deadline = Deadline::new();
        let mut waiter = Waiter::new(Some(self.began));
        let mut expect = guess(self.first, self.now);
        loop {
            let name = Name::new(self.began);
            let tried = self.attempt(name, &mut expect, &mut waiter, &mut deadline);
            match tried.await? {
                Tried::Refused(outcome) => return Ok((outcome, None)),
                Tried::Decided(writes, version) => {
                    self.shared.reach(Point::Decided)?;
                    let decided = Decided {
                        name,
                        home: self.first.key().clone(),
                        writes,
                    };
                    return Ok((done(self.first, version), Some(decided)));
                }
                Tried::Again => {
                    self.shared.refuse_if_down()?;
                    deadline.pause().await?;
                }
            }
        }
    }

    /// Tries once, with a name that is used for nothing else: what an earlier try sent, and may
    /// still arrive, has another.
    async fn attempt(
        &self,
        name: Name,
        expect: &mut Option<Expect>,
        waiter: &mut Waiter,
        deadline: &mut Deadline,
    ) -> Result<Tried, StoreError> {
        let (shared, home) = (self.shared, self.first.key());
        if let Some(tried) = self.lock_home(name, expect, waiter, deadline).await? {
            return Ok(tried);
        }
        shared.reach(Point::HomeLocked)?;
        let locks = self.others.iter().map(async |op| {
            let mut deadline = *deadline;
            self.lock_other(name, op.key(), &mut deadline).await
        });
        let locked: Result<Vec<bool>, StoreError> = join_all(locks).await.into_iter().collect();
        if !matches!(&locked, Ok(all) if all.iter().all(|locked| *locked)) {
            self.give_up(name, deadline).await;
            locked?;
            return Ok(Tried::Again);
        }
        shared.reach(Point::AllLocked)?;
        let at_home = Write::of(self.at_home, shared.clock.next(), self.now);
        let writes: Vec<Write> = self
            .others
            .iter()
            .map(|op| Write::of(op, shared.clock.next(), self.now))
            .collect();
        let ops = intent::writes_bytes(&writes);
        let mut in_doubt = false;
        loop {
            let answer = shared.note(shared.session.decide(&at_home, name, &ops).await);
            match shared.lose(Point::DecideAnswer, answer) {
                Ok(true) => return Ok(Tried::Decided(writes, at_home.version)),
                Ok(false) => {}
                Err(Trouble::Unknown(_)) => in_doubt = true,
                Err(Trouble::NotDone(_)) => {
                    if shared.refuse_if_down().is_err() || deadline.pause().await.is_err() {
                        self.give_up(name, deadline).await;
                        return match in_doubt {
                            true => Err(unknown()),
                            false => Ok(Tried::Again),
                        };
                    }
                    continue;
                }
                Err(trouble @ (Trouble::Refused(_) | Trouble::Corrupt(_))) => {
                    self.give_up(name, deadline).await;
                    return Err(trouble.for_caller());
                }
            }
            let stored = settle::read(shared, home, true, deadline).await?;
            if stored.pend == Some(name) || stored.version == Some(at_home.version) {
                return Ok(Tried::Decided(writes, at_home.version));
            }
            if stored.lock == Some(name) {
                // Not decided so far; the same decision may be asked for again.
                deadline.pause().await?;
                continue;
            }
            // Another node gave it up, and without the lock no late decision counts; or it was
            // decided, written, and its row has been written since.
            self.give_up(name, deadline).await;
            if in_doubt && !expect.is_some_and(|expect| unchanged(expect, &stored)) {
                return Err(unknown());
            }
            return Ok(Tried::Again);
        }
    }

    /// None: it is locked.
    async fn lock_home(
        &self,
        name: Name,
        expect: &mut Option<Expect>,
        waiter: &mut Waiter,
        deadline: &mut Deadline,
    ) -> Result<Option<Tried>, StoreError> {
        let (shared, home) = (self.shared, self.first.key());
        let mut in_doubt = false;
        if let Some(expect) = *expect {
            let answer = shared.note(shared.session.lock_home(home, name, expect).await);
            match shared.lose(Point::LockAnswer, answer) {
                Ok(true) => return Ok(None),
                Ok(false) => {}
                Err(Trouble::Unknown(_)) => in_doubt = true,
                Err(Trouble::NotDone(_)) => return Ok(Some(Tried::Again)),
                Err(trouble @ (Trouble::Refused(_) | Trouble::Corrupt(_))) => {
                    return Err(trouble.for_caller());
                }
            }
        }
        let stored = settle::settled(shared, home, in_doubt, deadline).await?;
        if stored.lock == Some(name) {
            return Ok(None);
        }
        if in_doubt {
            // It may still arrive; then nobody is behind it, and it is given up.
            settle::unlock(shared, home, name, deadline).await?;
        }
        match evaluate(self.first, &stored, self.now) {
            Ok(anew) => *expect = Some(anew),
            Err(refused) => return Ok(Some(Tried::Refused(refused))),
        }
        if let Some(pend) = stored.pend {
            settle::finish(shared, pend, home, deadline).await?;
        }
        if stored.lock.is_some() {
            waiter.settle(shared, home, &stored, deadline).await?;
        }
        Ok(Some(Tried::Again))
    }

    /// Whether it is locked; if not, the change was given up, or has to be.
    async fn lock_other(
        &self,
        name: Name,
        key: &Key,
        deadline: &mut Deadline,
    ) -> Result<bool, StoreError> {
        let (shared, home) = (self.shared, self.first.key());
        let mut waiter = Waiter::new(Some(self.began));
        loop {
            let answer = shared.note(shared.session.lock_other(key, name, home).await);
            let in_doubt = match shared.lose(Point::OtherLockAnswer, answer) {
                Ok(true) => return Ok(true),
                Ok(false) => false,
                // It must not be asked for twice: the later one could come after all is written.
                Err(Trouble::Unknown(_)) => true,
                Err(Trouble::NotDone(_)) => return Ok(false),
                Err(trouble @ (Trouble::Refused(_) | Trouble::Corrupt(_))) => {
                    return Err(trouble.for_caller());
                }
            };
            let stored = settle::read(shared, key, in_doubt, deadline).await?;
            if stored.lock == Some(name) {
                return Ok(true);
            }
            if in_doubt {
                return Ok(false);
            }
            waiter.settle(shared, key, &stored, deadline).await?;
            // Somebody may have given this change up meanwhile.
            let at_home = settle::state(shared, name, home, deadline).await?;
            if at_home != settle::State::Undecided {
                return Ok(false);
            }
            deadline.check()?;
        }
    }

    /// Takes the change's locks off, the one that decides first. What fails here is found by
    /// whoever meets it.
    async fn give_up(&self, name: Name, deadline: &mut Deadline) {
        let home = self.first.key();
        if settle::unlock(self.shared, home, name, deadline)
            .await
            .is_err()
        {
            return;
        }
        let others = self.others.iter().map(async |op| {
            let mut deadline = *deadline;
            settle::unlock(self.shared, op.key(), name, &mut deadline).await
        });
        join_all(others).await;
    }
}

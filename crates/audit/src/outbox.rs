//! Lines that commit together with a state change.
//!
//! The application's store is a [`RecordedStore`]. Within an act
//! ([`Audit::act`](crate::Audit::act), [`with_record`]) the first change that it commits takes the
//! act's line along, as one more row of the same transaction; the writer takes the row into the log
//! and removes it. So there is no change without its line and no line without its change, whatever
//! happens between them. Counters of guesses carry nothing: they change whether anything was done
//! or not.
//!
//! An act may change more than once. Its line is there with the first change; where it fails later,
//! a further line says so.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use signet_agent::Refusal;
use signet_agent::receipt::{Decision, Outcome as Ended};
use signet_cbor::{Decoder, Encoder};
use signet_crypto::hash::sha256;
use signet_store::{
    COLLECTED, Change, Key, Layer, Op, Outcome, Row, Store, StoreError, StoreFuture, Table,
};

use crate::event::{Entry, Event, MAX_CONTENT, Target, put_changes};
use crate::node;
use crate::shared::Shared;
use signet_store::NodeId;

/// Attempts to remove a row that others keep changing.
const MAX_TRIES: usize = 8;

/// A record that waits for a change. Its id is in the order of time, and the record names it, so
/// that none is logged twice.
struct Waiting {
    id: [u8; 16],
    entry: Entry,
}

/// Lines that wait for a change, the outermost act's first.
#[derive(Default)]
struct Staged {
    lines: Vec<Waiting>,
    /// What the innermost act is about, where it said so itself; and that act's line.
    target: Option<Target>,
    own: Option<[u8; 16]>,
}

tokio::task_local! {
    static ACT: RefCell<Staged>;
}

fn with_staged<T>(work: impl FnOnce(&mut Vec<Waiting>) -> T) -> Option<T> {
    ACT.try_with(|staged| work(&mut staged.borrow_mut().lines))
        .ok()
}

/// Says what the act that is under way is about, where only its work knows: the id of the record
/// that it makes, say, and what people call it. Before the first change, so that the line goes with
/// it. What the act's line says of a target already stays.
pub fn name_target(id: &str, name: &str) {
    let target = Target {
        id: id.to_owned(),
        name: name.to_owned(),
    };
    // Outside of every act there is no line that could say it.
    let _ = ACT.try_with(|staged| {
        let mut staged = staged.borrow_mut();
        let own = staged.own;
        let line = staged.lines.iter_mut().find(|line| Some(line.id) == own);
        if let Some(line) = line
            && let Some(content) = target.put_into(&line.entry.content)
        {
            line.entry.content = content;
        }
        staged.target = Some(target);
    });
}

/// Says what the act that is under way changes: of each member its name, and what it was and is
/// where that is no secret. Before the change, so that the line goes with it; what was said before
/// goes. An act that changes nothing says nothing of it.
pub fn name_changes(changes: &[String]) {
    // Outside of every act there is no line that could say it.
    let _ = ACT.try_with(|staged| {
        let mut staged = staged.borrow_mut();
        let own = staged.own;
        let line = staged.lines.iter_mut().find(|line| Some(line.id) == own);
        if let Some(line) = line
            && let Some(content) = put_changes(&line.entry.content, changes)
        {
            line.entry.content = content;
        }
    });
}

/// Does `work`; the first change in it carries the event's line, and, where this is part of another
/// act, that act's too. Whether it did. Nothing is recorded where nothing was changed:
/// [`Audit::act`](crate::Audit::act) does that, too.
pub async fn with_record<T>(event: Event<'_>, work: impl Future<Output = T>) -> (T, bool) {
    let (done, was_carried, _) = with_target(event, work).await;
    (done, was_carried)
}

/// The same, and what the work said that it is about ([`name_target`]).
pub(crate) async fn with_target<T>(
    event: Event<'_>,
    work: impl Future<Output = T>,
) -> (T, bool, Option<Target>) {
    let own = waiting(&event);
    let id = own.id;
    let mut lines = with_staged(std::mem::take).unwrap_or_default();
    let outer = lines.len();
    lines.push(own);
    let staged = Staged {
        lines,
        target: None,
        own: Some(id),
    };
    let scope = ACT.scope(RefCell::new(staged), async {
        let done = work.await;
        (done, ACT.try_with(RefCell::take).unwrap_or_default())
    });
    let (
        done,
        Staged {
            mut lines, target, ..
        },
    ) = scope.await;
    let was_carried = lines.iter().all(|record| record.id != id);
    lines.retain(|record| record.id != id);
    debug_assert!(lines.len() <= outer);
    with_staged(|staged| staged.extend(lines));
    (done, was_carried, target)
}

/// Leaves a record of what changed nothing for this node's next start to log: a command without a
/// server that was refused.
///
/// # Errors
/// Those of the store.
pub async fn leave_record(
    store: &dyn Store,
    node: &NodeId,
    event: Event<'_>,
    now: u64,
) -> Result<(), StoreError> {
    let line = waiting(&event);
    let put = Op::Put {
        key: pending_key(node, &line.id),
        value: encoded(&line.entry),
        end: None,
    };
    store.commit(Change::new(put), now).await.map(drop)
}

/// Does `work` outside of the act that is under way: what it changes is another matter, and carries
/// none of that act's lines.
pub async fn outside_act<T>(work: impl Future<Output = T>) -> T {
    ACT.scope(RefCell::default(), work).await
}

/// A store whose changes carry records where no trail is open (a command without a server): this
/// node's next start logs them.
pub fn carrying(store: Arc<dyn Store>, node: &NodeId) -> Arc<dyn Store> {
    Arc::new(RecordedStore {
        inner: store,
        pending: node::pending(node),
        trail: None,
    })
}

fn waiting(event: &Event<'_>) -> Waiting {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let mut id = [0; 16];
    // Of one moment they are in the order in which they were begun.
    id[6..10].copy_from_slice(&COUNT.fetch_add(1, Relaxed).to_be_bytes());
    id[10..].copy_from_slice(&signet_crypto::random::bytes::<6>());
    let at = event.at_ms().to_be_bytes();
    id[..6].copy_from_slice(&at[2..]);
    let entry = event.entry(Some(&id));
    Waiting { id, entry }
}

/// A record as its row has it.
fn encoded(entry: &Entry) -> Vec<u8> {
    let mut value = Encoder::with_capacity(entry.content.len() + 64);
    value
        .array(5)
        .text(&entry.action)
        .uint(entry.decision as u64)
        .uint(entry.outcome as u64)
        .uint(entry.at_ms)
        .bytes(&entry.content);
    value.finish()
}

pub(crate) fn pending_key(node: &NodeId, id: &[u8; 16]) -> Key {
    Key::with_sort(Table::Audit, node::pending(node), id.as_slice())
}

/// Reads such a row.
pub(crate) fn read(row: &Row) -> Result<Entry, Refusal> {
    const DECISIONS: [Decision; 4] = [
        Decision::None,
        Decision::Allowed,
        Decision::Denied,
        Decision::Approved,
    ];
    const OUTCOMES: [Ended; 3] = [Ended::Unknown, Ended::Success, Ended::Failure];
    Decoder::whole(&row.value, |d| {
        d.tuple(5, |d| {
            let action = d.text()?.into();
            let decision = usize::try_from(d.uint()?).ok();
            let outcome = usize::try_from(d.uint()?).ok();
            let at_ms = d.uint()?;
            let content = d.bytes()?.to_vec();
            if content.len() > MAX_CONTENT {
                return Err(Refusal::TooLarge);
            }
            let of = |number: Option<usize>| number.ok_or(Refusal::InvalidValue);
            Ok(Entry {
                action,
                decision: *DECISIONS.get(of(decision)?).ok_or(Refusal::InvalidValue)?,
                outcome: *OUTCOMES.get(of(outcome)?).ok_or(Refusal::InvalidValue)?,
                at_ms,
                hash: sha256(&content),
                content,
            })
        })
    })
}

/// A store whose changes take the lines of acts along.
pub struct RecordedStore {
    inner: Arc<dyn Store>,
    /// The partition of this node's records that are not yet in its log.
    pending: Vec<u8>,
    trail: Option<Arc<Shared>>,
}

impl RecordedStore {
    pub(crate) fn new(inner: Arc<dyn Store>, trail: Arc<Shared>) -> RecordedStore {
        RecordedStore {
            inner,
            pending: node::pending(&trail.node),
            trail: Some(trail),
        }
    }

    /// The lines to add to a change, if it is one that carries any and has room.
    fn lines_for(change: Option<&Change>) -> Vec<Waiting> {
        let Some(change) = change.filter(|change| change.first.key().table != Table::Attempts)
        else {
            return Vec::new();
        };
        let room = COLLECTED.saturating_sub(change.then.len());
        with_staged(|staged| {
            if staged.len() <= room {
                std::mem::take(staged)
            } else {
                Vec::new()
            }
        })
        .unwrap_or_default()
    }

    /// Their rows, as part of the change.
    fn rows<'a>(&'a self, lines: &'a [Waiting]) -> impl Iterator<Item = Op> + 'a {
        lines.iter().map(|record| Op::Put {
            key: Key::with_sort(Table::Audit, &*self.pending, record.id.as_slice()),
            value: encoded(&record.entry),
            end: None,
        })
    }

    fn changed(&self) {
        if let Some(trail) = &self.trail {
            trail.changed();
        }
    }

    /// Their outcome: where the change was refused they wait for the next one.
    fn settle(&self, lines: Vec<Waiting>, done: Result<bool, ()>) {
        match done {
            Ok(false) => {
                with_staged(|staged| staged.extend(lines));
            }
            // After an error nobody knows: the row is there or not, as the change is.
            Ok(true) | Err(()) => self.changed(),
        }
    }
}

impl Layer for RecordedStore {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    // Lines are looked for when the future is polled: it is then that it is part of an act.
    fn commit(&self, mut change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        Box::pin(async move {
            let lines = Self::lines_for(Some(&change));
            if lines.is_empty() {
                return self.inner.commit(change, now).await;
            }
            change.then.extend(self.rows(&lines));
            // Also where nobody waits for the answer any more.
            self.changed();
            let outcome = self.inner.commit(change, now).await;
            self.settle(lines, outcome.as_ref().map(Outcome::is_done).map_err(drop));
            outcome
        })
    }

    fn commit_each(&self, mut changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>> {
        Box::pin(async move {
            // With the last: it decides.
            let lines = Self::lines_for(changes.last());
            if lines.is_empty() {
                return self.inner.commit_each(changes, now).await;
            }
            let wanted = changes.len();
            if let Some(last) = changes.last_mut() {
                last.then.extend(self.rows(&lines));
            }
            self.changed();
            let outcomes = self.inner.commit_each(changes, now).await;
            let done = |all: &Vec<Outcome>| all.len() == wanted && all.iter().all(Outcome::is_done);
            self.settle(lines, outcomes.as_ref().map(done).map_err(drop));
            outcomes
        })
    }

    fn take<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        Box::pin(async move {
            let waits = key.table != Table::Attempts
                && with_staged(|staged| !staged.is_empty()).unwrap_or_default();
            if !waits {
                return self.inner.take(key, now).await;
            }
            for _ in 0..MAX_TRIES {
                let Some(row) = self.inner.get(key, now).await? else {
                    return Ok(None);
                };
                let removal = Op::Remove {
                    key: key.clone(),
                    version: row.version,
                };
                if Layer::commit(self, Change::new(removal), now)
                    .await?
                    .is_done()
                {
                    return Ok(Some(row));
                }
            }
            Err(StoreError::Unavailable(
                "a row is being changed by others".to_owned(),
            ))
        })
    }
}

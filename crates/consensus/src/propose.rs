//! Proposals of this node: calls that come at the same time share one.
//!
//! While some proposals are under way further calls queue up, and the next proposal takes them all:
//! they share an entry of the log, a round of replication and a flush on each node, as concurrent
//! writes of the store alone share a flush.
use crate::{
    codec::Writer,
    machine,
    moment::Moment,
    node::{NO_MAJORITY, Node, Submitted},
    proposal::{self, Answer, Applied, Call, Proposal},
};
use signet_store::{Need, StoreError};
use signet_surroundings::spawn;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering::SeqCst},
};
use tokio::sync::{Semaphore, mpsc, oneshot};

/// Calls that wait for a proposal to take them; beyond it they are refused
const MAX_WAITING: usize = 8192;

/// Calls that share a proposal
const MAX_CALLS: usize = 256;

/// Bytes of calls that share a proposal, where it is more than one
const MAX_SHARED_BYTES: usize = 1 << 20;

/// Longest single change of a replicated store, in bytes
pub(crate) const MAX_CALL_BYTES: usize = 4 << 20;

/// Proposals of one node that are under way at once
const MAX_UNDER_WAY: usize = 4;

type Reply = oneshot::Sender<Result<Answer, StoreError>>;

struct Waiting {
    call: Vec<u8>,
    need: Need,
    until: Moment,
    reply: Reply,
}

/// The session that this node's proposals are in.
struct Session {
    id: u64,
    open: bool,
    next: u64,
    under_way: BTreeSet<u64>,
}

/// Where this node's calls go.
pub(crate) struct Proposer {
    node: Arc<Node>,
    queue: mpsc::Sender<Waiting>,
}

fn need(call: &Call) -> Need {
    match call {
        Call::Commit(change, _) => Need::of(change),
        Call::CommitEach(changes, _) => changes.iter().map(Need::of).max().unwrap_or(Need::Ends),
        Call::Take(..) | Call::Sweep(..) | Call::Check => Need::Ends,
    }
}

fn unavailable(why: &str) -> StoreError {
    StoreError::Unavailable(why.to_owned())
}

impl Proposer {
    pub(crate) fn start(node: Arc<Node>) -> Proposer {
        let (queue, waiting) = mpsc::channel(MAX_WAITING);
        spawn(take(node.clone(), waiting));
        Proposer { node, queue }
    }

    /// Proposes a call; what it was answered when a majority had it on disk.
    pub(crate) async fn call(&self, call: Call) -> Result<Answer, StoreError> {
        self.node.has_hope()?;
        self.node.bars(&call)?;
        let mut bytes = Writer::new();
        call.write(&mut bytes);
        if bytes.len() > MAX_CALL_BYTES {
            return Err(StoreError::TooLarge);
        }
        let (reply, answer) = oneshot::channel();
        let waiting = Waiting {
            call: bytes.finish(),
            need: need(&call),
            until: Moment::now() + self.node.settings.deadline,
            reply,
        };
        self.queue.try_send(waiting).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => unavailable("its queue is full"),
            mpsc::error::TrySendError::Closed(_) => unavailable("it was closed"),
        })?;
        answer.await.map_err(|_| unavailable("it was closed"))?
    }
}

fn lock(session: &Mutex<Session>) -> MutexGuard<'_, Session> {
    // Every step under the lock leaves the numbers as they should be.
    session.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes proposals of what waits, until nobody can send any more.
async fn take(node: Arc<Node>, mut waiting: mpsc::Receiver<Waiting>) {
    let places = Arc::new(Semaphore::new(MAX_UNDER_WAY));
    let session = Arc::new(Mutex::new(Session {
        id: (node.settings.random)(),
        open: false,
        next: 1,
        under_way: BTreeSet::new(),
    }));
    loop {
        // First the place: what comes while none is free shares the next one.
        let Ok(place) = places.clone().acquire_owned().await else {
            return;
        };
        let Some(first) = waiting.recv().await else {
            return;
        };
        // A caller that asks in this moment is in it, too.
        tokio::task::yield_now().await;
        let mut size = first.call.len();
        let mut shared = vec![first];
        while shared.len() < MAX_CALLS
            && size < MAX_SHARED_BYTES
            && let Ok(next) = waiting.try_recv()
        {
            size += next.call.len();
            shared.push(next);
        }
        let now = Moment::now();
        for late in shared.extract_if(.., |waiting| waiting.until <= now) {
            drop(late.reply.send(Err(unavailable(NO_MAJORITY))));
        }
        if shared.is_empty() {
            continue;
        }
        if let Err(error) = open(&node, &session, &shared).await {
            for waiting in shared {
                drop(waiting.reply.send(Err(error.clone())));
            }
            continue;
        }
        let (node, session) = (node.clone(), session.clone());
        let number = begin(&session);
        spawn(async move {
            propose(&node, &session, number, shared).await;
            drop(place);
        });
    }
}

/// Opens the session, where it is not.
async fn open(node: &Node, session: &Mutex<Session>, shared: &[Waiting]) -> Result<(), StoreError> {
    let id = {
        let session = lock(session);
        if session.open {
            return Ok(());
        }
        session.id
    };
    let until = shared.iter().map(|waiting| waiting.until).max();
    let until = until.unwrap_or_else(Moment::now);
    let bytes = Proposal::open(node.format(), node.me.number, id);
    match node.submit(bytes.into(), until).await? {
        Submitted::Done(..) => {
            let mut session = lock(session);
            session.open |= session.id == id;
            Ok(())
        }
        Submitted::Full => Err(unavailable(FULL)),
    }
}

const FULL: &str = "the leader's disk is full: only what ends or revokes something is done";

struct Number {
    session: u64,
    number: u64,
    floor: u64,
}

fn begin(session: &Mutex<Session>) -> Number {
    let mut session = lock(session);
    let number = session.next;
    session.next += 1;
    session.under_way.insert(number);
    Number {
        session: session.id,
        number,
        // Invariant: the number itself is in it.
        floor: session.under_way.first().copied().unwrap_or(number),
    }
}

fn end(node: &Node, session: &Mutex<Session>, number: &Number, is_open: bool) {
    let mut session = lock(session);
    if session.id != number.session {
        return;
    }
    session.under_way.remove(&number.number);
    if !is_open {
        *session = Session {
            id: (node.settings.random)(),
            open: false,
            next: 1,
            under_way: BTreeSet::new(),
        };
    }
}

/// The outcome of a proposal, and so of each call of it.
async fn propose(
    node: &Arc<Node>,
    session: &Arc<Mutex<Session>>,
    number: Number,
    mut shared: Vec<Waiting>,
) {
    let until = shared.iter().map(|waiting| waiting.until).max();
    let until = until.unwrap_or_else(Moment::now);
    let calls: Vec<Vec<u8>> = shared
        .iter_mut()
        .map(|waiting| std::mem::take(&mut waiting.call))
        .collect();
    let head = (node.me.number, number.session, number.number, number.floor);
    let bytes: Arc<[u8]> = proposal::batch(node.format(), head, &calls).into();
    let applied = match node.submit(bytes, until).await {
        Ok(Submitted::Done(index, Some(applied))) => {
            node.seen.fetch_max(index + 1, SeqCst);
            Applied::from_bytes(&applied).map_err(|error| StoreError::Corrupt(error.to_string()))
        }
        Ok(Submitted::Done(index, None)) => {
            node.seen.fetch_max(index + 1, SeqCst);
            kept(node, index, &number, until).await
        }
        Ok(Submitted::Full) => {
            end(node, session, &number, true);
            return without_growth(node, session, shared, calls).await;
        }
        Err(error) => Err(error),
    };
    let is_open = !matches!(applied, Ok(Applied::NoSession));
    end(node, session, &number, is_open);
    let lost = || unavailable("nothing is known of the change: it may or may not have been done");
    let answers = match applied {
        Ok(Applied::Answers(answers)) if answers.len() == shared.len() => Ok(answers),
        // An older copy of this proposal may have been applied in the session that is no more.
        Ok(Applied::NoSession | Applied::Late) => Err(lost()),
        Ok(Applied::Answers(_) | Applied::Opened) => Err(StoreError::Corrupt(
            "the answers are another call's".to_owned(),
        )),
        Err(error) => Err(error),
    };
    match answers {
        Ok(answers) => {
            for (waiting, answer) in shared.into_iter().zip(answers) {
                drop(waiting.reply.send(Ok(answer)));
            }
        }
        Err(error) => {
            for waiting in shared {
                drop(waiting.reply.send(Err(error.clone())));
            }
        }
    }
}

/// Answers that were too large for a message, from this node's own rows.
async fn kept(
    node: &Node,
    index: u64,
    number: &Number,
    until: Moment,
) -> Result<Applied, StoreError> {
    node.wait_applied(index + 1, until).await?;
    let name = machine::answer_name(node.me.number, number.number);
    let kept = node.store.look(move |look| look.note(&name)).await?;
    let kept = kept.ok_or_else(|| unavailable("its answer is no longer kept"))?;
    Applied::from_bytes(&kept).map_err(|error| StoreError::Corrupt(error.to_string()))
}

/// The leader's disk is full, and nothing was done: what ends or revokes something is proposed
/// alone, and the rest refused.
async fn without_growth(
    node: &Arc<Node>,
    session: &Arc<Mutex<Session>>,
    shared: Vec<Waiting>,
    calls: Vec<Vec<u8>>,
) {
    let mut ends = Vec::new();
    for (mut waiting, call) in shared.into_iter().zip(calls) {
        if waiting.need == Need::Ends {
            waiting.call = call;
            ends.push(waiting);
        } else {
            drop(waiting.reply.send(Err(unavailable(FULL))));
        }
    }
    if !ends.is_empty() {
        let number = begin(session);
        // Not again: a leader with a full disk takes these.
        Box::pin(propose(node, session, number, ends)).await;
    }
}

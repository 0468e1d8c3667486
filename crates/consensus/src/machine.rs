//! What the log does to the rows.
//!
//! Entries are applied in their order, many in one transaction, together with the note of how far
//! the rows are. That transaction is not flushed on its own: after a crash the note says where to
//! continue, and the log, which is flushed, holds the rest. A snapshot is not built: the rows are
//! one, and are read as of one moment when another node needs them.
use crate::{
    ConsensusError,
    codec::{Malformed, Reader},
    proposal::{Answer, Applied, Call, FORMAT, Proposal, Session, Unread},
    task::{Until, io_error, work},
    types::{
        Entry, LogId, Payload, Response, SnapshotMeta, StoredMembership, Types, read, written,
    },
    watch,
};
use futures_core::Stream;
use openraft::{
    OptionalSend,
    storage::{EntryResponder, RaftSnapshotBuilder, RaftStateMachine, Snapshot},
};
use signet_store::{
    SqliteStore, StoreError,
    sqlite::replica::{self, Failed, Note, Space},
};
use std::{
    future::poll_fn,
    io,
    pin::Pin,
    sync::{Arc, OnceLock},
};

/// The last entry that the rows hold.
pub(crate) const APPLIED: &[u8] = b"state/applied";
/// The members, as of that entry.
pub(crate) const MEMBERSHIP: &[u8] = b"state/membership";
const SESSION: &[u8] = b"state/session/";
const ANSWER: &[u8] = b"state/answer/";

/// Entries that are applied in one transaction
const MAX_APPLIED: usize = 64;

/// The rows of this node.
#[derive(Clone)]
pub(crate) struct Machine {
    store: Arc<SqliteStore>,
    applied: watch::Sender<u64>,
    reads: Formats,
}

/// The newest format of entries that this node reads, and what stopped it.
#[derive(Clone)]
pub(crate) struct Formats {
    pub(crate) newest: u8,
    /// Set once it has met an entry of a later one: it applies nothing any more.
    pub(crate) outdated: Arc<OnceLock<String>>,
}

impl Formats {
    pub(crate) fn up_to(newest: u8) -> Formats {
        Formats {
            newest,
            outdated: Arc::default(),
        }
    }

    fn stop(&self, index: u64, format: u8) -> io::Error {
        let newest = self.newest;
        let why = self.outdated.get_or_init(|| later(index, format, newest));
        io::Error::other(why.clone())
    }
}

fn later(index: u64, format: u8, newest: u8) -> String {
    format!(
        "entry {index} of the replicated log has format {format}, and this version of Signet reads \
         formats up to {newest}: a later version wrote it. This node has stopped its part and \
         applied nothing of it. Start it with that version again"
    )
}

/// Rows of another node, or for one.
pub(crate) enum Transfer {
    /// This node's, as of one moment.
    Rows(replica::Snapshot),
    /// Only what it would be: see [`Machine::try_create_snapshot_builder`].
    Known,
    /// Another node's, staged beside this one's.
    Staged { version: u64, notes: Vec<Note> },
}

type Snap = Snapshot<crate::types::LeaderId, u64, crate::Member, Transfer>;

fn session_name(origin: u64) -> Vec<u8> {
    [SESSION, &origin.to_be_bytes()].concat()
}

pub(crate) fn answer_name(origin: u64, number: u64) -> Vec<u8> {
    [ANSWER, &origin.to_be_bytes(), &number.to_be_bytes()].concat()
}

/// A value in the file that this program did not write there.
fn corrupt(_: Malformed) -> Failed {
    Failed::corrupt("a note or an entry of the consensus")
}

fn call(space: &mut Space<'_>, call: &Call) -> Result<Answer, Failed> {
    Ok(match call {
        Call::Commit(change, now) => Answer::Commit(space.change(change, *now)?),
        Call::CommitEach(changes, now) => {
            let mut outcomes = Vec::with_capacity(changes.len());
            for change in changes {
                let outcome = space.change(change, *now)?;
                let done = outcome.is_done();
                outcomes.push(outcome);
                if !done {
                    break;
                }
            }
            Answer::CommitEach(outcomes)
        }
        Call::Take(key, now) => Answer::Take(space.take(key, *now)?),
        Call::Sweep(now, limit) => Answer::Sweep(space.sweep(*now, *limit)?),
        Call::Check => Answer::Check,
    })
}

/// Applies one proposal; the bytes of [`Applied`].
fn propose(space: &mut Space<'_>, proposal: &Proposal) -> Result<Vec<u8>, Failed> {
    let (origin, session, number, floor, calls) = match proposal {
        Proposal::Open { origin, session } => {
            let known = space.note(&session_name(*origin))?;
            let known = known.map(|bytes| Session::from_bytes(&bytes)).transpose();
            if known.map_err(corrupt)?.map(|known| known.id) != Some(*session) {
                let from = answer_name(*origin, 0);
                space.remove_notes(&from, &answer_name(*origin, u64::MAX))?;
                let fresh = Session {
                    id: *session,
                    floor: 0,
                };
                space.set_note(&session_name(*origin), &fresh.to_bytes())?;
            }
            return Ok(Applied::Opened.to_bytes());
        }
        Proposal::Batch {
            origin,
            session,
            number,
            floor,
            calls,
        } => (*origin, *session, *number, *floor, calls),
    };
    let known = space.note(&session_name(origin))?;
    let known = known.map(|bytes| Session::from_bytes(&bytes)).transpose();
    let Some(known) = known.map_err(corrupt)?.filter(|known| known.id == session) else {
        return Ok(Applied::NoSession.to_bytes());
    };
    if number < known.floor {
        return Ok(Applied::Late.to_bytes());
    }
    let name = answer_name(origin, number);
    if let Some(answered) = space.note(&name)? {
        return Ok(answered);
    }
    let answers = calls
        .iter()
        .map(|asked| call(space, asked))
        .collect::<Result<Vec<Answer>, Failed>>()?;
    let answered = Applied::Answers(answers).to_bytes();
    space.set_note(&name, &answered)?;
    if floor > known.floor {
        space.remove_notes(
            &answer_name(origin, known.floor),
            &answer_name(origin, floor),
        )?;
        let raised = Session { id: session, floor };
        space.set_note(&session_name(origin), &raised.to_bytes())?;
    }
    Ok(answered)
}

/// What one entry does, read from its bytes before the transaction begins.
enum Step {
    Nothing,
    Proposal(Proposal),
    Membership(Vec<u8>),
}

impl Step {
    fn of(entry: &Entry, newest: u8) -> Result<Step, (u64, Unread)> {
        Ok(match &entry.payload {
            Payload::Blank => Step::Nothing,
            Payload::Normal(proposed) => {
                let read = Proposal::from_bytes(&proposed.0, newest);
                Step::Proposal(read.map_err(|why| (entry.log_id.index, why))?)
            }
            Payload::Membership(membership) => {
                let stored = StoredMembership::new(Some(entry.log_id), membership.clone());
                Step::Membership(written(|to| to.stored_membership(&stored)))
            }
        })
    }
}

fn run(space: &mut Space<'_>, steps: &[Step], last: &[u8]) -> Result<Vec<Vec<u8>>, Failed> {
    let mut responses = Vec::with_capacity(steps.len());
    for step in steps {
        responses.push(match step {
            Step::Nothing => Vec::new(),
            Step::Proposal(proposal) => propose(space, proposal)?,
            Step::Membership(membership) => {
                space.set_note(MEMBERSHIP, membership)?;
                Vec::new()
            }
        });
    }
    space.set_note(APPLIED, last)?;
    Ok(responses)
}

/// Whether this version reads all of these entries.
pub(crate) fn readable(entries: &[Entry]) -> Result<(), ConsensusError> {
    let mut steps = entries.iter().map(|entry| Step::of(entry, FORMAT));
    match steps.find_map(Result::err) {
        None => Ok(()),
        Some((_, Unread::Malformed)) => Err(Malformed.into()),
        Some((index, Unread::Later(format))) => {
            Err(ConsensusError::Later(later(index, format, FORMAT)))
        }
    }
}

/// Applies entries within work that is under way: for a recovery, which has no consensus to run in.
pub(crate) fn apply_now(space: &mut Space<'_>, entries: &[Entry]) -> Result<(), Failed> {
    let Some(last) = entries.last() else {
        return Ok(());
    };
    let steps = entries.iter().map(|entry| Step::of(entry, FORMAT));
    let steps = steps.collect::<Result<Vec<_>, _>>();
    let steps = steps.map_err(|(index, why)| match why {
        Unread::Malformed => corrupt(Malformed),
        // Invariant: `readable` said otherwise.
        Unread::Later(format) => Failed::corrupt(&later(index, format, FORMAT)),
    });
    let last = written(|to| to.log_id(&last.log_id));
    run(space, &steps?, &last).map(drop)
}

/// How far the rows are, and who the members are as of there.
pub(crate) fn state(
    applied: Option<Vec<u8>>,
    membership: Option<Vec<u8>>,
) -> Result<(Option<LogId>, StoredMembership), Malformed> {
    let applied = applied
        .map(|bytes| read(&bytes, Reader::log_id))
        .transpose()?;
    let membership = membership
        .map(|bytes| read(&bytes, Reader::stored_membership))
        .transpose()?;
    Ok((applied, membership.unwrap_or_default()))
}

impl Machine {
    /// The rows as they are on the disk. `applied` receives how far they are, as an index plus one.
    pub(crate) fn open(
        store: Arc<SqliteStore>,
        applied: watch::Sender<u64>,
        reads: Formats,
    ) -> Result<Machine, StoreError> {
        let notes = store.look_now(|look| Ok((look.note(APPLIED)?, look.note(MEMBERSHIP)?)))?;
        let known = state(notes.0, notes.1)
            .map_err(|_| StoreError::Corrupt("the notes of the consensus".into()))?;
        applied.send_replace(known.0.map_or(0, |id| id.index + 1));
        Ok(Machine {
            store,
            applied,
            reads,
        })
    }

    async fn known(&self) -> io::Result<(Option<LogId>, StoredMembership)> {
        let notes = self
            .store
            .look(|look| Ok((look.note(APPLIED)?, look.note(MEMBERSHIP)?)))
            .await
            .map_err(io_error)?;
        Ok(state(notes.0, notes.1)?)
    }

    async fn apply_some(&self, some: &mut Vec<EntryResponder<Types>>) -> io::Result<()> {
        let Some((last, _)) = some.last() else {
            return Ok(());
        };
        let last = last.log_id;
        let newest = self.reads.newest;
        let steps = some.iter().map(|(entry, _)| Step::of(entry, newest));
        let steps = steps.collect::<Result<Vec<Step>, _>>();
        let steps = steps.map_err(|(index, why)| match why {
            Unread::Malformed => Malformed.into(),
            Unread::Later(format) => self.reads.stop(index, format),
        })?;
        let note = written(|to| to.log_id(&last));
        let responses = work(&self.store, Until::Written, move |space| {
            run(space, &steps, &note)
        })
        .await
        .map_err(io_error)?;
        // Before the answers: who has one finds what it says in the rows.
        self.applied.send_replace(last.index + 1);
        for ((_, responder), response) in some.drain(..).zip(responses) {
            if let Some(responder) = responder {
                responder.send(Response(response));
            }
        }
        Ok(())
    }
}

/// Says what a snapshot would hold now.
pub(crate) struct Builder(Machine);

impl RaftSnapshotBuilder<Types> for Builder {
    type SnapshotData = Transfer;

    async fn build_snapshot(&mut self) -> Result<Snap, io::Error> {
        let (last_log_id, last_membership) = self.0.known().await?;
        Ok(Snapshot {
            meta: SnapshotMeta {
                last_log_id,
                last_membership,
            },
            snapshot: Transfer::Known,
        })
    }
}

impl RaftStateMachine<Types> for Machine {
    type SnapshotData = Transfer;
    type SnapshotBuilder = Builder;

    async fn applied_state(&mut self) -> Result<(Option<LogId>, StoredMembership), io::Error> {
        self.known().await
    }

    async fn apply<S>(&mut self, mut entries: S) -> Result<(), io::Error>
    where
        S: Stream<Item = Result<EntryResponder<Types>, io::Error>> + Unpin + OptionalSend,
    {
        let mut some = Vec::new();
        while let Some(next) = poll_fn(|context| Pin::new(&mut entries).poll_next(context)).await {
            some.push(next?);
            if some.len() >= MAX_APPLIED {
                self.apply_some(&mut some).await?;
            }
        }
        self.apply_some(&mut some).await
    }

    async fn get_snapshot_builder(&mut self) -> Builder {
        Builder(self.clone())
    }

    async fn install_snapshot(
        &mut self,
        meta: &SnapshotMeta,
        snapshot: Transfer,
    ) -> Result<(), io::Error> {
        let Transfer::Staged { version, notes } = snapshot else {
            return Err(Malformed.into());
        };
        let has = |name: &[u8], bytes: Vec<u8>| {
            notes.iter().any(|(n, value)| n == name && *value == bytes)
        };
        let applied = meta.last_log_id.ok_or(Malformed)?;
        let membership = written(|to| to.stored_membership(&meta.last_membership));
        // What its head says is what it holds.
        if !has(APPLIED, written(|to| to.log_id(&applied))) || !has(MEMBERSHIP, membership) {
            return Err(Malformed.into());
        }
        work(&self.store, Until::Flushed, move |space| {
            space.install(version, &notes)
        })
        .await
        .map_err(io_error)?;
        self.applied.send_replace(applied.index + 1);
        Ok(())
    }

    async fn get_current_snapshot(&mut self) -> Result<Option<Snap>, io::Error> {
        let snapshot = self.store.snapshot().map_err(io_error)?;
        let notes = (
            snapshot.note(APPLIED).map_err(io_error)?,
            snapshot.note(MEMBERSHIP).map_err(io_error)?,
        );
        let (last_log_id, last_membership) = state(notes.0, notes.1)?;
        Ok(last_log_id.map(|last| Snapshot {
            meta: SnapshotMeta {
                last_log_id: Some(last),
                last_membership,
            },
            snapshot: Transfer::Rows(snapshot),
        }))
    }
}

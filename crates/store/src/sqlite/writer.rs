//! The one writer: it commits what has queued up in one transaction, so that many requests share
//! one flush.
//!
//! While a flush is under way further jobs queue up; they are the next group. A change that is
//! refused writes nothing (its condition is part of its first statement), so it cannot disturb its
//! neighbours. If the engine itself fails, the whole group is rolled back and every member receives
//! the error: nobody is answered `Done` who is not on the disk.
use super::{
    open,
    queue::{Place, Queue},
    recent::Changing,
    replica::{self, Space, Work},
    reserve::Reserve,
    sql,
};
use crate::{Change, Key, Need, Outcome, Row, StoreError, realm};
use rusqlite::Connection;
use signet_telemetry::{
    metrics::counted,
    trace::{Attribute, Handle},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Instant,
};
use tokio::sync::oneshot;

/// Most jobs that share one flush: bounds how long the first of them waits.
const MAX_GROUP: usize = 512;

/// Where a job is answered. What was done waits here for the flush; where that fails, the job can
/// be done again.
pub(super) struct Reply<T> {
    to: oneshot::Sender<Result<T, StoreError>>,
    done: Option<T>,
    place: Option<(Handle, Instant)>,
}

impl<T> From<oneshot::Sender<Result<T, StoreError>>> for Reply<T> {
    fn from(to: oneshot::Sender<Result<T, StoreError>>) -> Reply<T> {
        Reply {
            to,
            done: None,
            place: Handle::current().map(|place| (place, Instant::now())),
        }
    }
}

/// When a group was taken, and when its flush began.
struct Times {
    taken: Instant,
    flush: Instant,
}

impl<T> Reply<T> {
    // A caller that has gone away is no reason to stop: sending may fail.
    fn send(self) {
        // Invariant: called for jobs that were applied. A caller of any other hears that its job
        // was not done.
        if let Some(done) = self.done {
            drop(self.to.send(Ok(done)));
        }
    }

    fn fail(self, error: StoreError) {
        drop(self.to.send(Err(error)));
    }

    /// Says what the job waited for, where it is of a request whose steps are recorded.
    fn trace(&self, times: &Times, until: Instant, jobs: u64) {
        if let Some((place, queued)) = &self.place {
            place.add("wait for the writer", *queued, times.taken);
            place.add("apply the group", times.taken, times.flush);
            let flush = place.add("flush", times.flush, until);
            flush.note(Attribute::Jobs, jobs);
        }
    }
}

pub(super) enum Job {
    Commit {
        change: Change,
        now: u64,
        reply: Reply<Outcome>,
    },
    CommitEach {
        changes: Vec<Change>,
        now: u64,
        reply: Reply<Vec<Outcome>>,
    },
    Take {
        key: Key,
        now: u64,
        reply: Reply<Option<Row>>,
    },
    Sweep {
        now: u64,
        limit: usize,
        reply: Reply<usize>,
    },
    Restore {
        rows: Vec<(Key, Option<Row>)>,
        reply: Reply<()>,
    },
    Check {
        reply: Reply<()>,
    },
    /// Only has it looked whether a full disk has space again.
    Look,
    /// Of the consensus that replicates the store.
    Work(Box<dyn Work>),
}

fn lane(key: &Key) -> Place {
    Place::Lane(realm::prefix_of(&key.partition).to_vec())
}

impl Job {
    fn need(&self) -> Need {
        match self {
            Job::Commit { change, .. } => Need::of(change),
            Job::CommitEach { changes, .. } => {
                changes.iter().map(Need::of).max().unwrap_or(Need::Ends)
            }
            Job::Restore { .. } => Need::Grows,
            Job::Take { .. } | Job::Sweep { .. } | Job::Check { .. } | Job::Look | Job::Work(_) => {
                Need::Ends
            }
        }
    }

    /// Where it stands among those that wait: a realm's are behind each other, and what concerns
    /// the whole store behind everything.
    pub(super) fn place(&self) -> Place {
        match self {
            Job::Commit { change, .. } => lane(change.first.key()),
            Job::CommitEach { changes, .. } => changes
                .first()
                .map_or(Place::FIRST, |change| lane(change.first.key())),
            Job::Take { key, .. } => lane(key),
            Job::Sweep { .. } | Job::Check { .. } | Job::Look => Place::FIRST,
            Job::Restore { .. } | Job::Work(_) => Place::Last,
        }
    }

    /// Whether a replicated store takes it only from the consensus.
    fn is_change(&self) -> bool {
        match self {
            Job::Commit { .. }
            | Job::CommitEach { .. }
            | Job::Take { .. }
            | Job::Sweep { .. }
            | Job::Restore { .. } => true,
            Job::Check { .. } | Job::Look | Job::Work(_) => false,
        }
    }

    /// Whether it may be answered only when it has reached the disk.
    fn is_flushed(&self) -> bool {
        match self {
            Job::Commit { .. }
            | Job::CommitEach { .. }
            | Job::Take { .. }
            | Job::Sweep { .. }
            | Job::Restore { .. }
            | Job::Check { .. } => true,
            Job::Look => false,
            Job::Work(work) => work.is_flushed(),
        }
    }

    /// Answers what was done, after the flush.
    fn answer(self) {
        match self {
            Job::Commit { reply, .. } => reply.send(),
            Job::CommitEach { reply, .. } => reply.send(),
            Job::Take { reply, .. } => reply.send(),
            Job::Sweep { reply, .. } => reply.send(),
            Job::Restore { reply, .. } | Job::Check { reply } => reply.send(),
            Job::Look => {}
            Job::Work(work) => work.done(Ok(())),
        }
    }

    fn trace(&self, times: &Times, until: Instant, jobs: u64) {
        match self {
            Job::Commit { reply, .. } => reply.trace(times, until, jobs),
            Job::CommitEach { reply, .. } => reply.trace(times, until, jobs),
            Job::Take { reply, .. } => reply.trace(times, until, jobs),
            Job::Sweep { .. }
            | Job::Restore { .. }
            | Job::Check { .. }
            | Job::Look
            | Job::Work(_) => {}
        }
    }

    fn fail(self, error: StoreError) {
        match self {
            Job::Commit { reply, .. } => reply.fail(error),
            Job::CommitEach { reply, .. } => reply.fail(error),
            Job::Take { reply, .. } => reply.fail(error),
            Job::Sweep { reply, .. } => reply.fail(error),
            Job::Restore { reply, .. } | Job::Check { reply } => reply.fail(error),
            Job::Look => {}
            Job::Work(work) => work.done(Err(error)),
        }
    }
}

/// What the writer has done since the store was opened.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) groups: AtomicU64,
    pub(super) jobs: AtomicU64,
}

pub(super) struct Writer {
    pub(super) connection: Connection,
    pub(super) reserve: Reserve,
    /// As on a full disk.
    pub(super) folds_often: bool,
    pub(super) damaged: Arc<AtomicBool>,
    pub(super) queue: Arc<Queue<Job>>,
    pub(super) counters: Arc<Counters>,
    pub(super) changing: Changing,
    pub(super) versions: sql::Versions,
    /// Changes come from the consensus alone.
    pub(super) replicated: bool,
    /// Whether a commit returns before its log is flushed.
    pub(super) relaxed: bool,
}

impl Writer {
    /// Works until the queue is closed and empty.
    pub(super) fn run(mut self) {
        let mut group = Vec::with_capacity(MAX_GROUP);
        while self.queue.pop_group(MAX_GROUP, &mut group) {
            self.commit_group(&mut group);
        }
        self.finish();
    }

    /// Commits what is queued now, and waits for nothing. How many jobs that were, and whether they
    /// were done and flushed.
    pub(super) fn run_queued(&mut self) -> (usize, bool, bool) {
        let mut group = Vec::new();
        self.queue.take_group(MAX_GROUP, &mut group);
        let (size, flushed) = (group.len(), group.iter().any(Job::is_flushed));
        let done = size > 0 && self.commit_group(&mut group);
        (size, done, flushed)
    }

    pub(super) fn finish(&self) {
        // Leaves one file behind instead of three. The log is complete without it, so a failure is
        // no loss.
        if let Err(error) = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        {
            tracing::warn!(%error, "failed to checkpoint the store's log at close");
        }
    }

    fn commit_group(&mut self, group: &mut Vec<Job>) -> bool {
        self.reserve.look();
        group.retain(|job| !matches!(job, Job::Look));
        loop {
            if let Err(error) = self.fold_more_often() {
                tracing::warn!(%error, "failed to checkpoint the store's log");
            }
            if self.reserve.is_full() {
                self.refuse_growth(group);
            }
            if self.replicated {
                refuse_changes(group);
            }
            if group.is_empty() {
                return false;
            }
            let replicated = self.replicated;
            let taken = Instant::now();
            let tried = self.try_group(group);
            if tried.is_err()
                && !self.connection.is_autocommit()
                && let Err(error) = self.connection.execute_batch("ROLLBACK")
            {
                tracing::error!(%error, "failed to roll back a failed group");
            }
            self.changing.done();
            let error = match tried {
                Err(error) => error,
                Ok(flush) => {
                    self.count(group, &Times { taken, flush });
                    group.drain(..).for_each(Job::answer);
                    return true;
                }
            };
            self.replicated = replicated;
            self.versions.set_exact(replicated);
            if sql::may_be_full(&error, || self.reserve.is_nearly_full()) {
                let was_full = self.reserve.is_full();
                // The first time, the group may fit without what only makes something.
                if self.reserve.give(false) || !was_full {
                    continue;
                }
            }
            tracing::error!(%error, "failed to commit a group of changes");
            if sql::is_damage(&error) {
                self.damaged.store(true, Ordering::SeqCst);
            }
            let error = sql::store_error(error);
            for job in group.drain(..) {
                job.fail(error.clone());
            }
            return false;
        }
    }

    /// Before the answers: who has one finds itself counted, and what it waited for recorded.
    fn count(&self, group: &[Job], times: &Times) {
        let (until, jobs) = (Instant::now(), group.len() as u64);
        self.counters.groups.fetch_add(1, Ordering::Relaxed);
        self.counters.jobs.fetch_add(jobs, Ordering::Relaxed);
        counted::STORE_FLUSH.took(until.saturating_duration_since(times.flush));
        counted::STORE_CHANGES.fetch_add(jobs, Ordering::Relaxed);
        for job in group {
            job.trace(times, until, jobs);
        }
    }

    /// While the disk is full the log is folded in soon, so that it uses its own space again
    /// instead of more.
    fn fold_more_often(&mut self) -> rusqlite::Result<()> {
        let full = self.reserve.is_full();
        if full == self.folds_often {
            return Ok(());
        }
        self.folds_often = full;
        if full {
            open::fold_each(&self.connection, open::FEW_PAGES)?;
            let fold = "PRAGMA wal_checkpoint(PASSIVE)";
            self.connection.query_row(fold, [], |_| Ok(()))
        } else {
            open::fold_each(&self.connection, open::PAGES)
        }
    }

    /// Answers what a full disk has no room for.
    fn refuse_growth(&self, group: &mut Vec<Job>) {
        let full = "the disk is full: only what ends or revokes something is done";
        let admitted = |job: &mut Job| !self.reserve.admits(job.need());
        for job in group.extract_if(.., admitted) {
            job.fail(StoreError::Unavailable(full.to_owned()));
        }
    }

    /// When its flush began.
    fn try_group(&mut self, group: &mut [Job]) -> rusqlite::Result<Instant> {
        self.relax(!group.iter().any(Job::is_flushed))?;
        self.connection
            .prepare_cached("BEGIN IMMEDIATE")?
            .execute([])?;
        for job in group {
            self.apply(job)?;
        }
        self.versions.keep(&self.connection)?;
        let flush = Instant::now();
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(flush)
    }

    /// NORMAL: a commit is in its order in the log, and flushed with the next one that is. What a
    /// crash takes away is the end of the log, so never this commit without those behind it.
    fn relax(&mut self, relaxed: bool) -> rusqlite::Result<()> {
        if relaxed != self.relaxed {
            let mode = if relaxed { "NORMAL" } else { "FULL" };
            self.connection.pragma_update(None, "synchronous", mode)?;
            self.relaxed = relaxed;
        }
        Ok(())
    }

    fn apply(&mut self, job: &mut Job) -> rusqlite::Result<()> {
        match job {
            Job::Commit { change, now, reply } => {
                reply.done = Some(self.change(change, *now)?);
            }
            Job::CommitEach {
                changes,
                now,
                reply,
            } => {
                let mut outcomes = Vec::with_capacity(changes.len());
                for change in &*changes {
                    let outcome = self.change(change, *now)?;
                    let done = outcome.is_done();
                    outcomes.push(outcome);
                    if !done {
                        break;
                    }
                }
                reply.done = Some(outcomes);
            }
            Job::Take { key, now, reply } => {
                self.changing.row(key);
                reply.done = Some(sql::take(&self.connection, key, *now)?);
            }
            Job::Sweep { now, limit, reply } => {
                self.changing.sweep(*now);
                reply.done = Some(sql::sweep(&self.connection, *now, *limit)?);
            }
            Job::Restore { rows, reply } => {
                rows.iter().for_each(|(key, _)| self.changing.row(key));
                sql::restore(&self.connection, &mut self.versions, rows)?;
                reply.done = Some(());
            }
            // It was looked before the group.
            Job::Look => {}
            // A transaction that changes nothing proves nothing: SQLite compares, and writes no
            // page whose bytes stay the same.
            Job::Check { reply } => {
                self.connection.execute(
                    "INSERT INTO counter (name, value) VALUES ('check', 1)
                     ON CONFLICT (name) DO UPDATE SET value = (value + 1) & 65535",
                    [],
                )?;
                reply.done = Some(());
            }
            Job::Work(work) => {
                let mut space = Space {
                    connection: &self.connection,
                    versions: &mut self.versions,
                    changing: &mut self.changing,
                    replicated: &mut self.replicated,
                };
                work.run(&mut space).map_err(|failed| failed.0)?;
            }
        }
        Ok(())
    }

    fn change(&mut self, change: &Change, now: u64) -> rusqlite::Result<Outcome> {
        self.changing.change(change);
        sql::change(&self.connection, &mut self.versions, change, now)
    }
}

/// Answers what a replicated store takes only from the consensus. A group may hold the work that
/// makes the store replicated, and changes behind it: those are done before it is answered, and so
/// are part of what the consensus begins with.
fn refuse_changes(group: &mut Vec<Job>) {
    for job in group.extract_if(.., |job| job.is_change()) {
        job.fail(StoreError::Invalid(replica::REPLICATED));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MAX_VALUE_BYTES, Op, Table};

    fn put(id: &str, size: usize) -> Change {
        Change::new(Op::Put {
            key: Key::new(Table::Once, id),
            value: vec![7; size],
            end: Some(2_000),
        })
    }

    #[test]
    fn every_check_reaches_the_disk() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join(open::DATABASE_FILE);
        let mut writer = Writer {
            connection: open::writer(&file, sql::MIGRATIONS).expect("opens"),
            reserve: Reserve::find(directory.path(), 0, Arc::default()),
            folds_often: false,
            damaged: Arc::default(),
            queue: Arc::new(Queue::new(8)),
            counters: Arc::default(),
            changing: Changing::new(Arc::default()),
            versions: sql::Versions::default(),
            replicated: false,
            relaxed: false,
        };
        let log = file.with_extension("db-wal");
        let written = || std::fs::metadata(&log).map_or(0, |m| m.len());
        for _ in 0..3 {
            let before = written();
            let (reply, mut answer) = oneshot::channel();
            assert!(writer.commit_group(&mut vec![Job::Check {
                reply: reply.into(),
            }]));
            assert!(answer.try_recv().expect("is answered").is_ok());
            assert!(written() > before);
        }
    }

    #[test]
    fn where_the_disk_is_full_nobody_of_the_group_is_told_done_and_work_goes_on_later() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join(open::DATABASE_FILE);
        let connection = open::writer(&file, sql::MIGRATIONS).expect("opens");
        connection
            .pragma_update(None, "max_page_count", 64)
            .expect("is set");
        let mut writer = Writer {
            connection,
            reserve: Reserve::find(directory.path(), 0, Arc::default()),
            folds_often: false,
            damaged: Arc::default(),
            queue: Arc::new(Queue::new(8)),
            counters: Arc::default(),
            changing: Changing::new(Arc::default()),
            versions: sql::Versions::default(),
            replicated: false,
            relaxed: false,
        };
        let mut answers = Vec::new();
        let mut group: Vec<Job> = [
            put("small", 1),
            put("large", MAX_VALUE_BYTES),
            put("last", 1),
        ]
        .map(|change| {
            let (reply, answer) = oneshot::channel();
            answers.push(answer);
            Job::Commit {
                change,
                now: 1_000,
                reply: reply.into(),
            }
        })
        .into();
        assert!(!writer.commit_group(&mut group));
        for mut answer in answers {
            let answer = answer.try_recv().expect("is answered");
            assert!(matches!(answer, Err(StoreError::Unavailable(_))));
        }
        let small = Key::new(Table::Once, "small");
        let row = sql::get(&writer.connection, &small, 1_000).expect("reads");
        assert_eq!(row, None);

        let (reply, mut answer) = oneshot::channel();
        let mut group = vec![Job::Commit {
            change: put("small", 1),
            now: 1_000,
            reply: reply.into(),
        }];
        assert!(writer.commit_group(&mut group));
        let answer = answer.try_recv().expect("is answered");
        assert!(answer.is_ok_and(|outcome| outcome.is_done()));
    }
}

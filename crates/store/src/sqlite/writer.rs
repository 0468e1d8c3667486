//! The one writer: it commits what has queued up in one transaction, so that many requests share one flush.
//!
//! While a flush is under way further jobs queue up; they are the next group. A change that is refused writes nothing
//! (its condition is part of its first statement), so it cannot disturb its neighbours. If the engine itself fails, the
//! whole group is rolled back and every member is told so: nobody is answered `Done` who is not on the disk.
use super::{queue::Queue, sql};
use crate::{Change, Key, Outcome, Row, StoreError};
use rusqlite::Connection;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use tokio::sync::oneshot;

/// Most jobs that share one flush: bounds how long the first of them waits.
const MAX_GROUP: usize = 512;

pub(super) type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

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
    Check {
        reply: Reply<()>,
    },
}

/// A job that was done in the open transaction; it is answered after the flush.
enum Answer {
    Commit(Reply<Outcome>, Outcome),
    CommitEach(Reply<Vec<Outcome>>, Vec<Outcome>),
    Take(Reply<Option<Row>>, Option<Row>),
    Sweep(Reply<usize>, usize),
    Check(Reply<()>),
}

impl Answer {
    // A caller that has gone away is no reason to stop: `send` may fail.
    fn send(self) {
        match self {
            Answer::Commit(reply, outcome) => drop(reply.send(Ok(outcome))),
            Answer::CommitEach(reply, outcomes) => drop(reply.send(Ok(outcomes))),
            Answer::Take(reply, row) => drop(reply.send(Ok(row))),
            Answer::Sweep(reply, count) => drop(reply.send(Ok(count))),
            Answer::Check(reply) => drop(reply.send(Ok(()))),
        }
    }

    fn fail(self, error: StoreError) {
        match self {
            Answer::Commit(reply, _) => drop(reply.send(Err(error))),
            Answer::CommitEach(reply, _) => drop(reply.send(Err(error))),
            Answer::Take(reply, _) => drop(reply.send(Err(error))),
            Answer::Sweep(reply, _) => drop(reply.send(Err(error))),
            Answer::Check(reply) => drop(reply.send(Err(error))),
        }
    }
}

impl Job {
    fn fail(self, error: StoreError) {
        match self {
            Job::Commit { reply, .. } => drop(reply.send(Err(error))),
            Job::CommitEach { reply, .. } => drop(reply.send(Err(error))),
            Job::Take { reply, .. } => drop(reply.send(Err(error))),
            Job::Sweep { reply, .. } => drop(reply.send(Err(error))),
            Job::Check { reply } => drop(reply.send(Err(error))),
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
    pub(super) queue: Arc<Queue<Job>>,
    pub(super) counters: Arc<Counters>,
    pub(super) versions: sql::Versions,
}

impl Writer {
    /// Works until the queue is closed and empty.
    pub(super) fn run(mut self) {
        let mut group = Vec::with_capacity(MAX_GROUP);
        while self.queue.pop_group(MAX_GROUP, &mut group) {
            let size = group.len() as u64;
            if self.commit_group(&mut group) {
                self.counters.groups.fetch_add(1, Ordering::Relaxed);
                self.counters.jobs.fetch_add(size, Ordering::Relaxed);
            }
        }
        // Leaves one file behind instead of three. The log is complete without it, so a failure is no loss.
        if let Err(error) = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        {
            tracing::warn!(%error, "the store's log could not be folded in at close");
        }
    }

    fn commit_group(&mut self, group: &mut Vec<Job>) -> bool {
        let mut answers = Vec::with_capacity(group.len());
        let result = self.try_group(group, &mut answers);
        match result {
            Ok(()) => {
                answers.into_iter().for_each(Answer::send);
                true
            }
            Err(error) => {
                tracing::error!(%error, "a group of changes could not be committed");
                if !self.connection.is_autocommit()
                    && let Err(error) = self.connection.execute_batch("ROLLBACK")
                {
                    tracing::error!(%error, "a failed group could not be rolled back");
                }
                self.versions.forget();
                let error = sql::store_error(error);
                for answer in answers {
                    answer.fail(error.clone());
                }
                for job in group.drain(..) {
                    job.fail(error.clone());
                }
                false
            }
        }
    }

    fn try_group(
        &mut self,
        group: &mut Vec<Job>,
        answers: &mut Vec<Answer>,
    ) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached("BEGIN IMMEDIATE")?
            .execute([])?;
        let mut jobs = std::mem::take(group).into_iter();
        for job in jobs.by_ref() {
            match self.apply(job) {
                Ok(answer) => answers.push(answer),
                Err((error, job)) => {
                    group.push(*job);
                    group.extend(jobs);
                    return Err(error);
                }
            }
        }
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }

    fn apply(&mut self, job: Job) -> Result<Answer, (rusqlite::Error, Box<Job>)> {
        match job {
            Job::Commit { change, now, reply } => match self.change(&change, now) {
                Ok(outcome) => Ok(Answer::Commit(reply, outcome)),
                Err(error) => Err((error, Box::new(Job::Commit { change, now, reply }))),
            },
            Job::CommitEach {
                changes,
                now,
                reply,
            } => {
                let mut outcomes = Vec::with_capacity(changes.len());
                for change in &changes {
                    match self.change(change, now) {
                        Ok(outcome) => {
                            let done = outcome.is_done();
                            outcomes.push(outcome);
                            if !done {
                                break;
                            }
                        }
                        Err(error) => {
                            let job = Job::CommitEach {
                                changes,
                                now,
                                reply,
                            };
                            return Err((error, Box::new(job)));
                        }
                    }
                }
                Ok(Answer::CommitEach(reply, outcomes))
            }
            Job::Take { key, now, reply } => match sql::take(&self.connection, &key, now) {
                Ok(row) => Ok(Answer::Take(reply, row)),
                Err(error) => Err((error, Box::new(Job::Take { key, now, reply }))),
            },
            Job::Sweep { now, limit, reply } => match sql::sweep(&self.connection, now, limit) {
                Ok(count) => Ok(Answer::Sweep(reply, count)),
                Err(error) => Err((error, Box::new(Job::Sweep { now, limit, reply }))),
            },
            // A transaction that changes nothing proves nothing: SQLite compares, and writes no page whose bytes stay the same.
            Job::Check { reply } => match self.connection.execute(
                "INSERT INTO counter (name, value) VALUES ('check', 1)
                 ON CONFLICT (name) DO UPDATE SET value = (value + 1) & 65535",
                [],
            ) {
                Ok(_) => Ok(Answer::Check(reply)),
                Err(error) => Err((error, Box::new(Job::Check { reply }))),
            },
        }
    }

    fn change(&mut self, change: &Change, now: u64) -> rusqlite::Result<Outcome> {
        let outcome = sql::apply(&self.connection, &mut self.versions, &change.first, now)?;
        if outcome.is_done() {
            for op in &change.then {
                sql::apply(&self.connection, &mut self.versions, op, now)?;
            }
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MAX_VALUE_BYTES, Op, Table, sqlite::open};

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
            connection: open::writer(&file).expect("opens"),
            queue: Arc::new(Queue::new(8)),
            counters: Arc::default(),
            versions: sql::Versions::default(),
        };
        let log = file.with_extension("db-wal");
        let written = || std::fs::metadata(&log).map_or(0, |m| m.len());
        for _ in 0..3 {
            let before = written();
            let (reply, mut answer) = oneshot::channel();
            assert!(writer.commit_group(&mut vec![Job::Check { reply }]));
            assert!(answer.try_recv().expect("is answered").is_ok());
            assert!(written() > before);
        }
    }

    #[test]
    fn where_the_disk_is_full_nobody_of_the_group_is_told_done_and_work_goes_on_later() {
        let directory = tempfile::tempdir().expect("a directory");
        let connection = open::writer(&directory.path().join(open::DATABASE_FILE)).expect("opens");
        connection
            .pragma_update(None, "max_page_count", 64)
            .expect("is set");
        let mut writer = Writer {
            connection,
            queue: Arc::new(Queue::new(8)),
            counters: Arc::default(),
            versions: sql::Versions::default(),
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
                reply,
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
            reply,
        }];
        assert!(writer.commit_group(&mut group));
        let answer = answer.try_recv().expect("is answered");
        assert!(answer.is_ok_and(|outcome| outcome.is_done()));
    }
}

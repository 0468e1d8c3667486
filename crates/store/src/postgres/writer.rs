//! Groups of changes: two round trips and one transaction each.
//!
//! The first round trip begins the transaction, writes the connection's mark, takes the locks of
//! all keys that the group names (in one order, so that no two groups wait for each other), and
//! reads what lies there. The group is then decided in memory. The second writes what it leaves,
//! one statement for each table, and commits.
//!
//! Where the connection is lost after the commit was sent, nobody knows whether it was done. Then
//! the mark is read over a new connection, with a lock: the transaction holds that row from its
//! first statement to its end, so the answer comes when it is over, and says which way it went. If
//! it was not committed the group is done again; if that cannot be found out in time, the callers
//! learn that it is not known, and nothing is answered as done.
use super::{
    PostgresError,
    jobs::Write,
    keys::Keys,
    layout::{self, Buckets, Place, seconds},
    plan::{Plan, Writes},
    queue::{Job, jitter},
    schema,
    session::{PHASE_SECONDS, Query, Session},
    shared::Shared,
};
use crate::{Change, Key, Op, Outcome, Row, StoreError};
use futures_util::future::{self, join_all};
use std::{
    collections::{BTreeSet, HashMap},
    future::Future,
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_postgres::types::ToSql;

/// Most changes that share a transaction of the distributed engine
pub const MAX_GROUP: usize = 256;

/// Bytes of values after which a group of the distributed engine takes no further change
const MAX_WEIGHT: usize = 4194304;

/// How often a group that the server rolled back for another one is tried again.
const MAX_TRIES: u32 = 8;

/// How often a group goes on over a new connection.
const CONNECTIONS: u32 = 3;

/// How long a commit whose answer was lost is looked for.
const RESOLVE: Duration = Duration::from_secs(6);

enum Answer {
    Commit(Outcome),
    CommitEach(Vec<Outcome>),
    Take(Option<Row>),
    Check,
}

impl Write {
    fn now(&self) -> Option<u64> {
        match self {
            Write::Commit { now, .. }
            | Write::CommitEach { now, .. }
            | Write::Take { now, .. }
            | Write::Restore { now, .. } => Some(*now),
            Write::Check { .. } => None,
        }
    }

    /// The keys that it names, and whether their values are needed.
    fn keys(&self) -> Vec<(&Key, bool)> {
        fn named(change: &Change) -> impl Iterator<Item = (&Key, bool)> {
            let decides = matches!(
                change.first,
                Op::Insert { .. } | Op::Replace { .. } | Op::Remove { .. }
            );
            std::iter::once((change.first.key(), decides))
                .chain(change.then.iter().map(|op| (op.key(), false)))
        }
        match self {
            Write::Commit { change, .. } => named(change).collect(),
            Write::CommitEach { changes, .. } => changes.iter().flat_map(named).collect(),
            Write::Take { key, .. } => vec![(key, true)],
            Write::Restore { rows, .. } => rows.iter().map(|(key, _)| (key, false)).collect(),
            Write::Check { .. } => Vec::new(),
        }
    }

    fn decide(&self, plan: &mut Plan) -> Answer {
        match self {
            Write::Commit { change, now, .. } => Answer::Commit(plan.commit(change, *now)),
            Write::CommitEach { changes, now, .. } => {
                let mut outcomes = Vec::with_capacity(changes.len());
                for change in changes {
                    outcomes.push(plan.commit(change, *now));
                    if !outcomes.last().is_some_and(Outcome::is_done) {
                        break;
                    }
                }
                Answer::CommitEach(outcomes)
            }
            Write::Take { key, now, .. } => Answer::Take(plan.take(key, *now)),
            Write::Restore { rows, .. } => {
                for (key, row) in rows {
                    plan.restore(key, row.clone());
                }
                Answer::Check
            }
            Write::Check { .. } => Answer::Check,
        }
    }

    fn answer(self, answer: Answer) {
        match (self, answer) {
            (Write::Commit { reply, .. }, Answer::Commit(outcome)) => drop(reply.send(Ok(outcome))),
            (Write::CommitEach { reply, .. }, Answer::CommitEach(outcomes)) => {
                drop(reply.send(Ok(outcomes)));
            }
            (Write::Take { reply, .. }, Answer::Take(row)) => drop(reply.send(Ok(row))),
            (Write::Restore { reply, .. } | Write::Check { reply }, Answer::Check) => {
                drop(reply.send(Ok(())));
            }
            // Each job is answered by what it decided itself.
            (job, Answer::Commit(_) | Answer::CommitEach(_) | Answer::Take(_) | Answer::Check) => {
                job.fail(StoreError::Unavailable("an answer went astray".to_owned()));
            }
        }
    }
}

/// How a try ended that was not answered.
enum Failed {
    /// The server rolled it back for another transaction.
    Conflict(PostgresError),
    /// The server refused a statement: nothing was done.
    Refused(PostgresError),
    /// The connection was lost before the commit was sent: nothing was done.
    Lost(PostgresError),
    /// Whether it was committed is not known.
    Unknown(PostgresError, Vec<Answer>),
    /// It was committed on the primary, and perhaps nowhere else.
    Unsure,
}

impl From<PostgresError> for Failed {
    fn from(error: PostgresError) -> Failed {
        match error.is_conflict() {
            true => Failed::Conflict(error),
            false if error.is_lost() => Failed::Lost(error),
            false => Failed::Refused(error),
        }
    }
}

/// Within the time of a phase.
async fn phase<T>(
    work: impl Future<Output = Result<T, PostgresError>>,
) -> Result<T, PostgresError> {
    let patience = Duration::from_secs(PHASE_SECONDS);
    timeout(patience, work)
        .await
        .map_err(|_| PostgresError::Slow)?
}

fn random_id() -> i64 {
    i64::from_le_bytes(signet_crypto::random::bytes())
}

/// Writes something, and nothing that matters.
pub(super) async fn touch(session: &Session) -> Result<(), PostgresError> {
    // No writer has this id, but for one in 2^64.
    let parameters: [&(dyn ToSql + Sync); 2] = [&0i64, &random_id()];
    let mark = session.statement(Query::Mark);
    session.client.execute(mark, &parameters).await?;
    Ok(())
}

/// One connection's worth of writing.
struct Writer {
    shared: Arc<Shared>,
    session: Option<Session>,
    /// The row of the marks.
    id: i64,
}

/// Works until the queue is closed and empty.
pub(super) async fn run(shared: Arc<Shared>) {
    let mut writer = Writer {
        shared: shared.clone(),
        session: None,
        id: random_id(),
    };
    loop {
        let group = shared.writes.pop_group(MAX_GROUP, MAX_WEIGHT).await;
        if group.is_empty() {
            return;
        }
        if shared.down.load(SeqCst) {
            let why = shared.refusal();
            group.into_iter().for_each(|job| job.fail(why.clone()));
            continue;
        }
        writer.group(group).await;
    }
}

impl Writer {
    /// Does a group, or each of it alone where together they cannot be done.
    async fn group(&mut self, group: Vec<Write>) {
        let Err((group, error)) = self.all(group).await else {
            return;
        };
        if group.len() == 1 {
            group
                .into_iter()
                .for_each(|job| job.fail(error.for_caller()));
            return;
        }
        for job in group {
            if let Err((alone, error)) = self.all(vec![job]).await {
                alone
                    .into_iter()
                    .for_each(|job| job.fail(error.for_caller()));
            }
        }
    }

    /// Does a group and answers it. It comes back where the server refused it, and nothing was
    /// done.
    async fn all(&mut self, group: Vec<Write>) -> Result<(), (Vec<Write>, PostgresError)> {
        let (mut tries, mut connections) = (0, 0);
        loop {
            let mark = random_id();
            let error = match self.attempt(&group, mark).await {
                Ok(answers) => {
                    self.answer(group, answers);
                    return Ok(());
                }
                Err(Failed::Conflict(_)) if tries < MAX_TRIES => {
                    sleep(jitter(Duration::from_millis(2 << tries))).await;
                    tries += 1;
                    continue;
                }
                Err(Failed::Conflict(error) | Failed::Refused(error)) => {
                    return Err((group, error));
                }
                Err(Failed::Unsure) => {
                    let text = "committed, but not confirmed by the standby";
                    PostgresError::Lost(text.to_owned())
                }
                // Another try would wait as long, and everybody behind it.
                Err(Failed::Lost(PostgresError::Slow)) => PostgresError::Slow,
                Err(Failed::Lost(error)) => {
                    connections += 1;
                    self.session = None;
                    if connections < CONNECTIONS {
                        match self.connect().await {
                            Ok(()) => continue,
                            Err(error) => error,
                        }
                    } else {
                        error
                    }
                }
                Err(Failed::Unknown(error, answers)) => {
                    connections += 1;
                    self.session = None;
                    if matches!(error, PostgresError::Slow) {
                        // This group goes on looking; nothing else waits for it.
                        self.shared.trip(&error);
                    }
                    match self.was_committed(mark).await {
                        Some(true) => {
                            self.answer(group, answers);
                            return Ok(());
                        }
                        Some(false) if connections < CONNECTIONS => continue,
                        Some(false) => error,
                        None => PostgresError::Lost(format!(
                            "{error}; whether the change was done is not known"
                        )),
                    }
                }
            };
            self.session = None;
            let told = error.for_caller();
            group.into_iter().for_each(|job| job.fail(told.clone()));
            self.shared.trip(&error);
            return Ok(());
        }
    }

    fn answer(&self, group: Vec<Write>, answers: Vec<Answer>) {
        self.shared.count_group(group.len());
        for (job, answer) in group.into_iter().zip(answers) {
            job.answer(answer);
        }
    }

    /// A connection, and the row of its marks: a mark can only be waited for in a row that is
    /// there.
    async fn connect(&mut self) -> Result<(), PostgresError> {
        let session = self.shared.writing().await?;
        let parameters: [&(dyn ToSql + Sync); 2] = [&self.id, &0i64];
        let mark = session.statement(Query::Mark);
        phase(async { Ok(session.client.execute(mark, &parameters).await?) }).await?;
        self.session = Some(session);
        Ok(())
    }

    /// Whether a transaction that was sent has been committed; None where that cannot be found out.
    async fn was_committed(&mut self, mark: i64) -> Option<bool> {
        let until = Instant::now() + RESOLVE;
        let mut pause = Duration::from_millis(20);
        loop {
            let asked = timeout_at(until, async {
                // Not `connect`: a row made now would say nothing of a transaction under way.
                let session = self.shared.writing().await?;
                let read = session.statement(Query::ReadMark);
                let row = session.client.query_opt(read, &[&self.id]).await?;
                let found = row.map(|row| row.try_get::<_, i64>(0)).transpose()?;
                Ok::<_, PostgresError>((session, found == Some(mark)))
            });
            match asked.await {
                Ok(Ok((session, committed))) => {
                    self.session = Some(session);
                    return Some(committed);
                }
                Ok(Err(error)) => {
                    tracing::debug!(%error, "looking up a commit without an answer");
                }
                Err(_) => return None,
            }
            // Nothing new is taken on meanwhile.
            if Instant::now() + pause >= until {
                return None;
            }
            sleep(jitter(pause)).await;
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }

    async fn attempt(&mut self, group: &[Write], mark: i64) -> Result<Vec<Answer>, Failed> {
        if self.session.as_ref().is_none_or(|s| s.client.is_closed()) {
            self.connect().await.map_err(Failed::Lost)?;
        }
        let Some(session) = &self.session else {
            return Err(Failed::Lost(PostgresError::Lost(
                "no connection".to_owned(),
            )));
        };
        let now = group.iter().filter_map(Write::now).min().unwrap_or(0);
        let (mut plan, buckets) = match phase(self.look(session, group, mark)).await {
            Ok(seen) => seen,
            Err(error) => {
                let failed = Failed::from(error);
                if !matches!(failed, Failed::Lost(_)) {
                    self.roll_back().await;
                }
                return Err(failed);
            }
        };
        let answers = group.iter().map(|job| job.decide(&mut plan)).collect();
        let writes = plan.writes(&buckets, now);
        let checks = group.iter().any(|job| matches!(job, Write::Check { .. }));
        if writes.is_empty() && !checks {
            // All were refused: there is nothing to wait for on a disk.
            self.roll_back().await;
            return Ok(answers);
        }
        match phase(write_and_commit(session, &writes)).await {
            Ok(()) if session.unsure.load(SeqCst) => Err(Failed::Unsure),
            Ok(()) => {
                self.assign(&buckets, now).await;
                Ok(answers)
            }
            Err(error) if error.is_lost() => Err(Failed::Unknown(error, answers)),
            // A statement failed, so the commit behind it rolled everything back.
            Err(error) => Err(error.into()),
        }
    }

    async fn roll_back(&mut self) {
        let Some(session) = &self.session else { return };
        let back = async { Ok(session.client.batch_execute("ROLLBACK").await?) };
        if phase(back).await.is_err() {
            self.session = None;
        }
    }

    /// Tables that belong to no bucket yet get theirs. Not for this group: its transaction has seen
    /// them without.
    async fn assign(&self, buckets: &Buckets, now: u64) {
        let Some(session) = &self.session else { return };
        let missing = buckets.missing(now);
        if missing.is_empty() || now == 0 {
            return;
        }
        let each = missing.iter().map(|(place, bucket)| {
            let (bucket, place) = (seconds(*bucket), place.number());
            format!(
                "UPDATE signet_bucket SET bucket = {bucket} WHERE place = {place} AND bucket IS NULL"
            )
        });
        let all: Vec<String> = each.collect();
        let done = async { Ok(session.client.batch_execute(&all.join("; ")).await?) };
        if let Err(error) = phase(done).await {
            tracing::warn!(%error, "failed to assign buckets to tables; retrying with the next group");
        }
    }

    /// The first round trip.
    async fn look(
        &self,
        session: &Session,
        group: &[Write],
        mark: i64,
    ) -> Result<(Plan, Buckets), PostgresError> {
        let mut named: HashMap<&Key, i64> = HashMap::new();
        for (key, wanted) in group.iter().flat_map(Write::keys) {
            *named.entry(key).or_default() |= i64::from(wanted);
        }
        let locks: BTreeSet<i32> = named.keys().map(|key| layout::lock_of(key)).collect();
        let locks: Vec<i32> = locks.into_iter().collect();
        // Read, and not locked: each of a node's transactions asks for it.
        let condition = self.shared.condition.get();
        if let Some((key, _)) = condition {
            named.insert(key, 1);
        }
        let pairs = || named.iter().map(|(key, wanted)| (*key, *wanted));
        let kept = Keys::of(pairs(), false);
        let ends = Keys::of(pairs(), true);

        let client = &session.client;
        let mark_parameters: [&(dyn ToSql + Sync); 2] = [&self.id, &mark];
        let lock_parameters: [&(dyn ToSql + Sync); 1] = [&locks];
        let buckets = async {
            match ends.is_empty() {
                true => Ok(Vec::new()),
                false => client.query(session.statement(Query::Buckets), &[]).await,
            }
        };
        // All of it is sent at once, and done in this order.
        let ((begun, schema, marked, locked), (kept_rows, end_rows, bucket_rows)) = future::join(
            future::join4(
                client.batch_execute(session.dialect.begin()),
                client.query_opt(session.statement(Query::Schema), &[]),
                client.execute(session.statement(Query::Mark), &mark_parameters),
                client.query(session.statement(Query::Lock), &lock_parameters),
            ),
            future::join3(
                kept.ask(session, Query::Look { ends: false }),
                ends.ask(session, Query::Look { ends: true }),
                buckets,
            ),
        )
        .await;
        begun?;
        let found = schema::version(schema?.as_ref())?;
        schema::accept(found, self.shared.options.migrations)?;
        marked?;
        locked?;
        let mut found = kept.found(kept_rows?)?;
        found.extend(ends.found(end_rows?)?);
        if let Some((key, value)) = condition
            && !found
                .iter()
                .any(|(of, found)| of == key && found.row.value == *value)
        {
            return Err(PostgresError::Excluded);
        }
        let mut buckets = Buckets::default();
        for row in bucket_rows? {
            let place = Place::from_number(row.try_get(0)?);
            let bucket: Option<i64> = row.try_get(1)?;
            if let Some(place) = place {
                buckets.set(place, bucket.and_then(|b| u64::try_from(b).ok()));
            }
        }
        Ok((Plan::new(found), buckets))
    }
}

/// Rows of one table as parameters.
#[derive(Default)]
struct Columns<'a> {
    kinds: Vec<i16>,
    parts: Vec<&'a [u8]>,
    sorts: Vec<&'a [u8]>,
    values: Vec<&'a [u8]>,
    versions: Vec<i64>,
    ends: Vec<Option<i64>>,
}

impl<'a> Columns<'a> {
    fn key(&mut self, key: &'a Key) {
        self.kinds.push(i16::from(key.table.number()));
        self.parts.push(&key.partition);
        self.sorts.push(&key.sort);
    }

    fn row(&mut self, row: &'a Row) {
        self.values.push(&row.value);
        self.versions.push(seconds(row.version));
        self.ends.push(row.end.map(seconds));
    }
}

/// The second round trip. Deletes go first: a row that moves has left when it arrives.
async fn write_and_commit(session: &Session, writes: &Writes) -> Result<(), PostgresError> {
    let client = &session.client;
    let deletes = writes.deletes.iter().map(|(place, keys)| async move {
        let mut columns = Columns::default();
        keys.iter().for_each(|key| columns.key(key));
        let statement = session.statement(Query::Delete(*place));
        let parameters: [&(dyn ToSql + Sync); 3] = [&columns.kinds, &columns.parts, &columns.sorts];
        client.execute(statement, &parameters).await
    });
    let upserts = writes.upserts.iter().map(|(place, rows)| async move {
        let mut columns = Columns::default();
        for (key, row) in rows {
            columns.key(key);
            columns.row(row);
        }
        let statement = session.statement(Query::Upsert(*place));
        let parameters: [&(dyn ToSql + Sync); 6] = [
            &columns.kinds,
            &columns.parts,
            &columns.sorts,
            &columns.values,
            &columns.versions,
            &columns.ends,
        ];
        client.execute(statement, &parameters).await
    });
    let ((deleted, upserted), committed) = future::join(
        future::join(join_all(deletes), join_all(upserts)),
        client.batch_execute("COMMIT"),
    )
    .await;
    for done in deleted.into_iter().chain(upserted) {
        done?;
    }
    // After a statement that failed this would be a rollback, and no error.
    committed?;
    Ok(())
}

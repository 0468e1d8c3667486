//! Reads: what has queued up for single keys is one statement, lists one each.
use super::{
    PostgresError,
    jobs::Read,
    keys::{Keys, stored},
    layout::seconds,
    queue::{self, Job},
    session::{PHASE_SECONDS, Purpose, Query, Session},
    shared::Shared,
    sweep,
};
use crate::{Key, Row, StoreError, Table};
use futures_util::future;
use std::{
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;

/// Most reads that share a statement.
const GROUP_OF_READS: usize = 256;

/// How long a sweep may take: it waits for tables that others read, and nobody waits for it.
const SWEEP_PATIENCE: Duration = Duration::from_secs(30);

struct Reader {
    shared: Arc<Shared>,
    session: Option<Session>,
}

/// Works until the queue is closed and empty.
pub(super) async fn run(shared: Arc<Shared>) {
    let mut reader = Reader {
        shared: shared.clone(),
        session: None,
    };
    loop {
        let group = shared.reads.pop_group(GROUP_OF_READS, GROUP_OF_READS).await;
        if group.is_empty() {
            return;
        }
        if shared.down.load(SeqCst) {
            let why = shared.refusal();
            group.into_iter().for_each(|job| job.fail(why.clone()));
            continue;
        }
        reader.group(group).await;
    }
}

impl Reader {
    async fn group(&mut self, group: Vec<Read>) {
        let is_get = |job: &Read| matches!(job, Read::Get { .. });
        let (gets, others): (Vec<Read>, Vec<Read>) = group.into_iter().partition(is_get);
        if !gets.is_empty() {
            self.gets(gets).await;
        }
        for job in others {
            match job {
                Read::Get { .. } => self.gets(vec![job]).await,
                Read::Partition {
                    table,
                    partition,
                    after,
                    limit,
                    now,
                    reply,
                } => {
                    let list = async |session: &Session| {
                        let (kind, now, limit) = (number(table), seconds(now), count(limit));
                        let parameters: [&(dyn ToSql + Sync); 5] =
                            [&kind, &partition, &after, &now, &limit];
                        let ends = table.must_end();
                        rows(session, Query::Partition { ends }, &parameters, table).await
                    };
                    let answer = self.answer(list).await;
                    drop(reply.send(answer));
                }
                Read::Page {
                    table,
                    after,
                    limit,
                    now,
                    reply,
                } => {
                    let list = async |session: &Session| {
                        let (kind, now, limit) = (number(table), seconds(now), count(limit));
                        let ends = table.must_end();
                        match &after {
                            None => {
                                let parameters: [&(dyn ToSql + Sync); 3] = [&kind, &now, &limit];
                                rows(session, Query::FirstPage { ends }, &parameters, table).await
                            }
                            Some(key) => {
                                let parameters: [&(dyn ToSql + Sync); 5] =
                                    [&kind, &now, &limit, &key.partition, &key.sort];
                                rows(session, Query::Page { ends }, &parameters, table).await
                            }
                        }
                    };
                    let answer = self.answer(list).await;
                    drop(reply.send(answer));
                }
                Read::Sweep { now, limit, reply } => {
                    let sweep = async |s: &Session| sweep::sweep(s, now, limit).await;
                    let answer = self.answer_within(SWEEP_PATIENCE, sweep).await;
                    drop(reply.send(answer));
                }
            }
        }
    }

    async fn gets(&mut self, jobs: Vec<Read>) {
        let mut wanted = Vec::with_capacity(jobs.len());
        let mut replies = Vec::with_capacity(jobs.len());
        for job in jobs {
            match job {
                Read::Get { key, now, reply } => {
                    wanted.push((key, seconds(now)));
                    replies.push(reply);
                }
                Read::Partition { .. } | Read::Page { .. } | Read::Sweep { .. } => {
                    // Invariant: the caller has sorted them out. Nothing is lost if not.
                    job.fail(queue::stopped());
                }
            }
        }
        let answer = self
            .answer(async |session: &Session| {
                let pairs = || wanted.iter().map(|(key, now)| (key, *now));
                let (kept, ends) = (Keys::of(pairs(), false), Keys::of(pairs(), true));
                let (kept_rows, end_rows) = future::join(
                    kept.ask(session, Query::Get { ends: false }),
                    ends.ask(session, Query::Get { ends: true }),
                )
                .await;
                Ok((kept.rows(kept_rows?)?, ends.rows(end_rows?)?))
            })
            .await;
        match answer {
            Ok((kept, ends)) => {
                let (mut kept, mut ends) = (kept.into_iter(), ends.into_iter());
                for ((key, _), reply) in wanted.iter().zip(replies) {
                    let row = match key.table.must_end() {
                        true => ends.next(),
                        false => kept.next(),
                    };
                    drop(reply.send(Ok(row.flatten())));
                }
            }
            Err(error) => {
                for reply in replies {
                    drop(reply.send(Err(error.clone())));
                }
            }
        }
    }

    /// Asks, and once more over a new connection where the one that there was has gone.
    async fn answer<T>(
        &mut self,
        ask: impl AsyncFn(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        let patience = Duration::from_secs(PHASE_SECONDS);
        self.answer_within(patience, ask).await
    }

    async fn answer_within<T>(
        &mut self,
        patience: Duration,
        ask: impl AsyncFn(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        let mut last = PostgresError::Lost("no connection".to_owned());
        for _ in 0..2 {
            if self.session.as_ref().is_none_or(|s| s.client.is_closed()) {
                match Session::open(&self.shared.options, Purpose::Reading).await {
                    Ok(session) => self.session = Some(session),
                    Err(error) => {
                        last = error;
                        break;
                    }
                }
            }
            let Some(session) = &self.session else { break };
            match timeout(patience, ask(session)).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) if error.is_lost() => {
                    self.session = None;
                    last = error;
                }
                Ok(Err(error)) => {
                    // The session may be inside a transaction that failed.
                    self.session = None;
                    return Err(error.for_caller());
                }
                Err(_) => {
                    self.session = None;
                    last = PostgresError::Slow;
                    break;
                }
            }
        }
        self.session = None;
        self.shared.trip(&last);
        Err(last.for_caller())
    }
}

fn number(table: Table) -> i16 {
    i16::from(table.number())
}

fn count(limit: usize) -> i64 {
    seconds(limit as u64)
}

async fn rows(
    session: &Session,
    query: Query,
    parameters: &[&(dyn ToSql + Sync)],
    table: Table,
) -> Result<Vec<(Key, Row)>, PostgresError> {
    let statement = session.statement(query);
    let found = session.client.query(statement, parameters).await?;
    let read = |row: tokio_postgres::Row| {
        let key = Key {
            table,
            partition: row.try_get(0)?,
            sort: row.try_get(1)?,
        };
        let stored = stored(row.try_get(2)?, row.try_get(3)?, row.try_get(4)?)?;
        Ok((key, stored))
    };
    found.into_iter().map(read).collect()
}

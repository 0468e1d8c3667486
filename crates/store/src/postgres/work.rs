//! The tasks of the engine: writers, readers, and one that looks whether a lost database is back.
use super::{
    PostgresError,
    queue::jitter,
    reader,
    session::{PHASE_SECONDS, Purpose, Session},
    shared::Shared,
    writer,
};
use std::{
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};
use tokio::{
    task::{self, JoinSet},
    time::{sleep, timeout},
};

/// The first pause between two tries to reach the database, and the longest.
const PROBES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Works until both queues are closed and empty. Within a `LocalSet`.
pub(super) async fn work(shared: Arc<Shared>, first: Session) {
    shared.keep(first);
    let mut tasks = JoinSet::new();
    for _ in 0..shared.options.writers.max(1) {
        tasks.spawn_local(writer::run(shared.clone()));
    }
    for _ in 0..shared.options.readers.max(1) {
        tasks.spawn_local(reader::run(shared.clone()));
    }
    let probing = task::spawn_local(probe(shared.clone()));
    while let Some(ended) = tasks.join_next().await {
        if ended.is_err_and(|error| error.is_panic()) {
            tracing::error!("stopped a store task after a panic");
        }
    }
    probing.abort();
    shared.spare().take();
}

/// Closes the breaker when the database can be written to again.
async fn probe(shared: Arc<Shared>) {
    loop {
        shared.tripped.notified().await;
        let (mut pause, longest) = PROBES;
        while shared.down.load(SeqCst) {
            sleep(jitter(pause)).await;
            pause = (pause * 2).min(longest);
            match try_write(&shared).await {
                Ok(session) => {
                    shared.keep(session);
                    shared.down.store(false, SeqCst);
                    tracing::info!("regained the database");
                }
                Err(error) => {
                    shared.note(&error);
                    tracing::debug!(%error, "waiting for the database");
                }
            }
        }
    }
}

/// A connection that has written something: where a standby has to confirm each commit, a
/// server that has lost it answers reads and no more.
async fn try_write(shared: &Shared) -> Result<Session, PostgresError> {
    let session = Session::open(&shared.options, Purpose::Writing).await?;
    let patience = Duration::from_secs(PHASE_SECONDS);
    match timeout(patience, writer::touch(&session)).await {
        Ok(done) => done.map(|()| session),
        Err(_) => Err(PostgresError::Slow),
    }
}

//! What has to happen from time to time, beside the requests.
use crate::state::{Host, Realm};
use crate::time::{Kept, MARGIN, Watch};
use signet_merge::hlc::MAX_AHEAD_MS;
use signet_registry::keys::KeysError;
use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

/// Rows removed in one step: bounded, so that a sweep never holds up the writers for long.
const SWEEP_STEP: usize = 500;

/// Between two looks into the change log.
pub const FOLLOW_EVERY: Duration = Duration::from_secs(1);
/// Between two comparisons of the server's time with that of the other nodes.
const TIME_EVERY: Duration = Duration::from_millis(100);

/// Removes expired rows, forever. To be spawned once per process; it ends with its runtime.
pub async fn sweep(realm: Arc<Realm>, every: Duration) {
    let started = Instant::now();
    let mut watch = None;
    loop {
        tokio::time::sleep(every).await;
        let (wall, monotonic) = (realm.host.clock.unbounded(), started.elapsed());
        let (watch, step) = match &mut watch {
            None => {
                let kept = match Kept::load(&*realm.store, realm.now()).await {
                    Ok(kept) => kept,
                    Err(error) => {
                        tracing::warn!(%error, "failed to sweep expired rows; retrying");
                        continue;
                    }
                };
                let (begun, step) = Watch::begin(kept, wall, monotonic);
                (watch.insert(begun), step)
            }
            Some(watch) => {
                let step = watch.look(wall, monotonic);
                (watch, step)
            }
        };
        if let Some(seconds) = step {
            realm.host.metrics.clock_steps.fetch_add(1, Relaxed);
            tracing::error!(
                seconds,
                "detected a clock step: keeping consumed and revoked entries for an hour"
            );
        }
        if watch.may_remove(monotonic) {
            sweep_once(&realm).await;
        }
    }
}

/// Between two looks at the counters, for [`crate::activity`].
pub const NOTE_EVERY: Duration = Duration::from_secs(10);

/// Notes what the counters grew by, forever. To be spawned once per process; it ends with its
/// runtime.
pub async fn note_activity(host: Arc<Host>) {
    loop {
        host.metrics
            .activity
            .note(host.now(), host.metrics.counts());
        tokio::time::sleep(NOTE_EVERY).await;
    }
}

/// The least time between two indexes of people, and how many times what one took.
const INDEX_EVERY: Duration = Duration::from_secs(10);
const INDEX_REST: u32 = 20;

/// Keeps an index of people while somebody searches them, forever. To be spawned once per realm; it
/// ends with its runtime.
pub async fn index_people(realm: Arc<Realm>) {
    loop {
        let begun = Instant::now();
        if let Err(error) = realm.people.users.index(realm.now()).await {
            tracing::warn!(%error, "failed to read the accounts for the search; retrying");
        }
        let rest = begun.elapsed().saturating_mul(INDEX_REST);
        tokio::time::sleep(rest.max(INDEX_EVERY)).await;
    }
}

/// One sweep: as many bounded steps as there is to remove.
pub async fn sweep_once(realm: &Realm) {
    let now = realm.now();
    let removed_to = now.saturating_sub(MARGIN);
    let kept = Kept {
        highest: now,
        removed_to,
    };
    // First said, then done: after a crash, too, the server's time is not before what was removed.
    if let Err(error) = kept.save(&*realm.store, now).await {
        tracing::warn!(%error, "failed to sweep expired rows; retrying");
        return;
    }
    realm.host.clock.raise(removed_to);
    sweep_memory(realm).await;
    loop {
        match realm.store.sweep(removed_to, SWEEP_STEP).await {
            Ok(removed) if removed == SWEEP_STEP => tokio::task::yield_now().await,
            Ok(_) => return,
            Err(error) => {
                tracing::warn!(%error, "failed to sweep expired rows; retrying");
                return;
            }
        }
    }
}

/// The part of a sweep that is the realm's own: what it has in memory of rows that have expired,
/// and clients that nobody uses. The store's rows are swept for all realms together.
pub async fn sweep_memory(realm: &Realm) {
    let now = realm.now();
    if let Err(error) = realm.remove_unused_clients(now).await {
        tracing::warn!(%error, "failed to remove unused clients; retrying");
    }
    realm.revocations.sweep(now.saturating_sub(MARGIN));
    realm.sweep_replica();
}

/// Reads what other nodes wrote and did not tell, forever, where several nodes write the store. To
/// be spawned once per realm; it ends with its runtime.
pub async fn follow_nodes(realm: Arc<Realm>) {
    let mut failing = false;
    loop {
        tokio::time::sleep(FOLLOW_EVERY).await;
        let followed = realm.catch_up().await;
        match (&followed, failing) {
            (Err(error), false) => {
                tracing::warn!(%error, "failed to read the change log; retrying");
            }
            (Ok(()), true) => tracing::info!("resumed reading the change log"),
            (Err(_), true) | (Ok(()), false) => {}
        }
        failing = followed.is_err();
    }
}

/// Has the server's time follow that of the majority of the nodes, forever. To be spawned once per
/// process that is a node; it ends with its runtime.
pub async fn follow_the_time(host: Arc<Host>) {
    let mut said = false;
    loop {
        tokio::time::sleep(TIME_EVERY).await;
        let ahead_ms = host.nodes.clock_ahead_ms();
        host.clock.set_ahead(ahead_ms);
        let is_far = ahead_ms.unsigned_abs() > MAX_AHEAD_MS;
        if is_far && !said {
            tracing::error!(
                ahead_ms,
                "detected a wrong clock on this node: it is far from that of the majority; set it"
            );
        }
        said = is_far;
    }
}

/// One turn of the signing keys' background work: does what is due, and puts the new view into the
/// realm's snapshot.
///
/// # Errors
/// See [`KeysError`]; the view in place stays.
pub async fn maintain_keys(realm: &Realm) -> Result<bool, KeysError> {
    let keys = &realm.signing_keys;
    loop {
        let keyring = Arc::clone(&realm.keyring());
        let publish = |deltas| realm.show_keys(deltas);
        let done = keys.tick(&keyring, realm.moment(), publish).await;
        if !realm.was_overtaken(&keyring, &done) {
            return done;
        }
    }
}

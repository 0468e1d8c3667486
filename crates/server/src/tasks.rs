//! What has to happen from time to time, beside the requests.
use crate::{keys::KeysError, state::Realm};
use std::{sync::Arc, time::Duration};

/// Rows removed in one step: bounded, so that a sweep never holds up the writers for long.
const SWEEP_STEP: usize = 500;
/// Rows that ended this recently stay, seconds: on several machines clocks differ, and what was swept could happen again.
const SWEEP_MARGIN: u64 = 120;

/// Removes what has ended, forever. To be spawned once per process; it ends with its runtime.
pub async fn sweep(realm: Arc<Realm>, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        sweep_once(&realm).await;
    }
}

/// One sweep: as many bounded steps as there is to remove.
pub async fn sweep_once(realm: &Realm) {
    let now = realm.now();
    realm.revocations.sweep(now);
    loop {
        match realm
            .store
            .sweep(now.saturating_sub(SWEEP_MARGIN), SWEEP_STEP)
            .await
        {
            Ok(removed) if removed == SWEEP_STEP => tokio::task::yield_now().await,
            Ok(_) => return,
            Err(error) => {
                tracing::warn!(%error, "the sweep failed; it will be tried again");
                return;
            }
        }
    }
}

/// One turn of the signing keys' background work: does what is due, and puts the new view into the realm's snapshot.
///
/// # Errors
/// See [`KeysError`]; the view in place stays.
pub async fn maintain_keys(realm: &Realm) -> Result<bool, KeysError> {
    let keyring = Arc::clone(&realm.keyring());
    let keys = &realm.signing_keys;
    keys.tick(&keyring, realm.moment(), |set| {
        realm.update(|snapshot| snapshot.keys = Arc::new(set));
    })
    .await
}

//! The process and its first realm.

use std::{path::Path, pin::Pin, sync::Arc, time::Duration};

use signet_config::{Config, apply, check};
use signet_crypto::{Clock, seal::Keyring};
use signet_directory::Local;
use signet_node::{Cluster, left_or_arriving};
use signet_realm::state::{Parts, Realm, RealmId};
use signet_realm::tasks;
use signet_realm::time::Kept;
use signet_registry::keys::SealingFile;
use signet_store::{Store, StoreError};

use crate::{
    host::host,
    people,
    realm::{Wanted, parts, place},
};

/// How often the signing keys are looked after.
const KEYS_EVERY: Duration = Duration::from_secs(60);
/// The first look: standby keys are made then, so that no start waits for them.
const KEYS_FIRST: Duration = Duration::from_secs(2);

/// What a development server has before its first start.
pub trait Development: Sync {
    /// Makes its people and clients, at the first start.
    fn seed<'a>(
        &'a self,
        store: &'a Arc<dyn Store>,
        keyring: &'a Keyring,
        now: u64,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

    /// The authority of its certificates, PEM: servers of a first try often have theirs from it.
    fn authority(&self) -> &[u8];
}

/// What a process begins with.
pub struct Start<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// Where its relative paths start.
    pub base: &'a Path,
    /// Its part among other nodes, with the store.
    pub cluster: &'a Arc<Cluster>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where it is a development server.
    pub development: Option<&'a dyn Development>,
    /// The paths that it serves.
    pub routes: Vec<&'static str>,
}

/// Makes what all realms share, and the first realm: opens the keys, loads what is kept in memory,
/// makes what is missing.
///
/// # Errors
/// What is wrong, in a sentence.
pub async fn begin(start: Start<'_>) -> Result<Arc<Realm>, String> {
    let Start {
        config,
        base,
        cluster,
        clock,
        development,
        routes,
    } = start;
    let now = clock.now();
    if let Some(proxy) = &config.proxy
        && proxy.client_certificate_header.is_some()
        && proxy.secret_file.is_none()
    {
        tracing::warn!(reason = %check::CERTIFICATES_BY_ADDRESS, "trusting certificates of a proxy by its address");
    }
    let refused = left_or_arriving(&**cluster.store(), now).await;
    if let Some(why) = refused.map_err(|e| e.to_string())? {
        return Err(why);
    }
    let sealing = SealingFile::open_or_create(&config.data_dir, now).map_err(|e| e.to_string())?;
    let wanted = Wanted {
        id: RealmId::default_realm(),
        config,
        base,
        cluster,
        clock: clock.clone(),
        sealing: sealing.keys(),
        node: cluster.wanted_name()?,
    };
    let (partition, trail) = place(&wanted).await?;
    let audit = trail.audit.clone();
    trail.opened().await?;
    let placed = (partition, audit);
    let store = placed.0.store().clone();
    if let Some(development) = development {
        let keyring = placed.0.keyring();
        development.seed(&store, keyring, now).await?;
    }
    // Without a majority they wait for it: see `complete`.
    if cluster.is_whole()
        && let Err(error) = people::seed_users(config, base, &Local::new(store.clone()), now).await
    {
        if !store.is_full() {
            return Err(error);
        }
        tracing::error!(
            error,
            "postponed creating users of the configuration: disk full"
        );
    }
    let kept = Kept::load(&*store, now).await.map_err(|e| e.to_string())?;
    let parts = Parts {
        sealing_file: Some(sealing),
        ..parts(&wanted, placed, kept).await?
    };
    let authority = development.map(Development::authority);
    let host = host(config, base, cluster, clock, authority, routes)?;
    let realm = Realm::new(host, parts);
    if let Some(kept) = kept {
        realm.host.clock.raise(kept.removed_to);
    }
    let swept = kept.map(|kept| kept.highest);
    cluster.attach(&realm, swept).await?;
    if cluster.is_whole() {
        note_start(config, cluster, &realm).await?;
    }
    Ok(realm)
}

/// What a start writes, once the realm follows the others.
async fn note_start(config: &Config, cluster: &Cluster, realm: &Realm) -> Result<(), String> {
    note_realm(config, realm).await?;
    if cluster.is_shared() && !realm.store.is_full() {
        cluster.note_whole().await.map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// What the start of a realm writes.
pub(crate) async fn note_realm(config: &Config, realm: &Realm) -> Result<(), String> {
    let failed = |e: StoreError| e.to_string();
    realm
        .note_declared_clients(&apply::declared_clients(config))
        .await
        .map_err(failed)?;
    if !realm.store.is_full()
        && let Some(before) = realm.note_issuer().await.map_err(failed)?
    {
        let issuer = &config.issuer;
        tracing::warn!(
            before,
            issuer,
            "changed the issuer: tokens, sessions and passkeys of the former one are void"
        );
    }
    Ok(())
}

/// What a start without a majority left to be done when there is one.
///
/// # Errors
/// What could not be done yet; to be tried again.
pub async fn complete(
    config: &Config,
    base: &Path,
    cluster: &Cluster,
    realm: &Realm,
) -> Result<(), String> {
    let now = realm.now();
    let kept = Kept::load(&*realm.store, now).await;
    if let Some(kept) = kept.map_err(|e| e.to_string())? {
        realm.host.clock.raise(kept.removed_to);
    }
    cluster.become_whole().await?;
    people::seed_users(config, base, &Local::new(realm.store.clone()), now).await?;
    note_start(config, cluster, realm).await?;
    tasks::maintain_keys(realm)
        .await
        .map_err(|e| e.to_string())?;
    cluster.set_whole(realm);
    Ok(())
}

/// Looks after the signing keys for as long as the process runs.
pub async fn keep_keys(realm: Arc<Realm>) {
    tokio::time::sleep(KEYS_FIRST).await;
    loop {
        if let Err(error) = tasks::maintain_keys(&realm).await {
            tracing::error!(%error, "failed to maintain the signing keys; the present ones stay");
        }
        tokio::time::sleep(KEYS_EVERY).await;
    }
}

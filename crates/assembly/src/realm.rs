//! A realm from its configuration: registry, signing keys, revocations, audit trail. The first is
//! made as any other is.

use std::{path::Path, sync::Arc};

use signet_config::{Config, apply, fault::Faults, providers};
use signet_crypto::{
    Clock,
    seal::{Keyring, Purpose, SealingKey},
};
use signet_node::Cluster;
use signet_oauth::{command_line, endpoint::split_issuer, registry::Registry, settings::Settings};
use signet_realm::state::{Partition, Parts, RealmId, Replica};
use signet_realm::time::Kept;
use signet_registry::change_writer::ChangeWriter;
use signet_registry::delta::Configuration;
use signet_registry::keys::{self, KeyKind, Moment, SigningKeys};
use signet_registry::load;
use signet_store::{NodeId, RevocationIndex};

use crate::{
    audit::{AuditPlace, Trail, open_audit},
    people,
};

/// What a realm is made of.
pub(crate) struct Wanted<'a> {
    pub(crate) id: RealmId,
    pub(crate) config: &'a Config,
    pub(crate) base: &'a Path,
    pub(crate) cluster: &'a Arc<Cluster>,
    pub(crate) clock: Arc<dyn Clock>,
    /// The sealing keys of the process, the current one first.
    pub(crate) sealing: (SealingKey, Vec<SealingKey>),
    /// What this node is called, where that is known.
    pub(crate) node: Option<NodeId>,
}

/// A realm's own place in the store, with its audit trail: what has to be there before anything is
/// read or written. The trail has begun to open, and is waited for before anything is answered.
pub(crate) async fn place(wanted: &Wanted<'_>) -> Result<(Partition, Trail), String> {
    let Wanted {
        id,
        config,
        cluster,
        clock,
        sealing: (current, older),
        node,
        ..
    } = wanted;
    let store = cluster.store().clone();
    let partition = Partition::new(id.clone(), store, current.clone(), older.clone());
    let opened = AuditPlace {
        realm: id,
        node: node.clone(),
        shared: cluster.is_shared(),
    };
    let store = partition.store().clone();
    let trail = open_audit(config, opened, store, partition.keyring(), clock.clone()).await?;
    // Everything that the realm changes goes through this one: its changes carry their records.
    let partition = partition.recorded(&trail.audit);
    Ok((partition, trail))
}

/// Loads what a realm has in memory, and makes what is missing. `kept`: what the sweep left to be
/// known.
pub(crate) async fn parts(
    wanted: &Wanted<'_>,
    (partition, audit): (Partition, signet_audit::Audit),
    kept: Option<Kept>,
) -> Result<Parts, String> {
    let Wanted {
        config,
        base,
        cluster,
        clock,
        node,
        ..
    } = wanted;
    let now = clock.now();
    let (store, keyring) = (partition.store().clone(), partition.keyring().clone());
    let mut faults = Faults::default();
    let settings = Arc::new(settings(config, cluster, &wanted.id, &mut faults));
    let mut stored = load::load(&*store, now).await.map_err(|e| e.to_string())?;
    command_line::add(&mut stored).map_err(|e| e.description.to_owned())?;
    let mut declared = Registry::default();
    let seal = seal_with(&keyring);
    apply::extend_registry(config, base, &seal, &mut declared, &mut faults);
    let providers = providers::providers(config, base, &keyring, &mut faults);
    declared.providers = Arc::new(providers);
    if let Some(fault) = faults.0.first() {
        return Err(format!("{}: {}", fault.path, fault.message));
    }
    let revocations = RevocationIndex::load(store.clone(), Kept::to_read_by(kept, now));
    let revocations = revocations.await.map_err(|e| e.to_string())?;
    let longest = keys::longest_token(&settings, &stored);
    let moment = Moment {
        now,
        longest_token: longest.max(keys::longest_token(&settings, &declared)),
    };
    let policy = keys::Policy {
        period: config.keys.rotate_after.0,
        publish_ahead: config.keys.publish_ahead.0,
        ..keys::Policy::default()
    };
    let node = audit.node().or(node.as_ref()).cloned().unwrap_or_default();
    let change_writer = ChangeWriter::new(partition.id().clone(), cluster.tell(&node));
    let (signing_keys, published) = SigningKeys::load(
        store,
        change_writer.clone(),
        keyring.clone(),
        KeyKind::all(&settings),
        policy,
        moment,
    )
    .await
    .map_err(|e| e.to_string())?;
    let configuration = Configuration {
        settings,
        declared: Arc::new(declared),
    };
    Ok(Parts {
        partition,
        change_writer,
        replica: Replica::new(configuration, stored, published).map_err(|e| e.to_string())?,
        revocations,
        signing_keys,
        sealing_file: None,
        audit,
        people: people::services(config, base)?,
    })
}

/// The protocol settings of a realm. One without a path of its own is found under its own name
/// alone: the process' other names lead to the first.
fn settings(config: &Config, cluster: &Cluster, id: &RealmId, faults: &mut Faults) -> Settings {
    let mut settings = apply::settings(config, faults);
    settings.node_base = cluster.node_base();
    if !id.is_default() && split_issuer(&settings.issuer).1.is_empty() {
        settings.node_base = None;
        settings.mtls_base = None;
    }
    settings
}

pub(crate) fn seal_with(keyring: &Keyring) -> impl Fn(&str, &[u8]) -> Option<Vec<u8>> {
    |client_id, secret| {
        keyring
            .seal_with(Purpose::ClientSecret, client_id.as_bytes(), secret)
            .ok()
    }
}

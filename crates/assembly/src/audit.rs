//! The audit trail of a realm.

use std::{path::PathBuf, sync::Arc, time::Duration};

use signet_audit::{Audit, AuditOptions, Keep, Opening, Places};
use signet_config::Config;
use signet_crypto::{Clock, seal::Keyring};
use signet_realm::state::RealmId;
use signet_store::{NodeId, Store};

/// Below the first realm's directory, those of further ones.
const OF_REALMS: &str = "realms";

/// Whose audit trail is opened.
pub(crate) struct AuditPlace<'a> {
    pub(crate) realm: &'a RealmId,
    pub(crate) node: Option<NodeId>,
    /// Several nodes write the store.
    pub(crate) shared: bool,
}

/// An audit trail whose opening has begun.
pub(crate) struct Trail {
    /// Changes carry their lines.
    pub(crate) audit: Audit,
    /// None where no trail is kept.
    opening: Option<Opening>,
}

impl Trail {
    /// Waits until it is open. Nothing is answered before.
    pub(crate) async fn opened(self) -> Result<(), String> {
        let Some(opening) = self.opening else {
            return Ok(());
        };
        let opened = opening.opened().await;
        let opened = opened.map_err(|e| format!("the audit trail: {e}"))?;
        if let Some(broken) = &opened.broken {
            tracing::error!(%broken, line = broken.line, "failed to verify the audit trail; continuing it with a record of the break");
        }
        if opened.full {
            tracing::error!("paused the audit trail: disk full; refusals are only counted");
        }
        for gap in &opened.gaps {
            tracing::warn!(
                gap,
                "recorded a gap in the audit trail: records may be missing"
            );
        }
        Ok(())
    }
}

/// Begins to open the audit trail, before anything that it has to tell of.
pub(crate) async fn open_audit(
    config: &Config,
    place: AuditPlace<'_>,
    store: Arc<dyn Store>,
    keyring: &Keyring,
    clock: Arc<dyn Clock>,
) -> Result<Trail, String> {
    if place.realm.is_default() && !config.audit.enabled {
        tracing::warn!("running without an audit trail: [audit] enabled is false");
    }
    if !config.audit.enabled {
        return Ok(Trail {
            audit: Audit::off(),
            opening: None,
        });
    }
    let places = places(config, place.realm);
    if let Some(archive) = places.archive.as_ref().filter(|archive| !archive.is_dir()) {
        let archive = archive.display();
        tracing::warn!(%archive, "waiting for the audit archive; closed segments stay in their directory");
    }
    let named = config.audit.node.as_deref().map(NodeId::parse);
    let named = named.transpose().map_err(|e| format!("audit.node: {e}"))?;
    let options = AuditOptions {
        node: place.node.or(named),
        shared_store: place.shared,
        segment_bytes: config.audit.segment_bytes,
        segment_age: Duration::from_secs(config.audit.segment_age.0),
        keep: Keep {
            time: config
                .audit
                .keep_for
                .map(|time| Duration::from_secs(time.0)),
            bytes: config.audit.keep_bytes,
        },
        interval: Duration::from_millis(config.audit.interval_ms),
        refusals_per_second: config.audit.refusals_per_second,
        ..AuditOptions::at(places)
    };
    let begun = Audit::begin(options, store, keyring, clock).await;
    let (audit, opening) = begun.map_err(|e| format!("the audit trail: {e}"))?;
    Ok(Trail {
        audit,
        opening: Some(opening),
    })
}

/// Where the trail of a realm is.
pub(crate) fn places(config: &Config, realm: &RealmId) -> Places {
    let of_realm = |first: PathBuf| match realm.is_default() {
        true => first,
        false => first.join(OF_REALMS).join(realm.as_str()),
    };
    let archive = config.audit.archive_directory.as_ref();
    Places {
        directory: of_realm(config.data_dir.join(&config.audit.directory)),
        archive: archive.map(|archive| of_realm(config.data_dir.join(archive))),
    }
}

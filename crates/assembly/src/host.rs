//! What all realms of a process share, from its configuration.

use std::{path::Path, sync::Arc};

use signet_config::{Config, apply, engine, realms};
use signet_crypto::Clock;
use signet_directory::passwords::PasswordOptions;
use signet_monitoring::Exporter;
use signet_node::Cluster;
use signet_process::sockets;
use signet_realm::outbound::OutboundOptions;
use signet_realm::state::{Host, HostParts, Paths};

use crate::{node_options, people};

/// The process, once: whatever realms it has. `authority`: a further one whose certificates other
/// servers may have, PEM.
pub(crate) fn host(
    config: &Config,
    base: &Path,
    cluster: &Arc<Cluster>,
    clock: Arc<dyn Clock>,
    authority: Option<&[u8]>,
    routes: Vec<&'static str>,
) -> Result<Arc<Host>, String> {
    Ok(Host::new(HostParts {
        clock,
        policy: apply::policy(config, base)?,
        outbound: outbound(config, base, authority)?,
        passwords: passwords(config),
        routes,
        nodes: cluster.clone(),
    }))
}

/// What a start makes of the configuration beside sockets and store, so that what cannot be made is
/// known before either is touched. A check makes it too, and drops it. To be called within a
/// runtime.
///
/// # Errors
/// What cannot be made.
pub fn rehearse(config: &Config, base: &Path, routes: &[&'static str]) -> Result<(), String> {
    let paths = Paths::of(routes);
    for (i, realm) in config.realms.iter().enumerate() {
        if let Some(hidden) = paths.hidden_by(&realms::issuer_of(config, realm)) {
            return Err(format!(
                "realms[{i}].issuer: its path would hide the server's own /{hidden}"
            ));
        }
    }
    if let Some(tls) = &config.tls {
        for ask_for_certificate in [false, true] {
            sockets::make_tls(tls, base, ask_for_certificate)?;
        }
    }
    apply::policy(config, base)?;
    people::services(config, base)?;
    outbound(config, base, None)?;
    Exporter::check(&config.telemetry, base)?;
    node_options::of_config(config)?;
    engine::of_config(config, base)?;
    Ok(())
}

fn passwords(config: &Config) -> PasswordOptions {
    let usual = PasswordOptions::default();
    PasswordOptions {
        threads: config.limits.password_threads.unwrap_or(usual.threads),
        queue: config.limits.password_queue,
        ..usual
    }
}

fn outbound(
    config: &Config,
    base: &Path,
    authority: Option<&[u8]>,
) -> Result<OutboundOptions, String> {
    let mut trust = match &config.outbound.trust {
        None => Vec::new(),
        Some(file) => {
            let file = base.join(file);
            std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?
        }
    };
    if let Some(authority) = authority {
        // Servers of a first try often get their certificate from the same CA.
        trust.extend_from_slice(b"\n");
        trust.extend_from_slice(authority);
    }
    Ok(OutboundOptions {
        allow_http: config.outbound.allow_loopback,
        allow_loopback: config.outbound.allow_loopback,
        allow_private: config.outbound.allow_private_addresses,
        trust: (!trust.is_empty()).then_some(trust),
        ..OutboundOptions::default()
    })
}

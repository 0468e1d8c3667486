//! Wiring of the validation service: configuration, verifier, keys, listener, signals.

mod build;
mod introspection;
mod model;
mod revocations;
mod secrets;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use signet_crypto::Clock;
use signet_gate::{Gate, Setup};
use signet_http::{
    Entrance, Limits,
    listener::{self, Listener},
    tls::Tls,
};
use signet_verify::{
    RevocationState,
    fetch::{Outbound, Refresher},
};
use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinSet,
};

use crate::{
    log,
    serve::{SystemClock, sockets},
    systemd::{self, Notice},
};
use model::GateConfig;
use revocations::Followed;

/// Where the configuration comes from.
pub enum Source {
    /// `--config`
    File(PathBuf),
    /// `--issuer` and `--audience`
    Quick {
        issuer: String,
        audience: String,
        ca_cert: Option<PathBuf>,
    },
}

impl Source {
    fn read(&self) -> Result<(GateConfig, PathBuf), String> {
        match self {
            Source::File(file) => {
                let failed = |e: String| format!("{}: {e}", file.display());
                let text = std::fs::read_to_string(file).map_err(|e| failed(e.to_string()))?;
                let config = toml::from_str(&text).map_err(|e| failed(e.to_string()))?;
                let base = file.parent().filter(|p| !p.as_os_str().is_empty());
                Ok((config, base.unwrap_or(Path::new(".")).to_owned()))
            }
            Source::Quick {
                issuer,
                audience,
                ca_cert,
            } => {
                let config = build::quick(issuer, audience, ca_cert.as_deref())?;
                Ok((config, PathBuf::from(".")))
            }
        }
    }
}

/// Serves until SIGTERM or SIGINT, and then until what is under way has been answered.
pub fn run(source: &Source, listen: Option<SocketAddr>) -> Result<(), String> {
    let (config, base) = source.read()?;
    let level = log::start(&config.log)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| format!("cannot start: {e}"))?;
    let running = runtime.block_on(serve(source, config, base, listen, &level))?;
    // Blocks until the workers are done, at most for the grace time.
    running.join();
    tracing::info!("stopped");
    Ok(())
}

async fn serve(
    source: &Source,
    config: GateConfig,
    base: PathBuf,
    listen: Option<SocketAddr>,
    level: &log::LogLevel,
) -> Result<listener::Running, String> {
    let failed = |e: std::io::Error| format!("signals cannot be caught: {e}");
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut hangup = signal(SignalKind::hangup()).map_err(failed)?;

    let workers = sockets::workers(config.threads);
    let listening = sockets::bind_one(listen.unwrap_or(config.listen), workers)?;
    let address = listening.address();
    let tls = match &config.tls {
        Some(tls) => Some(sockets::make_tls(tls, &base, false)?),
        None => None,
    };
    let prepared = Prepared::new(&config, &base)?;
    let mut beside = prepared.begin();
    let setup = prepared.setup;
    let limits = Limits {
        // A batch of long tokens.
        body_bytes: 1 << 20,
        ..Limits::default()
    };
    let gate = Gate::new(setup, Arc::new(SystemClock), limits);
    let listener = Listener {
        listening,
        tls: tls.clone(),
        entrance: Entrance::Public,
    };
    let running = listener::start(gate.clone(), vec![listener])
        .map_err(|e| format!("the service cannot start: {e}"))?;
    systemd::notify(Notice::Ready);
    tracing::info!(%address, "answering");
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => {
                systemd::notify(Notice::Reloading);
                match reload(source, &gate, tls.as_ref(), level).await {
                    Ok(next) => {
                        beside = next;
                        tracing::info!("the configuration was read again");
                    }
                    Err(error) => tracing::error!(error, "the configuration is as it was"),
                }
                systemd::notify(Notice::Ready);
            }
        }
    }
    systemd::notify(Notice::Stopping);
    tracing::info!("stopping: requests under way are finished");
    running.stop();
    drop(beside);
    Ok(running)
}

/// A setup, and what has to go on beside the requests for it.
struct Prepared {
    setup: Setup,
    outbound: Arc<Outbound>,
    followed: Vec<Followed>,
}

/// The tasks of one setup; they end when this is dropped.
struct Beside {
    _tasks: JoinSet<()>,
}

impl Prepared {
    fn new(config: &GateConfig, base: &Path) -> Result<Prepared, String> {
        let followed = revocations::followed(config, base)?;
        let outbound = Arc::new(Outbound::new(build::outbound(config, base)?));
        let asked = revocations::asked(&followed);
        Ok(Prepared {
            setup: build::setup(config, base, &outbound, asked)?,
            outbound,
            followed,
        })
    }

    fn refresher(&self) -> Refresher {
        let clock = SystemClock;
        let verifier = self.setup.verifier.clone();
        Refresher::new(verifier, self.outbound.clone(), move || clock.now())
    }

    fn begin(&self) -> Beside {
        let mut tasks = revocations::follow(&self.followed, &self.outbound);
        tasks.spawn(self.refresher().run());
        Beside { _tasks: tasks }
    }
}

/// The next setup has its keys and its revocations before it takes over, so that no token is refused, and no revoked one accepted, for the
/// change alone. A file that is not good changes nothing. The listener's address and threads stay as they are.
async fn reload(
    source: &Source,
    gate: &Gate,
    tls: Option<&Tls>,
    level: &log::LogLevel,
) -> Result<Beside, String> {
    let (config, base) = source.read()?;
    let next = Prepared::new(&config, &base)?;
    if let (Some(running), Some(next)) = (tls, &config.tls) {
        let (chain, key) = sockets::certificate(next, &base)?;
        running.reload(&chain, &key).map_err(|e| e.to_string())?;
    }
    next.refresher().fetch_once().await;
    let now = SystemClock.now();
    let present = gate.setup().verifier.clone();
    if present.is_ready(now) && !next.setup.verifier.is_ready(now) {
        return Err("a required issuer's keys could not be fetched".into());
    }
    let beside = next.begin();
    let whole = present
        .revocation_health(now)
        .iter()
        .all(|health| health.state == RevocationState::Current);
    if !revocations::are_current(&next.followed, whole).await {
        return Err("a stream of revocations could not be read".into());
    }
    level.apply(&config.log);
    gate.replace(next.setup);
    Ok(beside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manuals_configuration_is_one() {
        let manual = include_str!("../../../../docs/gate.md");
        let (_, from) = manual
            .split_once("## Configuration\n")
            .expect("a section about it");
        let text: Vec<&str> = from
            .lines()
            .skip(1)
            .take_while(|line| line.is_empty() || line.starts_with("    "))
            .collect();
        let config: GateConfig = toml::from_str(&text.join("\n")).expect("it parses");
        let outbound = Arc::new(Outbound::new(
            build::outbound(&config, Path::new(".")).expect("it builds"),
        ));
        let setup = build::setup(&config, Path::new("."), &outbound, None).expect("it builds");
        assert!(setup.verifier.policy("orders").is_some());
        assert_eq!(setup.identity.names().count(), 4);
    }

    #[test]
    fn the_quick_start_reaches_this_machine_for_an_issuer_on_it_only() {
        let local = build::quick("https://localhost:8443", "a", None).expect("it builds");
        assert!(local.outbound.allow_loopback);
        let far = build::quick("https://id.example.com", "a", None).expect("it builds");
        assert!(!far.outbound.allow_loopback);
        let named = build::quick("https://localhost.example.com", "a", None).expect("it builds");
        assert!(!named.outbound.allow_loopback);
    }
}

//! Wiring of the validation service: configuration, verifier, keys, listener, signals.

mod build;
mod introspection;
mod login;
mod login_model;
mod model;
mod revocations;
mod secrets;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use signet_crypto::Clock;
use signet_gate::{Gate, Setup};
use signet_gate_login::Ended;
use signet_http::{
    Limits, ListenerKind,
    listener::{self, Listener},
    tls::Tls,
};
use signet_verify::{
    ReplayGuard,
    fetch::{Outbound, Refresher},
};
use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinSet,
};

use model::GateConfig;
use revocations::Followed;
use signet_process::log;
use signet_process::memory;
use signet_process::systemd::{self, Notice};
use signet_process::{SystemClock, sockets};

/// Where the configuration comes from.
pub enum Source {
    /// `--config`
    File(PathBuf),
    /// `--issuer` and `--audience`
    Quick {
        /// Whose tokens are taken.
        issuer: String,
        /// For whom they have to be.
        audience: String,
        /// PEM file of the authority of the issuer's certificate.
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
    memory::give_back_what_load_leaves();
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
        // A client CA is there for proxies to show a certificate.
        Some(tls) => Some(sockets::make_tls(tls, &base, tls.client_ca.is_some())?),
        None => None,
    };
    let replays = Arc::new(ReplayGuard::new(config.replay.bytes));
    let ended = Arc::new(Ended::default());
    login::forget_before(&config, &ended, SystemClock.now_ms());
    let prepared = Prepared::new(&config, &base, &replays, &ended)?;
    let mut beside = prepared.begin();
    let setup = prepared.setup;
    let begun_with = Fixed::of(&config);
    let limits = Limits {
        // A batch of long tokens.
        body_bytes: 1 << 20,
        ..Limits::default()
    };
    let gate = Gate::new(setup, Arc::new(SystemClock), sockets::within_files(limits));
    let listener = Listener {
        listening,
        tls: tls.clone(),
        listener_kind: ListenerKind::Public,
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
                let running = Listening {
                    tls: tls.as_ref(),
                    begun_with: &begun_with,
                };
                match reload(source, &gate, &beside, running, level, &ended).await {
                    Ok(next) => {
                        beside = next;
                        tracing::info!("reloaded the configuration");
                    }
                    Err(error) => tracing::error!(error, "failed to reload the configuration; the previous one stays in effect"),
                }
                systemd::notify(Notice::Ready);
            }
        }
    }
    systemd::notify(Notice::Stopping);
    tracing::info!("stopping after requests in flight");
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
    followed: Vec<Followed>,
}

impl Prepared {
    fn new(
        config: &GateConfig,
        base: &Path,
        replays: &Arc<ReplayGuard>,
        ended: &Arc<Ended>,
    ) -> Result<Prepared, String> {
        let followed = revocations::followed(config, base)?;
        let outbound = Arc::new(Outbound::new(build::outbound(config, base)?));
        let asked = revocations::asked(&followed);
        Ok(Prepared {
            setup: build::setup(config, base, &outbound, asked, replays, ended)?,
            outbound,
            followed,
        })
    }

    /// Of the verifier of tokens, and of the login's.
    fn refreshers(&self) -> impl Iterator<Item = Refresher> {
        let login = self.setup.login.as_ref();
        let verifiers = [
            Some(&self.setup.verifier),
            login.map(|login| login.verifier()),
        ];
        verifiers.into_iter().flatten().map(|verifier| {
            let clock = SystemClock;
            Refresher::new(verifier.clone(), self.outbound.clone(), move || clock.now())
        })
    }

    fn begin(&self) -> Beside {
        let mut tasks = revocations::follow(&self.followed, &self.outbound);
        for refresher in self.refreshers() {
            tasks.spawn(refresher.run());
        }
        tasks.spawn(watch_replays(self.setup.verifier.replay_guard().clone()));
        Beside {
            _tasks: tasks,
            followed: self.followed.clone(),
        }
    }
}

/// How often it is looked whether the replay guard fills.
const LOOK_AT_REPLAYS: Duration = Duration::from_secs(10);

/// Says when half of the replay guard is in use, once each time that it becomes so.
async fn watch_replays(replays: Arc<ReplayGuard>) {
    let mut warned = false;
    loop {
        tokio::time::sleep(LOOK_AT_REPLAYS).await;
        let usage = replays.usage();
        if usage.is_half_full() && !warned {
            tracing::warn!(
                bytes = usage.bytes,
                limit = usage.limit,
                ids = usage.ids,
                "reached half of the DPoP replay memory (replay.bytes): each key is limited to its share, and proofs are refused once it is full"
            );
        }
        warned = usage.is_half_full();
    }
}

/// What is as it was at the start, whatever the file says later.
struct Fixed(Vec<(&'static str, String)>);

impl Fixed {
    fn of(config: &GateConfig) -> Fixed {
        let tls = config.tls.as_ref();
        Fixed(vec![
            ("listen", config.listen.to_string()),
            ("threads", format!("{:?}", config.threads)),
            ("tls", tls.is_some().to_string()),
            ("tls.tls12", format!("{:?}", tls.map(|tls| tls.tls12))),
            // A listener that asks for no certificate at the start asks for none later.
            (
                "tls.client_ca",
                tls.is_some_and(|tls| tls.client_ca.is_some()).to_string(),
            ),
            ("log.format", format!("{:?}", config.log.format)),
        ])
    }

    /// The settings that differ.
    fn changed<'a>(&'a self, next: &'a Fixed) -> impl Iterator<Item = &'static str> + 'a {
        let differ = self.0.iter().zip(&next.0).filter(|(old, new)| old != new);
        differ.map(|(old, _)| old.0)
    }
}

/// The listener that runs.
struct Listening<'a> {
    tls: Option<&'a Tls>,
    begun_with: &'a Fixed,
}

/// The next setup has its keys and its revocations before it takes over, so that no token is
/// refused, and no revoked one accepted, for the change alone. It has the same replay guard, and
/// what the present one knows of revocations. A file that is not good changes nothing. What is
/// [`Fixed`] stays, and is named where it differs.
async fn reload(
    source: &Source,
    gate: &Gate,
    beside: &Beside,
    running: Listening<'_>,
    level: &log::LogLevel,
    ended: &Arc<Ended>,
) -> Result<Beside, String> {
    let (config, base) = source.read()?;
    for section in running.begun_with.changed(&Fixed::of(&config)) {
        tracing::warn!(section, "ignored a changed setting until the next restart");
    }
    let present = gate.setup().verifier.clone();
    let next = Prepared::new(&config, &base, present.replay_guard(), ended)?;
    if let (Some(running), Some(next)) = (running.tls, &config.tls) {
        sockets::reload_tls(std::slice::from_ref(running), next, &base)?;
    }
    for refresher in next.refreshers() {
        refresher.fetch_once().await;
    }
    let now = SystemClock.now();
    if present.is_ready(now) && !next.setup.verifier.is_ready(now) {
        return Err("a required issuer's keys could not be fetched".into());
    }
    let next_beside = next.begin();
    if !revocations::are_current(&beside.followed, &next.followed).await {
        return Err("a stream of revocations could not be read".into());
    }
    level.apply(&config.log);
    present.replay_guard().resize(config.replay.bytes);
    revocations::hand_on(&beside.followed, &next.followed);
    gate.replace(next.setup);
    Ok(next_beside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manuals_configuration_is_one() {
        let manual = include_str!("../../../docs/gate.md");
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
        let replays = Arc::new(ReplayGuard::new(config.replay.bytes));
        // The manual's secret is beside the manual's file.
        let base = tempfile::tempdir().expect("a directory");
        std::fs::write(base.path().join("proxy.secret"), "0".repeat(64)).expect("a file");
        let setup = build::setup(
            &config,
            base.path(),
            &outbound,
            None,
            &replays,
            &Arc::default(),
        )
        .expect("it builds");
        assert!(setup.verifier.policy("orders").is_some());
        assert_eq!(setup.identity.names().count(), 4);
    }

    #[test]
    fn a_reload_names_what_changes_with_a_restart_only() {
        let of = |text: &str| Fixed::of(&toml::from_str(text).expect("it parses"));
        let tls = "[tls]\ncertificate = \"c\"\nkey = \"k\"\n";
        let changed = |before: &str, next: &str| -> Vec<&str> {
            let (before, next) = (of(before), of(next));
            before.changed(&next).collect()
        };
        let ca = |file: &str| format!("{tls}client_ca = \"{file}\"\n");
        assert!(changed(&ca("a.pem"), &ca("b.pem")).is_empty());
        assert_eq!(changed(tls, &ca("a.pem")), ["tls.client_ca"]);
        assert_eq!(changed("", tls), ["tls", "tls.tls12"]);
        let listen = "listen = \"127.0.0.1:1\"\nthreads = 1\n";
        assert_eq!(changed("", listen), ["listen", "threads"]);
    }

    #[test]
    fn what_happens_on_the_loss_of_a_stream_has_its_former_names_too() {
        for (now, before) in [("fail_closed", "closed"), ("fail_open", "open")] {
            let read = |name: &str, value: &str| -> model::Revocations {
                let client = r#"client = { client_id = "gate", client_secret_env = "S" }"#;
                toml::from_str(&format!("{client}\n{name} = \"{value}\"")).expect("it parses")
            };
            let expected = read("on_stream_loss", now).on_stream_loss;
            assert_eq!(read("when_lost", before).on_stream_loss, expected);
        }
        assert_ne!(
            model::OnStreamLoss::FailClosed,
            model::OnStreamLoss::FailOpen
        );
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

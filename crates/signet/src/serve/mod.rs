//! Wiring: configuration, store, keys and application become a server that answers until a signal
//! ends it.
//!
//! The order: sockets first (a port that is taken must say so before anything is made; in
//! development mode the port is part of the issuer), then the data directory with its lock, the
//! application, the threads that answer, and last whoever waits for readiness.

mod fixed_files;
mod reload;
mod waiting;

use std::{
    io::{IsTerminal, Write},
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use fixed_files::FixedFiles;
use signet_assembly::{
    Further, Start, complete, node_options, rehearse,
    store::{self, NotOpen},
};
use signet_audit::Audit;
use signet_cluster::join::Token;
use signet_console::first;
use signet_crypto::Clock;
use signet_http::listener::{self, Running};
use signet_monitoring::{Exporter, Gathering};
use signet_node::{Cluster, ClusterOptions, OpenedStore, join_first};
use signet_realm::state::Realm;
use signet_realm::tasks;
use signet_request::http::Router;
use signet_request::http::service::Service;
use signet_server::health::families;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::dev::{self, Dev};
use signet_admin_client::http_client::HttpClient;
use signet_config::{apply, read::Loaded};
use signet_process::log;
use signet_process::memory;
use signet_process::systemd::{self, Notice};
use signet_process::{SystemClock, sockets};

/// A start that takes longer answers while it waits.
const SILENT_START: Duration = Duration::from_millis(500);
/// How often expired rows are removed.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// Between two attempts at a database that cannot be reached.
const OPEN_EVERY: Duration = Duration::from_secs(1);
/// How often it is said that it cannot be reached.
const SAY_EVERY: Duration = Duration::from_secs(10);

/// Where the configuration comes from.
pub enum Source {
    /// `--config`: a file that was read and checked already.
    File {
        file: PathBuf,
        loaded: Box<Loaded>,
        /// `--join`
        join: Option<Token>,
    },
    /// `--dev`
    Dev {
        listen: SocketAddr,
        wish: dev::DevOptions,
        /// `--join`
        join: Option<Token>,
    },
}

/// Serves until SIGTERM or SIGINT, and then until what is under way has been answered.
pub fn run(source: Source) -> Result<(), String> {
    let log_settings = match &source {
        Source::File { loaded, .. } => loaded.config.log.clone(),
        Source::Dev { .. } => dev::log(),
    };
    let level = log::start(&log_settings)?;
    memory::give_back_what_load_leaves();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| format!("cannot start: {e}"))?;
    let Some(server) = runtime.block_on(start(source, level))? else {
        tracing::info!("stopped before it was ready");
        return Ok(());
    };
    let Server {
        watched,
        running,
        cluster,
        trails,
    } = server;
    // Blocks until the workers are done, at most for the grace time.
    running.join();
    if let Some((exporter, realm)) = watched {
        runtime.block_on(exporter.finish(|| gathering(&realm)));
    }
    // What they decided is written before the store, which it needs, is closed.
    trails.iter().for_each(Audit::close);
    runtime.block_on(cluster.stop());
    tracing::info!("stopped");
    Ok(())
}

fn gathering(realm: &Arc<Realm>) -> Gathering {
    let realm = realm.clone();
    Box::pin(async move { families(&realm).await })
}

/// Every path that a server answers.
pub fn router() -> Router {
    let mut router = Router::default();
    signet_server::routes(&mut router);
    router
}

struct Server {
    watched: Option<(Arc<Exporter>, Arc<Realm>)>,
    running: Running,
    trails: Vec<Audit>,
    cluster: Arc<Cluster>,
}

/// None: it received a signal to stop before it was ready.
async fn start(source: Source, level: log::LogLevel) -> Result<Option<Server>, String> {
    // Signals are caught before anything can be left half made.
    let failed = |e: std::io::Error| format!("signals cannot be caught: {e}");
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut hangup = signal(SignalKind::hangup()).map_err(failed)?;
    // A file that must not grow (RLIMIT_FSIZE) fails its write, as a full disk does; unhandled, the
    // signal that comes with it would end the process.
    let file_size = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    let _file_size = signal(file_size).map_err(failed)?;

    let clock = Arc::new(SystemClock);
    let now = clock.now();
    let router = router();
    let routes: Vec<&'static str> = router.paths().collect();
    // The store is opened before anything else of the data directory is touched: it holds the
    // directory's lock, and what lies there may be another running server's.
    let (config, base, file, mut dev, bound, store) = match source {
        Source::File { file, loaded, join } => {
            rehearse(&loaded.config, &loaded.base, &routes)?;
            let bound = sockets::bind(&loaded.config)?;
            let open = || store::open_store(&loaded.config, &loaded.base);
            let Some(store) = opened(open, &mut terminate, &mut interrupt).await? else {
                return Ok(None);
            };
            let options = node_options::of_config(&loaded.config)?;
            join_first(join, &options, &store, &*clock).await?;
            let config = (loaded.config, options);
            (config, loaded.base, Some(file), None, bound, store)
        }
        Source::Dev { listen, wish, join } => {
            let bound = sockets::bind_dev(listen)?;
            let open = || dev::open_store(&wish);
            let Some(store) = opened(open, &mut terminate, &mut interrupt).await? else {
                return Ok(None);
            };
            let options = dev::node_options(&wish, bound.public())?;
            join_first(join, &options, &store, &*clock).await?;
            let bound = sockets::bind_dev_mtls(bound, &wish.directory)?;
            let (config, dev) = dev::prepare(&wish, bound.public(), bound.mtls(), now)?;
            let options = ClusterOptions {
                issuer: config.issuer.clone(),
                ..options
            };
            let config = (config, options);
            let base = wish.base().to_owned();
            (config, base, None, Some(dev), bound, store)
        }
    };
    let (config, options) = config;
    if let Err(error) = signet_keeping::note_version(&config.data_dir, now) {
        tracing::warn!(%error, "failed to note the version that writes the data directory");
    }
    let cluster = Cluster::new(options, clock.clone(), store);
    let stop = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    let begin = async {
        let mut begun = std::pin::pin!(cluster.begin());
        if let Ok(begun) = tokio::time::timeout(SILENT_START, &mut begun).await {
            return begun;
        }
        // A start that waits for others says what for.
        let waiting = waiting::start(&config, &base, &bound, &cluster)?;
        let begun = begun.await;
        waiting.stop();
        begun
    };
    tokio::select! {
        begun = begin => begun?,
        () = stop => {
            cluster.stop().await;
            return Ok(None);
        }
    }

    let address = bound.public();
    // Before they are read: one that changes meanwhile is named rather than missed.
    let fixed_files = FixedFiles::of(&config, &base);
    let begun = signet_assembly::begin(Start {
        config: &config,
        base: &base,
        cluster: &cluster,
        clock,
        development: dev.as_ref().map(|dev| dev as _),
        routes,
    });
    let realm = begun.await?;
    let policy = &realm.host.policy;
    if dev.is_some() {
        policy.tracer.keep();
    }
    let exporter = Exporter::of_config(
        &config.telemetry,
        &base,
        policy.tracer.clone(),
        realm.host.node(),
    )?
    .map(Arc::new);
    let further = Further::new(&config, base.clone(), cluster.clone(), realm.clone())?;
    let (listeners, certificates) = sockets::listeners(&config, &base, bound)?;
    let service = Service::new(
        realm.clone(),
        router,
        sockets::within_files(apply::limits(&config)),
    );
    let realms = service.realms().clone();
    realms.open_by(further.clone());
    let running =
        listener::start(service, listeners).map_err(|e| format!("the server cannot start: {e}"))?;

    tokio::spawn(level.budget.clone().tell());
    // Nothing has set them before.
    let _ = realm.host.certificates.set(certificates.clone());
    tokio::spawn(tasks::note_activity(realm.host.clone()));
    tokio::spawn(tasks::index_people(realm.clone()));
    tokio::spawn(tasks::sweep(realm.clone(), SWEEP_EVERY));
    tokio::spawn(signet_assembly::keep_keys(realm.clone()));
    tokio::spawn(signet_assembly::keep(realms.clone()));
    tokio::spawn(signet_realm::outbox::deliver(realm.clone()));
    if let Some(exporter) = exporter.clone() {
        let realm = realm.clone();
        tokio::spawn(async move { exporter.run(|| gathering(&realm)).await });
    }
    if let Some(dev) = &mut dev {
        confirm(dev, address, &cluster).await?;
        greet(dev);
    }
    invite(&realm, dev.as_ref()).await;
    systemd::notify(Notice::Ready);
    tracing::info!(issuer = config.issuer, %address, "ready");

    let mut reloader = reload::Reloader {
        file,
        begun_with: config.clone(),
        files: fixed_files,
        config,
        base,
        certificates,
        level,
        further,
    };
    loop {
        let majority = cluster.majority(&realm);
        match next(&mut terminate, &mut interrupt, &mut hangup, majority).await {
            Wake::Stop => break,
            Wake::Majority => {
                let (config, base) = (&reloader.config, &reloader.base);
                match complete(config, base, &cluster, &realm).await {
                    Ok(()) => tracing::info!("caught up with the other nodes"),
                    Err(error) => {
                        tracing::warn!(error, "failed to catch up with the other nodes; retrying");
                    }
                }
            }
            Wake::Reload => {
                systemd::notify(Notice::Reloading);
                reloader.reload(&realm).await;
                systemd::notify(Notice::Ready);
            }
        }
    }
    systemd::notify(Notice::Stopping);
    tracing::info!("stopping after requests in flight");
    // They have no end of their own.
    let realms = realms.all_opened();
    realms
        .iter()
        .for_each(|realm| realm.revocation_streams.end());
    running.stop();
    let trails = realms.iter().map(|realm| realm.audit().clone());
    Ok(Some(Server {
        watched: exporter.map(|exporter| (exporter, realm)),
        running,
        trails: trails.collect(),
        cluster,
    }))
}

/// Opens the store, and waits for a database that cannot be reached: a node holds nothing that it
/// could go on by. None: it received a signal to stop meanwhile.
async fn opened(
    open: impl Fn() -> Result<OpenedStore, NotOpen>,
    terminate: &mut Signal,
    interrupt: &mut Signal,
) -> Result<Option<OpenedStore>, String> {
    let mut told: Option<tokio::time::Instant> = None;
    loop {
        match open() {
            Ok(store) => return Ok(Some(store)),
            Err(NotOpen::Unusable(why)) => return Err(why),
            Err(NotOpen::Unreachable(why)) => {
                if told.is_none_or(|told| told.elapsed() > SAY_EVERY) {
                    told = Some(tokio::time::Instant::now());
                    tracing::warn!(why, "waiting for the database; no request is answered yet");
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(OPEN_EVERY) => {}
            _ = terminate.recv() => return Ok(None),
            _ = interrupt.recv() => return Ok(None),
        }
    }
}

enum Wake {
    Stop,
    Reload,
    /// A majority of the nodes that the start went on without.
    Majority,
}

async fn next(
    terminate: &mut Signal,
    interrupt: &mut Signal,
    hangup: &mut Signal,
    majority: impl Future<Output = ()>,
) -> Wake {
    tokio::select! {
        () = majority => Wake::Majority,
        _ = terminate.recv() => Wake::Stop,
        _ = interrupt.recv() => Wake::Stop,
        _ = hangup.recv() => Wake::Reload,
    }
}

/// `dev.json` appears once the server answers, not before: scripts wait for the file.
async fn confirm(dev: &mut Dev, address: SocketAddr, cluster: &Cluster) -> Result<(), String> {
    let client = HttpClient::new(std::slice::from_ref(&dev.file.ca_cert))?;
    // By address: the issuer's name need not lead here from this machine.
    let url = format!("https://{address}/health/ready");
    let answer = client.get(&url, &[]).await?;
    // A node that stands badly to the others (no majority, divided, removed) answers, and is not
    // ready. It says why, and stays to be asked.
    if !answer.status.is_success() && cluster.is_whole() && cluster.stands().not_ready.is_none() {
        return Err(format!("{url} answered {}", answer.status));
    }
    dev.announce()
}

/// Prints the link that makes the first administrator, or, in development mode, logs the one in
/// that there is: to a terminal alone. What is not read by a person may be kept by a log.
async fn invite(realm: &Realm, dev: Option<&Dev>) {
    let mut out = std::io::stdout();
    let is_read = out.is_terminal();
    let link = match dev {
        Some(dev) if is_read => first::login_link(realm, &dev.file.admin.username).await,
        Some(_) => return,
        None if is_read => first::link(realm).await,
        None => match realm.people.users.list(None, 1, realm.now()).await {
            Ok(found) if found.is_empty() => {
                tracing::info!(
                    "waiting for the first administrator: make it with `signet user add NAME --admin --config FILE`; a start at a terminal prints a link"
                );
                return;
            }
            Ok(_) | Err(_) => return,
        },
    };
    let said = match (link, dev) {
        (Ok(Some(link)), Some(_)) => format!("  log in to the console (once):\n{link}"),
        (Ok(Some(link)), None) => format!(
            "There is no account yet. This link makes the first administrator, once, within a day:\n{link}"
        ),
        (Ok(None), _) => return,
        (Err(error), _) => {
            tracing::warn!(%error, "failed to make a link to the console");
            return;
        }
    };
    let _ = writeln!(out, "{said}").and_then(|()| out.flush());
}

fn greet(dev: &Dev) {
    let mut out = std::io::stdout();
    // Nobody has to read it.
    let program = std::env::args().next().unwrap_or_else(|| "signet".into());
    let greeting = dev.greeting(&program);
    let _ = writeln!(out, "{greeting}").and_then(|()| out.flush());
}

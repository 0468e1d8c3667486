//! The application from its configuration: store, sealing keys, registry, signing keys, mail.

use std::{path::Path, sync::Arc, time::Duration};

use signet_audit::{self as audit, Action, Audit, AuditOptions, Event, Keep, Places};
use signet_consensus::{ReplicatedStore, Settings};
use signet_crypto::{
    Clock, Secret, password,
    seal::{Keyring, Purpose},
};
use signet_directory::{Local, NewUser, Profile, UserError, passwords::PasswordOptions};
use signet_mail::{Mailer, SmtpOptions, SmtpSecurity};
use signet_node::{Cluster, OpenedStore, left_or_arriving};
use signet_oauth::{command_line, registry::Registry};
use signet_realm::outbound::OutboundOptions;
use signet_realm::state::{Host, HostParts, Partition, Parts, Realm, RealmId, Replica};
use signet_realm::tasks;
use signet_realm::time::Kept;
use signet_realm::user_services::UserServiceOptions;
use signet_registry::change_writer::ChangeWriter;
use signet_registry::delta::Configuration;
use signet_registry::keys::{self, KeyKind, Moment, SealingFile, SigningKeys};
use signet_registry::load;
use signet_store::{
    Engine, EngineError, MovableStore, NodeId, PostgresStore, RevocationIndex, Store, StoreError,
    postgres::{Behind, PostgresError},
    sqlite::DATABASE_FILE,
};

use crate::dev::{self, Dev};
use signet_config::engine;
use signet_config::{Config, apply, check, fault::Faults, model, providers};
use signet_crypto::private_file;
use signet_process::sockets;
use signet_store::StoreUrl;

/// How often the signing keys are looked after.
const KEYS_EVERY: Duration = Duration::from_secs(60);
/// The first look: standby keys are made then, so that no start waits for them.
const KEYS_FIRST: Duration = Duration::from_secs(2);

/// Why a store is not open.
pub enum NotOpen {
    /// Its database cannot be reached now.
    Unreachable(String),
    /// It cannot be used.
    Unusable(String),
}

impl From<String> for NotOpen {
    fn from(why: String) -> NotOpen {
        NotOpen::Unusable(why)
    }
}

impl NotOpen {
    fn of_database(error: &PostgresError) -> NotOpen {
        /// The server starts or stops, or has no connection left (PostgreSQL, appendix A, classes
        /// 57 and 53).
        const LATER: [&str; 4] = ["57P01", "57P02", "57P03", "53300"];
        let why = error.to_string();
        match error {
            PostgresError::Unreachable(_) | PostgresError::Lost(_) | PostgresError::Slow => {
                NotOpen::Unreachable(why)
            }
            PostgresError::Refused { code, .. } if LATER.contains(&code.as_str()) => {
                NotOpen::Unreachable(why)
            }
            PostgresError::Refused { .. }
            | PostgresError::OldSchema { .. }
            | PostgresError::NewSchema { .. }
            | PostgresError::Behind { .. }
            | PostgresError::Tls(_)
            | PostgresError::PasswordFile(_)
            | PostgresError::Corrupt(_)
            | PostgresError::Excluded
            | PostgresError::Pooled { .. } => NotOpen::Unusable(why),
        }
    }
}

/// Opens the store of a configuration. A database must have its schema already: an operator says
/// when it is made or changed.
pub fn open_store(config: &Config, base: &Path) -> Result<OpenedStore, NotOpen> {
    let directory = config.store_directory();
    if directory != config.data_dir && config.data_dir.join("signet.db").exists() {
        tracing::warn!(
            opened = %directory.display(),
            "ignored a database in data_dir: [store] directory names another place"
        );
    }
    private_file::directory(&config.data_dir)
        .map_err(|e| format!("{}: {e}", config.data_dir.display()))?;
    open_engine(&engine::of_config(config, base)?)
}

/// Opens the store of a development server; makes the schema of a database, or brings it up to
/// date.
pub fn open_dev_store(wish: &dev::DevOptions) -> Result<OpenedStore, NotOpen> {
    let directory = &wish.directory;
    let has = |name: &str| directory.join(name).exists();
    // A node of a replicated store whose file is gone says so itself.
    let elsewhere = has("dev.json") && !has(DATABASE_FILE) && !signet_node::is_noted(directory);
    if wish.store.is_none() && elsewhere {
        return Err(format!(
            "the rows of {} are in a database: name it by --store postgres://...",
            directory.display()
        )
        .into());
    }
    let url = wish.store.clone().unwrap_or(StoreUrl::Sqlite(None));
    private_file::directory(directory)
        .map_err(|e| format!("{}: {e}{}", directory.display(), dev::OTHER_DIRECTORY))?;
    let engine = url.engine_of_node(directory);
    match &engine {
        Engine::Sqlite { .. } => {}
        Engine::Postgres { options, .. } => {
            PostgresStore::migrate(options, Behind::Refuse)
                .map_err(|e| NotOpen::of_database(&e))?;
        }
    }
    open_engine(&engine).map_err(|e| match (&engine, e) {
        (Engine::Sqlite { .. }, NotOpen::Unusable(why)) => {
            NotOpen::Unusable(format!("{why}{}", dev::OTHER_DIRECTORY))
        }
        (Engine::Sqlite { .. } | Engine::Postgres { .. }, e) => e,
    })
}

/// Opens a node's store, and with it takes the lock of its directory, which is made where it is
/// missing.
fn open_engine(engine: &Engine) -> Result<OpenedStore, NotOpen> {
    let directory = match engine {
        Engine::Sqlite { directory, .. } => Some(directory),
        Engine::Postgres { directory, .. } => directory.as_ref(),
    };
    if let Some(directory) = directory {
        private_file::directory(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    }
    let opened = match engine {
        Engine::Sqlite { directory, options } => {
            let random = || u64::from_be_bytes(signet_crypto::random::bytes());
            let settings = Settings::new(Arc::new(random));
            let store = ReplicatedStore::open(directory, *options, settings);
            store.map_err(EngineError::Embedded).map(|store| {
                let store = Arc::new(store);
                OpenedStore {
                    store: Arc::new(MovableStore::new(store.clone())),
                    engine: engine.clone(),
                    replicated: Some(store),
                }
            })
        }
        Engine::Postgres { .. } => signet_store::open(engine).map(|store| OpenedStore {
            store: Arc::new(MovableStore::new(store)),
            engine: engine.clone(),
            replicated: None,
        }),
    };
    opened.map_err(|e| {
        let whose = |directory| private_file::owner(directory, &["signet.lock", DATABASE_FILE]);
        match &e {
            EngineError::Embedded(_) => {
                let whose = directory.map(|directory| whose(directory).to_string());
                NotOpen::Unusable(format!("{e}{}", whose.unwrap_or_default()))
            }
            EngineError::Postgres(error) => NotOpen::of_database(error),
        }
    })
}

/// Opens the keys, loads what is kept in memory, makes what is missing.
pub async fn build(
    config: &Config,
    base: &Path,
    cluster: &Arc<Cluster>,
    clock: Arc<dyn Clock>,
    dev: Option<&Dev>,
    routes: Vec<&'static str>,
) -> Result<Arc<Realm>, String> {
    let now = clock.now();
    if let Some(proxy) = &config.proxy
        && proxy.client_certificate_header.is_some()
        && proxy.secret_file.is_none()
    {
        tracing::warn!(reason = %check::CERTIFICATES_BY_ADDRESS, "trusting certificates of a proxy by its address");
    }
    let store = cluster.store().clone();
    let refused = left_or_arriving(&*store, now).await;
    if let Some(why) = refused.map_err(|e| e.to_string())? {
        return Err(why);
    }
    let sealing = SealingFile::open_or_create(&config.data_dir, now).map_err(|e| e.to_string())?;
    let (current, older) = sealing.keys();
    let partition = Partition::new(RealmId::default_realm(), store, current, older);
    let keyring = partition.keyring().clone();
    let node = cluster.wanted_name()?;
    let opened = AuditPlace {
        node: node.clone(),
        shared: cluster.is_shared(),
    };
    let audit = partition.store().clone();
    let audit = open_audit(config, opened, audit, &keyring, clock.clone()).await?;
    // Everything that the realm changes goes through this one: its changes carry their records.
    let partition = partition.recorded(&audit);
    let shared = partition.store().clone();
    let users = Local::new(shared.clone());
    if let Some(dev) = dev.filter(|d| d.is_new()) {
        dev::seed_users(&users, &dev.file, now).await?;
        dev::seed_clients(&*shared, &keyring, &dev.file, now).await?;
    }
    // Without a majority they wait for it: see `complete`.
    if cluster.is_whole()
        && let Err(error) = seed_users(config, base, &users, now).await
    {
        if !shared.is_full() {
            return Err(error);
        }
        tracing::error!(
            error,
            "postponed creating users of the configuration: disk full"
        );
    }

    let mut faults = Faults::default();
    let mut settings = apply::settings(config, &mut faults);
    settings.node_base = cluster.node_base();
    let settings = Arc::new(settings);
    let mut stored = load::load(&*shared, now).await.map_err(|e| e.to_string())?;
    command_line::add(&mut stored).map_err(|e| e.description.to_owned())?;
    let mut declared = Registry::default();
    apply::extend_registry(
        config,
        base,
        &seal_with(&keyring),
        &mut declared,
        &mut faults,
    );
    let providers = providers::providers(config, base, &keyring, &mut faults);
    declared.providers = Arc::new(providers);
    if let Some(fault) = faults.0.first() {
        return Err(format!("{}: {}", fault.path, fault.message));
    }
    let kept = Kept::load(&*shared, now).await.map_err(|e| e.to_string())?;
    let revocations = RevocationIndex::load(shared.clone(), Kept::to_read_by(kept, now))
        .await
        .map_err(|e| e.to_string())?;
    let moment = Moment {
        now,
        longest_token: keys::longest_token(&settings, &stored)
            .max(keys::longest_token(&settings, &declared)),
    };
    let policy = keys::Policy {
        period: config.keys.rotate_after.0,
        publish_ahead: config.keys.publish_ahead.0,
        ..keys::Policy::default()
    };
    let node = audit.node().cloned().or(node).unwrap_or_default();
    let change_writer = ChangeWriter::new(partition.id().clone(), cluster.tell(&node));
    let (signing, published) = SigningKeys::load(
        shared.clone(),
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
    let host = Host::new(HostParts {
        clock,
        policy: apply::policy(config, base)?,
        outbound: outbound(config, base, dev)?,
        passwords: passwords(config),
        routes,
        nodes: cluster.clone(),
    });
    let parts = Parts {
        partition,
        change_writer,
        replica: Replica::new(configuration, stored, published).map_err(|e| e.to_string())?,
        revocations,
        signing_keys: signing,
        sealing_file: Some(sealing),
        audit,
        people: people(config, base)?,
    };
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
    if cluster.is_shared() && !realm.store.is_full() {
        cluster.note_whole().await.map_err(failed)?;
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
    cluster.become_whole(realm).await?;
    seed_users(config, base, &Local::new(realm.store.clone()), now).await?;
    note_start(config, cluster, realm).await?;
    tasks::maintain_keys(realm)
        .await
        .map_err(|e| e.to_string())?;
    cluster.set_whole(realm);
    Ok(())
}

/// Whose audit trail is opened.
struct AuditPlace {
    node: Option<NodeId>,
    /// Several nodes write the store.
    shared: bool,
}

/// Opens the audit trail, before anything that it has to tell of.
async fn open_audit(
    config: &Config,
    place: AuditPlace,
    store: Arc<dyn Store>,
    keyring: &Keyring,
    clock: Arc<dyn Clock>,
) -> Result<Audit, String> {
    if !config.audit.enabled {
        tracing::warn!("running without an audit trail: [audit] enabled is false");
        return Ok(Audit::off());
    }
    let places = Places {
        directory: config.data_dir.join(&config.audit.directory),
        archive: config
            .audit
            .archive_directory
            .as_ref()
            .map(|archive| config.data_dir.join(archive)),
    };
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
    let opened = Audit::open(options, store, keyring, clock).await;
    let (audit, opened) = opened.map_err(|e| format!("the audit trail: {e}"))?;
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
    Ok(audit)
}

fn seal_with(keyring: &Keyring) -> impl Fn(&str, &[u8]) -> Option<Vec<u8>> {
    |client_id, secret| {
        keyring
            .seal_with(Purpose::ClientSecret, client_id.as_bytes(), secret)
            .ok()
    }
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

/// What a start makes of the configuration beside sockets and store, so that what cannot be made is
/// known before either is touched. A check makes it too, and drops it. To be called within a
/// runtime.
///
/// # Errors
/// What cannot be made.
pub fn rehearse(config: &Config, base: &Path) -> Result<(), String> {
    if let Some(tls) = &config.tls {
        for ask_for_certificate in [false, true] {
            sockets::make_tls(tls, base, ask_for_certificate)?;
        }
    }
    apply::policy(config, base)?;
    people(config, base)?;
    outbound(config, base, None)?;
    super::node_options::of_config(config)?;
    engine::of_config(config, base)?;
    Ok(())
}

/// Creates the users of the configuration that do not exist yet.
async fn seed_users(config: &Config, base: &Path, users: &Local, now: u64) -> Result<(), String> {
    for user in &config.users {
        let failed =
            |e: &dyn std::fmt::Display| format!("the user {} cannot be made: {e}", user.username);
        if users
            .by_login(&user.username, now)
            .await
            .map_err(|e| failed(&e))?
            .is_some()
        {
            continue;
        }
        let phc = match &user.password {
            None => None,
            Some(reference) => {
                let secret = reference.read(base).map_err(|e| failed(&e))?;
                check::new_password(config, user, secret.expose()).map_err(|e| failed(&e))?;
                Some(
                    password::hash(secret.expose().as_bytes(), password::Cost::default())
                        .map_err(|e| failed(&e))?,
                )
            }
        };
        let new = NewUser {
            username: user.username.clone(),
            email: user.email.clone(),
            email_verified: user.email_verified,
            password: phc,
            must_change_password: false,
            admin: user.admin,
            by_administrator: true,
            profile: Profile {
                name: user.name.clone().or_else(|| user.profile.name.clone()),
                ..user.profile.clone()
            },
            ..NewUser::default()
        };
        let event = Event::new(Action::ADMIN, now.saturating_mul(1000))
            .subject("configuration")
            .operation("createUser");
        match audit::with_record(event, users.create(new, now)).await.0 {
            Ok(_) => tracing::info!(
                username = user.username,
                "created a user of the configuration"
            ),
            Err(UserError::UsernameTaken) => {}
            Err(e) => return Err(failed(&e)),
        }
    }
    Ok(())
}

fn people(config: &Config, base: &Path) -> Result<UserServiceOptions, String> {
    let brands = config.brand.read(base);
    let brands = brands.map_err(|(member, why)| format!("brand.{member}: {why}"))?;
    Ok(UserServiceOptions {
        mailer: mailer(config, base)?,
        limits: apply::login_limits(config),
        brands: brands.into(),
        passwords: apply::password_policy(config),
        // A directory that people come from is a line here.
        outside: Vec::new(),
    })
}

fn passwords(config: &Config) -> PasswordOptions {
    let usual = PasswordOptions::default();
    PasswordOptions {
        threads: config.limits.password_threads.unwrap_or(usual.threads),
        queue: config.limits.password_queue,
        ..usual
    }
}

fn mailer(config: &Config, base: &Path) -> Result<Option<Mailer>, String> {
    let Some(mail) = &config.mail else {
        return Ok(None);
    };
    let made = match (&mail.smtp, &mail.directory) {
        (Some(smtp), _) => Mailer::smtp(&mail.from, smtp_options(smtp, base)?),
        (None, Some(directory)) => Mailer::directory(&mail.from, &base.join(directory)),
        (None, None) => return Err("mail: needs one of smtp and directory".into()),
    };
    made.map(Some).map_err(|e| format!("mail: {e}"))
}

fn smtp_options(smtp: &model::Smtp, base: &Path) -> Result<SmtpOptions, String> {
    let credentials = match (&smtp.username, &smtp.password) {
        (Some(name), Some(reference)) => {
            let secret: Secret<String> = reference.read(base).map_err(|e| format!("mail: {e}"))?;
            Some((name.clone(), secret))
        }
        _ => None,
    };
    let trust = match &smtp.trust {
        None => None,
        Some(file) => {
            let file = base.join(file);
            Some(std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?)
        }
    };
    Ok(SmtpOptions {
        host: smtp.host.clone(),
        port: smtp.port,
        security: match smtp.security {
            model::SmtpSecurity::Tls => SmtpSecurity::Tls,
            model::SmtpSecurity::Starttls => SmtpSecurity::StartTls,
            model::SmtpSecurity::Plain => SmtpSecurity::Plain,
        },
        credentials,
        trust,
    })
}

fn outbound(config: &Config, base: &Path, dev: Option<&Dev>) -> Result<OutboundOptions, String> {
    let mut trust = match &config.outbound.trust {
        None => Vec::new(),
        Some(file) => {
            let file = base.join(file);
            std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?
        }
    };
    if let Some(dev) = dev {
        // Servers of a first try often get their certificate from the same CA.
        trust.extend_from_slice(b"\n");
        trust.extend_from_slice(&dev.ca_pem);
    }
    Ok(OutboundOptions {
        allow_http: config.outbound.allow_loopback,
        allow_loopback: config.outbound.allow_loopback,
        allow_private: config.outbound.allow_private_addresses,
        trust: (!trust.is_empty()).then_some(trust),
        ..OutboundOptions::default()
    })
}

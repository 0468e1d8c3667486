//! A whole server on free ports, with TLS, in memory, and a client that speaks to it over real
//! sockets.
#![allow(
    dead_code,
    reason = "every test file compiles this module and uses its own part of it"
)]
pub mod browser;
pub mod client;
pub mod cluster;
pub mod failing;
pub mod made;
pub mod nodes;
pub mod people;
pub mod totp;

use signet_audit::{Audit, AuditOptions};
use signet_crypto::{Algorithm, Clock, certificate::DevelopmentCa, hash::sha256, seal::SealingKey};
use signet_directory::passwords::PasswordOptions;
use signet_http::{
    Limits, ListenerKind,
    listener::{Listener, Listening, Running, start},
    tls::{Tls, TlsOptions},
};
use signet_merge::tell::{Alone, Tell};
use signet_oauth::authorize::redirect_uri::RedirectUri;
use signet_oauth::client::*;
use signet_oauth::registry::{RealmEntry, Registry};
use signet_oauth::scope::ScopeSet;
use signet_oauth::settings::Settings;
use signet_realm::nodes::{Nodes, SingleNode};
use signet_realm::outbound::OutboundOptions;
use signet_realm::state::{Host, HostParts, Partition, Parts, Policy, Realm, RealmId, Replica};
use signet_realm::user_services::UserServiceOptions;
use signet_registry::change_writer::ChangeWriter;
use signet_registry::delta::{Configuration, Delta};
use signet_registry::keys::{self, KeyKind, Moment, SealingFile, SigningKeys};
use signet_request::http::Router;
use signet_request::http::service::Service;
use signet_store::{MemoryStore, NodeId, RevocationIndex, Store};
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::{SystemTime, UNIX_EPOCH},
};

/// 43 characters: what a generated secret looks like.
pub const SECRET: &str = "test-secret-test-secret-test-secret-test-se";

/// The system's time, moved by as much as the test wants.
#[derive(Default)]
pub struct TestClock {
    /// milliseconds that a test let pass
    pub passed: AtomicU64,
    /// where it stands still, Unix milliseconds; 0: it goes on
    pub stopped: AtomicU64,
}

impl Clock for TestClock {
    fn now_ms(&self) -> u64 {
        let system = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let system = u64::try_from(system.as_millis()).unwrap();
        let now = match self.stopped.load(SeqCst) {
            0 => system,
            stopped => stopped,
        };
        now + self.passed.load(SeqCst)
    }
}

/// The change writer of a keeper on a node that is the only one.
pub fn change_writer() -> Arc<ChangeWriter> {
    let tell = alone(&Arc::<TestClock>::default());
    ChangeWriter::new(RealmId::default_realm(), tell)
}

/// What a test may change before the server starts.
pub struct Setup {
    pub settings: Settings,
    pub clients: Vec<Client>,
    pub limits: Limits,
    pub policy: Policy,
    pub outbound: OutboundOptions,
    pub people: UserServiceOptions,
    /// Those of the default realm, where this one is the second.
    pub people_beside: UserServiceOptions,
    pub passwords: PasswordOptions,
    pub store: Option<Arc<dyn Store>>,
    /// Where the sealing keys come from; without it, they are this one.
    pub sealing: Option<SealingFile>,
    /// In memory. Nodes with one store have one.
    pub sealing_key: SealingKey,
    /// The signing keys were made so many seconds ago, and have standbys since then.
    pub keys_age: u64,
    /// Plain HTTP at the public door, as behind a proxy.
    pub plain: bool,
    /// The development CA counts for `tls_client_auth`.
    pub trust_client_ca: bool,
    /// Where the audit trail is; `None`: no trail is kept.
    pub audit: Option<std::path::PathBuf>,
    /// How it tells other nodes; without it there are none.
    pub tell: Option<Arc<dyn Tell>>,
    /// The nodes that it is one of; without them it is by itself.
    pub nodes: Option<Arc<dyn Nodes>>,
    /// The issuer that it serves with others, under a name of its own.
    pub issuer: Option<String>,
    /// Its clock is ahead by so many milliseconds.
    pub ahead_ms: u64,
}

fn alone(clock: &Arc<TestClock>) -> Arc<dyn Tell> {
    Arc::new(Alone::new(NodeId::default(), clock.clone()))
}

impl Default for Setup {
    fn default() -> Setup {
        let mut settings = Settings::new("https://localhost");
        settings.signing_algs = vec![Algorithm::Es256, Algorithm::EdDsa];
        settings.access_token_alg = Algorithm::Es256;
        settings.id_token_alg = Algorithm::Es256;
        Setup {
            settings,
            clients: vec![client("service")],
            limits: Limits::default(),
            policy: Policy::default(),
            outbound: OutboundOptions {
                allow_http: true,
                allow_loopback: true,
                ..OutboundOptions::default()
            },
            people: UserServiceOptions::default(),
            people_beside: UserServiceOptions::default(),
            passwords: PasswordOptions::default(),
            store: None,
            sealing: None,
            sealing_key: SealingKey::generate(),
            keys_age: 0,
            plain: false,
            trust_client_ca: true,
            audit: None,
            tell: None,
            nodes: None,
            issuer: None,
            ahead_ms: 0,
        }
    }
}

/// A running server; it stops when dropped.
pub struct Server {
    /// The realm that requests of `client::Call` and `browser::Browser` go to.
    pub realm: Arc<Realm>,
    pub clock: Arc<TestClock>,
    pub ca: Arc<DevelopmentCa>,
    pub address: SocketAddr,
    pub mtls_address: SocketAddr,
    pub plain: bool,
    running: Option<Running>,
    /// The default realm, where this server is a second realm of its process.
    beside: Option<Box<Server>>,
}

/// Where the realm under test lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// It is the only one.
    Alone,
    /// It is the second one of its process, under the same name with a path.
    ByPath,
    /// It is the second one of its process, under a name of its own.
    ByName,
}

thread_local! {
    static PLACE: std::cell::Cell<Place> = const { std::cell::Cell::new(Place::Alone) };
}

/// Runs a test against the second realm of a process, whose first has the same clients, the same
/// store and the same sealing keys.
pub fn in_second_realm(place: Place, test: impl FnOnce()) {
    PLACE.set(place);
    test();
    PLACE.set(Place::Alone);
}

/// What both realms of a process are made from.
struct Whole {
    host: Arc<Host>,
    store: Arc<dyn Store>,
    sealing: (SealingKey, Vec<SealingKey>),
}

/// A realm of its own, as the binary's wiring makes it.
fn realm(whole: &Whole, id: RealmId, setup: RealmSetup) -> Arc<Realm> {
    let (current, older) = whole.sealing.clone();
    let mut partition = Partition::new(id, whole.store.clone(), current, older);
    let mut audit = Audit::off();
    if let Some(directory) = setup.audit {
        let (store, clock) = (partition.store().clone(), Arc::<TestClock>::default());
        let options = AuditOptions::new(directory);
        let opened = Audit::open(options, store, partition.keyring(), clock);
        audit = block_on(opened).unwrap().0;
        partition = partition.recorded(&audit);
    }
    let declared = Registry {
        clients: setup
            .clients
            .into_iter()
            .map(|c| (c.client_id.clone(), Arc::new(c)))
            .collect(),
        ..Registry::default()
    };
    let stored = Registry {
        scopes: Registry::standard_scopes(),
        ..Registry::default()
    };
    let made_at = whole.host.now() - setup.keys_age;
    let at = Moment {
        now: made_at,
        longest_token: 600,
    };
    let revocations = RevocationIndex::load(partition.store().clone(), whole.host.now());
    let revocations = block_on(revocations).unwrap();
    let change_writer = ChangeWriter::new(partition.id().clone(), setup.tell);
    if setup.shared {
        change_writer.share();
    }
    let (signing_keys, mut keys) = block_on(SigningKeys::load(
        partition.store().clone(),
        change_writer.clone(),
        partition.keyring().clone(),
        KeyKind::all(&setup.settings),
        keys::Policy::default(),
        at,
    ))
    .unwrap();
    if setup.keys_age > 0 {
        let publish = |deltas: Vec<Delta>| {
            for delta in deltas {
                let Delta::Key { kid, record } = delta else {
                    panic!("{delta:?}");
                };
                let keyring = partition.keyring();
                keys.apply(&kid, record.as_deref(), keyring).unwrap();
            }
        };
        block_on(signing_keys.tick(partition.keyring(), at, publish)).unwrap();
    }
    let configuration = Configuration {
        settings: Arc::new(setup.settings),
        declared: Arc::new(declared),
    };
    let parts = Parts {
        partition,
        change_writer,
        replica: Replica::new(configuration, stored, keys).unwrap(),
        revocations,
        signing_keys,
        sealing_file: setup.sealing,
        audit,
        people: setup.people,
    };
    let realm = Realm::new(whole.host.clone(), parts);
    if setup.shared {
        block_on(realm.share()).unwrap();
    }
    realm
}

struct RealmSetup {
    shared: bool,
    tell: Arc<dyn Tell>,
    settings: Settings,
    clients: Vec<Client>,
    people: UserServiceOptions,
    sealing: Option<SealingFile>,
    keys_age: u64,
    audit: Option<std::path::PathBuf>,
}

impl Server {
    /// The records of the audit trail, which is closed for it.
    pub fn records(&self) -> Vec<serde_json::Value> {
        let audit = self.realm.audit();
        audit.close();
        let (places, node) = (audit.places().unwrap(), audit.node().unwrap());
        let segments = places.of(node).unwrap();
        let lines = signet_audit::read::lines(&segments, Some(0), usize::MAX).unwrap();
        lines.iter().map(|line| line.to_json()).collect()
    }

    pub fn start(setup: Setup) -> Server {
        Server::start_with(setup, routes())
    }

    /// Another configuration, in effect at once: what a reload does.
    pub fn configure(&self, change: impl FnOnce(&mut Settings, &mut Registry)) {
        let Configuration { settings, declared } = self.realm.configuration();
        let (mut settings, mut declared) = ((*settings).clone(), (*declared).clone());
        change(&mut settings, &mut declared);
        let next = Configuration {
            settings: Arc::new(settings),
            declared: Arc::new(declared),
        };
        self.realm.apply([Delta::Configuration(next)]).unwrap();
    }

    pub fn start_with(setup: Setup, router: Router) -> Server {
        Server::start_at(PLACE.get(), setup, router)
    }

    /// A process with two realms: the default one, and this. The one has the other in `beside`.
    pub fn start_at(place: Place, mut setup: Setup, router: Router) -> Server {
        let ca = Arc::new(DevelopmentCa::generate().unwrap());
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let (chain, key) = ca.issue_server(&names).unwrap();
        let listening = Listening::bind("127.0.0.1:0".parse().unwrap(), 2).unwrap();
        let mtls_listening = Listening::bind("127.0.0.1:0".parse().unwrap(), 1).unwrap();
        let (address, mtls_address) = (listening.address(), mtls_listening.address());
        let tls = |ask| {
            let options = TlsOptions {
                tls12: false,
                ask_for_certificate: ask,
                client_roots: setup.trust_client_ca.then(|| ca.cert_pem().into_bytes()),
            };
            Tls::new(chain.as_bytes(), key.expose().as_bytes(), &options).unwrap()
        };
        let listeners = vec![
            Listener {
                listening,
                tls: (!setup.plain).then(|| tls(false)),
                listener_kind: ListenerKind::Public,
            },
            Listener {
                listening: mtls_listening,
                tls: Some(tls(true)),
                listener_kind: ListenerKind::Mtls,
            },
        ];
        let clock = Arc::new(TestClock::default());
        clock.passed.store(setup.ahead_ms, SeqCst);
        let whole = Whole {
            host: Host::new(HostParts {
                clock: clock.clone(),
                policy: setup.policy,
                outbound: setup.outbound,
                passwords: setup.passwords,
                routes: router.paths().collect(),
                nodes: setup.nodes.unwrap_or_else(|| {
                    Arc::new(SingleNode {
                        name: NodeId::default(),
                        url: setup.settings.issuer.clone(),
                    }) as Arc<dyn Nodes>
                }),
            }),
            store: setup
                .store
                .unwrap_or_else(|| Arc::new(MemoryStore::new()) as Arc<dyn Store>),
            sealing: match &setup.sealing {
                Some(file) => file.keys(),
                None => (setup.sealing_key, Vec::new()),
            },
        };
        let settings_of = |name: &str, path: &str| {
            let mut settings = setup.settings.clone();
            settings.issuer = format!("https://{name}localhost:{}{path}", address.port());
            if let Some(issuer) = &setup.issuer {
                settings.node_base = Some(std::mem::replace(&mut settings.issuer, issuer.clone()));
            }
            settings.mtls_base = Some(format!(
                "https://{name}localhost:{}{path}",
                mtls_address.port()
            ));
            settings
        };
        let beside = (place != Place::Alone).then(|| {
            let first = RealmSetup {
                shared: false,
                tell: alone(&clock),
                settings: settings_of("", ""),
                clients: setup.clients.clone(),
                people: setup.people_beside,
                sealing: None,
                keys_age: 0,
                audit: None,
            };
            realm(&whole, RealmId::default_realm(), first)
        });
        let (id, name, path) = match place {
            Place::Alone => ("", "", ""),
            Place::ByPath => ("second", "", "/second"),
            Place::ByName => ("second", "second.", ""),
        };
        let own = RealmSetup {
            shared: setup.tell.is_some(),
            tell: setup.tell.take().unwrap_or_else(|| alone(&clock)),
            settings: settings_of(name, path),
            clients: setup.clients,
            people: setup.people,
            sealing: setup.sealing.take(),
            keys_age: setup.keys_age,
            audit: setup.audit,
        };
        let own = realm(&whole, RealmId::parse(id).unwrap_or_default(), own);
        let server = |realm, running, beside| Server {
            realm,
            clock: clock.clone(),
            ca: ca.clone(),
            address,
            mtls_address,
            plain: setup.plain,
            running,
            beside,
        };
        match beside {
            None => {
                let service = Service::new(own.clone(), router, setup.limits);
                server(own, Some(start(service, listeners).unwrap()), None)
            }
            Some(first) => {
                let service = Service::new(first.clone(), router, setup.limits);
                service.serve(vec![own.clone()]);
                let running = start(service, listeners).unwrap();
                let first = server(first, Some(running), None);
                server(own, None, Some(Box::new(first)))
            }
        }
    }

    /// Makes a further realm of the process, over a store of its own. Not on a runtime's thread.
    pub fn another(host: &Arc<Host>, entry: &RealmEntry) -> Arc<Realm> {
        let whole = Whole {
            host: host.clone(),
            store: Arc::new(MemoryStore::new()),
            sealing: (SealingKey::generate(), Vec::new()),
        };
        let mut settings = Setup::default().settings;
        settings.issuer.clone_from(&entry.issuer);
        let setup = RealmSetup {
            shared: false,
            tell: alone(&Arc::default()),
            settings,
            clients: Vec::new(),
            people: UserServiceOptions::default(),
            sealing: None,
            keys_age: 0,
            audit: None,
        };
        realm(&whole, RealmId::parse(&entry.name).unwrap(), setup)
    }

    /// The default realm of the same process.
    pub fn beside(&self) -> &Server {
        self.beside.as_deref().expect("it is a second realm")
    }

    /// The issuer's name with the port that requests go to.
    pub fn name(&self, port: u16) -> String {
        let issuer = self.issuer();
        let name = issuer.strip_prefix("https://").unwrap();
        format!("{}:{port}", name.split(':').next().unwrap())
    }

    /// Where a target is found: below the issuer's path, but for what belongs to the process.
    pub fn place_of(&self, target: &str) -> String {
        if target.starts_with("/health/") || target == "/metrics" {
            return target.to_owned();
        }
        let issuer = self.issuer();
        let authority = issuer.strip_prefix("https://").unwrap();
        let path = authority.find('/').map_or("", |at| &authority[at..]);
        format!("{path}{target}")
    }

    pub fn issuer(&self) -> String {
        self.realm.snapshot().settings.issuer.clone()
    }

    /// The issuer as this node is found.
    pub fn base(&self) -> String {
        let settings = self.realm.snapshot().settings.clone();
        settings.node_issuer().unwrap_or_else(|| self.issuer())
    }

    /// Moves the server's clock on.
    pub fn pass(&self, seconds: u64) {
        self.clock.passed.fetch_add(seconds * 1000, SeqCst);
    }

    /// Time stands still from now on, but for [`Server::pass`]: for what counts in seconds.
    pub fn stop_clock(&self) {
        let now = self.clock.now_ms() - self.clock.passed.load(SeqCst);
        self.clock.stopped.store(now, SeqCst);
    }

    /// Accepts no more; what is under way goes on.
    pub fn begin_stop(&self) {
        if let Some(running) = &self.running {
            running.stop();
        }
        if let Some(first) = &self.beside {
            first.begin_stop();
        }
    }

    pub fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
            running.join();
        }
        if let Some(first) = &mut self.beside {
            first.stop();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
        }
    }
}

/// Every route that the binary serves.
pub fn routes() -> Router {
    let mut router = Router::new();
    signet_server::routes(&mut router);
    router
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

pub fn scope(text: &str) -> ScopeSet {
    ScopeSet::parse(text).unwrap()
}

/// A confidential client that may do everything, with `SECRET`.
pub fn client(client_id: &str) -> Client {
    Client {
        revision: 1,
        redirect_uris: vec![RedirectUri::parse("https://client.example/cb", false).unwrap()],
        grant_types: GrantType::ALL.to_vec(),
        secrets: vec![ClientSecret::Sha256 {
            hash: sha256(SECRET.as_bytes()),
            expires_at: None,
        }],
        scope: scope("openid profile email offline_access api:read api:write"),
        ..Client::new(client_id, 1_700_000_000)
    }
}

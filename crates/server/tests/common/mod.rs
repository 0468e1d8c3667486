//! A whole server on free ports, with TLS, in memory, and a client that speaks to it over real sockets.
#![allow(
    dead_code,
    reason = "every test file compiles this module and uses its own part of it"
)]
pub mod browser;
pub mod client;
pub mod failing;
pub mod made;
pub mod people;

use signet_crypto::{
    Algorithm, Clock, SigningKey,
    certificate::DevelopmentCa,
    hash::sha256,
    seal::{Keyring, SealingKey},
};
use signet_http::{
    Entrance, Limits,
    listener::{Listener, Listening, Running, start},
    tls::{Tls, TlsOptions},
};
use signet_jose::jwt::JwtSigner;
use signet_oauth::{
    client::*, redirect_uri::RedirectUri, registry::Registry, scope::ScopeSet, settings::Settings,
};
use signet_server::{
    http::{Router, service::Service},
    keys::KeySet,
    outbound::OutboundOptions,
    people::PeopleOptions,
    state::{Parts, Policy, Realm, Snapshot},
};
use signet_store::{MemoryStore, RevocationIndex, Store};
use std::{
    collections::HashMap,
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
pub struct TestClock(pub AtomicU64);

impl Clock for TestClock {
    fn now_ms(&self) -> u64 {
        let system = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        u64::try_from(system.as_millis()).unwrap() + self.0.load(SeqCst)
    }
}

/// What a test may change before the server starts.
pub struct Setup {
    pub settings: Settings,
    pub clients: Vec<Client>,
    pub limits: Limits,
    pub policy: Policy,
    pub outbound: OutboundOptions,
    pub people: PeopleOptions,
    pub store: Option<Arc<dyn Store>>,
    /// Plain HTTP at the public door, as behind a proxy.
    pub plain: bool,
    /// The development CA counts for `tls_client_auth`.
    pub trust_client_ca: bool,
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
            people: PeopleOptions::default(),
            store: None,
            plain: false,
            trust_client_ca: true,
        }
    }
}

/// A running server; it stops when dropped.
pub struct Server {
    pub realm: Arc<Realm>,
    pub clock: Arc<TestClock>,
    pub ca: Arc<DevelopmentCa>,
    pub address: SocketAddr,
    pub mtls_address: SocketAddr,
    pub plain: bool,
    running: Option<Running>,
}

impl Server {
    pub fn start(setup: Setup) -> Server {
        Server::start_with(setup, routes())
    }

    pub fn start_with(mut setup: Setup, router: Router) -> Server {
        let ca = DevelopmentCa::generate().unwrap();
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let (chain, key) = ca.issue_server(&names).unwrap();
        let listening = Listening::bind("127.0.0.1:0".parse().unwrap(), 2).unwrap();
        let mtls_listening = Listening::bind("127.0.0.1:0".parse().unwrap(), 1).unwrap();
        let (address, mtls_address) = (listening.address(), mtls_listening.address());
        setup.settings.issuer = format!("https://localhost:{}", address.port());
        setup.settings.mtls_base = Some(format!("https://localhost:{}", mtls_address.port()));
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
                entrance: Entrance::Public,
            },
            Listener {
                listening: mtls_listening,
                tls: Some(tls(true)),
                entrance: Entrance::Mtls,
            },
        ];
        let clock = Arc::new(TestClock::default());
        let registry = Registry {
            clients: setup
                .clients
                .into_iter()
                .map(|c| (c.client_id.clone(), Arc::new(c)))
                .collect(),
            resources: HashMap::new(),
            scopes: Registry::standard_scopes(),
        };
        let store = setup
            .store
            .unwrap_or_else(|| Arc::new(MemoryStore::new()) as Arc<dyn Store>);
        let revocations = block_on(RevocationIndex::load(store.clone(), clock.now())).unwrap();
        let keys = key_set(&setup.settings);
        let realm = Realm::new(Parts {
            snapshot: Snapshot::new(Arc::new(setup.settings), Arc::new(registry), Arc::new(keys)),
            store,
            keyring: Keyring::new(SealingKey::generate(), Vec::new()),
            revocations,
            outbound: setup.outbound,
            clock: clock.clone(),
            policy: setup.policy,
            people: setup.people,
        });
        let service = Service::new(realm.clone(), router, setup.limits);
        Server {
            running: Some(start(service, listeners).unwrap()),
            plain: setup.plain,
            realm,
            clock,
            ca: Arc::new(ca),
            address,
            mtls_address,
        }
    }

    pub fn issuer(&self) -> String {
        self.realm.snapshot().settings.issuer.clone()
    }

    /// Moves the server's clock on.
    pub fn pass(&self, seconds: u64) {
        self.clock.0.fetch_add(seconds * 1000, SeqCst);
    }

    /// Accepts no more; what is under way goes on.
    pub fn begin_stop(&self) {
        if let Some(running) = &self.running {
            running.stop();
        }
    }

    pub fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
            running.join();
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

/// One fresh key per algorithm, and one for compact tokens.
pub fn key_set(settings: &Settings) -> KeySet {
    let mut set = KeySet::builder();
    for algorithm in &settings.signing_algs {
        let key = SigningKey::generate(*algorithm).unwrap();
        let kid = format!("test-{}", algorithm.name());
        let verifying = Arc::new(key.verifying_key().unwrap());
        set.jose(Arc::new(JwtSigner::new(key, &kid)), verifying, true);
    }
    let compact = signet_compact::SigningKey::generate(settings.compact_alg).unwrap();
    set.compact(Arc::new(compact), true);
    set.build().unwrap()
}

pub fn scope(text: &str) -> ScopeSet {
    ScopeSet::parse(text).unwrap()
}

/// A confidential client that may do everything, with `SECRET`.
pub fn client(client_id: &str) -> Client {
    Client {
        client_id: client_id.to_owned(),
        revision: 1,
        created_at: 1_700_000_000,
        enabled: true,
        client_name: None,
        client_uri: None,
        logo_uri: None,
        policy_uri: None,
        tos_uri: None,
        contacts: Vec::new(),
        application_type: ApplicationType::Web,
        redirect_uris: vec![RedirectUri::parse("https://client.example/cb", false).unwrap()],
        post_logout_redirect_uris: Vec::new(),
        allowed_origins: Vec::new(),
        initiate_login_uri: None,
        grant_types: GrantType::ALL.to_vec(),
        response_types: vec!["code".to_owned()],
        token_endpoint_auth_method: AuthMethod::ClientSecretBasic,
        token_endpoint_auth_signing_alg: None,
        secrets: vec![ClientSecret::Sha256 {
            hash: sha256(SECRET.as_bytes()),
            expires_at: None,
        }],
        jwks: None,
        jwks_uri: None,
        tls_client_auth: None,
        scope: scope("openid profile email offline_access api:read api:write"),
        resources: Vec::new(),
        may_act_for: Vec::new(),
        may_exchange_agent_grants: false,
        id_token_signed_response_alg: None,
        userinfo_signed_response_alg: None,
        access_token_signed_response_alg: None,
        access_token_format: None,
        introspection_signed_response_alg: None,
        default_max_age: None,
        require_auth_time: false,
        default_acr_values: Vec::new(),
        require_pkce: true,
        require_pushed_authorization_requests: false,
        dpop_bound_access_tokens: false,
        tls_client_certificate_bound_access_tokens: false,
        refresh_rotation: RefreshRotation::Rotate,
        consent: ConsentPolicy::Ask,
        access_token_lifetime: None,
        refresh_token_lifetime: None,
        registration_token_hash: None,
        software_id: None,
        software_version: None,
        sector_identifier_uri: None,
        expires_at: None,
    }
}

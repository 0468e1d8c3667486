//! The rules of the authorization endpoint, one test each; here, the house that they are tried in.
mod decisions;
mod pushed;
mod requests;

use super::*;
use crate::authorize::par;
use crate::authorize::redirect_uri::RedirectUri;
use crate::client::{ApplicationType, Client, ConsentPolicy, GrantType};
use crate::error::ErrorCode;
use crate::id::PushedId;
use crate::issued::session::{Consent, Session};
use crate::params::Params;
use crate::registry::{Registry, Resource};
use crate::request::Context;
use crate::scope::ScopeSet;
use crate::settings::Settings;
use crate::testing::{CHALLENGE, NOW, NothingRevoked, OneKey, keyring, scope};
use signet_crypto::{Algorithm, SigningKey, VerifyingKey, seal::Keyring};
use signet_jose::jwt::{JwtSigner, Typ};
use std::sync::{Arc, LazyLock};

const ISSUER: &str = "https://as.example";

/// A confidential client with every grant.
fn a_client(client_id: &str) -> Client {
    let mut client = Client::new(client_id, NOW - 1_000_000);
    client.redirect_uris = vec![RedirectUri::parse("https://client.example/cb", false).unwrap()];
    client.grant_types = GrantType::ALL.to_vec();
    client
}

/// One server: a client `client`, a resource, a key, and the moment.
struct House {
    registry: Registry,
    settings: Settings,
    keyring: Keyring,
    signer: JwtSigner,
    key: OneKey,
    now: u64,
}

fn house_with(change: impl FnOnce(&mut Client)) -> House {
    let mut client = a_client("client");
    client.scope = scope("openid profile email offline_access signet:admin api:read");
    client.resources = vec!["https://api.example".into()];
    change(&mut client);
    let mut registry = Registry {
        scopes: Registry::standard_scopes(),
        ..Registry::default()
    };
    for identifier in ["https://api.example", "https://other.example"] {
        let resource = Resource {
            identifier: identifier.into(),
            name: None,
            scopes: scope("api:read signet:admin"),
            access_token_signed_response_alg: None,
            access_token_format: None,
            access_token_lifetime: None,
            introspectors: Vec::new(),
            claims: Vec::new(),
            revision: 1,
        };
        registry
            .resources
            .insert(identifier.into(), Arc::new(resource));
    }
    registry
        .clients
        .insert(client.client_id.clone(), Arc::new(client));
    let key = SigningKey::generate(Algorithm::Es256).unwrap();
    let public = VerifyingKey::new(Algorithm::Es256, key.public().unwrap()).unwrap();
    House {
        registry,
        settings: Settings::new(ISSUER),
        keyring: keyring(),
        signer: JwtSigner::new(key, "k1"),
        key: OneKey("k1", public),
        now: NOW,
    }
}

fn house() -> House {
    house_with(|_| {})
}

const GOOD: &[(&str, &str)] = &[
    ("client_id", "client"),
    ("redirect_uri", "https://client.example/cb"),
    ("response_type", "code"),
    ("scope", "openid email"),
    ("state", "xyz"),
    ("code_challenge", CHALLENGE),
    ("code_challenge_method", "S256"),
];

/// `GOOD` with these set, or taken out where the value is empty.
fn params(changes: &[(&str, &str)]) -> Params {
    let kept = GOOD
        .iter()
        .filter(|(n, _)| changes.iter().all(|(c, _)| c != n));
    Params::from_pairs(kept.chain(changes).copied().filter(|(_, v)| !v.is_empty())).unwrap()
}

impl House {
    fn with_context<T>(&self, f: impl FnOnce(&Context<'_>) -> T) -> T {
        f(&Context {
            registry: &self.registry,
            settings: &self.settings,
            keyring: &self.keyring,
            keys: &self.key,
            revocations: &NothingRevoked,
            now_ms: self.now * 1000,
            issue_ms: self.now * 1000,
        })
    }
    fn validate(&self, changes: &[(&str, &str)]) -> Result<AuthorizationRequest, AuthorizeError> {
        self.asked(params(changes))
    }
    /// A request at `/authorize`, as the endpoint has it checked.
    fn asked(&self, params: Params) -> Result<AuthorizationRequest, AuthorizeError> {
        let resolved = self.resolved(Incoming::at_authorize(params));
        self.with_context(|c| validate(&resolved, c))
    }
    fn resolved(&self, incoming: Incoming) -> Resolved {
        let named = incoming.named().client_id;
        let client = named.and_then(|id| self.registry.client(id, self.now).cloned());
        incoming.resolved(client)
    }
    fn ok(&self, changes: &[(&str, &str)]) -> AuthorizationRequest {
        self.validate(changes)
            .unwrap_or_else(|e| panic!("{changes:?}: {e:?}"))
    }
    fn redirected(&self, changes: &[(&str, &str)]) -> ErrorCode {
        match self.validate(changes) {
            Err(AuthorizeError::Redirect(back)) => {
                assert_eq!(back.to.redirect_uri, "https://client.example/cb");
                back.error.code
            }
            other => panic!("{changes:?}: {other:?}"),
        }
    }
    fn page(&self, changes: &[(&str, &str)]) -> ErrorCode {
        match self.validate(changes) {
            Err(AuthorizeError::Page(error)) => error.code,
            other => panic!("{changes:?}: {other:?}"),
        }
    }
    fn client(&self) -> &Arc<Client> {
        &self.registry.clients["client"]
    }
    fn push(&self, changes: &[(&str, &str)]) -> Result<String, ErrorCode> {
        self.with_context(|c| {
            par::push(
                Incoming::at_par(params(changes)),
                self.client(),
                None,
                PushedId::new([9; 16]),
                c,
            )
        })
        .map(|r| r.request_uri)
        .map_err(|e| e.code)
    }
    fn id_token(&self, typ: Typ, payload: &str) -> String {
        let mut out = Vec::new();
        self.signer
            .sign_into(typ, payload.as_bytes(), &mut out)
            .unwrap();
        String::from_utf8(out).unwrap()
    }
}

fn session() -> Session {
    Session {
        sid: "sid-1".into(),
        user_id: "alice".into(),
        auth_time: NOW - 100,
        acr: acr::PASSWORD.into(),
        amr: vec!["pwd".into()],
        methods: vec!["password".into()],
        ends_at: u64::MAX,
    }
}

/// No scope gives claims of its own.
static WITHOUT_CLAIMS: LazyLock<Registry> = LazyLock::new(Registry::default);

fn facts(session: Option<&Session>) -> Facts<'_> {
    Facts {
        required: &[],
        registry: &WITHOUT_CLAIMS,
        session,
        looked_up: LookedUp::default(),
        is_admin: false,
        progress: Progress::default(),
        entry: None,
        now: NOW,
    }
}

fn refused(step: &Step<'_>) -> ErrorCode {
    match step {
        Step::Refuse(error) => error.code,
        other => panic!("{other:?}"),
    }
}

fn granted<'a>(step: Step<'a>) -> Granted<'a> {
    match step {
        Step::Grant(granted) => granted,
        other => panic!("{other:?}"),
    }
}

//! Authorization requests. Rules: nobody is sent anywhere that the client did not register; a
//! request that is accepted has PKCE and asks for no more than its client may have; nobody gets a
//! code who has no session.

use std::sync::{Arc, LazyLock};

use signet_crypto::{
    Algorithm, Secret, VerifyingKey,
    seal::{Keyring, SealingKey},
};
use signet_jose::jwt::JwtSigner;
use signet_oauth::authorize::redirect_uri::RedirectUri;
use signet_oauth::authorize::response;
use signet_oauth::authorize::{
    AuthorizationRequest, AuthorizeError, Facts, Incoming, Issuing, LookedUp, Progress, Response,
    ReturnTo, Step, decide, validate,
};
use signet_oauth::client::{ApplicationType, AuthMethod, Client, GrantType};
use signet_oauth::params::Params;
use signet_oauth::registry::{Registry, Resource};
use signet_oauth::request::{Context, IssuerKeys, IssuerSigners};
use signet_oauth::scope::ScopeSet;
use signet_oauth::settings::Settings;
use signet_oauth::token::decision::{RevocationQuery, Revocations, Unavailable};

const NOW: u64 = 1_800_000_000;

struct Server {
    registry: Registry,
    settings: Settings,
    keyring: Keyring,
}

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let scope = ScopeSet::parse("openid profile email offline_access").expect("scopes");
    let client = |id: &str, redirect_uri: &str, native: bool| {
        let mut client = Client::new(id, NOW - 1);
        client.grant_types = GrantType::ALL.to_vec();
        client.scope = scope.clone();
        client.resources = vec!["https://rs.example".to_owned()];
        client.redirect_uris = vec![RedirectUri::parse(redirect_uri, native).expect("a URI")];
        if native {
            client.application_type = ApplicationType::Native;
            client.token_endpoint_auth_method = AuthMethod::None;
        }
        (id.to_owned(), Arc::new(client))
    };
    let resource = Resource {
        identifier: "https://rs.example".to_owned(),
        name: None,
        scopes: ScopeSet::EMPTY,
        access_token_signed_response_alg: None,
        access_token_format: None,
        access_token_lifetime: None,
        introspectors: Vec::new(),
        claims: Vec::new(),
        revision: 0,
    };
    let registry = Registry {
        clients: [
            client("web", "https://client.example/cb", false),
            client("native", "http://127.0.0.1/callback", true),
        ]
        .into_iter()
        .collect(),
        resources: [(resource.identifier.clone(), Arc::new(resource))]
            .into_iter()
            .collect(),
        scopes: Registry::standard_scopes(),
        people: Arc::default(),
        providers: Arc::default(),
        realms: Arc::default(),
        rules: Arc::default(),
        administrator_roles: Arc::default(),
    };
    let key = SealingKey {
        id: [7; 4],
        key: Secret::new([7; 32]),
        opens: signet_crypto::seal::Opens::All,
    };
    Server {
        registry,
        settings: Settings::new("https://as.example"),
        keyring: Keyring::new(key, Vec::new()),
    }
});

/// An issuer without keys, of whose tokens none was revoked.
struct Nothing;

impl IssuerKeys for Nothing {
    fn verifying_key(&self, _: &str) -> Option<&VerifyingKey> {
        None
    }
    fn compact_keys(&self) -> Option<&signet_compact::KeySet> {
        None
    }
}

impl IssuerSigners for Nothing {
    fn jwt_signer(&self, _: Algorithm) -> Option<&JwtSigner> {
        None
    }
    fn compact_signer(&self) -> Option<&signet_compact::SigningKey> {
        None
    }
}

const ISSUING: Issuing<'static> = Issuing {
    issuer: "https://as.example",
    signers: &Nothing,
    client: None,
    now: NOW,
};

impl Revocations for Nothing {
    fn is_revoked(&self, _: &RevocationQuery<'_>) -> Result<bool, Unavailable> {
        Ok(false)
    }
}

/// The input as a query, and as a request that was sealed before.
pub fn run(data: &[u8]) {
    if let Ok(request) = AuthorizationRequest::from_bytes(data) {
        let again = AuthorizationRequest::from_bytes(&request.to_bytes());
        assert_eq!(again.ok().as_ref(), Some(&request));
    }
    let Ok(params) = Params::parse(data) else {
        return;
    };
    let context = Context {
        registry: &SERVER.registry,
        settings: &SERVER.settings,
        keyring: &SERVER.keyring,
        keys: &Nothing,
        revocations: &Nothing,
        now_ms: NOW * 1000,
        issue_ms: NOW * 1000,
    };
    let incoming = Incoming::at_authorize(params.clone());
    let named = incoming.named().client_id;
    let found = named.and_then(|id| SERVER.registry.client(id, NOW).cloned());
    match validate(&incoming.resolved(found), &context) {
        Ok(request) => accepted(&params, &request),
        Err(AuthorizeError::Page(_)) => {}
        Err(AuthorizeError::Redirect(refused)) => {
            let client = client(params.get("client_id").expect("a redirect needs a client"));
            goes_home(&client, &refused.to);
            answer(
                &refused.to,
                &response::error(&refused.to, &refused.error, &ISSUING).expect("nothing is signed"),
            );
        }
    }
}

fn client(id: &str) -> Arc<Client> {
    Arc::clone(&SERVER.registry.clients[id])
}

fn accepted(params: &Params, request: &AuthorizationRequest) {
    let client = client(request.client_id());
    goes_home(&client, &request.return_to);
    assert!(request.code_challenge.is_some(), "PKCE is required");
    assert!(request.scope.is_subset(&client.scope));
    assert!(
        request.pushed.is_none() && request.required_sub.is_none() || params.contains("claims")
    );
    let again = AuthorizationRequest::from_bytes(&request.to_bytes());
    assert_eq!(again.ok().as_ref(), Some(request));

    let facts = Facts {
        session: None,
        looked_up: LookedUp::default(),
        is_admin: false,
        // Pages that were passed do not replace a session.
        progress: Progress {
            logged_in_now: true,
            consented_now: true,
            account_selected: true,
        },
        required: &[],
        registry: &SERVER.registry,
        entry: None,
        now: NOW,
    };
    match decide(request, &client, &facts) {
        Step::Grant(_) => panic!("a code without a session"),
        Step::Forbid { .. } => panic!("a rule judges nobody before the login"),
        Step::Refuse(_) => {}
        Step::Stop(_) | Step::Login { .. } | Step::SelectAccount | Step::Consent { .. } => {
            assert!(!request.prompts.none, "prompt=none shows nothing");
        }
    }
}

/// Exact comparison, but for the port of a native client's loopback address (RFC 8252 section 7.3).
fn goes_home(client: &Client, to: &ReturnTo) {
    let loopback = to
        .redirect_uri
        .strip_prefix("http://127.0.0.1")
        .and_then(|rest| rest.strip_suffix("/callback"))
        .is_some_and(|port| {
            port.is_empty()
                || port
                    .strip_prefix(':')
                    .is_some_and(|port| port.parse::<u16>().is_ok())
        });
    match client.client_id.as_str() {
        "web" => assert_eq!(to.redirect_uri, "https://client.example/cb"),
        _ => assert!(loopback, "{}", to.redirect_uri),
    }
}

fn answer(to: &ReturnTo, response: &Response) {
    match response {
        Response::Redirect(url) => {
            assert!(url.starts_with(&format!("{}?", to.redirect_uri)));
            assert!(url.bytes().all(|byte| byte.is_ascii_graphic()), "{url:?}");
        }
        Response::FormPost { action, fields } => {
            assert_eq!(action, &to.redirect_uri);
            assert!(fields.iter().any(|(name, _)| *name == "iss"));
        }
    }
}

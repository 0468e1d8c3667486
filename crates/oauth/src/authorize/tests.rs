//! The rules of the authorization endpoint, one test each.
use super::*;
use crate::{
    client::{Client, ConsentPolicy, GrantType},
    error::ErrorCode,
    par,
    params::Params,
    redirect_uri::RedirectUri,
    registry::{Registry, Resource},
    scope::ScopeSet,
    session::{Consent, Session},
    settings::Settings,
    testing::{CHALLENGE, NOW, keyring, scope},
};
use proptest::prelude::*;
use signet_crypto::{Algorithm, SigningKey, VerifyingKey, seal::Keyring};
use signet_jose::jwt::{JwtSigner, Typ};
use std::sync::Arc;

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
    key: Arc<VerifyingKey>,
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
            access_token_lifetime: None,
            introspectors: Vec::new(),
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
        key: Arc::new(public),
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
        let keys = |kid: &str| (kid == "k1").then(|| self.key.clone());
        f(&Context {
            registry: &self.registry,
            settings: &self.settings,
            keyring: &self.keyring,
            keys: &keys,
            now: self.now,
        })
    }
    fn validate(&self, changes: &[(&str, &str)]) -> Result<AuthorizationRequest, AuthorizeError> {
        self.with_context(|c| validate(&params(changes), c))
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
        self.with_context(|c| par::push(&params(changes), self.client(), None, [9; 16], c))
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
    }
}

fn facts(session: Option<&Session>) -> Facts<'_> {
    Facts {
        session,
        consent: None,
        is_admin: false,
        progress: Progress::default(),
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

// --- checks ---

#[test]
fn a_good_request_is_read_whole() {
    let request = house().ok(&[
        ("nonce", "n"),
        ("response_mode", "form_post"),
        ("prompt", "login consent"),
        ("max_age", "60"),
        ("acr_values", "a b"),
        ("login_hint", "alice"),
        ("ui_locales", "de en"),
        ("display", "popup"),
        ("unknown", "ignored"),
        ("resource", "https://api.example"),
    ]);
    assert_eq!(request.return_to.state.as_deref(), Some("xyz"));
    assert_eq!(request.return_to.response_mode, ResponseMode::FormPost);
    assert!(request.prompts.login && request.prompts.consent);
    assert_eq!(request.max_age, Some(60));
    assert_eq!(request.resources, ["https://api.example"]);
    assert_eq!(request.code_challenge.as_deref(), Some(CHALLENGE));
    assert_eq!(
        AuthorizationRequest::from_bytes(&request.to_bytes()),
        Ok(request)
    );
}

#[test]
fn until_the_redirect_is_proven_an_error_is_a_page() {
    let h = house();
    for changes in [
        &[("client_id", "")][..],
        &[("client_id", "nobody")],
        &[("redirect_uri", "https://evil.example/cb")],
        &[("redirect_uri", "https://client.example/cb?x")],
        &[("redirect_uri", "https://client.example/cb/")],
        &[
            ("redirect_uri", "https://evil.example/cb"),
            ("response_type", "token"),
        ],
    ] {
        assert_eq!(h.page(changes), ErrorCode::InvalidRequest);
    }
    let disabled = house_with(|c| c.enabled = false);
    assert_eq!(disabled.page(&[]), ErrorCode::InvalidRequest);
}

#[test]
fn a_proven_redirect_hears_of_errors_with_its_state_and_mode() {
    let h = house();
    let Err(AuthorizeError::Redirect(back)) =
        h.validate(&[("response_type", "token"), ("response_mode", "form_post")])
    else {
        panic!("a proven redirect");
    };
    assert_eq!(back.error.code, ErrorCode::UnsupportedResponseType);
    assert_eq!(back.to.state.as_deref(), Some("xyz"));
    assert_eq!(back.to.response_mode, ResponseMode::FormPost);
}

#[test]
fn every_bad_parameter_has_its_error_code() {
    use ErrorCode::*;
    let h = house();
    let long = "x".repeat(3000);
    for (name, value, code) in [
        ("response_type", "", InvalidRequest),
        ("response_type", "code id_token", UnsupportedResponseType),
        ("response_type", "none", UnsupportedResponseType),
        ("response_mode", "fragment", InvalidRequest),
        ("state", &long, InvalidRequest),
        ("nonce", &long, InvalidRequest),
        ("scope", "nothing that exists", InvalidScope),
        ("scope", "open\"id", InvalidScope),
        ("request", "e30.e30.", RequestNotSupported),
        (
            "request_uri",
            "https://client.example/r.jwt",
            RequestUriNotSupported,
        ),
        ("registration", "{}", RegistrationNotSupported),
        ("prompt", "none login", InvalidRequest),
        ("prompt", "whatever", InvalidRequest),
        ("max_age", "-1", InvalidRequest),
        ("max_age", "1.5", InvalidRequest),
        ("max_age", "99999999999", InvalidRequest),
        ("claims", "{", InvalidRequest),
        ("claims", "[]", InvalidRequest),
        ("login_hint", &long, InvalidRequest),
        ("id_token_hint", "a.b.c", InvalidRequest),
        ("dpop_jkt", "short", InvalidRequest),
        ("resource", "https://unknown.example", InvalidTarget),
        ("resource", "https://other.example", InvalidTarget),
    ] {
        assert_eq!(h.redirected(&[(name, value)]), code, "{name}={value}");
    }
}

#[test]
fn pkce_is_s256_and_required() {
    let h = house();
    for changes in [
        &[("code_challenge", ""), ("code_challenge_method", "")][..],
        &[("code_challenge", "")],
        &[("code_challenge_method", "")],
        &[("code_challenge_method", "plain")],
        &[("code_challenge_method", "s256")],
        &[("code_challenge", "tooshort")],
        &[(
            "code_challenge",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c!",
        )],
    ] {
        assert_eq!(
            h.redirected(changes),
            ErrorCode::InvalidRequest,
            "{changes:?}"
        );
    }
    let none = [("code_challenge", ""), ("code_challenge_method", "")];
    let freed = house_with(|c| c.require_pkce = false);
    assert_eq!(freed.ok(&none).code_challenge, None);
    // A freed client that sends a challenge is held to it, and plain stays refused.
    assert!(freed.ok(&[]).code_challenge.is_some());
    freed.redirected(&[("code_challenge_method", "plain")]);
    let public = house_with(|c| {
        c.require_pkce = false;
        c.token_endpoint_auth_method = crate::client::AuthMethod::None;
    });
    assert_eq!(public.redirected(&none), ErrorCode::InvalidRequest);
}

#[test]
fn scope_is_narrowed_to_what_exists_and_is_allowed() {
    let h = house();
    let request = h.ok(&[("scope", "email openid unknown phone api:read")]);
    assert_eq!(request.scope.to_string(), "email openid api:read");
    // Without a scope: what is registered, but nothing that must be asked for.
    let request = h.ok(&[("scope", "")]);
    assert_eq!(request.scope.to_string(), "profile email api:read");
    let h = house_with(|c| c.grant_types = vec![GrantType::AuthorizationCode]);
    let request = h.ok(&[("scope", "openid offline_access")]);
    assert_eq!(request.scope.to_string(), "openid");
}

#[test]
fn a_client_without_the_code_grant_gets_none() {
    let h = house_with(|c| c.grant_types = vec![GrantType::ClientCredentials]);
    assert_eq!(h.redirected(&[]), ErrorCode::UnauthorizedClient);
}

#[test]
fn the_redirect_uri_may_be_left_out_only_without_openid() {
    let h = house();
    let request = h.ok(&[("redirect_uri", ""), ("scope", "api:read")]);
    assert!(!request.redirect_uri_was_sent);
    h.redirected(&[("redirect_uri", "")]);
    let two = house_with(|c| c.redirect_uris.push(c.redirect_uris[0].clone()));
    two.page(&[("redirect_uri", ""), ("scope", "api:read")]);
}

// --- pushed requests ---

#[test]
fn a_pushed_request_is_what_was_pushed_and_nothing_of_the_query() {
    let h = house();
    let uri = h.push(&[("nonce", "pushed")]).unwrap();
    let query = Params::from_pairs([
        ("client_id", "client"),
        ("request_uri", uri.as_str()),
        ("scope", "openid profile"),
        ("state", "other"),
        ("redirect_uri", "https://evil.example/cb"),
    ])
    .unwrap();
    let request = h.with_context(|c| validate(&query, c)).unwrap();
    assert_eq!(request.scope.to_string(), "openid email");
    assert_eq!(request.return_to.state.as_deref(), Some("xyz"));
    assert_eq!(request.nonce.as_deref(), Some("pushed"));
    assert_eq!(request.pushed.unwrap().id, [9; 16]);
}

#[test]
fn a_request_uri_is_for_its_client_and_its_time_and_must_be_ours() {
    let mut h = house();
    let other = Arc::new(a_client("other"));
    h.registry.clients.insert("other".into(), other);
    let uri = h.push(&[]).unwrap();
    let ask = |h: &House, client: &str, uri: &str| {
        let pairs = [("client_id", client), ("request_uri", uri)];
        let query = Params::from_pairs(pairs.into_iter().filter(|(_, v)| !v.is_empty())).unwrap();
        match h.with_context(|c| validate(&query, c)) {
            Ok(_) => None,
            Err(AuthorizeError::Page(e)) => Some(e.code),
            Err(e) => panic!("{e:?}"),
        }
    };
    assert_eq!(ask(&h, "client", &uri), None);
    assert_eq!(ask(&h, "", &uri), Some(ErrorCode::InvalidRequest));
    assert_eq!(ask(&h, "other", &uri), Some(ErrorCode::InvalidRequest));
    let altered = format!("{}A", &uri[..uri.len() - 1]);
    let altered = if altered == uri {
        format!("{}B", &uri[..uri.len() - 1])
    } else {
        altered
    };
    for bad in [
        altered.as_str(),
        par::URN,
        "urn:ietf:params:oauth:request_uri:AAAA",
    ] {
        assert_eq!(
            ask(&h, "client", bad),
            Some(ErrorCode::InvalidRequestUri),
            "{bad}"
        );
    }
    h.now += h.settings.par_lifetime;
    assert_eq!(ask(&h, "client", &uri), Some(ErrorCode::InvalidRequestUri));
}

#[test]
fn pushing_refuses_what_the_endpoint_would_refuse() {
    let h = house();
    for (name, value, code) in [
        (
            "request_uri",
            "urn:ietf:params:oauth:request_uri:x",
            ErrorCode::InvalidRequest,
        ),
        ("request", "x", ErrorCode::RequestNotSupported),
        ("redirect_uri", "", ErrorCode::InvalidRequest),
        (
            "redirect_uri",
            "https://evil.example",
            ErrorCode::InvalidRequest,
        ),
        ("client_id", "somebody", ErrorCode::InvalidRequest),
        (
            "response_type",
            "code token",
            ErrorCode::UnsupportedResponseType,
        ),
        ("code_challenge_method", "plain", ErrorCode::InvalidRequest),
        ("code_challenge", "", ErrorCode::InvalidRequest),
    ] {
        assert_eq!(h.push(&[(name, value)]), Err(code), "{name}={value}");
    }
}

#[test]
fn a_client_that_must_push_cannot_ask_directly() {
    let h = house_with(|c| c.require_pushed_authorization_requests = true);
    assert_eq!(h.redirected(&[]), ErrorCode::InvalidRequest);
    assert!(h.push(&[]).is_ok());
    let mut h = house();
    h.settings.require_pushed_authorization_requests = true;
    assert_eq!(h.redirected(&[]), ErrorCode::InvalidRequest);
}

#[test]
fn dpop_jkt_and_the_proof_of_the_pushing_agree() {
    let h = house();
    let push = |named: &str, proven: Option<&str>| {
        let p = params(&[("dpop_jkt", named)]);
        h.with_context(|c| validate_pushed(&p, h.client(), proven, c))
            .map(|r| r.dpop_jkt)
            .map_err(|e| e.code)
    };
    assert_eq!(push("", Some("proof-key")), Ok(Some("proof-key".into())));
    assert_eq!(push(CHALLENGE, None), Ok(Some(CHALLENGE.into())));
    assert_eq!(push(CHALLENGE, Some(CHALLENGE)), Ok(Some(CHALLENGE.into())));
    assert_eq!(
        push(CHALLENGE, Some("other")),
        Err(ErrorCode::InvalidDpopProof)
    );
}

// --- decisions ---

#[test]
fn no_parameter_makes_a_person_logged_in_or_consenting() {
    // Known fault A1: every name that another server has been seen to read.
    let h = house();
    let request = h.ok(&[
        ("confirmed", "true"),
        ("consent", "allow"),
        ("user_id", "alice"),
        ("sub", "alice"),
        ("session", "sid-1"),
        ("sid", "sid-1"),
        ("logged_in_now", "true"),
        ("consented_now", "1"),
        ("account_selected", "1"),
        ("is_admin", "true"),
        ("acr", acr::PASSWORD),
        ("auth_time", "1800000000"),
    ]);
    assert_eq!(request, h.ok(&[]));
    let step = decide(&request, h.client(), &facts(None));
    assert!(matches!(
        step,
        Step::Login {
            reason: LoginReason::NoSession,
            ..
        }
    ));
    let s = session();
    assert!(matches!(
        decide(&request, h.client(), &facts(Some(&s))),
        Step::Consent { .. }
    ));
}

#[test]
fn an_id_token_hint_never_counts_as_login() {
    let h = house();
    let payload =
        format!(r#"{{"iss":"{ISSUER}","sub":"alice","aud":"client","exp":1,"sid":"sid-1"}}"#);
    let hint = h.id_token(Typ::Jwt, &payload);
    let silent = h.ok(&[("id_token_hint", &hint), ("prompt", "none")]);
    assert_eq!(silent.required_sub.as_deref(), Some("alice"));
    assert_eq!(
        refused(&decide(&silent, h.client(), &facts(None))),
        ErrorCode::LoginRequired
    );
    let request = h.ok(&[("id_token_hint", &hint)]);
    assert!(matches!(
        decide(&request, h.client(), &facts(None)),
        Step::Login { .. }
    ));
    // And somebody else's session does not answer for the person that it names.
    let mut bob = session();
    bob.user_id = "bob".into();
    assert_eq!(
        refused(&decide(&silent, h.client(), &facts(Some(&bob)))),
        ErrorCode::LoginRequired
    );
    assert!(matches!(
        decide(&request, h.client(), &facts(Some(&bob))),
        Step::Login {
            reason: LoginReason::OtherUser,
            ..
        }
    ));
    let mut again = facts(Some(&bob));
    again.progress.logged_in_now = true;
    assert_eq!(
        refused(&decide(&request, h.client(), &again)),
        ErrorCode::LoginRequired
    );
}

#[test]
fn only_an_id_token_of_ours_for_this_client_is_a_hint() {
    let h = house();
    let good = format!(r#"{{"iss":"{ISSUER}","sub":"alice","aud":"client"}}"#);
    h.ok(&[("id_token_hint", &h.id_token(Typ::Jwt, &good))]);
    for (typ, payload) in [
        (Typ::AccessToken, good.clone()),
        (Typ::LogoutToken, good.clone()),
        (Typ::Jwt, good.replace("as.example", "evil.example")),
        (Typ::Jwt, good.replace("\"client\"", "\"another\"")),
        (Typ::Jwt, good.replace("\"alice\"", "7")),
    ] {
        h.redirected(&[("id_token_hint", &h.id_token(typ, &payload))]);
    }
    let stranger = house();
    h.redirected(&[("id_token_hint", &stranger.id_token(Typ::Jwt, &good))]);
}

#[test]
fn acr_says_what_was_done_and_not_what_was_asked_for() {
    let h = house();
    let s = session();
    let ids = CodeIds {
        id: [1; 16],
        grant_id: [2; 16],
        now_ms: NOW * 1000,
    };
    for asked in [
        "urn:example:gold",
        "urn:example:gold urn:signet:acr:email-code",
    ] {
        let request = h.ok(&[("acr_values", asked)]);
        let mut f = facts(Some(&s));
        f.progress.logged_in_now = true;
        f.progress.consented_now = true;
        let granted = granted(decide(&request, h.client(), &f));
        assert_eq!(granted.code(ids, &h.settings).acr, acr::PASSWORD);
    }
}

#[test]
fn an_essential_acr_is_reached_or_refused() {
    let h = house();
    let s = session();
    let claims = |class: &str| {
        format!(r#"{{"id_token":{{"acr":{{"essential":true,"values":["{class}"]}}}}}}"#)
    };
    let email = h.ok(&[("claims", &claims(acr::EMAIL_CODE))]);
    assert!(matches!(
        decide(&email, h.client(), &facts(Some(&s))),
        Step::Login {
            reason: LoginReason::StepUp,
            acr: Some(acr::EMAIL_CODE)
        }
    ));
    let mut f = facts(Some(&s));
    f.progress.logged_in_now = true;
    assert_eq!(
        refused(&decide(&email, h.client(), &f)),
        ErrorCode::UnmetAuthenticationRequirements
    );
    let gold = h.ok(&[("claims", &claims("urn:example:gold"))]);
    assert_eq!(
        refused(&decide(&gold, h.client(), &facts(Some(&s)))),
        ErrorCode::UnmetAuthenticationRequirements
    );
    let mut both = session();
    both.acr = acr::PASSWORD_AND_EMAIL_CODE.into();
    let mut f = facts(Some(&both));
    f.progress.consented_now = true;
    granted(decide(&email, h.client(), &f));
}

#[test]
fn prompt_none_answers_from_the_session_alone() {
    let h = house();
    let s = session();
    let request = h.ok(&[("prompt", "none")]);
    assert_eq!(
        refused(&decide(&request, h.client(), &facts(None))),
        ErrorCode::LoginRequired
    );
    assert_eq!(
        refused(&decide(&request, h.client(), &facts(Some(&s)))),
        ErrorCode::ConsentRequired
    );
    let consent = Consent {
        scope: scope("openid email profile"),
        claims: Vec::new(),
        granted_at: 1,
    };
    let mut f = facts(Some(&s));
    f.consent = Some(&consent);
    assert_eq!(
        granted(decide(&request, h.client(), &f)).scope(),
        &scope("openid email")
    );
    let aged = h.ok(&[("prompt", "none"), ("max_age", "50")]);
    assert_eq!(
        refused(&decide(&aged, h.client(), &f)),
        ErrorCode::LoginRequired
    );
}

#[test]
fn prompt_login_and_max_age_ask_again_and_are_content_with_a_fresh_login() {
    let h = house();
    let s = session();
    for (name, value, expected) in [
        ("prompt", "login", LoginReason::Prompt),
        ("max_age", "99", LoginReason::MaxAge),
        ("max_age", "0", LoginReason::MaxAge),
    ] {
        let request = h.ok(&[(name, value)]);
        match decide(&request, h.client(), &facts(Some(&s))) {
            Step::Login { reason, .. } => assert_eq!(reason, expected),
            other => panic!("{other:?}"),
        }
        let mut f = facts(Some(&s));
        f.progress.logged_in_now = true;
        assert!(matches!(
            decide(&request, h.client(), &f),
            Step::Consent { .. }
        ));
    }
    let request = h.ok(&[("max_age", "100")]);
    assert!(matches!(
        decide(&request, h.client(), &facts(Some(&s))),
        Step::Consent { .. }
    ));
    // The client's default counts where the request says nothing.
    let h = house_with(|c| c.default_max_age = Some(10));
    assert!(matches!(
        decide(&h.ok(&[]), h.client(), &facts(Some(&s))),
        Step::Login { .. }
    ));
}

#[test]
fn an_account_is_selected_before_consent() {
    let h = house();
    let s = session();
    let request = h.ok(&[("prompt", "select_account consent")]);
    let mut f = facts(Some(&s));
    assert_eq!(decide(&request, h.client(), &f), Step::SelectAccount);
    f.progress.account_selected = true;
    assert!(matches!(
        decide(&request, h.client(), &f),
        Step::Consent { .. }
    ));
    f.progress.consented_now = true;
    granted(decide(&request, h.client(), &f));
}

#[test]
fn consent_covers_what_was_agreed_to_and_no_more() {
    let h = house();
    let s = session();
    let consent = Consent {
        scope: scope("openid"),
        claims: vec!["name".into()],
        granted_at: 1,
    };
    let mut f = facts(Some(&s));
    f.consent = Some(&consent);
    match decide(&h.ok(&[]), h.client(), &f) {
        Step::Consent {
            new_scope, scope, ..
        } => {
            assert_eq!(new_scope.to_string(), "email");
            assert_eq!(scope.to_string(), "openid email");
        }
        other => panic!("{other:?}"),
    }
    let openid = ("scope", "openid");
    granted(decide(
        &h.ok(&[openid, ("claims", r#"{"userinfo":{"name":null}}"#)]),
        h.client(),
        &f,
    ));
    match decide(
        &h.ok(&[openid, ("claims", r#"{"userinfo":{"birthdate":null}}"#)]),
        h.client(),
        &f,
    ) {
        Step::Consent { claims, .. } => assert_eq!(claims, ["birthdate"]),
        other => panic!("{other:?}"),
    }
    // prompt=consent asks whatever was agreed to, and a first-party client is not asked.
    assert!(matches!(
        decide(&h.ok(&[openid, ("prompt", "consent")]), h.client(), &f),
        Step::Consent { .. }
    ));
    let first_party = house_with(|c| c.consent = ConsentPolicy::Implicit);
    granted(decide(
        &first_party.ok(&[]),
        first_party.client(),
        &facts(Some(&s)),
    ));
}

#[test]
fn a_native_apps_remembered_consent_does_not_count() {
    let h = house_with(|c| {
        c.token_endpoint_auth_method = crate::client::AuthMethod::None;
        c.redirect_uris = vec![RedirectUri::parse("http://127.0.0.1/cb", true).unwrap()];
    });
    let s = session();
    let consent = Consent {
        scope: scope("openid email"),
        claims: Vec::new(),
        granted_at: 1,
    };
    let mut f = facts(Some(&s));
    f.consent = Some(&consent);
    let request = h.ok(&[
        ("redirect_uri", "http://127.0.0.1:5000/cb"),
        ("prompt", "none"),
    ]);
    assert_eq!(
        refused(&decide(&request, h.client(), &f)),
        ErrorCode::ConsentRequired
    );
}

#[test]
fn the_admin_scope_needs_the_admin_flag() {
    let h = house();
    let s = session();
    let request = h.ok(&[("scope", "openid signet:admin")]);
    let mut f = facts(Some(&s));
    f.progress.consented_now = true;
    assert_eq!(
        granted(decide(&request, h.client(), &f))
            .scope()
            .to_string(),
        "openid"
    );
    f.is_admin = true;
    assert_eq!(
        granted(decide(&request, h.client(), &f))
            .scope()
            .to_string(),
        "openid signet:admin"
    );
    f.is_admin = false;
    let only = h.ok(&[("scope", "signet:admin")]);
    assert_eq!(
        refused(&decide(&only, h.client(), &f)),
        ErrorCode::AccessDenied
    );
}

#[test]
fn a_code_carries_the_public_session_id_and_the_sessions_facts() {
    let h = house();
    let s = session();
    let mut f = facts(Some(&s));
    f.progress.consented_now = true;
    let request = h.ok(&[
        ("nonce", "n"),
        ("claims", r#"{"userinfo":{"name":null},"x":1}"#),
    ]);
    let ids = CodeIds {
        id: [1; 16],
        grant_id: [2; 16],
        now_ms: NOW * 1000 + 7,
    };
    let code = granted(decide(&request, h.client(), &f)).code(ids, &h.settings);
    assert_eq!(
        (code.user_id.as_str(), code.sid.as_str()),
        ("alice", "sid-1")
    );
    assert_eq!(code.auth_time, s.auth_time);
    assert_eq!(code.expires_at, NOW + h.settings.code_lifetime);
    assert_eq!(
        code.claims.as_deref(),
        Some(r#"{"userinfo":{"name":null}}"#)
    );
    assert_eq!(code.code_challenge.as_deref(), Some(CHALLENGE));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn checking_any_request_never_panics_and_never_sends_to_a_strange_place(
        pairs in proptest::collection::vec((
            prop_oneof![
                Just("client_id"), Just("redirect_uri"), Just("response_type"), Just("scope"), Just("state"),
                Just("prompt"), Just("max_age"), Just("claims"), Just("request_uri"), Just("id_token_hint"),
                Just("acr_values"), Just("response_mode"), Just("resource"), Just("code_challenge"),
            ],
            prop_oneof![Just("client".to_owned()), Just("https://client.example/cb".to_owned()),
                Just("code".to_owned()), Just("openid".to_owned()), ".{0,40}"],
        ), 0..12),
    ) {
        thread_local!(static HOUSE: House = house());
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(n, v)| (*n, v.as_str())).collect();
        if let Ok(params) = Params::from_pairs(pairs) {
            HOUSE.with(|h| {
                let answer = h.with_context(|c| validate(&params, c));
                let to = match &answer {
                    Ok(request) => Some(&request.return_to),
                    Err(AuthorizeError::Redirect(back)) => Some(&back.to),
                    Err(AuthorizeError::Page(_)) => None,
                };
                assert!(to.is_none_or(|t| t.redirect_uri == "https://client.example/cb"));
                if let Ok(request) = &answer {
                    let s = session();
                    let _ = decide(request, h.client(), &facts(Some(&s)));
                    assert_eq!(AuthorizationRequest::from_bytes(&request.to_bytes()).as_ref(), Ok(request));
                    assert_ne!(request.scope, ScopeSet::EMPTY);
                }
            });
        }
    }
}

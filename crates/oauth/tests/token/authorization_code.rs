use crate::support::*;
use signet_oauth::authorize::redirect_uri::RedirectUri;
use signet_oauth::client::Client;
use signet_oauth::error::ErrorCode;
use signet_oauth::id::{CodeId, GrantId};
use signet_oauth::issued::sealed::AuthorizationCode;
use signet_oauth::token::decision::{Refresh, SingleUse};

fn try_code(
    code: &AuthorizationCode,
    form: impl FnOnce(&str) -> String,
) -> Result<signet_oauth::token::decision::Decision, ErrorCode> {
    let world = World::new();
    world
        .ask_as("web", &form(&code.seal(&world.keyring).unwrap()))
        .map_err(|error| error.code)
}

#[test]
fn a_code_gives_tokens_under_one_condition_that_comes_last() {
    let world = World::new();
    let key = ClientKey::new(None);
    let code = world.code("web").seal(&world.keyring).unwrap();
    let proof = key.proof("p-1", NOW, None, None);
    let decision = world
        .ask(
            &code_form(&code),
            Some(&basic("web", SECRET)),
            Some(&proof),
            None,
        )
        .unwrap();
    assert!(
        matches!(&decision.single_use[..], [SingleUse::DpopProof { .. }, SingleUse::Code { id, grant_id, family_end: Some(_), .. }] if *id == CodeId::new([1; 16]) && *grant_id == GrantId::new([2; 16]))
    );
    let issue = &decision.issue;
    assert_eq!(issue.access_token.grant_id, Some(GrantId::new([2; 16])));
    assert_eq!(
        issue.id_token.as_ref().unwrap().nonce.as_deref(),
        Some("n-1")
    );
    let Some(Refresh::New(refresh)) = &issue.refresh else {
        panic!("no refresh token")
    };
    assert_eq!(
        (refresh.generation, refresh.sid.as_deref()),
        (0, Some("sid-1"))
    );
    // a confidential client's refresh token is bound to the client, not to the key
    assert_eq!(refresh.confirmation, None);
}

/// OpenID Connect Core section 5.1 does not know `sid`: a client that has no use for it gets none.
#[test]
fn an_id_token_names_the_session_to_clients_with_a_logout_uri_or_that_ask_for_it() {
    let sid = |change: &dyn Fn(&mut Client), claims: Option<&str>| {
        let mut world = World::new();
        world.change("web", change);
        let code = AuthorizationCode {
            claims: claims.map(str::to_owned),
            ..world.code("web")
        };
        let form = code_form(&code.seal(&world.keyring).unwrap());
        let issue = world.ask_as("web", &form).unwrap().issue;
        // What ends it goes by it all the same.
        assert_eq!(issue.access_token.sid.as_deref(), Some("sid-1"));
        issue.id_token.unwrap().sid.is_some()
    };
    let uri = || Some("https://client.example/logout".to_owned());
    assert!(!sid(&|_| {}, None));
    assert!(sid(&|client| client.backchannel_logout_uri = uri(), None));
    assert!(sid(&|client| client.frontchannel_logout_uri = uri(), None));
    let out = || vec![RedirectUri::parse("https://client.example/out", false).unwrap()];
    assert!(sid(
        &|client| client.post_logout_redirect_uris = out(),
        None
    ));
    assert!(sid(&|_| {}, Some(r#"{"id_token":{"sid":null}}"#)));
    assert!(!sid(&|_| {}, Some(r#"{"userinfo":{"sid":null}}"#)));
}

/// Known fault A12: nothing is consumed for anybody but the code's owner, and only for a request
/// that is right in everything else.
#[test]
fn a_stranger_cannot_burn_a_code() {
    let world = World::new();
    let code = world.code("web").seal(&world.keyring).unwrap();
    assert_eq!(
        world.ask_as("another", &code_form(&code)).unwrap_err().code,
        ErrorCode::InvalidGrant
    );
    assert_eq!(
        world
            .ask(&code_form(&code), Some(&basic("web", "wrong")), None, None)
            .unwrap_err()
            .code,
        ErrorCode::InvalidClient
    );
    world.ask_as("web", &code_form(&code)).unwrap();
}

#[test]
fn the_verifier_must_fit_the_challenge() {
    let code = World::new().code("web");
    let with =
        |verifier: &'static str| move |wire: &str| code_form(wire).replace(VERIFIER, verifier);
    assert_eq!(
        try_code(&code, with("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXx")).unwrap_err(),
        ErrorCode::InvalidGrant
    );
    assert_eq!(
        try_code(&code, with("short")).unwrap_err(),
        ErrorCode::InvalidGrant
    );
    assert_eq!(
        try_code(&code, with("")).unwrap_err(),
        ErrorCode::InvalidGrant
    );
}

#[test]
fn a_verifier_where_no_challenge_was_sent_is_refused() {
    let code = AuthorizationCode {
        code_challenge: None,
        ..World::new().code("web")
    };
    assert_eq!(
        try_code(&code, code_form).unwrap_err(),
        ErrorCode::InvalidGrant
    );
    try_code(&code, |wire| {
        code_form(wire)
            .split("&code_verifier")
            .next()
            .unwrap()
            .to_owned()
    })
    .unwrap();
}

#[test]
fn the_redirect_uri_is_the_one_of_the_request() {
    let code = World::new().code("web");
    let without = |wire: &str| {
        code_form(wire).replace("redirect_uri=https://client.example/cb", "redirect_uri=")
    };
    assert_eq!(
        try_code(&code, without).unwrap_err(),
        ErrorCode::InvalidGrant
    );
    assert_eq!(
        try_code(&code, |wire| code_form(wire).replace("/cb", "/other")).unwrap_err(),
        ErrorCode::InvalidGrant
    );
    let unsent = AuthorizationCode {
        redirect_uri_was_sent: false,
        ..code
    };
    try_code(&unsent, without).unwrap();
}

#[test]
fn a_code_that_has_ended_or_was_never_ours_is_refused() {
    let code = World::new().code("web");
    assert_eq!(
        try_code(
            &AuthorizationCode {
                expires_at: NOW,
                ..code.clone()
            },
            code_form
        )
        .unwrap_err(),
        ErrorCode::InvalidGrant
    );
    let other = World::new();
    let foreign = code.seal(&other.keyring).unwrap();
    assert_eq!(
        World::new()
            .ask_as("web", &code_form(&foreign))
            .unwrap_err()
            .code,
        ErrorCode::InvalidGrant
    );
    assert_eq!(
        World::new()
            .ask_as("web", &code_form("junk"))
            .unwrap_err()
            .code,
        ErrorCode::InvalidGrant
    );
}

#[test]
fn a_code_bound_to_a_dpop_key_needs_that_key() {
    let world = World::new();
    let (own, other) = (ClientKey::new(None), ClientKey::new(None));
    let code = AuthorizationCode {
        dpop_jkt: Some(own.jkt()),
        ..world.code("web")
    }
    .seal(&world.keyring)
    .unwrap();
    let ask = |proof: Option<&str>| {
        world.ask(&code_form(&code), Some(&basic("web", SECRET)), proof, None)
    };
    ask(Some(&own.proof("a", NOW, None, None))).unwrap();
    assert_eq!(
        ask(Some(&other.proof("b", NOW, None, None)))
            .unwrap_err()
            .code,
        ErrorCode::InvalidGrant
    );
    assert_eq!(ask(None).unwrap_err().code, ErrorCode::InvalidGrant);
}

/// Known fault A7.
#[test]
fn a_revoked_grant_and_an_unreachable_index_both_refuse() {
    let world = World::new();
    let code = world.code("web").seal(&world.keyring).unwrap();
    *world.index.borrow_mut() = Index::Grant(GrantId::new([2; 16]));
    assert_eq!(
        world.ask_as("web", &code_form(&code)).unwrap_err().code,
        ErrorCode::InvalidGrant
    );
    *world.index.borrow_mut() = Index::User("user-1", NOW * 1000 - 1);
    assert_eq!(
        world.ask_as("web", &code_form(&code)).unwrap_err().code,
        ErrorCode::InvalidGrant
    );
    *world.index.borrow_mut() = Index::Down;
    let error = world.ask_as("web", &code_form(&code)).unwrap_err();
    assert_eq!(
        (error.code, error.status()),
        (ErrorCode::TemporarilyUnavailable, 503)
    );
}

/// Known fault A1: what only the server may set has no name in a request.
#[test]
fn parameters_that_only_the_server_sets_are_not_read() {
    let world = World::new();
    let code = world.code("web").seal(&world.keyring).unwrap();
    let form = format!(
        "{}&user_id=admin&sub=admin&sid=x&acr=high&auth_time=1&grant_id=x&cnf=x&scope=signet:admin&lifetime=99999999",
        code_form(&code)
    );
    let token = world.ask_as("web", &form).unwrap().issue.access_token;
    assert_eq!(
        (token.sub.as_str(), token.acr.as_deref()),
        ("user-1", Some("urn:signet:acr:password"))
    );
    assert_eq!(token.scope.to_string(), "openid profile api:read");
    assert_eq!(token.lifetime, world.settings.access_token_lifetime);
}

#[test]
fn offline_access_outlives_the_session_and_nothing_else_does() {
    let world = World::new();
    let code = AuthorizationCode {
        scope: scope("openid offline_access"),
        ..world.code("web")
    };
    let decision = world
        .ask_as("web", &code_form(&code.seal(&world.keyring).unwrap()))
        .unwrap();
    let Some(Refresh::New(refresh)) = decision.issue.refresh else {
        panic!("no refresh token")
    };
    assert_eq!(refresh.sid, None);
}

#[test]
fn a_resource_must_be_granted_and_narrows_the_token() {
    let world = World::new();
    let granted = AuthorizationCode {
        resources: vec![API.into()],
        ..world.code("web")
    };
    let decision = world
        .ask_as("web", &code_form(&granted.seal(&world.keyring).unwrap()))
        .unwrap();
    assert_eq!(decision.issue.access_token.audience, [API]);
    assert_eq!(decision.issue.access_token.lifetime, 120);
    let plain = world.code("web").seal(&world.keyring).unwrap();
    let asked = format!("{}&resource={API}", code_form(&plain));
    assert_eq!(
        world.ask_as("web", &asked).unwrap_err().code,
        ErrorCode::InvalidTarget
    );
}

/// Without `offline_access` a refresh family ends with the session that it began in, at the latest.
#[test]
fn a_refresh_family_does_not_outlive_its_session() {
    let world = World::new();
    let family_end = |scope_text: &str, session_ends_at: u64| {
        let code = AuthorizationCode {
            scope: scope(scope_text),
            session_ends_at,
            ..world.code("web")
        };
        let form = code_form(&code.seal(&world.keyring).unwrap());
        let decision = world.ask_as("web", &form).unwrap();
        let Some(Refresh::New(token)) = &decision.issue.refresh else {
            panic!("no refresh token")
        };
        assert!(token.expires_at <= token.family_expires_at);
        let Some(SingleUse::Code { family_end, .. }) = decision.single_use.last() else {
            panic!("no code")
        };
        assert_eq!(*family_end, Some(token.family_expires_at));
        token.family_expires_at
    };
    let lifetime = world.settings.refresh_token_lifetime;
    assert_eq!(family_end("openid", NOW + 60), NOW + 60);
    assert_eq!(family_end("openid", NOW + 2 * lifetime), NOW + lifetime);
    assert_eq!(
        family_end("openid offline_access", NOW + 60),
        NOW + lifetime
    );
}

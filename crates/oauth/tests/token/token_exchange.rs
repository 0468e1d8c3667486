use crate::support::*;
use signet_jose::jwt::Typ;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::id::{GrantId, read_jti};
use signet_oauth::issued::access_token::{TokenLookup, TokenState, VerifiedAccessToken};
use signet_oauth::issued::sealed::AuthorizationCode;
use signet_oauth::token::decision::Decision;

const EXCHANGE: &str = "grant_type=urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS: &str = "urn:ietf:params:oauth:token-type:access_token";

fn exchange(
    world: &World,
    client_id: &str,
    subject: &str,
    more: &str,
) -> Result<Decision, OAuthError> {
    world.ask_as(
        client_id,
        &format!("{EXCHANGE}&subject_token={subject}&subject_token_type={ACCESS}{more}"),
    )
}
fn delegate(
    world: &World,
    client_id: &str,
    subject: &str,
    actor: &str,
) -> Result<Decision, OAuthError> {
    exchange(
        world,
        client_id,
        subject,
        &format!("&actor_token={actor}&actor_token_type={ACCESS}"),
    )
}
fn facts(world: &World, token: &str) -> VerifiedAccessToken {
    match world.context().look_up(token) {
        TokenState::Valid(facts) => VerifiedAccessToken::clone(&facts),
        other => panic!("{other:?}"),
    }
}
/// Signs claims of our own making: what a correct server would never issue.
fn forge(world: &World, claims: &str) -> String {
    let common = format!(
        r#"{{"iss":"{ISSUER}","sub":"user-1","aud":"{ISSUER}","exp":{},"iat":{NOW},"jti":"AAAAAAAAAAAAAAAAAAAAAA","client_id":"web","scope":"openid api:read""#,
        NOW + 300
    );
    world.sign_payload(Typ::AccessToken, format!("{common}{claims}}}").as_bytes())
}

#[test]
fn a_delegation_names_its_actors_outermost_first() {
    let mut world = World::new();
    let subject = world.person_token("web", "openid api:read");
    let first = delegate(&world, "service", &subject, &world.client_token("service")).unwrap();
    assert_eq!(first.issue.issued_token_type, Some(ACCESS));
    assert!(first.issue.refresh.is_none() && first.issue.id_token.is_none());
    let token = &first.issue.access_token;
    assert_eq!(
        (token.sub.as_str(), token.client_id.as_str()),
        ("user-1", "service")
    );
    assert_eq!(token.act.as_deref(), Some(r#"{"sub":"service"}"#));
    // it ends with the grant and the session of its subject
    assert_eq!(
        (token.grant_id, token.sid.as_deref()),
        (Some(GrantId::new([2; 16])), Some("sid-1"))
    );

    let first = world.sign(&first);
    world.change("gateway", |client| {
        client.may_act_for = vec!["service".into()]
    });
    let second = delegate(&world, "gateway", &first, &world.client_token("gateway")).unwrap();
    assert_eq!(
        second.issue.access_token.act.as_deref(),
        Some(r#"{"sub":"gateway","act":{"sub":"service"}}"#)
    );
    // without an actor token the chain is kept
    let plain = exchange(&world, "gateway", &first, "").unwrap();
    assert_eq!(
        plain.issue.access_token.act.as_deref(),
        Some(r#"{"sub":"service"}"#)
    );
}

#[test]
fn the_chain_of_actors_is_bounded() {
    let world = World::new();
    let actor = world.client_token("service");
    let nested = |depth: usize| {
        forge(
            &world,
            &format!(
                r#","act":{}{{"sub":"a"}}{}"#,
                r#"{"sub":"a","act":"#.repeat(depth - 1),
                "}".repeat(depth - 1)
            ),
        )
    };
    delegate(&world, "service", &nested(7), &actor).unwrap();
    assert_eq!(
        delegate(&world, "service", &nested(8), &actor)
            .unwrap_err()
            .code,
        ErrorCode::InvalidRequest
    );
}

#[test]
fn scope_audience_and_end_are_only_narrowed() {
    let mut world = World::new();
    let subject = world.person_token("web", "openid profile api:read");
    let token = |more: &str| {
        exchange(&world, "service", &subject, more).map(|decision| decision.issue.access_token)
    };
    assert_eq!(
        token("").unwrap().scope.to_string(),
        "openid profile api:read"
    );
    assert_eq!(
        token("&scope=api:read").unwrap().scope.to_string(),
        "api:read"
    );
    assert_eq!(
        token("&scope=api:write").unwrap_err().code,
        ErrorCode::InvalidScope
    );
    assert_eq!(
        token(&format!("&audience={ISSUER}")).unwrap().audience,
        [ISSUER]
    );
    assert_eq!(
        token(&format!("&resource={API}")).unwrap_err().code,
        ErrorCode::InvalidTarget
    );
    assert_eq!(
        token("&audience=another").unwrap_err().code,
        ErrorCode::InvalidTarget
    );
    world.now_ms += 500_000;
    assert_eq!(
        exchange(&world, "service", &subject, "")
            .unwrap()
            .issue
            .access_token
            .lifetime,
        100
    );
}

#[test]
fn offline_access_and_administration_are_not_passed_on() {
    let world = World::new();
    let subject = world.person_token("web", "openid offline_access signet:admin");
    assert_eq!(
        exchange(&world, "service", &subject, "")
            .unwrap()
            .issue
            .access_token
            .scope
            .to_string(),
        "openid"
    );
    assert_eq!(
        exchange(&world, "service", &subject, "&scope=signet:admin")
            .unwrap_err()
            .code,
        ErrorCode::InvalidScope
    );
}

/// Known fault A3, and mixed input: one bad token spoils the request, whichever it is.
#[test]
fn expired_forged_revoked_and_unknown_tokens_are_refused_in_either_place() {
    let mut world = World::new();
    let foreign_world = World::new();
    let foreign = foreign_world.person_token("web", "openid");
    let expired = world.person_token("web", "openid");
    let expired_actor = world.client_token("service");
    world.now_ms += 700_000;
    let (subject, actor) = (
        world.person_token("web", "openid"),
        world.client_token("service"),
    );
    delegate(&world, "service", &subject, &actor).unwrap();
    let mut tampered = subject.clone().into_bytes();
    let last = tampered.len() - 10;
    tampered[last] ^= 1;
    let tampered = String::from_utf8(tampered).unwrap();
    let id_token = world.sign_payload(
        Typ::Jwt,
        format!(
            r#"{{"iss":"{ISSUER}","sub":"user-1","aud":"web","exp":{}}}"#,
            NOW + 9000
        )
        .as_bytes(),
    );
    for bad in [&expired, &foreign, &tampered, &id_token, "junk", "a.b.c"] {
        assert_eq!(
            delegate(&world, "service", bad, &actor).unwrap_err().code,
            ErrorCode::InvalidRequest
        );
        assert_eq!(
            delegate(&world, "service", &subject, bad).unwrap_err().code,
            ErrorCode::InvalidRequest
        );
    }
    assert_eq!(
        delegate(&world, "service", &subject, &expired_actor)
            .unwrap_err()
            .code,
        ErrorCode::InvalidRequest
    );
    for revoked in [&subject, &actor] {
        *world.index.borrow_mut() = Index::Clear;
        let jti = facts(&world, revoked).jti;
        *world.index.borrow_mut() = Index::Jti(jti);
        assert_eq!(
            delegate(&world, "service", &subject, &actor)
                .unwrap_err()
                .code,
            ErrorCode::InvalidRequest
        );
    }
    *world.index.borrow_mut() = Index::Down;
    assert_eq!(
        delegate(&world, "service", &subject, &actor)
            .unwrap_err()
            .code,
        ErrorCode::TemporarilyUnavailable
    );
}

/// Known fault A23.
#[test]
fn subject_and_actor_of_unrelated_contexts_are_not_joined() {
    let world = World::new();
    let subject = world.person_token("web", "openid");
    // a client that may not act for the subject's
    assert_eq!(
        exchange(&world, "another", &subject, "").unwrap_err().code,
        ErrorCode::InvalidRequest
    );
    // another client's token as actor
    assert_eq!(
        delegate(&world, "service", &subject, &world.client_token("another"))
            .unwrap_err()
            .code,
        ErrorCode::InvalidRequest
    );
    // another person as actor
    let code = AuthorizationCode {
        user_id: "user-2".into(),
        sid: "sid-2".into(),
        ..world.code("service")
    };
    let other = world.sign(
        &world
            .ask_as("service", &code_form(&code.seal(&world.keyring).unwrap()))
            .unwrap(),
    );
    assert_eq!(
        delegate(&world, "service", &subject, &other)
            .unwrap_err()
            .code,
        ErrorCode::InvalidRequest
    );
    // an actor who acts for somebody already
    let acting =
        world.sign(&delegate(&world, "service", &subject, &world.client_token("service")).unwrap());
    assert_eq!(
        delegate(&world, "service", &subject, &acting)
            .unwrap_err()
            .code,
        ErrorCode::InvalidRequest
    );
    // the client's own user's tokens, of its own client, are its own context
    delegate(&world, "service", &subject, &world.client_token("service")).unwrap();
}

#[test]
fn may_act_names_who_may() {
    let world = World::new();
    let actor = world.client_token("service");
    let subject = |may_act: &str| forge(&world, &format!(r#","may_act":{may_act}"#));
    delegate(&world, "service", &subject(r#"{"sub":"service"}"#), &actor).unwrap();
    for bad in [
        r#"{"sub":"another"}"#,
        "{}",
        r#"{"sub":"service","iss":"https://other.example"}"#,
        r#"{"client_id":"another"}"#,
    ] {
        assert_eq!(
            delegate(&world, "service", &subject(bad), &actor)
                .unwrap_err()
                .code,
            ErrorCode::InvalidRequest,
            "{bad}"
        );
        assert_eq!(
            exchange(&world, "service", &subject(bad), "")
                .unwrap_err()
                .code,
            ErrorCode::InvalidRequest,
            "{bad}"
        );
    }
}

#[test]
fn a_bound_token_is_not_exchanged_for_a_bearer_token() {
    let world = World::new();
    let key = ClientKey::new(None);
    let subject = forge(&world, &format!(r#","cnf":{{"jkt":"{}"}}"#, key.jkt()));
    assert_eq!(
        exchange(&world, "service", &subject, "").unwrap_err().code,
        ErrorCode::InvalidRequest
    );
    let form = format!("{EXCHANGE}&subject_token={subject}&subject_token_type={ACCESS}");
    let bound = world
        .ask(
            &form,
            Some(&basic("service", SECRET)),
            Some(&key.proof("a", NOW, None, None)),
            None,
        )
        .unwrap();
    assert!(bound.issue.access_token.confirmation.is_some());
}

#[test]
fn types_are_stated_and_supported() {
    let world = World::new();
    let subject = world.person_token("web", "openid");
    for bad in [
        "&actor_token=x",
        "&actor_token_type=x",
        "&requested_token_type=urn:ietf:params:oauth:token-type:refresh_token",
        "&requested_token_type=urn:ietf:params:oauth:token-type:saml2",
    ] {
        assert_eq!(
            exchange(&world, "service", &subject, bad).unwrap_err().code,
            ErrorCode::InvalidRequest,
            "{bad}"
        );
    }
    let jwt = "urn:ietf:params:oauth:token-type:jwt";
    assert_eq!(
        exchange(
            &world,
            "service",
            &subject,
            &format!("&requested_token_type={jwt}")
        )
        .unwrap()
        .issue
        .issued_token_type,
        Some(jwt)
    );
    let missing = format!("{EXCHANGE}&subject_token={subject}");
    assert_eq!(
        world.ask_as("service", &missing).unwrap_err().code,
        ErrorCode::InvalidRequest
    );
}

#[test]
fn an_exchange_gives_no_more_than_the_clients_own_record() {
    let mut world = World::new();
    let subject = world.sign(
        &world
            .ask_as("web", &{
                let code = AuthorizationCode {
                    scope: scope("openid profile api:read api:write"),
                    resources: vec![API.into()],
                    ..world.code("web")
                };
                code_form(&code.seal(&world.keyring).unwrap())
            })
            .unwrap(),
    );
    world.change("service", |client| client.scope = scope("api:read"));
    let narrowed = exchange(&world, "service", &subject, "").unwrap();
    let token = &narrowed.issue.access_token;
    assert_eq!(token.scope.to_string(), "api:read");
    assert_eq!(token.audience, [API]);
    for wider in ["api:write", "openid", "api:read+profile"] {
        let refused = exchange(&world, "service", &subject, &format!("&scope={wider}"));
        assert_eq!(
            refused.unwrap_err().code,
            ErrorCode::InvalidScope,
            "{wider}"
        );
    }
    world.change("service", |client| client.resources.clear());
    for asked in [
        "".to_owned(),
        format!("&audience={API}"),
        format!("&resource={API}"),
    ] {
        let refused = exchange(&world, "service", &subject, &asked);
        assert_eq!(
            refused.unwrap_err().code,
            ErrorCode::InvalidTarget,
            "{asked}"
        );
    }
    // The record opts out; power over the server is still the client's own or nobody's.
    world.change("service", |client| {
        client.unrestricted_token_exchange = true
    });
    let token = exchange(&world, "service", &subject, "").unwrap();
    assert_eq!(
        token.issue.access_token.scope.to_string(),
        "openid profile api:read api:write"
    );
}

#[test]
fn revoking_a_subject_token_ends_what_was_exchanged_from_it() {
    let mut world = World::new();
    world.change("gateway", |client| {
        client.may_act_for = vec!["service".into()]
    });
    let subject = world.person_token("web", "openid api:read");
    let first = world.sign(&exchange(&world, "service", &subject, "").unwrap());
    world.now_ms += 1;
    let second = world.sign(&exchange(&world, "gateway", &first, "").unwrap());
    let jti = facts(&world, &subject).jti;
    assert_eq!(
        facts(&world, &second).subject_jtis,
        [&facts(&world, &first).jti, &jti].map(|id| read_jti(id).unwrap())
    );
    *world.index.borrow_mut() = Index::Jti(jti);
    for token in [&subject, &first, &second] {
        let state = world.context().look_up(token);
        assert!(matches!(state, TokenState::Revoked(_)), "{state:?}");
    }
    // Not the other way round.
    *world.index.borrow_mut() = Index::Clear;
    let last = facts(&world, &second).jti;
    *world.index.borrow_mut() = Index::Jti(last);
    assert!(matches!(
        world.context().look_up(&first),
        TokenState::Valid(_)
    ));
}

use crate::support::*;
use signet_jose::jwt::Typ;
use signet_oauth::error::ErrorCode;
use signet_oauth::id::GrantId;
use signet_oauth::params::Params;
use signet_oauth::people::mapped_claims::Mapped;
use signet_oauth::token::decision::Refresh;
use signet_oauth::token::introspect::{self, Introspection};
use signet_oauth::token::revoke::{self, Revocation};

fn params(token: &str) -> Params {
    Params::from_pairs([("token", token)]).unwrap()
}
fn introspect(world: &World, caller: &str, token: &str) -> Introspection {
    introspect::decide(&world.context(), &world.client(caller), &params(token)).unwrap()
}
fn text(introspection: &Introspection) -> String {
    let mut out = Vec::new();
    introspection.write(ISSUER, &Mapped::default(), &mut out);
    String::from_utf8(out).unwrap()
}
fn refresh_token(world: &World) -> String {
    let decision = world
        .ask_as(
            "web",
            &code_form(&world.code("web").seal(&world.keyring).unwrap()),
        )
        .unwrap();
    match decision.issue.refresh {
        Some(Refresh::New(token)) => token.seal(&world.keyring).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_living_token_is_active_for_its_client() {
    let world = World::new();
    let token = world.person_token("web", "openid api:read");
    let answer = text(&introspect(&world, "web", &token));
    assert!(answer.starts_with(r#"{"active":true,"#), "{answer}");
    for member in [
        r#""sub":"user-1""#,
        r#""client_id":"web""#,
        r#""token_type":"Bearer""#,
        r#""scope":"openid api:read""#,
    ] {
        assert!(answer.contains(member), "{member} in {answer}");
    }
    // what is the server's own business
    assert!(
        !answer.contains("grant_id") && !answer.contains("sid-1"),
        "{answer}"
    );
}

#[test]
fn any_string_that_is_no_token_is_inactive() {
    let world = World::new();
    let id_token = world.sign_payload(Typ::Jwt, br#"{"iss":"https://as.example"}"#);
    let long = "a.".repeat(8000);
    for junk in [
        "x",
        "a.b.c",
        "..",
        "eyJ.eyJ.",
        &id_token,
        &long,
        "\u{e9}.\u{e9}.\u{e9}",
        "\u{e9}",
    ] {
        assert_eq!(
            text(&introspect(&world, "web", junk)),
            r#"{"active":false}"#
        );
    }
    let empty = Params::parse(b"token=").unwrap();
    let error = introspect::decide(&world.context(), &world.client("web"), &empty).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidRequest);
}

/// Known fault A11.
#[test]
fn only_callers_that_may_see_a_token_hear_of_it() {
    let world = World::new();
    let token = world.person_token("web", "openid");
    let active =
        |caller: &str, token: &str| introspect(&world, caller, token) != Introspection::Inactive;
    assert!(active("web", &token) && active("service", &token));
    assert!(!active("another", &token) && !active("gateway", &token));
    let for_api = world.sign(
        &world
            .ask_as(
                "web",
                &format!("grant_type=client_credentials&resource={API}"),
            )
            .unwrap(),
    );
    assert!(active("gateway", &for_api));
    assert!(!active("another", &for_api));
    let public =
        introspect::decide(&world.context(), &world.client("native"), &params(&token)).unwrap_err();
    assert_eq!(public.status(), 401);
}

/// Known fault A7.
#[test]
fn an_expired_or_revoked_token_is_inactive_and_an_unreachable_index_no_answer() {
    let mut world = World::new();
    let token = world.person_token("web", "openid");
    for index in [
        Index::Grant(GrantId::new([2; 16])),
        Index::User("user-1", world.now_ms),
    ] {
        *world.index.borrow_mut() = index;
        assert_eq!(introspect(&world, "web", &token), Introspection::Inactive);
    }
    // an epoch of the millisecond before does not concern it
    *world.index.borrow_mut() = Index::User("user-1", world.now_ms - 1);
    assert!(introspect(&world, "web", &token) != Introspection::Inactive);
    *world.index.borrow_mut() = Index::Down;
    let error =
        introspect::decide(&world.context(), &world.client("web"), &params(&token)).unwrap_err();
    assert_eq!(error.status(), 503);
    *world.index.borrow_mut() = Index::Clear;
    world.now_ms += 600_000;
    assert_eq!(introspect(&world, "web", &token), Introspection::Inactive);
}

#[test]
fn a_disabled_clients_tokens_are_inactive() {
    let mut world = World::new();
    let tokens = [world.person_token("web", "openid"), refresh_token(&world)];
    world.change("web", |client| client.enabled = false);
    for token in tokens {
        assert_eq!(
            introspect(&world, "service", &token),
            Introspection::Inactive
        );
    }
}

#[test]
fn a_refresh_token_is_active_only_at_its_familys_generation() {
    let world = World::new();
    let token = refresh_token(&world);
    let found = introspect(&world, "web", &token);
    assert_eq!(found.family(), Some(&GrantId::new([2; 16])));
    assert!(text(&found.clone().with_family(Some(0))).contains(r#""active":true"#));
    assert_eq!(found.clone().with_family(Some(1)), Introspection::Inactive);
    assert_eq!(found.with_family(None), Introspection::Inactive);
    assert_eq!(
        introspect(&world, "gateway", &token),
        Introspection::Inactive
    );
}

#[test]
fn a_bound_token_says_what_it_is_bound_to() {
    let world = World::new();
    let key = ClientKey::new(None);
    let decision = world
        .ask(
            "grant_type=client_credentials",
            Some(&basic("web", SECRET)),
            Some(&key.proof("a", NOW, None, None)),
            None,
        )
        .unwrap();
    let answer = text(&introspect(&world, "web", &world.sign(&decision)));
    assert!(
        answer.contains(&format!(
            r#""token_type":"DPoP","cnf":{{"jkt":"{}"}}"#,
            key.jkt()
        )),
        "{answer}"
    );
    let mut signed = Vec::new();
    introspect(&world, "web", "junk").write_signed(
        ISSUER,
        "web",
        NOW,
        &Mapped::default(),
        &mut signed,
    );
    assert_eq!(
        String::from_utf8(signed).unwrap(),
        format!(
            r#"{{"iss":"{ISSUER}","aud":"web","iat":{NOW},"token_introspection":{{"active":false}}}}"#
        )
    );
}

fn revoke(world: &World, client_id: &str, token: &str) -> Result<Revocation, ErrorCode> {
    revoke::decide(&world.context(), &world.client(client_id), &params(token))
        .map_err(|error| error.code)
}

/// Known faults A8 and A9.
#[test]
fn only_its_owner_revokes_a_token_and_only_a_real_one() {
    let world = World::new();
    let token = world.person_token("web", "openid");
    let Ok(Revocation::AccessToken { end, .. }) = revoke(&world, "web", &token) else {
        panic!("not revoked")
    };
    assert!(end > NOW + 600, "the entry outlives the token");
    assert_eq!(
        revoke(&world, "another", &token),
        Err(ErrorCode::UnauthorizedClient)
    );
    let foreign = World::new().person_token("web", "openid");
    let mut altered = token.clone().into_bytes();
    let last = altered.len() - 10;
    altered[last] ^= 1;
    for junk in [
        foreign.as_str(),
        std::str::from_utf8(&altered).unwrap(),
        "junk",
        "a.b.c",
    ] {
        assert_eq!(revoke(&world, "web", junk), Ok(Revocation::Nothing));
    }
}

#[test]
fn a_refresh_token_ends_its_whole_grant_even_after_rotation() {
    let mut world = World::new();
    let token = refresh_token(&world);
    assert_eq!(
        revoke(&world, "another", &token),
        Err(ErrorCode::UnauthorizedClient)
    );
    let Ok(Revocation::Grant {
        grant_id,
        end,
        user_id,
    }) = revoke(&world, "web", &token)
    else {
        panic!("not revoked")
    };
    assert_eq!(
        (grant_id, user_id.as_str()),
        (GrantId::new([2; 16]), "user-1")
    );
    assert!(
        end >= NOW + world.settings.refresh_token_lifetime + world.settings.access_token_lifetime
    );
    // past its idle end the family may still live by rotation
    world.now_ms += (world.settings.refresh_idle_lifetime + 10) * 1000;
    assert!(matches!(
        revoke(&world, "web", &token),
        Ok(Revocation::Grant { .. })
    ));
}

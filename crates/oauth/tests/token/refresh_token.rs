use crate::support::*;
use signet_oauth::client::RefreshRotation;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::id::GrantId;
use signet_oauth::issued::sealed::{Confirmation, RefreshToken};
use signet_oauth::token::decision::{Decision, Refresh, SingleUse};

fn token(world: &World, client_id: &str) -> RefreshToken {
    RefreshToken {
        grant_id: GrantId::new([2; 16]),
        generation: 3,
        client_id: client_id.into(),
        scope: scope("openid profile api:read"),
        resources: Vec::new(),
        user_id: "user-1".into(),
        sid: Some("sid-1".into()),
        auth_time: NOW - 3000,
        acr: "urn:signet:acr:password".into(),
        amr: vec!["pwd".into()],
        claims: None,
        confirmation: None,
        issued_at_ms: world.now_ms - 100_000,
        expires_at: NOW + 1000,
        family_expires_at: NOW + 5000,
    }
}

fn form(world: &World, token: &RefreshToken, more: &str) -> String {
    format!(
        "grant_type=refresh_token&refresh_token={}{more}",
        token.seal(&world.keyring).unwrap()
    )
}

fn ask(world: &World, token: &RefreshToken, more: &str) -> Result<Decision, OAuthError> {
    world.ask_as("web", &form(world, token, more))
}

#[test]
fn a_refresh_rotates_within_its_family() {
    let world = World::new();
    let decision = ask(&world, &token(&world, "web"), "").unwrap();
    assert_eq!(
        decision.single_use,
        [SingleUse::Rotate {
            grant_id: GrantId::new([2; 16]),
            from: 3,
            end: NOW + 5000,
            retry: None
        }]
    );
    let Some(Refresh::New(next)) = decision.issue.refresh else {
        panic!("not rotated")
    };
    assert_eq!(
        (next.generation, next.family_expires_at, next.issued_at_ms),
        (4, NOW + 5000, world.now_ms)
    );
    // the idle end never passes the family's
    assert_eq!(next.expires_at, NOW + 5000);
    // OpenID Connect Core section 12.2
    let id_token = decision.issue.id_token.unwrap();
    assert_eq!(
        (id_token.nonce, decision.issue.access_token.auth_time),
        (None, Some(NOW - 3000))
    );
}

/// Known fault A13: an old generation is not refused here, where the family would live on; the
/// store's refusal ends it.
#[test]
fn a_replay_reaches_the_condition_that_ends_the_family() {
    let world = World::new();
    let old = RefreshToken {
        generation: 0,
        ..token(&world, "web")
    };
    let decision = ask(&world, &old, "").unwrap();
    assert!(matches!(
        decision.single_use[..],
        [SingleUse::Rotate { from: 0, .. }]
    ));
}

#[test]
fn scope_is_narrowed_for_once_and_never_widened() {
    let world = World::new();
    let token = token(&world, "web");
    let decision = ask(&world, &token, "&scope=profile").unwrap();
    assert_eq!(decision.issue.access_token.scope.to_string(), "profile");
    assert!(decision.issue.id_token.is_none());
    let Some(Refresh::New(next)) = decision.issue.refresh else {
        panic!("not rotated")
    };
    assert_eq!(next.scope, token.scope);
    assert_eq!(
        ask(&world, &token, "&scope=openid+email").unwrap_err().code,
        ErrorCode::InvalidScope
    );
}

#[test]
fn a_scope_that_the_client_lost_is_not_given_again() {
    let mut world = World::new();
    world.change("web", |client| client.scope = scope("openid profile"));
    let decision = ask(&world, &token(&world, "web"), "").unwrap();
    assert_eq!(
        decision.issue.access_token.scope.to_string(),
        "openid profile"
    );
}

#[test]
fn another_clients_an_ended_and_a_revoked_token_are_refused() {
    let world = World::new();
    let good = token(&world, "web");
    for bad in [
        RefreshToken {
            client_id: "another".into(),
            ..good.clone()
        },
        RefreshToken {
            expires_at: NOW,
            ..good.clone()
        },
        RefreshToken {
            family_expires_at: NOW,
            ..good.clone()
        },
    ] {
        assert_eq!(
            ask(&world, &bad, "").unwrap_err().code,
            ErrorCode::InvalidGrant
        );
    }
    *world.index.borrow_mut() = Index::Grant(GrantId::new([2; 16]));
    assert_eq!(
        ask(&world, &good, "").unwrap_err().code,
        ErrorCode::InvalidGrant
    );
    *world.index.borrow_mut() = Index::User("user-1", world.now_ms);
    assert_eq!(
        ask(&world, &good, "").unwrap_err().code,
        ErrorCode::InvalidGrant
    );
}

/// Known fault A7.
#[test]
fn an_unreachable_index_refuses() {
    let world = World::new();
    *world.index.borrow_mut() = Index::Down;
    assert_eq!(
        ask(&world, &token(&world, "web"), "").unwrap_err().code,
        ErrorCode::TemporarilyUnavailable
    );
}

#[test]
fn a_public_clients_bound_token_needs_its_key() {
    let world = World::new();
    let (own, other) = (ClientKey::new(None), ClientKey::new(None));
    let bound = RefreshToken {
        confirmation: Some(Confirmation::Jkt(own.jkt())),
        ..token(&world, "native")
    };
    let form = form(&world, &bound, "");
    let decision = world
        .ask_public(&form, Some(&own.proof("a", NOW, None, None)))
        .unwrap();
    // a retry is answered only where a thief of the token could not make it
    assert!(matches!(
        decision.single_use[..],
        [
            SingleUse::DpopProof { .. },
            SingleUse::Rotate { retry: Some(_), .. }
        ]
    ));
    assert_eq!(
        world
            .ask_public(&form, Some(&other.proof("b", NOW, None, None)))
            .unwrap_err()
            .code,
        ErrorCode::InvalidGrant
    );
    assert_eq!(
        world.ask_public(&form, None).unwrap_err().code,
        ErrorCode::InvalidGrant
    );
}

#[test]
fn only_a_sender_constrained_confidential_client_keeps_its_token() {
    let mut world = World::new();
    for client_id in ["web", "native"] {
        world.change(client_id, |client| {
            client.refresh_rotation = RefreshRotation::Keep
        });
    }
    let key = ClientKey::new(None);
    let proof = |jti| key.proof(jti, NOW, None, None);
    let kept = world
        .ask(
            &form(&world, &token(&world, "web"), ""),
            Some(&basic("web", SECRET)),
            Some(&proof("a")),
            None,
        )
        .unwrap();
    assert!(matches!(kept.issue.refresh, Some(Refresh::Keep)));
    // kept, and still of the current generation
    assert!(matches!(
        kept.single_use[..],
        [_, SingleUse::Current { generation: 3, .. }]
    ));
    let bearer = ask(&world, &token(&world, "web"), "").unwrap();
    assert!(matches!(bearer.single_use[..], [SingleUse::Rotate { .. }]));
    let public = world
        .ask_public(
            &form(&world, &token(&world, "native"), ""),
            Some(&proof("b")),
        )
        .unwrap();
    assert!(matches!(
        public.single_use[..],
        [_, SingleUse::Rotate { .. }]
    ));
}

/// Who may repeat a rotation: {token bound, unbound} x {no proof, own key, other key} x {public,
/// confidential}.
#[test]
fn a_rotation_is_repeated_by_its_own_key_and_credential_alone() {
    let world = World::new();
    let (own, other) = (ClientKey::new(None), ClientKey::new(None));
    let retry = |client_id: &str, bound: bool, key: Option<&ClientKey>, jti: &str| {
        let token = RefreshToken {
            confirmation: bound.then(|| Confirmation::Jkt(own.jkt())),
            ..token(&world, client_id)
        };
        let form = form(&world, &token, "");
        let proof = key.map(|key| key.proof(jti, NOW, None, None));
        let decision = match client_id {
            "native" => world.ask_public(&form, proof.as_deref()),
            _ => world.ask(
                &form,
                Some(&basic(client_id, SECRET)),
                proof.as_deref(),
                None,
            ),
        };
        decision.map(|decision| match decision.single_use.last() {
            Some(SingleUse::Rotate { retry, .. }) => retry.map(|retry| {
                assert_eq!(retry.window, 10);
                retry.by
            }),
            other => panic!("{other:?}"),
        })
    };
    // A public client's unbound token: whoever holds it can bring a key of his own.
    for key in [None, Some(&own), Some(&other)] {
        assert_eq!(retry("native", false, key, "a"), Ok(None));
    }
    // A bound one is refused without its key, and repeated with it.
    for key in [None, Some(&other)] {
        let refused = retry("native", true, key, "b").unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidGrant);
    }
    let public = retry("native", true, Some(&own), "c").unwrap();
    assert!(public.is_some());
    assert_eq!(retry("native", true, Some(&own), "d"), Ok(public));
    // A confidential client's tokens are not bound; each key is another sender, and no key is none.
    assert_eq!(retry("web", false, None, "e"), Ok(None));
    let (first, again, second) = (
        retry("web", false, Some(&own), "f").unwrap(),
        retry("web", false, Some(&own), "g").unwrap(),
        retry("web", false, Some(&other), "h").unwrap(),
    );
    assert!(first.is_some() && first == again && first != second && first != public);
}

#[test]
fn another_credential_of_the_client_is_another_sender() {
    let mut world = World::new();
    let second = "another-secret-another-secret-another";
    world.change("web", |client| {
        client
            .secrets
            .push(signet_oauth::client::ClientSecret::Sha256 {
                hash: signet_crypto::hash::sha256(second.as_bytes()),
                expires_at: None,
            });
    });
    let key = ClientKey::new(None);
    let form = form(&world, &token(&world, "web"), "");
    let by = |secret: &str, jti: &str| {
        let proof = key.proof(jti, NOW, None, None);
        let decision = world.ask(&form, Some(&basic("web", secret)), Some(&proof), None);
        match decision.unwrap().single_use.last() {
            Some(SingleUse::Rotate { retry, .. }) => retry.unwrap().by,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(by(SECRET, "a"), by(SECRET, "b"));
    assert_ne!(by(SECRET, "c"), by(second, "d"));
}

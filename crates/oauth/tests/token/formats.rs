//! One claims model in two formats: what is true of a JWT is true of a compact token.
use crate::support::*;
use proptest::prelude::*;
use signet_compact::{Claim, Claims, Payload, Scopes, SigningKey, Version};
use signet_encoding::base64url;
use signet_oauth::client::Client;
use signet_oauth::error::ErrorCode;
use signet_oauth::id::{GrantId, Jti};
use signet_oauth::issued::access_token::{TokenLookup, TokenState, VerifiedAccessToken};
use signet_oauth::issued::format::{AccessTokenFormat, Stamp};
use signet_oauth::issued::sealed::{AuthorizationCode, Confirmation};
use signet_oauth::params::Params;
use signet_oauth::people::mapped_claims::Mapped;
use signet_oauth::token::decision::{AccessToken, ChainClaims, Decision};
use signet_oauth::token::introspect;
use std::sync::Arc;

const EXCHANGE: &str = "grant_type=urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS: &str = "urn:ietf:params:oauth:token-type:access_token";
const JWT: &str = "urn:ietf:params:oauth:token-type:jwt";
const OTHER: &str = "https://other.example";

/// A world whose client `web` gets compact tokens.
fn compact_world() -> World {
    let mut world = World::new();
    world.change("web", |web| {
        web.access_token_format = Some(AccessTokenFormat::Compact)
    });
    world
}

fn write(world: &World, token: &AccessToken, id: Jti) -> String {
    let stamp = Stamp {
        issuer: ISSUER,
        id,
        now: world.now(),
        mapped: &Mapped::default(),
    };
    let mut out = Vec::new();
    let format = token.format.implementation();
    format.write(token, &stamp, world, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn id(world: &World) -> Jti {
    Jti::new(*Stamp::id(world.now_ms, [7; 10]).as_bytes())
}

fn introspected(world: &World, token: &str) -> String {
    let params = Params::from_pairs([("token", token)]).unwrap();
    let found = introspect::decide(&world.context(), &world.client("service"), &params).unwrap();
    let mut out = Vec::new();
    found.write(ISSUER, &Mapped::default(), &mut out);
    String::from_utf8(out).unwrap()
}

fn facts(world: &World, token: &str) -> VerifiedAccessToken {
    match world.context().look_up(token) {
        TokenState::Valid(facts) => VerifiedAccessToken::clone(&facts),
        other => panic!("{other:?}"),
    }
}

/// Everything that a token can say.
fn full(world: &World) -> AccessToken {
    let code = AuthorizationCode {
        claims: Some(r#"{"userinfo":{"name":null}}"#.into()),
        ..world.code("web")
    };
    let form = code_form(&code.seal(&world.keyring).unwrap());
    let decision = world.ask_as("web", &form).unwrap();
    AccessToken {
        act: Some(r#"{"sub":"service","act":{"sub":"gateway"}}"#.into()),
        // A set has no order on the wire of compact tokens; this one has the same in both.
        scope: scope("api:read openid profile"),
        confirmation: Some(Confirmation::Jkt(base64url::encode(&[5; 32]))),
        chain: Some(Box::new(ChainClaims {
            grants: vec![[8; 32], [9; 32]],
            authorization_details: r#"[{"type":"signet_agent_capability"}]"#.into(),
        })),
        ..decision.issue.access_token
    }
}

#[test]
fn both_formats_give_the_same_facts_and_the_same_introspection_answer() {
    let world = compact_world();
    let compact = full(&world);
    assert_eq!(compact.format, AccessTokenFormat::Compact);
    let certificate = AccessToken {
        confirmation: Some(Confirmation::X5tS256(base64url::encode(&[6; 32]))),
        ..compact.clone()
    };
    let plain = world
        .ask_as("web", "grant_type=client_credentials")
        .unwrap();
    let plain = AccessToken {
        scope: scope("api:read api:write"),
        ..plain.issue.access_token
    };
    for token in [compact, certificate, plain] {
        let jwt = AccessToken {
            format: AccessTokenFormat::Jwt,
            ..token.clone()
        };
        let (compact, jwt) = (
            write(&world, &token, id(&world)),
            write(&world, &jwt, id(&world)),
        );
        assert!(compact.len() < jwt.len());
        assert_eq!(facts(&world, &compact), facts(&world, &jwt));
        let answer = introspected(&world, &compact);
        assert!(answer.starts_with(r#"{"active":true,"#), "{answer}");
        assert_eq!(answer, introspected(&world, &jwt));
    }
}

#[test]
fn both_formats_end_in_the_same_second() {
    let mut world = compact_world();
    let decision = world
        .ask_as("web", "grant_type=client_credentials")
        .unwrap();
    let compact = decision.issue.access_token;
    let jwt = AccessToken {
        format: AccessTokenFormat::Jwt,
        ..compact.clone()
    };
    let lifetime = compact.lifetime;
    let tokens = [compact, jwt].map(|token| write(&world, &token, id(&world)));
    world.now_ms += lifetime * 1000 - 1;
    assert!(
        tokens
            .iter()
            .all(|token| introspected(&world, token) != INACTIVE)
    );
    world.now_ms += 1;
    for token in tokens {
        assert!(matches!(
            world.context().look_up(&token),
            TokenState::Expired(_)
        ));
        assert_eq!(introspected(&world, &token), INACTIVE);
    }
}

const INACTIVE: &str = r#"{"active":false}"#;

#[test]
fn revoking_what_a_token_hangs_on_ends_it_in_both_formats() {
    let world = compact_world();
    let compact = full(&world);
    let jwt = AccessToken {
        format: AccessTokenFormat::Jwt,
        ..compact.clone()
    };
    for token in [compact, jwt].map(|token| write(&world, &token, id(&world))) {
        for index in [
            Index::Grant(GrantId::new([2; 16])),
            Index::User("user-1", world.now_ms),
        ] {
            *world.index.borrow_mut() = index;
            assert_eq!(introspected(&world, &token), INACTIVE);
        }
        *world.index.borrow_mut() = Index::Clear;
        assert_ne!(introspected(&world, &token), INACTIVE);
    }
}

#[test]
fn a_resource_asks_for_its_format_and_a_client_has_the_last_word() {
    let mut world = World::new();
    let ask = |world: &World, resources: &[&str]| {
        let resources: String = resources.iter().map(|r| format!("&resource={r}")).collect();
        let form = format!("grant_type=client_credentials{resources}");
        world
            .ask_as("web", &form)
            .map(|decision| decision.issue.access_token.format)
    };
    let mut resource = (*world.registry.resources[API]).clone();
    resource.access_token_format = Some(AccessTokenFormat::Compact);
    let mut other = resource.clone();
    other.identifier = OTHER.into();
    other.access_token_format = None;
    world
        .registry
        .resources
        .insert(API.into(), Arc::new(resource));
    world
        .registry
        .resources
        .insert(OTHER.into(), Arc::new(other));
    world.change("web", |web| web.resources = vec![API.into(), OTHER.into()]);

    assert_eq!(ask(&world, &[]).unwrap(), AccessTokenFormat::Jwt);
    assert_eq!(ask(&world, &[API]).unwrap(), AccessTokenFormat::Compact);
    assert_eq!(ask(&world, &[OTHER]).unwrap(), AccessTokenFormat::Jwt);
    // What only one of them asked for would shut the other out.
    assert_eq!(ask(&world, &[API, OTHER]).unwrap(), AccessTokenFormat::Jwt);
    world.change("web", |web| {
        web.access_token_format = Some(AccessTokenFormat::Jwt)
    });
    assert_eq!(ask(&world, &[API]).unwrap(), AccessTokenFormat::Jwt);
    // A compact token has one audience.
    world.change("web", |web| {
        web.access_token_format = Some(AccessTokenFormat::Compact)
    });
    assert_eq!(ask(&world, &[OTHER]).unwrap(), AccessTokenFormat::Compact);
    let error = ask(&world, &[API, OTHER]).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidTarget);
}

#[test]
fn what_a_compact_token_cannot_say_is_refused_before_anything_is_spent() {
    let mut world = compact_world();
    let many: Vec<String> = (0..33).map(|n| format!("s{n}")).collect();
    world.change("web", |web| web.scope = scope(&many.join(" ")));
    let error = world
        .ask_as("web", "grant_type=client_credentials")
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidRequest);
    let few = format!(
        "grant_type=client_credentials&scope={}",
        many[..32].join(" ")
    );
    let token = world.sign(&world.ask_as("web", &few).unwrap());
    assert_eq!(facts(&world, &token).scope.iter().count(), 32);
}

fn exchange(world: &World, subject: &str, kind: &str, more: &str) -> Decision {
    let form = format!("{EXCHANGE}&subject_token={subject}&subject_token_type={kind}{more}");
    world.ask_as("service", &form).unwrap()
}

#[test]
fn tokens_are_exchanged_from_one_format_to_the_other_and_back() {
    let mut world = compact_world();
    let compact = world.person_token("web", "openid api:read");
    let before = facts(&world, &compact);
    assert_eq!(
        AccessTokenFormat::of(&compact),
        Some(AccessTokenFormat::Compact)
    );

    let jwt = world.sign(&exchange(&world, &compact, ACCESS, ""));
    assert_eq!(AccessTokenFormat::of(&jwt), Some(AccessTokenFormat::Jwt));
    world.change("service", |service| {
        service.access_token_format = Some(AccessTokenFormat::Compact)
    });
    let again = world.sign(&exchange(&world, &jwt, ACCESS, ""));
    assert_eq!(
        AccessTokenFormat::of(&again),
        Some(AccessTokenFormat::Compact)
    );
    let actor = world.client_token("service");
    let actor = format!("&actor_token={actor}&actor_token_type={ACCESS}");
    let delegated = world.sign(&exchange(&world, &again, ACCESS, &actor));
    let after = facts(&world, &delegated);
    assert_eq!(after.act.as_deref(), Some(r#"{"sub":"service"}"#));
    let kept = |facts: &VerifiedAccessToken| {
        let mut scope: Vec<String> = facts.scope.iter().map(str::to_owned).collect();
        scope.sort();
        (
            facts.sub.clone(),
            scope,
            facts.grant_id,
            facts.sid.clone(),
            facts.exp,
        )
    };
    assert_eq!(kept(&after), kept(&before));

    // Who asks for a JWT gets one, and what is called a JWT must be one.
    let asked = exchange(
        &world,
        &again,
        ACCESS,
        &format!("&requested_token_type={JWT}"),
    );
    assert_eq!(asked.issue.access_token.format, AccessTokenFormat::Jwt);
    assert_eq!(asked.issue.issued_token_type, Some(JWT));
    exchange(&world, &jwt, JWT, "");
    let form = format!("{EXCHANGE}&subject_token={again}&subject_token_type={JWT}");
    let error = world.ask_as("service", &form).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidRequest);
}

/// What a correct server would never issue, under its own key.
fn forge(world: &World, version: Version, payload: &Payload<'_>) -> String {
    let mut bytes = Vec::new();
    world
        .compact
        .sign_into(version, payload, &mut bytes)
        .unwrap();
    base64url::encode(&bytes)
}

#[test]
fn a_compact_token_under_our_key_is_held_to_the_schema() {
    let world = World::new();
    let claim = |name, json| Claim { name, json };
    let id = id(&world);
    let good = [claim("client_id", r#""web""#)];
    let payload = Payload {
        expires_at: NOW + 100,
        issued_at: NOW,
        subject: "web",
        audience: API,
        issuer: ISSUER,
        token_id: Some(id.as_bytes()),
        claims: Claims::new(&good).unwrap(),
        ..Payload::default()
    };
    let look = |payload: &Payload<'_>| {
        world
            .context()
            .look_up(&forge(&world, Version::V1, payload))
    };
    assert!(matches!(look(&payload), TokenState::Valid(_)));
    for bad in [
        Payload {
            issuer: "https://other.example",
            ..payload
        },
        Payload {
            issuer: "",
            ..payload
        },
        Payload {
            audience: "",
            ..payload
        },
        Payload {
            subject: "",
            ..payload
        },
        Payload {
            token_id: None,
            ..payload
        },
        Payload {
            issued_at: 0,
            ..payload
        },
        Payload {
            claims: Claims::default(),
            ..payload
        },
    ] {
        assert_eq!(look(&bad), TokenState::Forged, "{bad:?}");
    }
    // A scope with a space in it cannot even be written: it would be two to whoever reads the JWT
    // of it.
    assert!(Scopes::new(&["two words"]).is_err());
    // A claim that has a field has it there alone; and JSON is one value of the claim's type.
    for bad in [
        claim("aud", r#""https://elsewhere.example""#),
        claim("cnf", r#"{"jkt":"x"}"#),
        claim("acr", "1"),
        claim("acr", r#""a" "b""#),
        claim("act", "[]"),
        claim("grant_id", r#""AAAA""#),
        claim("azp", "{"),
    ] {
        let mut claims = vec![good[0], bad];
        claims.sort_by_key(|claim| claim.name);
        let bad = Payload {
            claims: Claims::new(&claims).unwrap(),
            ..payload
        };
        assert_eq!(look(&bad), TokenState::Forged, "{claims:?}");
    }
    // Version 0 says neither issuer nor id: none of ours.
    let old = Payload {
        expires_at: NOW + 100,
        issued_at: NOW,
        subject: "web",
        audience: API,
        ..Payload::default()
    };
    let old = forge(&world, Version::V0, &old);
    assert_eq!(world.context().look_up(&old), TokenState::Forged);
}

#[test]
fn a_compact_token_of_another_key_is_none_of_ours() {
    let mut world = compact_world();
    let token = world.client_token("web");
    assert!(matches!(
        world.context().look_up(&token),
        TokenState::Valid(_)
    ));
    world.compact = SigningKey::generate(signet_compact::Algorithm::Ed25519).unwrap();
    let other = world.client_token("web");
    assert_eq!(world.context().look_up(&other), TokenState::Forged);
    assert_eq!(introspected(&world, &other), INACTIVE);
    world.compact = SigningKey::generate(signet_compact::Algorithm::HmacSha256).unwrap();
    let hmac = world.client_token("web");
    assert_eq!(introspected(&world, &hmac), INACTIVE);
}

#[test]
fn no_changed_bit_leaves_a_compact_token_active() {
    let world = compact_world();
    let token = write(&world, &full(&world), id(&world));
    let bytes = base64url::decode(token.as_bytes()).unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let changed = base64url::encode(&bytes);
        assert_eq!(introspected(&world, &changed), INACTIVE, "bit {bit}");
    }
    // One spelling: neither padding nor spare bits.
    for changed in [
        format!("{token}="),
        format!("{token}A"),
        format!(" {token}"),
    ] {
        assert_eq!(introspected(&world, &changed), INACTIVE);
    }
}

/// A sealed value has no access token's form.
#[test]
fn a_refresh_token_is_never_taken_for_a_compact_token() {
    let world = World::new();
    for _ in 0..500 {
        let sealed = world.code("web").seal(&world.keyring).unwrap();
        assert_eq!(AccessTokenFormat::of(&sealed), None);
    }
}

#[test]
fn a_clients_format_is_metadata_that_it_may_register() {
    let mut world = World::new();
    world.change("web", |web: &mut Client| {
        web.access_token_format = Some(AccessTokenFormat::Compact)
    });
    let text = world.client("web").to_json();
    let again = Client::from_json(&text).unwrap();
    assert_eq!(again.access_token_format, Some(AccessTokenFormat::Compact));
}

proptest! {
    #[test]
    fn looking_at_any_string_never_panics(text in "[A-Za-z0-9_.-]{0,200}") {
        let world = World::new();
        prop_assert_eq!(world.context().look_up(&text), TokenState::Forged);
    }
}

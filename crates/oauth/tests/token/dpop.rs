use crate::support::*;
use signet_jose::dpop::ath;
use signet_oauth::error::ErrorCode;
use signet_oauth::issued::access_token::{TokenLookup, TokenState};
use signet_oauth::params::Params;
use signet_oauth::request::{PeerCertificate, Request};
use signet_oauth::token::decision::SingleUse;
use signet_oauth::token::dpop_policy::{NONCE_LIFETIME, Scheme, check_presentation, new_nonce};

const CC: &str = "grant_type=client_credentials";

#[test]
fn a_proof_binds_the_token_and_is_seen_once() {
    let world = World::new();
    let key = ClientKey::new(None);
    let decision = world
        .ask(
            CC,
            Some(&basic("web", SECRET)),
            Some(&key.proof("p-1", NOW, None, None)),
            None,
        )
        .unwrap();
    assert_eq!(
        decision.single_use,
        [SingleUse::DpopProof {
            jkt: key.jkt(),
            jti: "p-1".into(),
            end: NOW + 91
        }]
    );
}

#[test]
fn an_old_or_broken_proof_is_refused() {
    let world = World::new();
    let key = ClientKey::new(None);
    for bad in [
        key.proof("a", NOW - 91, None, None),
        key.proof("a", NOW + 31, None, None),
        key.proof("", NOW, None, None),
        "x.y.z".into(),
    ] {
        let error = world
            .ask(CC, Some(&basic("web", SECRET)), Some(&bad), None)
            .unwrap_err();
        assert_eq!(
            (error.code, error.status()),
            (ErrorCode::InvalidDpopProof, 400)
        );
    }
}

#[test]
fn where_nonces_are_required_a_proof_without_a_fresh_one_is_sent_back() {
    let mut world = World::new();
    world.settings.dpop_nonce_required = true;
    let key = ClientKey::new(None);
    let ask = |world: &World, nonce: Option<&str>| {
        let proof = key.proof("a", world.now(), nonce, None);
        world
            .ask(CC, Some(&basic("web", SECRET)), Some(&proof), None)
            .map_err(|error| error.code)
    };
    assert_eq!(ask(&world, None).unwrap_err(), ErrorCode::UseDpopNonce);
    assert_eq!(
        ask(&world, Some("made-up")).unwrap_err(),
        ErrorCode::UseDpopNonce
    );
    let foreign = new_nonce(&World::new().keyring, NOW).unwrap();
    assert_eq!(
        ask(&world, Some(&foreign)).unwrap_err(),
        ErrorCode::UseDpopNonce
    );
    let nonce = new_nonce(&world.keyring, NOW).unwrap();
    ask(&world, Some(&nonce)).unwrap();
    world.now_ms += (NONCE_LIFETIME + 1) * 1000;
    assert_eq!(
        ask(&world, Some(&nonce)).unwrap_err(),
        ErrorCode::UseDpopNonce
    );
}

#[test]
fn a_client_that_must_bind_gets_no_bearer_token() {
    let mut world = World::new();
    world.change("web", |client| client.dpop_bound_access_tokens = true);
    assert_eq!(
        world.ask_as("web", CC).unwrap_err().code,
        ErrorCode::InvalidRequest
    );
    world.change("web", |client| {
        client.dpop_bound_access_tokens = false;
        client.tls_client_certificate_bound_access_tokens = true;
    });
    assert_eq!(
        world.ask_as("web", CC).unwrap_err().code,
        ErrorCode::InvalidRequest
    );
    let bound = world
        .ask(CC, Some(&basic("web", SECRET)), None, Some(&certificate(1)))
        .unwrap();
    assert!(bound.issue.access_token.confirmation.is_some());
}

#[test]
fn a_bound_token_is_no_bearer_token() {
    let world = World::new();
    let (key, other) = (ClientKey::new(None), ClientKey::new(None));
    let sign = |proof: Option<&str>| {
        world.sign(
            &world
                .ask(CC, Some(&basic("web", SECRET)), proof, None)
                .unwrap(),
        )
    };
    let (bound, plain) = (sign(Some(&key.proof("a", NOW, None, None))), sign(None));
    let params = Params::default();
    let present = |token: &str, scheme, proof: Option<&str>| {
        let TokenState::Valid(facts) = world.context().look_up(token) else {
            panic!("not valid")
        };
        let request = Request {
            params: &params,
            authorization: None,
            certificate: None,
            dpop: proof,
            htm: "POST",
            htu: HTU,
        };
        check_presentation(&world.context(), scheme, &request, token, &facts)
            .map_err(|error| (error.code, error.status()))
    };
    let proof = |key: &ClientKey, token: &str| key.proof("b", NOW, None, Some(&ath(token)));
    assert!(matches!(
        present(&bound, Scheme::Dpop, Some(&proof(&key, &bound))),
        Ok(Some(SingleUse::DpopProof { .. }))
    ));
    assert_eq!(present(&plain, Scheme::Bearer, None), Ok(None));
    assert_eq!(
        present(&bound, Scheme::Bearer, None),
        Err((ErrorCode::InvalidToken, 401))
    );
    assert_eq!(
        present(&bound, Scheme::Dpop, None),
        Err((ErrorCode::InvalidDpopProof, 401))
    );
    assert_eq!(
        present(&bound, Scheme::Dpop, Some(&proof(&key, &plain))),
        Err((ErrorCode::InvalidDpopProof, 401))
    );
    assert_eq!(
        present(&bound, Scheme::Dpop, Some(&proof(&other, &bound))),
        Err((ErrorCode::InvalidToken, 401))
    );
    assert_eq!(
        present(&plain, Scheme::Dpop, Some(&proof(&key, &plain))),
        Err((ErrorCode::InvalidToken, 401))
    );
}

#[test]
fn a_certificate_bound_token_needs_its_certificate() {
    let mut world = World::new();
    world.change("web", |client| {
        client.tls_client_certificate_bound_access_tokens = true
    });
    let token = world.sign(
        &world
            .ask(CC, Some(&basic("web", SECRET)), None, Some(&certificate(1)))
            .unwrap(),
    );
    let TokenState::Valid(facts) = world.context().look_up(&token) else {
        panic!("not valid")
    };
    let params = Params::default();
    let present = |seed: Option<u8>| {
        let certificate = seed.map(certificate);
        let certificate = certificate.as_ref().map(|certificate| PeerCertificate {
            certificate,
            trusted: false,
        });
        let request = Request {
            params: &params,
            authorization: None,
            certificate,
            dpop: None,
            htm: "GET",
            htu: HTU,
        };
        check_presentation(&world.context(), Scheme::Bearer, &request, &token, &facts).is_ok()
    };
    assert!(present(Some(1)));
    assert!(!present(Some(2)) && !present(None));
}

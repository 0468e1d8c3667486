use crate::support::*;
use signet_crypto::{Algorithm, SigningKey, hash::sha256};
use signet_encoding::base64url;
use signet_jose::{dpop, jwk::Jwk};
use signet_verify::{
    Binding, BuildError, Challenge, Policy, Presented, Proof, Refusal, Scheme, Verifier,
};

const URL: &str = "https://orders.example.com/orders/1";

struct Client {
    key: SigningKey,
    token: String,
    v: Verifier,
}

impl Client {
    fn new() -> Client {
        let key = SigningKey::generate(Algorithm::Es256).unwrap();
        let jkt = Jwk::new(key.public().unwrap().clone()).thumbprint_text();
        let token = access()
            .and(&format!(r#""cnf":{{"jkt":"{jkt}"}}"#))
            .signed();
        Client {
            key,
            token,
            v: verifier(),
        }
    }

    fn proof(
        &self,
        key: &SigningKey,
        jti: &str,
        method: &str,
        url: &str,
        iat: u64,
        token: &str,
    ) -> String {
        let mut jwk = Vec::new();
        Jwk::new(key.public().unwrap().clone())
            .write(&mut signet_encoding::json::Writer::new(&mut jwk));
        let jwk = String::from_utf8(jwk).unwrap();
        let header = format!(
            r#"{{"typ":"dpop+jwt","alg":"{}","jwk":{jwk}}}"#,
            key.algorithm().name()
        );
        let payload = format!(
            r#"{{"jti":"{jti}","htm":"{method}","htu":"{url}","iat":{iat},"ath":"{}"}}"#,
            dpop::ath(token)
        );
        sign_with(key, &header, payload.as_bytes())
    }

    fn good(&self, jti: &str) -> String {
        self.proof(&self.key, jti, "GET", URL, NOW, &self.token)
    }

    fn send(&self, proof: &str) -> Result<(), Refusal> {
        let value = format!("DPoP {}", self.token);
        let presented = Presented::authorization(&value).unwrap().proof(Proof {
            jwt: proof,
            method: "GET",
            url: URL,
        });
        self.v.verify(&presented, NOW).map(drop)
    }
}

#[test]
fn a_bound_token_as_bearer() {
    let client = Client::new();
    assert_eq!(client.send(&client.good("1")), Ok(()));
    let value = format!("Bearer {}", client.token);
    let presented = Presented::authorization(&value).unwrap();
    assert_eq!(
        client.v.verify(&presented, NOW).unwrap_err(),
        Refusal::Scheme
    );
    let proof = client.good("2");
    let proven = presented.proof(Proof {
        jwt: &proof,
        method: "GET",
        url: URL,
    });
    assert_eq!(client.v.verify(&proven, NOW).unwrap_err(), Refusal::Scheme);
    let value = format!("DPoP {}", client.token);
    assert_eq!(
        client
            .v
            .verify(&Presented::authorization(&value).unwrap(), NOW)
            .unwrap_err(),
        Refusal::ProofMissing
    );
    assert_eq!(
        verify(&client.v, &client.token).unwrap_err(),
        Refusal::ProofMissing
    );
}

#[test]
fn a_proof_for_another_method_url_token_or_moment() {
    let client = Client::new();
    let (key, token) = (&client.key, &client.token);
    assert_eq!(client.send(&client.good("1")), Ok(()));
    let other = "https://orders.example.com/orders/2";
    for (method, url, iat, token, reason) in [
        ("POST", URL, NOW, token.as_str(), Refusal::Proof),
        ("get", URL, NOW, token, Refusal::Proof),
        ("GET", other, NOW, token, Refusal::Proof),
        (
            "GET",
            "http://orders.example.com/orders/1",
            NOW,
            token,
            Refusal::Proof,
        ),
        ("GET", URL, NOW, "another", Refusal::Proof),
        ("GET", URL, NOW - 301, token, Refusal::ProofTime),
        ("GET", URL, NOW + 61, token, Refusal::ProofTime),
    ] {
        assert_eq!(
            client.send(&client.proof(key, "2", method, url, iat, token)),
            Err(reason),
            "{method} {url}"
        );
    }
    assert_eq!(
        client.send(&client.good("2")),
        Ok(()),
        "none of them used the id up"
    );
}

#[test]
fn a_proof_with_another_key() {
    let client = Client::new();
    assert_eq!(client.send(&client.good("1")), Ok(()));
    let thief = SigningKey::generate(Algorithm::Es256).unwrap();
    let proof = client.proof(&thief, "2", "GET", URL, NOW, &client.token);
    assert_eq!(client.send(&proof), Err(Refusal::ProofKey));
    // The right key named, the thief's signature.
    let good = client.good("3");
    let (header, payload, _) = parts(&good);
    let forged = format!("{header}.{payload}.{}", parts(&proof).2);
    assert_eq!(client.send(&forged), Err(Refusal::Proof));
    for junk in ["", "x", "a.b.c", &client.token] {
        assert_eq!(client.send(junk), Err(Refusal::Proof), "{junk}");
    }
}

#[test]
fn a_proof_a_second_time() {
    let client = Client::new();
    let proof = client.good("1");
    assert_eq!(client.send(&proof), Ok(()));
    assert_eq!(client.send(&proof), Err(Refusal::ProofReplayed));
    let value = format!("DPoP {}", client.token);
    let later = |now| {
        let presented = Presented::authorization(&value).unwrap().proof(Proof {
            jwt: &proof,
            method: "GET",
            url: URL,
        });
        client.v.verify(&presented, now).map(drop)
    };
    assert_eq!(later(NOW + 290), Err(Refusal::ProofReplayed));
}

#[test]
fn a_proof_without_a_nonce_of_this_verifier() {
    let mut client = Client::new();
    let demanding = || {
        Verifier::builder()
            .issuer(issuer())
            .policy(Policy::access_token(AUDIENCE).proof_nonces())
    };
    client.v = demanding().build().unwrap();
    let proof = |jti: &str, nonce: Option<&str>| {
        let jwk = Jwk::new(client.key.public().unwrap().clone());
        let mut text = Vec::new();
        jwk.write(&mut signet_encoding::json::Writer::new(&mut text));
        let text = String::from_utf8(text).unwrap();
        let header = format!(r#"{{"typ":"dpop+jwt","alg":"ES256","jwk":{text}}}"#);
        let nonce = nonce.map_or(String::new(), |nonce| format!(r#","nonce":"{nonce}""#));
        let payload = format!(
            r#"{{"jti":"{jti}","htm":"GET","htu":"{URL}","iat":{NOW},"ath":"{}"{nonce}}}"#,
            dpop::ath(&client.token)
        );
        sign_with(&client.key, &header, payload.as_bytes())
    };
    // RFC 9449 section 9: refused once, told the nonce, accepted with it.
    let refusal = client.send(&proof("1", None)).unwrap_err();
    assert_eq!(refusal, Refusal::ProofNonce);
    let policy = client.v.rules(client.v.default_policy());
    let challenge = Challenge::new(policy, refusal, Some(Scheme::Dpop));
    assert_eq!(challenge.status(), 401);
    let header = challenge.header().unwrap();
    assert!(
        header.starts_with(r#"DPoP error="use_dpop_nonce""#),
        "{header}"
    );
    let nonce = client.v.nonce_for(refusal, NOW).unwrap();
    assert_eq!(
        client.send(&proof("1", Some(&nonce))),
        Ok(()),
        "its id was not used up"
    );
    assert_eq!(
        client.send(&proof("1", Some(&nonce))),
        Err(Refusal::ProofReplayed)
    );
    // One that was made up, one that has ended, one of the future, one of another verifier.
    let ended = client.v.nonce_for(refusal, NOW - 301).unwrap();
    let future = client.v.nonce_for(refusal, NOW + 61).unwrap();
    let others = demanding()
        .build()
        .unwrap()
        .nonce_for(refusal, NOW)
        .unwrap();
    for (n, nonce) in ["", "x", &ended, &future, &others].into_iter().enumerate() {
        let refused = client.send(&proof(&format!("n{n}"), Some(nonce)));
        assert_eq!(refused, Err(Refusal::ProofNonce), "{nonce}");
    }
    // Verifiers with one key know each other's; a short one is none.
    let shared = || demanding().proof_nonce_key(&[7; 32]).build().unwrap();
    let nonce = shared().nonce_for(refusal, NOW).unwrap();
    let proof = proof("s", Some(&nonce));
    client.v = shared();
    assert_eq!(client.send(&proof), Ok(()));
    assert!(demanding().proof_nonce_key(&[7; 31]).build().is_err());
    assert_eq!(client.v.nonce_for(Refusal::Expired, NOW), None);
}

#[test]
fn another_certificate_than_the_tokens() {
    let thumbprint = sha256(b"certificate");
    let member = format!(
        r#""cnf":{{"x5t#S256":"{}"}}"#,
        base64url::encode(&thumbprint)
    );
    let token = access().and(&member).signed();
    let v = verifier();
    let with = |certificate: Option<[u8; 32]>| {
        let presented = Presented::token(&token);
        v.verify(
            &certificate.map_or(presented, |c| presented.certificate(c)),
            NOW,
        )
        .map(drop)
    };
    assert_eq!(with(Some(thumbprint)), Ok(()));
    assert_eq!(with(None), Err(Refusal::CertificateMissing));
    assert_eq!(with(Some(sha256(b"another"))), Err(Refusal::Certificate));
    let dpop = format!("DPoP {token}");
    let presented = Presented::authorization(&dpop)
        .unwrap()
        .certificate(thumbprint);
    assert_eq!(v.verify(&presented, NOW).unwrap_err(), Refusal::Scheme);
}

#[test]
fn a_confirmation_that_is_not_known() {
    let good = access();
    let v = verifier();
    for cnf in [
        "{}",
        r#"{"kid":"x"}"#,
        r#"{"jwk":{}}"#,
        r#"{"x5t#S512":"AA"}"#,
        r#"{"jkt":"AA","other":1}"#,
    ] {
        refused(
            &v,
            &good.signed(),
            &good.and(&format!(r#""cnf":{cnf}"#)).signed(),
            &[Refusal::UnknownConfirmation],
        );
    }
    refused(
        &v,
        &good.signed(),
        &good.and(r#""cnf":{"jkt":"AA"}"#).signed(),
        &[Refusal::ProofMissing],
    );
    refused(
        &v,
        &good.signed(),
        &good.and(r#""cnf":"AA""#).signed(),
        &[Refusal::Claims],
    );
}

#[test]
fn a_bearer_token_where_a_bound_one_is_due() {
    let client = Client::new();
    assert_eq!(client.send(&client.good("1")), Ok(()));
    for binding in [Binding::Dpop, Binding::Certificate, Binding::Either] {
        let v = verifier_of(Policy::access_token(AUDIENCE).binding(binding));
        assert_eq!(
            verify(&v, &access().signed()).unwrap_err(),
            Refusal::Unbound
        );
    }
    let v = verifier_of(Policy::access_token(AUDIENCE).binding(Binding::Certificate));
    assert_eq!(verify(&v, &client.token).unwrap_err(), Refusal::Unbound);
    let value = format!("DPoP {}", access().signed());
    assert_eq!(
        verifier()
            .verify(&Presented::authorization(&value).unwrap(), NOW)
            .unwrap_err(),
        Refusal::Scheme
    );
}

#[test]
fn two_tokens_in_one_authorization() {
    let token = access().signed();
    let v = verifier();
    for value in [
        format!("Bearer {token}"),
        format!("bearer  {token}"),
        format!("BEARER {token}"),
    ] {
        assert!(
            v.verify(&Presented::authorization(&value).unwrap(), NOW)
                .is_ok(),
            "{value}"
        );
    }
    for value in [
        format!("Bearer {token} {token}"),
        format!("Bearer {token},{token}"),
        "Bearer ".to_owned(),
        format!("Bearer\t{token}"),
        format!("Bearer {token}\n"),
    ] {
        assert!(Presented::authorization(&value).is_err(), "{value}");
    }
    for value in ["", "Basic YTpi", "Bearer", token.as_str()] {
        assert_eq!(
            Presented::authorization(value).unwrap_err(),
            Refusal::NoToken
        );
    }
}

#[test]
fn a_proof_again_after_the_verifier_was_replaced() {
    let mut client = Client::new();
    let used = client.good("1");
    assert_eq!(client.send(&used), Ok(()));
    let guard = client.v.replay_guard().clone();
    let next = |policy: Policy| {
        let builder = Verifier::builder().issuer(issuer()).policy(policy);
        builder.replay_guard(guard.clone()).build().unwrap()
    };
    for policy in [
        Policy::access_token(AUDIENCE),
        Policy::access_token(AUDIENCE).proof_max_age(3600),
        Policy::access_token(AUDIENCE).proof_max_age(60).leeway(0),
    ] {
        client.v = next(policy);
        assert_eq!(client.send(&used), Err(Refusal::ProofReplayed));
        assert_eq!(client.send(&client.good("1")), Err(Refusal::ProofReplayed));
    }
    assert_eq!(client.send(&client.good("2")), Ok(()));
    // A verifier without the guard has seen nothing: what is tested above is the guard.
    client.v = verifier();
    assert_eq!(client.send(&used), Ok(()));

    let token = logout().signed();
    assert!(verify(&next(Policy::logout_token("web")), &token).is_ok());
    assert_eq!(
        verify(&next(Policy::logout_token("web")), &token).unwrap_err(),
        Refusal::Replayed
    );
}

#[test]
fn a_proof_for_another_origin() {
    let mut client = Client::new();
    let policy = |origin: &str| Policy::access_token(AUDIENCE).origin(origin);
    client.v = verifier_of(policy("https://ORDERS.example.com:443").origin("http://[::1]:8080"));
    assert_eq!(client.send(&client.good("1")), Ok(()));
    let value = format!("DPoP {}", client.token);
    for (number, (url, expected)) in [
        ("https://orders.example.com/x", Ok(())),
        ("http://[::1]:8080/x", Ok(())),
        ("https://evil.example/orders/1", Err(Refusal::ProofOrigin)),
        (
            "http://orders.example.com/orders/1",
            Err(Refusal::ProofOrigin),
        ),
        (
            "https://orders.example.com:8443/",
            Err(Refusal::ProofOrigin),
        ),
        (
            "https://orders.example.com.evil.example/",
            Err(Refusal::ProofOrigin),
        ),
        (
            "https://orders.example.com@evil.example/",
            Err(Refusal::ProofOrigin),
        ),
        ("/orders/1", Err(Refusal::ProofOrigin)),
    ]
    .into_iter()
    .enumerate()
    {
        let jti = format!("n{number}");
        let proof = client.proof(&client.key, &jti, "GET", url, NOW, &client.token);
        let presented = Presented::authorization(&value).unwrap().proof(Proof {
            jwt: &proof,
            method: "GET",
            url,
        });
        assert_eq!(
            client.v.verify(&presented, NOW).map(drop),
            expected,
            "{url}"
        );
    }
    for none in ["", "orders.example.com", "ftp://a", "https://"] {
        let built = Verifier::builder()
            .issuer(issuer())
            .policy(policy(none))
            .build();
        assert!(
            matches!(built.err(), Some(BuildError::Policy { .. })),
            "{none}"
        );
    }
}

//! What the tests share: an issuer with a key of each algorithm, tokens to mutate, and verifiers
//! that accept them.
#![allow(dead_code, reason = "each test file uses its part")]

use signet_crypto::{Algorithm, SigningKey};
use signet_encoding::base64url;
use signet_jose::jwk::{Jwk, JwkSet, KeyUse};
use signet_verify::{Issuer, KeySource, Policy, Presented, Refusal, Verified, Verifier};
use std::sync::OnceLock;

pub const ISSUER: &str = "https://id.example.com";
pub const AUDIENCE: &str = "https://orders.example.com";
pub const NOW: u64 = 1_795_000_000;

/// A key of the algorithm, made once: RSA keys take their time.
pub fn key(algorithm: Algorithm) -> &'static SigningKey {
    static RSA: OnceLock<Vec<u8>> = OnceLock::new();
    static KEYS: OnceLock<Vec<(Algorithm, OnceLock<SigningKey>)>> = OnceLock::new();
    let keys = KEYS.get_or_init(|| {
        Algorithm::ALL
            .iter()
            .map(|a| (*a, OnceLock::new()))
            .collect()
    });
    let (_, slot) = keys.iter().find(|(own, _)| *own == algorithm).unwrap();
    slot.get_or_init(|| match algorithm.key_type() {
        signet_crypto::KeyType::Rsa => {
            let der = RSA.get_or_init(|| {
                let key = SigningKey::generate(Algorithm::Rs256).unwrap();
                key.to_private().unwrap().expose().clone()
            });
            SigningKey::from_private(algorithm, der).unwrap()
        }
        _ => SigningKey::generate(algorithm).unwrap(),
    })
}

pub fn kid(algorithm: Algorithm) -> String {
    format!("key-{}", algorithm.name())
}

pub fn jwk(algorithm: Algorithm) -> Jwk {
    Jwk::for_signatures(
        key(algorithm).public().unwrap().clone(),
        algorithm,
        &kid(algorithm),
    )
}

pub fn jwks(algorithms: &[Algorithm]) -> JwkSet {
    JwkSet {
        keys: algorithms.iter().map(|a| jwk(*a)).collect(),
    }
}

/// header.payload.signature, whatever header and payload say.
pub fn sign_with(key: &SigningKey, header: &str, payload: &[u8]) -> String {
    let mut token = base64url::encode(header.as_bytes()).into_bytes();
    token.push(b'.');
    base64url::encode_into(payload, &mut token);
    let mut signature = Vec::new();
    key.sign_into(&token, &mut signature).unwrap();
    token.push(b'.');
    base64url::encode_into(&signature, &mut token);
    String::from_utf8(token).unwrap()
}

pub fn sign(header: &str, payload: &str) -> String {
    sign_with(key(Algorithm::Es256), header, payload.as_bytes())
}

/// A token of the test issuer as text, before it is signed.
#[derive(Clone)]
pub struct Made {
    pub header: String,
    pub payload: String,
}

pub fn access() -> Made {
    Made {
        header: r#"{"alg":"ES256","typ":"at+jwt","kid":"key-ES256"}"#.to_owned(),
        payload: format!(
            r#"{{"iss":"{ISSUER}","sub":"alice","aud":"{AUDIENCE}","client_id":"web","jti":"t-1","scope":"orders read","iat":{},"exp":{}}}"#,
            NOW - 10,
            NOW + 300
        ),
    }
}

pub fn id() -> Made {
    Made {
        header: r#"{"alg":"ES256","typ":"JWT","kid":"key-ES256"}"#.to_owned(),
        payload: format!(
            r#"{{"iss":"{ISSUER}","sub":"alice","aud":"web","nonce":"n-1","auth_time":{},"iat":{},"exp":{}}}"#,
            NOW - 20,
            NOW - 10,
            NOW + 300
        ),
    }
}

pub fn logout() -> Made {
    Made {
        header: r#"{"alg":"ES256","typ":"logout+jwt","kid":"key-ES256"}"#.to_owned(),
        payload: format!(
            r#"{{"iss":"{ISSUER}","sub":"alice","aud":"web","jti":"l-1","iat":{},"exp":{},"events":{{"http://schemas.openid.net/event/backchannel-logout":{{}}}}}}"#,
            NOW - 10,
            NOW + 120
        ),
    }
}

impl Made {
    pub fn signed(&self) -> String {
        sign(&self.header, &self.payload)
    }

    pub fn with_header(&self, from: &str, to: &str) -> Made {
        assert!(
            self.header.contains(from),
            "{from} is not in {}",
            self.header
        );
        Made {
            header: self.header.replacen(from, to, 1),
            ..self.clone()
        }
    }

    pub fn with(&self, from: &str, to: &str) -> Made {
        assert!(
            self.payload.contains(from),
            "{from} is not in {}",
            self.payload
        );
        Made {
            payload: self.payload.replacen(from, to, 1),
            ..self.clone()
        }
    }

    /// With further members at the end.
    pub fn and(&self, members: &str) -> Made {
        let body = self.payload.strip_suffix('}').unwrap();
        Made {
            payload: format!("{body},{members}}}"),
            ..self.clone()
        }
    }

    pub fn and_header(&self, members: &str) -> Made {
        let body = self.header.strip_suffix('}').unwrap();
        Made {
            header: format!("{body},{members}}}"),
            ..self.clone()
        }
    }
}

pub fn issuer() -> Issuer {
    Issuer::new(
        ISSUER,
        KeySource::Memory(jwks(&[Algorithm::Es256, Algorithm::EdDsa])),
    )
}

pub fn verifier_of(policy: Policy) -> Verifier {
    Verifier::builder()
        .issuer(issuer())
        .policy(policy)
        .build()
        .unwrap()
}

pub fn verifier() -> Verifier {
    verifier_of(Policy::access_token(AUDIENCE).leeway(0))
}

pub fn verify(verifier: &Verifier, token: &str) -> Result<Verified, Refusal> {
    verifier.verify(&Presented::token(token), NOW)
}

/// The rule of every attack: the token is accepted, its mutation is refused, for one of these
/// reasons; and the token is accepted still.
#[track_caller]
pub fn refused(verifier: &Verifier, good: &str, mutated: &str, reasons: &[Refusal]) {
    assert!(
        verify(verifier, good).is_ok(),
        "the token to start from: {:?}",
        verify(verifier, good)
    );
    assert_ne!(good, mutated);
    let answer = verify(verifier, mutated).map(|_| "accepted");
    let shown = &mutated[..mutated.len().min(300)];
    match answer {
        Ok(what) => panic!("{what}: {shown}"),
        Err(reason) => assert!(reasons.contains(&reason), "{reason:?} for {shown}"),
    }
    assert!(verify(verifier, good).is_ok());
}

/// The three parts, encoded.
pub fn parts(token: &str) -> (String, String, String) {
    let mut parts = token.split('.').map(str::to_owned);
    let mut next = || parts.next().unwrap();
    (next(), next(), next())
}

pub fn encode(text: impl AsRef<[u8]>) -> String {
    base64url::encode(text.as_ref())
}

pub fn decode(text: &str) -> Vec<u8> {
    base64url::decode(text.as_bytes()).unwrap()
}

pub fn enc_jwk(mut jwk: Jwk) -> Jwk {
    jwk.key_use = Some(KeyUse::Encryption);
    jwk
}

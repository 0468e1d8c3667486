//! The verifier's one entry point. Rules: nothing panics; of tokens under an issuer's public key
//! only the one that the issuer signed is accepted, whatever is made of it; and a token that
//! whoever has the secret signed is accepted only if issuer, audience and end hold.

use std::sync::OnceLock;

use signet_crypto::{Algorithm, SigningKey};
use signet_encoding::base64url;
use signet_jose::jwk::JwkSet;
use signet_verify::{Issuer, KeySource, Policy, Presented, Proof, Refusal, Verifier};

const ISSUER: &str = "https://as.example";
const AUDIENCE: &str = "https://api.example";
const NOW: u64 = 1_794_999_000;
const SECRET: &[u8] = b"a secret of at least thirty-two bytes";
/// The key of RFC 8037 appendix A, and a token of it (`vectors/jose/tokens.json`, the first).
const KEYS: &[u8] = br#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"k1"}]}"#;
const TOKEN: &str = include_str!("../../corpus/verifier/access.jwt");

struct Fixture {
    public: Verifier,
    secret: Verifier,
    key: SigningKey,
}

fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let keys = KeySource::Memory(JwkSet::parse(KEYS).expect("a good set"));
        let public = Verifier::builder()
            .issuer(Issuer::new(ISSUER, keys))
            .policy(Policy::plain_access_token(AUDIENCE).leeway(0))
            .policy(
                Policy::access_token(AUDIENCE)
                    .named("strict")
                    .proof_nonces(),
            )
            .policy(Policy::id_token(AUDIENCE).named("id"))
            .policy(Policy::logout_token(AUDIENCE).named("logout"));
        let source = KeySource::Secret {
            kid: None,
            algorithm: Algorithm::Hs256,
            secret: SECRET.to_vec(),
        };
        let secret = Verifier::builder()
            .issuer(Issuer::new(ISSUER, source))
            .policy(
                Policy::plain_access_token(AUDIENCE)
                    .leeway(0)
                    .algorithms(&[Algorithm::Hs256]),
            );
        let fixture = Fixture {
            public: public.build().expect("a good configuration"),
            secret: secret.build().expect("a good configuration"),
            key: SigningKey::from_private(Algorithm::Hs256, SECRET).expect("long enough"),
        };
        let accepted = fixture.public.verify(&Presented::token(TOKEN.trim()), NOW);
        assert!(accepted.is_ok(), "the token to start from: {accepted:?}");
        fixture
    })
}

/// One input.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return signed(data);
    };
    presented(text);
    signed(data);
}

/// The text as a token, as a header field, and as what stands beside a token.
fn presented(text: &str) {
    let Fixture { public, .. } = fixture();
    let good = TOKEN.trim();
    for name in ["default", "strict", "id", "logout"] {
        let policy = public.policy(name).expect("it was built with it");
        let outcome = public.verify_under(policy, &Presented::token(text), NOW);
        assert!(
            outcome.is_err() || (text == good && name == "default"),
            "accepted as {name}: {text}"
        );
    }
    if let Ok(presented) = Presented::authorization(text) {
        if let Ok(verified) = public.verify(&presented, NOW) {
            assert!(text.ends_with(good), "{text}");
            assert_eq!(verified.claims().iss(), Some(ISSUER));
        }
    }
    let beside = Presented::token(good)
        .nonce(text)
        .access_token(text)
        .code(text);
    let proof = Proof {
        jwt: text,
        method: text,
        url: text,
    };
    let _ = public.verify(&beside.proof(proof), NOW);
}

/// The input as header and payload, parted by the first line break, signed by whoever has the
/// secret: behind the signature, claims are read by the same rules.
fn signed(data: &[u8]) {
    let Fixture { secret, key, .. } = fixture();
    let (header, payload) = match data.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (&br#"{"alg":"HS256"}"#[..], data),
    };
    let mut token = base64url::encode(header).into_bytes();
    token.push(b'.');
    base64url::encode_into(payload, &mut token);
    let mut signature = Vec::new();
    if key.sign_into(&token, &mut signature).is_err() {
        return;
    }
    token.push(b'.');
    base64url::encode_into(&signature, &mut token);
    let token = String::from_utf8(token).expect("base64url");
    match secret.verify(&Presented::token(&token), NOW) {
        Ok(verified) => {
            let claims = verified.claims();
            assert_eq!(claims.iss(), Some(ISSUER));
            assert!(claims.has_audience(AUDIENCE));
            assert!(claims.exp().is_some_and(|exp| exp > NOW));
            assert!(claims.nbf().is_none_or(|nbf| nbf <= NOW));
            assert_eq!(claims.json().as_bytes(), payload);
            assert!(claims.object().is_some(), "it is strict JSON");
            let again = secret.verify(&Presented::token(&token), NOW);
            assert!(again.is_ok(), "a cached answer is the same answer");
        }
        Err(refusal) => assert_ne!(refusal, Refusal::Signature, "it is signed"),
    }
}

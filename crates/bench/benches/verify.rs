//! The validation library, each case beside the bare signature check of the same algorithm in the same run.
//!
//! `cargo bench -p signet-bench --bench verify`. A fresh token is one that the verifier never saw (no cache); a cached one was seen before;
//! refused ones stand for what a flood of junk costs.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use signet_crypto::{Algorithm, SigningKey};
use signet_jose::{
    jwk::{Jwk, JwkSet},
    jws,
    jwt::{JwtSigner, Typ},
};
use signet_verify::{Issuer, KeySource, Policy, Presented, Verifier};
use std::hint::black_box;

const ISSUER: &str = "https://id.example.com";
const AUDIENCE: &str = "https://orders.example.com";
const NOW: u64 = 1_795_000_000;
/// Different tokens and keys, so that no branch or cache is trained on one signature.
const TOKENS: usize = 64;
const SECRET: &[u8] = b"a secret of sixty-four bytes that nobody but the two of them has";

struct Case {
    algorithm: Algorithm,
    source: KeySource,
    tokens: Vec<String>,
    key: signet_crypto::VerifyingKey,
}

fn case(algorithm: Algorithm) -> Case {
    let key = match algorithm.is_symmetric() {
        true => SigningKey::from_private(algorithm, SECRET),
        false => SigningKey::generate(algorithm),
    }
    .expect("a key");
    let verifying = key.verifying_key().expect("its other half");
    let source = match key.public() {
        Some(public) => KeySource::Memory(JwkSet {
            keys: vec![Jwk::for_signatures(public.clone(), algorithm, "k1")],
        }),
        None => KeySource::Secret {
            kid: Some("k1".into()),
            algorithm,
            secret: SECRET.to_vec(),
        },
    };
    let signer = JwtSigner::new(key, "k1");
    let token = |n: usize| {
        signer.sign(Typ::AccessToken, |w| {
            w.member("iss").string(ISSUER);
            w.member("sub").string("248289761001");
            w.member("aud").string(AUDIENCE);
            w.member("exp").number(NOW + 600);
            w.member("iat").number(NOW);
            w.member("jti").string(&format!("AaH8mfJ1qzIdsTgm0Z{n:04}"));
            w.member("client_id").string("web");
            w.member("scope").string("openid orders:read orders:write");
        })
    };
    Case {
        algorithm,
        source,
        tokens: (0..TOKENS).map(|n| token(n).expect("a token")).collect(),
        key: verifying,
    }
}

fn verifier(case: &Case, cached: bool) -> Verifier {
    let policy = Policy::access_token(AUDIENCE).algorithms(&[case.algorithm]);
    let entries = if cached { 4096 } else { 0 };
    Verifier::builder()
        .issuer(Issuer::new(ISSUER, case.source.clone()))
        .policy(policy)
        .cache(entries, 16 << 20)
        .build()
        .expect("a verifier")
}

/// Gives the next token each time.
fn turning<'t>(tokens: &'t [String]) -> impl FnMut() -> &'t str {
    let mut at = 0;
    move || {
        at = (at + 1) % tokens.len();
        &tokens[at]
    }
}

fn library(c: &mut Criterion) {
    for algorithm in [
        Algorithm::Es256,
        Algorithm::Es384,
        Algorithm::EdDsa,
        Algorithm::Rs256,
        Algorithm::Ps256,
        Algorithm::MlDsa44,
        Algorithm::Hs256,
    ] {
        let case = case(algorithm);
        let mut group = c.benchmark_group(algorithm.name());
        // The floor: the bare check, of signatures that were decoded before.
        let bare: Vec<(Vec<u8>, Vec<u8>)> = case
            .tokens
            .iter()
            .map(|token| {
                let compact = jws::split(token.as_bytes(), 1 << 16).expect("a JWS");
                let signature =
                    signet_jose::base64url::decode(compact.signature).expect("canonical");
                (compact.signing_input.to_vec(), signature)
            })
            .collect();
        let mut at = 0;
        group.bench_function("bare", |b| {
            b.iter(|| {
                at = (at + 1) % bare.len();
                case.key.verify(black_box(&bare[at].0), &bare[at].1)
            });
        });
        let fresh = verifier(&case, false);
        let mut next = turning(&case.tokens);
        group.bench_function("fresh", |b| {
            b.iter(|| {
                fresh
                    .verify(&Presented::token(black_box(next())), NOW)
                    .is_ok()
            });
        });
        let cached = verifier(&case, true);
        let mut next = turning(&case.tokens);
        group.bench_function("cached", |b| {
            b.iter(|| {
                cached
                    .verify(&Presented::token(black_box(next())), NOW)
                    .is_ok()
            });
        });
        group.finish();
    }
}

fn refusals(c: &mut Criterion) {
    let case = case(Algorithm::Es256);
    let verifier = verifier(&case, true);
    let token = case.tokens[0].as_str();
    let (header, rest) = token.split_once('.').expect("three parts");
    let (payload, signature) = rest.split_once('.').expect("three parts");
    let encode = |text: &str| signet_jose::base64url::encode(text.as_bytes());
    let mut group = c.benchmark_group("refused");
    for (name, junk) in [
        ("two_parts", format!("{header}.{payload}")),
        (
            "none",
            format!(
                "{}.{payload}.{signature}",
                encode(r#"{"alg":"none","typ":"at+jwt"}"#)
            ),
        ),
        (
            "unknown_kid",
            format!(
                "{}.{payload}.{signature}",
                encode(r#"{"alg":"ES256","typ":"at+jwt","kid":"k9"}"#)
            ),
        ),
        (
            "crit",
            format!(
                "{}.{payload}.{signature}",
                encode(r#"{"alg":"ES256","crit":["x"],"kid":"k1"}"#)
            ),
        ),
        (
            "wrong_type",
            format!(
                "{}.{payload}.{signature}",
                encode(r#"{"alg":"ES256","typ":"JWT","kid":"k1"}"#)
            ),
        ),
        ("padding", format!("{token}=")),
        ("expired", {
            let old = encode(&format!(
                r#"{{"iss":"{ISSUER}","aud":"{AUDIENCE}","sub":"a","exp":1}}"#
            ));
            format!("{header}.{old}.{signature}")
        }),
        (
            "forged_signature",
            format!(
                "{header}.{payload}.{}",
                case.tokens[1].rsplit_once('.').expect("three parts").1
            ),
        ),
    ] {
        assert!(verifier.verify(&Presented::token(&junk), NOW).is_err());
        group.bench_function(name, |b| {
            b.iter(|| {
                verifier
                    .verify(&Presented::token(black_box(&junk)), NOW)
                    .is_err()
            });
        });
    }
    group.finish();
}

/// What it costs to keep a token: cache misses that end in an insertion.
fn insertion(c: &mut Criterion) {
    let case = case(Algorithm::Hs256);
    c.bench_function("HS256/fresh_and_kept", |b| {
        b.iter_batched_ref(
            || verifier(&case, true),
            |verifier| {
                for token in &case.tokens {
                    black_box(verifier.verify(&Presented::token(token), NOW).is_ok());
                }
            },
            BatchSize::SmallInput,
        );
    });
}

criterion_group!(benches, library, refusals, insertion);
criterion_main!(benches);

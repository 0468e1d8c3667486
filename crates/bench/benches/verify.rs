//! The validation library, each case beside the bare signature check of the same algorithm in the
//! same run.
//!
//! `cargo bench -p signet-bench --bench verify`. A fresh token is one that the verifier never saw
//! (no cache); its floor is the bare check. A cached one was seen before. Refused ones stand for
//! what a flood of junk costs; their floor is a cached hit. Value and floor run in turns of a
//! millisecond, so that a neighbour disturbs both; the medians are compared. Figures go to
//! `target/bench/verify.json`.

use signet_bench::report::{Line, Report};
use signet_crypto::{Algorithm, SigningKey};
use signet_jose::{
    jwk::{Jwk, JwkSet},
    jws,
    jwt::{JwtSigner, Typ},
};
use signet_verify::{Issuer, KeySource, Policy, Presented, Verifier};
use std::{
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

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

/// How many turns each side has.
const TURNS: usize = 60;
const TURN: Duration = Duration::from_millis(1);

/// Runs `value` and `floor` in turns and reports their medians. Gives that of `value`, in
/// microseconds.
fn pair(
    report: &mut Report,
    name: String,
    floor_name: &str,
    aim: Option<f64>,
    mut floor: impl FnMut(),
    mut value: impl FnMut(),
) {
    // `-- refused`, say: only what has this in its name.
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    if wanted.is_some_and(|wanted| !name.contains(&wanted)) {
        return;
    }
    let (floors, values) = {
        let many = |call: &mut dyn FnMut()| {
            let begun = Instant::now();
            let mut calls = 0_u32;
            while begun.elapsed() < TURN {
                call();
                calls += 1;
            }
            calls
        };
        let (of_floor, of_value) = (many(&mut floor), many(&mut value));
        let turn = |call: &mut dyn FnMut(), calls: u32| {
            let begun = Instant::now();
            for _ in 0..calls {
                call();
            }
            begun.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
        };
        let (mut floors, mut values) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            floors.push(turn(&mut floor, of_floor));
            values.push(turn(&mut value, of_value));
        }
        (floors, values)
    };
    report.add(Line {
        name,
        value_us: median(values),
        floor_us: median(floors),
        floor: floor_name.to_owned(),
        cpu: None,
        aim,
    });
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The bare check of signatures that were decoded before, of the next token each time.
fn bare(case: &Case) -> impl FnMut() {
    let parts: Vec<(Vec<u8>, Vec<u8>)> = case
        .tokens
        .iter()
        .map(|token| {
            let compact = jws::split(token.as_bytes(), 1 << 16).expect("a JWS");
            let signature =
                signet_encoding::base64url::decode(compact.signature).expect("canonical");
            (compact.signing_input.to_vec(), signature)
        })
        .collect();
    let mut at = 0;
    move || {
        at = (at + 1) % parts.len();
        let held = case.key.verify(black_box(&parts[at].0), &parts[at].1);
        assert!(held.is_ok());
    }
}

/// Verification of the next token each time.
fn verified(case: &Case, cached: bool) -> impl FnMut() {
    let verifier = verifier(case, cached);
    let mut next = turning(&case.tokens);
    move || {
        let verified = verifier.verify(&Presented::token(black_box(next())), NOW);
        assert!(verified.is_ok());
    }
}

fn library(report: &mut Report) {
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
        // A secret's check costs less than reading the claims: its aim is a microsecond, and no
        // ratio.
        let aim = (!algorithm.is_symmetric()).then_some(1.10);
        for (what, cached, aim) in [("fresh", false, aim), ("cached", true, None)] {
            pair(
                report,
                format!("verify/{}/{what}", algorithm.name()),
                "bare signature check",
                aim,
                bare(&case),
                verified(&case, cached),
            );
        }
    }
}

fn refusals(report: &mut Report) {
    let case = case(Algorithm::Es256);
    let verifier = verifier(&case, true);
    let token = case.tokens[0].as_str();
    // Junk comes to a verifier that has seen its issuer's tokens.
    assert!(verifier.verify(&Presented::token(token), NOW).is_ok());
    let (header, rest) = token.split_once('.').expect("three parts");
    let (payload, signature) = rest.split_once('.').expect("three parts");
    let encode = |text: &str| signet_encoding::base64url::encode(text.as_bytes());
    let with_header = |text: &str| format!("{}.{payload}.{signature}", encode(text));
    let structural = Some(2.0);
    for (name, aim, junk) in [
        ("two_parts", structural, format!("{header}.{payload}")),
        ("dots", structural, ".".repeat(token.len())),
        ("no_base64", structural, format!("*{token}")),
        (
            "none",
            structural,
            with_header(r#"{"alg":"none","typ":"at+jwt"}"#),
        ),
        (
            "crit",
            structural,
            with_header(r#"{"alg":"ES256","crit":["x"],"kid":"k1"}"#),
        ),
        (
            "wrong_type",
            structural,
            with_header(r#"{"alg":"ES256","typ":"JWT","kid":"k1"}"#),
        ),
        (
            "unknown_kid",
            structural,
            with_header(r#"{"alg":"ES256","typ":"at+jwt","kid":"k9"}"#),
        ),
        (
            "other_algorithm",
            structural,
            with_header(r#"{"alg":"RS256","typ":"at+jwt","kid":"k1"}"#),
        ),
        ("padding", structural, format!("{token}=")),
        (
            "short_signature",
            structural,
            format!("{header}.{payload}.AAAA"),
        ),
        ("expired", None, {
            let old = encode(&format!(
                r#"{{"iss":"{ISSUER}","aud":"{AUDIENCE}","sub":"a","exp":1}}"#
            ));
            format!("{header}.{old}.{signature}")
        }),
    ] {
        pair(
            report,
            format!("verify/refused/{name}"),
            "cached hit",
            aim,
            verified(&case, true),
            || {
                let refused = verifier.verify(&Presented::token(black_box(&junk)), NOW);
                assert!(refused.is_err());
            },
        );
    }
    // Whether it is forged, only the check tells.
    let other = case.tokens[1].rsplit_once('.').expect("three parts").1;
    let forged = format!("{header}.{payload}.{other}");
    pair(
        report,
        "verify/refused/forged_signature".to_owned(),
        "bare signature check",
        Some(1.10),
        bare(&case),
        || {
            let refused = verifier.verify(&Presented::token(black_box(&forged)), NOW);
            assert!(refused.is_err());
        },
    );
}

/// What it costs to keep a token: a cache that is too small for the tokens, so that each is checked
/// and takes another's place.
fn insertion(report: &mut Report) {
    let case = case(Algorithm::Hs256);
    let small = Verifier::builder()
        .issuer(Issuer::new(ISSUER, case.source.clone()))
        .policy(Policy::access_token(AUDIENCE).algorithms(&[case.algorithm]))
        .cache(8, 1 << 20)
        .build()
        .expect("a verifier");
    let mut next = turning(&case.tokens);
    pair(
        report,
        "verify/HS256/fresh_and_kept".to_owned(),
        "fresh, no cache",
        None,
        verified(&case, false),
        || assert!(small.verify(&Presented::token(next()), NOW).is_ok()),
    );
}

fn main() -> std::io::Result<()> {
    let mut report = Report::default();
    library(&mut report);
    refusals(&mut report);
    insertion(&mut report);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    report.write(&folder, "verify")
}

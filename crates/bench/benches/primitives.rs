//! A token beside its signature: what JOSE adds to the bare operation, per algorithm.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use criterion::Criterion;
use signet_bench::report::{Line, Report};
use signet_crypto::{Algorithm, SigningKey, VerifyingKey};
use signet_jose::jwt::{JwtSigner, Typ};

/// RFC 9068 access token claims of ordinary size; the subject changes, so that no signature is made
/// twice.
fn payload(subject: u64, out: &mut Vec<u8>) {
    out.clear();
    signet_encoding::json::Writer::new(out).object(|w| {
        w.member("iss").string("https://login.example.com");
        w.member("sub").string(&format!("user-{subject}"));
        w.member("aud").string("https://api.example.com");
        w.member("exp").number(1_790_003_600);
        w.member("iat").number(1_790_000_000);
        w.member("jti").string("AZzXk2d3QkGq0n8mYh1v5w");
        w.member("client_id").string("4f6f0d2e-service");
        w.member("scope").string("read write");
    });
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut criterion = Criterion::default().configure_from_args();
    let mut report = Report::default();
    for &algorithm in &[
        Algorithm::Es256,
        Algorithm::Es384,
        Algorithm::Es512,
        Algorithm::EdDsa,
        Algorithm::Rs256,
        Algorithm::Ps256,
        Algorithm::MlDsa44,
        Algorithm::MlDsa65,
        Algorithm::MlDsa87,
    ] {
        let key = SigningKey::generate(algorithm)?;
        let public = key.public().ok_or("an asymmetric key")?.clone();
        let verifying = VerifyingKey::new(algorithm, &public)?;
        let bare = SigningKey::from_private(algorithm, key.to_private()?.expose())?;
        let signer = JwtSigner::new(key, "key-1");

        let (mut floors, mut values) = (Vec::new(), Vec::new());
        criterion.bench_function(&format!("sign/{}", algorithm.name()), |b| {
            let (mut claims, mut out, mut n) = (Vec::new(), Vec::new(), 0_u64);
            b.iter_custom(|iterations| {
                let mut floor = std::time::Duration::ZERO;
                let mut value = std::time::Duration::ZERO;
                for _ in 0..iterations {
                    n += 1;
                    payload(n, &mut claims);
                    out.clear();
                    let start = Instant::now();
                    bare.sign_into(&claims, &mut out).expect("the key signs");
                    floor += start.elapsed();
                    black_box(&out);
                    out.clear();
                    let start = Instant::now();
                    signer
                        .sign_into(Typ::AccessToken, &claims, &mut out)
                        .expect("the key signs");
                    value += start.elapsed();
                    black_box(&out);
                }
                floors.push(floor.as_secs_f64() / iterations as f64);
                values.push(value.as_secs_f64() / iterations as f64);
                value
            });
        });
        add(
            &mut report,
            format!("sign/{}", algorithm.name()),
            &mut values,
            &mut floors,
            "bare signature",
        );

        let (mut floors, mut values) = (Vec::new(), Vec::new());
        // Many tokens: one message under one key measures luck.
        let tokens: Vec<(Vec<u8>, usize, Vec<u8>)> = (0..64)
            .map(|n| {
                let (mut claims, mut token) = (Vec::new(), Vec::new());
                payload(n, &mut claims);
                signer
                    .sign_into(Typ::AccessToken, &claims, &mut token)
                    .expect("the key signs");
                let dot = token
                    .iter()
                    .rposition(|&b| b == b'.')
                    .expect("a compact token has dots");
                let signature = signet_encoding::base64url::decode(&token[dot + 1..])
                    .expect("its own encoding");
                (token, dot, signature)
            })
            .collect();
        criterion.bench_function(&format!("verify/{}", algorithm.name()), |b| {
            let mut n = 0;
            b.iter_custom(|iterations| {
                let mut floor = std::time::Duration::ZERO;
                let mut value = std::time::Duration::ZERO;
                for _ in 0..iterations {
                    n = (n + 1) % tokens.len();
                    let (token, dot, signature) = &tokens[n];
                    let start = Instant::now();
                    verifying
                        .verify(&token[..*dot], signature)
                        .expect("the signature holds");
                    floor += start.elapsed();
                    let start = Instant::now();
                    let compact =
                        signet_jose::jws::split(token, 16 * 1024).expect("a compact token");
                    let header = compact.decode_header().expect("its header");
                    let payload = compact
                        .verify(&header, &verifying)
                        .expect("the signature holds");
                    let claims = signet_jose::jwt::Claims::parse(&payload).expect("its claims");
                    value += start.elapsed();
                    black_box(claims.exp);
                }
                floors.push(floor.as_secs_f64() / iterations as f64);
                values.push(value.as_secs_f64() / iterations as f64);
                value
            });
        });
        add(
            &mut report,
            format!("verify/{}", algorithm.name()),
            &mut values,
            &mut floors,
            "bare signature check",
        );
    }
    criterion.final_summary();
    report.write(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../target/bench")
            .as_path(),
        "primitives",
    )?;
    Ok(())
}

fn add(report: &mut Report, name: String, values: &mut [f64], floors: &mut [f64], floor: &str) {
    if values.is_empty() {
        return; // filtered out on the command line
    }
    report.add(Line {
        name,
        value_us: median(values) * 1e6,
        floor_us: median(floors) * 1e6,
        floor: floor.to_owned(),
        cpu: None,
        aim: Some(1.1),
    });
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

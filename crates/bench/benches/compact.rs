//! Compact tokens beside the bare primitive in the same run, over many keys and messages; proofs beside arkworks' stock prover.

mod stock;

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::Criterion;
use signet_bench::report::{Line, Report};
use signet_compact::{
    Algorithm, Payload, Policy, Scopes, SigningKey, Token, VerifyingKey, Version,
};
use signet_crypto::mac::HmacSha256Key;
use signet_zk::{Parameters, Prover, Statement, Verifier};

/// One measurement: a name, an aim, and what is timed, the value and its floor in turns.
struct Case<'a> {
    name: String,
    floor: &'a str,
    aim: Option<f64>,
}

/// Times both closures in turns over a growing index, and reports the medians.
fn measure(
    criterion: &mut Criterion,
    report: &mut Report,
    case: Case<'_>,
    mut value: impl FnMut(usize),
    mut floor: impl FnMut(usize),
) {
    /// Calls between two looks at the clock: a look costs as much as a fifth of the fastest call.
    const RUN: u64 = 16;
    let (mut values, mut floors) = (Vec::new(), Vec::new());
    let mut n = 0;
    criterion.bench_function(&case.name, |b| {
        b.iter_custom(|iterations| {
            let (mut spent, mut least) = (Duration::ZERO, Duration::ZERO);
            let mut left = iterations;
            while left > 0 {
                let run = left.min(RUN) as usize;
                let start = Instant::now();
                (n..n + run).for_each(&mut value);
                spent += start.elapsed();
                let start = Instant::now();
                (n..n + run).for_each(&mut floor);
                least += start.elapsed();
                n += run;
                left -= run as u64;
            }
            values.push(spent.as_secs_f64() / iterations as f64);
            floors.push(least.as_secs_f64() / iterations as f64);
            spent
        });
    });
    if values.is_empty() {
        return; // filtered out on the command line
    }
    report.add(Line {
        name: case.name,
        value_us: median(&mut values) * 1e6,
        floor_us: median(&mut floors) * 1e6,
        floor: case.floor.to_owned(),
        cpu: None,
        aim: case.aim,
    });
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The claims of the published table; the time changes, so that no message is signed twice.
fn payload(n: usize) -> Payload<'static> {
    Payload {
        subject: "user:alice",
        audience: "api.example.com",
        scopes: Scopes::new(&["read", "write"]).expect("in order"),
        issued_at: 1_000_000 + n as u64,
        expires_at: u64::MAX,
        ..Payload::default()
    }
}

fn token(key: &SigningKey, n: usize) -> Vec<u8> {
    let mut out = Vec::new();
    key.sign_into(Version::V0, &payload(n), &mut out)
        .expect("within the limits");
    out
}

fn policy() -> Policy<'static> {
    Policy::for_audience("api.example.com", 1 << 40)
}

/// Keys of an algorithm, and as many tokens of each.
fn signatures(
    criterion: &mut Criterion,
    report: &mut Report,
    algorithm: Algorithm,
) -> Result<(), Box<dyn std::error::Error>> {
    const KEYS: usize = 64;
    let name = algorithm.name();
    let mut keys: Vec<SigningKey> = Vec::new();
    let mut verifying: Vec<VerifyingKey> = Vec::new();
    for _ in 0..KEYS {
        let key = SigningKey::generate(algorithm)?;
        verifying.push(key.verifying_key()?);
        keys.push(key);
    }
    let tokens: Vec<Vec<u8>> = (0..KEYS * 4).map(|n| token(&keys[n % KEYS], n)).collect();
    let messages: Vec<&[u8]> = tokens
        .iter()
        .map(|token| Token::parse(token).map(|token| token.payload_bytes()))
        .collect::<Result<_, _>>()?;
    let signature_len = algorithm.signature_len();
    let case = |what: &str| Case {
        name: format!("compact/{what}/{name}"),
        floor: "bare primitive",
        aim: Some(1.1),
    };
    let mut out = Vec::with_capacity(4096);
    let sign = |n: usize| {
        out.clear();
        keys[n % KEYS]
            .sign_into(Version::V0, &payload(n), &mut out)
            .expect("within the limits");
        black_box(&out);
    };
    let verify = |n: usize| {
        let n = n % tokens.len();
        black_box(verifying[n % KEYS].verify(&tokens[n], &policy()).is_ok());
    };
    if algorithm == Algorithm::HmacSha256 {
        let macs: Vec<HmacSha256Key> = (0..KEYS)
            .map(|_| HmacSha256Key::new(&signet_crypto::random::bytes::<32>()))
            .collect();
        let tag = |n: usize| {
            black_box(macs[n % KEYS].sign(messages[n % messages.len()]));
        };
        measure(criterion, report, case("sign"), sign, tag);
        measure(criterion, report, case("verify"), verify, tag);
        return Ok(());
    }
    let jose = if algorithm == Algorithm::Ed25519 {
        signet_crypto::Algorithm::EdDsa
    } else {
        signet_crypto::Algorithm::MlDsa44
    };
    let mut bare = Vec::new();
    for _ in 0..KEYS {
        let key = signet_crypto::SigningKey::generate(jose)?;
        let public = key.public().ok_or("an asymmetric key")?;
        bare.push((signet_crypto::VerifyingKey::new(jose, public)?, key));
    }
    let signatures: Vec<Vec<u8>> = messages
        .iter()
        .enumerate()
        .map(|(n, message)| {
            let mut signature = Vec::new();
            bare[n % KEYS].1.sign_into(message, &mut signature)?;
            Ok(signature)
        })
        .collect::<Result<_, signet_crypto::KeyError>>()?;
    let mut buffer = Vec::with_capacity(signature_len);
    measure(criterion, report, case("sign"), sign, |n| {
        buffer.clear();
        let message = messages[n % messages.len()];
        let signed = bare[n % KEYS].1.sign_into(message, &mut buffer);
        black_box(signed.is_ok());
    });
    measure(criterion, report, case("verify"), verify, |n| {
        let n = n % messages.len();
        black_box(bare[n % KEYS].0.verify(messages[n], &signatures[n]).is_ok());
    });
    Ok(())
}

/// Proofs: the token beside the proof alone.
fn proofs(
    criterion: &mut Criterion,
    report: &mut Report,
    algorithm: Algorithm,
    statement: Statement,
) -> Result<(), Box<dyn std::error::Error>> {
    const KEYS: usize = 4;
    let name = algorithm.name();
    let parameters = Parameters::development(statement);
    let tables = Prover::prepare(&parameters);
    let (hash, of) = (signet_crypto::hash::sha256(&tables), parameters.hash());
    let alone = Prover::from_prepared(tables.clone(), &hash, &of)?.with_threads(1);
    let prover = Arc::new(Prover::from_prepared(tables, &hash, &of)?);
    let mut keys = Vec::new();
    let mut verifying = Vec::new();
    for _ in 0..KEYS {
        let key = SigningKey::generate_for_proofs(algorithm)?.with_prover(prover.clone())?;
        verifying.push(key.verifying_key()?);
        keys.push(key);
    }
    let secret: [u8; 32] = signet_crypto::random::bytes();
    let verifier = Verifier::new(prover.verifying_key(), &statement.key_hash(&secret))?;
    let case = |what: &str, floor| Case {
        name: format!("compact/{what}/{name}"),
        floor,
        aim: Some(1.1),
    };
    measure(
        criterion,
        report,
        case("sign", "bare proof"),
        |n| drop(black_box(token(&keys[n % KEYS], n))),
        |n| {
            black_box(prover.prove(&secret, &[n as u8; 32]));
        },
    );
    let one_thread = Case {
        name: format!("proof/prove on one thread/{name}"),
        floor: "the stock prover and gadget, SHA-256, one thread",
        aim: None,
    };
    let stock = match statement {
        Statement::Sha256 => Some(stock::Stock::new()?),
        Statement::Poseidon => None,
    };
    if let Some(stock) = stock {
        measure(
            criterion,
            report,
            one_thread,
            |n| {
                black_box(alone.prove(&secret, &[n as u8; 32]));
            },
            |n| {
                black_box(stock.prove(&[n as u8; 32]).is_ok());
            },
        );
    }
    let tokens: Vec<Vec<u8>> = (0..32).map(|n| token(&keys[n % KEYS], n)).collect();
    let proven: Vec<_> = (0..32)
        .map(|n| (prover.prove(&secret, &[n; 32]), [n; 32]))
        .collect();
    measure(
        criterion,
        report,
        case("verify", "bare check of a decoded proof"),
        |n| {
            black_box(
                verifying[n % KEYS]
                    .verify(&tokens[n % 32], &policy())
                    .is_ok(),
            );
        },
        |n| {
            let (proof, message) = &proven[n % 32];
            black_box(verifier.verify(proof, message).is_ok());
        },
    );
    measure(
        criterion,
        report,
        Case {
            name: format!("proof/verify batch of 32/{name}"),
            floor: "32 checks, each alone",
            aim: None,
        },
        |_| {
            black_box(verifier.verify_batch(&proven).is_ok());
        },
        |_| {
            for (proof, message) in &proven {
                black_box(verifier.verify(proof, message).is_ok());
            }
        },
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut criterion = Criterion::default().configure_from_args();
    let mut report = Report::default();
    for algorithm in [
        Algorithm::HmacSha256,
        Algorithm::Ed25519,
        Algorithm::MlDsa44,
    ] {
        signatures(&mut criterion, &mut report, algorithm)?;
    }
    let mut criterion = criterion.sample_size(10);
    for (algorithm, statement) in [
        (Algorithm::Groth16Poseidon, Statement::Poseidon),
        (Algorithm::Groth16Hybrid, Statement::Sha256),
    ] {
        proofs(&mut criterion, &mut report, algorithm, statement)?;
    }
    criterion.final_summary();
    report.write(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../target/bench")
            .as_path(),
        "compact",
    )?;
    Ok(())
}

//! Compact tokens beside the bare primitive in the same run, over many keys and messages, and
//! beside a published table; proofs beside arkworks' stock prover.
//!
//! An algorithm's name as the last argument measures that one alone: `cargo bench -p signet-bench
//! --bench compact -- hmac-sha256`.

mod stock;

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::Criterion;
use signet_bench::compact::{Inputs, KEYS, TOKENS, at, payload, policy, token};
use signet_bench::report::{Beside, Line, Report};
use signet_compact::{Algorithm, KeySet, SIGNING_CONTEXT_V1, SigningKey, Token, Validity, Version};
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

/// The published figures of comparable tokens, operations a second on their machine (one core):
/// sign, verify.
const PUBLISHED: [(Algorithm, f64, f64); 5] = [
    (Algorithm::HmacSha256, 428_845.0, 406_736.0),
    (Algorithm::Ed25519, 25_953.0, 23_716.0),
    (Algorithm::MlDsa44, 2_848.0, 6_584.0),
    (Algorithm::Groth16Poseidon, 38.4, 296.0),
    (Algorithm::Groth16Hybrid, 2.7, 293.0),
];

/// Microseconds under which signing (proving) and verifying are meant to stay.
const BOUNDS: [(Algorithm, f64, f64); 3] = [
    (Algorithm::HmacSha256, 0.2, 0.25),
    (Algorithm::Groth16Poseidon, 10_000.0, 1_300.0),
    (Algorithm::Groth16Hybrid, 55_000.0, 1_300.0),
];

/// Puts each figure beside the published one and its bound.
fn beside(report: &mut Report) {
    for (algorithm, sign, verify) in PUBLISHED {
        let bounds = BOUNDS.iter().find(|(own, ..)| *own == algorithm);
        for (what, per_second, bound) in [
            ("sign", sign, bounds.map(|(_, sign, _)| *sign)),
            ("verify", verify, bounds.map(|(_, _, verify)| *verify)),
        ] {
            report.beside(
                &format!("compact/{what}/{}", algorithm.name()),
                Beside {
                    published_us: Some(1e6 / per_second),
                    bound_us: bound,
                },
            );
        }
    }
    let hmac = Algorithm::HmacSha256.name();
    for (what, bound) in [("sign", 0.2), ("verify", 0.25)] {
        report.beside(
            &format!("compact/{what} version 1/{hmac}"),
            Beside {
                bound_us: Some(bound),
                ..Beside::default()
            },
        );
    }
}

/// Keys of an algorithm, and as many tokens of each.
fn signatures(
    criterion: &mut Criterion,
    report: &mut Report,
    algorithm: Algorithm,
    version: Version,
) -> Result<(), Box<dyn std::error::Error>> {
    let suffix = match version {
        Version::V0 => "",
        Version::V1 => " version 1",
    };
    let Inputs {
        keys,
        verifying,
        tokens,
    } = Inputs::generate(algorithm, version)?;
    let messages: Vec<&[u8]> = tokens
        .iter()
        .map(|token| Token::parse(token).map(|token| token.payload_bytes()))
        .collect::<Result<_, _>>()?;
    let case = |what: &str| Case {
        name: format!("compact/{what}{suffix}/{}", algorithm.name()),
        floor: "bare primitive",
        aim: Some(1.1),
    };
    let mut out = Vec::with_capacity(4096);
    let claims = payload(0);
    let sign = |n: usize| {
        out.clear();
        let signed = keys[n % KEYS].sign_into(version, &at(&claims, n), &mut out);
        black_box((signed.is_ok(), &out));
    };
    let policy = policy();
    let verify = |n: usize| {
        let n = n % tokens.len();
        black_box(verifying[n % KEYS].verify(&tokens[n], &policy).is_ok());
    };
    if algorithm == Algorithm::HmacSha256 {
        // A bare tag takes less than reading a token does; its bound is a time.
        let case = |what: &str| Case {
            floor: "bare tag of a prepared key",
            aim: None,
            ..case(what)
        };
        let macs: Vec<HmacSha256Key> = (0..KEYS)
            .map(|_| HmacSha256Key::new(&signet_crypto::random::bytes::<32>()))
            .collect();
        let tag = |n: usize| {
            black_box(macs[n % KEYS].sign(messages[n % messages.len()]));
        };
        measure(criterion, report, case("sign"), sign, tag);
        measure(criterion, report, case("verify"), verify, tag);
        if version == Version::V0 {
            library_tag(criterion, report, &messages, tag)?;
        }
        return Ok(());
    }
    let bare = bare_keys(algorithm)?;
    let signatures: Vec<Vec<u8>> = messages
        .iter()
        .enumerate()
        .map(|(n, message)| {
            let mut signature = Vec::new();
            bare[n % KEYS].1.sign_into(message, &mut signature)?;
            Ok(signature)
        })
        .collect::<Result<_, signet_crypto::KeyError>>()?;
    let mut buffer = Vec::with_capacity(algorithm.signature_len());
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
    if algorithm == Algorithm::Ed25519 && version == Version::V0 {
        let set = KeySet::new(verifying)?;
        let borrowed: Vec<&[u8]> = tokens.iter().map(Vec::as_slice).collect();
        let items: Vec<signet_crypto::BatchItem<'_>> = (0..BATCH)
            .map(|n| signet_crypto::BatchItem {
                key: &bare[n % KEYS].0,
                context: &[],
                message: messages[n],
                signature: &signatures[n],
            })
            .collect();
        let case = Case {
            name: format!("compact/verify batch of {BATCH}/{}", algorithm.name()),
            floor: "bare batch",
            aim: Some(1.1),
        };
        measure(
            criterion,
            report,
            case,
            |_| drop(black_box(set.verify_batch(&borrowed[..BATCH], &policy))),
            |_| {
                black_box(signet_crypto::verify_ed25519_batch(&items).is_ok());
            },
        );
    }
    Ok(())
}

/// Tokens in one call of the batch's case.
const BATCH: usize = 32;

type BareKey = (signet_crypto::VerifyingKey, signet_crypto::SigningKey);

fn bare_keys(algorithm: Algorithm) -> Result<Vec<BareKey>, Box<dyn std::error::Error>> {
    let jose = if algorithm == Algorithm::Ed25519 {
        signet_crypto::Algorithm::EdDsa
    } else {
        signet_crypto::Algorithm::MlDsa44
    };
    (0..KEYS)
        .map(|_| {
            let key = signet_crypto::SigningKey::generate(jose)?;
            Ok((key.verifying_key()?, key))
        })
        .collect()
}

/// The tag of prepared states beside the library's own HMAC, whose key is prepared as well.
fn library_tag(
    criterion: &mut Criterion,
    report: &mut Report,
    messages: &[&[u8]],
    tag: impl FnMut(usize),
) -> Result<(), Box<dyn std::error::Error>> {
    let library = (0..KEYS)
        .map(|_| signet_crypto::SigningKey::generate(signet_crypto::Algorithm::Hs256))
        .collect::<Result<Vec<_>, _>>()?;
    let mut buffer = [0; 32];
    let case = Case {
        name: "primitive/tag/hmac-sha256".to_owned(),
        floor: "the library's HMAC",
        aim: None,
    };
    measure(criterion, report, case, tag, |n| {
        let message = messages[n % messages.len()];
        black_box(library[n % KEYS].sign_to(message, &mut buffer).is_ok());
    });
    Ok(())
}

/// Tokens under a certified key, beside the bare signature.
fn certified(
    criterion: &mut Criterion,
    report: &mut Report,
    holder: &SigningKey,
    algorithm: Algorithm,
) -> Result<(), Box<dyn std::error::Error>> {
    let issuer = holder.verifying_key()?;
    let validity = Validity {
        not_before: 0,
        expires_at: u64::MAX,
    };
    let (mut keys, mut verifying) = (Vec::new(), Vec::new());
    for _ in 0..CERTIFIED {
        let key = SigningKey::generate(algorithm)?;
        let certificate = holder.certify(&key.verifying_key()?, validity)?;
        verifying.push(issuer.accept_certificate(&certificate, 1 << 40)?);
        keys.push(key.with_certificate(&certificate)?);
    }
    let tokens: Vec<Vec<u8>> = (0..TOKENS)
        .map(|n| token(&keys[n % CERTIFIED], Version::V1, n))
        .collect();
    let bare = bare_keys(algorithm)?;
    let mut messages = Vec::new();
    for (n, token) in tokens.iter().enumerate() {
        let message = [SIGNING_CONTEXT_V1, Token::parse(token)?.payload_bytes()].concat();
        let mut signature = Vec::new();
        bare[n % KEYS].1.sign_into(&message, &mut signature)?;
        messages.push((message, signature));
    }
    let case = |what: &str| Case {
        name: format!("compact/{what} certified/{}", algorithm.name()),
        floor: "bare primitive",
        aim: Some(1.1),
    };
    let (mut out, mut buffer) = (Vec::with_capacity(4096), Vec::with_capacity(4096));
    measure(
        criterion,
        report,
        case("sign"),
        |n| {
            out.clear();
            let signed = keys[n % CERTIFIED].sign_into(Version::V1, &payload(n), &mut out);
            black_box(signed.is_ok());
        },
        |n| {
            buffer.clear();
            let message = &messages[n % TOKENS].0;
            black_box(bare[n % KEYS].1.sign_into(message, &mut buffer).is_ok());
        },
    );
    let policy = policy();
    measure(
        criterion,
        report,
        case("verify"),
        |n| {
            let n = n % TOKENS;
            black_box(verifying[n % CERTIFIED].verify(&tokens[n], &policy).is_ok());
        },
        |n| {
            let n = n % TOKENS;
            let (message, signature) = &messages[n];
            black_box(bare[n % KEYS].0.verify(message, signature).is_ok());
        },
    );
    Ok(())
}

/// Keys with a certificate, each of which takes a proof to make.
const CERTIFIED: usize = 8;

/// Proofs: the token beside the proof alone.
fn proofs(
    criterion: &mut Criterion,
    report: &mut Report,
    algorithm: Algorithm,
    statement: Statement,
) -> Result<(), Box<dyn std::error::Error>> {
    const KEYS: usize = 4;
    let token = |key: &SigningKey, n| token(key, Version::V0, n);
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
            black_box(prover.prove(&secret, &[n as u8; 32]).is_ok());
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
                black_box(alone.prove(&secret, &[n as u8; 32]).is_ok());
            },
            |n| {
                black_box(stock.prove(&[n as u8; 32]).is_ok());
            },
        );
    }
    let tokens: Vec<Vec<u8>> = (0..32).map(|n| token(&keys[n % KEYS], n)).collect();
    let proven: Vec<_> = (0..32)
        .map(|n| Ok((prover.prove(&secret, &[n; 32])?, [n; 32])))
        .collect::<Result<_, signet_zk::Error>>()?;
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
    let only = std::env::args()
        .next_back()
        .and_then(|last| Algorithm::from_name(&last));
    let wanted = |algorithm: &Algorithm| only.is_none_or(|only| only == *algorithm);
    let ordinary = [
        Algorithm::HmacSha256,
        Algorithm::Ed25519,
        Algorithm::MlDsa44,
    ];
    for algorithm in ordinary.into_iter().filter(wanted) {
        for version in [Version::V0, Version::V1] {
            signatures(&mut criterion, &mut report, algorithm, version)?;
        }
    }
    let certified_ones = [Algorithm::Ed25519, Algorithm::MlDsa44].into_iter();
    let certified_ones: Vec<Algorithm> = certified_ones.filter(wanted).collect();
    if !certified_ones.is_empty() {
        let prover = Prover::new(&Parameters::development(Statement::Poseidon));
        let holder = SigningKey::generate_for_proofs(Algorithm::Groth16Poseidon)?;
        let holder = holder.with_prover(Arc::new(prover))?;
        for algorithm in certified_ones {
            certified(&mut criterion, &mut report, &holder, algorithm)?;
        }
    }
    let mut criterion = criterion.sample_size(10);
    for (algorithm, statement) in [
        (Algorithm::Groth16Poseidon, Statement::Poseidon),
        (Algorithm::Groth16Hybrid, Statement::Sha256),
    ] {
        if wanted(&algorithm) {
            proofs(&mut criterion, &mut report, algorithm, statement)?;
        }
    }
    beside(&mut report);
    criterion.final_summary();
    report.write(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../target/bench")
            .as_path(),
        "compact",
    )?;
    Ok(())
}

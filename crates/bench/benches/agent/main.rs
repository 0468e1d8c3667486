//! Agents' objects beside the bare operation that they cannot be faster than, and beside the crate
//! `agentic-identity` 0.3.0, all in one run. Content is really hashed; every message is another
//! one.

mod chains;
mod files;
mod grants;
mod logs;
mod primitives;
mod receipts;

use std::path::Path;
use std::time::{Duration, Instant};

use agentic_identity::identity::IdentityAnchor;
use criterion::Criterion;
use signet_agent::Suite;
use signet_agent::grant::Grant;
use signet_agent::identity::{Created, VerifiedDocument, create};
use signet_agent::object::Signed;
use signet_agent::receipt::Receipt;
use signet_bench::report::{Line, Report};
use signet_crypto::{Algorithm, SigningKey, VerifyingKey};

const CONTENT: &[u8] = b"approved the quarterly budget increase of 5%";
const NOW: u64 = 1_790_000_000;

/// What a figure should not exceed.
enum Aim {
    /// So many times its floor.
    Ratio(f64),
    /// So many microseconds.
    Microseconds(f64),
}

/// Runs two things in turns and reports the first beside the second.
struct Bench {
    criterion: Criterion,
    report: Report,
}

impl Bench {
    /// Both are one operation.
    fn pair(
        &mut self,
        name: &str,
        floor_name: &str,
        aim: Option<f64>,
        floor: impl FnMut(u64),
        value: impl FnMut(u64),
    ) {
        self.pair_of(name, 1, floor_name, aim.map(Aim::Ratio), floor, value);
    }

    /// Both are `count` operations; the figures are those of one.
    fn pair_of(
        &mut self,
        name: &str,
        count: u32,
        floor_name: &str,
        aim: Option<Aim>,
        mut floor: impl FnMut(u64),
        mut value: impl FnMut(u64),
    ) {
        let (mut floors, mut values, mut n) = (Vec::new(), Vec::new(), 0_u64);
        self.criterion.bench_function(name, |b| {
            b.iter_custom(|iterations| {
                let (mut floor_time, mut value_time) = (Duration::ZERO, Duration::ZERO);
                for _ in 0..iterations {
                    n += 1;
                    let start = Instant::now();
                    floor(n);
                    let middle = Instant::now();
                    value(n);
                    value_time += middle.elapsed();
                    floor_time += middle - start;
                }
                floors.push(floor_time.as_secs_f64() / iterations as f64);
                values.push(value_time.as_secs_f64() / iterations as f64);
                value_time
            });
        });
        if values.is_empty() {
            return; // filtered out on the command line
        }
        let of_one = |times: &mut [f64]| median(times) * 1e6 / f64::from(count);
        let floor_us = of_one(&mut floors);
        self.report.add(Line {
            name: name.to_owned(),
            value_us: of_one(&mut values),
            floor_us,
            floor: floor_name.to_owned(),
            cpu: None,
            aim: aim.map(|aim| match aim {
                Aim::Ratio(ratio) => ratio,
                Aim::Microseconds(most) => most / floor_us,
            }),
        });
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn agent(name: &str) -> Created {
    create(name, Suite::Ed25519, NOW).expect("created")
}

fn receipt(agent: &Created, n: u64) -> Signed<Receipt> {
    let body = Receipt::new(agent.document.by(), "decision", NOW * 1_000 + n).with_content(CONTENT);
    Signed::sign(&body, &agent.document.signer(&agent.keys)).expect("signed")
}

fn grant(
    from: &Created,
    to: &VerifiedDocument,
    depth: u64,
    parent: Option<&Signed<Grant>>,
) -> Signed<Grant> {
    let what = "read:calendar".parse().expect("a capability");
    let mut body = Grant::new(from.document.by(), to, vec![what], NOW, 3_600);
    body.max_depth = depth;
    if let Some(parent) = parent {
        body = body.under(parent).expect("narrower");
    }
    Signed::sign(&body, &from.document.signer(&from.keys)).expect("signed")
}

/// Who signs, and the bare operations of the same algorithm.
struct Cast {
    alice: Created,
    bob: Created,
    peer: IdentityAnchor,
    bare: SigningKey,
    bare_verifying: VerifyingKey,
    /// As many bytes as a receipt has.
    payload: Vec<u8>,
    /// Messages with their bare signatures, all different.
    signed: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Cast {
    fn new() -> Result<Cast, Box<dyn std::error::Error>> {
        let (alice, bare) = (agent("alice"), SigningKey::generate(Algorithm::EdDsa)?);
        let mut cast = Cast {
            bob: agent("bob"),
            peer: IdentityAnchor::new(Some("alice".to_owned())),
            bare_verifying: bare.verifying_key()?,
            payload: receipt(&alice, 0).payload().to_vec(),
            signed: Vec::new(),
            alice,
            bare,
        };
        for n in 0..64 {
            let mut signature = Vec::new();
            let message = cast.sign_bare(n, &mut signature);
            cast.signed.push((message, signature));
        }
        Ok(cast)
    }

    /// Signs the n-th message, which it returns.
    fn sign_bare(&self, n: u64, signature: &mut Vec<u8>) -> Vec<u8> {
        let message = [self.payload.as_slice(), &n.to_be_bytes()].concat();
        signature.clear();
        self.bare.sign_into(&message, signature).expect("signed");
        message
    }

    fn verify_bare(&self, n: u64) {
        let (message, signature) = &self.signed[(n % 64) as usize];
        self.bare_verifying
            .verify(message, signature)
            .expect("holds");
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut bench = Bench {
        criterion: Criterion::default().configure_from_args(),
        report: Report::default(),
    };
    let cast = Cast::new()?;
    primitives::run(&mut bench, &cast);
    receipts::run(&mut bench, &cast);
    grants::run(&mut bench, &cast);
    chains::run(&mut bench, &cast);
    logs::run(&mut bench, &cast);
    files::run(&mut bench, &cast);
    bench.criterion.final_summary();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    bench.report.write(&folder, "agent")?;
    Ok(())
}

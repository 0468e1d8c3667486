//! Times of this crate's operations, on this machine: `cargo run --release -p signet-zk --example
//! time`.
#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::time::{Duration, Instant};

use signet_zk::{Parameters, Proof, Prover, Statement, Verifier};

/// Time that this thread has spent on a processor (Linux; zero elsewhere): on a busy machine the
/// figure to compare.
fn spent() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or_default())
}

/// Least and median of both clocks.
fn measure(what: &str, times: usize, mut work: impl FnMut(usize)) {
    let (mut wall, mut cpu) = (Vec::new(), Vec::new());
    for i in 0..times {
        let (start, before) = (Instant::now(), spent());
        work(i);
        wall.push(start.elapsed());
        cpu.push(spent() - before);
    }
    wall.sort();
    cpu.sort();
    let middle = times / 2;
    println!(
        "  {what}: least {:?}, median {:?}; this thread's processor time least {:?}, median {:?}",
        wall[0], wall[middle], cpu[0], cpu[middle]
    );
}

fn main() {
    for statement in Statement::ALL {
        println!("{statement:?}");
        let mut made = None;
        measure("parameters", 1, |_| {
            made = Some(Parameters::development(statement));
        });
        let parameters = made.expect("just made");
        let mut tables = Vec::new();
        measure("tables prepared", 1, |_| {
            tables = Prover::prepare(&parameters);
        });
        let (own, of) = (signet_crypto::hash::sha256(&tables), parameters.hash());
        println!("  tables: {} bytes", tables.len());
        let mut prover = None;
        measure("tables hashed and read", 1, |_| {
            let tables = std::mem::take(&mut tables);
            prover = Prover::from_prepared(tables, &own, &of).ok();
        });
        let mut prover = prover.expect("its own tables");
        let key = [7; 32];
        let hash = statement.key_hash(&key);
        let mut verifier = None;
        measure("verifying key prepared", 1, |_| {
            verifier = Verifier::new(&parameters.verifying_key(), &hash).ok();
        });
        let verifier = verifier.expect("its own hash");
        let mut proofs: Vec<(Proof, [u8; 32])> = Vec::new();
        for threads in [2, 1] {
            prover = prover.with_threads(threads);
            measure(&format!("prove, {threads} threads"), 32, |i| {
                let proof = prover.prove(&key, &[i as u8; 32]).expect("its own tables");
                proofs.push((proof, [i as u8; 32]));
            });
        }
        measure("verify, encoded", 32, |i| {
            let (proof, message) = &proofs[i];
            let proof = Proof::from_bytes(&proof.to_bytes()).expect("its own encoding");
            verifier.verify(&proof, message).expect("it holds");
        });
        measure("verify, 32 in a batch", 8, |_| {
            verifier.verify_batch(&proofs[..32]).expect("they hold");
        });
    }
}

//! Times of this crate's operations, on this machine: `cargo run --release -p signet-zk --example time`.
#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::time::Instant;

use signet_zk::{Parameters, Proof, Prover, Statement, Verifier};

fn main() {
    for statement in Statement::ALL {
        let start = Instant::now();
        let parameters = Parameters::development(statement);
        let set_up = start.elapsed();
        let start = Instant::now();
        let prover = Prover::new(&parameters);
        println!(
            "{statement:?}: parameters {set_up:?}, prepared in {:?}",
            start.elapsed()
        );
        let key = [7; 32];
        let hash = statement.key_hash(&key);
        let start = Instant::now();
        let verifier = Verifier::new(&parameters.verifying_key(), &hash).expect("its own hash");
        println!("  key prepared in {:?}", start.elapsed());
        let mut prover = prover;
        let mut proofs: Vec<(Proof, [u8; 32])> = Vec::new();
        for threads in [2, 1] {
            prover = prover.with_threads(threads);
            let mut times: Vec<_> = (0..32)
                .map(|i| {
                    let start = Instant::now();
                    proofs.push((prover.prove(&key, &[i; 32]), [i; 32]));
                    start.elapsed()
                })
                .collect();
            times.sort();
            println!(
                "  prove, {threads} threads: least {:?}, median {:?}",
                times[0], times[16]
            );
        }
        let start = Instant::now();
        for (proof, message) in &proofs[..32] {
            let proof = Proof::from_bytes(&proof.to_bytes()).expect("its own encoding");
            verifier.verify(&proof, message).expect("it holds");
        }
        println!("  verify: {:?}", start.elapsed() / 32);
        let start = Instant::now();
        verifier.verify_batch(&proofs[..32]).expect("they hold");
        println!("  in a batch of 32: {:?} each", start.elapsed() / 32);
    }
}

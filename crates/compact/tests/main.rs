//! Behaviour of compact tokens: reading, writing, proofs, certificates, the vectors.
#![allow(
    unreachable_pub,
    reason = "a program of tests: nothing outside reaches into it"
)]

mod allocations;
mod certificates;
mod common;
mod faults;
mod interop;
mod proofs;
mod tokens;
mod vectors;

#[path = "../examples/sign_and_verify.rs"]
mod sign_and_verify;

#[test]
fn the_example_does_what_it_says() {
    sign_and_verify::main().expect("the example runs");
}

//! Behaviour of agent identities: known faults of comparable software, mutations of every object,
//! the vectors.
#![allow(
    unreachable_pub,
    reason = "a program of tests: nothing outside reaches into it"
)]

mod common;
mod known_faults;
mod mutations;
mod post_quantum_vectors;
mod vectors;

#[path = "../examples/delegation.rs"]
mod delegation;

#[test]
fn the_example_does_what_it_says() {
    delegation::main().expect("the example runs");
}

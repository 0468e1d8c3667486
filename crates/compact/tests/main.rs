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

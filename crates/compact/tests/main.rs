//! Behaviour of compact tokens: reading, writing, proofs, certificates, the vectors.

mod allocations;
mod certificates;
mod common;
mod faults;
mod interop;
mod proofs;
mod tokens;
mod vectors;

//! Zero-knowledge proofs of key possession: Groth16 over BN254, for two sentences.
//!
//! [`Statement::Poseidon`]: *I know field elements x and y whose Poseidon hash is the key hash*;
//! for the holder of a key K of 32 bytes these are K's halves. [`Statement::Sha256`]: *I know 32
//! bytes K with SHA-256(K) = key hash*. Both proofs are about one message besides: its SHA-256 is a
//! public input in two halves of 128 bits. No equation joins it with K. What binds a proof to it is
//! that the verification takes it as an input, and that every input has a row of its own, so its
//! point in the verifying key is not zero and stands apart from all others.
//!
//! What this crate does itself: the circuits (17,600 rows for SHA-256 of 32 bytes), witnesses
//! without a synthesis, the prover, the verifier, batches, and the ceremony. What it takes from
//! arkworks: fields, curves and the pairing. arkworks' own verifier accepts these proofs (a test).
//!
//! A prover's tables ([`Prover::prepare`]) are bytes that can be kept in a file and mapped
//! ([`Prover::from_prepared`]). Where the processor has AVX-512 IFMA, long sums and transforms go
//! eight at a time; that is the only `unsafe` code here, and the portable code beside it gives the
//! same answers (tests).
//!
//! What it assumes. Groth16 is sound only while nobody knows the secrets behind the [`Parameters`]:
//! [`Parameters::development`] knows them for a moment and is for development; a ceremony needs one
//! honest contributor. BN254 gives about 100 bits of security, and none against a quantum computer.
//! Anybody can re-randomise a proof ([`Proof::rerandomised`]): it stays a proof of the same
//! sentence and message, and proofs identify nothing. Making a proof takes time and reads tables in
//! ways that depend on the key: a prover belongs on a machine of its own trust. It verifies each
//! proof before it hands it out, and wipes what it wrote on the heap.
//!
//! A verifying key is trusted by its hash, which the verifier pins. Reading one refuses points that
//! an honest setup never makes ([`Error::Degenerate`]), but no reader can tell a ceremony's key
//! from one whose maker kept the secrets.
#![deny(unsafe_code)]

mod affine;
mod ceremony;
mod circuit;
mod domain;
mod error;
mod field;
mod fixed;
mod lanes;
mod parameters;
mod points;
mod poseidon;
mod proof;
mod prover;
mod r1cs;
mod statement;
mod tables;
mod threads;
mod verifier;
mod verifying_key;

pub use ceremony::{Ceremony, Transcript};
pub use error::Error;
pub use parameters::Parameters;
pub use poseidon::hash_key as poseidon_hash_key;
pub use proof::Proof;
pub use prover::Prover;
pub use statement::Statement;
pub use verifier::Verifier;
pub use verifying_key::VerifyingKey;

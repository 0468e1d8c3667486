//! Behaviour of JOSE: vectors, strictness, properties.
#![allow(
    unreachable_pub,
    reason = "a program of tests: nothing outside reaches into it"
)]

mod cases;
mod header_forms;
mod jwe;
mod keys_and_signers;
mod properties;
mod rfc_vectors;
mod support;
mod token_cases;

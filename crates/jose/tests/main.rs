//! Behaviour of JOSE: vectors, strictness, properties.

mod cases;
mod header_forms;
mod json_strictness;
mod jwe;
mod keys_and_signers;
mod properties;
mod rfc_vectors;
mod support;
mod token_cases;

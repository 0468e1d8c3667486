//! Behaviour of proofs and ceremonies.

mod ceremony;
mod proofs;

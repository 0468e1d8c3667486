//! What the crate promises, as tests.
mod crdt;

//! What the crate promises, as tests.
mod crdt;
mod links;
mod node;

//! What the crate promises, as tests.
mod crdt;
mod join;
mod links;
mod node;
mod sim;
mod spread;

//! What the crate promises, as tests.
mod frames;
mod join;
mod links;
mod membership;
mod node;
mod sim;
mod spread;

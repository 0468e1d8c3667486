//! The two statements, as constraint systems with a direct way to their witnesses.

pub(crate) mod gadget;
pub(crate) mod poseidon;
pub(crate) mod sha256;

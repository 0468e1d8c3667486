//! Behaviour of the audit trail, over real files: one program, so that the crates below are linked once.

mod segments;
mod support;
mod trail;

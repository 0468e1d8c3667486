//! Behaviour of the validation service: one program, so that the crates below are linked once.

mod service;

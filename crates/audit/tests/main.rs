//! Behaviour of the audit trail, over real files: one program, so that the crates below are linked
//! once.
#![allow(
    unreachable_pub,
    reason = "a program of tests: nothing outside reaches into it"
)]

mod segments;
mod support;
mod trail;

//! Behaviour of the engine over real sockets, one of its callers being Debian's curl
//! (scripts/setup-tests.sh).
#![allow(
    unreachable_pub,
    reason = "a program of tests: nothing outside reaches into it"
)]

mod engine;
mod support;

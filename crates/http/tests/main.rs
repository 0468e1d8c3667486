//! Behaviour of the engine over real sockets, one of its callers being Debian's curl (scripts/setup-tests.sh).

mod engine;
mod support;

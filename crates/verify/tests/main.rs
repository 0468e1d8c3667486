//! Behaviour of token validation: what must be accepted, every attack, known faults.
#![allow(
    unreachable_pub,
    reason = "a program of tests: nothing outside reaches into it"
)]

mod accept;
mod allocation;
mod attack;
mod dependencies;
#[cfg(feature = "fetch")]
mod fetch;
mod introspection;
#[cfg(feature = "fetch")]
mod known_faults;
#[cfg(all(feature = "tower", feature = "tonic"))]
mod middleware;
mod nested;
mod properties;
mod rfc8725;
mod support;
mod verifier;

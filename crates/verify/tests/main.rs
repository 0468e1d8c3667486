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

#[cfg(all(feature = "axum", feature = "fetch"))]
#[path = "../examples/protected_api.rs"]
mod protected_api;

#[cfg(all(feature = "axum", feature = "fetch"))]
#[tokio::test]
async fn the_example_does_what_it_says() {
    protected_api::run().await.expect("the example runs");
}

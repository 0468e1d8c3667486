#![doc = include_str!("front.md")]
#![doc = include_str!("attacks.md")]
#![forbid(unsafe_code)]

mod accepted;
#[cfg(feature = "axum")]
pub mod axum;
mod binding;
mod builder;
pub mod cache;
mod challenge;
mod claims;
mod compact;
mod compact_keys;
#[cfg(feature = "fetch")]
pub mod fetch;
mod id_token;
mod issuer;
mod jwt;
mod keys;
mod moment;
mod nonce;
mod per_thread;
mod policy;
mod presented;
mod refusal;
mod replay;
mod revocation;
#[cfg(feature = "tonic")]
pub mod tonic;
#[cfg(feature = "tower")]
pub mod tower;
mod verified;
mod verifier;

pub use builder::{BuildError, Builder};
pub use challenge::Challenge;
pub use claims::Claims;
pub use issuer::{Freshness, Health, HealthState, Issuer, KeySource};
pub use keys::WithoutKid;
pub use nonce::PROOF_NONCE_LIFETIME;
pub use per_thread::PerThread;
pub use policy::{Binding, Policy, Rule, TokenKind};
pub use presented::{Presented, Proof, Scheme};
pub use refusal::{Answer, Counters, Refusal};
pub use replay::{ReplayGuard, ReplayUse};
pub use revocation::{
    MemoryRevocations, Revocation, RevocationHealth, RevocationState, Revocations,
    RevocationsByIssuer, Subject, WhenSilent,
};
pub use verified::{Form, Verified};
pub use verifier::{Decision, PolicyId, Verifier};

#![doc = include_str!("front.md")]
#![forbid(unsafe_code)]

mod accepted;
#[cfg(feature = "fetch")]
mod asking;
#[cfg(feature = "axum")]
pub mod axum;
mod builder;
pub mod cache;
mod challenge;
mod compact_keys;
#[cfg(feature = "fetch")]
mod introspector;
mod issuer;
mod keys;
#[cfg(feature = "fetch")]
mod outbound;
mod per_thread;
mod policy;
#[cfg(feature = "fetch")]
mod refresh;
mod refusal;
mod replay;
mod revocation;
#[cfg(feature = "fetch")]
mod stream;
mod token;
#[cfg(feature = "tonic")]
pub mod tonic;
#[cfg(feature = "tower")]
pub mod tower;
mod verified;
mod verifier;

pub use builder::{BuildError, Builder};
pub use challenge::Challenge;
pub use issuer::{Freshness, Health, HealthState, Issuer, KeySource};
pub use keys::WithoutKid;
pub use per_thread::PerThread;
#[cfg(feature = "fetch")]
pub use policy::Introspect;
pub use policy::{Binding, Policy, PolicyId, Rule, TokenKind};
pub use refusal::{Answer, Counters, Refusal};
pub use replay::{ReplayGuard, ReplayUse};
pub use revocation::{
    MemoryRevocations, OnStreamLoss, Revocation, RevocationHealth, RevocationState, Revocations,
    RevocationsByIssuer, Subject,
};
pub use signet_jose::dpop::nonce::LIFETIME as PROOF_NONCE_LIFETIME;
pub use token::claims::Claims;
pub use token::presented::{Presented, Proof, Scheme};
pub use verified::{Form, Verified};
pub use verifier::{Decision, Verifier};

/// Keys, revocations and answers about tokens over the network, fetched beside the requests
/// (feature `fetch`).
#[cfg(feature = "fetch")]
pub mod fetch {
    pub use crate::{
        introspector::Introspector,
        outbound::{Call, Credentials, FetchError, Outbound, OutboundOptions, Reply, is_public},
        policy::Introspect,
        refresh::Refresher,
        stream::RevocationReader,
    };
}

// What signatures of this crate name and other crates of this workspace define: nobody who uses
// this crate has to name those.

/// Algorithms, and texts that are wiped and never printed.
pub mod crypto {
    pub use signet_crypto::{Algorithm, Secret, decrypt::DecryptionKey};
}

/// Key sets, keys that open encrypted tokens, and the values of claims.
pub mod jose {
    pub use signet_encoding::json::{Limits, Number, Object, Value};
    pub use signet_jose::{
        jwe::NamedKey,
        jwk::{Jwk, JwkError, JwkSet, LeftOut, Published},
    };
}

/// Keys of compact tokens (feature `compact`).
#[cfg(feature = "compact")]
pub mod compact_tokens {
    pub use signet_compact::{Algorithm, KeySet, VerifyingKey};
}

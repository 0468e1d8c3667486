//! Whether a token was revoked: asked for each token that is accepted, cached or not.

mod by_issuer;
mod memory;

pub use by_issuer::RevocationsByIssuer;
pub use memory::{MemoryRevocations, OnStreamLoss, Subject};

use crate::Claims;

/// The answer about one token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Revocation {
    /// Nothing is known against it.
    Live,
    /// It was revoked.
    Revoked,
    /// It cannot be known at the moment. The token is refused (known fault A7).
    Unknown,
}

/// Knows what was revoked. Asked on every request, so it answers from memory.
pub trait Revocations: Send + Sync {
    /// Decides about a token whose signature held. `now`: Unix seconds.
    fn check(&self, claims: &Claims, now: u64) -> Revocation;

    /// How its sources are; nothing where it has none. `now`: Unix seconds.
    fn health(&self, _now: u64) -> Vec<RevocationHealth> {
        Vec::new()
    }
}

/// How a source of revocations is, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RevocationHealth {
    /// Whose revocations they are.
    pub issuer: String,
    /// In one word.
    pub state: RevocationState,
    /// Whether tokens of this issuer are refused because of it.
    pub refusing: bool,
    /// Revocations that are held.
    pub entries: usize,
    /// When the source was last heard of, Unix seconds; 0: never.
    pub heard_at: u64,
    /// Why it was lost, or cannot be reached.
    pub error: Option<String>,
}

/// See [`RevocationHealth`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RevocationState {
    /// Not heard of yet.
    Starting,
    /// Everything that was revoked is known.
    Current,
    /// It was heard of once, and not any more.
    Lost,
}

impl RevocationState {
    /// Every state.
    pub const ALL: [RevocationState; 3] = [
        RevocationState::Starting,
        RevocationState::Current,
        RevocationState::Lost,
    ];

    /// One word, lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            RevocationState::Starting => "starting",
            RevocationState::Current => "current",
            RevocationState::Lost => "lost",
        }
    }
}

//! Whether this node may speak for the cluster: the one question that every answer asks which
//! claims something about now.
//!
//! A node that does not hear the others does not know what they revoked; one whose rows are long
//! past does not know who may have what; one that was removed knows nothing that counts. What each
//! of these forbids is one table ([`Speaking::may_say`]), and no endpoint has a table of its own.
use signet_oauth::error::{ErrorCode, OAuthError};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What an answer claims about now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// That somebody may have what is issued.
    Grant,
    /// That something is not revoked: a token, a session, all that a stream did not name.
    NotRevoked,
}

/// Why a node may not claim it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mute {
    /// It was removed from its cluster.
    Removed,
    /// What it holds may be long past.
    Outdated,
    /// The others were not heard for longer than is allowed.
    Deaf,
}

impl Mute {
    /// The same in a sentence.
    pub const fn why(self) -> &'static str {
        match self {
            Mute::Removed => "this node was removed from its cluster",
            Mute::Outdated => "this node has not heard from the others since it started",
            Mute::Deaf => "this node does not hear the others",
        }
    }
}

impl From<Mute> for OAuthError {
    fn from(mute: Mute) -> OAuthError {
        OAuthError::new(ErrorCode::TemporarilyUnavailable, mute.why())
    }
}

/// What keeps a node from speaking: of the process, whatever realms it has.
#[derive(Default)]
pub(super) struct Speaking {
    deaf: AtomicBool,
    outdated: AtomicBool,
    removed: AtomicBool,
}

impl Speaking {
    /// Whether the node may claim that now. Costs three reads of memory.
    ///
    /// # Errors
    /// Why it may not.
    pub(super) fn may_say(&self, claim: Claim) -> Result<(), Mute> {
        if self.removed.load(Relaxed) {
            return Err(Mute::Removed);
        }
        if self.outdated.load(Relaxed) {
            return Err(Mute::Outdated);
        }
        match claim {
            Claim::NotRevoked if self.deaf.load(Relaxed) => Err(Mute::Deaf),
            // What needs the store asks the others; what needs none is issued by rows that the
            // node had a moment ago.
            Claim::NotRevoked | Claim::Grant => Ok(()),
        }
    }

    pub(super) fn set_deaf(&self, deaf: bool) {
        self.deaf.store(deaf, Relaxed);
    }

    pub(super) fn set_outdated(&self, outdated: bool) {
        self.outdated.store(outdated, Relaxed);
    }

    pub(super) fn is_outdated(&self) -> bool {
        self.outdated.load(Relaxed)
    }

    pub(super) fn set_removed(&self) {
        self.removed.store(true, Relaxed);
    }

    pub(super) fn is_removed(&self) -> bool {
        self.removed.load(Relaxed)
    }
}

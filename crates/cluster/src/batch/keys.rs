//! Whose signatures count.
use crate::{
    NodeId,
    identity::Identity,
    member::{Fingerprint, Known, Members},
};
use signet_crypto::KeyError;
use std::sync::Arc;

/// What separates a batch from everything else that a node's keys sign.
const DOMAIN: &[u8] = b"signet cluster batch 1\0";

/// Bytes of an Ed25519 signature (RFC 8032) and of the ML-DSA-65 one (FIPS 204 table 2) after it.
pub const SIGNATURE_LEN: usize = ED25519_LEN + 3309;
const ED25519_LEN: usize = 64;

/// What a signature is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The identity is a member's, and signed this.
    Holds,
    /// It did not sign this.
    Forged,
    /// The identity does not count: it was removed, or nobody has announced it yet.
    Unknown,
}

/// What is known of an identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// A member.
    Member,
    /// Removed for ever.
    Removed,
    /// Not heard of.
    Unknown,
}

/// Signs for this node and knows whose signatures count. Called off the request path, by several
/// threads.
pub trait Keys: Send + Sync + 'static {
    /// The identity that this node signs with.
    fn own(&self) -> Fingerprint;

    /// Signs the body of a batch.
    ///
    /// # Errors
    /// If the library fails; the batch is signed again later.
    fn sign(&self, body: &[u8]) -> Result<Vec<u8>, KeyError>;

    /// Whether this identity, under this name, signed the body.
    fn verify(
        &self,
        origin: &NodeId,
        signer: &Fingerprint,
        body: &[u8],
        signature: &[u8],
    ) -> Verdict;

    /// What is known of an identity.
    fn standing(&self, signer: &Fingerprint) -> Standing;
}

/// The keys of this node and of the table of members.
pub struct MemberKeys {
    own: Fingerprint,
    identity: Arc<Identity>,
    members: Arc<Members>,
}

impl MemberKeys {
    /// The keys of the node of this name.
    pub fn new(node: &NodeId, identity: Arc<Identity>, members: Arc<Members>) -> MemberKeys {
        MemberKeys {
            own: identity.fingerprint(node),
            identity,
            members,
        }
    }
}

impl Keys for MemberKeys {
    fn own(&self) -> Fingerprint {
        self.own
    }

    fn sign(&self, body: &[u8]) -> Result<Vec<u8>, KeyError> {
        let message = [DOMAIN, body].concat();
        let mut signature = Vec::with_capacity(SIGNATURE_LEN);
        self.identity
            .ed25519()
            .sign_into(&message, &mut signature)?;
        self.identity
            .ml_dsa_65()
            .sign_into(&message, &mut signature)?;
        Ok(signature)
    }

    fn verify(
        &self,
        origin: &NodeId,
        signer: &Fingerprint,
        body: &[u8],
        signature: &[u8],
    ) -> Verdict {
        let Some(living) = self.members.find(origin) else {
            return Verdict::Unknown;
        };
        if living.fingerprint != *signer {
            return Verdict::Unknown;
        }
        let Some((ed25519, ml_dsa_65)) = signature.split_at_checked(ED25519_LEN) else {
            return Verdict::Forged;
        };
        let keys = &living.keys;
        // The cheaper one first; both must hold.
        let first = keys.ed25519.verify_with_context(DOMAIN, body, ed25519);
        let both = first.and_then(|()| keys.ml_dsa_65.verify_with_context(DOMAIN, body, ml_dsa_65));
        match both {
            Ok(()) => Verdict::Holds,
            Err(_) => Verdict::Forged,
        }
    }

    fn standing(&self, signer: &Fingerprint) -> Standing {
        match self.members.known(signer) {
            Some(Known::Member(_)) => Standing::Member,
            Some(Known::Removed { .. }) => Standing::Removed,
            None => Standing::Unknown,
        }
    }
}

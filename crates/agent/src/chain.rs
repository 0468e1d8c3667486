//! Chains: from a root that the verifier names, link by link, to a holder who proves that he is the
//! one.
//!
//! The check is one list of rules in a fixed order; the first that does not hold is the answer,
//! with the link it failed at. Signatures come last and all at once: everything cheaper has spoken
//! before. Nothing is taken from a grant that another does not confirm: who signed the first is the
//! root's document, who signed the next is the grantee of the one before.

pub mod capability;
pub mod constraint;
pub mod grant;
pub mod network;
pub mod presentation;
pub mod proof;

mod cache;
mod signatures;
mod standing;

pub use cache::Cache;

use crate::anchor::Anchors;
use crate::chain::capability::Capability;
use crate::chain::constraint::Context;
use crate::chain::grant::Grant;
use crate::chain::proof::{Expected, Proof};
use crate::declaration::Declaration;
use crate::error::{Refusal, Result, ensure};
use crate::id::{AgentId, Hash};
use crate::identity::{VerifiedDocument, newest};
use crate::lineage::VerifiedLineage;
use crate::method::Method;
use crate::object::{KeyRef, Object, Signed};
use crate::revocation::Revocations;
use signatures::{Key, Signature};

/// Longest chain.
pub const MAX_LINKS: usize = 32;

/// What the verifier asks, and what it knows.
#[derive(Debug, Clone, Copy)]
pub struct Check<'a> {
    /// From whom the authority has to come.
    pub root: &'a VerifiedDocument,
    /// Documents of other agents, as new as they can be had: needed where an agent has rotated
    /// since it was granted something, and to know of keys that were compromised.
    pub documents: &'a [VerifiedDocument],
    /// What is to be done.
    pub capability: &'a Capability,
    /// What the constraints are about.
    pub context: Context<'a>,
    /// Unix seconds.
    pub now: u64,
    /// Seconds of clock skew that are forgiven at the beginning of grants and proofs.
    pub leeway: u64,
    /// What is known of revocations.
    pub revocations: &'a Revocations,
    /// How old that knowledge may be, in seconds; a grant may demand less.
    pub max_staleness: Option<u64>,
    /// Declarations of refusal that were shown; each is verified against the documents, and has to
    /// be by the current key.
    pub declarations: &'a [Signed<Declaration>],
    /// Declarations that the verifier has kept since it verified them: an agent that rotates its
    /// key takes none of them back.
    pub kept_declarations: &'a [Signed<Declaration>],
    /// Lines of descent; where one is of an agent of the chain, its authority bounds it and its
    /// ancestors' end ends it. They are what the holder shows: one who leaves his births out is not
    /// bound by them.
    pub lineages: &'a [VerifiedLineage],
    /// What logs had taken in.
    pub anchors: &'a Anchors,
    /// The holder's proof and what is expected of it. `None`: only the grants are checked, and the
    /// caller has to say so.
    pub proof: Option<(&'a Signed<Proof>, Expected<'a>)>,
}

/// Why a chain was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("link {link}: {reason}")]
pub struct ChainRefusal {
    /// The grant it failed at, counted from 0; the number of grants for the holder and his proof.
    pub link: usize,
    /// Why.
    pub reason: Refusal,
}

/// An accepted chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Who may act.
    pub holder: KeyRef,
    /// Everyone from the root to the holder.
    pub agents: Vec<AgentId>,
    /// The ids of the grants: uses are counted for each.
    pub grants: Vec<Hash>,
    /// The end of the shortest-lived, of the grants and of the certificate of the key that proved
    /// possession. Unix seconds.
    pub not_after: u64,
    /// Whether the holder's possession of the last key was proven.
    pub possession_proven: bool,
}

/// One rule at one link, for people who ask why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The link, as in [`ChainRefusal`].
    pub link: usize,
    /// What was checked.
    pub rule: &'static str,
    /// `None`: it holds.
    pub refused: Option<Refusal>,
}

impl Check<'_> {
    /// Checks a chain, the root's grant first.
    ///
    /// # Errors
    /// The first rule that does not hold, and where.
    pub fn run(&self, grants: &[Signed<Grant>]) -> std::result::Result<Accepted, ChainRefusal> {
        self.run_with(grants, None, &mut |_| ())
    }

    /// The same, with what was verified before.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_cached(
        &self,
        grants: &[Signed<Grant>],
        cache: &mut Cache,
    ) -> std::result::Result<Accepted, ChainRefusal> {
        self.run_with(grants, Some(cache), &mut |_| ())
    }

    /// Every rule that was looked at, link by link, up to the one that refused.
    pub fn explain(
        &self,
        grants: &[Signed<Grant>],
    ) -> (Vec<Step>, std::result::Result<Accepted, ChainRefusal>) {
        let mut steps = Vec::new();
        let outcome = self.run_with(grants, None, &mut |step| steps.push(step));
        (steps, outcome)
    }

    fn run_with(
        &self,
        grants: &[Signed<Grant>],
        cache: Option<&mut Cache>,
        trace: &mut dyn FnMut(Step),
    ) -> std::result::Result<Accepted, ChainRefusal> {
        let mut rule = |link: usize, rule: &'static str, outcome: Result<()>| {
            trace(Step {
                link,
                rule,
                refused: outcome.err(),
            });
            outcome.map_err(|reason| ChainRefusal { link, reason })
        };
        rule(
            0,
            "there is at least one grant",
            ensure(!grants.is_empty(), Refusal::EmptyChain),
        )?;
        rule(
            0,
            "the chain is not too long",
            ensure(grants.len() <= MAX_LINKS, Refusal::TooLarge),
        )?;
        rule(
            0,
            "all revocations are readable",
            self.revocations.check_readable(),
        )?;
        let mut signatures = Vec::with_capacity(grants.len() + 2);
        for (link, grant) in grants.iter().enumerate() {
            let body = grant.body();
            if let Some(parent) = link.checked_sub(1).map(|i| &grants[i]) {
                rule(
                    link,
                    "it is a child of the grant before and nowhere wider",
                    parent.body().check_narrows(parent.id(), body),
                )?;
            } else {
                rule(
                    link,
                    "it is from the root",
                    ensure(body.by.agent == self.root.id(), Refusal::WrongRoot),
                )?;
                rule(
                    link,
                    "it has no parent",
                    ensure(body.parent.is_none(), Refusal::ParentMismatch),
                )?;
            }
            rule(
                link,
                "it counts at this moment",
                body.check_time(self.now, self.leeway),
            )?;
            rule(
                link,
                "it covers the capability",
                ensure(body.allows(self.capability), Refusal::CapabilityNotGranted),
            )?;
            rule(
                link,
                "its constraints are fulfilled",
                body.constraints.evaluate(&grant.id(), &self.context),
            )?;
            rule(
                link,
                "what is known of revocations is fresh",
                self.check_fresh(body),
            )?;
            rule(
                link,
                "nobody who may has revoked it",
                self.check_revocations(&grants[..=link]),
            )?;
            rule(
                link,
                "its grantee may use the capability",
                self.check_agent(body.to.agent, &grants[..=link]),
            )?;
            let pinned = link.checked_sub(1).map(|i| grants[i].body());
            let key = self.key_of(grant, pinned);
            rule(
                link,
                "the grantor's key was current when it was issued, and is not compromised",
                key.as_ref().map(|_| ()).map_err(|r| *r),
            )?;
            signatures.extend(key.map(|key| Signature::again(link, grant.as_bytes(), key)));
        }
        // Not empty, as was checked first.
        let last = &grants[grants.len() - 1];
        let holder = grants.len();
        // Each child ends no later than its parent.
        let mut not_after = last.body().not_after;
        if let Some((proof, expected)) = &self.proof {
            let by = proof.body().by;
            rule(
                holder,
                "the proof is by the grantee",
                ensure(by.agent == last.body().to.agent, Refusal::WrongSigner),
            )?;
            rule(
                holder,
                "the proof is for this grant, audience and moment",
                proof
                    .body()
                    .check(&last.id(), expected, self.now, self.leeway),
            )?;
            // What the identity's own key has signed: the proof, or the certificate of the key that
            // signed the proof.
            let method = proof.body().method.as_ref();
            if let Some(method) = method {
                rule(
                    holder,
                    "the certificate of the proof's key is by the holder",
                    ensure(method.body().by == by, Refusal::WrongSigner),
                )?;
            }
            let key = match method {
                Some(method) => self.key_of_certificate(method, last.body()),
                None => self.key_of(proof, Some(last.body())),
            };
            rule(
                holder,
                "the holder's key is the current one, and is not compromised",
                key.as_ref().map(|_| ()).map_err(|r| *r),
            )?;
            let proven = proof.as_bytes();
            if let Some(method) = method {
                rule(
                    holder,
                    "the certificate is for this use and moment",
                    method
                        .body()
                        .check_use(self.capability, self.now, self.leeway),
                )?;
                not_after = not_after.min(method.body().not_after);
                signatures.extend(key.map(|key| Signature::again(holder, method.as_bytes(), key)));
                let certified = Key::Bytes(&method.body().keys);
                signatures.push(Signature::once(holder, proven, certified));
            } else {
                signatures.extend(key.map(|key| Signature::once(holder, proven, key)));
            }
        }
        let held = signatures::check(&signatures, cache);
        for link in 0..grants.len() + usize::from(self.proof.is_some()) {
            let failed = match held {
                Err((at, reason)) if at == link => Err(reason),
                _ => Ok(()),
            };
            rule(link, "its signature holds", failed)?;
        }
        let agents =
            std::iter::once(self.root.id()).chain(grants.iter().map(|g| g.body().to.agent));
        Ok(Accepted {
            holder: self
                .proof
                .as_ref()
                .map_or(last.body().to, |(proof, _)| proof.body().by),
            agents: agents.collect(),
            grants: grants.iter().map(Signed::id).collect(),
            not_after,
            possession_proven: self.proof.is_some(),
        })
    }

    /// The agent's document, the newest of several, if it fits the grant to this agent and the
    /// signer's key is none that the grant had left behind.
    fn document(&self, by: KeyRef, pinned: Option<&Grant>) -> Result<Option<&VerifiedDocument>> {
        let known = std::iter::once(self.root).chain(self.documents);
        let Some(document) = newest(known, by.agent) else {
            return Ok(None);
        };
        document.check_time(self.now, self.leeway)?;
        if let Some(grant) = pinned {
            let known = document.key(grant.to.key).ok_or(Refusal::UnknownKey)?;
            ensure(*known.set() == grant.to_keys, Refusal::KeyMismatch)?;
            ensure(by.key >= grant.to.key, Refusal::RetiredKey)?;
        }
        Ok(Some(document))
    }

    /// The key that has to have signed: from the agent's document, or, without a document, as the
    /// grant to it pinned it.
    fn key_of<'k, T: Object>(
        &'k self,
        object: &Signed<T>,
        pinned: Option<&'k Grant>,
    ) -> Result<Key<'k>> {
        let by = object.body().by();
        match self.document(by, pinned)? {
            Some(document) => document
                .key_for(by.key, &object.id(), object.body().issued(), self.anchors)
                .map(Key::Prepared),
            None => pinned_key(by, pinned),
        }
    }

    /// The same for the certificate of a further key.
    fn key_of_certificate<'k>(
        &'k self,
        method: &Signed<Method>,
        pinned: &'k Grant,
    ) -> Result<Key<'k>> {
        let by = method.body().by;
        match self.document(by, Some(pinned))? {
            Some(document) => document.key_of_certificate(method).map(Key::Prepared),
            None => pinned_key(by, Some(pinned)),
        }
    }
}

/// The key that the grant to an agent names: all that is known of one without a document.
fn pinned_key(by: KeyRef, pinned: Option<&Grant>) -> Result<Key<'_>> {
    let grant = pinned.ok_or(Refusal::DocumentMissing)?;
    ensure(by == grant.to, Refusal::DocumentMissing)?;
    Ok(Key::Bytes(&grant.to_keys))
}

#[cfg(test)]
mod possession_tests;
#[cfg(test)]
mod retired_tests;
#[cfg(test)]
mod tests;

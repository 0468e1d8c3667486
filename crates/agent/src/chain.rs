//! Chains: from a root that the verifier names, link by link, to a holder who proves that he is the one.
//!
//! The check is one list of rules in a fixed order; the first that does not hold is the answer, with the link it failed at.
//! Signatures come last and all at once: everything cheaper has spoken before. Nothing is taken from a grant that another
//! does not confirm: who signed the first is the root's document, who signed the next is the grantee of the one before.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::anchor::Anchors;
use crate::capability::Capability;
use crate::constraint::Context;
use crate::cose::{self, Message};
use crate::declaration::Declaration;
use crate::error::{Refusal, Result, ensure};
use crate::grant::Grant;
use crate::id::{AgentId, Hash};
use crate::identity::VerifiedDocument;
use crate::keys::{KeySet, VerifyingKeys};
use crate::lineage::VerifiedLineage;
use crate::object::{KeyRef, Signed};
use crate::proof::{Expected, Proof};
use crate::revocation::{Revocations, Target};

/// Longest chain.
pub const MAX_LINKS: usize = 32;

/// What the verifier asks, and what it knows.
#[derive(Debug, Clone, Copy)]
pub struct Check<'a> {
    /// From whom the authority has to come.
    pub root: &'a VerifiedDocument,
    /// Documents of other agents, as new as they can be had: needed where an agent has rotated since it was granted
    /// something, and to know of keys that were compromised.
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
    /// Declarations of refusal; each is verified against the documents.
    pub declarations: &'a [Signed<Declaration>],
    /// Lines of descent; where one is of an agent of the chain, its authority bounds it and its ancestors' end ends it.
    pub lineages: &'a [VerifiedLineage],
    /// What logs had taken in.
    pub anchors: &'a Anchors,
    /// The holder's proof and what is expected of it. `None`: only the grants are checked, and the caller has to say so.
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
    /// The end of the shortest-lived, Unix seconds.
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

/// Signatures that are known to hold, and prepared keys, both bounded.
///
/// A signature is remembered by the hash of the whole message and the key, never by anything it says of itself; what depends
/// on the moment is checked each time.
#[derive(Debug, Default)]
pub struct Cache {
    known: HashSet<[u8; 32]>,
    order: VecDeque<[u8; 32]>,
    keys: HashMap<KeySet, VerifyingKeys>,
}

impl Cache {
    /// Most signatures and keys that are kept.
    pub const MAX: usize = 65_536;

    fn name(message: &[u8], keys: &VerifyingKeys) -> [u8; 32] {
        let mut hash = signet_crypto::hash::Sha256::new();
        hash.update(&keys.set().commitment().0);
        hash.update(message);
        hash.finish()
    }

    fn remember(&mut self, name: [u8; 32]) {
        if self.known.insert(name) {
            self.order.push_back(name);
        }
        if self.order.len() > Self::MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    fn prepared(&mut self, set: &KeySet) -> Result<VerifyingKeys> {
        if let Some(keys) = self.keys.get(set) {
            return Ok(keys.clone());
        }
        let keys = VerifyingKeys::new(set)?;
        if self.keys.len() >= Self::MAX {
            self.keys.clear();
        }
        self.keys.insert(set.clone(), keys.clone());
        Ok(keys)
    }
}

impl Check<'_> {
    /// Checks a chain, the root's grant first.
    ///
    /// # Errors
    /// The first rule that does not hold, and where.
    pub fn run(&self, grants: &[Signed<Grant>]) -> std::result::Result<Accepted, ChainRefusal> {
        self.run_with(grants, &mut Cache::default(), &mut |_| ())
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
        self.run_with(grants, cache, &mut |_| ())
    }

    /// Every rule that was looked at, link by link, up to the one that refused.
    pub fn explain(
        &self,
        grants: &[Signed<Grant>],
    ) -> (Vec<Step>, std::result::Result<Accepted, ChainRefusal>) {
        let mut steps = Vec::new();
        let outcome = self.run_with(grants, &mut Cache::default(), &mut |step| steps.push(step));
        (steps, outcome)
    }

    fn run_with(
        &self,
        grants: &[Signed<Grant>],
        cache: &mut Cache,
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
        let mut keys: Vec<VerifyingKeys> = Vec::with_capacity(grants.len() + 1);
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
            let key = self.key_of(body.by, &grant.id(), pinned, cache);
            rule(
                link,
                "the grantor's key is known and was not compromised",
                key.as_ref().map(|_| ()).map_err(|r| *r),
            )?;
            keys.extend(key);
        }
        // Not empty, as was checked first.
        let last = &grants[grants.len() - 1];
        let holder = grants.len();
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
            let key = self.key_of(by, &proof.id(), Some(last.body()), cache);
            rule(
                holder,
                "the holder's key is known and was not compromised",
                key.as_ref().map(|_| ()).map_err(|r| *r),
            )?;
            keys.extend(key);
        }
        let messages = grants
            .iter()
            .map(|g| g.as_bytes())
            .chain(self.proof.iter().map(|(p, _)| p.as_bytes()));
        let mut unknown = Vec::new();
        for (link, (data, keys)) in messages.zip(&keys).enumerate() {
            let name = Cache::name(data, keys);
            if !cache.known.contains(&name) {
                let message =
                    Message::parse(data).map_err(|reason| ChainRefusal { link, reason })?;
                unknown.push((link, name, (message, keys)));
            }
        }
        let batch: Vec<_> = unknown.iter().map(|(_, _, item)| item.clone()).collect();
        let signatures = cose::verify_batch(&batch);
        for (link, _) in keys.iter().enumerate() {
            let failed = match signatures {
                Err((i, reason)) if unknown[i].0 == link => Err(reason),
                _ => Ok(()),
            };
            rule(link, "its signature holds", failed)?;
        }
        for (link, name, _) in &unknown {
            // A proof counts once; a grant comes again.
            if *link < grants.len() {
                cache.remember(*name);
            }
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
            // Each child ends no later than its parent.
            not_after: last.body().not_after,
            possession_proven: self.proof.is_some(),
        })
    }

    fn document(&self, agent: AgentId) -> Option<&VerifiedDocument> {
        let known = std::iter::once(self.root).chain(self.documents);
        let own = known.filter(|document| document.id() == agent);
        // Of several, the one with the longest history.
        own.max_by_key(|document| document.by().key)
    }

    /// The key that has to have signed: from the agent's document, or, where there is none, as the grant to it pinned it.
    fn key_of(
        &self,
        by: KeyRef,
        object: &Hash,
        pinned: Option<&Grant>,
        cache: &mut Cache,
    ) -> Result<VerifyingKeys> {
        if let Some(document) = self.document(by.agent) {
            if let Some(grant) = pinned {
                let known = document.key(grant.to.key).ok_or(Refusal::UnknownKey)?;
                ensure(*known.set() == grant.to_keys, Refusal::KeyMismatch)?;
            }
            return document.key_for(by.key, object, self.anchors).cloned();
        }
        let grant = pinned.ok_or(Refusal::DocumentMissing)?;
        ensure(by == grant.to, Refusal::DocumentMissing)?;
        cache.prepared(&grant.to_keys)
    }

    fn check_fresh(&self, grant: &Grant) -> Result<()> {
        let demands = [self.max_staleness, grant.revocation.max_staleness];
        match demands.into_iter().flatten().min() {
            Some(most) => self.revocations.check_fresh(self.now, most),
            None => Ok(()),
        }
    }

    /// The last of these links against every revocation; the others were checked before it.
    fn check_revocations(&self, links: &[Signed<Grant>]) -> Result<()> {
        let Some((grant, above)) = links.split_last() else {
            return Ok(());
        };
        let body = grant.body();
        let grantor = |by: AgentId| links.iter().any(|link| link.body().by.agent == by);
        let delegate = |by: AgentId| {
            links
                .iter()
                .any(|link| link.body().revocation.delegates.contains(&by))
        };
        let may = |by: AgentId| grantor(by) || delegate(by);
        let revoked = self.revocations.contains(Target::Grant(grant.id()), may)
            || above.iter().enumerate().any(|(i, ancestor)| {
                let may = |by: AgentId| {
                    links[..=i].iter().any(|l| {
                        l.body().by.agent == by || l.body().revocation.delegates.contains(&by)
                    })
                };
                self.revocations
                    .contains(Target::Subtree(ancestor.id()), may)
            });
        ensure(!revoked, Refusal::Revoked)?;
        // An agent may end itself, and those from whom its authority comes may end it.
        let ended = self
            .revocations
            .contains(Target::Agent(body.to.agent), |by| {
                by == body.to.agent || may(by)
            })
            || self
                .revocations
                .contains(Target::Agent(body.by.agent), grantor)
            || self
                .revocations
                .contains(Target::Everything(body.by.agent), grantor);
        ensure(!ended, Refusal::AgentRevoked)
    }

    /// Descent and declarations of an agent that the chain passes through.
    fn check_agent(&self, agent: AgentId, links: &[Signed<Grant>]) -> Result<()> {
        for declaration in self
            .declarations
            .iter()
            .filter(|d| d.body().by.agent == agent)
        {
            // One that cannot be verified is not believed to be harmless.
            let pinned = links.last().map(Signed::body);
            let key = self.key_of(
                declaration.body().by,
                &declaration.id(),
                pinned,
                &mut Cache::default(),
            )?;
            declaration.verify(&key)?;
            ensure(
                !declaration.body().forbids(self.capability, self.now),
                Refusal::DeclaredRefusal,
            )?;
        }
        for lineage in self
            .lineages
            .iter()
            .filter(|lineage| lineage.child() == agent)
        {
            ensure(lineage.allows(self.capability), Refusal::AuthorityWidened)?;
            for (i, ancestor) in lineage.agents().iter().enumerate() {
                let above = &lineage.agents()[..=i];
                let ended = self
                    .revocations
                    .contains(Target::Agent(*ancestor), |by| above.contains(&by));
                ensure(!ended, Refusal::AgentRevoked)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

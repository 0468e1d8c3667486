//! Lineage: an agent that makes an agent records it, and both sign.
//!
//! A birth names the parent's own birth by hash, so a line of descent is a chain of hashes: a cycle
//! would be a hash that contains itself. The authority of a child is the intersection of its
//! ancestors'; ending an ancestor ends it.

use crate::anchor::Anchors;
use crate::cbor::{Decoder, MapReader};
use crate::chain::capability::Capability;
use crate::cose;
use crate::error::{Refusal, Result, ensure};
use crate::id::{AgentId, Hash};
use crate::identity::{VerifiedDocument, newest};
use crate::keys::SigningKeys;
use crate::object::{Fields, KeyRef, Object, Signed, Type, check_ascending, read_by, read_hash};
use crate::revocation::{Revocations, Target};
use crate::text::check_text;

/// Most generations.
pub const MAX_GENERATIONS: usize = 32;

/// The record of a birth, signed by parent and child, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Birth {
    /// The parent.
    pub by: KeyRef,
    /// The child.
    pub child: KeyRef,
    /// The id of the parent's own birth; `None` for one that nobody made.
    pub parent_birth: Option<Hash>,
    /// What the child may be allowed at most, in ascending order.
    pub authority: Vec<Capability>,
    /// What for.
    pub purpose: String,
    /// When, in Unix seconds.
    pub at: u64,
}

impl Object for Birth {
    const TYPE: Type = Type::Birth;

    fn write(&self, out: &mut Fields) {
        out.by(&self.by);
        out.at(3).bytes(&self.child.agent.0);
        out.uint(4, self.child.key);
        out.hash(5, self.parent_birth.as_ref());
        out.list(6, &self.authority, |out, capability| {
            out.text(capability.as_str());
        });
        out.text(7, &self.purpose);
        out.at(8).uint(self.at);
    }

    fn read(map: &mut MapReader<'_, '_>) -> Result<Self> {
        let by = read_by(map)?;
        let agent = AgentId(map.required(3, Decoder::fixed)?);
        let birth = Birth {
            by,
            child: KeyRef {
                agent,
                key: map.uint(4)?,
            },
            parent_birth: map.optional(5, read_hash)?,
            authority: map.list(6, 64, |d| d.text()?.parse())?,
            purpose: map.text(7)?.to_owned(),
            at: map.required(8, Decoder::uint)?,
        };
        check_ascending(&birth.authority)?;
        check_text(&birth.purpose, 512)?;
        Ok(birth)
    }

    fn by(&self) -> KeyRef {
        self.by
    }

    fn issued(&self) -> Option<u64> {
        Some(self.at)
    }
}

impl Signed<Birth> {
    /// Signs a birth as parent and child.
    ///
    /// # Errors
    /// As [`Signed::sign`].
    pub fn sign_birth(
        birth: &Birth,
        parent: &SigningKeys,
        child: &SigningKeys,
    ) -> Result<Signed<Birth>> {
        Self::sign_with(birth, &[parent, child])
    }
}

/// A line of descent, the oldest birth first, all of it verified.
#[derive(Debug, Clone)]
pub struct VerifiedLineage {
    agents: Vec<AgentId>,
    authorities: Vec<Vec<Capability>>,
    head: Hash,
}

impl VerifiedLineage {
    /// Verifies births from the first ancestor down; `documents` has everyone's, and of several of
    /// one agent the newest counts.
    ///
    /// # Errors
    /// [`Refusal::LineageBroken`], [`Refusal::LineageCycle`], [`Refusal::AuthorityWidened`],
    /// [`Refusal::DocumentMissing`] and what signatures refuse.
    pub fn verify(
        births: &[Signed<Birth>],
        documents: &[VerifiedDocument],
        anchors: &Anchors,
    ) -> Result<VerifiedLineage> {
        let first = births.first().ok_or(Refusal::LineageBroken)?;
        ensure(births.len() <= MAX_GENERATIONS, Refusal::TooLarge)?;
        let (mut agents, mut authorities) = (vec![first.body().by.agent], Vec::new());
        let mut previous: Option<&Signed<Birth>> = None;
        for birth in births {
            let body = birth.body();
            ensure(
                body.parent_birth == previous.map(Signed::id),
                Refusal::LineageBroken,
            )?;
            // The agents before it are the parents so far, the last of them the one that gives
            // birth.
            ensure(
                agents.last() == Some(&body.by.agent),
                Refusal::LineageBroken,
            )?;
            ensure(!agents.contains(&body.child.agent), Refusal::LineageCycle)?;
            if let Some(previous) = previous {
                let from = previous.body();
                ensure(body.at >= from.at, Refusal::LineageBroken)?;
                let covered =
                    |asked: &Capability| from.authority.iter().any(|own| own.covers(asked));
                ensure(
                    body.authority.iter().all(covered),
                    Refusal::AuthorityWidened,
                )?;
            }
            let key = |who: KeyRef| {
                let document = newest(documents, who.agent).ok_or(Refusal::DocumentMissing)?;
                document.key_for(who.key, &birth.id(), Some(body.at), anchors)
            };
            cose::verify(&birth.message()?, &[key(body.by)?, key(body.child)?])?;
            agents.push(body.child.agent);
            authorities.push(body.authority.clone());
            previous = Some(birth);
        }
        let head = previous.map(Signed::id).ok_or(Refusal::LineageBroken)?;
        Ok(VerifiedLineage {
            agents,
            authorities,
            head,
        })
    }

    /// Whether nobody of the line was ended, by himself or by one above: ending a parent ends its
    /// children.
    ///
    /// # Errors
    /// [`Refusal::AgentRevoked`]; [`Refusal::RevocationUnreadable`] if one of the revocations could
    /// not be read.
    pub fn check_standing(&self, revocations: &Revocations) -> Result<()> {
        revocations.check_readable()?;
        for (i, agent) in self.agents.iter().enumerate() {
            let above = &self.agents[..=i];
            let ended = revocations.contains(Target::Agent(*agent), |by| above.contains(&by));
            ensure(!ended, Refusal::AgentRevoked)?;
        }
        Ok(())
    }

    /// Everyone from the first ancestor to the child.
    pub fn agents(&self) -> &[AgentId] {
        &self.agents
    }

    /// The youngest.
    pub fn child(&self) -> AgentId {
        // The first parent and one child at least.
        self.agents[self.agents.len() - 1]
    }

    /// The id of the youngest birth: what a grandchild's birth names.
    pub fn head(&self) -> Hash {
        self.head
    }

    /// Whether every ancestor's authority covers this.
    pub fn allows(&self, capability: &Capability) -> bool {
        self.authorities
            .iter()
            .all(|authority| authority.iter().any(|own| own.covers(capability)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{Created, create};
    use crate::keys::Suite;

    fn agent(name: &str) -> Created {
        create(name, Suite::Ed25519, 1).expect("created")
    }

    fn birth(
        parent: &Created,
        child: &Created,
        parent_birth: Option<Hash>,
        authority: &str,
    ) -> Signed<Birth> {
        let body = Birth {
            by: parent.document.by(),
            child: child.document.by(),
            parent_birth,
            authority: vec![authority.parse().expect("capability")],
            purpose: "to help".into(),
            at: 10,
        };
        Signed::sign_birth(&body, &parent.keys, &child.keys).expect("signed")
    }

    fn verify(births: &[Signed<Birth>], all: &[&Created]) -> Result<VerifiedLineage> {
        let documents: Vec<_> = all.iter().map(|c| c.document.clone()).collect();
        VerifiedLineage::verify(births, &documents, &Anchors::none())
    }

    // Known fault G11: a child's authority was rewritten to `*` with a garbage parent signature; a
    // cycle never ended.
    #[test]
    fn a_childs_authority_is_the_intersection_of_its_ancestors() {
        let (a, b, c) = (agent("a"), agent("b"), agent("c"));
        let first = birth(&a, &b, None, "read:files/*");
        let second = birth(&b, &c, Some(first.id()), "read:files/x");
        let line = verify(&[first.clone(), second], &[&a, &b, &c]).expect("verified");
        assert_eq!(
            line.agents(),
            [a.document.id(), b.document.id(), c.document.id()]
        );
        assert!(line.allows(&"read:files/x".parse().expect("capability")));
        assert!(!line.allows(&"read:files/y".parse().expect("capability")));
        let wider = birth(&b, &c, Some(first.id()), "read:*");
        assert_eq!(
            verify(&[first.clone(), wider], &[&a, &b, &c]).err(),
            Some(Refusal::AuthorityWidened)
        );
        // The parent's half signed by the child itself.
        let mut body = first.body().clone();
        body.authority = vec!["*:*".parse().expect("capability")];
        let forged = Signed::sign_birth(&body, &b.keys, &b.keys).expect("signed");
        assert_eq!(
            verify(&[forged], &[&a, &b]).err(),
            Some(Refusal::SignatureInvalid)
        );
    }

    #[test]
    fn a_line_of_descent_has_no_cycles_gaps_or_strangers() {
        let (a, b, c) = (agent("a"), agent("b"), agent("c"));
        let first = birth(&a, &b, None, "read:*");
        let second = birth(&b, &c, Some(first.id()), "read:*");
        let back = birth(&b, &a, Some(first.id()), "read:*");
        assert_eq!(
            verify(&[first.clone(), back], &[&a, &b]).err(),
            Some(Refusal::LineageCycle)
        );
        let own = birth(&a, &a, None, "read:*");
        assert_eq!(verify(&[own], &[&a]).err(), Some(Refusal::LineageCycle));
        assert_eq!(verify(&[], &[&a]).err(), Some(Refusal::LineageBroken));
        assert_eq!(
            verify(std::slice::from_ref(&second), &[&b, &c]).err(),
            Some(Refusal::LineageBroken)
        );
        assert_eq!(
            verify(&[second.clone(), first.clone()], &[&a, &b, &c]).err(),
            Some(Refusal::LineageBroken)
        );
        assert_eq!(
            verify(&[first, second], &[&a, &b]).err(),
            Some(Refusal::DocumentMissing)
        );
    }
}

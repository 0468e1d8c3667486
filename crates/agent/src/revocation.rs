//! Revocations: what no longer counts, said by one who may say so.
//!
//! Who may depends on the chain: the grantor of a grant, those who granted to him, and delegates
//! that a grant names; an agent may end itself. [`crate::chain`] knows the chain and asks
//! [`Revocations`]. A revocation by anybody else does nothing. One that cannot be read, or whose
//! signature does not hold, makes the whole answer impossible: it may be any.

use crate::anchor::Anchors;
use crate::cbor::{Decoder, MapReader};
use crate::error::{Refusal, Result, ensure};
use crate::id::{AgentId, Hash};
use crate::identity::{MAX_REASON, VerifiedDocument};
use crate::object::{Fields, KeyRef, Object, Signed, Type, read_by, read_hash};
use crate::text::check_text;

/// What is revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// A grant, and with it all that was delegated under it.
    Grant(Hash),
    /// What was delegated under a grant; the grant itself stays.
    Subtree(Hash),
    /// An agent: every grant to it and from it.
    Agent(AgentId),
    /// Every grant from an agent; grants to it stay.
    Everything(AgentId),
}

impl Target {
    /// Its kind, as CBOR has it, and what it names.
    pub const fn parts(&self) -> (u64, &[u8; 32]) {
        match self {
            Target::Grant(hash) => (1, &hash.0),
            Target::Subtree(hash) => (2, &hash.0),
            Target::Agent(id) => (3, &id.0),
            Target::Everything(id) => (4, &id.0),
        }
    }

    /// The target of a kind.
    ///
    /// # Errors
    /// [`Refusal::InvalidValue`] for a kind that does not exist.
    pub fn from_parts(kind: u64, of: [u8; 32]) -> Result<Target> {
        Ok(match kind {
            1 => Target::Grant(Hash(of)),
            2 => Target::Subtree(Hash(of)),
            3 => Target::Agent(AgentId(of)),
            4 => Target::Everything(AgentId(of)),
            _ => return Err(Refusal::InvalidValue),
        })
    }
}

/// A revocation. It does not end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revocation {
    /// Who revokes.
    pub by: KeyRef,
    /// What.
    pub target: Target,
    /// Why.
    pub reason: String,
    /// When, in Unix seconds: for the record. It counts from when it is known.
    pub at: u64,
}

impl Object for Revocation {
    const TYPE: Type = Type::Revocation;

    fn write(&self, out: &mut Fields) {
        out.by(&self.by);
        let (kind, of) = self.target.parts();
        out.at(3).uint(kind);
        out.at(4).bytes(of);
        out.text(5, &self.reason);
        out.at(6).uint(self.at);
    }

    fn read(map: &mut MapReader<'_, '_>) -> Result<Self> {
        let revocation = Revocation {
            by: read_by(map)?,
            target: {
                let kind = map.required(3, Decoder::uint)?;
                Target::from_parts(kind, map.required(4, read_hash)?.0)?
            },
            reason: map.text(5)?.to_owned(),
            at: map.required(6, Decoder::uint)?,
        };
        check_text(&revocation.reason, MAX_REASON)?;
        Ok(revocation)
    }

    fn by(&self) -> KeyRef {
        self.by
    }

    fn issued(&self) -> Option<u64> {
        // It counts from when it is known.
        None
    }
}

/// What a verifier knows of revocations: each verified, and up to when the knowledge is complete.
#[derive(Debug, Clone, Default)]
pub struct Revocations {
    known: Vec<(AgentId, Target)>,
    as_of: u64,
    unreadable: bool,
}

impl Revocations {
    /// None known, complete up to this Unix second (0: nothing is claimed).
    pub fn as_of(time: u64) -> Revocations {
        Revocations {
            as_of: time,
            ..Revocations::default()
        }
    }

    /// Verifies one and adds it. One that cannot be verified poisons the answer until it is taken
    /// out by a new set.
    ///
    /// # Errors
    /// Why it could not be verified.
    pub fn add(
        &mut self,
        data: &[u8],
        document: &VerifiedDocument,
        anchors: &Anchors,
    ) -> Result<()> {
        let verified = Signed::<Revocation>::parse(data.to_vec())
            .and_then(|signed| signed.verify_by(document, anchors).map(|()| signed));
        match verified {
            Ok(signed) => {
                self.known
                    .push((signed.body().by.agent, signed.body().target));
                Ok(())
            }
            Err(reason) => {
                self.unreadable = true;
                Err(reason)
            }
        }
    }

    /// Adds one that the caller verified when it arrived, and keeps as such: a revocation counts
    /// from when it is known, and a key that its signer gives up later takes nothing back.
    pub fn add_known(&mut self, by: AgentId, target: Target) {
        self.known.push((by, target));
    }

    /// Notes that a revocation arrived that could not even be read or attributed.
    pub fn add_unreadable(&mut self) {
        self.unreadable = true;
    }

    /// # Errors
    /// [`Refusal::RevocationUnreadable`] if there was one.
    pub(crate) fn check_readable(&self) -> Result<()> {
        ensure(!self.unreadable, Refusal::RevocationUnreadable)
    }

    /// # Errors
    /// [`Refusal::RevocationsStale`] if the knowledge is older than this many seconds.
    pub(crate) fn check_fresh(&self, now: u64, most: u64) -> Result<()> {
        ensure(
            now <= self.as_of.saturating_add(most),
            Refusal::RevocationsStale,
        )
    }

    /// Whether one who may has revoked this.
    pub(crate) fn contains(&self, target: Target, may: impl Fn(AgentId) -> bool) -> bool {
        self.known
            .iter()
            .any(|(by, known)| *known == target && may(*by))
    }
}

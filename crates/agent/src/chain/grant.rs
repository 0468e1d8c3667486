//! Grants: who lets whom do what, under which constraints.
//!
//! A grant names its grantee by id and key, its parent by hash, and says how it is revoked. It is
//! worth nothing alone: [`crate::chain`] checks the grants from a root to a holder.

use signet_crypto::random;

use crate::cbor::{Decoder, MapReader};
use crate::chain::capability::Capability;
use crate::chain::constraint::Constraints;
use crate::error::{Refusal, Result, ensure};
use crate::id::{AgentId, Hash};
use crate::identity::VerifiedDocument;
use crate::keys::KeySet;
use crate::object::{Fields, KeyRef, Object, Signed, Type, check_ascending, read_by, read_hash};
use crate::text::check_text;

/// Most capabilities of one grant.
pub const MAX_CAPABILITIES: usize = 64;

/// How a grant is revoked, besides by its grantor and by those who granted to him.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RevocationRules {
    /// Agents that may revoke it too, in ascending order.
    pub delegates: Vec<AgentId>,
    /// Where revocations are published; may be empty.
    pub status: String,
    /// How old, in seconds, a verifier's knowledge of revocations may be. `None`: the verifier's
    /// own rule alone.
    pub max_staleness: Option<u64>,
}

/// A grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The grantor.
    pub by: KeyRef,
    /// The grantee, and the number of its key when the grant was made.
    pub to: KeyRef,
    /// That key.
    pub to_keys: KeySet,
    /// What is granted, in ascending order.
    pub capabilities: Vec<Capability>,
    /// When it was made, Unix seconds.
    pub issued: u64,
    /// The first second in which it counts; 0 where it counts at once.
    pub not_before: u64,
    /// The last second in which it counts.
    pub not_after: u64,
    /// Random: two grants are never one.
    pub serial: [u8; 8],
    /// How many further delegations it allows.
    pub max_depth: u64,
    /// The id of the parent; `None` for the first of a chain.
    pub parent: Option<Hash>,
    /// Its constraints.
    pub constraints: Constraints,
    /// How it is revoked.
    pub revocation: RevocationRules,
}

impl Grant {
    /// A grant without constraints, from one to another, valid from `now` for `seconds`.
    pub fn new(
        by: KeyRef,
        to: &VerifiedDocument,
        capabilities: Vec<Capability>,
        now: u64,
        seconds: u64,
    ) -> Grant {
        let mut capabilities = capabilities;
        capabilities.sort_unstable();
        capabilities.dedup();
        Grant {
            by,
            to: to.by(),
            to_keys: to.current().set().clone(),
            capabilities,
            issued: now,
            not_before: 0,
            not_after: now.saturating_add(seconds),
            serial: random::bytes(),
            max_depth: 0,
            parent: None,
            constraints: Constraints::default(),
            revocation: RevocationRules::default(),
        }
    }

    /// Makes this a child of `parent`: what it does not constrain itself it inherits, and its end
    /// is cut to the parent's.
    ///
    /// # Errors
    /// The dimension in which it would still be wider, as [`check_narrows`](Self::check_narrows).
    pub fn under(mut self, parent: &Signed<Grant>) -> Result<Grant> {
        let from = parent.body();
        self.parent = Some(parent.id());
        self.not_before = self.not_before.max(from.not_before);
        self.not_after = self.not_after.min(from.not_after);
        let (own, inherited) = (&mut self.constraints, &from.constraints);
        if own.audience.is_empty() {
            own.audience.clone_from(&inherited.audience);
        }
        own.max_uses = own.max_uses.or(inherited.max_uses);
        own.budget = own.budget.take().or_else(|| inherited.budget.clone());
        if own.networks.is_empty() {
            own.networks.clone_from(&inherited.networks);
        }
        let mut custom: Vec<(String, String)> = Vec::new();
        for (name, value) in inherited.custom.iter().chain(own.custom.iter()) {
            if !custom
                .iter()
                .any(|(known, same)| known == name && same == value)
            {
                custom.push((name.to_owned(), value.to_owned()));
            }
        }
        own.custom = crate::text_map::TextMap::new(custom).map_err(|_| Refusal::CustomWidened)?;
        for delegate in &from.revocation.delegates {
            if !self.revocation.delegates.contains(delegate) {
                self.revocation.delegates.push(*delegate);
            }
        }
        self.revocation.delegates.sort_unstable();
        let stricter = [self.revocation.max_staleness, from.revocation.max_staleness];
        self.revocation.max_staleness = stricter.into_iter().flatten().min();
        if self.revocation.status.is_empty() {
            self.revocation.status.clone_from(&from.revocation.status);
        }
        parent.body().check_narrows(parent.id(), &self)?;
        Ok(self)
    }

    /// Whether `child` is a child of this grant, whose id is `id`, and a subset of it in every
    /// dimension.
    ///
    /// # Errors
    /// The first dimension in which it is not.
    pub fn check_narrows(&self, id: Hash, child: &Grant) -> Result<()> {
        ensure(child.parent == Some(id), Refusal::ParentMismatch)?;
        ensure(child.by.agent == self.to.agent, Refusal::GrantorMismatch)?;
        ensure(child.max_depth < self.max_depth, Refusal::DepthExceeded)?;
        let covered = |asked: &Capability| self.capabilities.iter().any(|own| own.covers(asked));
        ensure(
            child.capabilities.iter().all(covered),
            Refusal::CapabilityWidened,
        )?;
        let within = child.not_before >= self.not_before && child.not_after <= self.not_after;
        ensure(within, Refusal::TimeWidened)?;
        self.constraints.check_narrows(&child.constraints)?;
        let (own, theirs) = (&self.revocation, &child.revocation);
        let kept = own
            .delegates
            .iter()
            .all(|delegate| theirs.delegates.contains(delegate))
            && own
                .max_staleness
                .is_none_or(|most| theirs.max_staleness.is_some_and(|s| s <= most));
        ensure(kept, Refusal::RevocationWidened)
    }

    /// Whether it counts at this moment; `leeway` seconds of skew are forgiven at the beginning.
    ///
    /// # Errors
    /// [`Refusal::NotYetValid`], [`Refusal::Expired`].
    pub fn check_time(&self, now: u64, leeway: u64) -> Result<()> {
        let begun = self.issued.max(self.not_before) <= now.saturating_add(leeway);
        ensure(begun, Refusal::NotYetValid)?;
        ensure(now <= self.not_after, Refusal::Expired)
    }

    /// Whether one of its capabilities covers this one.
    pub fn allows(&self, capability: &Capability) -> bool {
        self.capabilities.iter().any(|own| own.covers(capability))
    }
}

impl Object for Grant {
    const TYPE: Type = Type::Grant;

    fn write(&self, out: &mut Fields) {
        out.by(&self.by);
        out.at(3).bytes(&self.to.agent.0);
        out.uint(4, self.to.key);
        self.to_keys.write(out.at(5));
        out.list(6, &self.capabilities, |out, capability| {
            out.text(capability.as_str());
        });
        out.at(7).uint(self.issued);
        out.uint(8, self.not_before);
        out.at(9).uint(self.not_after);
        out.at(10).bytes(&self.serial);
        out.uint(11, self.max_depth);
        out.hash(12, self.parent.as_ref());
        self.constraints.write(out);
        out.list(18, &self.revocation.delegates, |out, delegate| {
            out.bytes(&delegate.0);
        });
        out.text(19, &self.revocation.status);
        if let Some(most) = self.revocation.max_staleness {
            out.at(20).uint(most);
        }
    }

    fn read(map: &mut MapReader<'_, '_>) -> Result<Self> {
        let by = read_by(map)?;
        let to = AgentId(map.required(3, Decoder::fixed)?);
        let to = KeyRef {
            agent: to,
            key: map.uint(4)?,
        };
        let grant = Grant {
            by,
            to,
            to_keys: map.required(5, KeySet::read)?,
            capabilities: map.required(6, |d| d.list(MAX_CAPABILITIES, |d| d.text()?.parse()))?,
            issued: map.required(7, Decoder::uint)?,
            not_before: map.uint(8)?,
            not_after: map.required(9, Decoder::uint)?,
            serial: map.required(10, Decoder::fixed)?,
            max_depth: map.uint(11)?,
            parent: map.optional(12, read_hash)?,
            constraints: Constraints::read(map)?,
            revocation: RevocationRules {
                delegates: map.list(18, 16, |d| d.fixed().map(AgentId))?,
                status: map.text(19)?.to_owned(),
                max_staleness: map.optional(20, Decoder::uint)?,
            },
        };
        check_ascending(&grant.capabilities)?;
        check_ascending(&grant.revocation.delegates)?;
        check_text(&grant.revocation.status, 512)?;
        ensure(!grant.capabilities.is_empty(), Refusal::InvalidValue)?;
        Ok(grant)
    }

    fn by(&self) -> KeyRef {
        self.by
    }

    fn issued(&self) -> Option<u64> {
        Some(self.issued)
    }
}

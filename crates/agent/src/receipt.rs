//! Receipts: what an agent did, under which grant, with which outcome.
//!
//! Content is named by its hash and checked against it; further fields can be committed to with
//! salts and disclosed one by one. Each receipt names the one before it by hash and counts from 0,
//! so that a receipt that was rewritten, cut out, moved or put in shows. That the last ones are
//! missing shows by the head or the count that one knows, or by a log.

pub mod competence;
pub mod witness;

use signet_crypto::random;

use crate::cbor::{Decoder, Encoder, MapReader};
use crate::error::{Refusal, Result, ensure};
use crate::id::{AgentId, Hash};
use crate::object::{Fields, KeyRef, Object, Signed, Type, check_ascending, read_by, read_hash};
use crate::text::check_text;

/// What a policy decided on the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Decision {
    /// No policy was asked.
    #[default]
    None,
    /// Allowed.
    Allowed,
    /// Denied.
    Denied,
    /// Allowed because a person approved it.
    Approved,
}

/// How the action ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Outcome {
    /// Not said.
    #[default]
    Unknown,
    /// It did what it was for.
    Success,
    /// It did not.
    Failure,
}

impl Decision {
    const ALL: [Decision; 4] = [
        Decision::None,
        Decision::Allowed,
        Decision::Denied,
        Decision::Approved,
    ];
}

impl Outcome {
    const ALL: [Outcome; 3] = [Outcome::Unknown, Outcome::Success, Outcome::Failure];
}

/// Finds the member of a small list by its number.
fn numbered<T: Copy>(all: &[T], number: u64) -> Result<T> {
    let found = usize::try_from(number).ok().and_then(|n| all.get(n));
    found.copied().ok_or(Refusal::InvalidValue)
}

/// A receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Who acted.
    pub by: KeyRef,
    /// The type of action.
    pub action: String,
    /// When, in Unix milliseconds.
    pub at_ms: u64,
    /// SHA-256 of what came out, or of what the receipt is about.
    pub content: Option<Hash>,
    /// SHA-256 of what went in.
    pub input: Option<Hash>,
    /// The id of the grant it was done under.
    pub grant: Option<Hash>,
    /// What the policy decided.
    pub decision: Decision,
    /// Which policy.
    pub policy: String,
    /// The id of the receipt before it; `None` for the first.
    pub previous: Option<Hash>,
    /// Its place in the chain, from 0.
    pub index: u64,
    /// Who has to have witnessed it, in ascending order.
    pub witnesses: Vec<AgentId>,
    /// Digests of salted fields, in ascending order.
    pub sealed_fields: Vec<Hash>,
    /// How it ended.
    pub outcome: Outcome,
}

impl Receipt {
    /// A receipt of this action, without anything else.
    pub fn new(by: KeyRef, action: &str, at_ms: u64) -> Receipt {
        Receipt {
            by,
            action: action.to_owned(),
            at_ms,
            content: None,
            input: None,
            grant: None,
            decision: Decision::None,
            policy: String::new(),
            previous: None,
            index: 0,
            witnesses: Vec::new(),
            sealed_fields: Vec::new(),
            outcome: Outcome::Unknown,
        }
    }

    /// The same, about this content.
    pub fn with_content(mut self, content: &[u8]) -> Receipt {
        self.content = Some(Hash::of(content));
        self
    }

    /// The same, after this one.
    pub fn after(mut self, previous: &Signed<Receipt>) -> Receipt {
        self.previous = Some(previous.id());
        self.index = previous.body().index.saturating_add(1);
        self
    }

    /// Commits to a field that can be disclosed alone. What is returned has to be kept to disclose
    /// it.
    ///
    /// # Errors
    /// [`Refusal::InvalidValue`] for a name or value out of bounds, [`Refusal::TooLarge`] for too
    /// many.
    pub fn seal_field(&mut self, name: &str, value: &str) -> Result<Disclosure> {
        let disclosure = Disclosure {
            salt: random::bytes(),
            name: name.to_owned(),
            value: value.to_owned(),
        };
        disclosure.check()?;
        ensure(self.sealed_fields.len() < MAX_SEALED, Refusal::TooLarge)?;
        self.sealed_fields.push(disclosure.digest());
        self.sealed_fields.sort_unstable();
        Ok(disclosure)
    }

    /// Checks content against its hash.
    ///
    /// # Errors
    /// [`Refusal::ContentMismatch`].
    pub fn check_content(&self, content: &[u8]) -> Result<()> {
        ensure(
            self.content == Some(Hash::of(content)),
            Refusal::ContentMismatch,
        )
    }

    /// Checks that a disclosed field is one that was committed to.
    ///
    /// # Errors
    /// [`Refusal::DisclosureMismatch`].
    pub fn check_disclosure(&self, disclosure: &Disclosure) -> Result<()> {
        let known = self
            .sealed_fields
            .binary_search(&disclosure.digest())
            .is_ok();
        ensure(known, Refusal::DisclosureMismatch)
    }
}

/// Most sealed fields of a receipt.
const MAX_SEALED: usize = 64;

/// A field of a receipt, with the salt without which its digest says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disclosure {
    /// Random.
    pub salt: [u8; 16],
    /// The field's name.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl Disclosure {
    /// `SHA-256(["signet-agent-field", salt, name, value])` in CBOR.
    pub fn digest(&self) -> Hash {
        let mut out = Encoder::new();
        out.array(4)
            .text("signet-agent-field")
            .bytes(&self.salt)
            .text(&self.name)
            .text(&self.value);
        Hash::of(&out.finish())
    }

    fn check(&self) -> Result<()> {
        check_text(&self.name, 128)?;
        ensure(
            !self.name.is_empty() && self.value.len() <= 64 * 1024,
            Refusal::InvalidValue,
        )
    }
}

impl Object for Receipt {
    const TYPE: Type = Type::Receipt;

    fn write(&self, out: &mut Fields) {
        out.by(&self.by);
        out.at(3).text(&self.action);
        out.at(4).uint(self.at_ms);
        out.hash(5, self.content.as_ref());
        out.hash(6, self.input.as_ref());
        out.hash(7, self.grant.as_ref());
        out.uint(8, self.decision as u64);
        out.text(9, &self.policy);
        out.hash(10, self.previous.as_ref());
        out.uint(11, self.index);
        out.list(12, &self.witnesses, |out, witness| {
            out.bytes(&witness.0);
        });
        out.list(13, &self.sealed_fields, |out, digest| {
            out.bytes(&digest.0);
        });
        out.uint(14, self.outcome as u64);
    }

    fn read(map: &mut MapReader<'_, '_>) -> Result<Self> {
        let receipt = Receipt {
            by: read_by(map)?,
            action: map.required(3, Decoder::text)?.to_owned(),
            at_ms: map.required(4, Decoder::uint)?,
            content: map.optional(5, read_hash)?,
            input: map.optional(6, read_hash)?,
            grant: map.optional(7, read_hash)?,
            decision: numbered(&Decision::ALL, map.uint(8)?)?,
            policy: map.text(9)?.to_owned(),
            previous: map.optional(10, read_hash)?,
            index: map.uint(11)?,
            witnesses: map.list(12, 16, |d| d.fixed().map(AgentId))?,
            sealed_fields: map.list(13, MAX_SEALED, read_hash)?,
            outcome: numbered(&Outcome::ALL, map.uint(14)?)?,
        };
        ensure(!receipt.action.is_empty(), Refusal::InvalidValue)?;
        check_text(&receipt.action, 128)?;
        check_text(&receipt.policy, 256)?;
        check_ascending(&receipt.witnesses)?;
        check_ascending(&receipt.sealed_fields)?;
        // The first has none before it, every other has.
        ensure(
            receipt.previous.is_some() == (receipt.index > 0),
            Refusal::InvalidValue,
        )?;
        Ok(receipt)
    }

    fn by(&self) -> KeyRef {
        self.by
    }

    fn issued(&self) -> Option<u64> {
        Some(self.at_ms / 1000)
    }
}

/// What is known of a chain's end from elsewhere.
#[derive(Debug, Clone, Copy, Default)]
pub struct KnownEnd {
    /// The id of its last receipt.
    pub head: Option<Hash>,
    /// How many receipts it has.
    pub count: Option<u64>,
}

/// Checks that receipts follow each other: one actor, each naming the one before, counted without
/// gaps, time never running backwards. Signatures are the caller's to check, of each.
///
/// # Errors
/// [`Refusal::ChainStartMissing`] unless the first counts 0, [`Refusal::ChainBroken`],
/// [`Refusal::ChainEndMissing`]; with the position of the receipt it shows at.
pub fn check_chain(
    receipts: &[Signed<Receipt>],
    end: &KnownEnd,
) -> std::result::Result<(), (usize, Refusal)> {
    if receipts
        .first()
        .is_some_and(|first| first.body().index != 0)
    {
        return Err((0, Refusal::ChainStartMissing));
    }
    check_links(receipts)?;
    let last = receipts.len().saturating_sub(1);
    let complete = end.count.is_none_or(|count| count == receipts.len() as u64)
        && end
            .head
            .is_none_or(|head| receipts.last().is_some_and(|last| last.id() == head));
    ensure(complete, Refusal::ChainEndMissing).map_err(|reason| (last, reason))
}

/// The same for a part of a chain: neither its beginning nor its end is known.
///
/// # Errors
/// [`Refusal::ChainBroken`] with the position.
pub fn check_links(receipts: &[Signed<Receipt>]) -> std::result::Result<(), (usize, Refusal)> {
    for (i, pair) in receipts.windows(2).enumerate() {
        let (before, after) = (pair[0].body(), pair[1].body());
        let follows = after.previous == Some(pair[0].id())
            && Some(after.index) == before.index.checked_add(1)
            && after.by.agent == before.by.agent
            && after.by.key >= before.by.key
            && after.at_ms >= before.at_ms;
        ensure(follows, Refusal::ChainBroken).map_err(|reason| (i + 1, reason))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;

//! What one agent says of another.

use crate::cbor::{Decoder, MapReader};
use crate::error::{Refusal, Result, ensure};
use crate::id::AgentId;
use crate::object::{Fields, KeyRef, Object, Type, read_by};
use crate::text::check_text;
use crate::text_map::TextMap;

/// Signed claims of one agent about another. Believing them means trusting the one who signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attestation {
    /// Who attests.
    pub by: KeyRef,
    /// Of whom.
    pub subject: AgentId,
    /// What: names and values.
    pub claims: TextMap,
    /// Since when, Unix seconds.
    pub issued: u64,
    /// Until when.
    pub not_after: u64,
}

impl Attestation {
    /// Whether it counts at this moment.
    ///
    /// # Errors
    /// [`Refusal::NotYetValid`], [`Refusal::Expired`].
    pub fn check_time(&self, now: u64) -> Result<()> {
        ensure(now >= self.issued, Refusal::NotYetValid)?;
        ensure(now <= self.not_after, Refusal::Expired)
    }
}

impl Object for Attestation {
    const TYPE: Type = Type::Attestation;

    fn write(&self, out: &mut Fields) {
        out.by(&self.by);
        out.at(3).bytes(&self.subject.0);
        self.claims.write(out.at(4));
        out.at(5).uint(self.issued);
        out.at(6).uint(self.not_after);
    }

    fn read(map: &mut MapReader<'_, '_>) -> Result<Self> {
        let attestation = Attestation {
            by: read_by(map)?,
            subject: AgentId(map.required(3, Decoder::fixed)?),
            claims: map.required(4, TextMap::read)?,
            issued: map.required(5, Decoder::uint)?,
            not_after: map.required(6, Decoder::uint)?,
        };
        for (name, value) in attestation.claims.iter() {
            check_text(name, 128)?;
            check_text(value, 1024)?;
        }
        Ok(attestation)
    }

    fn by(&self) -> KeyRef {
        self.by
    }

    fn issued(&self) -> Option<u64> {
        Some(self.issued)
    }
}

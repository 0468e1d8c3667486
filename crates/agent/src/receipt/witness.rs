//! Witnesses: others who saw an object (a receipt, a log's checkpoint) and say so.

use std::collections::BTreeSet;

use crate::anchor::Anchors;
use crate::cbor::{Decoder, MapReader};
use crate::error::{Refusal, Result};
use crate::id::{AgentId, Hash};
use crate::identity::{VerifiedDocument, newest};
use crate::object::{Fields, KeyRef, Object, Signed, Type, read_by, read_hash};

/// A witness's statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// Who saw it.
    pub by: KeyRef,
    /// The id of what it saw.
    pub subject: Hash,
    /// When, in Unix milliseconds.
    pub at_ms: u64,
}

impl Object for Witness {
    const TYPE: Type = Type::Witness;

    fn write(&self, out: &mut Fields) {
        out.by(&self.by);
        out.at(3).bytes(&self.subject.0);
        out.at(4).uint(self.at_ms);
    }

    fn read(map: &mut MapReader<'_, '_>) -> Result<Self> {
        Ok(Witness {
            by: read_by(map)?,
            subject: map.required(3, read_hash)?,
            at_ms: map.required(4, Decoder::uint)?,
        })
    }

    fn by(&self) -> KeyRef {
        self.by
    }

    fn issued(&self) -> Option<u64> {
        Some(self.at_ms / 1000)
    }
}

/// Checks that each of these agents signed a statement about the object, and says how many agents
/// that are: one that is named twice is one witness. Of several documents of one agent the newest
/// counts.
///
/// # Errors
/// [`Refusal::WitnessMissing`]; [`Refusal::DocumentMissing`]; what [`Signed::verify_by`] refuses.
pub fn check_witnesses(
    subject: &Hash,
    required: &[AgentId],
    statements: &[Signed<Witness>],
    documents: &[VerifiedDocument],
    anchors: &Anchors,
) -> Result<usize> {
    let mut seen = BTreeSet::new();
    for witness in required {
        let statement = statements
            .iter()
            .find(|s| s.body().subject == *subject && s.body().by.agent == *witness)
            .ok_or(Refusal::WitnessMissing)?;
        let document = newest(documents, *witness).ok_or(Refusal::DocumentMissing)?;
        statement.verify_by(document, anchors)?;
        seen.insert(*witness);
    }
    Ok(seen.len())
}

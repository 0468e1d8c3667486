//! Competence: a signed track record that anybody with the receipts can compute again.

use std::collections::HashSet;

use crate::cbor::{Decoder, MapReader};
use crate::error::{Refusal, Result, ensure};
use crate::id::{AgentId, Hash};
use crate::log::Tree;
use crate::object::{Fields, KeyRef, Object, Signed, Type, read_by, read_hash};
use crate::receipt::{Outcome, Receipt};
use crate::text::check_text;

/// A track record: how often an agent's actions of one type ended well in a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackRecord {
    /// Who says so: the agent itself, or one who has its receipts.
    pub by: KeyRef,
    /// Of whom.
    pub subject: AgentId,
    /// The type of action.
    pub action: String,
    /// The first Unix millisecond.
    pub from_ms: u64,
    /// The last one.
    pub until_ms: u64,
    /// Receipts that were counted.
    pub attempts: u64,
    /// Those that ended well.
    pub successes: u64,
    /// Those that did not. The rest did not say.
    pub failures: u64,
    /// The root of the Merkle tree over the counted receipts, in their order: what was counted,
    /// without naming it.
    pub root: Hash,
}

impl TrackRecord {
    /// Counts receipts: those of the subject, of this action, in this time; others are passed over,
    /// and so is a receipt that was counted before. Their signatures are the caller's to check.
    ///
    /// # Errors
    /// [`Refusal::InvalidValue`] for an unusable action or time.
    pub fn compute(
        by: KeyRef,
        subject: AgentId,
        action: &str,
        from_ms: u64,
        until_ms: u64,
        receipts: &[Signed<Receipt>],
    ) -> Result<TrackRecord> {
        check_text(action, 128)?;
        ensure(
            from_ms <= until_ms && !action.is_empty(),
            Refusal::InvalidValue,
        )?;
        let mut tree = Tree::default();
        let mut counted = HashSet::new();
        let (mut successes, mut failures) = (0, 0);
        for receipt in receipts {
            let body = receipt.body();
            let counts = body.by.agent == subject
                && body.action == action
                && (from_ms..=until_ms).contains(&body.at_ms);
            if counts && counted.insert(receipt.id()) {
                tree.append(receipt.payload());
                successes += u64::from(body.outcome == Outcome::Success);
                failures += u64::from(body.outcome == Outcome::Failure);
            }
        }
        Ok(TrackRecord {
            by,
            subject,
            action: action.to_owned(),
            from_ms,
            until_ms,
            attempts: tree.len(),
            successes,
            failures,
            root: tree.root(),
        })
    }

    /// Whether these receipts give exactly this record.
    ///
    /// # Errors
    /// [`Refusal::RecordMismatch`].
    pub fn check(&self, receipts: &[Signed<Receipt>]) -> Result<()> {
        let again = Self::compute(
            self.by,
            self.subject,
            &self.action,
            self.from_ms,
            self.until_ms,
            receipts,
        )?;
        ensure(again == *self, Refusal::RecordMismatch)
    }
}

impl Object for TrackRecord {
    const TYPE: Type = Type::TrackRecord;

    fn write(&self, out: &mut Fields) {
        out.by(&self.by);
        out.at(3).bytes(&self.subject.0);
        out.at(4).text(&self.action);
        out.at(5).uint(self.from_ms);
        out.at(6).uint(self.until_ms);
        out.at(7).uint(self.attempts);
        out.at(8).uint(self.successes);
        out.at(9).uint(self.failures);
        out.at(10).bytes(&self.root.0);
    }

    fn read(map: &mut MapReader<'_, '_>) -> Result<Self> {
        let record = TrackRecord {
            by: read_by(map)?,
            subject: AgentId(map.required(3, Decoder::fixed)?),
            action: map.required(4, Decoder::text)?.to_owned(),
            from_ms: map.required(5, Decoder::uint)?,
            until_ms: map.required(6, Decoder::uint)?,
            attempts: map.required(7, Decoder::uint)?,
            successes: map.required(8, Decoder::uint)?,
            failures: map.required(9, Decoder::uint)?,
            root: map.required(10, read_hash)?,
        };
        check_text(&record.action, 128)?;
        let counted = record
            .successes
            .checked_add(record.failures)
            .is_some_and(|n| n <= record.attempts);
        ensure(
            counted && record.from_ms <= record.until_ms,
            Refusal::InvalidValue,
        )?;
        Ok(record)
    }

    fn by(&self) -> KeyRef {
        self.by
    }

    fn issued(&self) -> Option<u64> {
        // It has no date of its own: until when it counts is not when it was made.
        None
    }
}

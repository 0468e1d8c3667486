//! Declarations of refusal: an agent says, signed, that it will not use a capability. The chain
//! checker holds it to that.

use crate::cbor::{Decoder, MapReader};
use crate::chain::capability::Capability;
use crate::error::{Refusal, Result, ensure};
use crate::identity::MAX_REASON;
use crate::object::{Fields, KeyRef, Object, Type, check_ascending, read_by};
use crate::text::check_text;

/// A declaration of refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// Who will not.
    pub by: KeyRef,
    /// What, in ascending order: anything that one of these covers.
    pub capabilities: Vec<Capability>,
    /// Why.
    pub reason: String,
    /// Since when, Unix seconds.
    pub from: u64,
    /// Until when; `None` for good.
    pub until: Option<u64>,
}

impl Declaration {
    /// Whether it forbids its agent (part of) this capability at this moment.
    pub fn forbids(&self, capability: &Capability, now: u64) -> bool {
        let in_force = self.from <= now && self.until.is_none_or(|until| now <= until);
        in_force && self.capabilities.iter().any(|own| own.overlaps(capability))
    }
}

impl Object for Declaration {
    const TYPE: Type = Type::Declaration;

    fn write(&self, out: &mut Fields) {
        out.by(&self.by);
        out.list(3, &self.capabilities, |out, capability| {
            out.text(capability.as_str());
        });
        out.text(4, &self.reason);
        out.at(5).uint(self.from);
        if let Some(until) = self.until {
            out.at(6).uint(until);
        }
    }

    fn read(map: &mut MapReader<'_, '_>) -> Result<Self> {
        let declaration = Declaration {
            by: read_by(map)?,
            capabilities: map.required(3, |d| d.list(64, |d| d.text()?.parse()))?,
            reason: map.text(4)?.to_owned(),
            from: map.required(5, Decoder::uint)?,
            until: map.optional(6, Decoder::uint)?,
        };
        check_ascending(&declaration.capabilities)?;
        check_text(&declaration.reason, MAX_REASON)?;
        ensure(!declaration.capabilities.is_empty(), Refusal::InvalidValue)?;
        Ok(declaration)
    }

    fn by(&self) -> KeyRef {
        self.by
    }

    fn issued(&self) -> Option<u64> {
        // What the agent will not do from now on is for its current key to say.
        None
    }
}

//! Continuity: an agent's heartbeats, chained by hash, whose gaps show.

use crate::cbor::{Decoder, MapReader};
use crate::error::{Refusal, Result, ensure};
use crate::id::Hash;
use crate::object::{Fields, KeyRef, Object, Signed, Type, read_by, read_hash};

/// A sign of life, with the head of the agent's chain of receipts at that moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heartbeat {
    /// The agent.
    pub by: KeyRef,
    /// Its place, from 0.
    pub index: u64,
    /// The id of the one before; `None` for the first.
    pub previous: Option<Hash>,
    /// The id of the last receipt, if there is one.
    pub experience: Option<Hash>,
    /// When, in Unix seconds.
    pub at: u64,
    /// The most seconds until the next, as the agent promises.
    pub interval: u64,
}

impl Object for Heartbeat {
    const TYPE: Type = Type::Heartbeat;

    fn write(&self, out: &mut Fields) {
        out.by(&self.by);
        out.uint(3, self.index);
        out.hash(4, self.previous.as_ref());
        out.hash(5, self.experience.as_ref());
        out.at(6).uint(self.at);
        out.at(7).uint(self.interval);
    }

    fn read(map: &mut MapReader<'_, '_>) -> Result<Self> {
        let heartbeat = Heartbeat {
            by: read_by(map)?,
            index: map.uint(3)?,
            previous: map.optional(4, read_hash)?,
            experience: map.optional(5, read_hash)?,
            at: map.required(6, Decoder::uint)?,
            interval: map.required(7, Decoder::uint)?,
        };
        ensure(
            heartbeat.previous.is_some() == (heartbeat.index > 0),
            Refusal::InvalidValue,
        )?;
        Ok(heartbeat)
    }

    fn by(&self) -> KeyRef {
        self.by
    }

    fn issued(&self) -> Option<u64> {
        Some(self.at)
    }
}

/// A time without signs of life that was longer than promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The place of the heartbeat before it.
    pub after: u64,
    /// Unix seconds.
    pub from: u64,
    /// Unix seconds.
    pub until: u64,
}

/// Checks that heartbeats follow each other from the first, and gives the gaps up to `now`.
/// Signatures are the caller's to check, of each.
///
/// # Errors
/// [`Refusal::ChainStartMissing`], [`Refusal::ChainBroken`].
pub fn gaps(heartbeats: &[Signed<Heartbeat>], now: u64) -> Result<Vec<Gap>> {
    let mut gaps = Vec::new();
    for (i, heartbeat) in heartbeats.iter().enumerate() {
        let body = heartbeat.body();
        match i.checked_sub(1).map(|i| &heartbeats[i]) {
            None => ensure(body.index == 0, Refusal::ChainStartMissing)?,
            Some(before) => {
                let follows = body.previous == Some(before.id())
                    && Some(body.index) == before.body().index.checked_add(1)
                    && body.by.agent == before.body().by.agent
                    && body.at >= before.body().at;
                ensure(follows, Refusal::ChainBroken)?;
            }
        }
        let until = heartbeats.get(i + 1).map_or(now, |next| next.body().at);
        if until > body.at.saturating_add(body.interval) {
            gaps.push(Gap {
                after: body.index,
                from: body.at,
                until,
            });
        }
    }
    Ok(gaps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::create;
    use crate::keys::Suite;

    #[test]
    fn gaps_show_and_heartbeats_cannot_be_cut_out_or_put_in() {
        let agent = create("agent", Suite::Ed25519, 0).expect("created");
        let mut all: Vec<Signed<Heartbeat>> = Vec::new();
        for (index, at) in (0..).zip([100, 160, 400, 450]) {
            let body = Heartbeat {
                by: agent.document.by(),
                index,
                previous: all.last().map(Signed::id),
                experience: None,
                at,
                interval: 60,
            };
            all.push(Signed::sign(&body, &agent.document.signer(&agent.keys)).expect("signed"));
        }
        assert_eq!(
            gaps(&all, 500),
            Ok(vec![Gap {
                after: 1,
                from: 160,
                until: 400
            }])
        );
        assert_eq!(
            gaps(&all, 511).map(|g| g.len()),
            Ok(2),
            "silence until now is a gap too"
        );
        assert_eq!(gaps(&all[1..], 500), Err(Refusal::ChainStartMissing));
        let mut cut = all.clone();
        cut.remove(1);
        assert_eq!(gaps(&cut, 500), Err(Refusal::ChainBroken));
        all.swap(1, 2);
        assert_eq!(gaps(&all, 500), Err(Refusal::ChainBroken));
    }
}

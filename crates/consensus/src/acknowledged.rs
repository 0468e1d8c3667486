//! What a member has acknowledged, and whether its rows still have it.
//!
//! Raft counts on it: what a voter said that it holds, it holds, and a vote that it gave it does
//! not give again. A file that is deleted, put back from a copy or cut off breaks that without a
//! trace. So what a member has acknowledged is noted in a second place, and at the other members
//! (who keeps it where is the caller's), and a member whose rows say less takes no part.
//!
//! Only what nothing can take back is noted: entries that are on this node's disk and known to be
//! on a majority. Later ones a new leader may have cut off, rightly.
use crate::{
    ConsensusError,
    codec::Reader,
    log::{PURGED, VOTE},
    machine::{self, APPLIED, MEMBERSHIP},
    types::{Entry, LogId, Vote, read},
};
use signet_store::{SqliteStore, StoreError};

/// The cluster's generation that this node belongs to.
pub(crate) const GENERATION: &[u8] = b"generation";
/// The generations that this one comes from.
pub(crate) const ANCESTORS: &[u8] = b"ancestors";

/// How far a member is: what it has acknowledged for good, or what its rows have.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Acknowledged {
    /// Of which generation of the cluster.
    pub generation: u64,
    /// The term that it voted in last.
    pub term: u64,
    /// An entry of the log.
    pub index: u64,
}

impl Acknowledged {
    /// Whether rows that have this lack something of what was acknowledged. Of another generation
    /// nothing can be said.
    pub fn lacks(&self, acknowledged: &Acknowledged) -> bool {
        self.generation == acknowledged.generation
            && (self.index < acknowledged.index || self.term < acknowledged.term)
    }

    /// The later of both.
    #[must_use]
    pub fn and(self, other: Acknowledged) -> Acknowledged {
        match self.generation == other.generation {
            true => Acknowledged {
                generation: self.generation,
                term: self.term.max(other.term),
                index: self.index.max(other.index),
            },
            false => other,
        }
    }
}

/// The generation of a store and those that it comes from, each by a recovery of the one before.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Lineage {
    /// Its own; 0: none yet.
    pub generation: u64,
    /// Earlier ones; empty also where an earlier version of the program recovered it.
    pub ancestors: Vec<u64>,
}

impl Lineage {
    /// Whether both are clusters of their own that were recovered from one: neither was left
    /// behind by the other.
    pub fn is_divided_from(&self, other: &Lineage) -> bool {
        let known = self.generation != 0 && other.generation != 0;
        // Where neither was recovered they have nothing to do with each other.
        let recovered = !self.ancestors.is_empty() || !other.ancestors.is_empty();
        known
            && recovered
            && self.generation != other.generation
            && !self.ancestors.contains(&other.generation)
            && !other.ancestors.contains(&self.generation)
    }
}

/// What the rows of a store have, on the disk.
pub(crate) fn on_disk(store: &SqliteStore) -> Result<Acknowledged, ConsensusError> {
    let (generation, vote, purged, last, applied, membership) = store.look_now(|look| {
        Ok((
            look.note(GENERATION)?,
            look.note(VOTE)?,
            look.note(PURGED)?,
            look.last()?,
            look.note(APPLIED)?,
            look.note(MEMBERSHIP)?,
        ))
    })?;
    let vote: Option<Vote> = vote.map(|bytes| read(&bytes, Reader::vote)).transpose()?;
    let purged: Option<LogId> = purged
        .map(|bytes| read(&bytes, Reader::log_id))
        .transpose()?;
    let last: Option<Entry> = last
        .map(|(_, bytes)| read(&bytes, Reader::entry))
        .transpose()?;
    let (applied, _) = machine::state(applied, membership)?;
    let last = last.map(|entry| entry.log_id).max(purged).max(applied);
    Ok(Acknowledged {
        generation: read(&generation.unwrap_or_default(), |from| from.u64())?,
        term: vote.map_or(0, |vote| vote.leader_id.term),
        index: last.map_or(0, |last| last.index),
    })
}

/// The generations that a store comes from.
pub(crate) fn ancestors(store: &SqliteStore) -> Result<Vec<u64>, StoreError> {
    let bytes = store.look_now(|look| look.note(ANCESTORS))?;
    Ok(ancestors_of(&bytes.unwrap_or_default()))
}

pub(crate) fn ancestors_of(bytes: &[u8]) -> Vec<u64> {
    let (numbers, _) = bytes.as_chunks::<8>();
    numbers.iter().map(|n| u64::from_be_bytes(*n)).collect()
}

pub(crate) fn ancestors_bytes(ancestors: &[u64]) -> Vec<u8> {
    ancestors.iter().flat_map(|n| n.to_be_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(generation: u64, term: u64, index: u64) -> Acknowledged {
        Acknowledged {
            generation,
            term,
            index,
        }
    }

    #[test]
    fn rows_that_have_less_than_was_acknowledged_lack_something() {
        assert!(!at(1, 2, 10).lacks(&at(1, 2, 10)));
        assert!(at(1, 2, 9).lacks(&at(1, 2, 10)));
        // A vote that was forgotten could be given twice.
        assert!(at(1, 1, 10).lacks(&at(1, 2, 10)));
        assert!(!at(2, 0, 0).lacks(&at(1, 2, 10)));
        assert_eq!(at(1, 2, 10).and(at(1, 3, 9)), at(1, 3, 10));
        assert_eq!(at(1, 9, 99).and(at(2, 1, 1)), at(2, 1, 1));
    }

    #[test]
    fn two_recoveries_of_one_cluster_are_divided_and_who_was_left_behind_is_not() {
        let of = |generation, ancestors: &[u64]| Lineage {
            generation,
            ancestors: ancestors.to_vec(),
        };
        let (old, one, two) = (of(1, &[]), of(2, &[1]), of(3, &[1]));
        assert!(one.is_divided_from(&two) && two.is_divided_from(&one));
        assert!(!one.is_divided_from(&old) && !old.is_divided_from(&one));
        assert!(!of(4, &[1, 2]).is_divided_from(&one));
        assert!(!of(0, &[]).is_divided_from(&one));
        assert_eq!(ancestors_of(&ancestors_bytes(&[7, 9])), [7, 9]);
    }
}

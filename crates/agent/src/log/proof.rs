//! Proofs that a log contains an entry, or continues an older state of itself (RFC 9162 sections
//! 2.1.3.2 and 2.1.4.2).

use crate::cbor::{Decoder, Encoder};
use crate::error::{Refusal, Result, ensure};
use crate::id::Hash;
use crate::object::read_hash;

use super::tree::{Tree, leaf, node};

/// A tree of 2^64 leaves has paths of 64 hashes; a consistency proof may have one more.
const MAX_PATH: usize = 65;

/// That an entry is in a log. `[size, index, [hash, ...]]` in CBOR (RFC 9942 section 5.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InclusionProof {
    /// Entries of the log.
    pub size: u64,
    /// Place of the entry, from 0.
    pub index: u64,
    /// From the leaf upwards.
    pub path: Vec<Hash>,
}

/// That a log continues what it was. `[old size, new size, [hash, ...]]` in CBOR (RFC 9942 section
/// 5.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsistencyProof {
    /// Entries then.
    pub old: u64,
    /// Entries now.
    pub new: u64,
    /// As RFC 9162 has them.
    pub path: Vec<Hash>,
}

fn write(first: u64, second: u64, path: &[Hash]) -> Vec<u8> {
    let mut out = Encoder::new();
    out.array(3).uint(first).uint(second).array(path.len());
    for hash in path {
        out.bytes(&hash.0);
    }
    out.finish()
}

fn read(data: &[u8]) -> Result<(u64, u64, Vec<Hash>)> {
    Decoder::whole(data, |d| {
        d.tuple(3, |d| {
            Ok((d.uint()?, d.uint()?, d.list(MAX_PATH, read_hash)?))
        })
    })
}

impl InclusionProof {
    /// The proof of one entry in the first `size`.
    pub fn of(tree: &Tree, index: u64, size: u64) -> Option<InclusionProof> {
        let path = tree.inclusion_path(index, size)?;
        Some(InclusionProof { size, index, path })
    }

    /// The root that the log must have if the entry is in it at this place.
    ///
    /// # Errors
    /// [`Refusal::ProofOfLogInvalid`] for a path that fits no tree of this size.
    pub fn root(&self, entry: &[u8]) -> Result<Hash> {
        ensure(self.index < self.size, Refusal::ProofOfLogInvalid)?;
        let (mut place, mut last, mut hash) = (self.index, self.size - 1, leaf(entry));
        for sibling in &self.path {
            ensure(last != 0, Refusal::ProofOfLogInvalid)?;
            if place & 1 == 1 || place == last {
                hash = node(sibling, &hash);
                while place & 1 == 0 && place != 0 {
                    place >>= 1;
                    last >>= 1;
                }
            } else {
                hash = node(&hash, sibling);
            }
            place >>= 1;
            last >>= 1;
        }
        ensure(last == 0, Refusal::ProofOfLogInvalid)?;
        Ok(hash)
    }

    /// The CBOR form.
    pub fn to_bytes(&self) -> Vec<u8> {
        write(self.size, self.index, &self.path)
    }

    /// Reads the CBOR form.
    ///
    /// # Errors
    /// As the decoder.
    pub fn parse(data: &[u8]) -> Result<InclusionProof> {
        let (size, index, path) = read(data)?;
        Ok(InclusionProof { size, index, path })
    }
}

impl ConsistencyProof {
    /// The proof that the first `new` entries begin with the first `old`.
    pub fn of(tree: &Tree, old: u64, new: u64) -> Option<ConsistencyProof> {
        let path = tree.consistency_path(old, new)?;
        Some(ConsistencyProof { old, new, path })
    }

    /// Checks that a log with the root `new_root` continues one with `old_root`.
    ///
    /// # Errors
    /// [`Refusal::ProofOfLogInvalid`].
    pub fn verify(&self, old_root: &Hash, new_root: &Hash) -> Result<()> {
        let invalid = Refusal::ProofOfLogInvalid;
        ensure(self.old != 0 && self.old <= self.new, invalid)?;
        if self.old == self.new {
            return ensure(self.path.is_empty() && old_root == new_root, invalid);
        }
        let mut path = self.path.iter();
        // A complete old tree is itself a node of the new one, and is left out of the path.
        let first = if self.old.is_power_of_two() {
            old_root
        } else {
            path.next().ok_or(invalid)?
        };
        let (mut place, mut last) = (self.old - 1, self.new - 1);
        while place & 1 == 1 {
            place >>= 1;
            last >>= 1;
        }
        let (mut old, mut new) = (*first, *first);
        for sibling in path {
            ensure(last != 0, invalid)?;
            if place & 1 == 1 || place == last {
                old = node(sibling, &old);
                new = node(sibling, &new);
                while place & 1 == 0 && place != 0 {
                    place >>= 1;
                    last >>= 1;
                }
            } else {
                new = node(&new, sibling);
            }
            place >>= 1;
            last >>= 1;
        }
        ensure(last == 0 && old == *old_root && new == *new_root, invalid)
    }

    /// The CBOR form.
    pub fn to_bytes(&self) -> Vec<u8> {
        write(self.old, self.new, &self.path)
    }

    /// Reads the CBOR form.
    ///
    /// # Errors
    /// As the decoder.
    pub fn parse(data: &[u8]) -> Result<ConsistencyProof> {
        let (old, new, path) = read(data)?;
        Ok(ConsistencyProof { old, new, path })
    }
}

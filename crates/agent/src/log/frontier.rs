//! The right edge of a tree: enough to go on appending and to give roots, whatever the log's
//! length.

use super::tree::{leaf, node};
use crate::error::{Refusal, Result, ensure};
use crate::id::Hash;
use signet_crypto::hash::sha256;

/// A tree of which only the largest complete subtrees are kept, at most one for each bit of the
/// length. It gives the same roots as [`Tree`](super::Tree) does, and no proofs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frontier {
    len: u64,
    /// The roots of the complete subtrees, the largest first.
    peaks: Vec<Hash>,
}

impl Frontier {
    /// What was kept of a tree of this length.
    ///
    /// # Errors
    /// [`Refusal::Malformed`] for another number of subtrees than a tree of that length has.
    pub fn from_parts(len: u64, peaks: Vec<Hash>) -> Result<Frontier> {
        ensure(peaks.len() == len.count_ones() as usize, Refusal::Malformed)?;
        Ok(Frontier { len, peaks })
    }

    /// Adds an entry. Costs two hashes on average.
    pub fn append(&mut self, entry: &[u8]) {
        let mut hash = leaf(entry);
        // Each trailing one of the length is a complete subtree that the new one completes to a
        // larger.
        for _ in 0..self.len.trailing_ones() {
            if let Some(left) = self.peaks.pop() {
                hash = node(&left, &hash);
            }
        }
        self.peaks.push(hash);
        self.len += 1;
    }

    /// Number of entries.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The roots of the complete subtrees, the largest first.
    pub fn peaks(&self) -> &[Hash] {
        &self.peaks
    }

    /// The root over all entries (RFC 9162 section 2.1.1).
    pub fn root(&self) -> Hash {
        let mut peaks = self.peaks.iter().rev();
        match peaks.next() {
            None => Hash(sha256(b"")),
            Some(last) => peaks.fold(*last, |right, left| node(left, &right)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Tree;

    #[test]
    fn a_frontier_has_the_roots_of_the_whole_tree() {
        let (mut tree, mut frontier) = (Tree::default(), Frontier::default());
        assert_eq!(tree.root(), frontier.root());
        for i in 0_u32..300 {
            tree.append(&i.to_be_bytes());
            frontier.append(&i.to_be_bytes());
            assert_eq!(tree.root(), frontier.root(), "{i}");
            assert_eq!(tree.len(), frontier.len());
            let kept = Frontier::from_parts(frontier.len(), frontier.peaks().to_vec());
            assert_eq!(kept, Ok(frontier.clone()));
        }
        assert!(Frontier::from_parts(3, frontier.peaks().to_vec()).is_err());
    }
}

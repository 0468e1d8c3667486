//! The Merkle tree of RFC 9162 section 2.1, with every complete subtree kept.

use signet_crypto::hash::{Sha256, sha256};

use crate::id::Hash;

/// An append-only tree. Appending costs two hashes on average, a root or a proof a few per level.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// `levels[k][i]` is the hash over the leaves `i << k` to `(i + 1) << k`, where all of them are
    /// there.
    levels: Vec<Vec<Hash>>,
}

/// `SHA-256(0x00 || entry)`.
pub(super) fn leaf(entry: &[u8]) -> Hash {
    let mut hash = Sha256::new();
    hash.update(&[0]);
    hash.update(entry);
    Hash(hash.finish())
}

/// `SHA-256(0x01 || left || right)`.
pub(super) fn node(left: &Hash, right: &Hash) -> Hash {
    let mut data = [1; 65];
    data[1..33].copy_from_slice(&left.0);
    data[33..].copy_from_slice(&right.0);
    Hash(sha256(&data))
}

/// The largest power of two below `n`, which is at least 2.
fn split(n: usize) -> usize {
    1 << (usize::BITS - 1 - (n - 1).leading_zeros())
}

impl Tree {
    /// Adds an entry.
    pub fn append(&mut self, entry: &[u8]) {
        let mut hash = leaf(entry);
        for level in 0.. {
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            let nodes = &mut self.levels[level];
            nodes.push(hash);
            // An even number: the last two are a complete subtree of the next level.
            match nodes.as_slice() {
                [.., left, right] if nodes.len().is_multiple_of(2) => hash = node(left, right),
                _ => return,
            }
        }
    }

    /// Number of entries.
    pub fn len(&self) -> u64 {
        self.levels.first().map_or(0, |leaves| leaves.len() as u64)
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The root over all entries.
    pub fn root(&self) -> Hash {
        self.root_at(self.len())
    }

    /// The root as it was when there were so many entries; more than there are count as all.
    pub fn root_at(&self, size: u64) -> Hash {
        let size = self.clamp(size);
        if size == 0 {
            Hash(sha256(b""))
        } else {
            self.subtree(0, size)
        }
    }

    fn clamp(&self, size: u64) -> usize {
        let len = self.levels.first().map_or(0, Vec::len);
        usize::try_from(size).unwrap_or(len).min(len)
    }

    /// MTH of RFC 9162 over `start..end`, which is not empty; `start` is a multiple of the largest
    /// power of two in it.
    fn subtree(&self, start: usize, end: usize) -> Hash {
        let n = end - start;
        if n.is_power_of_two() {
            let level = n.trailing_zeros() as usize;
            return self.levels[level][start >> level];
        }
        let middle = start + split(n);
        node(&self.subtree(start, middle), &self.subtree(middle, end))
    }

    /// The path from the entry at `index` to the root over the first `size` entries (RFC 9162
    /// section 2.1.3.1).
    pub fn inclusion_path(&self, index: u64, size: u64) -> Option<Vec<Hash>> {
        if size > self.len() || index >= size {
            return None;
        }
        // Both are below the number of leaves in memory.
        let (index, mut end) = (index as usize, size as usize);
        let (mut start, mut path) = (0, Vec::new());
        while end - start > 1 {
            let middle = start + split(end - start);
            if index < middle {
                path.push(self.subtree(middle, end));
                end = middle;
            } else {
                path.push(self.subtree(start, middle));
                start = middle;
            }
        }
        path.reverse();
        Some(path)
    }

    /// What shows that the tree of `new` entries begins with that of `old` entries (RFC 9162
    /// section 2.1.4.1).
    pub fn consistency_path(&self, old: u64, new: u64) -> Option<Vec<Hash>> {
        if new > self.len() || old > new || old == 0 {
            return None;
        }
        let (old, mut end) = (old as usize, new as usize);
        let (mut start, mut path, mut whole) = (0, Vec::new(), true);
        while old != end {
            let middle = start + split(end - start);
            if old <= middle {
                path.push(self.subtree(middle, end));
                end = middle;
            } else {
                path.push(self.subtree(start, middle));
                start = middle;
                whole = false;
            }
        }
        if !whole {
            path.push(self.subtree(start, end));
        }
        path.reverse();
        Some(path)
    }
}

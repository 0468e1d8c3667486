//! Which node's records these are.
//!
//! Every node of an installation writes a log of its own: its own identity signs it, its rows in
//! the store and its segments are named after it. No two nodes ever append to one log, and none
//! takes another's records.

use std::fmt;
use std::sync::Arc;

use signet_store::{Change, Key, Op, Outcome, Store, StoreError, Table};

/// Longest name of a node, in bytes
const MAX_NAME: usize = 32;

/// The name of a node: 1 to 32 of `a-z`, `0-9` and `-`, the first a letter.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(Arc<str>);

/// The text is no name of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a node's name is 1 to 32 of a-z, 0-9 and -, and begins with a letter")]
pub struct InvalidNodeId;

/// The node of an installation that has one.
impl Default for NodeId {
    fn default() -> NodeId {
        NodeId("node-1".into())
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn row_key() -> Key {
    Key::new(Table::Audit, "node")
}

impl NodeId {
    /// Reads a name.
    ///
    /// # Errors
    /// [`InvalidNodeId`].
    pub fn parse(text: &str) -> Result<NodeId, InvalidNodeId> {
        let allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        let first = text.bytes().next().is_some_and(|c| c.is_ascii_lowercase());
        if !first || text.len() > MAX_NAME || !text.bytes().all(allowed) {
            return Err(InvalidNodeId);
        }
        Ok(NodeId(text.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The node that this store belongs to; [`NodeId::default`] where no trail was opened yet. An
    /// embedded store is one node's.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn stored(store: &dyn Store, now: u64) -> Result<NodeId, StoreError> {
        Ok(Self::find(store, now).await?.unwrap_or_default())
    }

    async fn find(store: &dyn Store, now: u64) -> Result<Option<NodeId>, StoreError> {
        let corrupt = || StoreError::Corrupt("the node's name".to_owned());
        let Some(row) = store.get(&row_key(), now).await? else {
            return Ok(None);
        };
        let text = std::str::from_utf8(&row.value).map_err(|_| corrupt())?;
        NodeId::parse(text).map(Some).map_err(|_| corrupt())
    }

    /// The store's node. The first start decides; `wanted` counts there alone.
    pub(crate) async fn claim(
        store: &dyn Store,
        wanted: Option<&NodeId>,
        now: u64,
    ) -> Result<NodeId, StoreError> {
        loop {
            if let Some(stored) = Self::find(store, now).await? {
                return Ok(stored);
            }
            let node = wanted.cloned().unwrap_or_default();
            let insert = Op::Insert {
                key: row_key(),
                value: node.as_str().into(),
                end: None,
            };
            if let Outcome::Done { .. } = store.commit(Change::new(insert), now).await? {
                return Ok(node);
            }
        }
    }

    /// The row of this node at a name of the audit table.
    pub(crate) fn row(&self, name: &str) -> Key {
        Key::with_sort(Table::Audit, name, self.as_str())
    }

    /// The partition of this node's records that are not yet in its log.
    pub(crate) fn pending(&self) -> Vec<u8> {
        format!("pending:{self}").into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nodes_name_is_short_and_plain() {
        for name in ["a", "node-1", &"x".repeat(32)] {
            assert_eq!(NodeId::parse(name).expect(name).as_str(), name);
        }
        for name in ["", "1a", "-a", "A", "a.b", "a/b", "a:b", &"x".repeat(33)] {
            assert_eq!(NodeId::parse(name), Err(InvalidNodeId), "{name}");
        }
        assert!(NodeId::parse(NodeId::default().as_str()).is_ok());
    }
}

//! The name of a node.
//!
//! One process of an installation, or one of several. What is a node's own (its audit trail, its
//! place in the cluster) is called by it.

use std::{fmt, sync::Arc};

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

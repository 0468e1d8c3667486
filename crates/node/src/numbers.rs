//! Numbers of nodes in a replicated store: given out once, never to another node, not even to a
//! later one of the same name.
//!
//! A newcomer that asks again, because no answer came, gets the number that it was given before:
//! two members may be letting it in at once, and what each says of it must be the same.

use signet_cluster::member::Fingerprint;
use signet_store::{Change, Key, NodeId, Op, Outcome, Store, StoreError, Table};

/// The last number that was given out.
fn last_key() -> Key {
    Key::new(Table::Setting, "cluster:numbers")
}

fn key(node: &NodeId) -> Key {
    Key::with_sort(Table::Setting, "cluster:number", node.as_str())
}

/// By the identity that it was given to.
fn identity_key(identity: &Fingerprint) -> Key {
    Key::with_sort(Table::Setting, "cluster:number of", identity.0)
}

fn read(value: &[u8]) -> Result<u64, StoreError> {
    let corrupt = |_| StoreError::Corrupt("the number of a node".to_owned());
    value.try_into().map(u64::from_be_bytes).map_err(corrupt)
}

/// A number for a node. `identity`: a newcomer's, whose number stays the same; none: a new number.
pub(crate) async fn give(
    store: &dyn Store,
    node: &NodeId,
    identity: Option<&Fingerprint>,
    now: u64,
) -> Result<u64, StoreError> {
    loop {
        // Before the last one is read: whoever gave a number in between makes the change refused.
        let last = store.get(&last_key(), now).await?;
        if let Some(identity) = identity
            && let Some(row) = store.get(&identity_key(identity), now).await?
        {
            return read(&row.value);
        }
        let number = match &last {
            Some(row) => read(&row.value)?.saturating_add(1),
            None => 1,
        };
        let value = number.to_be_bytes().to_vec();
        let first = match last {
            None => Op::Insert {
                key: last_key(),
                value: value.clone(),
                end: None,
            },
            Some(row) => Op::Replace {
                key: last_key(),
                version: row.version,
                value: value.clone(),
                end: None,
            },
        };
        let note = Op::Put {
            key: key(node),
            value: value.clone(),
            end: None,
        };
        let mut change = Change::new(first).then(note);
        if let Some(identity) = identity {
            change = change.then(Op::Put {
                key: identity_key(identity),
                value,
                end: None,
            });
        }
        match store.commit(change, now).await? {
            Outcome::Done { .. } => return Ok(number),
            // Another one was given out this moment.
            Outcome::Refused(_) => {}
        }
    }
}

/// The number that a node was given.
pub(crate) async fn of(
    store: &dyn Store,
    node: &NodeId,
    now: u64,
) -> Result<Option<u64>, StoreError> {
    let row = store.get(&key(node), now).await?;
    row.map(|row| read(&row.value)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_store::MemoryStore;

    #[tokio::test]
    async fn no_two_nodes_and_no_two_lives_of_a_node_have_one_number() {
        let store = MemoryStore::new();
        let [a, b] = ["node-1", "node-2"].map(|name| NodeId::parse(name).unwrap());
        assert_eq!(of(&store, &a, 1).await.unwrap(), None);
        assert_eq!(give(&store, &a, None, 1).await.unwrap(), 1);
        let [one, other] = [7, 8].map(|byte| Fingerprint([byte; 32]));
        assert_eq!(give(&store, &b, Some(&one), 1).await.unwrap(), 2);
        assert_eq!(give(&store, &a, Some(&other), 1).await.unwrap(), 3);
        assert_eq!(of(&store, &a, 1).await.unwrap(), Some(3));
        assert_eq!(of(&store, &b, 1).await.unwrap(), Some(2));
    }

    #[tokio::test]
    async fn a_newcomer_that_asks_again_has_the_number_that_it_was_given() {
        let store = MemoryStore::new();
        let node = NodeId::parse("node-2").unwrap();
        let [one, later] = [7, 8].map(|byte| Fingerprint([byte; 32]));
        assert_eq!(give(&store, &node, Some(&one), 1).await.unwrap(), 1);
        assert_eq!(give(&store, &node, Some(&one), 1).await.unwrap(), 1);
        assert_eq!(of(&store, &node, 1).await.unwrap(), Some(1));
        // It was removed, and joins again with new keys.
        assert_eq!(give(&store, &node, Some(&later), 1).await.unwrap(), 2);
        assert_eq!(of(&store, &node, 1).await.unwrap(), Some(2));
    }
}

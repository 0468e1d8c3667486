//! Numbers of nodes in a replicated store: given out once, never to another node, not even to a
//! later one of the same name.

use signet_store::{Change, Key, NodeId, Op, Outcome, Store, StoreError, Table};

/// The last number that was given out.
fn last_key() -> Key {
    Key::new(Table::Setting, "cluster:numbers")
}

fn key(node: &NodeId) -> Key {
    Key::with_sort(Table::Setting, "cluster:number", node.as_str())
}

fn read(value: &[u8]) -> Result<u64, StoreError> {
    let corrupt = |_| StoreError::Corrupt("the number of a node".to_owned());
    value.try_into().map(u64::from_be_bytes).map_err(corrupt)
}

/// A new number for a node.
pub(crate) async fn give(store: &dyn Store, node: &NodeId, now: u64) -> Result<u64, StoreError> {
    loop {
        let last = store.get(&last_key(), now).await?;
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
            value,
            end: None,
        };
        match store.commit(Change::new(first).then(note), now).await? {
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
        assert_eq!(give(&store, &a, 1).await.unwrap(), 1);
        assert_eq!(give(&store, &b, 1).await.unwrap(), 2);
        assert_eq!(give(&store, &a, 1).await.unwrap(), 3);
        assert_eq!(of(&store, &a, 1).await.unwrap(), Some(3));
        assert_eq!(of(&store, &b, 1).await.unwrap(), Some(2));
    }
}

//! Which node's records these are.
//!
//! Every node of an installation writes a log of its own: its own identity signs it, its rows in
//! the store and its segments are named after it. No two nodes ever append to one log, and none
//! takes another's records.

use signet_store::{Change, Key, NodeId, Op, Outcome, Store, StoreError, Table};

fn row_key() -> Key {
    Key::new(Table::Audit, "node")
}

/// The node that this store belongs to; [`NodeId::default`] where no trail was opened yet. An
/// embedded store is one node's.
///
/// # Errors
/// Those of the store.
pub async fn stored(store: &dyn Store, now: u64) -> Result<NodeId, StoreError> {
    Ok(find(store, now).await?.unwrap_or_default())
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
        if let Some(stored) = find(store, now).await? {
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
pub(crate) fn row(node: &NodeId, name: &str) -> Key {
    Key::with_sort(Table::Audit, name, node.as_str())
}

/// The partition of this node's records that are not yet in its log.
pub(crate) fn pending(node: &NodeId) -> Vec<u8> {
    format!("pending:{node}").into_bytes()
}

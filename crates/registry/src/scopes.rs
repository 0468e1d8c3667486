//! Scopes that were added to the standard ones: their rows in the store, listed in one partition.
use crate::records;
use signet_oauth::registry::ScopeEntry;
use signet_store::{Key, Store, StoreError, Table};

/// The partition of [`Table::Setting`] that lists them, by name.
pub const PARTITION: &[u8] = b"scope";
const PAGE: usize = 256;

/// The row of a scope.
pub fn key(name: &str) -> Key {
    Key::with_sort(Table::Setting, PARTITION, name)
}

/// The stored scopes, by name.
///
/// # Errors
/// The store's.
pub async fn load(store: &dyn Store, now: u64) -> Result<Vec<ScopeEntry>, StoreError> {
    let mut scopes: Vec<ScopeEntry> = Vec::new();
    loop {
        let after = scopes.last().map(|s| s.name.clone()).unwrap_or_default();
        let page = store
            .partition(Table::Setting, PARTITION, after.as_bytes(), PAGE, now)
            .await?;
        let last = page.len() < PAGE;
        for (_, row) in page {
            scopes.push(records::read_scope(&row.value).map_err(StoreError::Corrupt)?);
        }
        if last {
            return Ok(scopes);
        }
    }
}

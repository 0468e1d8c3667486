//! Identity providers: their rows in the store, listed in a partition of [`Table::Setting`].
use signet_oauth::people::provider::{Provider, Providers};
use signet_store::{Key, Store, StoreError, Table};
use std::sync::Arc;

const PAGE: usize = 256;
const PARTITION: &[u8] = b"provider";

/// The row of a provider.
pub fn key(name: &str) -> Key {
    Key::with_sort(Table::Setting, PARTITION, name)
}

/// The record of a provider.
pub fn write(provider: &Provider) -> Vec<u8> {
    // Invariant: strings, booleans, a number and lists of them always serialize.
    serde_json::to_vec(provider).expect("a provider serializes")
}

/// Reads the record of a provider.
///
/// # Errors
/// What is wrong with it, for the log.
pub fn read(bytes: &[u8]) -> Result<Provider, String> {
    serde_json::from_slice(bytes).map_err(|e| format!("an identity provider: {e}"))
}

/// The stored records, by name, as bytes.
///
/// # Errors
/// The store's.
pub async fn rows(store: &dyn Store, now: u64) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
    let mut found: Vec<(String, Vec<u8>)> = Vec::new();
    loop {
        let after = found.last().map(|(name, _)| name.clone());
        let after = after.unwrap_or_default();
        let page = store.partition(Table::Setting, PARTITION, after.as_bytes(), PAGE, now);
        let page = page.await?;
        let last = page.len() < PAGE;
        for (key, row) in page {
            let name = String::from_utf8(key.sort);
            let name = name.map_err(|_| StoreError::Corrupt("a provider's name".into()))?;
            found.push((name, row.value));
        }
        if last {
            return Ok(found);
        }
    }
}

/// Everything that the store has.
///
/// # Errors
/// The store's; also a row that is no record.
pub async fn load(store: &dyn Store, now: u64) -> Result<Providers, StoreError> {
    let mut providers = Providers::default();
    for (_, value) in rows(store, now).await? {
        providers.put(Arc::new(read(&value).map_err(StoreError::Corrupt)?));
    }
    Ok(providers)
}

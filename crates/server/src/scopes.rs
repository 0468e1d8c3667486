//! Scopes that were added to the standard ones: their rows in the store, listed in one partition.
use serde::{Deserialize, Serialize};
use signet_oauth::registry::{Registry, ScopeEntry};
use signet_store::{Change, Key, Op, Store, StoreError, Table};

/// The partition of [`Table::Setting`] that lists them, by name.
const PARTITION: &[u8] = b"scope";
const PAGE: usize = 256;

#[derive(Serialize, Deserialize)]
struct StoredScope {
    name: String,
    description: String,
    published: bool,
}

fn key(name: &str) -> Key {
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
            let stored: StoredScope = serde_json::from_slice(&row.value)
                .map_err(|_| StoreError::Corrupt("a scope".to_owned()))?;
            scopes.push(ScopeEntry {
                name: stored.name,
                description: stored.description,
                published: stored.published,
            });
        }
        if last {
            return Ok(scopes);
        }
    }
}

/// Writes a scope, new or known.
///
/// # Errors
/// The store's.
pub async fn write(store: &dyn Store, entry: &ScopeEntry, now: u64) -> Result<(), StoreError> {
    let stored = StoredScope {
        name: entry.name.clone(),
        description: entry.description.clone(),
        published: entry.published,
    };
    let put = Op::Put {
        key: key(&entry.name),
        // Invariant: strings and a boolean always serialize.
        value: serde_json::to_vec(&stored).expect("a scope serializes"),
        end: None,
    };
    store.commit(Change::new(put), now).await.map(drop)
}

/// Removes a scope; whether it was stored.
///
/// # Errors
/// The store's.
pub async fn remove(store: &dyn Store, name: &str, now: u64) -> Result<bool, StoreError> {
    Ok(store.take(&key(name), now).await?.is_some())
}

/// Adds an entry to the registry, or puts it in the place of the one with its name.
pub fn put(registry: &mut Registry, entry: ScopeEntry) {
    match registry.scopes.iter_mut().find(|s| s.name == entry.name) {
        Some(known) => *known = entry,
        None => registry.scopes.push(entry),
    }
}

/// Takes an entry out of the registry; a standard one goes back to its own words.
pub fn forget(registry: &mut Registry, name: &str) {
    registry.scopes.retain(|s| s.name != name);
    let standard = Registry::standard_scopes();
    registry
        .scopes
        .extend(standard.into_iter().filter(|s| s.name == name));
}

//! What the store has of the registry.
use crate::kinds::{KINDS, RecordKind, Rows, Stored};
use signet_oauth::registry::Registry;
use signet_store::{Key, Row, Store, StoreError, Table};

const PAGE: usize = 256;

/// Everything that the store knows, with the standard scopes. `now`: Unix seconds.
///
/// # Errors
/// A store that cannot be read, or a row that is not a record: a server must not start with half of
/// its registry.
pub async fn load(store: &dyn Store, now: u64) -> Result<Registry, StoreError> {
    let mut registry = Registry {
        scopes: Registry::standard_scopes(),
        ..Registry::default()
    };
    for row in &KINDS {
        let Some(of_kind) = row.registry else {
            continue;
        };
        for (name, value) in rows(store, row.kind, now).await? {
            let record = (of_kind.read)(&value).map_err(StoreError::Corrupt)?;
            (of_kind.set)(&mut registry, &name, Some(record));
        }
    }
    Ok(registry)
}

/// The stored records of a type.
///
/// # Errors
/// The store's; also a row that is no record.
pub async fn all<T: Stored>(store: &dyn Store, now: u64) -> Result<Vec<T>, StoreError> {
    let rows = rows(store, T::ROW.kind, now).await?;
    rows.iter()
        .map(|(_, value)| T::read(value).map_err(StoreError::Corrupt))
        .collect()
}

/// The stored records of a kind, by name, as bytes.
///
/// # Errors
/// The store's.
pub async fn rows(
    store: &dyn Store,
    kind: RecordKind,
    now: u64,
) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
    let (table, partition) = match kind.row().rows {
        Rows::Table(table) => (table, None),
        Rows::Listed(partition) => (Table::Setting, Some(partition)),
    };
    let mut found: Vec<(String, Vec<u8>)> = Vec::new();
    let mut last: Option<Key> = None;
    loop {
        let page: Vec<(Key, Row)> = match partition {
            None => store.page(table, last.as_ref(), PAGE, now).await?,
            Some(partition) => {
                let after = last.as_ref().map_or(&[] as &[u8], |key| &key.sort);
                store.partition(table, partition, after, PAGE, now).await?
            }
        };
        let is_last = page.len() < PAGE;
        last = page.last().map(|(key, _)| key.clone());
        for (key, row) in page {
            let name = match partition {
                None => key.partition,
                Some(_) => key.sort,
            };
            let name = String::from_utf8(name);
            let name = name.map_err(|_| StoreError::Corrupt("a record's name".to_owned()))?;
            found.push((name, row.value));
        }
        if is_last {
            return Ok(found);
        }
    }
}

//! Whether the signing keys at rest open: for who checks a copy of a store.
use signet_crypto::seal::Keyring;
use signet_store::{Key, Store, Table};

use super::{KeysError, record::Record};

/// Rows that are read at once.
const PAGE: usize = 256;

/// Opens every signing key that a realm's store holds, and keeps none. How many there are.
///
/// # Errors
/// See [`KeysError`]: the first that does not open, or the store's.
pub async fn open_all(store: &dyn Store, keyring: &Keyring, now: u64) -> Result<usize, KeysError> {
    let mut count = 0;
    let mut after: Option<Key> = None;
    loop {
        let page = store
            .page(Table::SigningKey, after.as_ref(), PAGE, now)
            .await?;
        let last = page.len() < PAGE;
        for (key, row) in page {
            let record = Record::parse(&row.value)?;
            if record.key() != key {
                return Err(KeysError::Unreadable);
            }
            record.open(keyring)?;
            count += 1;
            after = Some(key);
        }
        if last {
            return Ok(count);
        }
    }
}

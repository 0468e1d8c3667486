//! The issuer that a store was written under: another one ends whatever was issued, and nobody
//! should learn that from refused tokens.
use crate::state::Realm;
use signet_store::{Change, Key, Op, StoreError, Table};

fn key() -> Key {
    Key::new(Table::Setting, b"issuer".as_slice())
}

impl Realm {
    /// Takes note of the issuer, and gives the one that the store was written under before, where
    /// that is another. To be called at the start.
    ///
    /// # Errors
    /// The store's; then the next start asks again.
    pub async fn note_issuer(&self) -> Result<Option<String>, StoreError> {
        let now = self.now();
        let issuer = &self.snapshot().settings.issuer;
        let before = self.store.get(&key(), now).await?;
        let before = before.map(|row| String::from_utf8_lossy(&row.value).into_owned());
        if before.as_ref() == Some(issuer) {
            return Ok(None);
        }
        let put = Op::Put {
            key: key(),
            value: issuer.clone().into_bytes(),
            end: None,
        };
        self.store.commit(Change::new(put), now).await?;
        Ok(before)
    }
}

//! The rows of credentials beside the password: reading them, adding and removing them with their
//! account, and writing what their use changes.

use serde::{Deserialize, Serialize};
use signet_crypto::Secret;
use signet_encoding::base64url;
use signet_store::{Change, Key, Op, Row, StoreError, Table};

use crate::accounts::Accounts;
use crate::credential::{CredentialKind, CredentialName, MAX_CREDENTIALS};
use crate::draft::UserDraft;
use crate::error::UserError;
use crate::record::User;

/// Longest name that a person gives a credential, in bytes.
pub const MAX_LABEL_BYTES: usize = 64;

/// A credential of an account, beside its password. Times are Unix seconds.
#[derive(Clone, Debug)]
pub struct StoredCredential {
    /// Its kind and id.
    pub name: CredentialName,
    /// What its person calls it, at most [`MAX_LABEL_BYTES`]; empty: nothing.
    pub label: String,
    /// When it was added.
    pub created_at: u64,
    /// When it was last used.
    pub used_at: Option<u64>,
    /// When it ends by itself.
    pub expires_at: Option<u64>,
    /// The kind's own.
    pub data: Secret<Vec<u8>>,
    /// Of its row; 0: not written yet.
    version: u64,
}

/// A row, as written.
#[derive(Serialize, Deserialize)]
struct Wire {
    label: String,
    created_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    used_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
    data: String,
}

impl StoredCredential {
    /// One that was never used. The label is cut to its longest, at a character.
    pub fn new(name: CredentialName, label: &str, data: Vec<u8>, now: u64) -> StoredCredential {
        StoredCredential {
            name,
            label: cleaned_label(label),
            created_at: now,
            used_at: None,
            expires_at: None,
            data: Secret::new(data),
            version: 0,
        }
    }

    /// Calls it something else. The label is cut to its longest, at a character.
    pub fn rename(&mut self, label: &str) {
        self.label = cleaned_label(label);
    }

    fn read(name: CredentialName, row: &Row) -> Result<StoredCredential, StoreError> {
        let corrupt = || StoreError::Corrupt("a credential".into());
        let wire: Wire = serde_json::from_slice(&row.value).map_err(|_| corrupt())?;
        Ok(StoredCredential {
            name,
            label: wire.label,
            created_at: wire.created_at,
            used_at: wire.used_at,
            expires_at: wire.expires_at,
            data: Secret::new(base64url::decode(wire.data.as_bytes()).map_err(|_| corrupt())?),
            version: row.version,
        })
    }

    fn encode(&self) -> Vec<u8> {
        let wire = Wire {
            label: self.label.clone(),
            created_at: self.created_at,
            used_at: self.used_at,
            expires_at: self.expires_at,
            data: base64url::encode(self.data.expose()),
        };
        // Invariant: strings and numbers always serialize.
        serde_json::to_vec(&wire).expect("a credential serializes")
    }
}

/// One line, without control characters, at most [`MAX_LABEL_BYTES`].
fn cleaned_label(label: &str) -> String {
    let one_line: String = label.chars().filter(|c| !c.is_control()).collect();
    let mut end = one_line.trim().len().min(MAX_LABEL_BYTES);
    while !one_line.trim().is_char_boundary(end) {
        end -= 1;
    }
    one_line.trim()[..end].to_owned()
}

impl User {
    /// The names of the account's credentials.
    pub fn credentials(&self) -> &[CredentialName] {
        &self.credentials
    }
}

impl UserDraft {
    /// Adds a credential, or writes one of this name again. Not the password: see
    /// [`UserDraft::set_password`].
    pub fn put_credential(&mut self, credential: &StoredCredential) {
        self.put(credential.name.clone(), credential.encode());
    }

    /// Takes a credential away. Not the password: see [`UserDraft::set_password`].
    pub fn remove_credential(&mut self, name: &CredentialName) {
        self.take_away(name.clone());
    }

    /// Takes all credentials of a kind away.
    pub fn remove_credentials(&mut self, kind: CredentialKind) {
        let of_kind = self.user.credentials.iter().filter(|one| one.kind == kind);
        for name in of_kind.cloned().collect::<Vec<_>>() {
            self.take_away(name);
        }
    }
}

impl Accounts {
    /// The account's credentials, without its password, in the order of their kinds and ids.
    ///
    /// # Errors
    /// The store's.
    pub async fn credentials(
        &self,
        user_id: &str,
        now: u64,
    ) -> Result<Vec<StoredCredential>, UserError> {
        let rows = self.store().partition(
            Table::Credential,
            user_id.as_bytes(),
            b"",
            // A row that its record does not name yet, or no more, may be among them.
            2 * MAX_CREDENTIALS,
            now,
        );
        let mut credentials = Vec::new();
        for (key, row) in rows.await? {
            match CredentialName::of(&key) {
                Some((_, name)) if name.kind != CredentialKind::Password => {
                    credentials.push(StoredCredential::read(name, &row)?);
                }
                // A later version's kind is nothing that this one can be shown.
                Some(_) | None => {}
            }
        }
        Ok(credentials)
    }

    /// One credential of an account.
    ///
    /// # Errors
    /// The store's.
    pub async fn credential(
        &self,
        user_id: &str,
        name: &CredentialName,
        now: u64,
    ) -> Result<Option<StoredCredential>, UserError> {
        let row = self.store().get(&name.key(user_id), now).await?;
        let read = row.map(|row| StoredCredential::read(name.clone(), &row));
        Ok(read.transpose()?)
    }

    /// Writes a credential that was read in the place of what was read: of racing uses one is done.
    /// Whether it was; it is not where the credential has changed or is gone.
    ///
    /// # Errors
    /// The store's.
    pub async fn rewrite_credential(
        &self,
        user_id: &str,
        credential: &StoredCredential,
        now: u64,
    ) -> Result<bool, UserError> {
        let replace = Op::Replace {
            key: credential.name.key(user_id),
            version: credential.version,
            value: credential.encode(),
            end: None,
        };
        let outcome = self.store().commit(Change::new(replace), now).await?;
        Ok(outcome.is_done())
    }

    /// A page of everybody's credentials of a kind, for who seals them again; never on a request's
    /// way. With where the next page begins; none: this was the last.
    ///
    /// # Errors
    /// The store's.
    pub async fn credentials_page(
        &self,
        kind: CredentialKind,
        after: Option<Key>,
        limit: usize,
        now: u64,
    ) -> Result<(Vec<(String, StoredCredential)>, Option<Key>), UserError> {
        let rows = self
            .store()
            .page(Table::Credential, after.as_ref(), limit, now);
        let rows = rows.await?;
        let next = rows.last().filter(|_| rows.len() == limit);
        let next = next.map(|(key, _)| key.clone());
        let mut credentials = Vec::new();
        for (key, row) in rows {
            if let Some((user_id, name)) = CredentialName::of(&key)
                && name.kind == kind
            {
                credentials.push((user_id, StoredCredential::read(name, &row)?));
            }
        }
        Ok((credentials, next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_one_short_line() {
        assert_eq!(cleaned_label(" my\nphone "), "myphone");
        let long = cleaned_label(&"é".repeat(100));
        assert_eq!(long.len(), MAX_LABEL_BYTES);
    }
}

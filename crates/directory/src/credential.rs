//! What people show to log in: rows of their own, beside the account.
//!
//! A credential is a row of [`Table::Credential`] under its user, its kind and its id; what is in
//! the row is its kind's own format. The account's record has the names of its credentials and none
//! of their values, so that a page can say what there is without reading it, and every change of a
//! credential is one change with the account's record as its condition.

use serde::{Deserialize, Serialize};
use signet_store::{Key, Table};

/// Most credentials of one account, of all kinds.
pub const MAX_CREDENTIALS: usize = 32;

/// What kind of credential: a row's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CredentialKind {
    /// A password; the row is a PHC string. An account has one at the most, without an id.
    Password,
}

impl CredentialKind {
    /// Names it in the rows' keys.
    const fn name(self) -> &'static str {
        match self {
            CredentialKind::Password => "password",
        }
    }
}

/// Names one credential of an account.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CredentialName {
    /// Its kind.
    pub kind: CredentialKind,
    /// Which of its kind; empty where there can only be one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
}

impl CredentialName {
    /// The password.
    pub const PASSWORD: CredentialName = CredentialName {
        kind: CredentialKind::Password,
        id: String::new(),
    };

    /// The row's key.
    pub(crate) fn key(&self, user_id: &str) -> Key {
        let mut sort = self.kind.name().as_bytes().to_vec();
        // No kind's name has a zero byte, so none begins another's rows.
        sort.push(0);
        sort.extend_from_slice(self.id.as_bytes());
        Key::with_sort(Table::Credential, user_id.as_bytes(), sort)
    }
}

//! What people show to log in: rows of their own, beside the account.
//!
//! A credential is a row of [`Table::Credential`] under its user, its kind and its id; what is in
//! the row is its kind's own format. The account's record has the names of its credentials and none
//! of their values, so that a page can say what there is without reading it, and every change of a
//! credential is one change with the account's record as its condition. What a credential's own use
//! writes (a counter, the time) has its row alone as the condition.

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
    /// An app that makes codes by the time (RFC 6238).
    Totp,
    /// A list of codes that work once each; one at the most, without an id.
    RecoveryCodes,
    /// A passkey or a security key (WebAuthn). The id is the credential's own, in base64url.
    Passkey,
    /// A browser that is not asked for a second factor.
    RememberedBrowser,
    /// A person of an identity provider, who logs in as this account there; the row is an
    /// [`UpstreamLink`](crate::UpstreamLink). The id is the hash that leads from them to the
    /// account.
    Provider,
}

impl CredentialKind {
    /// Every kind.
    pub const ALL: [CredentialKind; 6] = [
        CredentialKind::Password,
        CredentialKind::Totp,
        CredentialKind::RecoveryCodes,
        CredentialKind::Passkey,
        CredentialKind::RememberedBrowser,
        CredentialKind::Provider,
    ];

    /// Names it in the rows' keys, and in the admin API.
    pub const fn name(self) -> &'static str {
        match self {
            CredentialKind::Password => "password",
            CredentialKind::Totp => "totp",
            CredentialKind::RecoveryCodes => "recovery_codes",
            CredentialKind::Passkey => "passkey",
            CredentialKind::RememberedBrowser => "remembered_browser",
            CredentialKind::Provider => "provider",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<CredentialKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
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
    /// The recovery codes.
    pub const RECOVERY_CODES: CredentialName = CredentialName {
        kind: CredentialKind::RecoveryCodes,
        id: String::new(),
    };

    /// A credential of which an account may have several.
    pub fn new(kind: CredentialKind, id: impl Into<String>) -> CredentialName {
        CredentialName {
            kind,
            id: id.into(),
        }
    }

    /// The row's key.
    pub(crate) fn key(&self, user_id: &str) -> Key {
        let mut sort = self.kind.name().as_bytes().to_vec();
        // No kind's name has a zero byte, so none begins another's rows.
        sort.push(0);
        sort.extend_from_slice(self.id.as_bytes());
        Key::with_sort(Table::Credential, user_id.as_bytes(), sort)
    }

    /// The name and its user, by a row's key.
    pub(crate) fn of(key: &Key) -> Option<(String, CredentialName)> {
        let at = key.sort.iter().position(|byte| *byte == 0)?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let name = CredentialName {
            kind: CredentialKind::named(&text(&key.sort[..at])?)?,
            id: text(&key.sort[at + 1..])?,
        };
        Some((text(&key.partition)?, name))
    }
}

/// The row that leads from a provider's person to their account, by the id of the credential.
pub(crate) fn lead_of(id: &str) -> Key {
    Key::new(Table::UserLink, id)
}

/// The row that leads to an account by this credential, where it is a link.
pub(crate) fn lead(name: &CredentialName) -> Option<Key> {
    (name.kind == CredentialKind::Provider).then(|| lead_of(&name.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_leads_back_to_its_name() {
        for kind in CredentialKind::ALL {
            for id in ["", "a", "x-1"] {
                let name = CredentialName::new(kind, id);
                let key = name.key("user");
                assert_eq!(CredentialName::of(&key), Some(("user".into(), name)));
            }
        }
    }
}

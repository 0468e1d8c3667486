//! The tables and columns of an export that are read.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error, Unexpected};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::credentials::bytes;
use crate::read::or_default;

/// `database.json`
#[derive(Deserialize)]
pub(super) struct Export {
    pub(super) tables: Tables,
}

/// The database.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Tables {
    pub(super) users: Vec<User>,
    pub(super) user_groups: Vec<Group>,
    pub(super) user_groups_users: Vec<Member>,
    pub(super) custom_claims: Vec<Claim>,
    pub(super) webauthn_credentials: Vec<Credential>,
    pub(super) oidc_clients: Vec<Client>,
    pub(super) oidc_clients_allowed_user_groups: Vec<Allowed>,
    pub(super) user_authorized_oidc_clients: Vec<Authorized>,
    /// The other tables.
    #[serde(flatten)]
    pub(super) others: BTreeMap<String, Vec<Value>>,
}

/// A column of bytes.
pub(super) struct Blob(pub(super) Vec<u8>);

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Blob, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || D::Error::invalid_value(Unexpected::Other("a text"), &"bytes in base64");
        bytes(&text).map(Blob).ok_or_else(wrong)
    }
}

/// A column of JSON: in base64, or, where the database has it as text, as it is.
pub(super) struct Json<T>(pub(super) T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Json<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json<T>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_json = text.starts_with(['[', '{']) || text == "null";
        let json = if is_json {
            Some(text.into_bytes())
        } else {
            bytes(&text)
        };
        let read = json.and_then(|json| serde_json::from_slice(&json).ok());
        let wrong = || D::Error::invalid_value(Unexpected::Other("a text"), &"JSON in base64");
        read.map(Json).ok_or_else(wrong)
    }
}

#[derive(Deserialize)]
pub(super) struct User {
    pub(super) id: String,
    pub(super) username: String,
    #[serde(default)]
    pub(super) email: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) email_verified: bool,
    #[serde(default)]
    pub(super) first_name: Option<String>,
    #[serde(default)]
    pub(super) last_name: Option<String>,
    #[serde(default)]
    pub(super) display_name: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) is_admin: bool,
    #[serde(default)]
    pub(super) locale: Option<String>,
    #[serde(default)]
    pub(super) ldap_id: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) disabled: bool,
    #[serde(default)]
    pub(super) created_at: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct Group {
    pub(super) id: String,
    pub(super) name: String,
    #[serde(default)]
    pub(super) friendly_name: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Member {
    pub(super) user_id: String,
    pub(super) user_group_id: String,
}

#[derive(Deserialize)]
pub(super) struct Claim {
    pub(super) key: String,
    pub(super) value: String,
    /// None: a group has it.
    #[serde(default)]
    pub(super) user_id: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Credential {
    pub(super) user_id: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) name: String,
    pub(super) credential_id: Blob,
    pub(super) public_key: Blob,
    #[serde(default)]
    pub(super) transport: Option<Json<Vec<String>>>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) backup_eligible: bool,
    #[serde(default)]
    pub(super) aaguid: Option<String>,
    #[serde(default)]
    pub(super) created_at: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct Client {
    pub(super) id: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(default)]
    pub(super) callback_urls: Option<Json<Option<Vec<String>>>>,
    #[serde(default)]
    pub(super) logout_callback_urls: Option<Json<Option<Vec<String>>>>,
    #[serde(default)]
    pub(super) launch_url: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) is_public: bool,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) pkce_enabled: bool,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) requires_reauthentication: bool,
    #[serde(default)]
    pub(super) credentials: Option<Json<Credentials>>,
}

/// How a client shows who it is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Credentials {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) federated_identities: Vec<Value>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) secrets: Vec<Hashed>,
}

/// A secret of a client, which nobody knows.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Hashed {
    pub(super) algorithm: String,
    /// In hexadecimal digits, or as bcrypt writes it.
    pub(super) hash: String,
    #[serde(default)]
    pub(super) expires_at: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct Allowed {
    pub(super) oidc_client_id: String,
}

#[derive(Deserialize)]
pub(super) struct Authorized {
    pub(super) user_id: String,
    pub(super) client_id: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) scope: String,
}

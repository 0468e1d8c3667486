//! The fields of models that are read.

use std::collections::BTreeMap;

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::read::or_default;

/// What every object of a dump has.
#[derive(Deserialize)]
#[allow(dead_code, reason = "only that they are there is looked at")]
pub(super) struct Row {
    model: String,
    pk: Key,
    fields: Map<String, Value>,
}

/// The primary key of a row: a number, or a text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(pub(super) String);

impl Key {
    pub(super) fn of(value: &Value) -> Option<Key> {
        match value {
            Value::Number(number) => Some(Key(number.to_string())),
            Value::String(text) => Some(Key(text.clone())),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let wrong = || {
            let found = Unexpected::Other("another type");
            D::Error::invalid_value(found, &"a key: a number or a text (no natural keys)")
        };
        Key::of(&value).ok_or_else(wrong)
    }
}

#[derive(Deserialize)]
pub(super) struct User {
    pub(super) username: String,
    #[serde(default)]
    pub(super) uuid: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(default)]
    pub(super) email: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) password: String,
    #[serde(default = "yes")]
    pub(super) is_active: bool,
    #[serde(default)]
    pub(super) date_joined: Option<Value>,
    /// `internal`, `external`, `service_account` or `internal_service_account`
    #[serde(default, rename = "type")]
    pub(super) kind: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) attributes: BTreeMap<String, Value>,
    #[serde(default)]
    pub(super) ak_groups: Option<Vec<Key>>,
    /// Before the others were called so: Django's own, whose keys are numbers.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) groups: Vec<Key>,
}

#[derive(Deserialize)]
pub(super) struct Group {
    pub(super) name: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) is_superuser: bool,
    #[serde(default)]
    pub(super) parent: Option<Key>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) parents: Vec<Key>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) attributes: Map<String, Value>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) roles: Vec<Key>,
}

#[derive(Deserialize)]
pub(super) struct TotpDevice {
    pub(super) user: Key,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(default = "yes")]
    pub(super) confirmed: bool,
    /// In hexadecimal digits.
    pub(super) key: String,
    pub(super) step: u64,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) t0: i64,
    pub(super) digits: Digits,
    #[serde(default)]
    pub(super) created: Option<Value>,
}

/// A number, which some versions write as a text.
pub(super) struct Digits(pub(super) u64);

impl<'de> Deserialize<'de> for Digits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Digits, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let number = match &value {
            Value::String(text) => text.parse().ok(),
            other => other.as_u64(),
        };
        let wrong = || D::Error::invalid_value(Unexpected::Other("another type"), &"a number");
        number.map(Digits).ok_or_else(wrong)
    }
}

#[derive(Deserialize)]
pub(super) struct Consent {
    pub(super) user: Key,
    pub(super) application: Key,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) permissions: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) expiring: bool,
}

#[derive(Deserialize)]
pub(super) struct Application {
    pub(super) name: String,
    #[serde(default)]
    pub(super) provider: Option<Key>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) meta_launch_url: String,
}

#[derive(Deserialize)]
pub(super) struct Provider {
    pub(super) name: String,
    #[serde(default)]
    pub(super) authorization_flow: Option<Key>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) property_mappings: Vec<Key>,
}

/// An OAuth 2 provider: a client.
#[derive(Deserialize)]
pub(super) struct Client {
    pub(super) client_id: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) client_type: String,
    #[serde(default)]
    pub(super) client_secret: Option<String>,
    /// As versions before 2024.12 write them: a line each, which may be a regular expression.
    #[serde(default)]
    pub(super) redirect_uris: Option<String>,
    #[serde(default, rename = "_redirect_uris")]
    pub(super) uris: Option<Vec<RedirectUri>>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) logout_uri: String,
    #[serde(default)]
    pub(super) logout_method: Option<String>,
    #[serde(default)]
    pub(super) signing_key: Option<Value>,
    #[serde(default)]
    pub(super) encryption_key: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct RedirectUri {
    /// `strict` or `regex`
    pub(super) matching_mode: String,
    pub(super) url: String,
    /// `authorization` or `logout`
    #[serde(default)]
    pub(super) redirect_uri_type: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct ScopeMapping {
    pub(super) scope_name: String,
}

#[derive(Deserialize)]
pub(super) struct Flow {
    pub(super) slug: String,
}

#[derive(Deserialize)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) slug: String,
    #[serde(default = "yes")]
    pub(super) enabled: bool,
    #[serde(default)]
    pub(super) enrollment_flow: Option<Key>,
    #[serde(default)]
    pub(super) user_matching_mode: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct OAuthSource {
    pub(super) provider_type: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) consumer_key: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) consumer_secret: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) oidc_well_known_url: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) additional_scopes: String,
    #[serde(default)]
    pub(super) authorization_code_auth_method: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Connection {
    pub(super) user: Key,
    pub(super) source: Key,
    /// Who the person is there; in the table of the kind, in versions before 2025.2.
    #[serde(default)]
    pub(super) identifier: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct OAuthConnection {
    #[serde(default)]
    pub(super) identifier: Option<String>,
}

fn yes() -> bool {
    true
}

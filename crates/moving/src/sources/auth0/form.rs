//! The members of documents that are read.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::read::or_default;

/// A user, of an export or for an import.
#[derive(Deserialize)]
pub(super) struct User {
    #[serde(default)]
    pub(super) user_id: Option<String>,
    #[serde(default)]
    pub(super) email: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) email_verified: bool,
    #[serde(default)]
    pub(super) username: Option<String>,
    #[serde(default)]
    pub(super) phone_number: Option<String>,
    #[serde(default)]
    pub(super) phone_verified: Option<bool>,
    #[serde(default)]
    pub(super) given_name: Option<String>,
    #[serde(default)]
    pub(super) family_name: Option<String>,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) nickname: Option<String>,
    #[serde(default)]
    pub(super) picture: Option<String>,
    #[serde(default)]
    pub(super) locale: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) blocked: bool,
    #[serde(default)]
    pub(super) created_at: Option<Value>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) identities: Vec<Identity>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) user_metadata: BTreeMap<String, Value>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) app_metadata: BTreeMap<String, Value>,
    #[serde(default)]
    pub(super) password_hash: Option<String>,
    #[serde(default)]
    pub(super) custom_password_hash: Option<CustomHash>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) mfa_factors: Vec<Factor>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) multifactor: Vec<String>,
}

/// Who a user is somewhere.
#[derive(Deserialize)]
pub(super) struct Identity {
    /// The connection's strategy.
    pub(super) provider: String,
    /// A number, of some providers.
    pub(super) user_id: Value,
    #[serde(default)]
    pub(super) connection: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Factor {
    #[serde(default)]
    pub(super) totp: Option<Totp>,
}

#[derive(Deserialize)]
pub(super) struct Totp {
    /// In base32.
    pub(super) secret: String,
}

/// `custom_password_hash`
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CustomHash {
    pub(super) algorithm: String,
    pub(super) hash: Encoded,
    #[serde(default)]
    pub(super) salt: Option<Salt>,
    #[serde(default)]
    pub(super) password: Option<PasswordForm>,
    /// Of scrypt: N, and r, p.
    #[serde(default)]
    pub(super) cost: Option<u64>,
    #[serde(default)]
    pub(super) block_size: Option<u64>,
    #[serde(default)]
    pub(super) parallelization: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct Encoded {
    pub(super) value: String,
    /// `base64`, `hex` or `utf8`
    #[serde(default)]
    pub(super) encoding: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Salt {
    pub(super) value: String,
    /// `base64`, `hex` or `utf8`
    #[serde(default)]
    pub(super) encoding: Option<String>,
    /// `prefix` or `suffix`
    #[serde(default)]
    pub(super) position: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct PasswordForm {
    #[serde(default)]
    pub(super) encoding: Option<String>,
}

/// A line of the password hashes that Auth0's support exports.
#[derive(Deserialize)]
pub(super) struct Hash {
    #[serde(rename = "_id")]
    pub(super) id: ObjectId,
    /// The id, where somebody else chose it.
    #[serde(default)]
    pub(super) alt_id: Option<String>,
    #[serde(default)]
    pub(super) email: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) email_verified: bool,
    #[serde(default)]
    pub(super) username: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) identifiers: Vec<Identifier>,
    #[serde(default, rename = "passwordHash")]
    pub(super) password_hash: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct ObjectId {
    #[serde(rename = "$oid")]
    pub(super) oid: String,
}

#[derive(Deserialize)]
pub(super) struct Identifier {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) value: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) verified: bool,
}

#[derive(Deserialize)]
pub(super) struct Client {
    #[serde(default)]
    pub(super) client_id: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) name: String,
    /// The client that stands for all.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) global: bool,
    #[serde(default)]
    pub(super) app_type: Option<String>,
    #[serde(default)]
    pub(super) client_secret: Option<String>,
    #[serde(default)]
    pub(super) token_endpoint_auth_method: Option<String>,
    #[serde(default)]
    pub(super) client_authentication_methods: Option<Value>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) grant_types: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) callbacks: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) allowed_logout_urls: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) web_origins: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) allowed_origins: Vec<String>,
    #[serde(default)]
    pub(super) is_first_party: Option<bool>,
    #[serde(default)]
    pub(super) logo_uri: Option<String>,
    #[serde(default)]
    pub(super) initiate_login_uri: Option<String>,
    #[serde(default)]
    pub(super) oidc_logout: Option<OidcLogout>,
    #[serde(default)]
    pub(super) jwt_configuration: Option<JwtConfiguration>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) require_pushed_authorization_requests: bool,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) addons: BTreeMap<String, Value>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) client_metadata: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
pub(super) struct OidcLogout {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) backchannel_logout_urls: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct JwtConfiguration {
    #[serde(default)]
    pub(super) alg: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Connection {
    pub(super) name: String,
    pub(super) strategy: String,
    #[serde(default)]
    pub(super) display_name: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) options: ConnectionOptions,
}

#[derive(Default, Deserialize)]
pub(super) struct ConnectionOptions {
    #[serde(default)]
    pub(super) client_id: Option<String>,
    #[serde(default)]
    pub(super) client_secret: Option<String>,
    #[serde(default)]
    pub(super) issuer: Option<String>,
    #[serde(default)]
    pub(super) discovery_url: Option<String>,
    #[serde(default)]
    pub(super) oidc_metadata: Option<OidcMetadata>,
    /// Of Microsoft Entra ID.
    #[serde(default, rename = "tenantId")]
    pub(super) tenant_id: Option<String>,
    /// A text, or a list of them.
    #[serde(default)]
    pub(super) scope: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct OidcMetadata {
    #[serde(default)]
    pub(super) issuer: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Role {
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) permissions: Vec<Value>,
}

//! What the configuration owns of the registry: clients, users, resources, scopes.

use std::{borrow::Cow, collections::BTreeMap, path::PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use signet_directory::Profile;
use signet_encoding::json::Writer;
use signet_oauth::{
    client::metadata::{MEMBERS, Shape},
    people,
};

use super::AccessTokenFormat;
use crate::{duration::Duration, secret::SecretRef};

/// A client that the configuration owns: every member of a client's record under its own name, and
/// what a file says in its own way.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Client {
    /// Its id: 1 to 128 visible ASCII characters.
    pub client_id: String,
    /// The client's secret, at least 32 bytes. Two during a change of secret.
    #[serde(default)]
    pub client_secrets: Vec<SecretRef>,
    /// File of the client's public keys (a JWK Set).
    pub jwks: Option<PathBuf>,
    /// `refresh_rotation` as a yes or no.
    pub rotate_refresh_tokens: Option<bool>,
    /// `consent` as a yes or no.
    pub ask_for_consent: Option<bool>,
    /// The members of the record: names of [`MEMBERS`].
    #[serde(flatten)]
    pub members: BTreeMap<String, toml::Value>,
}

/// A further realm of the process that the configuration owns (docs/realms.md).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Realm {
    /// 1 to 32 of a-z, 0-9 and -, a letter first.
    pub name: String,
    /// Its issuer identifier. Default: the process' issuer, and the realm's name behind it.
    pub issuer: Option<String>,
    /// For administrators.
    pub description: Option<String>,
    /// It answers nothing, and keeps everything.
    #[serde(default)]
    pub suspended: bool,
    /// What it has of its own in place of this file: settings of a realm, in their tables or by
    /// their names.
    #[serde(default)]
    pub settings: BTreeMap<String, serde_json::Value>,
}

/// An identity provider of others that the configuration owns (docs/identity-providers.md).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Provider {
    /// What it is called in URLs and buttons: lower-case letters, digits and hyphens.
    pub name: String,
    /// The secret of the client that this server is there.
    pub client_secret: Option<SecretRef>,
    /// The members of the record, as in `signet provider`.
    #[serde(flatten)]
    pub members: BTreeMap<String, serde_json::Value>,
}

/// What a file says in its own way: (name, JSON Schema, description). `jwks` takes the place of the
/// record's member.
const OF_THE_FILE: [(&str, &str, &str); 4] = [
    (
        "client_id",
        r#"{"type":"string"}"#,
        "Its id: 1 to 128 visible ASCII characters.",
    ),
    (
        "jwks",
        r#"{"type":"string"}"#,
        "File of the client's public keys (a JWK Set).",
    ),
    (
        "rotate_refresh_tokens",
        r#"{"type":"boolean"}"#,
        "Do refresh tokens change at every use? As refresh_rotation.",
    ),
    (
        "ask_for_consent",
        r#"{"type":"boolean"}"#,
        "Is the person asked? As consent.",
    ),
];

impl JsonSchema for Client {
    fn schema_name() -> Cow<'static, str> {
        "Client".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = serde_json::Map::new();
        for member in MEMBERS {
            let mut text = Vec::new();
            member.write_schema(&mut Writer::new(&mut text));
            properties.insert(member.name.to_owned(), json(&text));
        }
        for (member, of_file) in MEMBERS.iter().filter_map(|m| Some((m, of_file(m.shape)?))) {
            properties[member.name]["type"] = of_file;
        }
        for (name, schema, doc) in OF_THE_FILE {
            let mut schema = json(schema.as_bytes());
            schema["description"] = doc.into();
            properties.insert(name.to_owned(), schema);
        }
        properties.insert(
            "client_secrets".to_owned(),
            generator.subschema_for::<Vec<SecretRef>>().to_value(),
        );
        json_schema!({
            "description": "A client (RFC 7591 names) that the configuration owns.",
            "type": "object",
            "properties": properties,
            "required": ["client_id"],
            "additionalProperties": false,
        })
    }
}

/// The JSON types of a shape that a file may also write in another way: a length of time with its
/// unit, scopes as a list.
fn of_file(shape: Shape) -> Option<serde_json::Value> {
    match shape {
        Shape::Seconds => Some(serde_json::json!(["integer", "string"])),
        Shape::Scope => Some(serde_json::json!(["array", "string"])),
        Shape::Text
        | Shape::Url
        | Shape::List
        | Shape::NameList(_)
        | Shape::Name(_)
        | Shape::Flag
        | Shape::Time
        | Shape::KeySet
        | Shape::ClaimTable => None,
    }
}

fn json(text: &[u8]) -> serde_json::Value {
    // Invariant: constants of this file, and what a writer of JSON wrote.
    serde_json::from_slice(text).expect("a schema is JSON")
}

fn yes() -> bool {
    true
}

/// A person to make where nobody of that name exists.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// Login name.
    pub username: String,
    /// Mail address.
    pub email: Option<String>,
    /// Has the address been proven?
    #[serde(default)]
    pub email_verified: bool,
    /// Full name; `profile.name` says the same.
    pub name: Option<String>,
    /// What else is known of the person: the standard claims (OpenID Connect Core section 5.1).
    #[serde(default)]
    pub profile: Profile,
    /// The password. Without one, the person logs in by mail, or recovers one.
    pub password: Option<SecretRef>,
    /// May this person ask for the scope `signet:admin`?
    #[serde(default)]
    pub admin: bool,
}

/// A resource server.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// Its identifier: an absolute URI without fragment (RFC 8707); the `aud` of its tokens.
    pub identifier: String,
    /// Shown on consent pages.
    pub name: Option<String>,
    /// Scopes that it knows.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Signature of its access tokens.
    pub access_token_signed_response_alg: Option<String>,
    /// Format of its access tokens: jwt (default) or compact.
    pub access_token_format: Option<AccessTokenFormat>,
    /// Lifetime of its access tokens.
    pub access_token_lifetime: Option<Duration>,
    /// Clients that may introspect tokens for it.
    #[serde(default)]
    pub introspectors: Vec<String>,
    /// What its access tokens say of the person: rows of a table (docs/claims.md).
    #[serde(default)]
    pub claims: Vec<serde_json::Value>,
}

/// A scope.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// Its name (RFC 6749 section 3.3).
    pub name: String,
    /// What the person reads on the consent page.
    pub description: String,
    /// The same in other languages, by their tags (RFC 5646): { de = "..." }.
    #[serde(default)]
    pub descriptions: BTreeMap<String, String>,
    /// Is it named in the metadata?
    #[serde(default = "yes")]
    pub published: bool,
    /// The claims that it gives: rows of a table (docs/claims.md).
    #[serde(default)]
    pub claims: Vec<serde_json::Value>,
}

/// An attribute of people.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attribute {
    /// Its name: lower-case letters, digits and underscores.
    pub name: String,
    /// What the account page calls it.
    pub label: Option<String>,
    /// What its value is.
    #[serde(default, rename = "type")]
    pub kind: AttributeType,
    /// Who sees it.
    #[serde(default)]
    pub read: Who,
    /// Who writes it.
    #[serde(default)]
    pub write: Who,
    /// Does only a value that somebody vouches for become a claim?
    #[serde(default)]
    pub verified: bool,
    /// The longest text, in bytes: 256 unless given, 2048 at the most.
    pub max_bytes: Option<usize>,
    /// Most texts of a list: 16 unless given, 64 at the most.
    pub max_items: Option<usize>,
}

/// What an attribute's value is.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttributeType {
    /// One line.
    #[default]
    String,
    /// A whole number.
    Number,
    /// Yes or no.
    Boolean,
    /// Several lines.
    List,
}

impl From<AttributeType> for people::AttributeType {
    fn from(kind: AttributeType) -> people::AttributeType {
        match kind {
            AttributeType::String => people::AttributeType::String,
            AttributeType::Number => people::AttributeType::Number,
            AttributeType::Boolean => people::AttributeType::Boolean,
            AttributeType::List => people::AttributeType::List,
        }
    }
}

/// Who may do something with an attribute.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// The person, and administrators.
    Person,
    /// Administrators.
    #[default]
    Administrator,
    /// Nobody here.
    Nobody,
}

impl From<Who> for people::Who {
    fn from(who: Who) -> people::Who {
        match who {
            Who::Person => people::Who::Person,
            Who::Administrator => people::Who::Administrator,
            Who::Nobody => people::Who::Nobody,
        }
    }
}

/// A role.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// Its name, without the client's.
    pub name: String,
    /// The client whose role it is; none: the realm's.
    pub client: Option<String>,
    /// For people.
    pub description: Option<String>,
}

/// A group of people.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// The group that everybody in this one is in, too: one of this file.
    pub parent: Option<String>,
    /// Roles that everybody in it has, of this file: NAME, or CLIENT_ID/NAME.
    #[serde(default)]
    pub roles: Vec<String>,
}

/// A class that some logins have to reach: those for which each list that is given has one that
/// fits.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepUp {
    /// The authentication context class, e.g. "urn:signet:acr:two-factors".
    pub acr: String,
    /// Groups that the person is in, directly or through others.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Scopes that are asked for.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Clients that ask.
    #[serde(default)]
    pub clients: Vec<String>,
}

//! What was read, as the admin API takes it: members are those of its documents.

use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

use crate::report::Report;

/// Everything of one file, or of several that belong together.
#[derive(Default)]
pub struct Moved {
    /// What it is called there, for people.
    pub from: String,
    /// Attributes that the schema has to have.
    pub attributes: Vec<Attribute>,
    /// Of the realm and of clients: `NAME`, or `CLIENT_ID/NAME`.
    pub roles: Vec<Role>,
    /// Clients.
    pub clients: Vec<Client>,
    /// Parents before those in them.
    pub groups: Vec<Group>,
    /// Identity providers.
    pub providers: Vec<Provider>,
    /// People.
    pub people: Vec<Person>,
    /// People as another Signet wrote them: whole documents, sent as they are.
    pub accounts: Vec<Map<String, Value>>,
    /// What does not come over as it is.
    pub report: Report,
}

/// An attribute of the schema.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Attribute {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// What it was called, where that is something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// `string` or `list`
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The longest text, in bytes.
    pub max_bytes: usize,
    /// Most texts of a list.
    pub max_items: usize,
}

/// A role.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Role {
    /// Its whole name.
    #[serde(skip)]
    pub name: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A group.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Group {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The group that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Whole names of roles that everybody in it has.
    pub roles: Vec<String>,
}

/// A client: its record (RFC 7591 and Signet's own members), and `client_secret`.
pub struct Client {
    /// Its id.
    pub client_id: String,
    /// The document.
    pub document: Map<String, Value>,
}

/// An identity provider.
pub struct Provider {
    /// Its name.
    pub name: String,
    /// The document.
    pub document: Map<String, Value>,
}

/// A person, as `importUsers` takes one. It has no `Debug`: most of it is secret.
#[derive(Default, Serialize)]
pub struct Person {
    /// 16 bytes in base64url.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What they log in as.
    pub username: String,
    /// Their address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Whether it is known to be theirs.
    pub email_verified: bool,
    /// As `signet_crypto::foreign` reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_hash: Option<String>,
    /// Whether they may log in.
    pub enabled: bool,
    /// The next login sets another password.
    pub must_change_password: bool,
    /// Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<u64>,
    /// Standard claims.
    pub profile: Map<String, Value>,
    /// Names of groups.
    pub groups: Vec<String>,
    /// Whole names of roles.
    pub roles: Vec<String>,
    /// By the schema.
    pub attributes: BTreeMap<String, Value>,
    /// Apps that make codes.
    pub totp: Vec<App>,
    /// Passkeys.
    pub passkeys: Vec<Passkey>,
    /// Who they are at identity providers.
    pub identities: Vec<Identity>,
    /// What they have agreed to.
    pub consents: Vec<Consent>,
}

/// An app that makes codes by the time.
#[derive(Serialize)]
pub struct App {
    /// In base32.
    pub secret: String,
    /// `SHA1`, `SHA256` or `SHA512`
    pub algorithm: &'static str,
    /// Of a code.
    pub digits: u32,
    /// Seconds of a step.
    pub period: u64,
    /// What its person calls it.
    pub label: String,
    /// Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<u64>,
}

/// A passkey.
#[derive(Serialize)]
pub struct Passkey {
    /// The relying party that it was made for.
    pub rp_id: String,
    /// In base64url.
    pub id: String,
    /// COSE, in base64url.
    pub public_key: String,
    /// How often it had signed.
    pub sign_count: u32,
    /// A UUID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aaguid: Option<String>,
    /// Whether it may be on several devices, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup_eligible: Option<bool>,
    /// How its authenticator is reached.
    pub transports: Vec<String>,
    /// What its person calls it.
    pub label: String,
    /// Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<u64>,
}

/// A person of an identity provider.
#[derive(Serialize)]
pub struct Identity {
    /// The provider's name.
    pub provider: String,
    /// The person's `sub` there.
    pub subject: String,
    /// What they are called there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// What a person has agreed to for a client.
#[derive(Serialize)]
pub struct Consent {
    /// The client.
    pub client_id: String,
    /// Scopes, separated by spaces.
    pub scope: String,
    /// Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granted_at: Option<u64>,
}

impl Moved {
    /// How much there is of each kind.
    pub fn counts(&self) -> Value {
        let have = |has: fn(&Person) -> bool, member: &str| {
            let accounts = self.accounts.iter().filter(|one| one.contains_key(member));
            self.people.iter().filter(|one| has(one)).count() + accounts.count()
        };
        serde_json::json!({
            "people": self.people.len() + self.accounts.len(),
            "with_password": have(|one| one.password_hash.is_some(), "password_hash"),
            "with_totp": have(|one| !one.totp.is_empty(), "totp"),
            "with_passkey": have(|one| !one.passkeys.is_empty(), "passkeys"),
            "groups": self.groups.len(),
            "roles": self.roles.len(),
            "attributes": self.attributes.len(),
            "clients": self.clients.len(),
            "providers": self.providers.len(),
        })
    }
}

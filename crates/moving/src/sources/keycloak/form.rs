//! The members of an export that are read. Others are ignored here; what they stand for is in the
//! table of the source.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// One document of an export: a realm, or some of its users.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Export {
    pub(super) realm: Option<String>,
    pub(super) users: Vec<User>,
    pub(super) keycloak_version: Option<String>,
    pub(super) roles: Option<Roles>,
    pub(super) groups: Vec<Group>,
    pub(super) default_groups: Vec<String>,
    pub(super) clients: Vec<Client>,
    pub(super) client_scopes: Vec<Named>,
    pub(super) identity_providers: Vec<IdentityProvider>,
    pub(super) identity_provider_mappers: Vec<Named>,
    pub(super) authentication_flows: Vec<Flow>,
    pub(super) components: BTreeMap<String, Vec<Named>>,
    pub(super) smtp_server: Map<String, Value>,
    pub(super) organizations: Vec<Named>,
    pub(super) attributes: Map<String, Value>,
    pub(super) web_authn_policy_rp_id: Option<String>,
    pub(super) web_authn_policy_require_resident_key: Option<String>,
    pub(super) web_authn_policy_passwordless_rp_id: Option<String>,
    pub(super) web_authn_policy_passwordless_require_resident_key: Option<String>,
}

/// A realm.
pub(super) struct Realm {
    pub(super) name: String,
    pub(super) rest: Export,
}

impl Export {
    /// A file of users alone names its realm, too.
    pub(super) fn is_realm(&self) -> bool {
        self.roles.is_some() || !self.clients.is_empty()
    }
}

/// Something of which the name is enough.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Named {
    pub(super) name: Option<String>,
    pub(super) provider_id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Flow {
    pub(super) alias: String,
    pub(super) built_in: bool,
    pub(super) top_level: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Roles {
    pub(super) realm: Vec<Role>,
    pub(super) client: BTreeMap<String, Vec<Role>>,
}

#[derive(Deserialize)]
pub(super) struct Role {
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: Option<String>,
    #[serde(default)]
    pub(super) composites: Composites,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Composites {
    pub(super) realm: Vec<String>,
    pub(super) client: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Group {
    pub(super) name: String,
    #[serde(default)]
    pub(super) path: Option<String>,
    #[serde(default)]
    pub(super) sub_groups: Vec<Group>,
    #[serde(default)]
    pub(super) attributes: Map<String, Value>,
    #[serde(default)]
    pub(super) realm_roles: Vec<String>,
    #[serde(default)]
    pub(super) client_roles: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Client {
    pub(super) client_id: String,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default = "yes")]
    pub(super) enabled: bool,
    #[serde(default)]
    pub(super) protocol: Option<String>,
    #[serde(default)]
    pub(super) client_authenticator_type: Option<String>,
    #[serde(default)]
    pub(super) secret: Option<String>,
    #[serde(default)]
    pub(super) root_url: Option<String>,
    #[serde(default)]
    pub(super) base_url: Option<String>,
    #[serde(default)]
    pub(super) redirect_uris: Vec<String>,
    #[serde(default)]
    pub(super) web_origins: Vec<String>,
    #[serde(default)]
    pub(super) bearer_only: bool,
    #[serde(default)]
    pub(super) public_client: bool,
    #[serde(default)]
    pub(super) consent_required: bool,
    #[serde(default)]
    pub(super) standard_flow_enabled: bool,
    #[serde(default)]
    pub(super) implicit_flow_enabled: bool,
    #[serde(default)]
    pub(super) direct_access_grants_enabled: bool,
    #[serde(default)]
    pub(super) service_accounts_enabled: bool,
    #[serde(default)]
    pub(super) authorization_services_enabled: bool,
    #[serde(default)]
    pub(super) attributes: BTreeMap<String, Option<String>>,
    #[serde(default)]
    pub(super) protocol_mappers: Vec<Named>,
    #[serde(default)]
    pub(super) default_client_scopes: Vec<String>,
    #[serde(default)]
    pub(super) optional_client_scopes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IdentityProvider {
    pub(super) alias: String,
    #[serde(default)]
    pub(super) display_name: Option<String>,
    pub(super) provider_id: String,
    #[serde(default = "yes")]
    pub(super) enabled: bool,
    #[serde(default)]
    pub(super) trust_email: bool,
    #[serde(default)]
    pub(super) hide_on_login: bool,
    #[serde(default)]
    pub(super) link_only: bool,
    #[serde(default)]
    pub(super) config: BTreeMap<String, Option<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct User {
    #[serde(default)]
    pub(super) id: Option<String>,
    pub(super) username: String,
    #[serde(default)]
    pub(super) email: Option<String>,
    #[serde(default)]
    pub(super) email_verified: bool,
    #[serde(default = "yes")]
    pub(super) enabled: bool,
    #[serde(default)]
    pub(super) first_name: Option<String>,
    #[serde(default)]
    pub(super) last_name: Option<String>,
    /// Milliseconds.
    #[serde(default)]
    pub(super) created_timestamp: Option<u64>,
    #[serde(default)]
    pub(super) attributes: Option<BTreeMap<String, Value>>,
    #[serde(default)]
    pub(super) credentials: Vec<Credential>,
    #[serde(default)]
    pub(super) required_actions: Vec<String>,
    #[serde(default)]
    pub(super) realm_roles: Vec<String>,
    #[serde(default)]
    pub(super) client_roles: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(super) groups: Vec<String>,
    #[serde(default)]
    pub(super) federated_identities: Vec<FederatedIdentity>,
    #[serde(default)]
    pub(super) client_consents: Vec<ClientConsent>,
    /// The directory that keeps the account.
    #[serde(default)]
    pub(super) federation_link: Option<String>,
    /// The client that the account stands for.
    #[serde(default)]
    pub(super) service_account_client_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Credential {
    #[serde(default, rename = "type")]
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) user_label: Option<String>,
    #[serde(default)]
    pub(super) created_date: Option<u64>,
    /// JSON within JSON.
    #[serde(default)]
    pub(super) secret_data: Option<String>,
    /// JSON within JSON.
    #[serde(default)]
    pub(super) credential_data: Option<String>,
    /// As versions before 8 wrote a password.
    #[serde(default)]
    pub(super) hashed_salted_value: Option<String>,
    #[serde(default)]
    pub(super) salt: Option<String>,
    #[serde(default)]
    pub(super) hash_iterations: Option<u64>,
    #[serde(default)]
    pub(super) algorithm: Option<String>,
    #[serde(default)]
    pub(super) temporary: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FederatedIdentity {
    pub(super) identity_provider: String,
    pub(super) user_id: String,
    #[serde(default)]
    pub(super) user_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClientConsent {
    pub(super) client_id: String,
    #[serde(default)]
    pub(super) granted_client_scopes: Vec<String>,
    #[serde(default)]
    pub(super) created_date: Option<u64>,
}

fn yes() -> bool {
    true
}

//! The members of an export that are read, as the gateway of the API writes messages in JSON.
//! What it has no value for is left out, or null, or an empty list.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::read::or_default;

/// One file: an export, what is given to an import, or applications that were listed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Export {
    #[serde(default)]
    pub(super) orgs: Option<Vec<Org>>,
    #[serde(default, alias = "data_orgs")]
    pub(super) data_orgs: Option<Orgs>,
    #[serde(default)]
    pub(super) result: Option<Vec<App>>,
}

#[derive(Deserialize)]
pub(super) struct Orgs {
    #[serde(default)]
    pub(super) orgs: Vec<Org>,
}

/// `DataOrg`
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Org {
    pub(super) org_id: String,
    #[serde(default)]
    pub(super) org: Option<Named>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) human_users: Vec<HumanUser>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) machine_users: Vec<MachineUser>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) user_metadata: Vec<Metadata>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) user_links: Vec<UserLink>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) user_grants: Vec<UserGrant>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) projects: Vec<Project>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) project_roles: Vec<ProjectRole>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) project_grants: Vec<ProjectGrant>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) oidc_apps: Vec<OidcApp>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) api_apps: Vec<ApiApp>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) app_keys: Vec<AppKey>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) oidc_idps: Vec<OidcIdp>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) jwt_idps: Vec<JwtIdp>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) actions: Vec<Action>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) org_members: Vec<Member>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) project_members: Vec<Member>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) project_grant_members: Vec<Member>,
    /// Policies, texts, domains.
    #[serde(flatten)]
    pub(super) others: BTreeMap<String, Value>,
}

impl Org {
    /// What it is called, for people.
    pub(super) fn shown(&self) -> &str {
        let name = self.org.as_ref().map(|org| &*org.name);
        name.filter(|name| !name.is_empty()).unwrap_or(&self.org_id)
    }
}

#[derive(Deserialize)]
pub(super) struct Named {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HumanUser {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) user_id: String,
    #[serde(default)]
    pub(super) user: Option<Human>,
}

/// `ImportHumanUserRequest`
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Human {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) user_name: String,
    #[serde(default)]
    pub(super) profile: Option<Profile>,
    #[serde(default)]
    pub(super) email: Option<Email>,
    #[serde(default)]
    pub(super) phone: Option<Phone>,
    #[serde(default)]
    pub(super) hashed_password: Option<HashedPassword>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) password_change_required: bool,
    #[serde(default)]
    pub(super) otp_code: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) idps: Vec<HumanIdp>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Profile {
    #[serde(default)]
    pub(super) first_name: Option<String>,
    #[serde(default)]
    pub(super) last_name: Option<String>,
    #[serde(default)]
    pub(super) nick_name: Option<String>,
    #[serde(default)]
    pub(super) display_name: Option<String>,
    #[serde(default)]
    pub(super) preferred_language: Option<String>,
    #[serde(default)]
    pub(super) gender: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Email {
    #[serde(default)]
    pub(super) email: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) is_email_verified: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Phone {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) phone: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) is_phone_verified: bool,
}

#[derive(Deserialize)]
pub(super) struct HashedPassword {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HumanIdp {
    pub(super) config_id: String,
    pub(super) external_user_id: String,
    #[serde(default)]
    pub(super) display_name: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct MachineUser {
    #[serde(default)]
    pub(super) user: Option<Machine>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Machine {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) user_name: String,
}

#[derive(Deserialize)]
pub(super) struct Metadata {
    /// The user's.
    pub(super) id: String,
    pub(super) key: String,
    /// In base64.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UserLink {
    pub(super) user_id: String,
    pub(super) idp_id: String,
    pub(super) provided_user_id: String,
    #[serde(default)]
    pub(super) provided_user_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UserGrant {
    pub(super) user_id: String,
    pub(super) project_id: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) role_keys: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Project {
    pub(super) project_id: String,
    #[serde(default)]
    pub(super) project: Option<Named>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProjectRole {
    pub(super) project_id: String,
    pub(super) role_key: String,
    #[serde(default)]
    pub(super) display_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProjectGrant {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) grant_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OidcApp {
    pub(super) app_id: String,
    #[serde(default)]
    pub(super) app: Option<OidcConfig>,
}

/// `AddOIDCAppRequest`; what is listed has a `clientId` beside.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OidcConfig {
    #[serde(default)]
    pub(super) client_id: Option<String>,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) redirect_uris: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) post_logout_redirect_uris: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) additional_origins: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) grant_types: Vec<String>,
    #[serde(default)]
    pub(super) app_type: Option<String>,
    #[serde(default)]
    pub(super) auth_method_type: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApiApp {
    pub(super) app_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AppKey {
    pub(super) app_id: String,
    #[serde(default)]
    pub(super) client_id: Option<String>,
}

/// An application that was listed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct App {
    pub(super) id: String,
    #[serde(default)]
    pub(super) oidc_config: Option<OidcConfig>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OidcIdp {
    pub(super) idp_id: String,
    #[serde(default)]
    pub(super) idp: Option<Idp>,
}

/// `AddOrgOIDCIDPRequest`
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Idp {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(default)]
    pub(super) client_id: Option<String>,
    #[serde(default)]
    pub(super) client_secret: Option<String>,
    #[serde(default)]
    pub(super) issuer: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) scopes: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) auto_register: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JwtIdp {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) idp_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Action {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) action_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Member {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) user_id: String,
}

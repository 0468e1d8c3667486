//! Identity providers as they are shown. The client secret is written and never shown.
use crate::providers::{ClaimForm, GroupForm};
use schemars::JsonSchema;
use serde::Serialize;
use signet_oauth::people::provider::{Preset, Provider};

/// An identity provider.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Provider")]
pub struct ProviderDocument {
    /// What it is called in addresses and records.
    pub name: String,
    revision: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logo_uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<&'static str>,
    /// `openid`, `oauth2`, `hook` or `ldap`
    protocol: &'static str,
    issuer: String,
    client_id: String,
    /// To be registered at the provider.
    redirect_uri: String,
    /// Likewise, for logouts there (OpenID Connect Back-Channel Logout 1.0).
    backchannel_logout_uri: String,
    /// Likewise, for `logout` (OpenID Connect RP-Initiated Logout 1.0).
    post_logout_redirect_uri: String,
    /// Whether a client secret is kept.
    has_secret: bool,
    token_endpoint_auth_method: &'static str,
    scope: String,
    response_mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    authorization_endpoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_endpoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    userinfo_endpoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    emails_endpoint: Option<String>,
    subject_claim: String,
    trust_email: bool,
    trust_acr: bool,
    create: bool,
    enabled: bool,
    hidden: bool,
    logout: bool,
    keep_refresh_token: bool,
    exchange_clients: Vec<String>,
    domains: Vec<String>,
    migrate: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    search_base: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search_filter: Option<String>,
    claims: Vec<ClaimForm>,
    groups: Vec<GroupForm>,
}

impl ProviderDocument {
    /// As it is shown. `issuer`: the realm's, below which its addresses are.
    pub fn new(provider: &Provider, issuer: &str) -> ProviderDocument {
        let claims = provider.claims.iter().map(|row| ClaimForm {
            claim: row.claim.clone(),
            to: row.to.clone(),
        });
        let groups = provider.groups.iter().map(|row| GroupForm {
            claim: row.claim.clone(),
            value: row.value.clone(),
            group: row.group.clone(),
        });
        ProviderDocument {
            redirect_uri: provider.redirect_uri(issuer),
            backchannel_logout_uri: provider.logout_uri(issuer),
            post_logout_redirect_uri: provider.logged_out_uri(issuer),
            has_secret: provider.sealed_secret.is_some(),
            name: provider.name.clone(),
            revision: provider.revision,
            label: provider.label.clone(),
            logo_uri: provider.logo_uri.clone(),
            preset: provider.preset.map(Preset::as_str),
            protocol: provider.protocol.as_str(),
            issuer: provider.issuer.clone(),
            client_id: provider.client_id.clone(),
            token_endpoint_auth_method: provider.auth.as_str(),
            scope: provider.scope.clone(),
            response_mode: provider.answer_by.as_str(),
            authorization_endpoint: provider.authorization_endpoint.clone(),
            token_endpoint: provider.token_endpoint.clone(),
            userinfo_endpoint: provider.userinfo_endpoint.clone(),
            emails_endpoint: provider.emails_endpoint.clone(),
            subject_claim: provider.subject_claim.clone(),
            trust_email: provider.trust_email,
            trust_acr: provider.trust_acr,
            create: provider.create,
            enabled: provider.enabled,
            hidden: provider.hidden,
            logout: provider.logout,
            keep_refresh_token: provider.keep_refresh_token,
            exchange_clients: provider.exchange_clients.clone(),
            domains: provider.domains.clone(),
            migrate: provider.migrate,
            search_base: provider.search_base.clone(),
            search_filter: provider.search_filter.clone(),
            claims: claims.collect(),
            groups: groups.collect(),
        }
    }
}

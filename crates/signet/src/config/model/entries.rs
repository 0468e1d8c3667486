//! What the configuration owns of the registry: clients, users, resources, scopes.

use std::{net::IpAddr, path::PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use super::AccessTokenFormat;
use crate::config::{duration::Duration, secret::SecretRef};

/// A client (RFC 7591 names) that the configuration owns.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// Its id: 1 to 128 visible ASCII characters.
    pub client_id: String,
    /// Shown on consent pages.
    pub client_name: Option<String>,
    /// Its home page, linked on consent pages.
    pub client_uri: Option<String>,
    /// "web" (default) or "native".
    #[serde(default)]
    pub application_type: ApplicationType,
    /// Where answers go. Compared exactly, but for the port of a loopback redirect (RFC 8252).
    #[serde(default)]
    pub redirect_uris: Vec<String>,
    /// Where a logout may end.
    #[serde(default)]
    pub post_logout_redirect_uris: Vec<String>,
    /// Browser origins that may call token, userinfo and metadata endpoints (CORS).
    #[serde(default)]
    pub allowed_origins: Vec<String>,
    /// Grants: authorization_code, refresh_token, client_credentials, urn:ietf:params:oauth:grant-type:device_code,
    /// urn:ietf:params:oauth:grant-type:token-exchange.
    #[serde(default = "default_grant_types")]
    pub grant_types: Vec<String>,
    /// client_secret_basic (default), client_secret_post, client_secret_jwt, private_key_jwt, tls_client_auth,
    /// self_signed_tls_client_auth or none.
    #[serde(default = "default_auth_method")]
    pub token_endpoint_auth_method: String,
    /// The client's secret, at least 32 bytes. Two during a change of secret.
    #[serde(default)]
    pub client_secrets: Vec<SecretRef>,
    /// File of the client's public keys (a JWK Set).
    pub jwks: Option<PathBuf>,
    /// URL of the client's public keys.
    pub jwks_uri: Option<String>,
    /// `tls_client_auth`: subject of the certificate, as RFC 4514 text.
    pub tls_client_auth_subject_dn: Option<String>,
    /// `tls_client_auth`: a dNSName of the certificate.
    pub tls_client_auth_san_dns: Option<String>,
    /// `tls_client_auth`: a uniformResourceIdentifier of the certificate.
    pub tls_client_auth_san_uri: Option<String>,
    /// `tls_client_auth`: an iPAddress of the certificate.
    pub tls_client_auth_san_ip: Option<IpAddr>,
    /// `tls_client_auth`: an rfc822Name of the certificate.
    pub tls_client_auth_san_email: Option<String>,
    /// Scopes it may ask for.
    #[serde(default)]
    pub scope: Vec<String>,
    /// Resources (RFC 8707) it may ask for.
    #[serde(default)]
    pub resources: Vec<String>,
    /// Clients whose tokens it may exchange and introspect besides its own.
    #[serde(default)]
    pub may_act_for: Vec<String>,
    /// Does token exchange give it all that the subject token has, beyond its own scope and resources?
    #[serde(default)]
    pub unrestricted_token_exchange: bool,
    /// May its assertions name the token endpoint as their audience (OpenID Connect Core section 9)?
    #[serde(default)]
    pub token_endpoint_assertion_audience: bool,
    /// May it exchange chains of agents' grants? It needs the grant type token exchange, too.
    #[serde(default)]
    pub may_exchange_agent_grants: bool,
    /// Signature of its ID tokens. Default: `keys.id_token`.
    pub id_token_signed_response_alg: Option<String>,
    /// Signature of its access tokens. Default: `keys.access_token`.
    pub access_token_signed_response_alg: Option<String>,
    /// Format of its access tokens: jwt or compact. Default: as the resource wants them, else jwt.
    pub access_token_format: Option<AccessTokenFormat>,
    /// PKCE for every authorization request.
    #[serde(default = "yes")]
    pub require_pkce: bool,
    /// Only pushed authorization requests.
    #[serde(default)]
    pub require_pushed_authorization_requests: bool,
    /// Only DPoP-bound access tokens.
    #[serde(default)]
    pub dpop_bound_access_tokens: bool,
    /// Only certificate-bound access tokens.
    #[serde(default)]
    pub tls_client_certificate_bound_access_tokens: bool,
    /// Do refresh tokens change at every use? False only for sender-constrained confidential clients (FAPI 2.0).
    #[serde(default = "yes")]
    pub rotate_refresh_tokens: bool,
    /// Is the person asked? False for the operator's own clients.
    #[serde(default = "yes")]
    pub ask_for_consent: bool,
    /// Its access tokens' lifetime. Default: `lifetimes.access_token`.
    pub access_token_lifetime: Option<Duration>,
    /// Its refresh tokens' lifetime. Default: `lifetimes.refresh_token`.
    pub refresh_token_lifetime: Option<Duration>,
}

fn default_grant_types() -> Vec<String> {
    vec!["authorization_code".into()]
}
fn default_auth_method() -> String {
    "client_secret_basic".into()
}
fn yes() -> bool {
    true
}

/// RFC 7591 `application_type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApplicationType {
    /// https redirects.
    #[default]
    Web,
    /// Also loopback and private-use scheme redirects.
    Native,
}

/// A person to make where nobody of that name exists.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// Login name.
    pub username: String,
    /// Mail address.
    pub email: Option<String>,
    /// Has the address been proven?
    #[serde(default)]
    pub email_verified: bool,
    /// Full name.
    pub name: Option<String>,
    /// The password. Without one, the person logs in by mail, or recovers one.
    pub password: Option<SecretRef>,
    /// May this person ask for the scope `signet:admin`?
    #[serde(default)]
    pub admin: bool,
}

/// A resource server.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
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
}

/// A scope.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// Its name (RFC 6749 section 3.3).
    pub name: String,
    /// What the person reads on the consent page.
    pub description: String,
    /// Is it named in the metadata?
    #[serde(default = "yes")]
    pub published: bool,
}

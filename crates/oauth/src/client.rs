use crate::{redirect_uri::RedirectUri, scope::ScopeSet};
use signet_crypto::Algorithm;
use signet_jose::jwk::JwkSet;
/// A registered client (RFC 7591 metadata plus Signet's policy). `revision` grows at every write (known fault A18: replaced with a compare).
#[derive(Clone, Debug)]
pub struct Client {
    pub client_id: String,
    pub revision: u64,
    pub created_at: u64,
    pub enabled: bool,
    pub client_name: Option<String>,
    pub client_uri: Option<String>,
    pub logo_uri: Option<String>,
    pub policy_uri: Option<String>,
    pub tos_uri: Option<String>,
    pub contacts: Vec<String>,
    pub application_type: ApplicationType,
    pub redirect_uris: Vec<RedirectUri>,
    pub post_logout_redirect_uris: Vec<RedirectUri>,
    pub allowed_origins: Vec<String>,
    pub initiate_login_uri: Option<String>,
    pub grant_types: Vec<GrantType>,
    pub response_types: Vec<String>,
    pub token_endpoint_auth_method: AuthMethod,
    pub token_endpoint_auth_signing_alg: Option<Algorithm>,
    /// several, so that a secret can be rotated
    pub secrets: Vec<ClientSecret>,
    pub jwks: Option<JwkSet>,
    pub jwks_uri: Option<String>,
    pub tls_client_auth: Option<TlsClientAuth>,
    pub scope: ScopeSet,
    /// resources (RFC 8707) it may ask for; empty: the issuer's default audience only
    pub resources: Vec<String>,
    /// clients whose tokens it may exchange or introspect besides its own
    pub may_act_for: Vec<String>,
    pub id_token_signed_response_alg: Option<Algorithm>,
    pub userinfo_signed_response_alg: Option<Algorithm>,
    pub access_token_signed_response_alg: Option<Algorithm>,
    pub introspection_signed_response_alg: Option<Algorithm>,
    pub default_max_age: Option<u64>,
    pub require_auth_time: bool,
    pub default_acr_values: Vec<String>,
    pub require_pkce: bool,
    pub require_pushed_authorization_requests: bool,
    pub dpop_bound_access_tokens: bool,
    pub tls_client_certificate_bound_access_tokens: bool,
    pub refresh_rotation: RefreshRotation,
    pub consent: ConsentPolicy,
    /// seconds; None: the server's setting
    pub access_token_lifetime: Option<u64>,
    pub refresh_token_lifetime: Option<u64>,
    /// SHA-256 of the registration access token (RFC 7592)
    pub registration_token_hash: Option<[u8; 32]>,
    pub software_id: Option<String>,
    pub software_version: Option<String>,
    pub sector_identifier_uri: Option<String>,
    pub expires_at: Option<u64>,
}
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ApplicationType {
    Web,
    Native,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum GrantType {
    AuthorizationCode,
    RefreshToken,
    ClientCredentials,
    DeviceCode,
    TokenExchange,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum AuthMethod {
    ClientSecretBasic,
    ClientSecretPost,
    ClientSecretJwt,
    PrivateKeyJwt,
    TlsClientAuth,
    SelfSignedTlsClientAuth,
    None,
}
/// Generated secrets have 256 bits: a plain SHA-256 hides them; operator-chosen ones are refused below 32 bytes. Sealed where HMAC needs the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientSecret {
    Sha256 {
        hash: [u8; 32],
        expires_at: Option<u64>,
    },
    Sealed {
        sealed: Vec<u8>,
        expires_at: Option<u64>,
    },
}
/// RFC 8705 section 2.1.2: exactly one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsClientAuth {
    SubjectDn(String),
    SanDns(String),
    SanUri(String),
    SanIp(std::net::IpAddr),
    SanEmail(String),
}
/// Public clients always rotate. `Keep`: FAPI 2.0, sender-constrained confidential clients only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefreshRotation {
    Rotate,
    Keep,
}
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConsentPolicy {
    Ask,
    Implicit,
}

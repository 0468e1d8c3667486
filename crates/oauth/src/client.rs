//! A registered client: RFC 7591 metadata and Signet's own policy, with the wire names of its
//! enums.
//!
//! A `Client` that exists passed the checks of [`crate::client::registration`] (or the operator's
//! configuration, which goes through the same ones). [`crate::client::json`] writes and reads its
//! stored form.

pub mod json;
pub mod metadata;
pub mod registration;

pub use crate::settings::RefreshRotation;

use crate::authorize::redirect_uri::RedirectUri;
use crate::issued::names::{AccessTokenFormat, wire_names};
use crate::scope::ScopeSet;
use crate::settings::Settings;
use signet_crypto::Algorithm;
use signet_jose::jwk::JwkSet;
/// A registered client (RFC 7591 metadata plus Signet's policy). `revision` grows at every write
/// (known fault A18: replaced with a compare).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// the identifier; also the `sub` of its client_credentials tokens
    pub client_id: String,
    /// grows by one at every write
    pub revision: u64,
    /// Unix seconds
    pub created_at: u64,
    /// false: as if it did not exist, but its record stays
    pub enabled: bool,
    /// shown to people
    pub client_name: Option<String>,
    /// home page
    pub client_uri: Option<String>,
    /// stored; pages load no external picture
    pub logo_uri: Option<String>,
    /// privacy policy
    pub policy_uri: Option<String>,
    /// terms of service
    pub tos_uri: Option<String>,
    /// mail addresses of who is responsible
    pub contacts: Vec<String>,
    /// decides which redirect URIs may be registered
    pub application_type: ApplicationType,
    /// where `/authorize` may answer to
    pub redirect_uris: Vec<RedirectUri>,
    /// where `/logout` may send to
    pub post_logout_redirect_uris: Vec<RedirectUri>,
    /// web origins whose scripts may call the token side (CORS)
    pub allowed_origins: Vec<String>,
    /// OpenID Connect Core section 4
    pub initiate_login_uri: Option<String>,
    /// where it is notified of the end of a session (OpenID Connect Back-Channel Logout section
    /// 2.2)
    pub backchannel_logout_uri: Option<String>,
    /// it wants `sid` in logout tokens; they have one always
    pub backchannel_logout_session_required: bool,
    /// what the page that ends a logout loads in a frame (OpenID Connect Front-Channel Logout
    /// section 2)
    pub frontchannel_logout_uri: Option<String>,
    /// it wants `iss` and `sid` there; they are there always
    pub frontchannel_logout_session_required: bool,
    /// the grants it may use
    pub grant_types: Vec<GrantType>,
    /// `code`, or none where it has no redirect
    pub response_types: Vec<String>,
    /// the only method it authenticates with, but for `any_secret_method`
    pub token_endpoint_auth_method: AuthMethod,
    /// its secret may come in the header or in the body: nobody chose one for it
    pub any_secret_method: bool,
    /// None: any algorithm that fits its keys
    pub token_endpoint_auth_signing_alg: Option<Algorithm>,
    /// its assertions may name the token endpoint as their audience (OpenID Connect Core section
    /// 9), not the issuer alone
    pub token_endpoint_assertion_audience: bool,
    /// of one that registered itself: an operator answers for its record as it is now
    pub vouched_for: bool,
    /// several, so that a secret can be rotated
    pub secrets: Vec<ClientSecret>,
    /// its public keys, inline; never together with `jwks_uri`
    pub jwks: Option<JwkSet>,
    /// where its public keys are
    pub jwks_uri: Option<String>,
    /// for `tls_client_auth` only
    pub tls_client_auth: Option<TlsClientAuth>,
    /// everything it may ask for
    pub scope: ScopeSet,
    /// resources (RFC 8707) it may ask for; empty: the issuer's default audience only
    pub resources: Vec<String>,
    /// clients whose tokens it may exchange or introspect besides its own
    pub may_act_for: Vec<String>,
    /// what it gets by token exchange is not narrowed to its own scope and resources: the subject
    /// token alone is the bound
    pub unrestricted_token_exchange: bool,
    /// the operator lets it exchange chains of agents' grants
    pub may_exchange_agent_grants: bool,
    /// None: the server's setting
    pub id_token_signed_response_alg: Option<Algorithm>,
    /// None: plain JSON
    pub userinfo_signed_response_alg: Option<Algorithm>,
    /// None: the resource's, then the server's setting
    pub access_token_signed_response_alg: Option<Algorithm>,
    /// how its access tokens are written; None: as the resource wants them, else JWT
    pub access_token_format: Option<AccessTokenFormat>,
    /// None: plain JSON (RFC 9701 otherwise)
    pub introspection_signed_response_alg: Option<Algorithm>,
    /// seconds; where the request has no `max_age`
    pub default_max_age: Option<u64>,
    /// `auth_time` in every ID token
    pub require_auth_time: bool,
    /// where the request has no `acr_values`
    pub default_acr_values: Vec<String>,
    /// the class that a person has to reach before anything is granted
    pub required_acr: Option<String>,
    /// false frees a confidential client of PKCE; a public one never is
    pub require_pkce: bool,
    /// RFC 9126 section 6
    pub require_pushed_authorization_requests: bool,
    /// RFC 9449 section 5.2: refuse tokens without proof
    pub dpop_bound_access_tokens: bool,
    /// RFC 8705 section 3.4
    pub tls_client_certificate_bound_access_tokens: bool,
    /// what its tokens and answers say of the person, whatever their scope
    pub claims: Vec<crate::people::claim_rules::ClaimRule>,
    /// what a refresh does
    pub refresh_rotation: RefreshRotation,
    /// does the person have to be asked?
    pub consent: ConsentPolicy,
    /// seconds; None: the server's setting
    pub access_token_lifetime: Option<u64>,
    /// seconds; None: the server's setting
    pub refresh_token_lifetime: Option<u64>,
    /// SHA-256 of the registration access token (RFC 7592)
    pub registration_token_hash: Option<[u8; 32]>,
    /// RFC 7591 section 2
    pub software_id: Option<String>,
    /// RFC 7591 section 2
    pub software_version: Option<String>,
    /// OpenID Connect Registration section 5; its list held when it was registered
    pub sector_identifier_uri: Option<String>,
    /// Unix seconds; from then on it does not exist
    pub expires_at: Option<u64>,
}
/// OpenID Connect Registration section 2 `application_type`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ApplicationType {
    /// `web`, the default
    Web,
    /// `native`: also private-use schemes
    Native,
}
/// The grants, as `grant_types` and `grant_type` name them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GrantType {
    /// RFC 6749 section 4.1
    AuthorizationCode,
    /// RFC 6749 section 6
    RefreshToken,
    /// RFC 6749 section 4.4
    ClientCredentials,
    /// RFC 8628
    DeviceCode,
    /// RFC 8693
    TokenExchange,
}
/// How a client proves who it is, as `token_endpoint_auth_method` names it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AuthMethod {
    /// RFC 6749 section 2.3.1, in the `Authorization` header
    ClientSecretBasic,
    /// RFC 6749 section 2.3.1, in the body
    ClientSecretPost,
    /// OpenID Connect Core section 9, HMAC
    ClientSecretJwt,
    /// OpenID Connect Core section 9, a registered key
    PrivateKeyJwt,
    /// RFC 8705 section 2.1
    TlsClientAuth,
    /// RFC 8705 section 2.2
    SelfSignedTlsClientAuth,
    /// a public client
    None,
}
/// Generated secrets have 256 bits: a plain SHA-256 hides them; operator-chosen ones are refused
/// below 32 bytes. Sealed where HMAC needs the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientSecret {
    /// for client_secret_basic and client_secret_post
    Sha256 {
        /// of the secret's bytes
        hash: [u8; 32],
        /// Unix seconds; None: never
        expires_at: Option<u64>,
    },
    /// for client_secret_jwt
    Sealed {
        /// under `Purpose::ClientSecret`, with the client_id as associated data
        sealed: Vec<u8>,
        /// Unix seconds; None: never
        expires_at: Option<u64>,
    },
}
/// RFC 8705 section 2.1.2: exactly one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsClientAuth {
    /// `tls_client_auth_subject_dn`, RFC 4514
    SubjectDn(String),
    /// `tls_client_auth_san_dns`
    SanDns(String),
    /// `tls_client_auth_san_uri`
    SanUri(String),
    /// `tls_client_auth_san_ip`
    SanIp(std::net::IpAddr),
    /// `tls_client_auth_san_email`
    SanEmail(String),
}
/// Is a person asked before a client gets a token?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConsentPolicy {
    /// unless a remembered consent covers the request
    Ask,
    /// never: a first-party client
    Skip,
}

wire_names!(ApplicationType { Web = "web", Native = "native" });
wire_names!(GrantType {
    AuthorizationCode = "authorization_code",
    RefreshToken = "refresh_token",
    ClientCredentials = "client_credentials",
    DeviceCode = "urn:ietf:params:oauth:grant-type:device_code",
    TokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange",
});
wire_names!(AuthMethod {
    ClientSecretBasic = "client_secret_basic",
    ClientSecretPost = "client_secret_post",
    ClientSecretJwt = "client_secret_jwt",
    PrivateKeyJwt = "private_key_jwt",
    TlsClientAuth = "tls_client_auth",
    SelfSignedTlsClientAuth = "self_signed_tls_client_auth",
    None = "none",
});
wire_names!(ConsentPolicy { Ask = "ask", Skip = "implicit" });

impl AuthMethod {
    /// Does the method need a shared secret?
    pub const fn needs_secret(self) -> bool {
        matches!(
            self,
            AuthMethod::ClientSecretBasic
                | AuthMethod::ClientSecretPost
                | AuthMethod::ClientSecretJwt
        )
    }
    /// Does the request have the secret itself in it?
    pub const fn sends_secret(self) -> bool {
        matches!(
            self,
            AuthMethod::ClientSecretBasic | AuthMethod::ClientSecretPost
        )
    }
    /// Does the client present a certificate?
    pub const fn is_mtls(self) -> bool {
        matches!(
            self,
            AuthMethod::TlsClientAuth | AuthMethod::SelfSignedTlsClientAuth
        )
    }
}

impl Client {
    /// A client with every default of RFC 7591 and OpenID Connect Registration, and nothing
    /// registered yet: a web application with client_secret_basic and the code grant, PKCE
    /// required, consent asked. `created_at`: Unix seconds.
    pub fn new(client_id: impl Into<String>, created_at: u64) -> Client {
        Client {
            client_id: client_id.into(),
            revision: 0,
            created_at,
            enabled: true,
            client_name: None,
            client_uri: None,
            logo_uri: None,
            policy_uri: None,
            tos_uri: None,
            contacts: Vec::new(),
            application_type: ApplicationType::Web,
            redirect_uris: Vec::new(),
            post_logout_redirect_uris: Vec::new(),
            allowed_origins: Vec::new(),
            initiate_login_uri: None,
            backchannel_logout_uri: None,
            backchannel_logout_session_required: false,
            frontchannel_logout_uri: None,
            frontchannel_logout_session_required: false,
            grant_types: vec![GrantType::AuthorizationCode],
            response_types: vec!["code".to_owned()],
            token_endpoint_auth_method: AuthMethod::ClientSecretBasic,
            any_secret_method: false,
            token_endpoint_auth_signing_alg: None,
            token_endpoint_assertion_audience: false,
            vouched_for: false,
            secrets: Vec::new(),
            jwks: None,
            jwks_uri: None,
            tls_client_auth: None,
            scope: ScopeSet::EMPTY,
            resources: Vec::new(),
            may_act_for: Vec::new(),
            unrestricted_token_exchange: false,
            may_exchange_agent_grants: false,
            id_token_signed_response_alg: None,
            userinfo_signed_response_alg: None,
            access_token_signed_response_alg: None,
            access_token_format: None,
            introspection_signed_response_alg: None,
            default_max_age: None,
            require_auth_time: false,
            default_acr_values: Vec::new(),
            required_acr: None,
            require_pkce: true,
            require_pushed_authorization_requests: false,
            dpop_bound_access_tokens: false,
            tls_client_certificate_bound_access_tokens: false,
            claims: Vec::new(),
            refresh_rotation: RefreshRotation::Rotate,
            consent: ConsentPolicy::Ask,
            access_token_lifetime: None,
            refresh_token_lifetime: None,
            registration_token_hash: None,
            software_id: None,
            software_version: None,
            sector_identifier_uri: None,
            expires_at: None,
        }
    }
    /// A public client cannot keep a secret (RFC 6749 section 2.1).
    pub fn is_public(&self) -> bool {
        self.token_endpoint_auth_method == AuthMethod::None
    }
    /// May it use this grant?
    pub fn may_use(&self, grant: GrantType) -> bool {
        self.grant_types.contains(&grant)
    }
    /// Are its tokens always bound to a key or certificate?
    pub fn is_sender_constrained(&self) -> bool {
        self.dpop_bound_access_tokens || self.tls_client_certificate_bound_access_tokens
    }
    /// Whether an assertion of this client may name the token endpoint as its audience: its record
    /// says so, or it registered itself and the server says so of all who do. Neither it nor the
    /// server is held to a profile that demands the issuer's identifier (FAPI 2.0 section 5.3.2.1):
    /// those push their requests and bind their tokens.
    pub fn accepts_token_endpoint_audience(&self, settings: &Settings) -> bool {
        let of_all = settings.registration.token_endpoint_assertion_audience;
        let is_allowed = self.token_endpoint_assertion_audience
            || (self.registration_token_hash.is_some() && of_all);
        is_allowed
            && !self.is_sender_constrained()
            && !self.require_pushed_authorization_requests
            && !settings.require_pushed_authorization_requests
    }
    /// Whether an operator answers for what its record says: an operator made it, or looked at what
    /// it registered of itself.
    pub fn is_vouched_for(&self) -> bool {
        self.registration_token_hash.is_none() || self.vouched_for
    }
    /// Where its picture is, if pages show it: a picture can say what a name may not, so not that
    /// of a client that nobody answers for.
    pub fn shown_logo(&self) -> Option<&str> {
        self.logo_uri.as_deref().filter(|_| self.is_vouched_for())
    }
    /// Whether it takes part in logouts: it hears of them by the session's id, or begins them with
    /// an ID token as a hint.
    pub fn takes_part_in_logouts(&self) -> bool {
        self.backchannel_logout_uri.is_some()
            || self.frontchannel_logout_uri.is_some()
            || !self.post_logout_redirect_uris.is_empty()
    }
    /// The registered redirect URI that `requested` is. The port of a loopback redirect is free for
    /// native applications, which get it from the operating system (RFC 8252 section 7.3); a web
    /// application's is exact (OAuth 2.1 section 4.1.1).
    pub fn redirect_uri(&self, requested: &str) -> Option<&RedirectUri> {
        self.registered(&self.redirect_uris, requested)
    }
    /// The registered post-logout redirect URI that `requested` is, by the same rule.
    pub fn post_logout_redirect_uri(&self, requested: &str) -> Option<&RedirectUri> {
        self.registered(&self.post_logout_redirect_uris, requested)
    }
    fn registered<'a>(&self, uris: &'a [RedirectUri], requested: &str) -> Option<&'a RedirectUri> {
        uris.iter().find(|uri| match self.application_type {
            ApplicationType::Native => uri.matches_any_loopback_port(requested),
            ApplicationType::Web => uri.as_str() == requested,
        })
    }
}

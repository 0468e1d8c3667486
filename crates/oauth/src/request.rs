//! What a decision may look at: one snapshot, one moment, one request.
use crate::error::OAuthError;
use crate::params::Params;
use crate::registry::Registry;
use crate::settings::Settings;
use crate::token::decision::Revocations;
use signet_crypto::{Algorithm, VerifyingKey, certificate::ClientCertificate, seal::Keyring};
use signet_jose::jwt::JwtSigner;

/// The server's side of a decision, all of it handed in.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// clients, resources, scopes
    pub registry: &'a Registry,
    /// protocol settings
    pub settings: &'a Settings,
    /// opens codes, refresh tokens, nonces and sealed secrets
    pub keyring: &'a Keyring,
    /// the issuer's own public keys
    pub keys: &'a dyn IssuerKeys,
    /// the revocation index
    pub revocations: &'a dyn Revocations,
    /// milliseconds since 1970
    pub now_ms: u64,
    /// the moment that what is issued bears, milliseconds since 1970: `now_ms`, or right behind the
    /// latest epoch of a revocation where that lies later, by a clock that was ahead
    pub issue_ms: u64,
}

impl Context<'_> {
    /// Seconds since 1970.
    pub fn now(&self) -> u64 {
        self.now_ms / 1000
    }
}

/// The keys that this issuer signs with, and those that it signed with and whose tokens have not
/// ended.
pub trait IssuerKeys {
    /// The key of this id; none once it is withdrawn.
    fn verifying_key(&self, kid: &str) -> Option<&VerifyingKey>;
    /// The keys of compact tokens, likewise; none where none were ever made.
    fn compact_keys(&self) -> Option<&signet_compact::KeySet>;
}

/// The keys that sign at the moment.
pub trait IssuerSigners {
    /// The active key of a JOSE algorithm.
    fn jwt_signer(&self, algorithm: Algorithm) -> Option<&JwtSigner>;
    /// The active key of compact tokens.
    fn compact_signer(&self) -> Option<&signet_compact::SigningKey>;
}

/// A request at a back-channel endpoint. Nothing else of it is looked at, so nothing else can
/// decide (known fault A1).
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// the form body
    pub params: &'a Params,
    /// the one `Authorization` header field; the caller refuses two
    pub authorization: Option<&'a str>,
    /// from the TLS connection, or from a header that only a named proxy may set
    pub certificate: Option<PeerCertificate<'a>>,
    /// the one `DPoP` header field; the caller refuses two (RFC 9449 section 4.3 item 1)
    pub dpop: Option<&'a str>,
    /// the request's method
    pub htm: &'a str,
    /// the URL of the endpoint on the listener that took the request
    pub htu: &'a str,
}

/// A client certificate whose private key the peer has proven.
#[derive(Clone, Copy, Debug)]
pub struct PeerCertificate<'a> {
    /// what it says
    pub certificate: &'a ClientCertificate,
    /// whether its chain ends at an authority that the operator trusts for clients;
    /// `tls_client_auth` needs it
    pub trusted: bool,
}

/// The refusal where state that decides is out of reach: nobody receives a yes (known fault A7).
pub(crate) fn unavailable() -> OAuthError {
    OAuthError::new(
        crate::error::ErrorCode::TemporarilyUnavailable,
        "try again shortly",
    )
    .with_hint("revocation state is unavailable")
}

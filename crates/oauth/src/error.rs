/// What the peer is told (public) and what only the log sees (private).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuthError {
    pub code: ErrorCode,
    /// helps an honest developer, tells an attacker nothing; never echoes input
    pub description: &'static str,
    /// private: for the log
    pub hint: Option<String>,
    /// header additions: WWW-Authenticate scheme, DPoP-Nonce needed, Retry-After
    pub challenge: Option<Challenge>,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Challenge {
    Basic,
    Bearer,
    Dpop,
}
/// Registered error codes, one row each: wire name, HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorCode {
    InvalidRequest,
    InvalidClient,
    InvalidGrant,
    UnauthorizedClient,
    UnsupportedGrantType,
    UnsupportedResponseType,
    InvalidScope,
    AccessDenied,
    ServerError,
    TemporarilyUnavailable,
    InvalidTarget,
    InvalidToken,
    InsufficientScope,
    InsufficientUserAuthentication,
    UseDpopNonce,
    InvalidDpopProof,
    AuthorizationPending,
    SlowDown,
    ExpiredToken,
    LoginRequired,
    ConsentRequired,
    InteractionRequired,
    AccountSelectionRequired,
    RequestNotSupported,
    RequestUriNotSupported,
    InvalidRequestUri,
    RegistrationNotSupported,
    InvalidRedirectUri,
    InvalidClientMetadata,
    UnmetAuthenticationRequirements,
    NotFound,
}
impl ErrorCode {
    pub fn as_str(self) -> &'static str {
        todo!()
    }
    pub fn status(self) -> u16 {
        todo!()
    }
}
impl OAuthError {
    pub fn new(code: ErrorCode, description: &'static str) -> Self {
        OAuthError { code, description, hint: None, challenge: None }
    }
}

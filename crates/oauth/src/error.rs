//! What goes wrong, in two halves: what the peer receives and what only the log sees.
//!
//! Every registered error code is one row of [`TABLE`]: its name on the wire and its HTTP status.
//! Descriptions are static text that helps an honest developer; nothing that a peer sent is ever
//! repeated in an answer.
use signet_encoding::json::Writer;

/// An error answer. `Display` shows the public half only.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {description}")]
pub struct OAuthError {
    /// The registered code.
    pub code: ErrorCode,
    /// Public: helps an honest developer, tells an attacker nothing; never echoes input.
    pub description: &'static str,
    /// Private: for the log, under the request's id.
    pub hint: Option<String>,
    /// The scheme of the `WWW-Authenticate` header, where one is due.
    pub challenge: Option<Challenge>,
    /// A budget is used up: the seconds after which there is room again. The status is 429.
    pub retry_after: Option<u64>,
}

/// An authentication scheme of a `WWW-Authenticate` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Challenge {
    /// RFC 7617, for client authentication.
    Basic,
    /// RFC 6750.
    Bearer,
    /// RFC 9449 section 7.1.
    Dpop,
}

/// Registered error codes; see [`TABLE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "the names are the specifications' own, the table documents each"
)]
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
    InvalidAuthorizationDetails,
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
    RequestNotSupported,
    RequestUriNotSupported,
    InvalidRequestUri,
    RegistrationNotSupported,
    InvalidRedirectUri,
    InvalidClientMetadata,
    UnmetAuthenticationRequirements,
    NotFound,
}

/// One row: the code, its name on the wire, its status at a back-channel endpoint.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The code of this row.
    pub code: ErrorCode,
    /// The registered name.
    pub name: &'static str,
    /// HTTP status of a direct answer; redirects carry the name only.
    pub status: u16,
    /// The specification's section that defines it.
    pub section: &'static str,
    /// When it is answered, for who writes a client.
    pub meaning: &'static str,
}

const fn row(
    code: ErrorCode,
    name: &'static str,
    status: u16,
    section: &'static str,
    meaning: &'static str,
) -> Row {
    Row {
        code,
        name,
        status,
        section,
        meaning,
    }
}

/// Every error code, in the order of [`ErrorCode`]: docs/reference/errors.md is made of it.
#[rustfmt::skip]
pub const TABLE: &[Row] = {
    use ErrorCode::*;
    &[
        row(InvalidRequest, "invalid_request", 400, "RFC 6749 section 5.2", "a parameter is missing, repeated or malformed; the description names it"),
        row(InvalidClient, "invalid_client", 401, "RFC 6749 section 5.2", "the client did not authenticate, or not by the method of its record; the log says which"),
        row(InvalidGrant, "invalid_grant", 400, "RFC 6749 section 5.2", "a code, refresh token, device code or assertion is expired, revoked, consumed, or another client's"),
        row(UnauthorizedClient, "unauthorized_client", 400, "RFC 6749 section 5.2", "the client's record does not allow this grant or response type"),
        row(UnsupportedGrantType, "unsupported_grant_type", 400, "RFC 6749 section 5.2", "the server has no such grant"),
        row(UnsupportedResponseType, "unsupported_response_type", 400, "RFC 6749 section 4.1.2.1", "the server has no such response type"),
        row(InvalidScope, "invalid_scope", 400, "RFC 6749 section 5.2", "a scope is unknown, malformed, or more than the client or the first grant may have"),
        row(AccessDenied, "access_denied", 400, "RFC 6749 section 4.1.2.1", "the person refused, or an access rule does"),
        row(ServerError, "server_error", 500, "RFC 6749 section 4.1.2.1", "something failed here; the log has the reason under the request's id"),
        row(TemporarilyUnavailable, "temporarily_unavailable", 503, "RFC 6749 section 4.1.2.1", "the store cannot be reached, or a budget is consumed (429, with `Retry-After`)"),
        row(InvalidTarget, "invalid_target", 400, "RFC 8707 section 2", "the resource is unknown, or the client may have no token for it"),
        row(InvalidAuthorizationDetails, "invalid_authorization_details", 400, "RFC 9396 section 5", "`authorization_details` are malformed, or of an unknown type"),
        row(InvalidToken, "invalid_token", 401, "RFC 6750 section 3.1", "the access token is malformed, expired or revoked, or is bound to another key"),
        row(InsufficientScope, "insufficient_scope", 403, "RFC 6750 section 3.1", "the access token lacks the scope that the challenge names"),
        row(InsufficientUserAuthentication, "insufficient_user_authentication", 401, "RFC 9470 section 3", "the person logged in too long ago, or by too weak a method; the challenge names `acr_values` or `max_age`"),
        row(UseDpopNonce, "use_dpop_nonce", 400, "RFC 9449 section 8", "the proof needs the nonce of the `DPoP-Nonce` header"),
        row(InvalidDpopProof, "invalid_dpop_proof", 400, "RFC 9449 section 5", "the proof is malformed, too old, for another request, or came before"),
        row(AuthorizationPending, "authorization_pending", 400, "RFC 8628 section 3.5", "the person has not decided yet"),
        row(SlowDown, "slow_down", 400, "RFC 8628 section 3.5", "the device polls too often: five seconds more from now on"),
        row(ExpiredToken, "expired_token", 400, "RFC 8628 section 3.5", "the device code has expired"),
        row(LoginRequired, "login_required", 400, "OpenID Connect Core section 3.1.2.6", "`prompt=none`, and there is no session that satisfies the request"),
        row(ConsentRequired, "consent_required", 400, "OpenID Connect Core section 3.1.2.6", "`prompt=none`, and the person has to agree first"),
        row(InteractionRequired, "interaction_required", 400, "OpenID Connect Core section 3.1.2.6", "`prompt=none`, and the person has to do something else first"),
        row(RequestNotSupported, "request_not_supported", 400, "OpenID Connect Core section 3.1.2.6", "the server takes no request object by value"),
        row(RequestUriNotSupported, "request_uri_not_supported", 400, "OpenID Connect Core section 3.1.2.6", "the server fetches no request objects"),
        row(InvalidRequestUri, "invalid_request_uri", 400, "OpenID Connect Core section 3.1.2.6", "a `request_uri` of a pushed request has expired, was consumed, or is another client's"),
        row(RegistrationNotSupported, "registration_not_supported", 400, "OpenID Connect Core section 3.1.2.6", "the server takes no `registration` parameter"),
        row(InvalidRedirectUri, "invalid_redirect_uri", 400, "RFC 7591 section 3.2.2", "a redirect URI cannot be registered"),
        row(InvalidClientMetadata, "invalid_client_metadata", 400, "RFC 7591 section 3.2.2", "a member of a client's metadata cannot be registered; the description names it"),
        row(UnmetAuthenticationRequirements, "unmet_authentication_requirements", 400, "OpenID Connect Core Unmet Authentication Requirements 1.0", "an essential `acr` cannot be reached by the person"),
        row(NotFound, "not_found", 404, "of this server", "an administrative resource does not exist"),
    ]
};

impl ErrorCode {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        TABLE[self as usize].name
    }
    /// The HTTP status of a direct answer. A challenge with the Bearer or DPoP scheme makes it 401;
    /// see [`OAuthError::status`].
    pub fn status(self) -> u16 {
        TABLE[self as usize].status
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl OAuthError {
    /// An error with its public text. `invalid_client` brings the challenge that RFC 6749 section
    /// 5.2 and RFC 9110 section 15.5.2 ask for.
    pub fn new(code: ErrorCode, description: &'static str) -> Self {
        let challenge = (code == ErrorCode::InvalidClient).then_some(Challenge::Basic);
        OAuthError {
            code,
            description,
            hint: None,
            challenge,
            retry_after: None,
        }
    }
    /// A budget is used up, and has room again after so many seconds: 429 (RFC 6585 section 4).
    pub fn too_many(description: &'static str, retry_after: u64) -> Self {
        OAuthError {
            retry_after: Some(retry_after),
            ..Self::new(ErrorCode::TemporarilyUnavailable, description)
        }
    }
    /// With a private note for the log. Never put a secret in it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
    /// With a `WWW-Authenticate` scheme (protected resources: RFC 6750 section 3, RFC 9449 section
    /// 7.1).
    #[must_use]
    pub fn with_challenge(mut self, challenge: Challenge) -> Self {
        self.challenge = Some(challenge);
        self
    }
    /// `invalid_request`, the commonest.
    pub fn invalid_request(description: &'static str) -> Self {
        Self::new(ErrorCode::InvalidRequest, description)
    }
    /// `invalid_grant`.
    pub fn invalid_grant(description: &'static str) -> Self {
        Self::new(ErrorCode::InvalidGrant, description)
    }
    /// The HTTP status of a direct answer. At a protected resource, DPoP errors are challenges and
    /// so 401 (RFC 9449 section 7.1).
    pub fn status(&self) -> u16 {
        if self.retry_after.is_some() {
            return 429;
        }
        match (self.code, self.challenge) {
            (ErrorCode::UseDpopNonce | ErrorCode::InvalidDpopProof, Some(_)) => 401,
            (code, _) => code.status(),
        }
    }
    /// The JSON body of RFC 6749 section 5.2.
    pub fn write_body(&self, out: &mut Vec<u8>) {
        Writer::new(out).object(|w| {
            w.member("error").string(self.code.as_str());
            if !self.description.is_empty() {
                w.member("error_description").string(self.description);
            }
        });
    }
    /// The value of `WWW-Authenticate`, where one is due.
    pub fn www_authenticate(&self) -> Option<String> {
        // RFC 9449 section 7.1: `algs` lists what a proof may be signed with.
        let dpop = self.challenge == Some(Challenge::Dpop);
        let mut text = String::with_capacity(96);
        match self.challenge? {
            // The error itself is in the body: RFC 6749 section 5.2.
            Challenge::Basic => {
                return Some("Basic realm=\"signet\", charset=\"UTF-8\"".to_owned());
            }
            Challenge::Bearer => text.push_str("Bearer realm=\"signet\""),
            Challenge::Dpop => text.push_str("DPoP realm=\"signet\""),
        }
        // RFC 6750 section 3.1: a request without any credentials gets no error code.
        // `invalid_request` without text stands for that.
        if !self.description.is_empty() {
            text.push_str(", error=\"");
            text.push_str(self.code.as_str());
            text.push_str("\", error_description=\"");
            // Static text of ours; the characters that RFC 6750 section 3 forbids are left out all
            // the same.
            text.extend(
                self.description
                    .chars()
                    .filter(|c| matches!(c, ' ' | '!' | '#'..='[' | ']'..='~')),
            );
            text.push('"');
        }
        if dpop {
            text.push_str(", algs=\"");
            text.push_str(signet_jose::dpop::PROOF_ALGORITHMS);
            text.push('"');
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_is_the_table_of_errors() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/reference/errors.md"
        );
        let mut page = String::from(
            "# Error codes\n\nWhat an application may receive as `error`, by redirect or as JSON. The status is that of a direct answer. `error_description` \
             says more;\nwhat only an operator should know is in the log, under the id in the `request-id` header of the answer. The admin API has\nproblem \
             documents instead (RFC 9457): [Admin API](admin-api.md).\n\nThis page is made of the table that the server runs on: `SIGNET_WRITE_DOCS=1 cargo test -p signet-oauth` writes it.\n\n\
             | error | status | when | defined in |\n|---|---|---|---|\n",
        );
        for row in TABLE {
            let (name, status, meaning, section) = (row.name, row.status, row.meaning, row.section);
            page.push_str(&format!(
                "| `{name}` | {status} | {meaning} | {section} |\n"
            ));
        }
        if std::env::var_os("SIGNET_WRITE_DOCS").is_some() {
            std::fs::write(file, &page).unwrap();
        }
        let written = std::fs::read_to_string(file).unwrap_or_default();
        assert_eq!(
            written, page,
            "SIGNET_WRITE_DOCS=1 cargo test -p signet-oauth"
        );
    }

    #[test]
    fn the_table_is_in_the_order_of_the_codes() {
        for (i, row) in TABLE.iter().enumerate() {
            assert_eq!(row.code as usize, i, "{}", row.name);
        }
        assert_eq!(ErrorCode::NotFound as usize + 1, TABLE.len());
    }

    #[test]
    fn a_failed_client_authentication_is_401_with_a_challenge() {
        let error = OAuthError::new(ErrorCode::InvalidClient, "client authentication failed");
        assert_eq!(error.status(), 401);
        assert_eq!(
            error.www_authenticate().as_deref(),
            Some("Basic realm=\"signet\", charset=\"UTF-8\"")
        );
    }

    #[test]
    fn the_hint_is_never_public() {
        let error =
            OAuthError::invalid_request("a parameter is missing").with_hint("hidden-detail");
        let mut body = Vec::new();
        error.write_body(&mut body);
        assert_eq!(
            body,
            br#"{"error":"invalid_request","error_description":"a parameter is missing"}"#
        );
        assert!(!error.to_string().contains("hidden-detail"));
    }

    #[test]
    fn dpop_errors_are_400_at_the_token_endpoint_and_401_at_a_resource() {
        let error = OAuthError::new(ErrorCode::UseDpopNonce, "use the nonce of this answer");
        assert_eq!(error.status(), 400);
        let error = error.with_challenge(Challenge::Dpop);
        assert_eq!(error.status(), 401);
        let header = error.www_authenticate().unwrap();
        assert!(
            header.starts_with("DPoP realm=\"signet\", error=\"use_dpop_nonce\""),
            "{header}"
        );
        assert!(header.contains(", algs=\"ES256 "), "{header}");
    }

    #[test]
    fn a_challenge_without_credentials_carries_no_error() {
        let error = OAuthError::new(ErrorCode::InvalidToken, "").with_challenge(Challenge::Bearer);
        assert_eq!(
            error.www_authenticate().as_deref(),
            Some("Bearer realm=\"signet\"")
        );
    }
}

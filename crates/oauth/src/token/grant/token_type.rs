//! Token type identifiers of token exchange (RFC 8693 section 3).
use crate::{error::OAuthError, params::Params};

/// RFC 8693 section 3: an OAuth access token of this issuer.
pub const ACCESS_TOKEN_TYPE: &str = "urn:ietf:params:oauth:token-type:access_token";
/// RFC 8693 section 3: a JWT; an access token of this issuer in that format.
pub const JWT_TYPE: &str = "urn:ietf:params:oauth:token-type:jwt";
/// What is accepted as subject and actor token, and issued.
pub const SUBJECT_TOKEN_TYPES: [&str; 2] = [ACCESS_TOKEN_TYPE, JWT_TYPE];

/// What is asked for; an access token unless said.
pub(super) fn issued_token_type(params: &Params) -> Result<&'static str, OAuthError> {
    params
        .get("requested_token_type")
        .map_or(Ok(ACCESS_TOKEN_TYPE), token_type)
}

pub(super) fn token_type(kind: &str) -> Result<&'static str, OAuthError> {
    SUBJECT_TOKEN_TYPES
        .into_iter()
        .find(|known| *known == kind)
        .ok_or_else(|| OAuthError::invalid_request("the token type is not supported"))
}

//! Chains of agents' grants at the token endpoint: what a holder presents, what the server knows of
//! it, what a token may then say.
//!
//! The chain itself is signet-agent's: this module reads it from the request and gives its checker
//! what only the server knows: who the root is bound to, revocations, counted uses. The decision is
//! in [`crate::token::grant`].
mod details;
pub(crate) mod standing;

pub use details::{DETAILS_TYPE, Details, MAX_DETAILS_BYTES};
pub use standing::{Counter, PresentedChain, Root, Standing};

use crate::{
    client::GrantType,
    error::{ErrorCode, OAuthError},
    params::Params,
};
use signet_agent::{Refusal, presentation::Presentation};

/// `subject_token_type` of a chain: the text form of signet-agent's `presentation`.
pub const CHAIN_TYPE: &str = "urn:signet:params:oauth:token-type:agent-grant-chain";
/// Longest chain that is exchanged, in grants: each is an actor of the token's `act`.
pub const MAX_CHAIN_GRANTS: usize = crate::issued::access_token::MAX_ACT_DEPTH;
/// Random bytes at the beginning of a proof's nonce.
pub const NONCE_RANDOM_BYTES: usize = 16;
/// A proof's nonce: random bytes of the holder, then the SHA-256 thumbprint of the key or
/// certificate that the token is to be bound to.
pub const NONCE_BYTES: usize = NONCE_RANDOM_BYTES + 32;

/// Does the request present a chain? Its subject token type alone says so.
pub fn is_presented(params: &Params) -> bool {
    params.get("grant_type") == Some(GrantType::TokenExchange.as_str())
        && params.get("subject_token_type") == Some(CHAIN_TYPE)
}

/// Reads the presented chain. To be called for an authenticated client: the documents in it cost
/// signature checks.
///
/// # Errors
/// `invalid_request`, with the name of the reason.
pub fn read(params: &Params) -> Result<Presentation, OAuthError> {
    let shown = Presentation::from_text(params.require("subject_token")?).map_err(refused)?;
    match shown.grants.len() <= MAX_CHAIN_GRANTS {
        true => Ok(shown),
        false => Err(refused(Refusal::TooLarge)),
    }
}

/// RFC 9396 section 5: authorization details of a type that is not supported must be refused, and
/// where no chain is presented none is.
///
/// # Errors
/// `invalid_authorization_details` where the request has any.
pub(crate) fn refuse_details(params: &Params) -> Result<(), OAuthError> {
    match params.contains("authorization_details") {
        false => Ok(()),
        true => Err(OAuthError::new(
            ErrorCode::InvalidAuthorizationDetails,
            "authorization_details of this type are not supported in this request",
        )),
    }
}

/// RFC 8693 section 2.2.2: a subject token that is not good is `invalid_request`. The text is the
/// name that `signet agent explain` uses.
pub(crate) fn refused(reason: Refusal) -> OAuthError {
    OAuthError::new(ErrorCode::InvalidRequest, reason.name())
        .with_hint(format!("the chain of grants: {reason}"))
}

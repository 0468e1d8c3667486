//! Our own access tokens, looked at again: at introspection, revocation, exchange and userinfo.
//!
//! The order is fixed, whatever the [format](crate::issued::format): signature under a key that is
//! still ours, kind of token, claims by schema, issuer, end, revocation. Nothing of the payload is
//! believed before the first (known faults A3, A8, A11).
pub use crate::issued::token_facts::*;

use crate::issued::format::AccessTokenFormat;
use crate::request::Context;
use crate::token::decision::{RevocationQuery, Unavailable};
use std::sync::Arc;

/// What is known of a presented token string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenState {
    /// Ours, not ended, not revoked.
    Valid(Arc<VerifiedAccessToken>),
    /// Ours, and its time is over.
    Expired(Arc<VerifiedAccessToken>),
    /// Ours, and revoked: itself, or something it hangs on.
    Revoked(Arc<VerifiedAccessToken>),
    /// No access token of this issuer: malformed, of another kind or issuer, or with a signature
    /// that does not hold.
    Forged,
    /// Ours and not ended, but whether it was revoked cannot be said. Never to be read as valid
    /// (known fault A7).
    Unknown,
}

/// Says what a token string is worth.
pub trait TokenLookup {
    /// Verifies and looks up one access token.
    fn look_up(&self, token: &str) -> TokenState;
}

/// The issuer's own tokens under its own keys: no other issuer's token is ever believed (known
/// fault A3).
impl TokenLookup for Context<'_> {
    fn look_up(&self, token: &str) -> TokenState {
        match verify(self, token) {
            Some(facts) => judge(self, Arc::new(facts)),
            None => TokenState::Forged,
        }
    }
}

/// The half of a look-up that never changes while the key stays: form, signature, kind, claims,
/// issuer. A caller may keep the result for the very same token string and go on with [`judge`]
/// each time; the key's withdrawal must end what it keeps.
pub fn verify(context: &Context<'_>, token: &str) -> Option<VerifiedAccessToken> {
    let format = AccessTokenFormat::of(token)?.implementation();
    let facts = format.read(context.keys, token)?;
    (facts.issuer == context.settings.issuer).then_some(facts)
}

/// The half of a look-up that changes with time: end and revocation. To be asked for every use.
pub fn judge(context: &Context<'_>, facts: Arc<VerifiedAccessToken>) -> TokenState {
    if context.now() >= facts.exp {
        return TokenState::Expired(facts);
    }
    // A client that was removed or disabled has no tokens, whoever forgot to say so to the index.
    if context
        .registry
        .client(&facts.client_id, context.now())
        .is_none()
    {
        return TokenState::Revoked(facts);
    }
    match is_revoked(context, &facts) {
        Ok(false) => TokenState::Valid(facts),
        Ok(true) => TokenState::Revoked(facts),
        Err(_) => TokenState::Unknown,
    }
}

/// Whether the token, or anything that it hangs on, was revoked.
fn is_revoked(context: &Context<'_>, facts: &VerifiedAccessToken) -> Result<bool, Unavailable> {
    let query = facts.revocation_query().ok_or(Unavailable)?;
    if context.revocations.is_revoked(&query)? {
        return Ok(true);
    }
    // An exchanged token of a client's own ends with that client too, not only with the one that
    // exchanged it.
    match facts.user_id() {
        Some(subject) => context.revocations.is_revoked(&RevocationQuery {
            client_id: Some(subject),
            ..query
        }),
        None => Ok(false),
    }
}

//! ID tokens answer one authentication request: nonce, and the hashes of what came beside them.

use crate::{Form, Policy, Presented, Refusal, Verified};
use signet_jose::jwt::half_hash;

/// OpenID Connect Core sections 3.1.3.7 item 11, 3.1.3.8 and 3.3.2.10.
pub(crate) fn answers(
    verified: &Verified,
    policy: &Policy,
    presented: &Presented<'_>,
) -> Result<(), Refusal> {
    let claims = verified.claims();
    // A nonce that nobody asked for means that the token answers somebody else's request.
    if !policy.any_nonce && claims.nonce() != presented.nonce {
        return Err(Refusal::Nonce);
    }
    let hash_of = |value: &str| match verified.form() {
        Form::Jwt(algorithm) => Some(half_hash(algorithm, value)),
        #[cfg(feature = "compact")]
        Form::Compact(_) => None,
        Form::Introspected => None,
    };
    let belongs = |hash: Option<&str>, value: Option<&str>, required: bool| match (hash, value) {
        (Some(hash), Some(value)) => hash_of(value).as_deref() == Some(hash),
        (None, _) => !required,
        // A hash, and nothing to compare it with: fine, unless the comparison was demanded.
        (Some(_), None) => !required,
    };
    if !belongs(
        claims.at_hash(),
        presented.access_token,
        policy.require_at_hash,
    ) {
        return Err(Refusal::AccessTokenHash);
    }
    if !belongs(claims.c_hash(), presented.code, policy.require_c_hash) {
        return Err(Refusal::CodeHash);
    }
    Ok(())
}

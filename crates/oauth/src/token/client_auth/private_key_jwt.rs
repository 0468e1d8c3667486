//! `private_key_jwt`: an assertion under one of the client's registered keys (OpenID Connect Core
//! section 9).
use super::{Attempt, ClientKeys, Proof, WRONG_METHOD};
use crate::token::decision::SingleUse;

pub(super) fn verify(attempt: &Attempt<'_>) -> Result<Option<SingleUse>, &'static str> {
    let Proof::Assertion(assertion) = attempt.proof else {
        return Err(WRONG_METHOD);
    };
    let alg = assertion.header.alg;
    if alg.is_symmetric() {
        return Err(WRONG_METHOD);
    }
    if attempt
        .client
        .token_endpoint_auth_signing_alg
        .is_some_and(|registered| registered != alg)
    {
        return Err("not the registered signing algorithm");
    }
    let inline;
    let keys = match (attempt.keys, &attempt.client.jwks) {
        (Some(keys), _) => keys,
        (None, Some(jwks)) => {
            inline = ClientKeys::from_jwks(jwks);
            &inline
        }
        (None, None) => return Err("no keys of the client are known"),
    };
    let key = keys
        .select(assertion.header.kid.as_deref(), alg)
        .ok_or("no registered key fits the assertion")?;
    match assertion.signature_holds(key) {
        true => assertion.check(attempt.context, attempt.client).map(Some),
        false => Err("the assertion's signature is wrong"),
    }
}

//! `client_secret_jwt`: an assertion under an HMAC of the shared secret (OpenID Connect Core
//! section 9).
use super::{Attempt, Proof, WRONG_METHOD, secret};
use crate::token::decision::SingleUse;
use signet_crypto::VerifyingKey;

pub(super) fn verify(attempt: &Attempt<'_>) -> Result<Option<SingleUse>, &'static str> {
    let Proof::Assertion(assertion) = attempt.proof else {
        return Err(WRONG_METHOD);
    };
    let alg = assertion.header.alg;
    // The family of the algorithm is the method's, never the token's choice: a public key is no
    // HMAC key.
    if !alg.is_symmetric() {
        return Err(WRONG_METHOD);
    }
    if attempt
        .client
        .token_endpoint_auth_signing_alg
        .is_some_and(|registered| registered != alg)
    {
        return Err("not the registered signing algorithm");
    }
    let context = attempt.context;
    let held = secret::open_secrets(context.keyring, attempt.client, context.now())
        .iter()
        .filter_map(|secret| VerifyingKey::hmac(alg, secret.expose()).ok())
        .any(|key| assertion.signature_holds(&key));
    match held {
        true => assertion.check(context, attempt.client).map(Some),
        false => Err("the assertion's HMAC is wrong"),
    }
}

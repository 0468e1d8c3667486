//! `client_secret_post`: identifier and secret in the body (RFC 6749 section 2.3.1).
use super::{Attempt, Proof, WRONG_METHOD, secret};
use crate::token::decision::SingleUse;

pub(super) fn verify(attempt: &Attempt<'_>) -> Result<Option<SingleUse>, &'static str> {
    let Proof::Post(secret) = attempt.proof else {
        return Err(WRONG_METHOD);
    };
    match secret::matches(
        attempt.context.keyring,
        attempt.client,
        secret,
        attempt.context.now(),
    ) {
        true => Ok(None),
        false => Err("wrong client secret"),
    }
}

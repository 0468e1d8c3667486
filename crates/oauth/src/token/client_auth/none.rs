//! `none`: a public client says who it is and proves nothing (RFC 6749 section 2.1). What it may do
//! is limited by its grants, by PKCE and by rotation, not by this.
use super::{Attempt, Proof, WRONG_METHOD};
use crate::token::decision::SingleUse;

pub(super) fn verify(attempt: &Attempt<'_>) -> Result<Option<SingleUse>, &'static str> {
    match attempt.proof {
        Proof::Nothing => Ok(None),
        Proof::Basic(_) | Proof::Post(_) | Proof::Assertion(_) => Err(WRONG_METHOD),
    }
}

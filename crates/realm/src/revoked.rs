//! Asking whether something is revoked: the store's index, as the rules see it.
use crate::state::{Claim, Realm};
use signet_oauth::token::decision::{RevocationQuery, Revocations, Unavailable};
use signet_store::RevocationIndex;

/// The index as the rules see it.
pub struct Index<'a> {
    index: &'a RevocationIndex,
    /// What other nodes revoked may not have come here.
    deaf: bool,
}

impl<'a> Index<'a> {
    /// A realm's.
    pub fn of(realm: &'a Realm) -> Index<'a> {
        Index {
            index: &realm.revocations,
            deaf: realm.may_speak(Claim::NotRevoked).is_err(),
        }
    }
}

impl Revocations for Index<'_> {
    fn is_revoked(&self, token: &RevocationQuery<'_>) -> Result<bool, Unavailable> {
        if self.index.is_revoked(token) {
            return Ok(true);
        }
        match self.deaf {
            false => Ok(false),
            true => Err(Unavailable),
        }
    }
}

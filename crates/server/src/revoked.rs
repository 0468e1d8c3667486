//! Asking whether something is revoked: the store's index, as the rules see it.
use signet_oauth::decision::{RevocationQuery, Revocations, Unavailable};
use signet_store::RevocationIndex;

/// The index as the rules see it.
pub struct Index<'a>(pub &'a RevocationIndex);

impl Revocations for Index<'_> {
    fn is_revoked(&self, token: &RevocationQuery<'_>) -> Result<bool, Unavailable> {
        Ok(self.0.is_revoked(token))
    }
}

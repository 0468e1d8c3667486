//! Asking whether something is revoked: the store's index, in the words of the rules.
use signet_oauth::decision::{Revocations, TokenIdentity, Unavailable};
use signet_oauth::id::Jti;
use signet_store::{RevocationIndex, TokenFacts};

/// The index as the rules see it.
pub struct Index<'a>(pub &'a RevocationIndex);

impl Revocations for Index<'_> {
    fn is_revoked(&self, token: &TokenIdentity<'_>) -> Result<bool, Unavailable> {
        let jti = match token.jti {
            None => None,
            // Every access token of this server has an id of 16 bytes: another one cannot be looked up, so nobody can
            // say that it is not revoked.
            Some(text) => Some(jti_bytes(text).ok_or(Unavailable)?),
        };
        Ok(self.0.is_revoked(&TokenFacts {
            jti: jti.as_ref(),
            jti_time_ms: token.issued_at_ms,
            grant_id: token.grant_id,
            sid: token.sid,
            user: token.user_id,
            client: Some(token.client_id),
            agent_grants: token.agent_grants,
            agents: token.agents,
        }))
    }
}

/// The bytes of a `jti` of this server.
pub fn jti_bytes(text: &str) -> Option<Jti> {
    if text.len() != 22 {
        return None;
    }
    let bytes = signet_jose::base64url::decode(text.as_bytes()).ok()?;
    Jti::from_slice(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_store::{MemoryStore, Store};
    use std::sync::Arc;

    #[test]
    fn a_token_whose_id_cannot_be_looked_up_is_never_called_unrevoked() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let index = runtime.block_on(RevocationIndex::load(store, 100)).unwrap();
        let token = |jti| TokenIdentity {
            jti: Some(jti),
            issued_at_ms: 100_000,
            grant_id: None,
            sid: None,
            user_id: None,
            client_id: "client",
            agent_grants: &[],
            agents: &[],
        };
        let good = signet_jose::base64url::encode(&[1; 16]);
        assert_eq!(Index(&index).is_revoked(&token(&good)), Ok(false));
        // Known fault A7.
        for bad in ["", "x", "AAAAAAAAAAAAAAAAAAAAAB", &good[1..]] {
            assert_eq!(Index(&index).is_revoked(&token(bad)), Err(Unavailable));
        }
    }
}

//! Revoking, and asking whether something is revoked: the store's index, in the words of the rules.
//!
//! Every revocation is durable before it is answered. Its entry lasts as long as the longest-lived token that it can
//! concern, counted from now with a margin, never shorter (known fault A9).
use crate::agents::{AgentError, statement::Authority};
use crate::state::Realm;
use signet_oauth::decision::{Revocations, TokenIdentity, Unavailable};
use signet_store::{Change, Key, Op, RevocationIndex, StoreError, Subject, Table, TokenFacts};

/// Kept beyond a token's end, seconds: for verifiers' leeway and clocks that differ.
const MARGIN: u64 = 300;

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
pub fn jti_bytes(text: &str) -> Option<[u8; 16]> {
    if text.len() != 22 {
        return None;
    }
    signet_jose::base64url::decode(text.as_bytes())
        .ok()?
        .try_into()
        .ok()
}

impl Realm {
    /// The longest that an access token made now can live, seconds: the bound of everything that it hangs on.
    fn longest_access_token(&self) -> u64 {
        let snapshot = self.snapshot();
        let clients = snapshot.registry.clients.values();
        let resources = snapshot.registry.resources.values();
        clients
            .filter_map(|c| c.access_token_lifetime)
            .chain(resources.filter_map(|r| r.access_token_lifetime))
            .chain([
                snapshot.settings.access_token_lifetime,
                // The admin API may have lowered a lifetime a moment ago: tokens of before still live.
                86_400,
            ])
            .max()
            .unwrap_or(86_400)
    }

    /// Ends one access token. `expires_at`: its own end, Unix seconds.
    ///
    /// # Errors
    /// The store's; then nothing is revoked.
    pub async fn revoke_token(&self, jti: [u8; 16], expires_at: u64) -> Result<(), StoreError> {
        let end = expires_at + MARGIN;
        self.revocations
            .revoke(Subject::Jti(jti), end, self.now())
            .await
    }

    /// Ends a grant: its refresh family and every access token that came of it.
    ///
    /// # Errors
    /// The store's; then it is not ended.
    pub async fn revoke_grant(&self, grant_id: [u8; 16]) -> Result<(), StoreError> {
        // Once the family's row is gone nothing can be made of the grant any more, so what lives longest is an access
        // token that was made a moment ago. (A code that is not yet redeemed lives for minutes.)
        let end = self.now() + self.longest_access_token() + MARGIN;
        self.end_grant(grant_id, None, end).await
    }

    /// As `revoke_grant`, until a given end (Unix seconds), and out of the list of its user.
    ///
    /// # Errors
    /// The store's; then it is not ended.
    pub async fn end_grant(
        &self,
        grant_id: [u8; 16],
        user_id: Option<&str>,
        end: u64,
    ) -> Result<(), StoreError> {
        let now = self.now();
        self.revocations
            .revoke(Subject::Grant(grant_id), end, now)
            .await?;
        let listed = user_id.map(|user| Op::Delete {
            key: Key::with_sort(Table::UserGrant, user.as_bytes(), grant_id.to_vec()),
        });
        let gone = Change {
            // Without its row the family cannot go on, even when the entry above has ended.
            first: Op::Delete {
                key: crate::once::family_key(&grant_id),
            },
            then: listed.into_iter().collect(),
        };
        self.store.commit(gone, now).await.map(|_| ())
    }

    /// Ends a session's tokens, by its public `sid`.
    ///
    /// # Errors
    /// The store's.
    pub async fn revoke_session(&self, sid: &str) -> Result<(), StoreError> {
        let now = self.now();
        let lifetimes = self.snapshot().settings.session_absolute_lifetime;
        let end = now + self.longest_refresh_token().max(lifetimes) + MARGIN;
        self.revocations
            .revoke(Subject::Session(sid.to_owned()), end, now)
            .await
    }

    /// Ends everything of a user that was made up to now.
    ///
    /// # Errors
    /// The store's.
    pub async fn revoke_user(&self, user_id: &str) -> Result<(), StoreError> {
        let now_ms = self.now_ms();
        let end = now_ms / 1000 + self.longest_refresh_token() + MARGIN;
        let subject = Subject::User(user_id.to_owned(), now_ms);
        self.revocations.revoke(subject, end, now_ms / 1000).await
    }

    /// Ends every session, grant and token of a user. The epoch alone ends what was made up to now; sessions and grants
    /// are ended one by one as well, so that a family that is being rotated at this moment ends, too (known fault A13).
    ///
    /// # Errors
    /// The store's; then some may be left, and the caller must not answer that none is.
    pub async fn revoke_everything_of(&self, user_id: &str) -> Result<(), StoreError> {
        self.revoke_user(user_id).await?;
        let now = self.now();
        for sid in crate::session::end_all(&*self.store, user_id, None, now).await? {
            self.revoke_session(&sid).await?;
        }
        for (grant_id, _) in crate::grants::list(&*self.store, user_id, now).await? {
            self.revoke_grant(grant_id).await?;
            let removal = crate::grants::removal(user_id, &grant_id);
            self.store.commit(Change::new(removal), now).await?;
        }
        // Whoever was in the account may have bound an identity of their own to it.
        match self.stop_agents_of(user_id, Authority::Operator).await {
            Ok(_) => Ok(()),
            Err(AgentError::Store(error)) => Err(error),
            Err(error) => Err(StoreError::Unavailable(error.to_string())),
        }
    }

    /// Ends everything of a client that was made up to now.
    ///
    /// # Errors
    /// The store's.
    pub async fn revoke_client(&self, client_id: &str) -> Result<(), StoreError> {
        let now_ms = self.now_ms();
        let end = now_ms / 1000 + self.longest_refresh_token() + MARGIN;
        let subject = Subject::Client(client_id.to_owned(), now_ms);
        self.revocations.revoke(subject, end, now_ms / 1000).await
    }

    /// Ends every token that comes of a chain with this agent grant in it. `grant_end`: the grant's own end, Unix seconds; until then the
    /// chain could be presented again.
    ///
    /// # Errors
    /// The store's; then nothing is revoked.
    pub async fn revoke_agent_grant(
        &self,
        grant: [u8; 32],
        grant_end: u64,
    ) -> Result<(), StoreError> {
        let now = self.now();
        let end = grant_end
            .max(now)
            .saturating_add(self.longest_access_token() + MARGIN);
        self.revocations
            .revoke(Subject::AgentGrant(grant), end, now)
            .await
    }

    /// Ends every token, made up to now, that an agent acts in.
    ///
    /// # Errors
    /// The store's; then nothing is revoked.
    pub async fn revoke_agent(&self, agent_id: &str) -> Result<(), StoreError> {
        let now_ms = self.now_ms();
        let end = now_ms / 1000 + self.longest_refresh_token() + MARGIN;
        let subject = Subject::Agent(agent_id.to_owned(), now_ms);
        self.revocations.revoke(subject, end, now_ms / 1000).await
    }

    /// The longest that a refresh token can live: it asks the same index.
    fn longest_refresh_token(&self) -> u64 {
        let snapshot = self.snapshot();
        let clients = snapshot.registry.clients.values();
        clients
            .filter_map(|c| c.refresh_token_lifetime)
            .chain([snapshot.settings.refresh_token_lifetime])
            .max()
            .unwrap_or_default()
            .max(self.longest_access_token())
    }
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

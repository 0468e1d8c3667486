//! Exchanging a chain of agents' grants, around the token endpoint's one decision: read what the
//! server knows of the chain before it, list what it begins, and look for revocations once more
//! before a token is made.
use super::client_endpoint::ClientRequest;
use signet_agent::AgentId;
use signet_encoding::base64url;
use signet_oauth::error::OAuthError;
use signet_oauth::id::Jti;
use signet_oauth::issued::agent_grants::{self, PresentedChain};
use signet_oauth::token::decision::Decision;
use signet_realm::agents::chain_state::{self, Known};
use signet_realm::agents::delegation_index::{self, TokenRow};
use signet_realm::agents::registry;
use signet_store::{Op, StoreError};

/// A presented chain and what is known of it.
pub(super) struct Chain {
    /// For the rules.
    pub(super) presented: PresentedChain,
    listed: usize,
    new_agents: Vec<AgentId>,
    ends: chain_state::Ends,
}

impl Chain {
    /// The chain of this request, of a client that may present one.
    ///
    /// # Errors
    /// The chain's form, the store's failure.
    pub(super) async fn read(client_request: &ClientRequest) -> Result<Chain, OAuthError> {
        let shown = agent_grants::read(&client_request.params)?;
        let store = &*client_request.context.realm.store;
        let Known {
            standing,
            listed,
            new_agents,
            ends,
        } = chain_state::read(store, &shown, client_request.now())
            .await
            .map_err(|error| client_request.store_failed(&error))?;
        Ok(Chain {
            presented: PresentedChain {
                shown,
                standing,
                peer: client_request.context.peer,
            },
            listed,
            new_agents,
            ends,
        })
    }

    /// The writes that list what the decision begins. `id`: of its token.
    ///
    /// # Errors
    /// The store's failure.
    pub(super) async fn list(
        &self,
        client_request: &ClientRequest,
        decision: &Decision,
        id: &Jti,
    ) -> Result<Vec<Op>, OAuthError> {
        let failed = |error: StoreError| client_request.store_failed(&error);
        let (store, now) = (&*client_request.context.realm.store, client_request.now());
        let shown = &self.presented.shown;
        for agent in &self.new_agents {
            let document = shown.documents.iter().find(|shown| shown.id() == *agent);
            registry::see(store, *agent, document, now)
                .await
                .map_err(failed)?;
        }
        let token = &decision.issue.access_token;
        let mut ops = delegation_index::entries(shown, self.listed, &token.sub, now);
        // A presentation has one grant at least.
        if let Some(last) = shown.grants.last() {
            let row = TokenRow {
                client_id: token.client_id.clone(),
                user_id: token.sub.clone(),
                audience: token.audience.clone(),
                grant: base64url::encode(&last.id().0),
                exp: now + token.lifetime,
            };
            ops.push(delegation_index::token_entry(
                last.body().to.agent,
                id,
                &row,
            ));
        }
        Ok(ops)
    }

    /// Whether what was read still holds, now that the grants are listed: a revocation that was
    /// written meanwhile did not find them. Where they were listed before, it did.
    ///
    /// # Errors
    /// `invalid_request` where it does not, and the store's failure.
    pub(super) async fn look_again(
        &self,
        client_request: &ClientRequest,
    ) -> Result<(), OAuthError> {
        let shown = &self.presented.shown;
        if self.listed == shown.grants.len() {
            return Ok(());
        }
        let ends = chain_state::ends(
            &*client_request.context.realm.store,
            shown,
            client_request.now(),
        )
        .await
        .map_err(|error| client_request.store_failed(&error))?;
        match ends == self.ends {
            true => Ok(()),
            false => Err(OAuthError::invalid_request("revoked")
                .with_hint("revoked while the token was being made")),
        }
    }
}

//! Revocation of agents' delegations: of one, of what was delegated under it, of an agent, of
//! everything that acts for a person. The revocation record is written first; then every known
//! descendant is revoked. Later exchanges find the record.
use crate::{
    agents::{
        AgentError, MARGIN, binding,
        delegation_index::{self, HeldGrant, Holder, TokenRow},
        registry,
        statement::{self, Authority, Said},
    },
    state::Realm,
};
use signet_agent::{AgentId, Hash, identity::VerifiedDocument, revocation::Target};
use signet_oauth::id::Jti;
use signet_revocation::RevocationQuery;
use signet_store::{StoreError, Subject};

/// What ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Grants that were exchanged here, and whose tokens ended with them.
    pub grants: usize,
    /// It was not said before.
    pub said_first: bool,
    /// Identities that are no longer bound.
    pub identities: usize,
    /// Milliseconds from the call until all of it was in effect.
    pub milliseconds: u64,
}

impl Realm {
    /// Ends a target on somebody's word. `object`: the signed revocation, where there is one; whose
    /// it is was verified. A signed one that came before is gone through again, because a crash may
    /// have stopped it half way, and writes nothing where all of it was done.
    ///
    /// # Errors
    /// [`AgentError::NotTheirs`] where a known grant is not the revoker's to revoke,
    /// [`AgentError::NoRoom`] where the revoker has said too much of what was never seen here, and
    /// the store's: then some may be left, and the caller must not answer that none is.
    pub async fn end_of_agents(
        &self,
        target: Target,
        by: AgentId,
        authority: Authority,
        object: Option<&[u8]>,
    ) -> Result<Ended, AgentError> {
        let (started, now) = (self.now_ms(), self.now());
        let store = &*self.store;
        let named = match target {
            Target::Grant(id) | Target::Subtree(id) => {
                delegation_index::grant(store, id, now).await?
            }
            Target::Agent(_) | Target::Everything(_) => None,
        };
        if named
            .as_ref()
            .is_some_and(|held| !held.revokers.contains(&by))
        {
            return Err(AgentError::NotTheirs);
        }
        let said = Said {
            by,
            authority,
            at: now,
        };
        let end = named
            .as_ref()
            .map(|held| held.grant.body().not_after.saturating_add(MARGIN));
        let unseen = match target {
            Target::Grant(_) | Target::Subtree(_) => named.is_none(),
            Target::Agent(agent) | Target::Everything(agent) => {
                agent != by && registry::get(store, agent, now).await?.is_none()
            }
        };
        let before = match object {
            // Of what was never seen here the first is kept for its time.
            Some(_) => {
                let end = if unseen { Some(now) } else { end };
                statement::signed_at(store, target, by, end, now).await?
            }
            None => None,
        };
        match object {
            Some(_) if before.is_some() => {}
            Some(object) if unseen => {
                if !statement::revoke_unseen(store, target, said, object, now).await? {
                    return Err(AgentError::NoRoom);
                }
            }
            _ => statement::revoke(store, target, said, object, end, now).await?,
        }
        let doomed = match target {
            Target::Grant(_) => Vec::from_iter(named),
            Target::Subtree(id) => delegation_index::grants(store, Holder::Parent(id), now).await?,
            Target::Agent(agent) => {
                delegation_index::grants(store, Holder::Agent(agent), now).await?
            }
            Target::Everything(agent) => {
                let mut all = delegation_index::grants(store, Holder::Agent(agent), now).await?;
                all.retain(|held| held.grant.body().by.agent == agent);
                all
            }
        };
        if target == Target::Agent(by) && !self.was_agent_ended(by, before) {
            // One entry, whatever is listed.
            self.revoke_agent(&by.to_string()).await?;
        }
        let mut ended = Ended {
            said_first: before.is_none(),
            ..Ended::default()
        };
        for held in doomed {
            let itself = target == Target::Agent(by);
            if itself || held.revokers.contains(&by) {
                if before.is_none() || !self.is_held_ended(&held) {
                    self.end_held(&held).await?;
                }
                ended.grants += 1;
            }
        }
        ended.milliseconds = self.now_ms().saturating_sub(started);
        Ok(ended)
    }

    /// Whether a listed token was revoked: by itself, its chain, its agents, its person or its
    /// client.
    pub fn is_token_ended(&self, jti: &Jti, row: &TokenRow, held: &HeldGrant) -> bool {
        let mut grants: Vec<[u8; 32]> = held.above.iter().map(|id| id.0).collect();
        grants.push(held.grant.id().0);
        let agents = [held.grant.body().to.agent, held.grant.body().by.agent];
        let agents = agents.map(|agent| agent.to_string());
        self.revocations.is_revoked(&RevocationQuery {
            jti: Some(*jti),
            issued_at_ms: jti.issued_ms(),
            user_id: Some(&row.user_id),
            client_id: Some(&row.client_id),
            agent_grants: &grants,
            agents: &agents,
            ..RevocationQuery::default()
        })
    }

    /// Whether an agent's own tokens were ended since it said so, `at` Unix seconds.
    fn was_agent_ended(&self, agent: AgentId, at: Option<u64>) -> bool {
        let Some(at) = at else { return false };
        let since_ms = at.saturating_mul(1000);
        let subject = Subject::Agent(agent.to_string(), since_ms);
        self.revocations.holds(&subject, 0)
    }

    /// Whether a listed grant is revoked, so that [`Realm::end_held`] has nothing to do.
    fn is_held_ended(&self, held: &HeldGrant) -> bool {
        let subject = Subject::AgentGrant(held.grant.id().0);
        self.revocations
            .holds(&subject, held.grant.body().not_after)
    }

    async fn end_held(&self, held: &HeldGrant) -> Result<(), StoreError> {
        self.revoke_agent_grant(held.grant.id().0, held.grant.body().not_after)
            .await
    }

    /// Ends a grant on the word of the person whose identity it was issued under.
    ///
    /// # Errors
    /// [`AgentError::NotFound`] where it is not theirs, and the store's.
    pub async fn end_grant_of_person(
        &self,
        user_id: &str,
        grant: Hash,
        authority: Authority,
    ) -> Result<Ended, AgentError> {
        let held = delegation_index::grant(&*self.store, grant, self.now()).await?;
        let held = held
            .filter(|held| held.user_id == user_id)
            .ok_or(AgentError::NotFound)?;
        self.end_of_agents(Target::Grant(grant), held.root, authority, None)
            .await
    }

    /// Takes an identity off an account and ends every grant issued under it. Bound again, it has
    /// to grant again.
    ///
    /// # Errors
    /// [`AgentError::NotFound`], and the store's.
    pub async fn unbind_identity(
        &self,
        user_id: &str,
        agent: AgentId,
        authority: Authority,
    ) -> Result<Ended, AgentError> {
        let started = self.now_ms();
        binding::unbind(&*self.store, user_id, agent, self.now()).await?;
        let mut ended = self
            .end_first_grants(user_id, Some(agent), authority)
            .await?;
        ended.identities = 1;
        ended.milliseconds = self.now_ms().saturating_sub(started);
        Ok(ended)
    }

    /// Stops everything that acts for a person by grants: every identity is taken off the account,
    /// and every grant issued under them ends.
    ///
    /// # Errors
    /// The store's.
    pub async fn stop_agents_of(
        &self,
        user_id: &str,
        authority: Authority,
    ) -> Result<Ended, AgentError> {
        let (started, now) = (self.now_ms(), self.now());
        let mut identities = 0;
        for agent in binding::list(&*self.store, user_id, now).await? {
            match binding::unbind(&*self.store, user_id, agent, now).await {
                Ok(()) => identities += 1,
                // Another call was first.
                Err(AgentError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        let mut ended = self.end_first_grants(user_id, None, authority).await?;
        ended.identities = identities;
        ended.milliseconds = self.now_ms().saturating_sub(started);
        Ok(ended)
    }

    /// Every token names its whole chain: ending the first grants ends all.
    async fn end_first_grants(
        &self,
        user_id: &str,
        root: Option<AgentId>,
        authority: Authority,
    ) -> Result<Ended, AgentError> {
        let (store, now) = (&*self.store, self.now());
        let mut ended = Ended::default();
        for held in delegation_index::grants(store, Holder::User(user_id), now).await? {
            if root.is_some_and(|root| root != held.root) {
                continue;
            }
            if held.above.is_empty() {
                let said = Said {
                    by: held.root,
                    authority,
                    at: now,
                };
                let end = held.grant.body().not_after.saturating_add(MARGIN);
                let target = Target::Grant(held.grant.id());
                statement::revoke(store, target, said, None, Some(end), now).await?;
                self.end_held(&held).await?;
            }
            ended.grants += 1;
        }
        Ok(ended)
    }

    /// Ends the tokens of grants that were signed with a key which this document gives up as
    /// compromised.
    ///
    /// # Errors
    /// The store's.
    pub async fn end_compromised(&self, document: &VerifiedDocument) -> Result<Ended, AgentError> {
        let started = self.now_ms();
        let compromised: Vec<u64> = document
            .key_states()
            .into_iter()
            .filter(|state| state.compromised.is_some())
            .map(|state| state.number)
            .collect();
        let mut ended = Ended::default();
        if !compromised.is_empty() {
            let all =
                delegation_index::grants(&*self.store, Holder::Agent(document.id()), self.now())
                    .await?;
            for held in all {
                let by = held.grant.body().by;
                if by.agent == document.id() && compromised.contains(&by.key) {
                    self.end_held(&held).await?;
                    ended.grants += 1;
                }
            }
        }
        ended.milliseconds = self.now_ms().saturating_sub(started);
        Ok(ended)
    }
}

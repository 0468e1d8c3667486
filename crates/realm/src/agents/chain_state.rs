//! What the server knows of a presented chain, read before the decision.
use super::{binding, delegation_index, registry, statement};
use crate::single_use;
use signet_agent::{
    AgentId, presentation::Presentation, revocation::Revocations, revocation::Target,
};
use signet_oauth::issued::agent_grants::{Root, Standing};
use signet_store::{Store, StoreError};
use std::collections::{BTreeSet, HashMap};

/// A standing, and what the caller writes and looks at again.
pub struct Known {
    /// For the rules.
    pub standing: Standing,
    /// How many grants, from the root's on, are listed already.
    pub listed: usize,
    /// Agents that are not known at all, or whose shown document is news.
    pub new_agents: Vec<AgentId>,
    /// What would end the chain.
    pub ends: Ends,
}

/// Whose the root is, and every revocation that concerns the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    user_id: Option<String>,
    revocations: BTreeSet<(u64, [u8; 32], [u8; 32])>,
}

/// The agents of a chain, the root first, and its holder's ancestors.
fn concerned(shown: &Presentation) -> Vec<AgentId> {
    let mut agents: Vec<AgentId> = shown.grants.iter().map(|g| g.body().by.agent).collect();
    agents.extend(shown.grants.iter().map(|g| g.body().to.agent));
    agents.extend(shown.births.iter().map(|b| b.body().by.agent));
    let mut seen = BTreeSet::new();
    agents.retain(|agent| seen.insert(*agent));
    agents
}

/// Whose the root is and what was revoked, of this chain.
///
/// # Errors
/// The store's: then nobody can say that it was not revoked (known fault A7).
pub async fn ends(store: &dyn Store, shown: &Presentation, now: u64) -> Result<Ends, StoreError> {
    let root = shown.grants[0].body().by.agent;
    let user_id = binding::get(store, root, now).await?.map(|b| b.user_id);
    let grants = shown
        .grants
        .iter()
        .flat_map(|grant| [Target::Grant(grant.id()), Target::Subtree(grant.id())]);
    let agents = concerned(shown)
        .into_iter()
        .flat_map(|agent| [Target::Agent(agent), Target::Everything(agent)]);
    let mut revocations = BTreeSet::new();
    for target in grants.chain(agents) {
        for said in statement::revocations(store, target, now).await? {
            let (kind, id) = target.parts();
            revocations.insert((kind, *id, said.by.0));
        }
    }
    Ok(Ends {
        user_id,
        revocations,
    })
}

/// Reads everything that concerns the chain.
///
/// # Errors
/// The store's.
pub async fn read(store: &dyn Store, shown: &Presentation, now: u64) -> Result<Known, StoreError> {
    let ends = ends(store, shown, now).await?;
    let mut revocations = Revocations::as_of(now);
    for (kind, id, by) in &ends.revocations {
        match Target::from_parts(*kind, *id) {
            Ok(target) => revocations.add_known(AgentId(*by), target),
            Err(_) => revocations.add_unreadable(),
        }
    }
    let root = shown.grants[0].body().by.agent;
    let (mut documents, mut declarations, mut new_agents) = (Vec::new(), Vec::new(), Vec::new());
    let mut bound = None;
    for agent in concerned(shown) {
        declarations.extend(statement::declarations(store, agent, now).await?);
        let found = registry::get(store, agent, now).await?;
        let document = found.as_ref().and_then(|known| known.document.clone());
        let newer = shown.documents.iter().any(|shown| {
            shown.id() == agent
                && document
                    .as_ref()
                    .is_none_or(|known| shown.by().key > known.by().key)
        });
        if found.is_none() || newer {
            new_agents.push(agent);
        }
        match document {
            Some(document) if agent == root => bound = Some(document),
            Some(document) => documents.push(document),
            None => {}
        }
    }
    let root = ends.user_id.clone().zip(bound);
    let mut counters = HashMap::new();
    for grant in &shown.grants {
        let of = &grant.body().constraints;
        if (of.max_uses.is_some() || of.budget.is_some())
            && let Some(counter) = single_use::agent_uses(store, &grant.id().0, now).await?
        {
            counters.insert(grant.id(), counter);
        }
    }
    let mut listed = 0;
    for grant in &shown.grants {
        if delegation_index::grant(store, grant.id(), now)
            .await?
            .is_none()
        {
            break;
        }
        listed += 1;
    }
    Ok(Known {
        standing: Standing {
            root: root.map(|(user_id, document)| Root { user_id, document }),
            documents,
            revocations,
            declarations,
            counters,
        },
        listed,
        new_agents,
        ends,
    })
}

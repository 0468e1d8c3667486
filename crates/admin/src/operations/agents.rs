//! Agents: who they are, what they hold, and how they are stopped.
use crate::operations::model::List;
use crate::operations::models::agents::{
    AgentDocument, AgentGrantDocument, AgentSummary, AgentTokenDocument, NewAgentDocument,
    NodeTime, StopDocument,
};
use signet_agent::{AgentId, Hash, identity::VerifiedDocument, json::File, revocation::Target};
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::input::{Page, Segment, UserId};
use signet_operation::noun::Noun;
use signet_operation::operation::{Operation, run};
use signet_operation::output::{Created, Json};
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Write};
use signet_realm::agents::binding;
use signet_realm::agents::delegation_index::{self, Holder};
use signet_realm::agents::registry::{self, Agent};
use signet_realm::agents::statement::{self, Authority};
use signet_realm::state::Realm;
use signet_realm::terminate::Ended;
use std::sync::Arc;

const LIST: &str = "/admin/v1/agents";
const ONE: &str = "/admin/v1/agents/{agent_id}";
const STOP: &str = "/admin/v1/agents/{agent_id}/stop";
const BINDING: &str = "/admin/v1/agents/{agent_id}/binding";
const GRANT: &str = "/admin/v1/agents/{agent_id}/grants/{grant_id}";
const OF_USER: &str = "/admin/v1/users/{user_id}/agents";
const STOP_OF_USER: &str = "/admin/v1/users/{user_id}/agents/stop";

/// Agents.
pub const AGENTS: Noun = Noun {
    name: "agent",
    list: LIST,
    id: "agent_id",
    columns: &[
        "agent_id",
        "name",
        "owner",
        "registered",
        "known_since",
        "stopped_at",
    ],
    sorted_by: None,
    written: &[],
};

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listAgents", Area::Agents, Read, Method::Get, LIST, "List the agents that are known: registered, bound, or seen in a chain", run!(list)),
    &Operation::new("registerAgent", Area::Agents, Write, Method::Post, LIST, "Register an agent by its document", run!(register)),
    &Operation::new("showAgent", Area::Agents, Read, Method::Get, ONE, "Show an agent and what it holds: grants and living tokens", run!(show)),
    &Operation::new("renewAgent", Area::Agents, Write, Method::Put, ONE, "Replace an agent's document by one that continues it", run!(renew)),
    &Operation::new("stopAgent", Area::Agents, Write, Method::Post, STOP, "Stop an agent for good: every grant to it and from it, and every token", run!(stop)).ends(),
    &Operation::new("unbindAgent", Area::Agents, Write, Method::Delete, BINDING, "Take an identity off its account and revoke what was issued under it", run!(unbind)),
    &Operation::new("endAgentGrant", Area::Agents, Write, Method::Delete, GRANT, "End a grant, and everything that was delegated under it", run!(end_grant)),
    &Operation::new("listAgentsOfUser", Area::Agents, Read, Method::Get, OF_USER, "List the identities that a user bound", run!(list_of_user)),
    &Operation::new("stopAgentsOfUser", Area::Agents, Write, Method::Post, STOP_OF_USER, "Stop everything that acts for a person by grants", run!(stop_of_user)).ends(),
];

/// A grant of a chain.
struct Delegated(Hash);

impl Segment for Delegated {
    const NAME: &'static str = "grant_id";

    fn parse(text: &str) -> Result<Delegated, Problem> {
        text.parse()
            .map(Delegated)
            .map_err(|_| Problem::not_found())
    }
}

async fn summary(realm: &Realm, agent: &Agent) -> Result<AgentSummary, Problem> {
    let binding = binding::get(&*realm.store, agent.id, realm.now()).await?;
    let owner = match &binding {
        Some(binding) => {
            let users = &realm.people.users;
            users.by_id(&binding.user_id, realm.now()).await?
        }
        None => None,
    };
    let stays = owner
        .as_ref()
        .is_some_and(|owner| owner.enabled && owner.deletion.is_none());
    Ok(AgentSummary {
        orphan: binding.is_some() && !stays,
        owner: owner.map(|owner| owner.username),
        agent_id: agent.id.to_string(),
        name: agent.document.as_ref().map(|d| d.body().name.clone()),
        rotations: agent.document.as_ref().map(|d| d.by().key),
        registered: agent.registered,
        known_since: agent.since,
        user_id: binding.as_ref().map(|binding| binding.user_id.clone()),
        bound_at: binding.map(|binding| binding.bound_at),
        stopped_at: stopped_at(realm, agent.id).await?,
    })
}

async fn stopped_at(realm: &Realm, agent: AgentId) -> Result<Option<u64>, Problem> {
    let said = statement::revocations(&*realm.store, Target::Agent(agent), realm.now());
    let own = said.await?.into_iter().filter(|said| said.by == agent);
    Ok(own.map(|said| said.at).min())
}

async fn document(realm: &Realm, id: AgentId) -> Result<AgentDocument, Problem> {
    let (store, now) = (&*realm.store, realm.now());
    let agent = registry::get(store, id, now).await?;
    let agent = agent.ok_or_else(Problem::not_found)?;
    let mut grants = Vec::new();
    for held in delegation_index::grants(store, Holder::Agent(id), now).await? {
        let ended = delegation_index::is_ended(store, &held, now).await?;
        grants.push(AgentGrantDocument::new(&held, id, ended));
    }
    let mut tokens = Vec::new();
    for (jti, row) in delegation_index::tokens(store, id, now).await? {
        let tokens_grant = row.grant.parse::<Hash>().ok();
        let held = match tokens_grant {
            Some(grant) => delegation_index::grant(store, grant, now).await?,
            None => None,
        };
        let dead = match held {
            Some(held) => realm.is_token_ended(&jti, &row, &held),
            None => false,
        };
        if !dead {
            tokens.push(AgentTokenDocument::new(&jti, row));
        }
    }
    let shown = agent.document.as_ref().map(|document| {
        signet_agent::json::to_json(document.signed().as_bytes()).map(serde_json::Value::Object)
    });
    Ok(AgentDocument {
        summary: summary(realm, &agent).await?,
        document: shown.transpose().map_err(Problem::from)?,
        grants,
        tokens,
    })
}

async fn list(realm: Arc<Realm>, page: Page) -> Result<Json<List<AgentSummary>>, Problem> {
    let after = page.after.as_deref().map(str::parse).transpose();
    let after: Option<AgentId> = after.map_err(|_| Problem::invalid("after is no agent's id"))?;
    let mut items = Vec::new();
    for agent in registry::list(&*realm.store, after, page.limit + 1, realm.now()).await? {
        items.push(summary(&realm, &agent).await?);
    }
    Ok(Json(List::cut(items, page.limit, |agent| {
        agent.agent_id.clone()
    })))
}

/// The document that was sent, verified in itself.
fn verified(sent: &NewAgentDocument) -> Result<VerifiedDocument, Problem> {
    let text = sent.document.to_string();
    let file = File::read(text.as_bytes()).map_err(Problem::from)?;
    file.object()
        .and_then(VerifiedDocument::new)
        .map_err(Problem::from)
}

async fn keep(realm: &Realm, document: &VerifiedDocument) -> Result<(), Problem> {
    registry::keep(&*realm.store, document, true, realm.now()).await?;
    realm.end_compromised(document).await?;
    Ok(())
}

async fn register(
    realm: Arc<Realm>,
    Json(sent): Json<NewAgentDocument>,
) -> Result<Created<Json<AgentDocument>>, Problem> {
    let shown = verified(&sent)?;
    keep(&realm, &shown).await?;
    document(&realm, shown.id()).await.map(Json).map(Created)
}

async fn renew(
    realm: Arc<Realm>,
    (id, Json(sent)): (AgentId, Json<NewAgentDocument>),
) -> Result<Json<AgentDocument>, Problem> {
    let shown = verified(&sent)?;
    if shown.id() != id {
        return Err(Problem::invalid("the document is another agent's"));
    }
    if registry::get(&*realm.store, id, realm.now())
        .await?
        .is_none()
    {
        return Err(Problem::not_found());
    }
    keep(&realm, &shown).await?;
    document(&realm, id).await.map(Json)
}

async fn show(realm: Arc<Realm>, id: AgentId) -> Result<Json<AgentDocument>, Problem> {
    document(&realm, id).await.map(Json)
}

fn stopped(realm: &Realm, ended: Ended) -> Json<StopDocument> {
    Json(StopDocument {
        grants_ended: ended.grants,
        identities_unbound: ended.identities,
        nodes: vec![NodeTime {
            node: realm.node().to_owned(),
            milliseconds: ended.milliseconds,
        }],
    })
}

async fn stop(realm: Arc<Realm>, id: AgentId) -> Result<Json<StopDocument>, Problem> {
    // One that nobody has heard of yet can be stopped beforehand.
    let ended = realm
        .end_of_agents(Target::Agent(id), id, Authority::Operator, None)
        .await?;
    Ok(stopped(&realm, ended))
}

async fn unbind(realm: Arc<Realm>, id: AgentId) -> Result<Json<StopDocument>, Problem> {
    let binding = binding::get(&*realm.store, id, realm.now()).await?;
    let binding = binding.ok_or_else(Problem::not_found)?;
    let ended = realm
        .unbind_identity(&binding.user_id, id, Authority::Operator)
        .await?;
    Ok(stopped(&realm, ended))
}

async fn end_grant(
    realm: Arc<Realm>,
    (id, Delegated(grant)): (AgentId, Delegated),
) -> Result<Json<StopDocument>, Problem> {
    let held = delegation_index::grant(&*realm.store, grant, realm.now()).await?;
    let held = held
        .filter(|held| held.grant.body().to.agent == id || held.grant.body().by.agent == id)
        .ok_or_else(Problem::not_found)?;
    let ended = realm
        .end_of_agents(Target::Grant(grant), held.root, Authority::Operator, None)
        .await?;
    Ok(stopped(&realm, ended))
}

async fn list_of_user(
    realm: Arc<Realm>,
    user: UserId,
) -> Result<Json<List<AgentSummary>>, Problem> {
    let items = of_user(&realm, &user.0).await?;
    Ok(Json(List { items, next: None }))
}

/// The identities that a user bound.
pub(crate) async fn of_user(realm: &Realm, user_id: &str) -> Result<Vec<AgentSummary>, Problem> {
    let (store, now) = (&*realm.store, realm.now());
    let mut items = Vec::new();
    for id in binding::list(store, user_id, now).await? {
        if let Some(agent) = registry::get(store, id, now).await? {
            items.push(summary(realm, &agent).await?);
        }
    }
    Ok(items)
}

async fn stop_of_user(realm: Arc<Realm>, user: UserId) -> Result<Json<StopDocument>, Problem> {
    let user = realm.people.users.by_id(&user.0, realm.now()).await?;
    let user = user.ok_or_else(Problem::not_found)?;
    let ended = realm.stop_agents_of(&user.id, Authority::Operator).await?;
    Ok(stopped(&realm, ended))
}

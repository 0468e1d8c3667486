//! Agents: who they are, what they hold, and how they are stopped.
use super::{
    agent_model::{
        AgentDocument, AgentGrantDocument, AgentSummary, AgentTokenDocument, NewAgentDocument,
        NodeTime, StopDocument,
    },
    call::{Call, Reply},
    model::List,
    operation::{Method, Operation, Outcome, handler},
    problem::Problem,
};
use crate::{
    agents::{
        AgentError, binding,
        delegation_index::{self, Holder},
        registry::{self, Agent},
        statement::{self, Authority},
    },
    terminate::Ended,
};
use http::StatusCode;
use signet_agent::{
    AgentId, Hash, Refusal, identity::VerifiedDocument, json::File, revocation::Target,
};

const LIST: &str = "/admin/v1/agents";
const ONE: &str = "/admin/v1/agents/{agent_id}";
const STOP: &str = "/admin/v1/agents/{agent_id}/stop";
const BINDING: &str = "/admin/v1/agents/{agent_id}/binding";
const GRANT: &str = "/admin/v1/agents/{agent_id}/grants/{grant_id}";
const OF_USER: &str = "/admin/v1/users/{user_id}/agents";
const STOP_OF_USER: &str = "/admin/v1/users/{user_id}/agents/stop";

#[rustfmt::skip]
pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("listAgents", Method::Get, LIST, "List the agents that are known: registered, bound, or seen in a chain", handler!(list))
        .paged().answers::<List<AgentSummary>>(200),
    Operation::new("registerAgent", Method::Post, LIST, "Register an agent by its document", handler!(register))
        .takes::<NewAgentDocument>().answers::<AgentDocument>(201),
    Operation::new("showAgent", Method::Get, ONE, "Show an agent and what it holds: grants and living tokens", handler!(show))
        .answers::<AgentDocument>(200),
    Operation::new("renewAgent", Method::Put, ONE, "Replace an agent's document by one that continues it", handler!(renew))
        .takes::<NewAgentDocument>().answers::<AgentDocument>(200),
    Operation::new("stopAgent", Method::Post, STOP, "Stop an agent for good: every grant to it and from it, and every token", handler!(stop))
        .answers::<StopDocument>(200),
    Operation::new("unbindAgent", Method::Delete, BINDING, "Take an identity off its account and end what came of it", handler!(unbind))
        .answers::<StopDocument>(200),
    Operation::new("endAgentGrant", Method::Delete, GRANT, "End a grant, and everything that was delegated under it", handler!(end_grant))
        .answers::<StopDocument>(200),
    Operation::new("listAgentsOfUser", Method::Get, OF_USER, "List the identities that a user bound", handler!(list_of_user))
        .answers::<List<AgentSummary>>(200),
    Operation::new("stopAgentsOfUser", Method::Post, STOP_OF_USER, "Stop everything that acts for a person by grants", handler!(stop_of_user))
        .answers::<StopDocument>(200),
];

fn agent_id(call: &Call) -> Result<AgentId, Problem> {
    call.segment("agent_id")
        .parse()
        .map_err(|_| Problem::not_found())
}

async fn summary(call: &Call, agent: &Agent) -> Result<AgentSummary, Problem> {
    let (store, now) = (&*call.realm().store, call.now());
    let binding = binding::get(store, agent.id, now).await?;
    Ok(AgentSummary {
        agent_id: agent.id.to_string(),
        name: agent.document.as_ref().map(|d| d.body().name.clone()),
        rotations: agent.document.as_ref().map(|d| d.by().key),
        registered: agent.registered,
        known_since: agent.since,
        user_id: binding.as_ref().map(|binding| binding.user_id.clone()),
        bound_at: binding.map(|binding| binding.bound_at),
        stopped_at: stopped_at(call, agent.id).await?,
    })
}

async fn stopped_at(call: &Call, agent: AgentId) -> Result<Option<u64>, Problem> {
    let said = statement::revocations(&*call.realm().store, Target::Agent(agent), call.now());
    let own = said.await?.into_iter().filter(|said| said.by == agent);
    Ok(own.map(|said| said.at).min())
}

async fn document(call: &Call, id: AgentId) -> Result<AgentDocument, Problem> {
    let (store, now) = (&*call.realm().store, call.now());
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
            Some(held) => call.realm().is_token_ended(&jti, &row, &held),
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
        summary: summary(call, &agent).await?,
        document: shown.transpose().map_err(refused)?,
        grants,
        tokens,
    })
}

async fn list(call: Call) -> Outcome {
    let page = call.page()?;
    let after = page.after.as_deref().map(str::parse).transpose();
    let after: Option<AgentId> = after.map_err(|_| Problem::invalid("after is no agent's id"))?;
    let (store, now) = (&*call.realm().store, call.now());
    let mut items = Vec::new();
    for agent in registry::list(store, after, page.limit + 1, now).await? {
        items.push(summary(&call, &agent).await?);
    }
    Reply::ok(&List::cut(items, page.limit, |agent| {
        agent.agent_id.clone()
    }))
}

/// The document of a body, verified in itself.
async fn read(call: &mut Call) -> Result<VerifiedDocument, Problem> {
    let wanted: NewAgentDocument = call.read().await?;
    let text = wanted.document.to_string();
    let file = File::read(text.as_bytes()).map_err(refused)?;
    file.object()
        .and_then(VerifiedDocument::new)
        .map_err(refused)
}

fn refused(reason: Refusal) -> Problem {
    Problem::new(
        StatusCode::BAD_REQUEST,
        "invalid_document",
        format!("{}: {reason}", reason.name()),
    )
}

impl From<AgentError> for Problem {
    fn from(error: AgentError) -> Problem {
        match error {
            AgentError::Store(error) => error.into(),
            AgentError::Refused(reason) => refused(reason),
            AgentError::NotFound => Problem::not_found(),
            AgentError::Rollback => Problem::conflict(
                "rollback",
                "the document does not continue the one that is known",
            ),
            AgentError::Taken => {
                Problem::conflict("taken", "the identity is bound to another account")
            }
            AgentError::Stopped => Problem::conflict("stopped", "the agent was stopped"),
            AgentError::TooMany => {
                Problem::conflict("too_many", "there are too many identities on this account")
            }
            AgentError::NotTheirs => Problem::conflict("not_theirs", "the signer may not say this"),
            AgentError::NoRoom => Problem::conflict(
                "no_room",
                "the signer has revoked as many grants and agents that are not known here as are kept",
            ),
        }
    }
}

async fn keep(call: &Call, document: &VerifiedDocument) -> Result<(), Problem> {
    registry::keep(&*call.realm().store, document, true, call.now()).await?;
    call.realm().end_compromised(document).await?;
    Ok(())
}

async fn register(mut call: Call) -> Outcome {
    let shown = read(&mut call).await?;
    keep(&call, &shown).await?;
    Reply::json(StatusCode::CREATED, &document(&call, shown.id()).await?)
}

async fn renew(mut call: Call) -> Outcome {
    let id = agent_id(&call)?;
    let shown = read(&mut call).await?;
    if shown.id() != id {
        return Err(Problem::invalid("the document is another agent's"));
    }
    if registry::get(&*call.realm().store, id, call.now())
        .await?
        .is_none()
    {
        return Err(Problem::not_found());
    }
    keep(&call, &shown).await?;
    Reply::ok(&document(&call, id).await?)
}

async fn show(call: Call) -> Outcome {
    let id = agent_id(&call)?;
    Reply::ok(&document(&call, id).await?)
}

fn stopped(call: &Call, ended: Ended) -> Outcome {
    Reply::ok(&StopDocument {
        grants_ended: ended.grants,
        identities_unbound: ended.identities,
        nodes: vec![NodeTime {
            node: call.realm().node().to_owned(),
            milliseconds: ended.milliseconds,
        }],
    })
}

async fn stop(call: Call) -> Outcome {
    let id = agent_id(&call)?;
    // One that nobody has heard of yet can be stopped beforehand.
    let ended = call
        .realm()
        .end_of_agents(Target::Agent(id), id, Authority::Operator, None)
        .await?;
    stopped(&call, ended)
}

async fn unbind(call: Call) -> Outcome {
    let id = agent_id(&call)?;
    let binding = binding::get(&*call.realm().store, id, call.now()).await?;
    let binding = binding.ok_or_else(Problem::not_found)?;
    let ended = call
        .realm()
        .unbind_identity(&binding.user_id, id, Authority::Operator)
        .await?;
    stopped(&call, ended)
}

async fn end_grant(call: Call) -> Outcome {
    let id = agent_id(&call)?;
    let grant: Hash = call
        .segment("grant_id")
        .parse()
        .map_err(|_| Problem::not_found())?;
    let held = delegation_index::grant(&*call.realm().store, grant, call.now()).await?;
    let held = held
        .filter(|held| held.grant.body().to.agent == id || held.grant.body().by.agent == id)
        .ok_or_else(Problem::not_found)?;
    let ended = call
        .realm()
        .end_of_agents(Target::Grant(grant), held.root, Authority::Operator, None)
        .await?;
    stopped(&call, ended)
}

async fn list_of_user(call: Call) -> Outcome {
    let (store, now) = (&*call.realm().store, call.now());
    let mut items = Vec::new();
    for id in binding::list(store, call.segment("user_id"), now).await? {
        if let Some(agent) = registry::get(store, id, now).await? {
            items.push(summary(&call, &agent).await?);
        }
    }
    Reply::ok(&List { items, next: None })
}

async fn stop_of_user(call: Call) -> Outcome {
    let users = &call.realm().people.users;
    let user = users.by_id(call.segment("user_id"), call.now()).await?;
    let user = user.ok_or_else(Problem::not_found)?;
    let ended = call
        .realm()
        .stop_agents_of(&user.id, Authority::Operator)
        .await?;
    stopped(&call, ended)
}

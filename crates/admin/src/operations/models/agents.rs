//! What goes over the wire about agents.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use signet_agent::AgentId;
use signet_encoding::base64url;
use signet_oauth::id::Jti;
use signet_realm::agents::delegation_index::{HeldGrant, TokenRow};

/// An agent to register, or a newer document of one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewAgent")]
pub(crate) struct NewAgentDocument {
    /// The identity document, as `signet agent show --document` prints it.
    pub(crate) document: serde_json::Value,
}

/// An agent in a list.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AgentSummary {
    pub(crate) agent_id: String,
    /// What its document calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// How many times its key was rotated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rotations: Option<u64>,
    /// By an operator; others were bound by a person or seen in a chain.
    pub(crate) registered: bool,
    pub(crate) known_since: u64,
    /// Whose identity it is: chains may begin at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_id: Option<String>,
    /// What that person logs in with; left out once the account is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<String>,
    /// Its owner has left: the account is gone, disabled, or to be erased.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) orphan: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bound_at: Option<u64>,
    /// It was stopped, for good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stopped_at: Option<u64>,
}

/// An agent and what it holds.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Agent")]
pub(crate) struct AgentDocument {
    #[serde(flatten)]
    pub(crate) summary: AgentSummary,
    /// Its newest document that was shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) document: Option<serde_json::Value>,
    /// Grants to it and from it that were exchanged here and have not run out.
    pub(crate) grants: Vec<AgentGrantDocument>,
    /// Its tokens that are in force.
    pub(crate) tokens: Vec<AgentTokenDocument>,
}

/// A grant that was exchanged.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AgentGrant")]
pub(crate) struct AgentGrantDocument {
    pub(crate) grant_id: String,
    /// `holds` or `gave`
    pub(crate) role: &'static str,
    pub(crate) from: String,
    pub(crate) to: String,
    /// The person whose identity the chain begins at.
    pub(crate) user_id: String,
    pub(crate) root: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<String>,
    pub(crate) capabilities: Vec<String>,
    pub(crate) first_seen: u64,
    pub(crate) ends_at: u64,
    /// It, or a grant above it, was revoked.
    pub(crate) revoked: bool,
}

impl AgentGrantDocument {
    pub(crate) fn new(held: &HeldGrant, of: AgentId, revoked: bool) -> AgentGrantDocument {
        let body = held.grant.body();
        AgentGrantDocument {
            grant_id: held.grant.id().to_string(),
            role: if body.to.agent == of { "holds" } else { "gave" },
            from: body.by.agent.to_string(),
            to: body.to.agent.to_string(),
            user_id: held.user_id.clone(),
            root: held.root.to_string(),
            parent: body.parent.map(|parent| parent.to_string()),
            capabilities: body.capabilities.iter().map(ToString::to_string).collect(),
            first_seen: held.first_seen,
            ends_at: body.not_after,
            revoked,
        }
    }
}

/// A token that was issued under a chain.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AgentToken")]
pub(crate) struct AgentTokenDocument {
    pub(crate) jti: String,
    pub(crate) client_id: String,
    pub(crate) user_id: String,
    pub(crate) audience: Vec<String>,
    /// The last grant of its chain.
    pub(crate) grant_id: String,
    pub(crate) exp: u64,
}

impl AgentTokenDocument {
    pub(crate) fn new(jti: &Jti, row: TokenRow) -> AgentTokenDocument {
        AgentTokenDocument {
            jti: base64url::encode(jti.as_bytes()),
            client_id: row.client_id,
            user_id: row.user_id,
            audience: row.audience,
            grant_id: row.grant,
            exp: row.exp,
        }
    }
}

/// What a stop did.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Stopped")]
pub(crate) struct StopDocument {
    /// Grants that were exchanged here and have ended.
    pub(crate) grants_ended: usize,
    /// Identities that are no longer bound.
    pub(crate) identities_unbound: usize,
    /// How long each node took until all of it was in effect there.
    pub(crate) nodes: Vec<NodeTime>,
}

/// A node's time.
#[derive(Serialize, JsonSchema)]
pub(crate) struct NodeTime {
    pub(crate) node: String,
    pub(crate) milliseconds: u64,
}

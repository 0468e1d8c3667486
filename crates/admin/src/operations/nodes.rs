//! The nodes of this installation.
use crate::engine::adapter::Row;
use crate::engine::facts::Method;
use crate::engine::input::NodeName;
use crate::engine::noun::Noun;
use crate::engine::operation::{Operation, run};
use crate::engine::output::{Created, Json};
use crate::engine::problem::Problem;
use crate::engine::right::Right::{Read, Write};
use crate::operations::model::{InviteNode, List, MoveStore, NodeInvitation};
use http::StatusCode;
use signet_realm::nodes::{Node, NodesError, StoreMove};
use signet_realm::state::Realm;
use signet_store::NodeId;
use std::{ops::RangeInclusive, sync::Arc};

const LIST: &str = "/admin/v1/nodes";
const ONE: &str = "/admin/v1/nodes/{node}";
const INVITE: &str = "/admin/v1/nodes/invitations";
const MOVE: &str = "/admin/v1/store/move";

/// How long an invitation lasts where the caller does not say, seconds.
const INVITATION: u64 = 600;
/// How long it may last, seconds.
const INVITATIONS: RangeInclusive<u64> = 10..=86_400;

/// Nodes.
pub const NODES: Noun = Noun {
    name: "node",
    list: LIST,
    id: "name",
    columns: &[
        "name",
        "url",
        "state",
        "role",
        "self",
        "lag_ms",
        "clock_skew_ms",
    ],
    sorted_by: None,
    written: &[],
};

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listNodes", Read, Method::Get, LIST, "List the nodes of the installation, as the answering one sees them", run!(list)),
    &Operation::new("inviteNode", Write, Method::Post, INVITE, "Make a single-use token that lets one node join", run!(invite)),
    &Operation::new("removeNode", Write, Method::Delete, ONE, "Remove a node for good: nothing that it signs counts any more", run!(remove)),
    &Operation::new("moveStore", Write, Method::Post, MOVE, "Begin to move the store's rows to another engine, while the server works", run!(move_store)),
    &Operation::new("getStoreMove", Read, Method::Get, MOVE, "How far the last move of the store's rows is", run!(store_move)),
];

async fn list(realm: Arc<Realm>, (): ()) -> Result<Json<List<Node>>, Problem> {
    let items = realm.host.nodes.list().await?;
    Ok(Json(List { items, next: None }))
}

async fn invite(
    realm: Arc<Realm>,
    Json(wanted): Json<InviteNode>,
) -> Result<Created<Json<NodeInvitation>>, Problem> {
    let seconds = wanted.expires_in.unwrap_or(INVITATION);
    if !INVITATIONS.contains(&seconds) {
        return Err(Problem::invalid("expires_in must be 10 to 86400 seconds"));
    }
    let invitation = realm.host.nodes.invite(seconds).await?;
    Ok(Created(Json(NodeInvitation {
        token: invitation.token,
        expires_at: invitation.expires_at,
    })))
}

async fn remove(realm: Arc<Realm>, NodeName(name): NodeName) -> Result<(), Problem> {
    let name = NodeId::parse(&name).map_err(|_| Problem::not_found())?;
    Ok(realm.host.nodes.remove(&name).await?)
}

async fn move_store(
    realm: Arc<Realm>,
    Json(wanted): Json<MoveStore>,
) -> Result<Json<StoreMove>, Problem> {
    Ok(Json(realm.host.nodes.move_store(&wanted.to).await?))
}

async fn store_move(realm: Arc<Realm>, (): ()) -> Result<Json<StoreMove>, Problem> {
    let last = realm.host.nodes.store_move();
    last.map(Json).ok_or_else(Problem::not_found)
}

impl From<NodesError> for Problem {
    fn from(error: NodesError) -> Problem {
        match error {
            NodesError::NotFound => Problem::not_found(),
            NodesError::NotPossible(why) => Problem::new(StatusCode::CONFLICT, "not_possible", why),
            NodesError::Unavailable(why) => {
                tracing::warn!(why, "failed to change the members");
                Problem::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "temporarily_unavailable",
                    why,
                )
            }
        }
    }
}

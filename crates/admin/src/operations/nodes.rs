//! The nodes of this installation.
use crate::operations::model::{InviteNode, List, MoveStore, NodeInvitation};
use signet_monitoring::steps::Trace;
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::input::{NodeName, TraceName};
use signet_operation::noun::Noun;
use signet_operation::operation::{Operation, run};
use signet_operation::output::{Created, Json};
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Write};
use signet_realm::nodes::{Node, StoreMove};
use signet_realm::state::Realm;
use signet_store::NodeId;
use std::{ops::RangeInclusive, sync::Arc};

const LIST: &str = "/admin/v1/nodes";
const ONE: &str = "/admin/v1/nodes/{node}";
const INVITE: &str = "/admin/v1/nodes/invitations";
const MOVE: &str = "/admin/v1/store/move";
const TRACE: &str = "/admin/v1/traces/{trace}";

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
    &Operation::new("listNodes", Area::Nodes, Read, Method::Get, LIST, "List the nodes of the installation, as the answering one sees them", run!(list)),
    &Operation::new("inviteNode", Area::Nodes, Write, Method::Post, INVITE, "Make a single-use token that lets one node join", run!(invite)),
    &Operation::new("removeNode", Area::Nodes, Write, Method::Delete, ONE, "Remove a node for good: nothing that it signs counts any more", run!(remove)),
    &Operation::new("moveStore", Area::Nodes, Write, Method::Post, MOVE, "Begin to move the store's rows to another engine, while the server works", run!(move_store)).ends(),
    &Operation::new("getTrace", Area::Nodes, Read, Method::Get, TRACE, "The steps of one of a development server's last requests, by the request's id or the trace's; no other server keeps them", run!(trace)),
    &Operation::new("getStoreMove", Area::Nodes, Read, Method::Get, MOVE, "How far the last move of the store's rows is", run!(store_move)),
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

async fn trace(realm: Arc<Realm>, TraceName(id): TraceName) -> Result<Json<Trace>, Problem> {
    let found = realm.host.policy.tracer.find(&id);
    found
        .map(|found| Json(Trace::of(&found)))
        .ok_or_else(Problem::not_found)
}

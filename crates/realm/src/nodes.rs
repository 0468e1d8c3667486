//! The nodes of this installation, as an administrator sees and changes them. What a node is made
//! of is the wiring's: here is what the admin API needs of it.
use crate::streams::{Acknowledged, Heard};
use schemars::JsonSchema;
use serde::Serialize;
use signet_store::{NodeId, RealmId};
use std::{future::Future, pin::Pin, time::Duration};

/// What every call returns.
pub type NodesFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, NodesError>> + Send + 'a>>;

/// Whether a node takes part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NodeState {
    /// It is connected and knows what this node knows.
    Ready,
    /// It is connected, and fetches what it missed.
    Syncing,
    /// It does not answer.
    Unreachable,
}

/// What a node does for a store that is replicated by consensus.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NodeRole {
    /// It orders the changes.
    Leader,
    /// It keeps a copy that counts for the majority.
    Voter,
    /// It passes changes on to the leader.
    Forwarder,
}

/// A node.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Where its public listener is.
    pub url: String,
    /// Whether it takes part, as seen from the node that answers.
    pub state: NodeState,
    /// Only where the store is replicated by consensus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<NodeRole>,
    /// Whether it is the node that answers.
    #[serde(rename = "self")]
    pub is_self: bool,
    /// How long ago it was known to have everything that the answering node has, milliseconds; 0
    /// while it has. None where it was never heard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag_ms: Option<u64>,
    /// Changes that it has not acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag_deltas: Option<u64>,
    /// Since when it answers, or does not, Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Host and port of its cluster listener.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// Where it stands, as the configuration calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Bytes that were sent to it since the connection began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_bytes: Option<u64>,
    /// Bytes that were received from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_bytes: Option<u64>,
    /// How long it took until it had in effect what was last told here, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged_ms: Option<f64>,
    /// By how much its clock is ahead of this node's, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_skew_ms: Option<i64>,
    /// When both were last compared, Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared_at: Option<u64>,
    /// Whether the last comparison found a difference that is not yet mended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diverged: Option<bool>,
    /// Over everything that nodes told each other and that still matters, 32 hexadecimal digits, of
    /// the node that answers: equal on nodes that hold the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Of the node that answers, where it is one of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figures: Option<Figures>,
}

/// Figures of a node of several, since its start.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Figures {
    /// What it has of what the others have.
    pub sync: SyncState,
    /// Why it is not ready, where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_ready: Option<String>,
    /// By how much its clock is ahead of the majority's, milliseconds; negative where it is behind.
    pub clock_ahead_ms: i64,
    /// How often its hybrid clock began again, because it was far ahead of its wall clock.
    pub clock_epochs: u64,
    /// For how long it has not been in contact with a majority of the nodes, milliseconds; none
    /// where it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub staleness_ms: Option<u64>,
    /// Batches of changes that it signed.
    pub batches_signed: u64,
    /// Batches of others whose signatures held.
    pub batches_verified: u64,
    /// Batches with a signature that does not hold.
    pub batches_forged: u64,
    /// Batches of signers who are no members.
    pub batches_unknown: u64,
    /// Batches whose clock is further ahead than this node's hybrid clock follows. They are in
    /// effect.
    pub batches_ahead: u64,
    /// Messages that could not be read.
    pub frames_malformed: u64,
    /// Batches that it holds.
    pub batches_held: u64,
    /// Their bytes.
    pub batches_held_bytes: u64,
    /// Bytes of the files of its journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal_bytes: Option<u64>,
    /// Only where the store is replicated by consensus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<StoreFigures>,
}

/// Figures of a replicated store, as a node sees it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct StoreFigures {
    /// What the node does for it.
    pub role: NodeRole,
    /// Whether it knows of a majority.
    pub has_majority: bool,
    /// The leader's term.
    pub term: u64,
    /// The last entry of the log that is known to be on a majority.
    pub committed: u64,
    /// The last one that is in the node's rows.
    pub applied: u64,
    /// How many its rows are known to be behind.
    pub lag: u64,
    /// How often another leader was seen since the start.
    pub leader_changes: u64,
}

/// What the node that answers has of what the others have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SyncState {
    /// It is the only node.
    #[default]
    Alone,
    /// It takes part.
    Whole,
    /// It has a majority, and fetches what it missed.
    Syncing,
    /// It reaches no majority, and goes on by its own rows.
    Minority,
    /// As before, and its rows are so long past that nothing is granted by them.
    Outdated,
    /// The others refuse it: the cluster was recovered without it, or it holds less than it has
    /// acknowledged.
    Refused,
    /// Another node was recovered by itself, too: there are two clusters of one name.
    Divided,
    /// It was removed from its cluster.
    Removed,
}

impl SyncState {
    /// Whether it lacks nothing.
    pub const fn is_ready(self) -> bool {
        match self {
            SyncState::Alone | SyncState::Whole => true,
            SyncState::Syncing
            | SyncState::Minority
            | SyncState::Outdated
            | SyncState::Refused
            | SyncState::Divided
            | SyncState::Removed => false,
        }
    }

    /// Its name, as `/health/ready` has it.
    pub const fn name(self) -> &'static str {
        match self {
            SyncState::Alone => "alone",
            SyncState::Whole => "whole",
            SyncState::Syncing => "syncing",
            SyncState::Minority => "minority",
            SyncState::Outdated => "outdated",
            SyncState::Refused => "refused",
            SyncState::Divided => "divided",
            SyncState::Removed => "removed",
        }
    }
}

/// How the node that answers stands to the others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Standing {
    /// What it has.
    pub sync: SyncState,
    /// Why requests are not to be sent to it; none where they may be.
    pub not_ready: Option<String>,
    /// Other nodes that hold the same, as far as it knows.
    pub in_sync: usize,
    /// Other nodes.
    pub others: usize,
}

impl Standing {
    /// Of the only node.
    pub const fn alone() -> Standing {
        Standing {
            sync: SyncState::Alone,
            not_ready: None,
            in_sync: 0,
            others: 0,
        }
    }
}

/// An invitation.
pub struct Invitation {
    /// One line, for `signet serve --join`. Single-use, and a secret until it is used.
    pub token: String,
    /// Unix seconds.
    pub expires_at: u64,
}

/// How far a move of the store's rows is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MoveState {
    /// Rows are copied, while changes go on.
    Copying,
    /// What was changed meanwhile is copied.
    Following,
    /// All rows are compared.
    Comparing,
    /// Changes wait.
    Switching,
    /// The server works over the other store.
    Done,
    /// It works over the store that it had.
    Failed,
}

/// A move of the store's rows to another engine, while the server works.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct StoreMove {
    /// Where they go: a URL without a password.
    pub to: String,
    /// How far it is.
    pub state: MoveState,
    /// Rows that were copied or compared.
    pub done: u64,
    /// How many that will be.
    pub total: u64,
    /// Once it is done: rows that were copied and compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Once it is done: keys that were changed meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<u64>,
    /// Once it is done: for how long changes waited, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_ms: Option<u64>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Why it was not done.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NodesError {
    /// Not with this configuration: what to put right.
    #[error("{0}")]
    NotPossible(String),
    /// There is no such node.
    #[error("there is no such node")]
    NotFound,
    /// It cannot be done now.
    #[error("{0}")]
    Unavailable(String),
}

/// What another node said of its readers of the stream of revocations.
pub struct Confirmation {
    /// The node.
    pub node: NodeId,
    /// Its readers; none where it did not answer in time.
    pub readers: Option<Vec<Heard>>,
}

/// The nodes, from the one that answers.
pub trait Nodes: Send + Sync {
    /// The name of the one that answers.
    fn name(&self) -> &str;

    /// Has every other node that can be reached ask its readers of a realm's stream of revocations
    /// what they have in effect ([`crate::streams::Streams::ask`]).
    fn confirm<'a>(
        &'a self,
        realm: &'a RealmId,
        patience: Duration,
    ) -> Pin<Box<dyn Future<Output = Vec<Confirmation>> + Send + 'a>>;

    /// Passes on what a reader acknowledged to the node whose stream it reads. Whether that node
    /// answered that it has the stream.
    fn acknowledge<'a>(
        &'a self,
        node: &'a NodeId,
        word: &'a Acknowledged,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

    /// How the one that answers stands to the others.
    fn standing(&self) -> Standing;

    /// By how much its clock is ahead of the majority's, in milliseconds; negative where it is
    /// behind, zero where that is not known.
    fn clock_ahead_ms(&self) -> i64 {
        0
    }

    /// How long ago the one that answers knew what the others know: zero for a process by itself,
    /// none where that cannot be known.
    fn known_ago(&self) -> Option<Duration> {
        Some(Duration::ZERO)
    }

    /// All of them, this one included, by name.
    fn list(&self) -> NodesFuture<'_, Vec<Node>>;

    /// Lets one node join within `seconds`.
    fn invite(&self, seconds: u64) -> NodesFuture<'_, Invitation>;

    /// Removes a node for good: nothing that it signs counts any more.
    fn remove<'a>(&'a self, name: &'a NodeId) -> NodesFuture<'a, ()>;

    /// Begins to move the store's rows to another engine.
    fn move_store<'a>(&'a self, to: &'a str) -> NodesFuture<'a, StoreMove> {
        let _: &str = to;
        let why = "this process cannot exchange its store".to_owned();
        Box::pin(std::future::ready(Err(NodesError::NotPossible(why))))
    }

    /// The last move that was begun since the start.
    fn store_move(&self) -> Option<StoreMove> {
        None
    }
}

/// A process that is an installation by itself and takes no other in.
pub struct SingleNode {
    /// Its name.
    pub name: NodeId,
    /// Where its public listener is.
    pub url: String,
}

impl Nodes for SingleNode {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn confirm<'a>(
        &'a self,
        _: &'a RealmId,
        _: Duration,
    ) -> Pin<Box<dyn Future<Output = Vec<Confirmation>> + Send + 'a>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    fn acknowledge<'a>(
        &'a self,
        _: &'a NodeId,
        _: &'a Acknowledged,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(std::future::ready(false))
    }

    fn standing(&self) -> Standing {
        Standing::alone()
    }

    fn list(&self) -> NodesFuture<'_, Vec<Node>> {
        let node = Node::alone(&self.name, &self.url);
        Box::pin(std::future::ready(Ok(vec![node])))
    }

    fn invite(&self, _: u64) -> NodesFuture<'_, Invitation> {
        let why = "this server has no cluster listener: [cluster] listen in its configuration";
        let refused = Err(NodesError::NotPossible(why.to_owned()));
        Box::pin(std::future::ready(refused))
    }

    fn remove<'a>(&'a self, name: &'a NodeId) -> NodesFuture<'a, ()> {
        let refused = if *name == self.name {
            NodesError::NotPossible("it is the only node: stop it instead".to_owned())
        } else {
            NodesError::NotFound
        };
        Box::pin(std::future::ready(Err(refused)))
    }
}

impl Node {
    /// The node that answers, of which nothing is known but who it is.
    pub fn alone(name: &NodeId, url: &str) -> Node {
        Node {
            name: name.as_str().to_owned(),
            url: url.to_owned(),
            state: NodeState::Ready,
            role: None,
            is_self: true,
            lag_ms: Some(0),
            lag_deltas: Some(0),
            since: None,
            addresses: Vec::new(),
            zone: None,
            sent_bytes: None,
            received_bytes: None,
            acknowledged_ms: None,
            clock_skew_ms: None,
            compared_at: None,
            diverged: None,
            digest: None,
            figures: None,
        }
    }
}

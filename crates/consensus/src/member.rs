//! The nodes of a replicated store.
use signet_store::NodeId;
use std::{fmt, time::Duration};

/// A node of the replicated store, as the membership of the cluster names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Given out once by the membership and never to another node, not even to a later one of the
    /// same name: a node that comes back with an empty disk under its old number could vote twice
    /// in one election. From 1 on.
    pub number: u64,
    /// Its name, by which it is called.
    pub name: NodeId,
    /// Where it stands, if that is configured: voters are spread over zones.
    pub zone: Option<String>,
    /// The newest format of entries that it has said it reads; 0: it has said nothing yet.
    pub(crate) format: u8,
}

impl Member {
    /// As the membership gives it out. Which entries it reads it says itself.
    pub fn new(number: u64, name: NodeId, zone: Option<String>) -> Member {
        Member {
            number,
            name,
            zone,
            format: 0,
        }
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.number)
    }
}

/// What a node does for the replicated store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The store is this node's alone: there is nothing to agree on.
    Alone,
    /// Orders all changes.
    Leader,
    /// Keeps the log, and is counted in majorities.
    Voter,
    /// Keeps a copy, and forwards changes to the leader.
    Forwarder,
    /// A member whose part in the consensus has not begun, or is over.
    Stopped,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Alone => "alone",
            Role::Leader => "leader",
            Role::Voter => "voter",
            Role::Forwarder => "forwarder",
            Role::Stopped => "stopped",
        })
    }
}

/// Where a node stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// what it does
    pub role: Role,
    /// the leader's term; 0 while alone
    pub term: u64,
    /// the leader, where one is known
    pub leader: Option<NodeId>,
    /// How often another leader was seen since this node's part began.
    pub leader_changes: u64,
    /// Whether changes are possible, as far as this node knows: there is a leader, and it hears a
    /// majority.
    pub has_majority: bool,
    /// the last entry of this node's log
    pub last_log: u64,
    /// the last entry that is known to be on a majority
    pub committed: u64,
    /// the last entry whose changes are in this node's rows
    pub applied: u64,
    /// Entries that this node's rows are known to be behind.
    pub lag: u64,
    /// the members, and whether each votes
    pub members: Vec<(Member, bool)>,
    /// For the leader: since when each other member has not been heard.
    pub silent: Vec<(NodeId, Duration)>,
    /// the cluster's generation: another one after each recovery
    pub generation: u64,
    /// Why the others refuse this node, if they do.
    pub refused: Option<String>,
    /// Why nothing is decided that may happen once, if nothing is.
    pub barred: Option<String>,
}

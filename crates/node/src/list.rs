//! The nodes as an administrator sees them, from what the parts say of themselves.

use signet_cluster::{
    links::LinkState,
    member::Members,
    membership::{MemberState, Standing},
    spread::Status,
};
use signet_consensus::{self as consensus, Role};
use signet_realm::nodes::{Figures, Node, NodeRole, NodeState, StoreFigures, SyncState};
use signet_store::{NodeId, sqlite::DATABASE_FILE};
use std::path::Path;

/// What the parts say.
pub(crate) struct Seen<'a> {
    pub own: &'a NodeId,
    pub members: &'a Members,
    pub links: Vec<LinkState>,
    pub gossip: Status,
    pub detected: Vec<MemberState>,
    pub store: Option<consensus::Status>,
    /// Unix seconds.
    pub now: u64,
    /// This node's start is over.
    pub whole: bool,
    /// How it stands to the others.
    pub sync: SyncState,
    /// Why it is not ready.
    pub not_ready: Option<String>,
    /// Where its journal lies.
    pub journal: &'a Path,
}

/// Bytes of a store's files in a directory.
fn size_of(directory: &Path) -> Option<u64> {
    let size = |name: String| Some(directory.join(name).metadata().ok()?.len());
    let files = ["", "-wal", "-shm"].map(|end| size(format!("{DATABASE_FILE}{end}")));
    files.into_iter().flatten().reduce(|sum, size| sum + size)
}

/// All members, by name.
pub(crate) fn of(seen: &Seen<'_>) -> Vec<Node> {
    let Seen {
        own,
        members,
        links,
        gossip,
        detected,
        store,
        now,
        whole,
        sync,
        not_ready,
        journal,
    } = seen;
    let role = |name: &NodeId| {
        let store = store.as_ref().filter(|store| store.role != Role::Alone)?;
        let votes = store
            .members
            .iter()
            .find(|(member, _)| member.name == *name);
        Some(match votes {
            _ if store.leader.as_ref() == Some(name) => NodeRole::Leader,
            Some((_, true)) => NodeRole::Voter,
            Some((_, false)) | None => NodeRole::Forwarder,
        })
    };
    let replicated = store.as_ref().filter(|store| store.role != Role::Alone);
    let of_store = replicated.and_then(|store| {
        Some(StoreFigures {
            role: role(own)?,
            has_majority: store.has_majority,
            term: store.term,
            committed: store.committed,
            applied: store.applied,
            lag: store.lag,
            leader_changes: store.leader_changes,
        })
    });
    let all = members.all();
    let nodes = all.iter().map(|living| {
        let member = &living.member;
        let link = links.iter().find(|link| link.node == member.node);
        let connection = link.and_then(|link| link.connection.as_ref());
        let peer = gossip.peers.iter().find(|peer| peer.node == member.node);
        let detected = detected.iter().find(|state| state.node == member.node);
        let is_self = member.node == **own;
        // Over a hub only, where others say that it answers.
        let answers = detected.is_some_and(|state| state.standing != Standing::Unreachable);
        let heard = connection.is_some() || answers && peer.is_some_and(|peer| peer.relayed);
        let has_majority = store.as_ref().is_none_or(|store| store.has_majority) && *whole;
        let state = match peer {
            _ if is_self && has_majority => NodeState::Ready,
            _ if is_self => NodeState::Syncing,
            Some(peer) if heard && peer.in_sync => NodeState::Ready,
            _ if heard => NodeState::Syncing,
            _ => NodeState::Unreachable,
        };
        let millis =
            |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Node {
            state,
            role: role(&member.node),
            is_self,
            lag_ms: match is_self {
                true => Some(0),
                false => peer.map(|peer| millis(peer.lag)),
            },
            lag_deltas: match is_self {
                true => Some(0),
                false => peer.map(|peer| peer.lag_batches as u64),
            },
            since: detected.map(|state| state.since_ms / 1000),
            addresses: member.addresses.clone(),
            zone: (!member.zone.is_empty()).then(|| member.zone.clone()),
            sent_bytes: connection.map(|connection| connection.sent_bytes),
            received_bytes: connection.map(|connection| connection.received_bytes),
            acknowledged_ms: peer
                .and_then(|peer| peer.believed_after)
                // To the microsecond.
                .map(|after| (after.as_secs_f64() * 1e6).round() / 1e3),
            clock_skew_ms: connection.and_then(|connection| connection.clock_offset_ms),
            compared_at: peer
                .and_then(|peer| peer.last_anti_entropy)
                .map(|ago| now.saturating_sub(ago.as_secs())),
            diverged: match is_self {
                true => None,
                false => peer.map(|peer| heard && !peer.in_sync),
            },
            digest: is_self.then(|| format!("{:032x}", gossip.digest)),
            figures: is_self.then(|| Figures {
                sync: *sync,
                not_ready: not_ready.clone(),
                clock_ahead_ms: gossip.clock_ahead_ms(),
                clock_epochs: gossip.clock_epochs,
                staleness_ms: gossip.staleness.map(millis),
                batches_signed: gossip.signed,
                batches_verified: gossip.verified,
                batches_forged: gossip.forged,
                batches_unknown: gossip.unknown,
                batches_ahead: gossip.ahead,
                frames_malformed: gossip.malformed,
                batches_held: gossip.batches as u64,
                batches_held_bytes: gossip.bytes as u64,
                journal_bytes: size_of(journal),
                store: of_store.clone(),
            }),
            ..Node::alone(&member.node, &member.url)
        }
    });
    nodes.collect()
}

//! Figures of a node of several, as metrics: one row for each, from what `signet node status`
//! shows.
use signet_http::metrics::Family;
use signet_realm::nodes::{Figures, Node, NodeRole, NodeState, StoreFigures};

/// A metric of the node that answers.
struct OwnRow {
    name: &'static str,
    help: &'static str,
    grows: bool,
    value: fn(&Figures) -> Option<u64>,
}

/// A metric with a value for each other node; its label is `node`.
struct PeerRow {
    name: &'static str,
    help: &'static str,
    grows: bool,
    value: fn(&Node) -> Option<u64>,
}

const fn gauge(
    name: &'static str,
    help: &'static str,
    value: fn(&Figures) -> Option<u64>,
) -> OwnRow {
    let grows = false;
    OwnRow {
        name,
        help,
        grows,
        value,
    }
}

const fn counter(
    name: &'static str,
    help: &'static str,
    value: fn(&Figures) -> Option<u64>,
) -> OwnRow {
    let grows = true;
    OwnRow {
        name,
        help,
        grows,
        value,
    }
}

const fn of_peer(
    name: &'static str,
    help: &'static str,
    grows: bool,
    value: fn(&Node) -> Option<u64>,
) -> PeerRow {
    PeerRow {
        name,
        help,
        grows,
        value,
    }
}

fn store(figures: &Figures) -> Option<&StoreFigures> {
    figures.store.as_ref()
}

#[rustfmt::skip]
const OWN: &[OwnRow] = &[
    gauge("signet_cluster_ready", "1 while this node has what the others have.", |f| Some(f.sync.is_ready().into())),
    gauge("signet_cluster_staleness_ms", "For how long this node has not been in contact with a majority, milliseconds; nothing where it never was since it started.", |f| f.staleness_ms),
    counter("signet_cluster_batches_signed", "Batches of changes that this node signed.", |f| Some(f.batches_signed)),
    counter("signet_cluster_batches_verified", "Batches of other nodes whose signatures held.", |f| Some(f.batches_verified)),
    counter("signet_cluster_batches_forged", "Batches refused for a signature that does not hold.", |f| Some(f.batches_forged)),
    counter("signet_cluster_batches_unknown", "Batches refused for a signer who is no member.", |f| Some(f.batches_unknown)),
    counter("signet_cluster_batches_ahead", "Batches whose clock is further ahead than this node's follows; they are in effect.", |f| Some(f.batches_ahead)),
    counter("signet_cluster_frames_malformed", "Messages of other nodes that could not be read.", |f| Some(f.frames_malformed)),
    gauge("signet_cluster_batches_held", "Batches that this node holds.", |f| Some(f.batches_held)),
    gauge("signet_cluster_batches_held_bytes", "Their bytes.", |f| Some(f.batches_held_bytes)),
    gauge("signet_cluster_journal_bytes", "Bytes of the files of this node's journal.", |f| f.journal_bytes),
    gauge("signet_cluster_store_leader", "1 while this node is the leader of the replicated store.", |f| Some((store(f)?.role == NodeRole::Leader).into())),
    gauge("signet_cluster_store_voter", "1 while this node's copy of the replicated store counts for its majority.", |f| Some((store(f)?.role != NodeRole::Forwarder).into())),
    gauge("signet_cluster_store_majority", "1 while this node knows of a majority of the replicated store.", |f| Some(store(f)?.has_majority.into())),
    gauge("signet_cluster_store_term", "The term of the replicated store's consensus.", |f| Some(store(f)?.term)),
    gauge("signet_cluster_store_committed", "The last entry of its log that is known to be on a majority.", |f| Some(store(f)?.committed)),
    gauge("signet_cluster_store_lag", "Entries that this node's rows are known to be behind.", |f| Some(store(f)?.lag)),
    counter("signet_cluster_store_leader_changes", "How often another leader was seen since the start.", |f| Some(store(f)?.leader_changes)),
];

#[rustfmt::skip]
const PEERS: &[PeerRow] = &[
    of_peer("signet_cluster_peer_reachable", "1 while this other node answers.", false, |n| Some((n.state != NodeState::Unreachable).into())),
    of_peer("signet_cluster_peer_lag_ms", "How long the oldest change of this node waits for that one's acknowledgement, milliseconds.", false, |n| n.lag_ms),
    of_peer("signet_cluster_peer_lag_deltas", "Batches of changes of this node that that one has not acknowledged.", false, |n| n.lag_deltas),
    of_peer("signet_cluster_peer_diverged", "1 while the last comparison found a difference that is not yet mended.", false, |n| n.diverged.map(u64::from)),
    of_peer("signet_cluster_peer_compared_seconds", "When both were last compared and a difference mended, Unix seconds.", false, |n| n.compared_at),
    of_peer("signet_cluster_peer_clock_skew_ms", "By how much the clocks of both differ, whichever is ahead, milliseconds.", false, |n| n.clock_skew_ms.map(i64::unsigned_abs)),
    of_peer("signet_cluster_peer_sent_bytes", "Bytes sent over the connection that stands.", true, |n| n.sent_bytes),
    of_peer("signet_cluster_peer_received_bytes", "Bytes received over it.", true, |n| n.received_bytes),
];

fn family(name: &'static str, help: &'static str, grows: bool) -> Family {
    match grows {
        true => Family::counter(name, help),
        false => Family::gauge(name, help),
    }
}

/// The families of a node and the others, as it sees them; none of a node that is the only one.
pub fn families(nodes: &[Node]) -> Vec<Family> {
    let own = nodes.iter().find(|node| node.is_self);
    let Some(figures) = own.and_then(|own| own.figures.as_ref()) else {
        return Vec::new();
    };
    let mut families = Vec::with_capacity(OWN.len() + PEERS.len());
    for row in OWN {
        if let Some(value) = (row.value)(figures) {
            families.push(family(row.name, row.help, row.grows).value(value));
        }
    }
    for row in PEERS {
        let empty = family(row.name, row.help, row.grows);
        let peers = nodes.iter().filter(|node| !node.is_self);
        let values = peers.filter_map(|peer| Some((peer, (row.value)(peer)?)));
        families.push(values.fold(empty, |family, (peer, value)| {
            family.of([("node", peer.name.as_str())], value)
        }));
    }
    families
}

/// The table of the manual.
pub fn documented() -> String {
    let mut text = "| metric | what |\n|---|---|\n".to_owned();
    let own = OWN.iter().map(|row| (row.name, row.help, row.grows, ""));
    let peers = PEERS.iter();
    let peers = peers.map(|row| (row.name, row.help, row.grows, "{node}"));
    for (name, help, grows, labels) in own.chain(peers) {
        let total = if grows { "_total" } else { "" };
        text.push_str(&format!("| `{name}{total}{labels}` | {help} |\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_realm::nodes::SyncState;
    use signet_store::NodeId;

    #[test]
    fn a_node_of_several_has_its_figures_and_those_of_the_others_and_an_only_one_has_none() {
        let node = |name: &str| Node::alone(&NodeId::parse(name).expect("a name"), "https://a");
        let alone = node("one");
        assert!(families(std::slice::from_ref(&alone)).is_empty());
        let own = Node {
            figures: Some(Figures {
                sync: SyncState::Minority,
                store: Some(StoreFigures {
                    role: NodeRole::Voter,
                    has_majority: false,
                    term: 7,
                    committed: 40,
                    applied: 38,
                    lag: 2,
                    leader_changes: 3,
                }),
                batches_signed: 11,
                ..Figures::default()
            }),
            ..alone
        };
        let other = Node {
            is_self: false,
            lag_ms: Some(5),
            lag_deltas: Some(6),
            clock_skew_ms: Some(-12),
            sent_bytes: Some(100),
            ..node("two")
        };
        let text = signet_http::metrics::render(families(&[own, other]));
        for line in [
            "signet_cluster_ready 0",
            "signet_cluster_batches_signed_total 11",
            "signet_cluster_store_leader 0",
            "signet_cluster_store_voter 1",
            "signet_cluster_store_term 7",
            "signet_cluster_store_lag 2",
            "signet_cluster_store_leader_changes_total 3",
            "signet_cluster_peer_reachable{node=\"two\"} 1",
            "signet_cluster_peer_lag_deltas{node=\"two\"} 6",
            "signet_cluster_peer_clock_skew_ms{node=\"two\"} 12",
            "signet_cluster_peer_sent_bytes_total{node=\"two\"} 100",
        ] {
            assert!(text.lines().any(|said| said == line), "{line}\n{text}");
        }
        // What is not known is left out.
        assert!(!text.contains("signet_cluster_staleness_ms "));
    }

    #[test]
    fn the_manual_has_the_metrics() {
        let manual = include_str!("../../../docs/operations.md");
        assert!(manual.contains(&documented()), "{}", documented());
    }
}

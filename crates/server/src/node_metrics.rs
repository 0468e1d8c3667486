//! Figures of a node of several, as metrics: one row for each, from what `signet node status`
//! shows.
use signet_realm::nodes::{Figures, Node, NodeRole, NodeState, StoreFigures};
use signet_telemetry::metrics::{Family, Metric, table};

/// A metric of the node that answers.
struct OwnRow {
    metric: &'static Metric,
    value: fn(&Figures) -> Option<u64>,
}

/// A metric with a value for each other node; its label is `node`.
struct PeerRow {
    metric: &'static Metric,
    value: fn(&Node) -> Option<u64>,
}

const fn own(metric: &'static Metric, value: fn(&Figures) -> Option<u64>) -> OwnRow {
    OwnRow { metric, value }
}

const fn of_peer(metric: &'static Metric, value: fn(&Node) -> Option<u64>) -> PeerRow {
    PeerRow { metric, value }
}

fn store(figures: &Figures) -> Option<&StoreFigures> {
    figures.store.as_ref()
}

#[rustfmt::skip]
const OWN: &[OwnRow] = &[
    own(&table::CLUSTER_READY, |f| Some(f.sync.is_ready().into())),
    own(&table::CLUSTER_STALENESS, |f| f.staleness_ms),
    own(&table::CLUSTER_SIGNED, |f| Some(f.batches_signed)),
    own(&table::CLUSTER_VERIFIED, |f| Some(f.batches_verified)),
    own(&table::CLUSTER_FORGED, |f| Some(f.batches_forged)),
    own(&table::CLUSTER_UNKNOWN, |f| Some(f.batches_unknown)),
    own(&table::CLUSTER_AHEAD, |f| Some(f.batches_ahead)),
    own(&table::CLUSTER_MALFORMED, |f| Some(f.frames_malformed)),
    own(&table::CLUSTER_HELD, |f| Some(f.batches_held)),
    own(&table::CLUSTER_HELD_BYTES, |f| Some(f.batches_held_bytes)),
    own(&table::CLUSTER_JOURNAL, |f| f.journal_bytes),
    own(&table::CLUSTER_LEADER, |f| Some((store(f)?.role == NodeRole::Leader).into())),
    own(&table::CLUSTER_VOTER, |f| Some((store(f)?.role != NodeRole::Forwarder).into())),
    own(&table::CLUSTER_MAJORITY, |f| Some(store(f)?.has_majority.into())),
    own(&table::CLUSTER_TERM, |f| Some(store(f)?.term)),
    own(&table::CLUSTER_COMMITTED, |f| Some(store(f)?.committed)),
    own(&table::CLUSTER_LAG, |f| Some(store(f)?.lag)),
    own(&table::CLUSTER_LEADER_CHANGES, |f| Some(store(f)?.leader_changes)),
];

#[rustfmt::skip]
const PEERS: &[PeerRow] = &[
    of_peer(&table::PEER_REACHABLE, |n| Some((n.state != NodeState::Unreachable).into())),
    of_peer(&table::PEER_LAG, |n| n.lag_ms),
    of_peer(&table::PEER_LAG_DELTAS, |n| n.lag_deltas),
    of_peer(&table::PEER_DIVERGED, |n| n.diverged.map(u64::from)),
    of_peer(&table::PEER_COMPARED, |n| n.compared_at),
    of_peer(&table::PEER_SKEW, |n| n.clock_skew_ms.map(i64::unsigned_abs)),
    of_peer(&table::PEER_SENT, |n| n.sent_bytes),
    of_peer(&table::PEER_RECEIVED, |n| n.received_bytes),
];

/// The families of a node and the others, as it sees them; none of a node that is the only one.
pub fn families(nodes: &[Node]) -> Vec<Family> {
    let own = nodes.iter().find(|node| node.is_self);
    let Some(figures) = own.and_then(|own| own.figures.as_ref()) else {
        return Vec::new();
    };
    let mut families = Vec::with_capacity(OWN.len() + PEERS.len());
    for row in OWN {
        if let Some(value) = (row.value)(figures) {
            families.push(Family::new(row.metric).value(value));
        }
    }
    for row in PEERS {
        let empty = Family::new(row.metric);
        let peers = nodes.iter().filter(|node| !node.is_self);
        let values = peers.filter_map(|peer| Some((peer, (row.value)(peer)?)));
        families.push(values.fold(empty, |family, (peer, value)| {
            family.of([("node", peer.name.as_str())], value)
        }));
    }
    families
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
}

//! Who answers, as the nodes see each other.
use crate::node::{Echo, LONG, Node, block_on, eventually, name, nodes, stamp};
use signet_cluster::{
    links::Topology,
    membership::{MembershipOptions, Standing},
    transport::{Caller, Transport},
};
use std::{sync::Arc, time::Duration};

fn watched(count: usize, hubs: usize) -> Vec<Node> {
    let mut nodes = nodes(count, |at, member| member.hub = at < hubs);
    for node in &mut nodes {
        if hubs > 0 {
            node.options.topology = Topology::Hubs;
        }
        node.watch = Some(MembershipOptions {
            period: Duration::from_millis(100),
            answer: Duration::from_millis(40),
            suspicion: Duration::from_millis(300),
        });
        node.start();
    }
    nodes
}

/// How a node sees another one, and whether both are connected.
fn seen(node: &Node, other: &str) -> Option<(Standing, bool)> {
    let states = node.membership.as_ref().expect("started").states();
    let state = states.into_iter().find(|s| s.node == name(other))?;
    assert!(state.since_ms > 0);
    Some((state.standing, state.connected))
}

fn all_ready(nodes: &[Node]) -> bool {
    nodes.iter().all(|node| {
        let states = node.membership.as_ref().expect("started").states();
        let others = node.members.names().len() - 1;
        states.len() == others && states.iter().all(|s| s.standing == Standing::Ready)
    })
}

#[test]
fn members_are_ready_unreachable_when_they_die_and_ready_when_they_return() {
    let mut nodes = watched(3, 0);
    eventually("all are ready", || all_ready(&nodes));
    let since = |node: &Node| {
        let states = node.membership.as_ref().expect("started").states();
        states
            .iter()
            .find(|s| s.node == name("c"))
            .map(|s| s.since_ms)
    };
    let ready_since = since(&nodes[0]);
    nodes[2].stop();
    let gone = Some((Standing::Unreachable, false));
    eventually("c is gone", || {
        nodes[..2].iter().all(|node| seen(node, "c") == gone)
    });
    assert!(since(&nodes[0]) >= ready_since);
    assert_eq!(seen(&nodes[0], "b"), Some((Standing::Ready, true)));
    nodes[2].start();
    eventually("c is back", || all_ready(&nodes));
}

#[test]
fn what_is_fetched_shows_and_a_removed_member_does_not() {
    let nodes = watched(2, 0);
    eventually("all are ready", || all_ready(&nodes));
    let membership = nodes[0].membership.as_ref().expect("started");
    membership.set_syncing(&name("b"), true);
    assert_eq!(seen(&nodes[0], "b"), Some((Standing::Syncing, true)));
    membership.set_syncing(&name("b"), false);
    assert_eq!(seen(&nodes[0], "b"), Some((Standing::Ready, true)));
    let (fingerprint, removal) = nodes[0]
        .members
        .removal(&name("b"), stamp(9))
        .expect("there");
    nodes[0]
        .members
        .merge(fingerprint, removal)
        .expect("removed");
    assert_eq!(seen(&nodes[0], "b"), None);
}

#[test]
fn spokes_see_each_other_over_hubs_and_one_hub_may_die() {
    let mut nodes = watched(5, 2);
    eventually("all are ready", || all_ready(&nodes));
    assert_eq!(nodes[4].links().connected(), [name("a"), name("b")]);
    assert_eq!(seen(&nodes[4], "c"), Some((Standing::Ready, false)));
    nodes[0].stop();
    eventually("one hub is gone, and nobody else", || {
        nodes[1..].iter().all(|node| {
            let states = node.membership.as_ref().expect("started").states();
            states
                .iter()
                .all(|s| (s.standing == Standing::Unreachable) == (s.node == name("a")))
        })
    });
    // A spoke that dies is missed by those who have no connection to it, too.
    nodes[3].stop();
    eventually("d is gone", || {
        seen(&nodes[4], "d") == Some((Standing::Unreachable, false))
            && seen(&nodes[4], "c") == Some((Standing::Ready, false))
    });
    nodes[3].start();
    nodes[0].start();
    eventually("all are back", || all_ready(&nodes));
}

#[test]
fn garbage_of_a_member_changes_nothing() {
    let nodes = watched(2, 0);
    eventually("all are ready", || all_ready(&nodes));
    let lane = nodes[1].links().membership();
    let own = [&[2, 1, b'a'][..], &[0; 50]].concat();
    let other = [2, 1, b'z', 0, 0];
    let long = [&[255, 1, b'z'][..], &[7; 8000]].concat();
    for frame in [&[][..], &[0], &[0, 200], &[0, 1, b'A'], &own, &other, &long] {
        lane.send(&name("a"), frame.to_vec()).expect("sent");
    }
    // What is least urgent goes behind all of them, over the same connection.
    nodes[0].services.put(192, Arc::new(Echo));
    let behind = nodes[1].links().call(&name("a"), 192, vec![1], LONG);
    assert_eq!(block_on(behind), Ok(vec![1]));
    assert!(all_ready(&nodes));
}

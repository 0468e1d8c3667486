//! Who leads can write, and hears everybody who could be heard.
use crate::{
    executor::{Clock, NOBODY},
    world::{World, lock, name},
};
use signet_store::{Change, Key, Op, Store, StoreError, Table};
use std::sync::Arc;

/// Within so long the place is at another voter, in microseconds: the leader asks whom it may give
/// it to twice a second.
const BOUND_US: u64 = 5_000_000;

async fn inserts(world: &Arc<World>, node: u64, id: String) -> Result<(), StoreError> {
    let (store, _) = world.node(node).expect("lives");
    let now = world.unix(node);
    let change = Change::new(Op::Insert {
        key: Key::new(Table::Once, id),
        value: b"x".to_vec(),
        end: Some(1 << 40),
    });
    let done = world
        .clock
        .within(NOBODY, async move { store.commit(change, now).await });
    done.await.expect("nobody ends it").map(drop)
}

/// Until it is so, and no longer than the bound.
async fn until(world: &World, what: &str, is_so: impl Fn() -> bool) {
    let end = world.clock.now_us() + BOUND_US;
    while !is_so() {
        assert!(
            world.clock.now_us() < end,
            "{what}: {:#?}",
            world.statuses()
        );
        world.clock.sleep_us(50_000).await;
    }
}

/// Fills a node's disk and has it notice.
async fn fill(world: &Arc<World>, node: u64) {
    world.disk(node).expect("lives").fill(Some(0));
    let (store, _) = world.node(node).expect("lives");
    for n in 0..200 {
        if store.is_full() {
            return;
        }
        // What grows needs room sooner or later.
        let _ = inserts(
            world,
            node,
            format!("growth {node} {n} {}", "x".repeat(500)),
        )
        .await;
    }
    panic!("the disk of {node} is full, and it does not see it");
}

#[test]
fn a_leader_whose_disk_is_full_hands_its_place_to_a_voter_that_has_space() {
    for seed in 0..5 {
        let clock = Clock::default();
        let inner = clock.clone();
        clock.run(async move {
            let world = World::of(&inner, 3, seed).await;
            world.settle("it begins").await;
            let full = world.leader().expect("one");
            fill(&world, full).await;
            until(&world, "another one leads", || {
                world.leader().is_some_and(|leader| leader != full)
            })
            .await;
            // What grows is taken again.
            for node in world.numbers().into_iter().filter(|node| *node != full) {
                for n in 0..20 {
                    let done = inserts(&world, node, format!("{node} {n}")).await;
                    done.unwrap_or_else(|error| panic!("seed {seed}, {node}: {error}"));
                }
            }
            assert_ne!(world.leader(), Some(full), "seed {seed}");
            world.disk(full).expect("lives").fill(None);
            world.clock.sleep_us(6_000_000).await;
            world.settle("there is space again").await;
        });
    }
}

#[test]
fn somebody_leads_again_where_no_disk_had_space() {
    let clock = Clock::default();
    let inner = clock.clone();
    clock.run(async move {
        let world = World::of(&inner, 3, 3).await;
        world.settle("it begins").await;
        inserts(&world, 1, "code".to_owned()).await.expect("done");
        for node in world.numbers() {
            let (store, _) = world.node(node).expect("lives");
            world.disk(node).expect("lives").fill(Some(0));
            drop(store);
        }
        for n in 0..200 {
            let _ = inserts(&world, 1, format!("growth {n} {}", "x".repeat(500))).await;
        }
        world.clock.sleep_us(BOUND_US).await;
        let (store, _) = world.node(1).expect("lives");
        let now = world.unix(1);
        let taken = async move { store.take(&Key::new(Table::Once, "code"), now).await };
        let taken = world.clock.within(NOBODY, taken).await.expect("lives");
        assert!(matches!(
            taken,
            Ok(Some(_)) | Err(StoreError::Unavailable(_))
        ));
        for node in world.numbers() {
            world.disk(node).expect("lives").fill(None);
        }
        world.clock.sleep_us(6_000_000).await;
        world.settle("there is space again").await;
        inserts(&world, 2, "after".to_owned()).await.expect("done");
    });
}

#[test]
fn a_leader_that_does_not_hear_a_voter_hands_its_place_to_one_that_does() {
    for seed in 0..5 {
        let clock = Clock::default();
        let inner = clock.clone();
        clock.run(async move {
            let world = World::of(&inner, 3, seed).await;
            world.settle("it begins").await;
            let leader = world.leader().expect("one");
            let mut others = world.numbers().into_iter().filter(|other| *other != leader);
            let (one, other) = (others.next().expect("one"), others.next().expect("one"));
            lock(&world.faults)
                .cut
                .extend([(leader, one), (one, leader)]);
            // Three seconds until the leader asks whom the others hear.
            world.clock.sleep_us(3_000_000).await;
            until(&world, "the common neighbour leads", || {
                world.leader() == Some(other)
            })
            .await;
            for node in world.numbers() {
                let done = inserts(&world, node, node.to_string()).await;
                done.unwrap_or_else(|error| panic!("seed {seed}, {node}: {error}"));
            }
            // It stays there.
            world.clock.sleep_us(10_000_000).await;
            assert_eq!(world.leader(), Some(other), "seed {seed}");
        });
    }
}

#[test]
fn a_leader_that_is_removed_hands_its_place_over_first() {
    for seed in 0..5 {
        let clock = Clock::default();
        let inner = clock.clone();
        clock.run(async move {
            let world = World::of(&inner, 3, seed).await;
            world.settle("it begins").await;
            let leader = world.leader().expect("one");
            let by = *world.random.one_of(&world.numbers());
            let (store, group) = world.node(by).expect("lives");
            let gone = name(leader);
            let removing = async move { store.remove(&gone).await };
            let removed = world.clock.within(group, removing).await.expect("lives");
            removed.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert_ne!(world.leader(), Some(leader), "seed {seed}");
            world.crash(leader);
            world.take_away(leader);
            world.settle("two are left").await;
        });
    }
}

//! From one node to many, and back.
use crate::world::{World, name};
use signet_consensus::{ConsensusError, Role};
use signet_store::{Change, Key, Op, Store, StoreError, Table};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::time::Instant;

const NOW: u64 = 1_000;
/// For how long a change may be without an answer on a machine with much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

fn put(id: impl ToString, size: usize) -> Change {
    Change::new(Op::Put {
        key: Key::new(Table::User, id.to_string()),
        value: vec![7; size],
        end: None,
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_becomes_replicated_while_it_is_written_to_and_keeps_all_it_had() {
    let world = World::empty(1);
    let first = world.open(1);
    assert_eq!(first.status().role, Role::Alone);
    for id in 0..2_000 {
        let outcome = first.commit(put(id, 900), NOW).await.expect("answers");
        assert!(outcome.is_done());
    }
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let (first, stop) = (first.clone(), stop.clone());
        tokio::spawn(async move {
            let (mut count, mut longest, mut begun) = (0, Duration::ZERO, Instant::now());
            while !stop.load(SeqCst) {
                // A member that is asked while the leader changes may say that it does not know.
                // Asked again it answers: what it was asked to write is the same.
                match first.commit(put(format!("while {count}"), 10), NOW).await {
                    Ok(outcome) => assert!(outcome.is_done()),
                    Err(StoreError::Unavailable(_)) if begun.elapsed() < PATIENCE => continue,
                    Err(error) => panic!("after {:?}: {error}", begun.elapsed()),
                }
                longest = longest.max(begun.elapsed());
                begun = Instant::now();
                count += 1;
            }
            (count, longest)
        })
    };
    first
        .begin(world.member(1), world.wire(1))
        .await
        .expect("begins");
    assert!(matches!(
        first.begin(world.member(1), world.wire(1)).await,
        Err(ConsensusError::Replicated)
    ));
    world.grow(None).await;
    world.grow(None).await;
    world.complete(3).await;
    stop.store(true, SeqCst);
    let (count, longest) = writer.await.expect("ends");
    eprintln!("{count} changes meanwhile, the longest took {longest:?}");
    world.settle(3).await;
    // The rows came in parts, none of them large.
    assert!(world.bulk.load(SeqCst) > 8);
    for number in [2, 3] {
        let store = world.node(number);
        for id in [0, 999, 1_999] {
            let key = Key::new(Table::User, id.to_string());
            let row = store.get(&key, NOW).await.expect("answers");
            assert_eq!(row.expect("is there").value.len(), 900);
        }
        for id in 0..count {
            let key = Key::new(Table::User, format!("while {id}"));
            let row = store.get(&key, NOW).await.expect("answers");
            assert!(row.is_some(), "{id}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_newcomer_is_sent_no_more_than_a_part_at_a_time_and_the_leader_goes_on() {
    let world = World::empty(6);
    let first = world.open(1);
    for id in 0..3_000 {
        let outcome = first.commit(put(id, 4_000), NOW).await.expect("answers");
        assert!(outcome.is_done());
    }
    first
        .begin(world.member(1), world.wire(1))
        .await
        .expect("begins");
    world.slow_down(Duration::from_millis(150));
    let (newcomer, begun) = (world.grow(None).await, Instant::now());
    let (mut count, mut longest) = (0, Duration::ZERO);
    while newcomer.status().applied == 0 {
        let before = Instant::now();
        let change = put(format!("while {count}"), 10);
        assert!(first.commit(change, NOW).await.expect("answers").is_done());
        longest = longest.max(before.elapsed());
        count += 1;
        assert!(begun.elapsed().as_secs() < 60, "{:#?}", world.statuses());
    }
    let (took, most) = (begun.elapsed(), world.most_flying.load(SeqCst));
    eprintln!("{took:?}; {count} changes, the longest {longest:?}; at most {most} bytes under way");
    // Twelve million bytes of rows, in parts of half a million and a row.
    assert!(world.bulk.load(SeqCst) > 20);
    assert!(took > Duration::from_secs(3), "it was slow: {took:?}");
    assert!(most < 600_000, "{most}");
    assert!(count > 20, "{count}");
    assert!(longest < Duration::from_secs(2), "{longest:?}");
    world.slow_down(Duration::ZERO);
    world.settle(2).await;
    let last = Key::new(Table::User, format!("while {}", count - 1));
    assert!(newcomer.get(&last, NOW).await.expect("answers").is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_with_rows_of_its_own_joins_only_if_they_may_go() {
    let world = World::of(1, 2).await;
    let store = world.open(2);
    store.commit(put("own", 1), NOW).await.expect("answers");
    let refused = store.join(world.member(2), world.wire(2), false).await;
    assert!(matches!(refused, Err(ConsensusError::NotEmpty)));
    store
        .join(world.member(2), world.wire(2), true)
        .await
        .expect("joins");
    world.node(1).add(&world.member(2)).await.expect("is added");
    world.settle(2).await;
    let own = store.get(&Key::new(Table::User, "own"), NOW).await;
    assert_eq!(own.expect("answers"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_lost_its_disk_comes_back_under_a_new_number_and_is_rebuilt() {
    let world = World::of(3, 3).await;
    for id in 0..100 {
        let outcome = world.node(1).commit(put(id, 100), NOW).await;
        assert!(outcome.expect("answers").is_done());
    }
    let lost = (1..=3).find(|n| Some(*n) != world.leader()).expect("one");
    world.kill(lost);
    let any = world.node(world.leader().expect("one"));
    // Not under its old number, and not as long as it is a member.
    let mut again = world.member(9);
    again.name = name(lost);
    let refused = any.add(&again).await;
    assert!(
        matches!(refused, Err(ConsensusError::Members(_))),
        "{refused:?}"
    );
    any.remove(&name(lost)).await.expect("is removed");
    any.remove(&name(lost)).await.expect("is none already");
    let store = world.grow(None).await;
    world.settle(3).await;
    for id in 0..100 {
        let key = Key::new(Table::User, id.to_string());
        assert!(store.get(&key, NOW).await.expect("answers").is_some());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn voters_are_spread_over_zones_and_a_removed_leader_hands_over() {
    let world = World::empty(4);
    let first = world.open(1);
    let mut member = world.member(1);
    member.zone = Some("a".into());
    first.begin(member, world.wire(1)).await.expect("begins");
    for zone in ["a", "b", "c"] {
        world.grow(Some(zone)).await;
    }
    world.settle(4).await;
    let voting = |number: u64| {
        let members = world.node(number).status().members;
        let voting = members.into_iter().filter(|(_, votes)| *votes);
        let mut zones: Vec<_> = voting.filter_map(|(member, _)| member.zone).collect();
        zones.sort();
        zones
    };
    world
        .until("each zone has a voter", || voting(1) == ["a", "b", "c"])
        .await;
    // The leader itself is removed, by another node.
    let leader = world.leader().expect("one");
    let other = (1..=4).find(|n| *n != leader).expect("one");
    world
        .node(other)
        .remove(&name(leader))
        .await
        .expect("is removed");
    world.kill(leader);
    world.settle(3).await;
    let outcome = world.node(other).commit(put("after", 1), NOW).await;
    assert!(outcome.expect("answers").is_done());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_is_shortened_and_a_member_that_was_away_for_long_gets_a_snapshot() {
    let world = World::of(3, 5).await;
    let away = (1..=3).find(|n| Some(*n) != world.leader()).expect("one");
    let has = world.node(away).status().last_log;
    world.kill(away);
    let leader = world.node(world.leader().expect("one"));
    let before = world.bulk.load(SeqCst);
    // What it would need next is in no log any more. A log is shortened beside the changes, some
    // time after it is long enough.
    let shortened = || {
        world.all().iter().all(|store| {
            let left = store.engine().look_now(|look| look.log(0, has + 2));
            left.expect("reads").is_empty()
        })
    };
    let mut count = 0u64;
    while !shortened() {
        let tasks: Vec<_> = (0..8)
            .map(|task| {
                let leader = leader.clone();
                let id = format!("{} {task}", count % 50);
                tokio::spawn(async move { leader.commit(put(id, 10), NOW).await })
            })
            .collect();
        for task in tasks {
            // One that a busy machine does not answer in time makes the log no shorter.
            let _in_time = task.await.expect("ends").is_ok();
        }
        count += 1;
        assert!(count < 20_000, "{:#?}", world.statuses());
    }
    let back = world.restart(away).await;
    let last = leader.status().last_log;
    world
        .until("it has caught up", || back.status().applied >= last)
        .await;
    assert!(world.bulk.load(SeqCst) > before, "by a snapshot");
}

// The writer of the audit trail is a thread without timers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_needs_no_runtime_with_timers() {
    let world = World::empty(1);
    world.open(1);
    let first = world.node(1);
    first
        .begin(world.member(1), world.wire(1))
        .await
        .expect("begins");
    world.grow(None).await;
    for number in [1, 2] {
        let store = world.node(number);
        let caller = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build();
            runtime.expect("a runtime").block_on(async move {
                for id in 0..20 {
                    let done = store.commit(put(id, 10), NOW).await.expect("answers");
                    assert!(done.is_done());
                    let key = Key::new(Table::User, id.to_string());
                    assert!(store.get(&key, NOW).await.expect("answers").is_some());
                    let all = store.page(Table::User, None, 100, NOW).await;
                    assert_eq!(all.expect("answers").len(), id + 1);
                    store.take(&key, NOW).await.expect("answers");
                    store
                        .commit(put(id, 10), NOW)
                        .await
                        .expect("is written again");
                }
            });
        });
        tokio::task::spawn_blocking(|| caller.join().expect("does not panic"))
            .await
            .expect("ends");
        let store = world.node(number);
        for id in 0..20 {
            let key = Key::new(Table::User, id.to_string());
            store.take(&key, NOW).await.expect("answers");
        }
    }
}

//! What continues, and what does not, when nodes and connections fail.
use crate::world::{World, name};
use signet_consensus::{ReplicatedStore, Role};
use signet_store::{Change, Key, Op, Outcome, Store, StoreError, Table, moment::at_one_moment};
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, sleep};

const NOW: u64 = 1_000;

fn once(id: impl ToString) -> Key {
    Key::new(Table::Once, id.to_string())
}

fn insert(id: impl ToString) -> Change {
    Change::new(Op::Insert {
        key: once(id),
        value: b"x".to_vec(),
        end: Some(1 << 40),
    })
}

async fn done(store: &ReplicatedStore, id: impl ToString) {
    let outcome = store.commit(insert(id), NOW).await.expect("answers");
    assert!(outcome.is_done(), "{outcome:?}");
}

async fn is_there(store: &ReplicatedStore, id: impl ToString) -> bool {
    store.get(&once(id), NOW).await.expect("answers").is_some()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_the_leader_dies_calls_at_the_others_go_on_and_nothing_answered_is_lost() {
    let world = World::of(3, 1).await;
    let leader = world.leader().expect("one");
    let others: Vec<u64> = world
        .numbers()
        .into_iter()
        .filter(|n| *n != leader)
        .collect();
    for id in 0..50 {
        done(&world.node(1 + id % 3), id).await;
    }
    world.kill(leader);
    // Each waits for the election, and none hears that it cannot be done.
    for number in &others {
        done(&world.node(*number), format!("after {number}")).await;
    }
    for number in &others {
        for id in 0..50 {
            assert!(is_there(&world.node(*number), id).await, "{id}");
        }
        for other in &others {
            assert!(is_there(&world.node(*number), format!("after {other}")).await);
        }
    }
    // A code of the dead node is redeemed on another, once.
    let code = world.node(others[0]).take(&once(7), NOW).await;
    assert!(code.expect("answers").is_some());
    let again = world.node(others[1]).take(&once(7), NOW).await;
    assert!(again.expect("answers").is_none());
    let back = world.restart(leader).await;
    assert!(!is_there(&back, 7).await);
    done(&back, "back").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_minority_refuses_soon_then_at_once_and_recovers_by_itself() {
    let world = World::of(3, 2).await;
    let alone = world.leader().expect("one");
    let store = world.node(alone);
    done(&store, "before").await;
    world.isolate(alone);
    let begun = Instant::now();
    let refused = store.commit(insert("lost"), NOW).await;
    assert!(
        matches!(refused, Err(StoreError::Unavailable(_))),
        "{refused:?}"
    );
    let read = store.get(&once("before"), NOW).await;
    assert!(matches!(read, Err(StoreError::Unavailable(_))), "{read:?}");
    let waited = begun.elapsed();
    assert!(waited < Duration::from_secs(10), "{waited:?}");
    // Now it knows: thousands of callers cost nothing.
    let begun = Instant::now();
    for id in 0..1_000 {
        let refused = store.commit(insert(id), NOW).await;
        assert!(
            matches!(refused, Err(StoreError::Unavailable(_))),
            "{refused:?}"
        );
    }
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
    assert!(!store.status().has_majority);
    // Lists for people are read from what it has.
    let page = store
        .page(Table::Once, None, 9, NOW)
        .await
        .expect("answers");
    assert_eq!(page.len(), 1);
    // The others continue.
    let other = world
        .numbers()
        .into_iter()
        .find(|n| *n != alone)
        .expect("one");
    let other = world.node(other);
    done(&other, "meanwhile").await;
    world.heal();
    world
        .until("it has a majority again", || store.status().has_majority)
        .await;
    assert!(is_there(&store, "meanwhile").await);
    done(&store, "after").await;
    assert!(is_there(&other, "after").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_whose_answer_is_lost_is_not_done_twice() {
    let world = World::of(3, 3).await;
    let leader = world.leader().expect("one");
    let other = world
        .numbers()
        .into_iter()
        .find(|n| *n != leader)
        .expect("one");
    let store = world.node(other);
    done(&store, "counter").await;
    // Questions come, some of them twice, and answers are lost.
    world.disturb(150, 500, Duration::from_millis(2));
    let mut answered = 0;
    for id in 0..40 {
        match store.commit(insert(id), NOW).await {
            // Refused: only if an earlier copy of the same call was done, and counted again.
            Ok(outcome) => {
                assert!(outcome.is_done(), "{id}: {outcome:?}");
                answered += 1;
            }
            Err(StoreError::Unavailable(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert!(answered > 10, "{answered}");
    world.heal();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_way_cuts_leave_one_leader_whom_all_reach() {
    let world = World::of(3, 4).await;
    let leader = world.leader().expect("one");
    let other = world
        .numbers()
        .into_iter()
        .find(|n| *n != leader)
        .expect("one");
    for (from, to) in [(leader, other), (other, leader)] {
        world.cut(from, to);
        let end = Instant::now() + Duration::from_secs(15);
        // The third node reaches both.
        let third = 6 - leader - other;
        let mut id = 0;
        loop {
            id += 1;
            let change = insert(format!("{from} {id}"));
            if world.node(third).commit(change, NOW).await.is_ok() {
                break;
            }
            assert!(Instant::now() < end, "{:#?}", world.statuses());
        }
        world.heal();
        world.settle(3).await;
    }
    done(&world.node(1), "after").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_changes_share_entries_of_the_log() {
    let world = World::of(3, 5).await;
    let store = world.node(1);
    let before = store.status().last_log;
    let tasks: Vec<_> = (0..1_000)
        .map(|id| {
            let store = store.clone();
            tokio::spawn(async move { done(&store, id).await })
        })
        .collect();
    for task in tasks {
        task.await.expect("ends");
    }
    let entries = store.status().last_log - before;
    assert!(entries < 100, "{entries}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_of_a_state_table_sees_what_another_node_was_answered() {
    let world = World::of(3, 6).await;
    for id in 0..30 {
        let (one, other) = (world.node(1 + id % 3), world.node(1 + (id + 1) % 3));
        done(&one, id).await;
        assert!(is_there(&other, id).await, "{id}");
        let key = Key::new(Table::Session, id.to_string());
        let put = Change::new(Op::Put {
            key: key.clone(),
            value: b"s".to_vec(),
            end: Some(1 << 40),
        });
        let Outcome::Done { version } = one.commit(put, NOW).await.expect("answers") else {
            panic!("a put has no condition");
        };
        let row = other.get(&key, NOW).await.expect("answers");
        assert_eq!(row.expect("is there").version, version);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_of_one_moment_ask_once_and_see_what_was_answered_before_and_own_changes() {
    let world = World::of(3, 6).await;
    let leader = world.leader().expect("leads");
    let (one, other) = (world.node(leader % 3 + 1), world.node(leader));
    for id in 0..20 {
        done(&other, id).await;
        at_one_moment(async {
            assert!(is_there(&one, id).await, "{id}");
            // Nobody could be asked any more.
            world.isolate(leader % 3 + 1);
            for id in 0..=id {
                assert!(is_there(&one, id).await, "{id}");
            }
            world.heal();
            done(&one, format!("own {id}")).await;
            assert!(is_there(&one, format!("own {id}")).await, "{id}");
            // What was changed before the own change is seen, too.
            done(&other, format!("before {id}")).await;
            done(&one, format!("after {id}")).await;
            assert!(is_there(&one, format!("before {id}")).await, "{id}");
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_refuses_and_a_restart_has_everything() {
    let world = World::of(1, 8).await;
    let store = world.node(1);
    for id in 0..20 {
        done(&store, id).await;
    }
    world.kill(1);
    for _ in 0..2 {
        let refused = store.commit(insert("late"), NOW).await;
        assert!(
            matches!(refused, Err(StoreError::Unavailable(_))),
            "{refused:?}"
        );
    }
    drop(store);
    sleep(Duration::from_millis(50)).await;
    let store = world.open(1);
    let refused = store.commit(insert("early"), NOW).await;
    assert!(
        matches!(refused, Err(StoreError::Unavailable(_))),
        "{refused:?}"
    );
    assert_eq!(store.status().role, Role::Stopped);
    assert_eq!(store.me().expect("reads").expect("one").name, name(1));
    store.resume(world.wire(1)).await.expect("goes on");
    for id in 0..20 {
        assert!(is_there(&store, id).await, "{id}");
    }
    done(&store, "late").await;
}

/// The log of the engine without its last transaction, as a crash of the machine may leave it.
fn lose_last_transaction(directory: &std::path::Path) {
    let path = directory.join("signet.db-wal");
    let bytes = std::fs::read(&path).expect("reads");
    let ends = signet_store::sqlite::ends_of_transactions(&bytes);
    let end = ends[ends.len() - 2];
    std::fs::write(&path, &bytes[..end]).expect("writes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_a_crash_took_are_applied_again_from_the_log() {
    let world = World::of(1, 9).await;
    let store = world.node(1);
    for id in 0..20 {
        done(&store, id).await;
    }
    let applied = store.status().applied;
    let version = |store: Arc<ReplicatedStore>| async move {
        let row = store.engine().get(&once(19), NOW).await.expect("answers");
        row.map(|row| row.version)
    };
    let before = version(store.clone()).await;
    // The last transaction applied the last change, and was not flushed.
    let copy = world.path(2);
    std::fs::create_dir(&copy).expect("makes");
    for file in ["signet.db", "signet.db-wal"] {
        std::fs::copy(world.path(1).join(file), copy.join(file)).expect("copies");
    }
    lose_last_transaction(&copy);
    world.kill(1);
    let store = world.open(2);
    assert_eq!(version(store.clone()).await, None, "it was lost");
    store.resume(world.wire(1)).await.expect("goes on");
    world
        .until("it is applied again", || store.status().applied >= applied)
        .await;
    assert_eq!(version(store.clone()).await, before);
    assert!(is_there(&store, 19).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_is_shut_down_hands_its_place_to_another_voter() {
    let world = World::of(3, 10).await;
    let leader = world.leader().expect("one");
    let store = world.node(leader);
    let term = store.status().term;
    done(&store, "before").await;
    store.shut_down().await;
    let refused = store.commit(insert("late"), NOW).await;
    assert!(
        matches!(refused, Err(StoreError::Unavailable(_))),
        "{refused:?}"
    );
    world.kill(leader);
    for number in world.numbers() {
        assert!(is_there(&world.node(number), "before").await);
        done(&world.node(number), number).await;
        assert!(world.node(number).status().term > term);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_majority_the_registry_is_read_from_the_own_rows_and_nothing_else_is() {
    let world = World::of(3, 9).await;
    let alone = world.leader().expect("one");
    let store = world.node(alone);
    let client = |value: &str| Op::Put {
        key: Key::new(Table::Client, "client"),
        value: value.into(),
        end: None,
    };
    let row = async || {
        let row = store.get(&Key::new(Table::Client, "client"), NOW).await;
        row.expect("answers").expect("a row")
    };
    done(&store, "before").await;
    let written = store.commit(Change::new(client("old")), NOW).await;
    assert!(written.expect("answers").is_done());
    world.isolate(alone);
    // What this node had; and nothing is written by it.
    let known = row().await;
    assert_eq!(known.value, b"old");
    let read = store.get(&once("before"), NOW).await;
    assert!(matches!(read, Err(StoreError::Unavailable(_))), "{read:?}");
    let replace = Change::new(Op::Replace {
        key: Key::new(Table::Client, "client"),
        version: known.version,
        value: b"minority".to_vec(),
        end: None,
    });
    let refused = store.commit(replace, NOW).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))));
    // The others change it; as soon as this one has a majority it reads what they wrote.
    let mut numbers = world.numbers().into_iter();
    let other = world.node(numbers.find(|n| *n != alone).expect("one"));
    let written = other.commit(Change::new(client("new")), NOW).await;
    assert!(written.expect("answers").is_done());
    assert_eq!(row().await.value, b"old");
    world.heal();
    world
        .until("it has a majority again", || store.status().has_majority)
        .await;
    assert_eq!(row().await.value, b"new");
}

// Without this the others would wait for it as long as its connections hold.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_is_heard_and_hears_nobody_stops_speaking_and_is_replaced() {
    let world = World::of(3, 41).await;
    let deaf = world.leader().expect("one");
    let others: Vec<u64> = world.numbers().into_iter().filter(|n| *n != deaf).collect();
    done(&world.node(deaf), "before").await;
    for other in &others {
        world.cut(*other, deaf);
    }
    let begun = Instant::now();
    let at = world.node(others[0]);
    let mut tries = 0;
    while at
        .commit(insert(format!("try {tries}")), NOW)
        .await
        .is_err()
    {
        tries += 1;
        assert!(begun.elapsed().as_secs() < 30, "{:#?}", world.statuses());
    }
    let waited = begun.elapsed();
    eprintln!("changes waited {waited:?}, {tries} were refused");
    assert_eq!(
        world.node(deaf).status().role,
        Role::Leader,
        "it cannot know"
    );
    let refused = world.node(deaf).commit(insert("deaf"), NOW).await;
    assert!(refused.is_err(), "{refused:?}");
    // A second of silence, the lease, an election, and a call that had waited for the old one.
    assert!(waited < Duration::from_secs(8), "{waited:?}");

    world.heal();
    world
        .until("it follows", || {
            let status = world.node(deaf).status();
            status.role != Role::Leader && status.has_majority
        })
        .await;
    for number in world.numbers() {
        done(&world.node(number), format!("after {number}")).await;
        assert!(is_there(&world.node(number), "before").await);
    }
}

// There is nobody to take its place: it keeps asking, and leads again when one is back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_without_a_majority_speaks_again_after_a_while() {
    let world = World::of(3, 42).await;
    let leader = world.leader().expect("one");
    let others: Vec<u64> = world
        .numbers()
        .into_iter()
        .filter(|n| *n != leader)
        .collect();
    for other in &others {
        world.kill(*other);
    }
    sleep(Duration::from_secs(3)).await;
    // Where its log is shorter than the leader's, only that one can lead.
    world.restart(others[0]).await;
    let begun = Instant::now();
    while world
        .node(leader)
        .commit(insert("after"), NOW)
        .await
        .is_err()
    {
        assert!(begun.elapsed().as_secs() < 30, "{:#?}", world.statuses());
    }
    assert!(is_there(&world.node(others[0]), "after").await);
}

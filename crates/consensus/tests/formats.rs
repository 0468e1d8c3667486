//! Versions of the program that write entries of the log in different formats.
use crate::world::World;
use signet_consensus::{ReplicatedStore, Role};
use signet_store::{Change, Key, Op, Store, StoreError, Table};

const NOW: u64 = 1_000;

fn key(id: u64) -> Key {
    Key::new(Table::User, id.to_string())
}

async fn put(store: &ReplicatedStore, id: u64) -> Result<(), StoreError> {
    let put = Op::Put {
        key: key(id),
        value: b"x".to_vec(),
        end: None,
    };
    let outcome = store.commit(Change::new(put), NOW).await?;
    assert!(outcome.is_done());
    Ok(())
}

/// The formats of a node's proposals, in the order of its log.
fn formats(store: &ReplicatedStore) -> Vec<u8> {
    let log = store.engine().look_now(|look| look.log(0, u64::MAX));
    let log = log.expect("reads");
    // Behind the term, the leader, the index, that it is a proposal, and its length.
    let proposals = log.iter().filter(|(_, entry)| entry[24] == 1);
    proposals.map(|(_, entry)| entry[29]).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn versions_mix_and_one_that_meets_an_entry_of_a_later_one_stops_itself_and_says_why() {
    let world = World::empty(31);
    world.reads(1, 2);
    world.reads(2, 2);
    world.reads(3, 1);
    world.begin(3).await;
    for id in 0..9 {
        put(&world.node(1 + id % 3), id).await.expect("answers");
    }
    assert!(formats(&world.node(1)).iter().all(|format| *format == 1));

    // When the last one is of the later version, it is written.
    world.kill(3);
    world.reads(3, 2);
    world.restart(3).await;
    let mut id = 100;
    while formats(&world.node(1)).last() != Some(&2) {
        put(&world.node(1), id).await.expect("answers");
        id += 1;
        assert!(id < 100_000, "{:#?}", world.statuses());
    }

    // One goes back to the version before, and has missed something meanwhile.
    world.kill(3);
    for id in 200..210 {
        put(&world.node(1), id).await.expect("answers");
    }
    world.reads(3, 1);
    let old = world.restart(3).await;
    world
        .until("it stops", || old.status().role == Role::Stopped)
        .await;
    let why = old.status().refused.expect("it says why");
    assert!(why.contains("has format 2"), "{why}");
    assert!(why.contains("reads formats up to 1"), "{why}");
    let refused = put(&old, 300).await;
    assert!(
        matches!(&refused, Err(StoreError::Unavailable(said)) if *said == why),
        "{refused:?}"
    );
    let (_, behind) = why.split_once("entry ").expect("it names the entry");
    let at = behind.split(' ').next().and_then(|at| at.parse().ok());
    let at: u64 = at.expect("a number");
    let applied = old.status().applied;
    assert!(applied < at, "{applied}: nothing of entry {at} was applied");
    // The others are a majority.
    for id in 300..310 {
        put(&world.node(1 + id % 2), id).await.expect("answers");
    }

    // With the later version again it has everything.
    world.kill(3);
    world.reads(3, 2);
    let back = world.restart(3).await;
    for id in (0..9).chain(200..210).chain(300..310) {
        let row = back.get(&key(id), NOW).await.expect("answers");
        assert!(row.is_some(), "{id}");
    }
}

// What a node that cannot know better proposes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_takes_no_proposal_that_a_member_cannot_read() {
    let world = World::of(1, 32).await;
    let leader = world.node(1);
    put(&leader, 1).await.expect("answers");
    let last = leader.status().last_log;
    let name = crate::world::name(1);
    for format in [0u8, 2, 255] {
        let proposal = [&[format, 0][..], &[0; 16]].concat();
        let mut request = vec![1];
        request.extend(leader.status().generation.to_be_bytes());
        request.extend(1u64.to_be_bytes());
        request.push(8);
        request.extend(u32::try_from(proposal.len()).expect("short").to_be_bytes());
        request.extend(proposal);
        let reply = leader.handle(&name, request).await;
        let said = String::from_utf8_lossy(&reply);
        assert!(said.contains("not all members read"), "{said}");
    }
    assert_eq!(leader.status().last_log, last);
    put(&leader, 2).await.expect("answers");
}

//! The majority is lost for ever.
use crate::world::{Random, World, name, settings};
use signet_consensus::{ConsensusError, recover};
use signet_store::{Change, Key, Op, Store, Table, sqlite};

const NOW: u64 = 1_000;

fn put(id: impl ToString) -> Change {
    Change::new(Op::Put {
        key: Key::new(Table::User, id.to_string()),
        value: b"x".to_vec(),
        end: None,
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_survivor_goes_on_and_the_nodes_left_behind_are_refused_and_told_why() {
    let world = World::of(3, 1).await;
    for id in 0..30 {
        let outcome = world.node(1).commit(put(id), NOW).await;
        assert!(outcome.expect("answers").is_done());
    }
    let before = world.node(1).status().generation;
    for number in [1, 2, 3] {
        world.kill(number);
    }
    let random = Random::new(99);
    let options = sqlite::Options::default();
    let recovered = recover(&world.path(2), options, &|| random.next()).expect("recovers");
    assert_eq!(recovered.me.name, name(2));
    assert_eq!(recovered.members.len(), 3);
    assert_ne!(recovered.generation, before);
    let survivor = world.restart(2).await;
    world
        .until("it leads alone", || survivor.status().has_majority)
        .await;
    for id in 0..30 {
        let key = Key::new(Table::User, id.to_string());
        assert!(survivor.get(&key, NOW).await.expect("answers").is_some());
    }
    let outcome = survivor.commit(put("after"), NOW).await;
    assert!(outcome.expect("answers").is_done());
    // Both others come back by mistake: together they would have been a majority of the old.
    let old = world.restart(3).await;
    world
        .until("it is refused", || old.status().refused.is_some())
        .await;
    let said = old.status().refused.expect("said");
    assert!(said.contains("recovered without it"), "{said}");
    assert!(old.commit(put("stray"), NOW).await.is_err());
    assert_eq!(survivor.status().members.len(), 1);
    // It joins again, empty and under a new number.
    world.kill(3);
    world.grow(None).await;
    world.settle(2).await;
    let outcome = world.node(4).commit(put("four"), NOW).await;
    assert!(outcome.expect("answers").is_done());
}

#[test]
fn only_a_replicated_store_that_has_a_state_can_be_recovered() {
    let directory = tempfile::tempdir().expect("a directory");
    let options = sqlite::Options::default();
    let random = settings(1).random;
    let alone = recover(directory.path(), options, &|| random());
    assert!(matches!(alone, Err(ConsensusError::Alone)), "{alone:?}");
}

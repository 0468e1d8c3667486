//! What nobody may see, whoever dies when: half a change, a single-use value used twice, something
//! lost that was answered.
use crate::server::{self, Server};
use signet_cassandra::{CassandraStore, Fault, Options, Point};
use signet_store::{Change, Key, Op, Outcome, Row, Store, StoreError, Table};
use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};
use tokio::time::sleep;

const NOW: u64 = 1_000;
const END: Option<u64> = Some(2_000);

fn once(name: &str) -> Key {
    Key::new(Table::Once, name)
}

fn open(options: &Options) -> Arc<CassandraStore> {
    Arc::new(CassandraStore::open(options).expect("opens"))
}

/// A store that is struck the first time that it comes to a point.
fn struck_at(options: &Options, point: Point) -> (Arc<CassandraStore>, Arc<AtomicBool>) {
    let struck = Arc::new(AtomicBool::new(false));
    let seen = struck.clone();
    let fault = Fault::new(move |at| at == point && !seen.swap(true, SeqCst));
    let options = Options {
        fault: Some(fault),
        ..options.clone()
    };
    (open(&options), struck)
}

fn insert(key: Key, value: &str) -> Op {
    Op::Insert {
        key,
        value: value.into(),
        end: END,
    }
}

fn put(key: Key, value: &str) -> Op {
    Op::Put {
        key,
        value: value.into(),
        end: END,
    }
}

async fn value(store: &dyn Store, key: &Key) -> Option<String> {
    let row: Option<Row> = store.get(key, NOW).await.expect("answers");
    row.map(|row| String::from_utf8(row.value).expect("is text"))
}

#[tokio::test]
async fn whoever_dies_when_a_change_of_several_rows_is_seen_whole_or_not_at_all() {
    let options = server::shared().keyspace();
    let other = open(&options);
    for point in Point::ALL {
        let of = |name: &str| once(&format!("{point:?}/{name}"));
        let (home, made, gone) = (of("home"), of("made"), of("gone"));
        let before = other.commit(Change::new(put(gone.clone(), "x")), NOW).await;
        assert!(before.expect("answers").is_done());
        let (store, struck) = struck_at(&options, point);
        let change = Change::new(insert(home.clone(), "1"))
            .then(put(made.clone(), "1"))
            .then(Op::Delete { key: gone.clone() });
        let answer = store.commit(change, NOW).await;

        // At once, by another node, which asks for the rows in the order that a half would show in.
        let seen_gone = value(&*other, &gone).await.is_none();
        let seen_made = value(&*other, &made).await.is_some();
        let seen_home = value(&*other, &home).await.is_some();
        assert_eq!(
            (seen_gone, seen_made),
            (seen_home, seen_home),
            "{point:?}: {answer:?}"
        );
        match &answer {
            Ok(outcome) => assert_eq!(outcome.is_done(), seen_home, "{point:?}"),
            Err(StoreError::Unavailable(_)) => {}
            Err(error) => panic!("{point:?}: {error}"),
        }
        // A lost answer is looked up, and found.
        if matches!(
            point,
            Point::LockAnswer | Point::OtherLockAnswer | Point::DecideAnswer
        ) {
            assert!(
                matches!(answer, Ok(Outcome::Done { .. })),
                "{point:?}: {answer:?}"
            );
        }
        // What was left behind holds nobody up for long, and is not done later.
        let begun = Instant::now();
        let next = Change::new(put(home.clone(), "2"))
            .then(put(made.clone(), "2"))
            .then(put(gone.clone(), "2"));
        let next = other.commit(next, NOW).await.expect("answers");
        assert!(next.is_done(), "{point:?}");
        assert!(begun.elapsed() < Duration::from_secs(8), "{point:?}");
        drop(store);
        for key in [&home, &made, &gone] {
            assert_eq!(value(&*other, key).await.as_deref(), Some("2"), "{point:?}");
        }
        // A write of one row alone has other points.
        assert_eq!(
            struck.load(SeqCst),
            point != Point::WriteAnswer,
            "{point:?}"
        );
    }
}

#[tokio::test]
async fn the_lost_answer_to_a_write_of_one_row_is_looked_up() {
    let options = server::shared().keyspace();
    let (store, struck) = struck_at(&options, Point::WriteAnswer);
    let answer = store
        .commit(Change::new(insert(once("lost"), "1")), NOW)
        .await;
    assert!(answer.expect("answers").is_done());
    assert!(struck.load(SeqCst));
    let again = store
        .commit(Change::new(insert(once("lost"), "2")), NOW)
        .await;
    assert!(!again.expect("answers").is_done());
    assert_eq!(value(&*store, &once("lost")).await.as_deref(), Some("1"));
}

#[tokio::test]
async fn of_the_takers_on_two_nodes_one_gets_each_row() {
    let options = server::shared().keyspace();
    let stores = [open(&options), open(&options)];
    let won = Arc::new(AtomicUsize::new(0));
    let mut takers = Vec::new();
    for n in 0..20 {
        let key = once(&format!("code {n}"));
        let made = stores[n % 2].commit(Change::new(insert(key.clone(), "x")), NOW);
        assert!(made.await.expect("answers").is_done());
        for store in stores.iter().chain(&stores) {
            let (store, key, won) = (store.clone(), key.clone(), won.clone());
            takers.push(tokio::spawn(async move {
                let taken = store.take(&key, NOW).await.expect("answers");
                won.fetch_add(usize::from(taken.is_some()), SeqCst);
            }));
        }
    }
    for taker in takers {
        taker.await.expect("ends");
    }
    assert_eq!(won.load(SeqCst), 20);
}

#[tokio::test]
async fn changes_that_meet_head_on_all_end_and_leave_the_rows_alike() {
    let options = server::shared().keyspace();
    let stores = [open(&options), open(&options)];
    let (one, other) = (once("one"), once("other"));
    let mut racers = Vec::new();
    for n in 0..16 {
        let store = stores[n % 2].clone();
        let (first, then) = match n % 4 < 2 {
            true => (one.clone(), other.clone()),
            false => (other.clone(), one.clone()),
        };
        let value = n.to_string();
        racers.push(tokio::spawn(async move {
            let change = Change::new(put(first, &value)).then(put(then, &value));
            store.commit(change, NOW).await
        }));
    }
    for racer in racers {
        assert!(racer.await.expect("ends").expect("answers").is_done());
    }
    let left = value(&*stores[0], &one).await;
    assert!(left.is_some());
    assert_eq!(left, value(&*stores[1], &other).await);
}

/// Inserts single-use values from two stores at once, and keeps what was answered.
struct Load {
    stop: AtomicBool,
    /// Of each value how many inserts were done.
    done: Mutex<Vec<usize>>,
    unavailable: AtomicUsize,
}

async fn insert_until_stopped(stores: [Arc<CassandraStore>; 2], load: Arc<Load>) {
    let mut n = 0;
    while !load.stop.load(SeqCst) {
        let key = once(&format!("value {n}"));
        let [one, other] = &stores;
        let change = || Change::new(insert(key.clone(), "x")).then(put(once("last"), "x"));
        let (one, other) = tokio::join!(one.commit(change(), NOW), other.commit(change(), NOW));
        let mut done = 0;
        for answer in [one, other] {
            match answer {
                Ok(outcome) => done += usize::from(outcome.is_done()),
                Err(StoreError::Unavailable(_)) => {
                    load.unavailable.fetch_add(1, SeqCst);
                    sleep(Duration::from_millis(20)).await;
                }
                Err(error) => panic!("{error}"),
            }
        }
        load.done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(done);
        n += 1;
    }
}

#[tokio::test]
async fn a_server_that_is_killed_under_load_has_lost_nothing_and_done_nothing_twice() {
    let server = tokio::task::spawn_blocking(|| Server::start_new(1));
    let server = Arc::new(server.await.expect("starts"));
    let options = server.keyspace();
    let stores = [open(&options), open(&options)];
    let load = Arc::new(Load {
        stop: AtomicBool::new(false),
        done: Mutex::default(),
        unavailable: AtomicUsize::new(0),
    });
    let running = tokio::spawn(insert_until_stopped(stores.clone(), load.clone()));
    let count = || {
        load.done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    };
    let until = async |more: usize| {
        let from = count();
        while count() < from + more {
            sleep(Duration::from_millis(20)).await;
        }
    };
    until(30).await;
    let restarting = server.clone();
    let restart = tokio::task::spawn_blocking(move || {
        restarting.kill(0);
        restarting.start(0);
    });
    restart.await.expect("restarts");
    // The breaker closes by itself.
    let begun = Instant::now();
    while stores[0].check().await.is_err() || stores[1].check().await.is_err() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it stays away");
        sleep(Duration::from_millis(100)).await;
    }
    until(30).await;
    load.stop.store(true, SeqCst);
    running.await.expect("ends");

    assert!(load.unavailable.load(SeqCst) > 0, "it was never away");
    let done = load
        .done
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    let twice: Vec<usize> = (0..done.len()).filter(|n| done[*n] > 1).collect();
    assert_eq!(twice, Vec::<usize>::new(), "inserted twice");
    let mut lost = BTreeSet::new();
    for n in (0..done.len()).filter(|n| done[*n] == 1) {
        if value(&*stores[0], &once(&format!("value {n}")))
            .await
            .is_none()
        {
            lost.insert(n);
        }
    }
    assert_eq!(lost, BTreeSet::new(), "lost");
}

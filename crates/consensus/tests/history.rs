//! Single-use rows under faults: every caller's answer is checked against a store of one node
//! that does one call after another.
use crate::world::{World, name};
use signet_consensus::ReplicatedStore;
use signet_store::{Change, Key, Op, Outcome, Row, Store, StoreError, Table};
use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::{Instant, sleep};

const NOW: u64 = 1_000;

/// What was asked, in values: each value is written by one call only, so it stands for a version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asked {
    Insert(u64),
    /// From the value that was read to another one.
    Replace(u64, u64),
    Take,
    Get,
}

/// What was answered; the value that is there where it was refused, taken or read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Told {
    Done,
    There(Option<u64>),
    /// It may have been done, from the moment it was asked on, or never.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    asked: Asked,
    told: Told,
    from: Instant,
    to: Option<Instant>,
}

/// What a call does to a row that is there or not; None where it could not have been told so.
fn step(state: Option<u64>, event: &Event) -> Option<Option<u64>> {
    let (answer, next) = match event.asked {
        Asked::Insert(value) => match state {
            None => (Told::Done, Some(value)),
            there => (Told::There(there), there),
        },
        Asked::Replace(from, to) => match state {
            Some(there) if there == from => (Told::Done, Some(to)),
            there => (Told::There(there), there),
        },
        Asked::Take => (Told::There(state), None),
        Asked::Get => (Told::There(state), state),
    };
    (event.told == Told::Unknown || event.told == answer).then_some(next)
}

/// Whether there is an order of the calls, each between its question and its answer, that gives
/// these answers.
fn is_linearizable(events: &[Event]) -> bool {
    fn search(
        events: &[Event],
        done: u64,
        state: Option<u64>,
        seen: &mut HashSet<(u64, Option<u64>)>,
    ) -> bool {
        let left = |place: &usize| done & (1 << place) == 0;
        if (0..events.len())
            .filter(left)
            .all(|place| events[place].told == Told::Unknown)
        {
            return true;
        }
        if !seen.insert((done, state)) {
            return false;
        }
        // The next one began before any of the others had finished.
        let first_end = (0..events.len())
            .filter(left)
            .filter_map(|place| events[place].to)
            .min();
        (0..events.len()).filter(left).any(|place| {
            let event = &events[place];
            first_end.is_none_or(|end| event.from <= end)
                && step(state, event)
                    .is_some_and(|next| search(events, done | (1 << place), next, seen))
        })
    }
    assert!(events.len() <= 64, "{}", events.len());
    search(events, 0, None, &mut HashSet::new())
}

#[test]
fn the_checker_tells_histories_that_no_single_store_gives() {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let event = |asked, told, from, to: Option<u64>| Event {
        asked,
        told,
        from: at(from),
        to: to.map(at),
    };
    let insert = event(Asked::Insert(1), Told::Done, 0, Some(10));
    // Two racing inserts of which both are done.
    let second = event(Asked::Insert(2), Told::Done, 5, Some(15));
    assert!(!is_linearizable(&[insert, second]));
    let refused = event(Asked::Insert(2), Told::There(Some(1)), 5, Some(15));
    assert!(is_linearizable(&[insert, refused]));
    // A read that does not see what was answered before it.
    let stale = event(Asked::Get, Told::There(None), 11, Some(12));
    assert!(!is_linearizable(&[insert, stale]));
    let racing = event(Asked::Get, Told::There(None), 9, Some(12));
    assert!(is_linearizable(&[insert, racing]));
    // Two takers of one row; with a change of unknown end both are possible, once.
    let take = |from| event(Asked::Take, Told::There(Some(1)), from, Some(from + 1));
    assert!(!is_linearizable(&[insert, take(20), take(30)]));
    let unknown = event(Asked::Insert(1), Told::Unknown, 22, None);
    assert!(is_linearizable(&[insert, take(20), unknown, take(30)]));
    assert!(!is_linearizable(&[
        insert,
        take(20),
        unknown,
        take(30),
        take(40)
    ]));
    // Lost: it was answered, and is gone.
    let gone = event(Asked::Get, Told::There(None), 20, Some(21));
    assert!(!is_linearizable(&[insert, gone]));
}

fn value(row: &Row) -> u64 {
    u64::from_be_bytes(row.value.as_slice().try_into().expect("eight bytes"))
}

type Histories = Arc<Mutex<BTreeMap<u64, Vec<Event>>>>;

async fn ask(
    store: &ReplicatedStore,
    key: &Key,
    asked: Asked,
    version: u64,
) -> Result<Told, StoreError> {
    let bytes = |value: u64| value.to_be_bytes().to_vec();
    let end = Some(1 << 40);
    let op = match asked {
        Asked::Insert(value) => Op::Insert {
            key: key.clone(),
            value: bytes(value),
            end,
        },
        Asked::Replace(_, value) => Op::Replace {
            key: key.clone(),
            version,
            value: bytes(value),
            end,
        },
        Asked::Take => {
            let row = store.take(key, NOW).await?;
            return Ok(Told::There(row.as_ref().map(value)));
        }
        Asked::Get => {
            let row = store.get(key, NOW).await?;
            return Ok(Told::There(row.as_ref().map(value)));
        }
    };
    Ok(match store.commit(Change::new(op), NOW).await? {
        Outcome::Done { .. } => Told::Done,
        Outcome::Refused(row) => Told::There(row.as_ref().map(value)),
    })
}

fn record(histories: &Histories, number: u64, event: Event) {
    let mut histories = histories.lock().expect("is whole");
    histories.entry(number).or_default().push(event);
}

/// Calls one after another, at any node that is there, on keys that others use, too.
async fn client(world: Arc<World>, histories: Histories, seed: u64, end: Instant) {
    let random = crate::world::Random::new(seed);
    let mut keys = 0;
    while Instant::now() < end {
        // A few calls of a few clients on each key: they end on a key about when others begin.
        let group = seed % 6;
        let number = group * 1_000_000 + keys / 6;
        keys += 1;
        let key = Key::new(Table::Once, number.to_be_bytes());
        let nodes = world.numbers();
        let node = nodes[usize::try_from(random.below(nodes.len() as u64)).expect("few")];
        let Some(store) = world.store(&name(node)) else {
            continue;
        };
        let fresh = random.next();
        let mut version = 0;
        let asked = match random.below(10) {
            0..4 => Asked::Insert(fresh),
            4..6 => Asked::Take,
            6..8 => Asked::Get,
            _ => match store.get(&key, NOW).await {
                Ok(Some(row)) => {
                    version = row.version;
                    Asked::Replace(value(&row), fresh)
                }
                Ok(None) | Err(_) => continue,
            },
        };
        let from = Instant::now();
        let told = ask(&store, &key, asked, version).await;
        let to = Instant::now();
        let event = match (told, asked) {
            (Ok(told), _) => Event {
                asked,
                told,
                from,
                to: Some(to),
            },
            // A read that failed says nothing.
            (Err(StoreError::Unavailable(_)), Asked::Get) => continue,
            (Err(StoreError::Unavailable(_)), _) => Event {
                asked,
                told: Told::Unknown,
                from,
                to: None,
            },
            (Err(error), _) => panic!("{error}"),
        };
        record(&histories, number, event);
        sleep(Duration::from_millis(random.below(4))).await;
    }
}

/// One fault after another, as the seed says.
async fn trouble(world: Arc<World>, end: Instant) {
    while Instant::now() + Duration::from_millis(1500) < end {
        let random = &world.random;
        let numbers = world.numbers();
        let any = |random: &crate::world::Random| {
            numbers[usize::try_from(random.below(numbers.len() as u64)).expect("few")]
        };
        let (one, other) = (any(random), any(random));
        match random.below(6) {
            0 => world.isolate(one),
            1 => world.cut(one, other),
            2 => world.disturb(20, 100, Duration::from_millis(5)),
            3 => {
                if let Some(leader) = world.leader() {
                    world.isolate(leader);
                }
            }
            4 => {
                world.kill(one);
                sleep(Duration::from_millis(100 + random.below(900))).await;
                world.restart(one).await;
            }
            _ => {
                if let Some(leader) = world.leader() {
                    world.kill(leader);
                    sleep(Duration::from_millis(100 + random.below(900))).await;
                    world.restart(leader).await;
                }
            }
        }
        sleep(Duration::from_millis(300 + world.random.below(1200))).await;
        world.heal();
        sleep(Duration::from_millis(world.random.below(1500))).await;
    }
    world.heal();
}

/// Every row of every node.
async fn rows(store: &ReplicatedStore) -> Vec<(Key, Row)> {
    let mut rows = Vec::new();
    for table in Table::ALL {
        loop {
            let after = rows.last().map(|(key, _): &(Key, Row)| key.clone());
            let after = after.filter(|key| key.table == *table);
            let page = store.engine().page(*table, after.as_ref(), 500, NOW).await;
            let page = page.expect("answers");
            if page.is_empty() {
                break;
            }
            rows.extend(page);
        }
    }
    rows
}

async fn run(nodes: usize, seed: u64, seconds: u64) {
    eprintln!("seed {seed}");
    let world = World::of(nodes, seed).await;
    let histories = Histories::default();
    let end = Instant::now() + Duration::from_secs(seconds);
    let clients: Vec<_> = (0..18)
        .map(|client_seed| {
            let seed = world.random.next() / 6 * 6 + client_seed % 6;
            tokio::spawn(client(world.clone(), histories.clone(), seed, end))
        })
        .collect();
    trouble(world.clone(), end).await;
    for client in clients {
        client.await.expect("ends");
    }
    world.settle(nodes).await;
    // Whatever comes now is behind everything that was asked.
    let mut done = 0;
    let whole = std::mem::take(&mut *histories.lock().expect("is whole"));
    for (number, mut events) in whole {
        let key = Key::new(Table::Once, number.to_be_bytes());
        let node = world.node(world.numbers()[0]);
        let from = Instant::now();
        let row = node.get(&key, NOW).await.expect("answers");
        events.push(Event {
            asked: Asked::Get,
            told: Told::There(row.as_ref().map(value)),
            from,
            to: Some(Instant::now()),
        });
        done += events
            .iter()
            .filter(|event| event.told != Told::Unknown)
            .count();
        assert!(
            is_linearizable(&events),
            "seed {seed}, key {number}: {events:#?}"
        );
    }
    assert!(done > 200, "seed {seed}: only {done} calls were answered");
    let all = world.all();
    world
        .until("all have applied the same", || {
            let statuses = world.statuses();
            statuses
                .iter()
                .all(|status| status.applied == statuses[0].applied && status.lag == 0)
        })
        .await;
    let expected = rows(&all[0]).await;
    for store in &all[1..] {
        assert!(
            rows(store).await == expected,
            "seed {seed}: the rows differ"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_callers_are_told_is_what_one_store_would_tell_them_with_three_nodes() {
    for seed in [11, 12] {
        run(3, seed, 9).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_callers_are_told_is_what_one_store_would_tell_them_with_five_nodes() {
    run(5, 21, 9).await;
}

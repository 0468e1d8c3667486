//! Three servers of Apache Cassandra on this machine, under load: one is killed, and everything
//! goes on at the quorum of the other two; it comes back. Says what was done, and ends with 1 where
//! a single-use value was used twice or something that was answered is lost.
//!
//! `make test-engines` runs it. It takes about two minutes and 3 GB of memory.
#![allow(clippy::print_stdout, reason = "it is a program for people")]
#[path = "../tests/server.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod server;

use server::Server;
use signet_cassandra::CassandraStore;
use signet_store::{Change, Key, Op, Store, StoreError, Table};
use std::{
    process::ExitCode,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};
use tokio::time::sleep;

const NOW: u64 = 1_000;
const WORKERS: usize = 8;

/// What was answered.
#[derive(Default)]
struct Told {
    stop: AtomicBool,
    /// Values that were inserted, and how many inserts of each were done.
    done: Mutex<Vec<(String, usize)>>,
    unavailable: AtomicUsize,
    wrong: Mutex<Vec<StoreError>>,
}

impl Told {
    fn count(&self) -> usize {
        self.done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }
}

fn once(name: &str) -> Key {
    Key::new(Table::Once, name)
}

/// A single-use value is asked for by two nodes at once, together with a row of another partition.
async fn work(worker: usize, stores: Arc<Vec<CassandraStore>>, told: Arc<Told>) {
    let mut n = 0;
    while !told.stop.load(SeqCst) {
        let name = format!("{worker}/{n}");
        let change = || {
            let row = |key| (key, b"x".to_vec(), Some(2_000));
            let (key, value, end) = row(once(&name));
            let insert = Op::Insert { key, value, end };
            let (key, value, end) = row(once(&format!("beside {name}")));
            Change::new(insert).then(Op::Put { key, value, end })
        };
        let (one, other) = (&stores[n % stores.len()], &stores[(n + 1) % stores.len()]);
        let (one, other) = tokio::join!(one.commit(change(), NOW), other.commit(change(), NOW));
        let mut done = 0;
        for answer in [one, other] {
            match answer {
                Ok(outcome) => done += usize::from(outcome.is_done()),
                Err(StoreError::Unavailable(_)) => {
                    told.unavailable.fetch_add(1, SeqCst);
                }
                Err(error) => told
                    .wrong
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(error),
            }
        }
        told.done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((name, done));
        n += 1;
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    println!("three servers are started");
    let servers = tokio::task::spawn_blocking(|| Server::start_new(3)).await;
    let servers = Arc::new(servers.expect("they start"));
    let options = servers.keyspace();
    let open = || CassandraStore::open(&options).expect("opens");
    let stores = Arc::new(vec![open(), open(), open()]);
    let told = Arc::new(Told::default());
    let workers: Vec<_> = (0..WORKERS)
        .map(|worker| tokio::spawn(work(worker, stores.clone(), told.clone())))
        .collect();
    sleep(Duration::from_secs(10)).await;
    println!("with three: {} values in 10 s; one is killed", told.count());
    let killing = servers.clone();
    let killed = tokio::task::spawn_blocking(move || killing.kill(2));
    killed.await.expect("is killed");
    let (from, begun) = (told.count(), Instant::now());
    let mut longest = Duration::ZERO;
    let (mut last, mut since) = (from, begun);
    while begun.elapsed() < Duration::from_secs(20) {
        sleep(Duration::from_millis(20)).await;
        let count = told.count();
        if count != last {
            longest = longest.max(since.elapsed());
            (last, since) = (count, Instant::now());
        }
    }
    let with_two = told.count() - from;
    println!("with two: {with_two} values in 20 s, the longest pause {longest:.2?}");
    let starting = servers.clone();
    let started = tokio::task::spawn_blocking(move || starting.start(2));
    started.await.expect("starts again");
    sleep(Duration::from_secs(5)).await;
    told.stop.store(true, SeqCst);
    for worker in workers {
        worker.await.expect("ends");
    }
    let done = std::mem::take(&mut *told.done.lock().unwrap_or_else(PoisonError::into_inner));
    let (mut double, mut lost, mut half) = (0, 0, 0);
    for (name, count) in &done {
        double += usize::from(*count > 1);
        let row = stores[0].get(&once(name), NOW).await.expect("answers");
        let beside = once(&format!("beside {name}"));
        let beside = stores[1].get(&beside, NOW).await.expect("answers");
        lost += usize::from(*count == 1 && row.is_none());
        half += usize::from(row.is_some() != beside.is_some());
    }
    let wrong = std::mem::take(&mut *told.wrong.lock().unwrap_or_else(PoisonError::into_inner));
    println!(
        "{} values, {} answers of 'unavailable', double {double}, lost {lost}, half {half}, other errors {wrong:?}",
        done.len(),
        told.unavailable.load(SeqCst)
    );
    match with_two > 0 && double + lost + half == 0 && wrong.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

//! `kill -9` of a real process: what was answered `Done` is there afterwards, and nothing that
//! happens once happened twice.
//!
//! The child is this test program again, started with [`DIRECTORY`] set. It prints a line after
//! each answer; a line that the parent reads was therefore printed after its change was durable.
use signet_store::{Change, Key, Op, SqliteStore, Store, Table, sqlite::Options};
use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

const DIRECTORY: &str = "SIGNET_STORE_CRASH_DIRECTORY";
const NOW: u64 = 1_000;
const END: Option<u64> = Some(2_000);
const IDS: usize = 20_000;
const ROUNDS: usize = 6;

fn open(directory: &Path) -> SqliteStore {
    SqliteStore::open(directory, Options::default()).expect("opens")
}

fn code(id: usize) -> Key {
    Key::new(Table::Once, format!("code {id}"))
}

fn witness(id: usize) -> Key {
    Key::new(Table::UserGrant, format!("witness {id}"))
}

fn waiting(id: usize) -> Key {
    Key::new(Table::DeviceCode, format!("device {id}"))
}

/// Two racing uses of each code, and two racing takers of each device code.
async fn race(store: Arc<SqliteStore>, id: usize) {
    let uses = (0..2).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let change = Change::new(Op::Insert {
                key: code(id),
                value: b"used".to_vec(),
                end: END,
            })
            .then(Op::Put {
                key: witness(id),
                value: b"seen".to_vec(),
                end: END,
            });
            if store.commit(change, NOW).await.expect("answers").is_done() {
                say("used", id);
            }
            if store
                .take(&waiting(id), NOW)
                .await
                .expect("answers")
                .is_some()
            {
                say("taken", id);
            }
        })
    });
    for task in uses.collect::<Vec<_>>() {
        task.await.expect("ends");
    }
}

fn say(what: &str, id: usize) {
    // One write call for a line: a kill cannot cut it.
    let line = format!("\n{what} {id}\n");
    std::io::stdout()
        .write_all(line.as_bytes())
        .and_then(|()| std::io::stdout().flush())
        .expect("the parent listens");
}

/// Not a rule: the body of the child process. Without [`DIRECTORY`] it does nothing.
#[test]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let store = Arc::new(open(Path::new(&directory)));
        for first in (0..IDS).step_by(32) {
            let group: Vec<_> = (first..first + 32)
                .map(|id| tokio::spawn(race(store.clone(), id)))
                .collect();
            for task in group {
                task.await.expect("ends");
            }
        }
    });
}

/// A seed, from what the standard library has of randomness.
fn rand_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

/// How long a round runs before it is killed, in milliseconds: 150 to 400 (SplitMix64 of the seed
/// and the round).
fn pause(seed: u64, round: u64) -> u64 {
    let mut z = seed.wrapping_add((round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    150 + (z ^ (z >> 31)) % 250
}

#[test]
fn what_was_answered_survives_a_kill_and_nothing_happens_twice() {
    let directory = tempfile::tempdir().expect("a directory");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let store = open(directory.path());
        for first in (0..IDS).step_by(500) {
            let changes = (first..first + 500)
                .map(|id| {
                    Change::new(Op::Insert {
                        key: waiting(id),
                        value: b"approved".to_vec(),
                        end: END,
                    })
                })
                .collect();
            store.commit_each(changes, NOW).await.expect("answers");
        }
    });

    // When each round is killed is left to chance, which is the point; a run that failed is
    // repeated with its seed.
    let seed = match std::env::var("CRASH_SEED") {
        Ok(seed) => seed.parse().expect("CRASH_SEED is a number"),
        Err(_) => rand_seed(),
    };
    eprintln!("CRASH_SEED={seed}");
    let mut happened: HashMap<(String, usize), usize> = HashMap::new();
    for round in 0..ROUNDS {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["crash::child", "--exact", "--nocapture", "--test-threads=1"])
            .env(DIRECTORY, directory.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let output = child.stdout.take().expect("is piped");
        let reader = std::thread::spawn(move || {
            BufReader::new(output)
                .lines()
                .map_while(Result::ok)
                .filter_map(|line| {
                    let (what, id) = line.split_once(' ')?;
                    let known = matches!(what, "used" | "taken");
                    known.then_some((what.to_owned(), id.parse::<usize>().ok()?))
                })
                .collect::<Vec<_>>()
        });
        std::thread::sleep(Duration::from_millis(pause(seed, round as u64)));
        // SIGKILL on Unix.
        child.kill().expect("is ours to kill");
        child.wait().expect("ends");
        for event in reader.join().expect("reads") {
            *happened.entry(event).or_default() += 1;
        }
    }

    assert!(
        happened.len() > 100,
        "the child did too little: {}",
        happened.len()
    );
    for (event, times) in &happened {
        assert_eq!(*times, 1, "{event:?}");
    }
    runtime.block_on(async {
        let store = open(directory.path());
        for (what, id) in happened.keys() {
            let used = store.get(&code(*id), NOW).await.expect("answers");
            let left = store.get(&waiting(*id), NOW).await.expect("answers");
            assert!(what != "used" || used.is_some(), "code {id} was forgotten");
            assert!(
                what != "taken" || left.is_none(),
                "device code {id} came back"
            );
        }
        for id in 0..IDS {
            let used = store.get(&code(id), NOW).await.expect("answers").is_some();
            let seen = store
                .get(&witness(id), NOW)
                .await
                .expect("answers")
                .is_some();
            assert_eq!(used, seen, "change {id} was done by half");
        }
    });
}

//! A disk that is full for real: what ends something is still done, nothing is half done, a start
//! is possible, and everything is when there is space again.
//!
//! The disk is a small tmpfs where this process may mount one. Where it may not, the same is asked
//! of a child whose files are limited in size (RLIMIT_FSIZE): there is nothing to be given up then,
//! so only what holds without a reserve is asked.
use signet_store::{
    Change, Key, Op, Row, SqliteStore, Store, StoreError, Table,
    sqlite::{Options, RESERVE_FILE},
};
use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const NOW: u64 = 1_000;
const RESERVE: u64 = 2 << 20;

/// A file system of its own, unmounted at the end.
struct Disk(tempfile::TempDir);

impl Disk {
    fn mount(bytes: u64) -> Option<Disk> {
        let directory = tempfile::tempdir().expect("a directory");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"])
            .arg(directory.path())
            .stderr(Stdio::null())
            .status();
        mounted
            .is_ok_and(|status| status.success())
            .then_some(Disk(directory))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Takes all the space there is.
    fn fill(&self) -> PathBuf {
        let path = self.path().join("filler");
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .expect("a file");
        for size in [1 << 16, 1 << 12, 1] {
            while file.write_all(&vec![7; size]).is_ok() {}
        }
        path
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

fn open(directory: &Path) -> SqliteStore {
    let options = Options {
        reserve: RESERVE,
        ..Options::default()
    };
    SqliteStore::open(directory, options).expect("opens")
}

fn session(id: usize) -> Key {
    Key::new(Table::Session, format!("session {id}"))
}

fn revocation(id: usize) -> Key {
    Key::new(Table::Revocation, format!("revocation {id}"))
}

fn begins(id: usize) -> Change {
    Change::new(Op::Insert {
        key: session(id),
        value: vec![1; 4000],
        end: Some(NOW + 1_000),
    })
}

/// A logout: the session goes, a revocation and the record of it stay.
fn ends(id: usize) -> Change {
    Change::new(Op::Delete { key: session(id) })
        .then(Op::Put {
            key: revocation(id),
            value: b"revoked".to_vec(),
            end: Some(NOW + 1_000),
        })
        .then(Op::Put {
            key: Key::with_sort(Table::Audit, "pending:node-1", id.to_be_bytes()),
            value: vec![2; 300],
            end: None,
        })
}

async fn row(store: &SqliteStore, key: Key) -> Option<Row> {
    store.get(&key, NOW).await.expect("reads")
}

async fn begin_until_refused(store: &SqliteStore, from: usize) -> usize {
    for id in from.. {
        match store.commit(begins(id), NOW).await {
            Ok(outcome) => assert!(outcome.is_done()),
            Err(StoreError::Unavailable(_)) => {
                assert_eq!(row(store, session(id)).await, None, "told so, and done");
                return id;
            }
            Err(other) => panic!("{other}"),
        }
    }
    unreachable!()
}

#[tokio::test]
async fn on_a_full_disk_what_ends_something_is_done_and_a_start_is_possible() {
    let Some(disk) = Disk::mount(12 << 20) else {
        eprintln!("no file system can be mounted here: asked of limited files in its place");
        return limited_files();
    };
    let directory = disk.path().join("data");
    let store = open(&directory);
    for id in 0..200 {
        assert!(
            store
                .commit(begins(id), NOW)
                .await
                .expect("answers")
                .is_done()
        );
    }
    let length = || fs::metadata(directory.join(RESERVE_FILE)).map_or(0, |file| file.len());
    assert_eq!((length(), store.is_full()), (RESERVE, false));

    let filler = disk.fill();
    let refused = begin_until_refused(&store, 1_000).await;
    assert!(store.is_full());
    assert!(length() < RESERVE, "a part was given up");
    for id in 0..100 {
        assert!(
            store
                .commit(ends(id), NOW)
                .await
                .expect("answers")
                .is_done()
        );
        assert_eq!(row(&store, session(id)).await, None);
        assert!(row(&store, revocation(id)).await.is_some());
    }
    store.check().await.expect("is ready to end things");
    let nothing = store.commit(begins(refused), NOW).await;
    assert!(matches!(nothing, Err(StoreError::Unavailable(_))));
    assert!(row(&store, session(150)).await.is_some(), "reads go on");

    // As if somebody else had written what was given up, and then the process ended.
    disk.fill();
    store.close();
    drop(store);
    disk.fill();
    let store = open(&directory);
    assert!(store.is_full());
    assert!(row(&store, session(150)).await.is_some());
    for id in 0..100 {
        assert!(row(&store, revocation(id)).await.is_some());
    }
    assert!(
        store
            .commit(ends(150), NOW)
            .await
            .expect("answers")
            .is_done()
    );

    fs::remove_file(filler).expect("is removed");
    let started = Instant::now();
    while store.is_full() {
        assert!(started.elapsed() < Duration::from_secs(60));
        tokio::time::sleep(Duration::from_millis(200)).await;
        store.check().await.expect("is ready");
    }
    assert_eq!(length(), RESERVE);
    assert!(
        store
            .commit(begins(refused), NOW)
            .await
            .expect("answers")
            .is_done()
    );
}

const DIRECTORY: &str = "SIGNET_STORE_LIMITED_DIRECTORY";

/// Not a rule: the body of the child process. Without [`DIRECTORY`] it does nothing.
#[tokio::test]
async fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let store = open(Path::new(&directory));
    assert!(
        store
            .commit(begins(0), NOW)
            .await
            .expect("answers")
            .is_done()
    );
    let refused = begin_until_refused(&store, 1).await;
    assert!(refused > 1);
    for id in 0..refused {
        assert!(
            row(&store, session(id)).await.is_some(),
            "{id} was answered as done"
        );
    }
    // What the limit cannot take from the file that is there: rows that go, and reads.
    store.close();
    drop(store);
    let store = open(Path::new(&directory));
    for id in 0..refused {
        assert!(row(&store, session(id)).await.is_some(), "{id}");
    }
    // What the parent waits for.
    std::io::Write::write_all(&mut std::io::stdout(), b"\nheld\n").unwrap();
}

fn limited_files() {
    let directory = tempfile::tempdir().expect("a directory");
    // In blocks of 512 bytes; a write beyond is an error and no signal.
    let output = Command::new("sh")
        .args(["-c", "trap '' 25; ulimit -f 4096; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().expect("this program"))
        .args([
            "full_disk::child",
            "--exact",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(DIRECTORY, directory.path().join("data"))
        .output()
        .expect("starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("held"),
        "{said}{wrong}"
    );
}

#[test]
fn limited_files_are_no_reason_to_say_done() {
    limited_files();
}

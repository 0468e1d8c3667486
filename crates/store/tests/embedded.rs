//! What is asked of the embedded engine beyond the contract: files, locks, groups, bounds.
use signet_store::{
    Change, Key, Op, OpenError, SqliteStore, Store, StoreError, Table,
    sqlite::{DATABASE_FILE, LOCK_FILE, Options},
};
use std::{fs, path::Path, sync::Arc};

const NOW: u64 = 1_000;

fn open(directory: &Path) -> Result<SqliteStore, OpenError> {
    SqliteStore::open(directory, Options::default())
}

fn insert(id: &str) -> Change {
    Change::new(Op::Insert {
        key: Key::new(Table::Once, id),
        value: b"x".to_vec(),
        end: Some(2_000),
    })
}

#[tokio::test]
async fn what_was_written_is_there_after_a_restart_and_versions_go_on() {
    let directory = tempfile::tempdir().expect("a directory");
    let key = Key::new(Table::Once, "a");
    let store = open(directory.path()).expect("opens");
    store.commit(insert("a"), NOW).await.expect("answers");
    let before = store
        .get(&key, NOW)
        .await
        .expect("answers")
        .expect("is there");
    drop(store);
    let store = open(directory.path()).expect("opens again");
    assert_eq!(
        store.get(&key, NOW).await.expect("answers"),
        Some(before.clone())
    );
    store.take(&key, NOW).await.expect("answers");
    store.commit(insert("a"), NOW).await.expect("answers");
    let after = store
        .get(&key, NOW)
        .await
        .expect("answers")
        .expect("is there");
    assert!(after.version > before.version);
}

#[tokio::test]
async fn a_directory_belongs_to_one_store_at_a_time() {
    let directory = tempfile::tempdir().expect("a directory");
    let first = open(directory.path()).expect("opens");
    assert!(matches!(
        open(directory.path()),
        Err(OpenError::InUse { .. })
    ));
    first.close();
    let second = open(directory.path()).expect("opens after the first was closed");
    assert!(matches!(
        first.commit(insert("a"), NOW).await,
        Err(StoreError::Unavailable(_))
    ));
    assert!(matches!(
        first.get(&Key::new(Table::Once, "a"), NOW).await,
        Err(StoreError::Unavailable(_))
    ));
    second.check().await.expect("is healthy");
}

#[cfg(unix)]
#[tokio::test]
async fn no_file_can_be_read_by_others() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().expect("a directory");
    let directory = parent.path().join("data");
    let store = open(&directory).expect("opens");
    store.commit(insert("a"), NOW).await.expect("answers");
    let mode = |path: &Path| fs::metadata(path).expect("is there").permissions().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    let mut files = 0;
    for entry in fs::read_dir(&directory).expect("lists") {
        let path = entry.expect("lists").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        files += 1;
    }
    assert!(files >= 3, "the database, its log and the lock");
}

#[test]
fn what_is_no_database_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(DATABASE_FILE);
    let text = "a letter, not a database. ".repeat(100);
    fs::write(&path, &text).expect("writes");
    let error = open(directory.path()).err().expect("is refused");
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).expect("is there"), text);
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(DATABASE_FILE);
    let foreign = rusqlite::Connection::open(&path).expect("opens");
    foreign
        .execute_batch("CREATE TABLE song (name TEXT)")
        .expect("is SQL");
    drop(foreign);
    let bytes = fs::read(&path).expect("is there");
    let error = open(directory.path()).err().expect("is refused");
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
    assert_eq!(fs::read(&path).expect("is there"), bytes);
}

#[test]
fn a_newer_layout_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    drop(open(directory.path()).expect("opens"));
    let path = directory.path().join(DATABASE_FILE);
    let newer = rusqlite::Connection::open(&path).expect("opens");
    newer
        .pragma_update(None, "user_version", 99)
        .expect("is set");
    drop(newer);
    let error = open(directory.path()).err().expect("is refused");
    assert!(
        matches!(error, OpenError::Newer { found: 99, .. }),
        "{error}"
    );
}

#[tokio::test(flavor = "current_thread")]
async fn many_requests_share_a_flush() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = Arc::new(open(directory.path()).expect("opens"));
    let tasks: Vec<_> = (0..1_000)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { store.commit(insert(&number.to_string()), NOW).await })
        })
        .collect();
    for task in tasks {
        assert!(task.await.expect("ends").expect("answers").is_done());
    }
    let statistics = store.statistics();
    assert_eq!(statistics.jobs, 1_000);
    assert!(statistics.groups <= 500, "{statistics:?}");
}

#[tokio::test(flavor = "current_thread")]
async fn beyond_its_bound_the_queue_refuses_at_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let options = Options {
        write_queue: 4,
        ..Options::default()
    };
    let store = Arc::new(SqliteStore::open(directory.path(), options).expect("opens"));
    let tasks: Vec<_> = (0..5_000)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move {
                let id = number.to_string();
                match store.commit(insert(&id), NOW).await {
                    Ok(outcome) => {
                        assert!(outcome.is_done());
                        None
                    }
                    Err(StoreError::Unavailable(_)) => Some(id),
                    Err(error) => panic!("{error}"),
                }
            })
        })
        .collect();
    let mut refused = Vec::new();
    for task in tasks {
        refused.extend(task.await.expect("ends"));
    }
    assert!(!refused.is_empty());
    for id in refused {
        let row = store.get(&Key::new(Table::Once, id), NOW).await;
        assert_eq!(row.expect("answers"), None);
    }
}

#[tokio::test]
async fn what_was_queued_before_close_is_done() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = Arc::new(open(directory.path()).expect("opens"));
    let tasks: Vec<_> = (0..100)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move {
                (
                    number,
                    store.commit(insert(&format!("{number}")), NOW).await,
                )
            })
        })
        .collect();
    tokio::task::yield_now().await;
    let closing = store.clone();
    std::thread::spawn(move || closing.close())
        .join()
        .expect("closes");
    drop(store);
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.expect("ends"));
    }
    let store = open(directory.path()).expect("opens again");
    for (number, answer) in answers {
        let row = store
            .get(&Key::new(Table::Once, number.to_string()), NOW)
            .await;
        assert_eq!(row.expect("answers").is_some(), answer.is_ok(), "{number}");
    }
}

/// As a process leaves it that ends without closing: its id stays in the lock's file.
fn ended_without_closing(directory: &Path) {
    fs::write(directory.join(LOCK_FILE), "4711\n").expect("writes");
}

#[tokio::test]
async fn a_damaged_database_is_refused_after_an_unclean_end_and_again_until_it_is_replaced() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = open(directory.path()).expect("opens");
    for id in 0..500 {
        let change = insert(&format!("a longer name of a row {id}"));
        assert!(store.commit(change, NOW).await.expect("answers").is_done());
    }
    store.close();
    let lock = fs::read(directory.path().join(LOCK_FILE)).expect("reads");
    assert!(lock.is_empty(), "closed in order");
    ended_without_closing(directory.path());
    open(directory.path()).expect("whole, so it opens").close();

    let path = directory.path().join(DATABASE_FILE);
    let whole = fs::read(&path).expect("reads");
    let page = 4096;
    assert!(whole.len() > 6 * page);
    let mut found = 0;
    for number in 1..whole.len() / page {
        // The head of a page, and what its cells say of their lengths.
        let mut bytes = whole.clone();
        bytes[number * page..number * page + 64].fill(0xa5);
        fs::write(&path, &bytes).expect("writes");
        ended_without_closing(directory.path());
        for _ in 0..2 {
            match open(directory.path()) {
                Err(OpenError::Corrupt { reason, .. }) => {
                    assert!(!reason.is_empty());
                    found += 1;
                }
                Err(other) => panic!("page {number}: {other}"),
                Ok(store) => panic!("page {number} is damaged: {:?}", store.statistics()),
            }
        }
    }
    assert!(found > 0);
    fs::write(&path, &whole).expect("writes");
    open(directory.path()).expect("opens").close();
}

#[tokio::test]
async fn a_database_that_is_found_damaged_is_served_no_further() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = open(directory.path()).expect("opens");
    for id in 0..2_000 {
        let change = insert(&format!("a longer name of a row {id:05}"));
        assert!(store.commit(change, NOW).await.expect("answers").is_done());
    }
    store.close();
    let path = directory.path().join(DATABASE_FILE);
    let mut bytes = fs::read(&path).expect("reads");
    // Half of the pages behind the first six, which hold the layout and begin its tables.
    let page = 4096;
    for number in (7..bytes.len() / page).step_by(2) {
        bytes[number * page..number * page + 64].fill(0xa5);
    }
    fs::write(&path, &bytes).expect("writes");
    // Closed in order, so it is not checked.
    let store = open(directory.path()).expect("opens");
    let mut refused = false;
    for id in 0..2_000 {
        let key = Key::new(Table::Once, format!("a longer name of a row {id:05}"));
        match store.get(&key, NOW).await {
            Ok(row) => {
                assert!(!refused, "answered after it was found damaged");
                assert!(row.is_some(), "{id}");
            }
            Err(StoreError::Corrupt(_)) => refused = true,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(refused);
    let written = store.commit(insert("b"), NOW).await;
    assert!(matches!(written, Err(StoreError::Corrupt(_))));
    assert!(matches!(store.check().await, Err(StoreError::Corrupt(_))));
    store.close();
    // And the next start looks.
    assert!(matches!(
        open(directory.path()),
        Err(OpenError::Corrupt { .. })
    ));
}

/// Rows of these two tables are kept in memory when they were read.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_saw_a_change_sees_all_of_it_however_often_rows_are_read() {
    const CHANGES: u64 = 400;
    let directory = tempfile::tempdir().expect("a directory");
    let store = Arc::new(open(directory.path()).expect("opens"));
    let (person, session) = (
        Key::new(Table::User, "a"),
        Key::new(Table::Session, "of a person"),
    );
    let number = |row: Option<signet_store::Row>| {
        row.map_or(0, |row| {
            u64::from_be_bytes(row.value.try_into().expect("a number"))
        })
    };
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let (store, person, session) = (store.clone(), person.clone(), session.clone());
            tokio::spawn(async move {
                let mut last = 0;
                let mut reads = 0_u64;
                while last < CHANGES {
                    let first = number(store.get(&session, NOW).await.expect("answers"));
                    let second = number(store.get(&person, NOW).await.expect("answers"));
                    assert!(last <= first && first <= second, "{last} {first} {second}");
                    last = second;
                    reads += 1;
                    tokio::task::yield_now().await;
                }
                reads
            })
        })
        .collect();
    for written in 1..=CHANGES {
        let value = || written.to_be_bytes().to_vec();
        let change = Change::new(Op::Put {
            key: person.clone(),
            value: value(),
            end: None,
        });
        let change = change.then(Op::Put {
            key: session.clone(),
            value: value(),
            end: Some(2_000),
        });
        store.commit(change, NOW).await.expect("answers");
        // Answered: so it is what is there.
        let row = store.get(&person, NOW).await.expect("answers");
        assert_eq!(number(row), written);
    }
    for reader in readers {
        assert!(reader.await.expect("reads") > 0);
    }
    store.take(&person, NOW).await.expect("answers");
    let row = store.get(&person, NOW).await.expect("answers");
    assert_eq!(row, None);
    // Swept for everybody, whatever their clock says.
    store.sweep(2_000, 10).await.expect("answers");
    let row = store.get(&session, NOW).await.expect("answers");
    assert_eq!(row, None);
}

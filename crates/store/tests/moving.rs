//! Moving rows from one engine to another while they are used.
use crate::{
    postgres::{NOW, insert, once, open, prepared},
    server::shared,
};
use signet_store::{
    Change, Destination, Key, Layer, MovableStore, MoveError, MoveProgress, Op, Outcome, Phase,
    Row, Seal, SealFuture, SqliteStore, Store, StoreError, StoreFuture, Table, sqlite,
};
use std::{
    collections::BTreeSet,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

fn embedded(directory: &tempfile::TempDir) -> Arc<SqliteStore> {
    let store = SqliteStore::open(directory.path(), sqlite::Options::default());
    Arc::new(store.expect("opens"))
}

fn user(id: impl std::fmt::Display) -> Key {
    Key::new(Table::User, id.to_string())
}

fn put(key: Key, value: Vec<u8>) -> Change {
    let end = None;
    Change::new(Op::Put { key, value, end })
}

fn version(outcome: Result<Outcome, StoreError>) -> u64 {
    match outcome.expect("answers") {
        Outcome::Done { version } => version,
        refused => panic!("{refused:?}"),
    }
}

struct Load {
    counted: Vec<u64>,
    spent: BTreeSet<String>,
    longest: Duration,
}

/// Each of several callers counts in a row of its own, by the version that it was answered last and
/// no other, and spends a value each time.
async fn load(store: Arc<MovableStore>, caller: usize, stop: Arc<AtomicBool>) -> Load {
    let key = user(format!("counter {caller}"));
    let mut at = version(store.commit(put(key.clone(), vec![0; 8]), NOW).await);
    let (mut count, mut spent, mut longest) = (0u64, BTreeSet::new(), Duration::ZERO);
    while !stop.load(SeqCst) {
        count += 1;
        let begun = Instant::now();
        let replace = Change::new(Op::Replace {
            key: key.clone(),
            version: at,
            value: count.to_be_bytes().to_vec(),
            end: None,
        });
        at = version(store.commit(replace, NOW).await);
        let name = format!("{caller} {count}");
        version(store.commit(insert(once(&name), NOW + 3600), NOW).await);
        let again = store.commit(insert(once(&name), NOW + 3600), NOW).await;
        assert!(!again.expect("answers").is_done(), "{name} was spent twice");
        longest = longest.max(begun.elapsed());
        spent.insert(name);
        // What is read back afterwards, one by one, stays within some thousands.
        sleep(Duration::from_millis(1)).await;
    }
    Load {
        counted: vec![count],
        spent,
        longest,
    }
}

/// Leaves word.
struct Sealed;

impl Seal for Sealed {
    fn seal<'a>(&'a self, left: &'a dyn Store) -> SealFuture<'a> {
        Box::pin(async move {
            let word = put(user("moved"), b"to the other".to_vec());
            assert!(left.commit(word, NOW).await?.is_done());
            Ok(())
        })
    }
}

struct Refuses;

impl Seal for Refuses {
    fn seal<'a>(&'a self, _: &'a dyn Store) -> SealFuture<'a> {
        let why = "another server is there".to_owned();
        Box::pin(std::future::ready(Err(MoveError::Refused(why))))
    }
}

async fn moves(from: Arc<dyn Store>, to: Arc<dyn Destination>) {
    for some in 0..30u32 {
        let wide = |id: u32| put(user(1_000 + 100 * some + id), vec![id as u8; 200]);
        let done = from.commit_each((0..100).map(wide).collect(), NOW).await;
        assert!(done.expect("answers").iter().all(Outcome::is_done));
    }
    let gone = put(user("gone"), b"x".to_vec());
    version(from.commit(gone, NOW).await);
    let store = Arc::new(MovableStore::new(from.clone()));
    let stop = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = (0..6)
        .map(|caller| tokio::spawn(load(store.clone(), caller, stop.clone())))
        .collect();
    sleep(Duration::from_millis(200)).await;
    let gone = user("gone");
    let removed = store.take(&gone, NOW);
    let mut phases = BTreeSet::new();
    let mut told = |progress: MoveProgress| {
        assert!(progress.done <= progress.total, "{progress:?}");
        phases.insert(format!("{:?}", progress.phase));
    };
    let moving = store.move_to(to.clone(), &|| NOW, &mut told, &Sealed);
    let (moved, removed) = tokio::join!(moving, removed);
    let moved = moved.expect("moves");
    assert!(removed.expect("answers").is_some());
    assert!(moved.rows > 3_000 && moved.changed > 0, "{moved:?}");
    for phase in [
        Phase::Copying,
        Phase::Following,
        Phase::Comparing,
        Phase::Switching,
    ] {
        assert!(phases.contains(&format!("{phase:?}")), "{phases:?}");
    }
    sleep(Duration::from_millis(200)).await;
    stop.store(true, SeqCst);
    let (mut total, mut longest) = (0, Duration::ZERO);
    for (number, caller) in callers.into_iter().enumerate() {
        let load = caller.await.expect("ends");
        longest = longest.max(load.longest);
        let row = to.get(&user(format!("counter {number}")), NOW).await;
        let value = row.expect("answers").expect("is there").value;
        assert_eq!(value, load.counted[0].to_be_bytes(), "a count was lost");
        for name in &load.spent {
            let row = to.get(&once(name), NOW).await.expect("answers");
            assert!(row.is_some(), "{name} was lost");
        }
        total += load.spent.len();
    }
    eprintln!("{moved:?}; {total} changes, the longest of three took {longest:?}");
    assert!(moved.held < Duration::from_secs(1), "{moved:?}");
    // What was removed meanwhile is not there again, and who comes to the old store learns why.
    assert_eq!(to.get(&user("gone"), NOW).await.expect("answers"), None);
    assert!(
        from.get(&user("moved"), NOW)
            .await
            .expect("answers")
            .is_some()
    );
    assert_eq!(to.get(&user("moved"), NOW).await.expect("answers"), None);
}

#[tokio::test]
async fn rows_move_from_the_embedded_engine_to_the_distributed_one_while_they_change() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_, options) = prepared(shared());
    moves(embedded(&directory), Arc::new(open(&options))).await;
}

#[tokio::test]
async fn rows_move_from_the_distributed_engine_to_the_embedded_one_while_they_change() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_, options) = prepared(shared());
    moves(Arc::new(open(&options)), embedded(&directory)).await;
}

#[tokio::test]
async fn versions_go_on_behind_those_that_were_copied() {
    let (one, two) = (
        tempfile::tempdir().expect("a directory"),
        tempfile::tempdir().expect("a directory"),
    );
    let (from, to) = (embedded(&one), embedded(&two));
    let mut last = 0;
    for id in 0..5 {
        last = version(from.commit(put(user(id), Vec::new()), NOW).await);
    }
    // The highest is of a row that is gone: its number must not come again.
    from.take(&user(4), NOW).await.expect("answers");
    let rows = signet_store::copy(&*from, &*to, NOW, &mut |_| {}).await;
    assert_eq!(rows.expect("copies"), 4);
    assert!(version(to.commit(put(user(4), Vec::new()), NOW).await) > last);
    let again = signet_store::copy(&*from, &*to, NOW, &mut |_| {}).await;
    assert!(matches!(again, Err(MoveError::NotEmpty)), "{again:?}");
}

#[tokio::test]
async fn a_move_that_fails_leaves_the_store_as_it_was() {
    let (one, two) = (
        tempfile::tempdir().expect("a directory"),
        tempfile::tempdir().expect("a directory"),
    );
    let store = MovableStore::new(embedded(&one));
    version(store.commit(put(user(1), Vec::new()), NOW).await);
    let to = embedded(&two);
    let failed = store
        .move_to(to.clone(), &|| NOW, &mut |_| {}, &Refuses)
        .await;
    assert!(matches!(failed, Err(MoveError::Refused(_))));
    version(store.commit(put(user(2), Vec::new()), NOW).await);
    assert_eq!(to.get(&user(2), NOW).await.expect("answers"), None);
    let again = store.move_to(to, &|| NOW, &mut |_| {}, &Sealed).await;
    assert!(matches!(again, Err(MoveError::NotEmpty)));
    assert!(store.get(&user(2), NOW).await.expect("answers").is_some());
}

/// A store whose change of one row is under way from when all rows were compared until it is let
/// go, with many changes beside it, so that what was changed is copied once more meanwhile.
struct Slow {
    store: Arc<SqliteStore>,
    movable: OnceLock<Arc<MovableStore>>,
    /// Reads of the last table: counted, copied, compared.
    reads: AtomicU32,
    let_go: Notify,
}

impl Layer for Slow {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        Box::pin(async move {
            if *change.first.key() == user("slow") {
                self.let_go.notified().await;
            }
            self.store.commit(change, now).await
        })
    }

    fn page<'a>(
        &'a self,
        table: Table,
        after: Option<&'a Key>,
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        Box::pin(async move {
            let last = Table::ALL.last() == Some(&table);
            if last && self.reads.fetch_add(1, SeqCst) == 2 {
                let movable = self.movable.get().expect("is set").clone();
                let slow = movable.clone();
                tokio::spawn(async move {
                    let later = put(user("slow"), b"later".to_vec());
                    assert!(slow.commit(later, NOW).await.expect("answers").is_done());
                });
                let wide = (0..1_000).map(|id| put(user(id), Vec::new())).collect();
                movable.commit_each(wide, NOW).await?;
            }
            self.store.page(table, after, limit, now).await
        })
    }
}

#[tokio::test]
async fn a_change_that_is_under_way_while_its_row_is_copied_is_copied_again() {
    let (one, two) = (
        tempfile::tempdir().expect("a directory"),
        tempfile::tempdir().expect("a directory"),
    );
    let slow = Arc::new(Slow {
        store: embedded(&one),
        movable: OnceLock::new(),
        reads: AtomicU32::new(0),
        let_go: Notify::new(),
    });
    let to = embedded(&two);
    let before = put(user("slow"), b"before".to_vec());
    version(slow.store.commit(before, NOW).await);
    let store = Arc::new(MovableStore::new(slow.clone()));
    assert!(slow.movable.set(store.clone()).is_ok());
    let mut told = |progress: MoveProgress| {
        // What was noted by now was copied; the slow change ends after that.
        if progress.phase == Phase::Switching {
            slow.let_go.notify_one();
        }
    };
    let moved = store
        .move_to(to.clone(), &|| NOW, &mut told, &Sealed)
        .await
        .expect("moves");
    assert!(moved.changed >= 1_000, "{moved:?}");
    let row = to.get(&user("slow"), NOW).await.expect("answers");
    assert_eq!(row.expect("is there").value, b"later", "a change was lost");
}

//! What every engine must do, whatever it is made of. A new engine adds one line at the end of this
//! file and passes.
use signet_store::{
    Change, Key, MemoryStore, Op, Outcome, RealmId, RealmStore, Row, SqliteStore, Store,
    StoreError, Table, sqlite,
};
use std::sync::Arc;

const NOW: u64 = 1_000;
const END: Option<u64> = Some(2_000);

fn once(id: &str) -> Key {
    Key::new(Table::Once, id)
}

fn insert(key: Key, value: &str) -> Change {
    Change::new(Op::Insert {
        key,
        value: value.into(),
        end: END,
    })
}

fn put(key: Key, value: &str) -> Op {
    Op::Put {
        key,
        value: value.into(),
        end: END,
    }
}

fn replace(key: Key, version: u64, value: &str) -> Change {
    Change::new(Op::Replace {
        key,
        version,
        value: value.into(),
        end: END,
    })
}

async fn done(store: &dyn Store, change: Change) -> u64 {
    match store.commit(change, NOW).await.expect("answers") {
        Outcome::Done { version } => version,
        refused => panic!("{refused:?}"),
    }
}

async fn value(store: &dyn Store, key: &Key) -> Option<String> {
    let row = store.get(key, NOW).await.expect("answers")?;
    Some(String::from_utf8(row.value).expect("is text"))
}

async fn of_a_hundred_racing_inserts_one_is_done(store: Arc<dyn Store>) {
    let racers: Vec<_> = (0..100)
        .map(|racer| {
            let store = store.clone();
            tokio::spawn(async move {
                let change = insert(once("code"), &racer.to_string());
                store.commit(change, NOW).await.expect("answers")
            })
        })
        .collect();
    let mut winners = Vec::new();
    let mut told = Vec::new();
    for (number, racer) in racers.into_iter().enumerate() {
        match racer.await.expect("ends") {
            Outcome::Done { .. } => winners.push(number.to_string()),
            Outcome::Refused(row) => told.push(row.expect("the winner's row").value),
        }
    }
    assert_eq!(winners.len(), 1);
    assert_eq!(told, vec![winners[0].clone().into_bytes(); 99]);
    assert_eq!(value(&*store, &once("code")).await, Some(winners.remove(0)));
}

async fn of_a_hundred_racing_replacements_one_is_done(store: Arc<dyn Store>) {
    let key = Key::new(Table::Family, "family");
    let version = done(&*store, insert(key.clone(), "1")).await;
    let racers: Vec<_> = (0..100)
        .map(|_| {
            let (store, key) = (store.clone(), key.clone());
            tokio::spawn(async move { store.commit(replace(key, version, "2"), NOW).await })
        })
        .collect();
    let mut winners = 0;
    for racer in racers {
        winners += usize::from(racer.await.expect("ends").expect("answers").is_done());
    }
    assert_eq!(winners, 1);
}

async fn of_a_hundred_racing_takers_one_gets_the_row(store: Arc<dyn Store>) {
    let key = Key::new(Table::DeviceCode, "device");
    done(&*store, insert(key.clone(), "approved")).await;
    let racers: Vec<_> = (0..100)
        .map(|_| {
            let (store, key) = (store.clone(), key.clone());
            tokio::spawn(async move { store.take(&key, NOW).await.expect("answers") })
        })
        .collect();
    let mut rows = Vec::new();
    for racer in racers {
        rows.extend(racer.await.expect("ends"));
    }
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].value, b"approved");
    assert_eq!(value(&*store, &key).await, None);
}

async fn replace_and_remove_need_the_version_that_was_read(store: Arc<dyn Store>) {
    let key = Key::new(Table::Client, "client");
    let missing = store.commit(replace(key.clone(), 1, "x"), NOW).await;
    assert_eq!(missing.expect("answers"), Outcome::Refused(None));

    let first = done(&*store, insert(key.clone(), "1")).await;
    let second = done(&*store, replace(key.clone(), first, "2")).await;
    assert_ne!(first, second);
    let row = Row {
        value: b"2".to_vec(),
        version: second,
        end: END,
    };
    let late = store.commit(replace(key.clone(), first, "lost"), NOW).await;
    assert_eq!(late.expect("answers"), Outcome::Refused(Some(row.clone())));
    let late = store
        .commit(
            Change::new(Op::Remove {
                key: key.clone(),
                version: first,
            }),
            NOW,
        )
        .await;
    assert_eq!(late.expect("answers"), Outcome::Refused(Some(row)));
    let removal = Op::Remove {
        key: key.clone(),
        version: second,
    };
    assert_eq!(done(&*store, Change::new(removal)).await, 0);
    assert_eq!(value(&*store, &key).await, None);
}

async fn versions_never_repeat_for_a_key(store: Arc<dyn Store>) {
    let key = Key::new(Table::Setting, "key");
    let mut seen = Vec::new();
    for _ in 0..5 {
        seen.push(done(&*store, insert(key.clone(), "same")).await);
        seen.push(done(&*store, Change::new(put(key.clone(), "same"))).await);
        let last = seen[seen.len() - 1];
        seen.push(done(&*store, replace(key.clone(), last, "same")).await);
        done(&*store, Change::new(Op::Delete { key: key.clone() })).await;
    }
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count);
}

async fn an_ended_row_does_not_exist_even_before_it_is_swept(store: Arc<dyn Store>) {
    let key = Key::with_sort(Table::UserSession, "user", "session");
    let version = done(&*store, insert(key.clone(), "1")).await;
    let (last, end) = (1_999, 2_000);
    assert!(store.get(&key, last).await.expect("answers").is_some());
    assert_eq!(store.get(&key, end).await.expect("answers"), None);
    let listed = store
        .partition(Table::UserSession, b"user", b"", 10, end)
        .await;
    assert_eq!(listed.expect("answers"), []);
    let listed = store.page(Table::UserSession, None, 10, end).await;
    assert_eq!(listed.expect("answers"), []);
    assert_eq!(store.take(&key, end).await.expect("answers"), None);
    let change = replace(key.clone(), version, "2");
    assert_eq!(
        store.commit(change, end).await.expect("answers"),
        Outcome::Refused(None)
    );
    let removal = Change::new(Op::Remove {
        key: key.clone(),
        version,
    });
    assert_eq!(
        store.commit(removal, end).await.expect("answers"),
        Outcome::Refused(None)
    );
    let anew = Change::new(Op::Insert {
        key: key.clone(),
        value: b"3".to_vec(),
        end: Some(3_000),
    });
    assert!(store.commit(anew, end).await.expect("answers").is_done());
    let row = store
        .get(&key, end)
        .await
        .expect("answers")
        .expect("is there");
    assert_eq!(row.value, b"3");
    assert_ne!(row.version, version);
}

async fn a_row_that_has_already_ended_cannot_be_inserted(store: Arc<dyn Store>) {
    for _ in 0..2 {
        let change = Change::new(Op::Insert {
            key: once("late"),
            value: Vec::new(),
            end: Some(NOW),
        });
        assert_eq!(
            store.commit(change, NOW).await.expect("answers"),
            Outcome::Refused(None)
        );
    }
}

async fn sweep_removes_only_what_has_ended_and_at_most_so_many(store: Arc<dyn Store>) {
    for number in 0..7 {
        let change = Change::new(Op::Insert {
            key: once(&number.to_string()),
            value: Vec::new(),
            end: Some(NOW + 10 + number),
        });
        done(&*store, change).await;
    }
    let kept = Key::new(Table::User, "kept");
    done(
        &*store,
        Change::new(Op::Insert {
            key: kept.clone(),
            value: Vec::new(),
            end: None,
        }),
    )
    .await;
    assert_eq!(store.sweep(NOW, 100).await.expect("answers"), 0);
    assert_eq!(store.sweep(NOW + 13, 3).await.expect("answers"), 3);
    assert_eq!(store.sweep(NOW + 13, 3).await.expect("answers"), 1);
    assert_eq!(store.sweep(NOW + 13, 3).await.expect("answers"), 0);
    assert!(
        store
            .get(&once("4"), NOW + 13)
            .await
            .expect("answers")
            .is_some()
    );
    assert!(store.get(&kept, u64::MAX).await.expect("answers").is_some());
}

async fn a_partition_is_read_in_order_by_pages(store: Arc<dyn Store>) {
    for number in [3u8, 1, 200, 2, 9] {
        let key = Key::with_sort(Table::UserGrant, "user", [number]);
        done(&*store, insert(key, &number.to_string())).await;
    }
    for other in ["use", "user2", "users"] {
        let key = Key::with_sort(Table::UserGrant, other, "x");
        done(&*store, insert(key, "other")).await;
    }
    let other_table = Key::with_sort(Table::Consent, "user", [5]);
    done(&*store, insert(other_table, "other")).await;

    let mut seen = Vec::new();
    let mut after = Vec::new();
    loop {
        let page = store
            .partition(Table::UserGrant, b"user", &after, 2, NOW)
            .await;
        let page = page.expect("answers");
        assert!(page.len() <= 2);
        let Some((last, _)) = page.last() else { break };
        after = last.sort.clone();
        seen.extend(page.iter().map(|(key, _)| key.sort[0]));
        assert!(page.iter().all(|(key, _)| key.partition == b"user"));
    }
    assert_eq!(seen, [1, 2, 3, 9, 200]);
}

async fn a_table_is_read_whole_by_pages(store: Arc<dyn Store>) {
    let mut expected = Vec::new();
    for partition in ["b", "a", "c"] {
        for sort in ["2", "1"] {
            let key = Key::with_sort(Table::Revocation, partition, sort);
            done(&*store, insert(key.clone(), "x")).await;
            expected.push(key);
        }
    }
    expected.sort();
    done(&*store, insert(once("other"), "x")).await;
    let mut seen: Vec<Key> = Vec::new();
    loop {
        let page = store.page(Table::Revocation, seen.last(), 4, NOW).await;
        let page = page.expect("answers");
        if page.is_empty() {
            break;
        }
        seen.extend(page.into_iter().map(|(key, _)| key));
    }
    assert_eq!(seen, expected);
}

async fn commit_each_stops_at_the_first_refusal(store: Arc<dyn Store>) {
    done(&*store, insert(once("second"), "taken")).await;
    let changes = ["first", "second", "third"]
        .map(|id| insert(once(id), "mine"))
        .to_vec();
    let outcomes = store.commit_each(changes, NOW).await.expect("answers");
    assert_eq!(outcomes.len(), 2);
    assert!(outcomes[0].is_done());
    assert!(matches!(&outcomes[1], Outcome::Refused(Some(row)) if row.value == b"taken"));
    assert_eq!(
        value(&*store, &once("first")).await.as_deref(),
        Some("mine")
    );
    assert_eq!(value(&*store, &once("third")).await, None);
    assert_eq!(
        store.commit_each(Vec::new(), NOW).await.expect("answers"),
        []
    );
}

async fn what_follows_the_condition_is_done_if_and_only_if_it_held(store: Arc<dyn Store>) {
    let (side, gone) = (Key::new(Table::User, "side"), Key::new(Table::User, "gone"));
    done(&*store, insert(gone.clone(), "here")).await;
    let change = insert(once("all"), "x")
        .then(put(side.clone(), "1"))
        .then(Op::Delete { key: gone.clone() });
    done(&*store, change.clone()).await;
    assert_eq!(value(&*store, &side).await.as_deref(), Some("1"));
    assert_eq!(value(&*store, &gone).await, None);

    done(&*store, Change::new(put(side.clone(), "2"))).await;
    done(&*store, Change::new(put(gone.clone(), "back"))).await;
    assert!(!store.commit(change, NOW).await.expect("answers").is_done());
    assert_eq!(value(&*store, &side).await.as_deref(), Some("2"));
    assert_eq!(value(&*store, &gone).await.as_deref(), Some("back"));
}

async fn misuse_is_refused_before_anything_is_done(store: Arc<dyn Store>) {
    let condition = insert(once("a"), "x").then(Op::Remove {
        key: once("b"),
        version: 1,
    });
    let endless = Change::new(Op::Put {
        key: once("a"),
        value: Vec::new(),
        end: None,
    });
    for change in [condition, endless] {
        let answer = store.commit(change, NOW).await;
        assert!(matches!(answer, Err(StoreError::Invalid(_))), "{answer:?}");
    }
    let huge = Change::new(Op::Put {
        key: once("a"),
        value: vec![0; signet_store::MAX_VALUE_BYTES + 1],
        end: END,
    });
    let each = vec![insert(once("a"), "x"), huge];
    let answer = store.commit_each(each, NOW).await;
    assert!(matches!(answer, Err(StoreError::TooLarge)), "{answer:?}");
    assert_eq!(value(&*store, &once("a")).await, None);
}

async fn keys_and_values_are_any_bytes(store: Arc<dyn Store>) {
    let bytes: Vec<u8> = (0..=255).collect();
    let key = Key::with_sort(Table::Session, bytes.clone(), bytes.clone());
    let change = Change::new(Op::Insert {
        key: key.clone(),
        value: bytes.clone(),
        end: END,
    });
    done(&*store, change).await;
    let row = store
        .get(&key, NOW)
        .await
        .expect("answers")
        .expect("is there");
    assert_eq!(row.value, bytes);
    let other_table = Key::with_sort(Table::Once, bytes.clone(), bytes);
    assert_eq!(store.get(&other_table, NOW).await.expect("answers"), None);
}

async fn a_healthy_store_says_so(store: Arc<dyn Store>) {
    store.check().await.expect("is healthy");
}

/// An engine, and what must outlive it.
struct Opened {
    store: Arc<dyn Store>,
    _directory: Option<tempfile::TempDir>,
}

fn memory() -> Opened {
    Opened {
        store: Arc::new(MemoryStore::new()),
        _directory: None,
    }
}

fn embedded() -> Opened {
    let directory = tempfile::tempdir().expect("a directory");
    let store = SqliteStore::open(directory.path(), sqlite::Options::default()).expect("opens");
    Opened {
        store: Arc::new(store),
        _directory: Some(directory),
    }
}

fn distributed() -> Opened {
    Opened {
        store: Arc::new(crate::server::shared().store()),
        _directory: None,
    }
}

/// A realm's view, in a store that has rows of the default realm and of two others in every table.
fn view(realm: &str) -> Opened {
    let whole: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let realms =
        ["", "a", "acme", "b"].map(|name| (name, RealmId::parse(name).unwrap_or_default()));
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let fill = async {
        for (name, id) in realms.iter().filter(|(name, _)| *name != realm) {
            let beside = RealmStore::new(id, whole.clone());
            for (table, byte) in Table::ALL
                .iter()
                .flat_map(|t| (0..=255).map(move |b| (*t, b)))
            {
                let row = Op::Put {
                    key: Key::with_sort(table, [&[byte], name.as_bytes()].concat(), "sort"),
                    value: b"beside".to_vec(),
                    end: Some(1 << 40),
                };
                done(&beside, Change::new(row)).await;
            }
        }
    };
    // On a thread of its own: the rules have a runtime already.
    std::thread::scope(|scope| {
        scope.spawn(|| runtime.expect("a runtime").block_on(fill));
    });
    let id = RealmId::parse(realm).unwrap_or_default();
    Opened {
        store: Arc::new(RealmStore::new(&id, whole)),
        _directory: None,
    }
}

fn realm() -> Opened {
    view("acme")
}

fn realm_on_disk() -> Opened {
    let Opened { store, _directory } = embedded();
    let id = RealmId::parse("acme").expect("a name");
    Opened {
        store: Arc::new(RealmStore::new(&id, store)),
        _directory,
    }
}

#[tokio::test]
async fn no_realm_sees_or_changes_a_row_of_another() {
    let whole: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let names = ["", "a", "ab", "b"];
    let stores = names.map(|name| {
        let id = RealmId::parse(name).unwrap_or_default();
        RealmStore::new(&id, whole.clone())
    });
    for (store, name) in stores.iter().zip(names) {
        let row = insert(once("one"), name);
        assert!(store.commit(row, NOW).await.expect("answers").is_done());
    }
    for (store, name) in stores.iter().zip(names) {
        assert_eq!(value(store, &once("one")).await.as_deref(), Some(name));
        for limit in 1..4 {
            let page = store.page(Table::Once, None, limit, NOW).await;
            let page = page.expect("answers");
            assert_eq!(page.len(), 1, "{name:?}");
            assert_eq!(page[0].0, once("one"));
            let next = store.page(Table::Once, Some(&page[0].0), limit, NOW).await;
            assert_eq!(next.expect("answers"), [], "{name:?}");
        }
    }
    assert!(
        stores[1]
            .take(&once("one"), NOW)
            .await
            .expect("answers")
            .is_some()
    );
    for (store, left) in stores.iter().zip([true, false, true, true]) {
        assert_eq!(value(store, &once("one")).await.is_some(), left);
    }
}

#[tokio::test]
async fn the_default_realm_cannot_name_the_rows_of_a_realm() {
    let whole: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let realm = RealmStore::new(&RealmId::parse("a").expect("a name"), whole.clone());
    done(&realm, insert(once("one"), "x")).await;
    let default = RealmStore::new(&RealmId::default(), whole.clone());
    let (key, _) = whole
        .page(Table::Once, None, 9, NOW)
        .await
        .expect("answers")
        .remove(0);
    let refused = |answer: Result<(), StoreError>| {
        assert!(matches!(answer, Err(StoreError::Invalid(_))), "{answer:?}");
    };
    refused(default.get(&key, NOW).await.map(drop));
    refused(default.take(&key, NOW).await.map(drop));
    refused(
        default
            .commit(insert(key.clone(), "y"), NOW)
            .await
            .map(drop),
    );
    let rows = default.partition(Table::Once, &key.partition, b"", 9, NOW);
    refused(rows.await.map(drop));
    assert_eq!(value(&realm, &once("one")).await.as_deref(), Some("x"));
}

/// Pages of every size, whatever lies before, between and behind the rows of realms.
#[tokio::test]
async fn the_default_realms_pages_leave_out_the_rows_of_realms_and_nothing_else() {
    let Opened { store, .. } = view("");
    let keys: [&[u8]; 8] = [
        b"",
        b"\0",
        b"\0a",
        b"\0realm",
        b"\0realm\x01",
        b"\0realm\x01x",
        b"a",
        b"\xff",
    ];
    for key in keys {
        done(&*store, insert(Key::new(Table::Once, key), "own")).await;
    }
    for limit in 1..=keys.len() + 1 {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = store.page(Table::Once, after.as_ref(), limit, NOW).await;
            let page = page.expect("answers");
            seen.extend(page.iter().map(|(key, _)| key.partition.clone()));
            match page.last() {
                Some((last, _)) if page.len() == limit => after = Some(last.clone()),
                _ => break,
            }
        }
        assert_eq!(seen, keys, "{limit}");
    }
}

fn default_realm() -> Opened {
    view("")
}

macro_rules! rules {
    ($engine:ident: $($rule:ident),* $(,)?) => {
        mod $engine {
            $(
                #[tokio::test(flavor = "current_thread")]
                async fn $rule() {
                    let opened = super::$engine();
                    super::$rule(opened.store.clone()).await;
                }
            )*
        }
    };
}

macro_rules! contract {
    ($($engine:ident),*) => {
        $(rules! { $engine:
            of_a_hundred_racing_inserts_one_is_done,
            of_a_hundred_racing_replacements_one_is_done,
            of_a_hundred_racing_takers_one_gets_the_row,
            replace_and_remove_need_the_version_that_was_read,
            versions_never_repeat_for_a_key,
            an_ended_row_does_not_exist_even_before_it_is_swept,
            a_row_that_has_already_ended_cannot_be_inserted,
            sweep_removes_only_what_has_ended_and_at_most_so_many,
            a_partition_is_read_in_order_by_pages,
            a_table_is_read_whole_by_pages,
            commit_each_stops_at_the_first_refusal,
            what_follows_the_condition_is_done_if_and_only_if_it_held,
            misuse_is_refused_before_anything_is_done,
            keys_and_values_are_any_bytes,
            a_healthy_store_says_so,
        })*
    };
}

contract!(
    memory,
    embedded,
    distributed,
    realm,
    realm_on_disk,
    default_realm
);

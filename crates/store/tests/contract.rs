//! Which engines keep the rules. A new engine adds one line at the end of this file, or of one like
//! it in its own crate, and passes.
use crate::rules::{NOW, contract, done, insert, once, value};
use signet_store::{
    Change, Key, MemoryStore, Op, RealmId, RealmStore, SqliteStore, Store, StoreError, Table,
    sqlite,
};
use std::sync::Arc;

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

contract!(
    memory,
    embedded,
    distributed,
    realm,
    realm_on_disk,
    default_realm
);

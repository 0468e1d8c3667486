//! Schemas of two versions: programs side by side, and what is refused.
use crate::{
    postgres::{NOW, Oracle, insert, once, open},
    server::shared,
};
use signet_store::{
    OpenError, PostgresStore, SqliteStore, Store, StoreError,
    postgres::{self, Behind, Options, PostgresError, SCHEMA_VERSION},
    schema::{Migration, nothing},
    sqlite,
};
use std::{
    sync::{Arc, OnceLock, atomic::Ordering::SeqCst},
    time::Duration,
};
use tokio::time::sleep;

fn says(statements: &[&str]) -> Vec<String> {
    statements.iter().map(ToString::to_string).collect()
}

const NEXT: u32 = SCHEMA_VERSION + 1;
const AFTER_NEXT: u32 = SCHEMA_VERSION + 2;

/// Steps as later versions of this program may have them: first a column and an index beside what
/// this version uses, and then this version's own table goes.
fn later(count: usize) -> &'static [Migration] {
    static ALL: OnceLock<Vec<Migration>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let mut all = postgres::MIGRATIONS.to_vec();
        all.push(Migration {
            version: NEXT,
            name: "a column and an index",
            apart: || {
                says(&[
                    "DROP INDEX CONCURRENTLY IF EXISTS signet_kept_version",
                    "CREATE INDEX CONCURRENTLY signet_kept_version ON signet_kept (version)",
                ])
            },
            expand: || {
                says(&[
                    "ALTER TABLE signet_kept ADD COLUMN note text",
                    "ALTER TABLE signet_bucket_0_0 ADD COLUMN note text",
                    "ALTER TABLE signet_far ADD COLUMN note text",
                ])
            },
            contract: || says(&["DROP INDEX signet_far_end"]),
        });
        all.push(Migration {
            version: AFTER_NEXT,
            name: "a table",
            apart: nothing,
            expand: || says(&["CREATE TABLE signet_later (id int4 PRIMARY KEY)"]),
            contract: nothing,
        });
        all
    });
    &all[..postgres::MIGRATIONS.len() + count]
}

fn knowing(options: &Options, later_steps: usize) -> Options {
    Options {
        migrations: later(later_steps),
        ..options.clone()
    }
}

fn versions(done: &[Migration]) -> Vec<u32> {
    done.iter().map(|step| step.version).collect()
}

#[tokio::test]
async fn an_older_schema_is_refused_and_each_step_is_done_once() {
    let database = shared().database();
    let options = shared().options(&database);
    let answer = PostgresStore::open(&options);
    assert!(
        matches!(answer, Err(PostgresError::OldSchema { found: 0, .. })),
        "{answer:?}"
    );
    assert_eq!(PostgresStore::schema(&options).expect("answers").found, 0);
    // Two nodes at once.
    let done: usize = std::thread::scope(|scope| {
        let migrate = || PostgresStore::migrate(&options, Behind::Refuse);
        let nodes = [0, 1].map(|_| scope.spawn(migrate));
        nodes
            .map(|node| node.join().expect("ends").expect("migrates").len())
            .iter()
            .sum()
    });
    let status = PostgresStore::schema(&options).expect("answers");
    assert_eq!(
        (done, status.found),
        (SCHEMA_VERSION as usize, SCHEMA_VERSION)
    );
    assert_eq!(status.pending(), []);
    let newer = knowing(&options, 1);
    let answer = PostgresStore::open(&newer);
    assert!(
        matches!(answer, Err(PostgresError::OldSchema { found, known })
            if (found, known) == (SCHEMA_VERSION, NEXT)),
        "{answer:?}"
    );
}

#[tokio::test]
async fn programs_of_two_versions_work_side_by_side_while_the_schema_is_changed_under_them() {
    let database = shared().database();
    let old = shared().options(&database);
    let (new, newest) = (knowing(&old, 1), knowing(&old, 2));
    PostgresStore::migrate(&old, Behind::Refuse).expect("a schema");
    let stores = [Arc::new(open(&old)), Arc::new(open(&old))];
    let first = Oracle::named("a", &stores, async {
        sleep(Duration::from_millis(300)).await;
        let (new, database) = (new.clone(), database.clone());
        let migrated = tokio::task::spawn_blocking(move || {
            // A backup reads meanwhile, so that the step has to wait for its locks.
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    shared().sql(
                        &database,
                        "BEGIN; SELECT count(*) FROM signet_kept; SELECT pg_sleep(0.7); COMMIT",
                    )
                });
                std::thread::sleep(Duration::from_millis(100));
                PostgresStore::migrate(&new, Behind::Refuse)
            })
        });
        let done = migrated.await.expect("ends").expect("migrates");
        assert_eq!(versions(&done), [NEXT]);
        sleep(Duration::from_millis(300)).await;
    })
    .await;
    first.check(&stores[0]).await;
    assert_eq!(
        first.refused_unavailable.load(SeqCst),
        0,
        "nobody waited in vain"
    );

    // The older program and the newer one, on the newer one's schema.
    let both = [stores[0].clone(), Arc::new(open(&new))];
    let found = PostgresStore::connected(&new).expect("answers");
    assert!(found[&SCHEMA_VERSION] > 0 && found[&NEXT] > 0, "{found:?}");
    let second = Oracle::named("b", &both, sleep(Duration::from_millis(600))).await;
    second.check(&both[1]).await;
    assert_eq!(second.refused_unavailable.load(SeqCst), 0);
    drop(stores);

    // One step more would leave the older one behind: that is said, and nothing is done.
    let answer = PostgresStore::migrate(&newest, Behind::Refuse);
    assert!(
        matches!(
            answer,
            Err(PostgresError::Behind {
                known: SCHEMA_VERSION,
                next: AFTER_NEXT
            })
        ),
        "{answer:?}"
    );
    let third = Oracle::named("c", &both, async {
        sleep(Duration::from_millis(200)).await;
        let newest = newest.clone();
        let done = tokio::task::spawn_blocking(move || {
            PostgresStore::migrate(&newest, Behind::Leave).expect("migrates")
        });
        assert_eq!(versions(&done.await.expect("ends")), [AFTER_NEXT]);
        sleep(Duration::from_millis(500)).await;
    })
    .await;
    let refused = both[0].commit(insert(once("late"), NOW + 3600), NOW).await;
    let Err(StoreError::Unavailable(why)) = refused else {
        panic!("an older program wrote to a schema that it does not know: {refused:?}");
    };
    assert!(
        why.contains(&format!("schema is version {AFTER_NEXT}"))
            && why.contains(&format!("knows {SCHEMA_VERSION}")),
        "{why}"
    );
    assert!(third.refused_unavailable.load(SeqCst) > 0);
    third.check(&both[1]).await;
    let answer = PostgresStore::open(&old);
    assert!(
        matches!(answer, Err(PostgresError::NewSchema { .. })),
        "{answer:?}"
    );
    // What the older program alone used is gone now, and not before.
    let index = "SELECT count(*)::text FROM pg_indexes WHERE indexname = 'signet_far_end'";
    assert_eq!(shared().sql(&database, index).as_deref(), Some("0"));
}

fn later_layout(count: usize) -> &'static [Migration] {
    static ALL: OnceLock<Vec<Migration>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let mut all = sqlite::MIGRATIONS.to_vec();
        for (number, statement) in [
            "ALTER TABLE entry ADD COLUMN hint INTEGER",
            "CREATE INDEX entry_hint ON entry (hint)",
        ]
        .into_iter()
        .enumerate()
        {
            all.push(Migration {
                version: sqlite::SCHEMA_VERSION + 1 + number as u32,
                name: statement,
                apart: nothing,
                expand: match number {
                    0 => || says(&["ALTER TABLE entry ADD COLUMN hint INTEGER"]),
                    _ => || says(&["CREATE INDEX entry_hint ON entry (hint)"]),
                },
                contract: nothing,
            });
        }
        all
    });
    &all[..sqlite::MIGRATIONS.len() + count]
}

#[tokio::test]
async fn a_file_is_brought_up_to_date_and_the_program_before_can_go_on_with_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let open = |migrations| {
        let options = sqlite::Options {
            migrations,
            ..sqlite::Options::default()
        };
        SqliteStore::open(directory.path(), options)
    };
    let done = async |migrations, id: &str| {
        let store = open(migrations).expect("opens");
        let outcome = store.commit(insert(once(id), NOW + 9), NOW).await;
        assert!(outcome.expect("answers").is_done());
        store.close();
    };
    done(sqlite::MIGRATIONS, "first").await;
    // As the first version made it: before there was a consensus.
    let path = directory.path().join(sqlite::DATABASE_FILE);
    let file = rusqlite::Connection::open(&path).expect("opens");
    file.execute_batch("DROP TABLE log; DROP TABLE note; PRAGMA user_version = 1")
        .expect("is SQL");
    drop(file);
    let status = || SqliteStore::schema(directory.path()).expect("reads");
    assert_eq!(status().expect("is there").found, 1);
    done(sqlite::MIGRATIONS, "own").await;
    done(later_layout(1), "newer").await;
    assert_eq!(
        status().expect("is there").found,
        sqlite::SCHEMA_VERSION + 1
    );
    done(sqlite::MIGRATIONS, "back").await;
    let store = open(later_layout(2)).expect("opens");
    for id in ["first", "own", "newer", "back"] {
        let row = store.get(&once(id), NOW).await.expect("answers");
        assert!(row.is_some(), "{id}");
    }
    drop(store);
    let refused = open(sqlite::MIGRATIONS).err().expect("is refused");
    assert!(
        matches!(refused, OpenError::Newer { found, known, .. }
            if (found, known) == (sqlite::SCHEMA_VERSION + 2, sqlite::SCHEMA_VERSION)),
        "{refused}"
    );
}

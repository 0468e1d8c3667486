//! The distributed engine, over real servers: what the contract cannot ask of every engine.
use crate::server::{Server, shared, with_password};
use rustix::process::Signal;
use signet_store::{
    Change, Key, Op, Outcome, PostgresStore, Store, StoreError, Table,
    postgres::{Behind, NARROW_BUCKET, Options, PostgresError},
};
use std::{
    collections::BTreeSet,
    fs,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::sleep,
};

pub(crate) const NOW: u64 = 1_763_000_000;

pub(crate) fn insert(key: Key, end: u64) -> Change {
    Change::new(Op::Insert {
        key,
        value: b"value".to_vec(),
        end: Some(end),
    })
}

pub(crate) fn once(id: impl std::fmt::Display) -> Key {
    Key::new(Table::Once, id.to_string())
}

async fn version(store: &dyn Store, change: Change, now: u64) -> u64 {
    match store.commit(change, now).await.expect("answers") {
        Outcome::Done { version } => version,
        refused => panic!("{refused:?}"),
    }
}

/// A database with a schema, and what opens it.
pub(crate) fn prepared(server: &Server) -> (String, Options) {
    let database = server.database();
    let options = server.options(&database);
    PostgresStore::migrate(&options, Behind::Refuse).expect("a schema");
    (database, options)
}

pub(crate) fn open(options: &Options) -> PostgresStore {
    PostgresStore::open(options).expect("opens")
}

const EVERYWHERE: &str = "SELECT sum(n)::text FROM (
    SELECT count(*) n FROM signet_kept UNION ALL SELECT count(*) FROM signet_far
    UNION ALL SELECT count(*) FROM signet_bucket_0_0 UNION ALL SELECT count(*) FROM signet_bucket_0_1
    UNION ALL SELECT count(*) FROM signet_bucket_0_2 UNION ALL SELECT count(*) FROM signet_bucket_1_0
    UNION ALL SELECT count(*) FROM signet_bucket_1_1 UNION ALL SELECT count(*) FROM signet_bucket_1_2
    UNION ALL SELECT count(*) FROM signet_bucket_2_0 UNION ALL SELECT count(*) FROM signet_bucket_2_1
    UNION ALL SELECT count(*) FROM signet_bucket_2_2) x";

fn rows(server: &Server, database: &str) -> u64 {
    let rows = server.sql(database, EVERYWHERE).expect("a number");
    rows.parse().expect("a number")
}

// Ends.

#[tokio::test]
async fn a_key_is_unique_whatever_its_end_is() {
    let (database, options) = prepared(shared());
    // Two nodes: neither knows what the other has in memory.
    let stores = [open(&options), open(&options)];
    let lives = [60, 5 * 3600, 10 * 86_400, 300 * 86_400];
    for (n, life) in lives.into_iter().enumerate() {
        let key = once(n);
        version(&stores[0], insert(key.clone(), NOW + life), NOW).await;
        for other in lives {
            let answer = stores[1]
                .commit(insert(key.clone(), NOW + other), NOW)
                .await;
            assert!(
                matches!(answer, Ok(Outcome::Refused(Some(_)))),
                "{life} {other}"
            );
        }
    }
    assert_eq!(rows(shared(), &database), lives.len() as u64);
}

#[tokio::test]
async fn of_racing_inserts_with_different_ends_on_two_nodes_one_is_done() {
    let (database, options) = prepared(shared());
    let stores = [Arc::new(open(&options)), Arc::new(open(&options))];
    version(&*stores[0], insert(once("first"), NOW + 60), NOW).await;
    for round in 0..10 {
        let racers: Vec<_> = (0..20)
            .map(|racer: usize| {
                let store = stores[racer % 2].clone();
                let end = NOW + 60 * 60_u64.pow(racer as u32 % 4);
                tokio::spawn(async move { store.commit(insert(once(round), end), NOW).await })
            })
            .collect();
        let mut done = 0;
        for racer in racers {
            done += usize::from(racer.await.expect("ends").expect("answers").is_done());
        }
        assert_eq!(done, 1, "{round}");
    }
    assert_eq!(rows(shared(), &database), 11);
}

#[tokio::test]
async fn a_row_whose_end_moves_is_there_once() {
    let (database, options) = prepared(shared());
    let store = open(&options);
    let key = Key::new(Table::Session, "s");
    let mut at = version(&store, insert(key.clone(), NOW + 60), NOW).await;
    for life in [90_000, 60, 50 * 86_400, 86_400, 61] {
        let end = Some(NOW + life);
        let replace = Op::Replace {
            key: key.clone(),
            version: at,
            value: b"v".to_vec(),
            end,
        };
        at = version(&store, Change::new(replace), NOW).await;
        assert_eq!(rows(shared(), &database), 1);
        let row = store
            .get(&key, NOW)
            .await
            .expect("answers")
            .expect("is there");
        assert_eq!((row.version, row.end), (at, end));
        let page = store
            .page(Table::Session, None, 9, NOW)
            .await
            .expect("answers");
        assert_eq!(page.len(), 1);
    }
}

#[tokio::test]
async fn short_lived_rows_go_with_their_table_and_what_is_kept_stays_flat() {
    let (database, options) = prepared(shared());
    let store = Arc::new(open(&options));
    version(&*store, insert(once("arranges the buckets"), NOW + 1), NOW).await;
    let each = 1200;
    let (mut most, mut largest, mut early) = (0, 0u64, 0);
    for hour in 0..16u64 {
        let now = NOW - NOW % NARROW_BUCKET + hour * 3600;
        let changes: Vec<Change> = (0..each)
            .map(|n| insert(once(format!("{hour}-{n}")), now + 60 + n % 600))
            .collect();
        store.commit_each(changes, now).await.expect("answers");
        for _ in 0..20 {
            if store.sweep(now, 500).await.expect("answers") < 500 {
                break;
            }
        }
        let (there, bytes) = (rows(shared(), &database), bytes(&database));
        most = most.max(there);
        largest = largest.max(bytes);
        if hour == 5 {
            early = bytes;
        }
    }
    // Two hours' bucket that is written, the next, and the one that has just ended.
    let buckets = 3 * NARROW_BUCKET / 3600;
    assert!(most <= buckets * each, "{most}");
    assert!(largest <= 2 * early, "{largest} {early}");
    drop(store);
    counted(&database, "n_tup_ins", 16 * each).await;
    let removed = "SELECT sum(n_tup_del)::text FROM pg_stat_user_tables
        WHERE relname LIKE 'signet_bucket_0%'";
    assert_eq!(
        shared().sql(&database, removed).as_deref(),
        Some("0"),
        "row by row"
    );
    eprintln!("{} bytes a row", largest / most);
}

/// Waits until the server has counted so much: it does when a connection ends.
async fn counted(database: &str, what: &str, at_least: u64) {
    let sum = format!("SELECT sum({what})::text FROM pg_stat_user_tables");
    for _ in 0..200 {
        let counted = shared().sql(database, &sum).and_then(|n| n.parse().ok());
        if counted.is_some_and(|n: u64| n >= at_least) {
            return;
        }
        sleep(Duration::from_millis(50)).await;
    }
    panic!("the server does not count {what}");
}

fn bytes(database: &str) -> u64 {
    let size = "SELECT sum(pg_total_relation_size(oid))::text FROM pg_class
        WHERE relname LIKE 'signet_bucket_0%' AND relkind = 'r'";
    shared()
        .sql(database, size)
        .expect("a size")
        .parse()
        .expect("a number")
}

#[tokio::test]
async fn two_nodes_may_sweep_at_once_while_others_write() {
    let (_, options) = prepared(shared());
    let stores = [Arc::new(open(&options)), Arc::new(open(&options))];
    version(&*stores[0], insert(once("arranges"), NOW + 1), NOW).await;
    let later = NOW + 3 * NARROW_BUCKET;
    let changes = (0..3000)
        .map(|n| insert(once(n), NOW + 60 + n % 5000))
        .collect();
    stores[0].commit_each(changes, NOW).await.expect("answers");
    let kept = insert(once("kept"), later + 600);
    let sweeping = stores.clone().map(|store| {
        tokio::spawn(async move {
            let mut all = 0;
            loop {
                match store.sweep(later, 500).await.expect("answers") {
                    0 => return all,
                    some => all += some,
                }
            }
        })
    });
    version(&*stores[1], kept, later).await;
    for sweeping in sweeping {
        sweeping.await.expect("ends");
    }
    for store in stores {
        let page = store
            .page(Table::Once, None, 10, NOW)
            .await
            .expect("answers");
        assert_eq!(page.len(), 1, "{page:?}");
        assert_eq!(page[0].0, once("kept"));
    }
}

// Groups.

#[tokio::test]
async fn changes_in_flight_share_round_trips_and_use_indexes() {
    let (database, options) = prepared(shared());
    // Statistics that are gathered meanwhile say how small these tables are, and a small table is
    // read whole.
    shared().sql(
        &database,
        "DO $$ DECLARE name text; BEGIN
         FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP
           EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = false)', name);
         END LOOP; END $$;
         SELECT pg_stat_reset()",
    );
    let store = Arc::new(open(&options));
    let before = store.group_counts();
    let callers: Vec<_> = (0..64)
        .map(|caller| {
            let store = store.clone();
            tokio::spawn(async move {
                let key = Key::new(Table::Family, format!("family-{caller}"));
                let mut at = version(&*store, insert(key.clone(), NOW + 86_400), NOW).await;
                for generation in 0..20u8 {
                    let rotation = Op::Replace {
                        key: key.clone(),
                        version: at,
                        value: vec![generation],
                        end: Some(NOW + 86_400),
                    };
                    at = version(&*store, Change::new(rotation), NOW).await;
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.expect("ends");
    }
    let after = store.group_counts();
    let (groups, jobs) = (after.groups - before.groups, after.jobs - before.jobs);
    assert_eq!(jobs, 64 * 21);
    // Two round trips a group: fewer than half of one for each change.
    assert!(groups * 2 * 2 < jobs, "{groups} groups for {jobs} changes");
    for table in [Table::Family, Table::Client] {
        let key = Key::new(table, "family-1");
        store.get(&key, NOW).await.expect("answers");
        let listed = store.partition(table, b"family-1", b"", 9, NOW).await;
        listed.expect("answers");
        store.page(table, None, 9, NOW).await.expect("answers");
        let rest = store.page(table, Some(&key), 9, NOW).await;
        rest.expect("answers");
    }
    drop(store);
    counted(&database, "idx_scan", 64 * 21).await;
    let whole = "SELECT sum(seq_scan)::text FROM pg_stat_user_tables
        WHERE relname NOT IN ('signet_bucket', 'signet_writer', 'signet_schema')";
    let whole = shared().sql(&database, whole);
    assert_eq!(whole.as_deref(), Some("0"), "tables were read whole");
}

#[tokio::test]
async fn a_change_that_the_server_always_rolls_back_fails_alone() {
    let (database, options) = prepared(shared());
    shared().sql(
        &database,
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$;
         CREATE TRIGGER refuse BEFORE INSERT ON signet_kept FOR EACH ROW
         WHEN (NEW.part = 'bad'::bytea) EXECUTE FUNCTION refuse()",
    );
    let store = Arc::new(open(&options));
    let callers: Vec<_> = ["a", "b", "bad", "c", "d"]
        .map(|name| {
            let store = store.clone();
            let put = Op::Put {
                key: Key::new(Table::User, name),
                value: Vec::new(),
                end: None,
            };
            (
                name,
                tokio::spawn(async move { store.commit(Change::new(put), NOW).await }),
            )
        })
        .into();
    for (name, caller) in callers {
        let answer = caller.await.expect("ends");
        match name {
            "bad" => assert!(
                matches!(answer, Err(StoreError::Unavailable(_))),
                "{answer:?}"
            ),
            _ => assert!(answer.is_ok_and(|outcome| outcome.is_done()), "{name}"),
        }
    }
    store.check().await.expect("goes on");
}

// MN1: cut off from the other nodes, and not from the database.
#[tokio::test]
async fn a_node_writes_for_as_long_as_the_row_is_there_by_which_it_may() {
    let (_database, options) = prepared(shared());
    let (node, other) = (Arc::new(open(&options)), open(&options));
    let name = Key::with_sort(Table::Setting, "names", "node-3");
    let put = |key: &Key, value: &[u8]| {
        Change::new(Op::Put {
            key: key.clone(),
            value: value.to_vec(),
            end: None,
        })
    };
    let user = Key::new(Table::User, "alice");
    version(&other, put(&name, b"keys"), NOW).await;
    node.write_while(name.clone(), b"keys".to_vec());
    version(&*node, put(&user, b"1"), NOW).await;
    node.check().await.expect("writes");
    // Removed; and its name given to a node with other keys.
    for change in [
        Change::new(Op::Delete { key: name.clone() }),
        put(&name, b"other keys"),
    ] {
        version(&other, change, NOW).await;
        let callers: Vec<_> = (0..8)
            .map(|caller| {
                let (node, user) = (node.clone(), user.clone());
                tokio::spawn(async move {
                    match caller % 3 {
                        0 => node.take(&user, NOW).await.map(drop),
                        1 => node.check().await,
                        _ => node
                            .commit(insert(once(caller), NOW + 60), NOW)
                            .await
                            .map(drop),
                    }
                })
            })
            .collect();
        for caller in callers {
            match caller.await.expect("ends") {
                Err(StoreError::Unavailable(why)) => assert!(why.contains("removed"), "{why}"),
                answer => panic!("{answer:?}"),
            }
        }
        let row = node.get(&user, NOW).await.expect("reads");
        assert_eq!(row.expect("is there").value, b"1");
        version(&other, put(&user, b"1"), NOW).await;
    }
    version(&other, put(&name, b"keys"), NOW).await;
    version(&*node, put(&user, b"2"), NOW).await;
}

#[tokio::test]
async fn a_pooler_that_exchanges_connections_is_named_with_the_setting_that_is_at_fault() {
    let (database, options) = prepared(shared());
    // What the server says where somebody else's connection is used (PostgreSQL, appendix A).
    shared().sql(
        &database,
        "CREATE FUNCTION exchange() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'prepared statement \"s7\" does not exist'
            USING ERRCODE = '26000'; END $$;
         CREATE TRIGGER exchange BEFORE INSERT ON signet_kept FOR EACH ROW
         EXECUTE FUNCTION exchange()",
    );
    let put = Op::Put {
        key: Key::new(Table::User, "alice"),
        value: Vec::new(),
        end: None,
    };
    match open(&options).commit(Change::new(put), NOW).await {
        Err(StoreError::Unavailable(why)) => {
            assert!(why.contains("[store] url"), "{why}");
            assert!(why.contains("pool_mode"), "{why}");
        }
        answer => panic!("{answer:?}"),
    }
}

// Connections.

#[tokio::test]
async fn a_password_comes_from_a_file_that_others_cannot_read() {
    let (database, mut options) = prepared(shared());
    let password = options.password.take().expect("a password");
    let file = tempfile::NamedTempFile::new().expect("a file");
    let line = format!("*:*:{database}:signet:{}\n", password.expose());
    fs::write(file.path(), line).expect("is written");
    options.address.password_file = Some(file.path().to_owned());
    open(&options).check().await.expect("works");
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).expect("is set");
    let answer = PostgresStore::open(&options);
    assert!(
        matches!(answer, Err(PostgresError::PasswordFile(_))),
        "{answer:?}"
    );
    options.address.password_file = None;
    options.password = Some(signet_crypto::Secret::new("wrong".to_owned()));
    let answer = PostgresStore::open(&options).expect_err("is refused");
    assert!(
        matches!(answer, PostgresError::Refused { .. }),
        "{answer:?}"
    );
    assert!(!answer.to_string().contains("wrong"));
}

#[tokio::test]
async fn tls_is_checked_both_ways() {
    let server = Server::new();
    let authority = rcgen::KeyPair::generate().expect("a key");
    let mut parameters = rcgen::CertificateParams::new(Vec::new()).expect("parameters");
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let ca = parameters.self_signed(&authority).expect("a certificate");
    let issuer = rcgen::Issuer::new(parameters, authority);
    let issue = |name: &str| {
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut wanted = rcgen::CertificateParams::new(vec![name.to_owned()]).expect("parameters");
        wanted
            .distinguished_name
            .push(rcgen::DnType::CommonName, name);
        let certificate = wanted.signed_by(&key, &issuer).expect("a certificate");
        (certificate.pem(), key.serialize_pem())
    };
    let private = |name: &str, text: &str| {
        let path = server.directory.join(name);
        fs::write(&path, text).expect("is written");
        use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("is set");
        let owner = fs::metadata(&server.directory).expect("a directory");
        chown(&path, Some(owner.uid()), Some(owner.gid())).expect("changes hands");
        path
    };
    let (certificate, key) = issue("localhost");
    let (client_certificate, client_key) = issue("signet");
    let ca = private("ca.pem", &ca.pem());
    let certificate = private("server.pem", &certificate);
    let key = private("server.key", &key);
    let client_certificate = private("client.pem", &client_certificate);
    let client_key = private("client.key", &client_key);
    // The certificate names the role: no password.
    private(
        "data/pg_hba.conf",
        "local all all trust\nhostssl all all all cert\n",
    );
    let path = |path: &std::path::Path| path.display().to_string();
    server.start(&[
        "ssl=on",
        &format!("ssl_ca_file={}", path(&ca)),
        &format!("ssl_cert_file={}", path(&certificate)),
        &format!("ssl_key_file={}", path(&key)),
    ]);
    let database = server.database();
    let url = |host: &str, more: &str| {
        format!(
            "postgres://signet@{host}:{}/{database}?sslmode=verify-full{more}",
            server.port
        )
    };
    let root = format!("&sslrootcert={}", path(&ca));
    let shown = format!(
        "&sslcert={}&sslkey={}",
        path(&client_certificate),
        path(&client_key)
    );
    let options = with_password(&url("localhost", &format!("{root}{shown}")));
    PostgresStore::migrate(&options, Behind::Refuse).expect("a schema");
    open(&options).check().await.expect("works");
    for (host, more, why) in [
        (
            "localhost",
            shown.clone(),
            "an authority that is not believed",
        ),
        ("127.0.0.1", format!("{root}{shown}"), "another name"),
        ("localhost", root, "no certificate of one's own"),
    ] {
        let answer = PostgresStore::schema(&with_password(&url(host, &more)));
        assert!(answer.is_err(), "{why}");
    }
}

// Losing the database.

/// Between a store and a server: it can cut a connection at a commit.
struct Cutter {
    port: u16,
    /// Cut before (1) or after (2) the next commit has reached the server; 0: never.
    cut: Arc<AtomicU16>,
    cuts: Arc<AtomicUsize>,
}

impl Cutter {
    fn start(to: u16) -> Cutter {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("binds");
        let port = listener.local_addr().expect("an address").port();
        let (cut, cuts) = (Arc::new(AtomicU16::new(0)), Arc::new(AtomicUsize::new(0)));
        let cutter = Cutter {
            port,
            cut: cut.clone(),
            cuts: cuts.clone(),
        };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.expect("a runtime").block_on(async move {
                listener.set_nonblocking(true).expect("is set");
                let listener = TcpListener::from_std(listener).expect("a listener");
                loop {
                    let (client, _) = listener.accept().await.expect("a connection");
                    let server = TcpStream::connect(("127.0.0.1", to))
                        .await
                        .expect("connects");
                    tokio::spawn(Cutter::pass(client, server, cut.clone(), cuts.clone()));
                }
            });
        });
        cutter
    }

    async fn pass(
        mut client: TcpStream,
        mut server: TcpStream,
        cut: Arc<AtomicU16>,
        cuts: Arc<AtomicUsize>,
    ) {
        let (mut up, mut down) = (vec![0; 1 << 16], vec![0; 1 << 16]);
        loop {
            tokio::select! {
                read = client.read(&mut up) => {
                    let Ok(read @ 1..) = read else { return };
                    let commits = up[..read].windows(6).any(|window| window == b"COMMIT");
                    let when = if commits { cut.swap(0, SeqCst) } else { 0 };
                    if when == 1 {
                        cuts.fetch_add(1, SeqCst);
                        return;
                    }
                    if server.write_all(&up[..read]).await.is_err() {
                        return;
                    }
                    if when == 2 {
                        cuts.fetch_add(1, SeqCst);
                        // It is committed, and nobody hears of it.
                        let _answer = server.read(&mut down).await;
                        return;
                    }
                }
                read = server.read(&mut down) => {
                    let Ok(read @ 1..) = read else { return };
                    if client.write_all(&down[..read]).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_commit_whose_answer_was_lost_is_looked_up_and_never_done_twice() {
    let (database, mut options) = prepared(shared());
    let cutter = Cutter::start(shared().port);
    options.address.hosts[0].port = cutter.port;
    options.writers = 1;
    let store = Arc::new(open(&options));
    version(&*store, insert(once("before"), NOW + 60), NOW).await;
    let counter = Key::new(Table::User, "counter");
    let mut expected = version(
        &*store,
        Change::new(Op::Insert {
            key: counter.clone(),
            value: vec![0],
            end: None,
        }),
        NOW,
    )
    .await;
    for (round, when) in [2u16, 1, 2, 2, 1].into_iter().enumerate() {
        cutter.cut.store(when, SeqCst);
        let replace = Op::Replace {
            key: counter.clone(),
            version: expected,
            value: vec![round as u8 + 1],
            end: None,
        };
        let code = insert(once(round), NOW + 60);
        let (replaced, inserted) = futures_util::future::join(
            store.commit(Change::new(replace), NOW),
            store.commit(code, NOW),
        )
        .await;
        // Done once: a second time would be refused, as the version has gone and the code is there.
        expected = match replaced.expect("answers") {
            Outcome::Done { version } => version,
            refused => panic!("{round} {refused:?}"),
        };
        assert!(inserted.expect("answers").is_done(), "{round}");
        let row = store
            .get(&counter, NOW)
            .await
            .expect("answers")
            .expect("is there");
        assert_eq!((row.version, row.value), (expected, vec![round as u8 + 1]));
    }
    assert_eq!(cutter.cuts.load(SeqCst), 5);
    assert_eq!(rows(shared(), &database), 7);
}

/// What was answered, by many callers over several stores, while something goes wrong.
#[derive(Default)]
pub(crate) struct Oracle {
    /// Inserts that were answered as done: they must be there.
    done: Mutex<BTreeSet<String>>,
    answered: AtomicUsize,
    pub(crate) refused_unavailable: AtomicUsize,
    /// Answers of `Done` for a key beyond the first.
    double: AtomicUsize,
    stop: AtomicBool,
    /// Begins the names of its keys.
    name: &'static str,
}

/// Each caller makes keys that another caller of another store makes, too.
async fn load(oracle: Arc<Oracle>, store: Arc<PostgresStore>, pair: usize, writer: bool) {
    for n in 0.. {
        if oracle.stop.load(SeqCst) {
            return;
        }
        let name = format!("{}{pair}-{n}", oracle.name);
        let mine = insert(once(&name), NOW + 3600).then(Op::Put {
            key: Key::new(Table::User, format!("{name}-{writer}")),
            value: Vec::new(),
            end: None,
        });
        loop {
            match store.commit(mine.clone(), NOW).await {
                Ok(outcome) => {
                    oracle.answered.fetch_add(1, SeqCst);
                    if outcome.is_done() && !oracle.done.lock().expect("whole").insert(name.clone())
                    {
                        oracle.double.fetch_add(1, SeqCst);
                    }
                    break;
                }
                Err(StoreError::Unavailable(_)) => {
                    oracle.refused_unavailable.fetch_add(1, SeqCst);
                    if oracle.stop.load(SeqCst) {
                        return;
                    }
                    sleep(Duration::from_millis(10)).await;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

impl Oracle {
    async fn run(stores: &[Arc<PostgresStore>; 2], fault: impl Future<Output = ()>) -> Arc<Oracle> {
        Oracle::named("", stores, fault).await
    }

    /// With keys of its own.
    pub(crate) async fn named(
        name: &'static str,
        stores: &[Arc<PostgresStore>; 2],
        fault: impl Future<Output = ()>,
    ) -> Arc<Oracle> {
        let oracle = Arc::new(Oracle {
            name,
            ..Oracle::default()
        });
        let callers: Vec<_> = (0..8)
            .flat_map(|pair| [(pair, false), (pair, true)])
            .map(|(pair, writer)| {
                let store = stores[usize::from(writer)].clone();
                tokio::spawn(load(oracle.clone(), store, pair, writer))
            })
            .collect();
        fault.await;
        oracle.stop.store(true, SeqCst);
        for caller in callers {
            caller.await.expect("ends");
        }
        oracle
    }

    pub(crate) async fn check(&self, store: &PostgresStore) {
        assert_eq!(self.double.load(SeqCst), 0, "done twice");
        let done = self.done.lock().expect("whole").clone();
        assert!(done.len() > 50, "{}", done.len());
        let mut lost = 0;
        for name in &done {
            lost += usize::from(
                store
                    .get(&once(name), NOW)
                    .await
                    .expect("answers")
                    .is_none(),
            );
            // Of the two that made it one received "done", and its other row came with it.
            let mut beside = 0;
            for writer in [false, true] {
                let key = Key::new(Table::User, format!("{name}-{writer}"));
                let row = store.get(&key, NOW).await.expect("answers");
                beside += usize::from(row.is_some());
            }
            assert_eq!(beside, 1, "{name}");
        }
        assert_eq!(lost, 0, "lost of {}", done.len());
        eprintln!(
            "{} answered, {} done, {} unavailable, 0 lost, 0 double",
            self.answered.load(SeqCst),
            done.len(),
            self.refused_unavailable.load(SeqCst)
        );
    }
}

async fn recovers(store: &PostgresStore) {
    for _ in 0..600 {
        if store.check().await.is_ok() {
            return;
        }
        sleep(Duration::from_millis(50)).await;
    }
    panic!("the store did not recover");
}

#[tokio::test]
async fn a_server_killed_under_load_loses_nothing_that_was_answered() {
    let server = Server::new();
    server.start(&[]);
    let (_, options) = prepared(&server);
    let stores = [Arc::new(open(&options)), Arc::new(open(&options))];
    let outcome = Oracle::run(&stores, async {
        for _ in 0..2 {
            sleep(Duration::from_millis(700)).await;
            server.kill();
            // While it is away, everything is refused; the breaker is open after the first.
            notices(&stores[0]).await;
            server.start(&[]);
            recovers(&stores[0]).await;
            recovers(&stores[1]).await;
        }
        sleep(Duration::from_millis(500)).await;
    })
    .await;
    assert!(outcome.refused_unavailable.load(SeqCst) > 0);
    outcome.check(&stores[0]).await;
}

/// Until a call says that the database is away.
async fn notices(store: &PostgresStore) {
    for _ in 0..600 {
        if matches!(
            store.get(&once("any"), NOW).await,
            Err(StoreError::Unavailable(_))
        ) {
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("nobody noticed");
}

#[tokio::test]
async fn a_standby_takes_over_and_has_everything_that_was_answered() {
    let primary = Server::new();
    primary.start(&[]);
    let (database, options) = prepared(&primary);
    let standby = Server::standby_of(&primary, "s1");
    standby.start(&[]);
    let all = "SELECT pg_reload_conf()";
    primary.sql(
        "postgres",
        "ALTER SYSTEM SET synchronous_standby_names = 's1'",
    );
    primary.sql("postgres", all);
    let confirms = "SELECT sync_state FROM pg_stat_replication WHERE sync_state = 'sync'";
    while primary.sql("postgres", confirms).is_none() {
        sleep(Duration::from_millis(50)).await;
    }
    let mut both = options.clone();
    both.address
        .hosts
        .push(standby.options(&database).address.hosts.remove(0));
    // The order is no matter: the one that takes writes is found.
    both.address.hosts.reverse();
    let stores = [Arc::new(open(&both)), Arc::new(open(&both))];
    let outcome = Oracle::run(&stores, async {
        sleep(Duration::from_millis(1500)).await;
        primary.kill();
        notices(&stores[0]).await;
        standby.promote();
        recovers(&stores[0]).await;
        recovers(&stores[1]).await;
        sleep(Duration::from_millis(700)).await;
    })
    .await;
    outcome.check(&stores[0]).await;
}

#[tokio::test]
async fn a_server_that_hangs_is_refused_at_once_and_found_again() {
    let server = Server::new();
    server.start(&[]);
    let (_, options) = prepared(&server);
    let store = Arc::new(open(&options));
    version(&*store, insert(once("before"), NOW + 60), NOW).await;
    server.signal_all(Signal::STOP);
    let waiting: Vec<_> = (0..200)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move { store.commit(insert(once(n), NOW + 60), NOW).await })
        })
        .collect();
    // Nobody waits for ever, and what comes later does not wait at all: no timer runs here.
    for waiting in waiting {
        let answer = waiting.await.expect("ends");
        assert!(
            matches!(answer, Err(StoreError::Unavailable(_))),
            "{answer:?}"
        );
    }
    for _ in 0..1000 {
        let answer = store.get(&once("before"), NOW).await;
        assert!(
            matches!(answer, Err(StoreError::Unavailable(_))),
            "{answer:?}"
        );
    }
    server.signal_all(Signal::CONT);
    recovers(&store).await;
    assert!(
        store
            .get(&once("before"), NOW)
            .await
            .expect("answers")
            .is_some()
    );
}

#[tokio::test]
async fn a_commit_that_its_standby_did_not_confirm_is_not_answered_as_done() {
    let server = Server::new();
    server.start(&[]);
    let (_, options) = prepared(&server);
    let store = Arc::new(open(&options));
    version(&*store, insert(once("before"), NOW + 60), NOW).await;
    server.sql(
        "postgres",
        "ALTER SYSTEM SET synchronous_standby_names = 'nobody'",
    );
    server.sql("postgres", "SELECT pg_reload_conf()");
    let committing = {
        let store = store.clone();
        tokio::spawn(async move { store.commit(insert(once("code"), NOW + 60), NOW).await })
    };
    // An operator ends the wait: the server says done, with a warning.
    let cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    while !committing.is_finished() {
        server.sql("postgres", cancel);
        sleep(Duration::from_millis(50)).await;
    }
    let answer = committing.await.expect("ends");
    assert!(
        matches!(answer, Err(StoreError::Unavailable(_))),
        "{answer:?}"
    );
    let refused = store.commit(insert(once("next"), NOW + 60), NOW).await;
    assert!(
        matches!(refused, Err(StoreError::Unavailable(_))),
        "{refused:?}"
    );
    server.sql(
        "postgres",
        "ALTER SYSTEM SET synchronous_standby_names = ''",
    );
    server.sql("postgres", "SELECT pg_reload_conf()");
    recovers(&store).await;
}

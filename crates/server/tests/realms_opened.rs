//! Realms that are opened by their first request, and closed: what one process does with many.
use super::common::{Server, Setup};
use signet_oauth::registry::RealmEntry;
use signet_realm::realms::{
    MAX_OPEN_REALMS, NotOpen, OpenRealm, Realms, RealmsFuture, SettingNow, Slot,
};
use signet_realm::state::{Host, Realm, RealmId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Opens realms in memory, and keeps a record of it.
struct Opener {
    host: Arc<Host>,
    /// What happened, in order: `open a`, `close a`.
    said: Mutex<Vec<String>>,
    /// Realms that have something to send.
    busy: Mutex<BTreeSet<String>>,
    fails: AtomicBool,
    tries: AtomicUsize,
}

impl Opener {
    fn say(&self, what: &str, name: &str) {
        self.said.lock().unwrap().push(format!("{what} {name}"));
    }

    fn said(&self) -> Vec<String> {
        std::mem::take(&mut *self.said.lock().unwrap())
    }
}

impl OpenRealm for Opener {
    fn settings(&self, _: Option<&RealmEntry>) -> Vec<SettingNow> {
        Vec::new()
    }

    fn check(&self, _: &RealmEntry) -> Result<(), Vec<String>> {
        Ok(())
    }

    fn open(&self, entry: Arc<RealmEntry>) -> RealmsFuture<'_, Result<Arc<Realm>, String>> {
        Box::pin(async move {
            self.tries.fetch_add(1, SeqCst);
            if self.fails.load(SeqCst) {
                return Err("it is not to be".to_owned());
            }
            self.say("open", &entry.name);
            let host = self.host.clone();
            let made = tokio::task::spawn_blocking(move || Server::another(&host, &entry));
            Ok(made.await.unwrap())
        })
    }

    fn opened(&self, _: &Realm) {}

    fn end_tasks(&self, _: &Arc<Realm>) {}

    fn close(&self, realm: Arc<Realm>) -> RealmsFuture<'_, ()> {
        Box::pin(async move { self.say("close", realm.id().as_str()) })
    }

    fn has_work<'a>(&'a self, entry: &'a RealmEntry) -> RealmsFuture<'a, bool> {
        Box::pin(async move { self.busy.lock().unwrap().contains(&entry.name) })
    }

    fn delete<'a>(&'a self, entry: &'a RealmEntry) -> RealmsFuture<'a, Result<usize, String>> {
        Box::pin(async move {
            self.say("delete", &entry.name);
            Ok(0)
        })
    }
}

fn entry(name: &str) -> RealmEntry {
    RealmEntry {
        name: name.to_owned(),
        made_as: None,
        issuer: format!("https://{name}.example"),
        description: None,
        suspended: false,
        deletes_at: None,
        settings: BTreeMap::new(),
        created_at: 0,
        revision: 0,
    }
}

struct World {
    runtime: tokio::runtime::Runtime,
    server: Server,
    realms: Arc<Realms>,
    opener: Arc<Opener>,
}

impl World {
    fn new() -> World {
        let server = Server::start(Setup::default());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let realms = Realms::new(server.realm.clone());
        let opener = Arc::new(Opener {
            host: server.realm.host.clone(),
            said: Mutex::default(),
            busy: Mutex::default(),
            fails: AtomicBool::new(false),
            tries: AtomicUsize::new(0),
        });
        runtime.block_on(async { realms.open_by(opener.clone()) });
        World {
            runtime,
            server,
            realms,
            opener,
        }
    }

    fn write(&self, wanted: &RealmEntry) {
        let known = self.server.realm.snapshot();
        let known = known.registry.realms.get(&wanted.name);
        let read = known.map(|known| known.revision);
        let writing = self.server.realm.write_realm(wanted, read);
        self.runtime.block_on(writing).unwrap();
    }

    fn remove(&self, name: &str) {
        let realm = &self.server.realm;
        let removing = realm.remove_record::<RealmEntry>(name, None);
        self.runtime.block_on(removing).unwrap();
    }

    fn slot(&self, name: &str) -> Arc<Slot> {
        let id = RealmId::parse(name).unwrap();
        self.realms.table().slot(&id).unwrap().clone()
    }

    fn open(&self, name: &str) -> Result<Arc<Realm>, NotOpen> {
        self.runtime.block_on(self.realms.open(&self.slot(name)))
    }

    fn is_open(&self, name: &str) -> bool {
        self.slot(name).opened().is_some()
    }

    fn close_quiet(&self) {
        self.runtime.block_on(self.realms.close_quiet());
    }
}

#[test]
fn of_more_open_realms_than_may_stay_those_that_are_quiet_the_longest_are_closed() {
    let world = World::new();
    let count = MAX_OPEN_REALMS + 3;
    let names: Vec<String> = (0..count).map(|i| format!("r{i}")).collect();
    for name in &names {
        world.write(&entry(name));
    }
    for name in &names {
        drop(world.open(name).unwrap());
    }
    world.close_quiet();
    let open = || names.iter().filter(|name| world.is_open(name)).count();
    assert_eq!(open(), count, "somebody asked for each just now");

    world.server.pass(6);
    // The first one has something to send, and somebody asks for the second one again.
    world.opener.busy.lock().unwrap().insert("r0".to_owned());
    drop(world.open("r1").unwrap());
    world.opener.said();
    world.close_quiet();
    assert!(world.is_open("r0") && world.is_open("r1"));
    assert_eq!(open(), MAX_OPEN_REALMS + 1, "all but the one with work");
    for closed in ["r2", "r3"] {
        assert!(!world.is_open(closed));
        drop(world.open(closed).unwrap());
    }
    let said = world.opener.said();
    for name in ["r2", "r3"] {
        let of = |what: &str| {
            said.iter()
                .position(|said| *said == format!("{what} {name}"))
        };
        assert!(of("close") < of("open"), "{said:?}");
    }
}

#[test]
fn a_realm_whose_name_comes_back_is_opened_when_the_former_one_is_closed() {
    let world = World::new();
    world.write(&entry("a"));
    let former = world.open("a").unwrap();
    world.remove("a");
    world.realms.table();
    world.write(&entry("a"));
    let slot = world.slot("a");
    let opening = world.runtime.spawn({
        let realms = world.realms.clone();
        async move { realms.open(&slot).await }
    });
    std::thread::sleep(Duration::from_millis(100));
    assert!(
        !opening.is_finished(),
        "a request of the former one is under way"
    );
    assert_eq!(world.opener.said(), ["open a"]);
    drop(former);
    let opened = world.runtime.block_on(opening).unwrap().unwrap();
    assert_eq!(opened.id().as_str(), "a");
    assert_eq!(world.opener.said(), ["close a", "open a"]);
}

#[test]
fn a_realm_that_the_file_declares_by_a_name_that_a_renamed_one_was_made_with_has_not_its_rows() {
    let world = World::new();
    let renamed = RealmEntry {
        made_as: Some("a".to_owned()),
        ..entry("b")
    };
    world.write(&renamed);
    world.server.configure(|_, declared| {
        let realms = Arc::make_mut(&mut declared.realms);
        realms.insert("a".to_owned(), Arc::new(entry("a")));
    });
    let snapshot = world.server.realm.snapshot();
    assert!(snapshot.registry.realms.contains_key("a"), "it is declared");
    assert_eq!(
        world.slot("a").entry().name,
        "b",
        "a name of rows is one realm's"
    );
    let opened: Vec<String> = world
        .realms
        .table()
        .slots()
        .map(|slot| slot.entry().name.clone())
        .collect();
    assert_eq!(opened, ["b"]);
}

#[test]
fn a_realm_whose_record_did_not_change_stays_open_when_another_one_does() {
    let world = World::new();
    for name in ["a", "b"] {
        world.write(&entry(name));
        drop(world.open(name).unwrap());
    }
    let described = RealmEntry {
        description: Some("words".to_owned()),
        ..entry("a")
    };
    world.write(&described);
    assert!(!world.is_open("a"));
    assert!(world.is_open("b"));
}

#[test]
fn a_realm_that_cannot_be_opened_is_not_tried_by_each_request() {
    let world = World::new();
    world.write(&entry("a"));
    world.opener.fails.store(true, SeqCst);
    for _ in 0..20 {
        assert_eq!(world.open("a").err(), Some(NotOpen::Failed));
    }
    let tries = world.opener.tries.load(SeqCst);
    assert!(tries < 20, "{tries} tries");
    world.opener.fails.store(false, SeqCst);
    let again = (0..100).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        world.open("a").ok()
    });
    assert!(again.is_some(), "it is tried again");
}

#[test]
fn a_suspended_realm_and_one_that_waits_to_be_deleted_answer_nothing() {
    let world = World::new();
    let suspended = RealmEntry {
        suspended: true,
        ..entry("a")
    };
    let removed = RealmEntry {
        deletes_at: Some(world.server.realm.now() + 60),
        ..entry("b")
    };
    for entry in [suspended, removed] {
        world.write(&entry);
        assert_eq!(world.open(&entry.name).err(), Some(NotOpen::Suspended));
    }
    world.server.pass(61);
    world.runtime.block_on(world.realms.delete_due());
    let snapshot = world.server.realm.snapshot();
    assert!(!snapshot.registry.realms.contains_key("b"));
    assert!(snapshot.registry.realms.contains_key("a"));
}

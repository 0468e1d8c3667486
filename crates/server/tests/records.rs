//! How records change: one function for every kind.
use crate::common::{Server, Setup, block_on};
use signet_crypto::seal::SealingKey;
use signet_oauth::administration::AdministratorRole;
use signet_oauth::client::Client;
use signet_oauth::command_line;
use signet_oauth::people::access_rules::{AccessRule, Effect};
use signet_oauth::people::provider::Provider;
use signet_oauth::people::{Attribute, Group, Role};
use signet_oauth::registry::{Descriptions, RealmEntry, Resource, ScopeEntry};
use signet_oauth::scope::ScopeSet;
use signet_realm::records::RecordError;
use signet_realm::records::groups::GroupDraft;
use signet_registry::kinds::{KINDS, RecordKind, Stored};
use signet_registry::load;
use signet_store::{Change, MemoryStore, Op, Store};
use std::sync::Arc;

fn server() -> Server {
    Server::start(Setup::default())
}

/// One that is written, written over and removed; and what every server has is as it was then.
fn lives_and_goes<T: Stored + PartialEq + std::fmt::Debug>(
    server: &Server,
    record: &T,
) -> RecordKind {
    let (realm, kind, name) = (&server.realm, T::ROW.kind, record.name());
    let shown = || T::get(&realm.snapshot().registry, name);
    assert_eq!(shown().as_deref(), None, "{kind:?}");
    let Some(_) = record.revision() else {
        block_on(realm.put_record(record.clone())).expect("is new");
        block_on(realm.put_record(record.clone())).expect("the last writer holds");
        assert_eq!(shown().as_deref(), Some(record), "{kind:?}");
        block_on(realm.remove_record::<T>(name, None)).expect("is there");
        assert_eq!(shown().as_deref(), None, "{kind:?}");
        return kind;
    };
    let first = block_on(realm.write_record(record.clone(), None)).expect("is new");
    assert_eq!(first.revision(), Some(1), "{kind:?}");
    let again = block_on(realm.write_record(record.clone(), None));
    assert!(
        matches!(again, Err(RecordError::Exists)),
        "{kind:?}: {again:?}"
    );
    let second = block_on(realm.write_record(record.clone(), Some(1))).expect("is 1");
    assert_eq!(second.revision(), Some(2), "{kind:?}");
    // Of two writers who read the same revision one receives a conflict.
    let late = block_on(realm.write_record(record.clone(), Some(1)));
    assert!(
        matches!(late, Err(RecordError::Conflict)),
        "{kind:?}: {late:?}"
    );
    assert_eq!(shown(), Some(second.clone()), "{kind:?}");
    let stored = block_on(load::all::<T>(&*realm.store, realm.now())).expect("reads");
    assert!(stored.contains(&*second), "{kind:?}: a restart has it");
    let late = block_on(realm.remove_record::<T>(name, Some(1)));
    assert!(
        matches!(late, Err(RecordError::Conflict)),
        "{kind:?}: {late:?}"
    );
    block_on(realm.remove_record::<T>(name, Some(2))).expect("is 2");
    assert_eq!(shown().as_deref(), None, "{kind:?}");
    let gone = block_on(realm.remove_record::<T>(name, None));
    assert!(
        matches!(gone, Err(RecordError::NotFound)),
        "{kind:?}: {gone:?}"
    );
    let gone = block_on(realm.write_record(record.clone(), Some(2)));
    assert!(
        matches!(gone, Err(RecordError::NotFound)),
        "{kind:?}: {gone:?}"
    );
    kind
}

#[test]
fn a_record_of_every_kind_changes_by_the_same_rules() {
    let server = server();
    let resource = Resource {
        identifier: "https://other.example".into(),
        name: Some("Other".into()),
        scopes: ScopeSet::parse("read write").unwrap(),
        access_token_signed_response_alg: None,
        access_token_format: None,
        access_token_lifetime: Some(60),
        introspectors: vec!["gateway".into()],
        claims: Vec::new(),
        revision: 0,
    };
    let scope = ScopeEntry {
        name: "orders".into(),
        description: "See your orders".into(),
        descriptions: Descriptions::read([("de".into(), "Bestellungen sehen".into())].into())
            .unwrap(),
        published: true,
        claims: Vec::new(),
    };
    let group = Group {
        id: "g".into(),
        name: "staff".into(),
        description: None,
        parent: None,
        roles: Vec::new(),
        external_id: None,
        revision: 0,
    };
    let role = Role {
        id: "r".into(),
        name: "editor".into(),
        description: None,
        revision: 0,
    };
    let realm = RealmEntry {
        name: "acme".into(),
        made_as: Some("first-name".into()),
        issuer: "https://acme.example".into(),
        description: None,
        suspended: true,
        deletes_at: None,
        settings: [("lifetimes.code".into(), "30".into())].into(),
        created_at: 7,
        revision: 0,
    };
    let registrar = AdministratorRole {
        name: "registrar".into(),
        description: Some("Registers clients".into()),
        operations: vec!["clients:read".into(), "createClient".into()],
        revision: 0,
    };
    let tried = [
        lives_and_goes(&server, &Client::new("c1", 7)),
        lives_and_goes(&server, &resource),
        lives_and_goes(&server, &scope),
        lives_and_goes(&server, &group),
        lives_and_goes(&server, &role),
        lives_and_goes(&server, &Attribute::new("level")),
        lives_and_goes(&server, &AccessRule::new("closed", Effect::Deny)),
        lives_and_goes(&server, &Provider::new("corp", "https://id.example")),
        lives_and_goes(&server, &realm),
        lives_and_goes(&server, &registrar),
    ];
    for row in KINDS.iter().filter(|row| row.registry.is_some()) {
        assert!(tried.contains(&row.kind), "{} are not tried", row.what);
    }
}

#[test]
fn what_every_server_has_can_be_changed_and_is_as_it_was_when_the_change_is_removed() {
    let mut stored = server();
    let realm = &mut stored.realm;
    let name = command_line::CLIENT_ID;
    let built_in = command_line::client().unwrap();
    let remove = || block_on(realm.remove_record::<Client>(name, None));
    assert!(matches!(remove(), Err(RecordError::BuiltIn)));
    let new = block_on(realm.write_record(built_in.clone(), None));
    assert!(matches!(new, Err(RecordError::Exists)), "{new:?}");
    let changed = Client {
        enabled: false,
        ..built_in.clone()
    };
    block_on(realm.write_record(changed, Some(built_in.revision))).expect("is as built in");
    let shown = || Client::get(&realm.snapshot().registry, name).unwrap();
    assert!(!shown().enabled);
    remove().expect("there is a change");
    assert_eq!(*shown(), built_in);
    assert!(matches!(remove(), Err(RecordError::BuiltIn)));
}

#[test]
fn what_a_later_version_wrote_is_kept_when_the_record_is_changed_here() {
    let server = server();
    let realm = &server.realm;
    let mut client = Client::new("a", 1);
    client.client_name = Some("Shop".into());
    block_on(realm.write_record(client.clone(), None)).expect("is new");
    let key = RecordKind::Client.key("a");
    let said = || {
        let row = block_on(realm.store.get(&key, realm.now()))
            .unwrap()
            .unwrap();
        serde_json::from_slice::<serde_json::Value>(&row.value).unwrap()
    };
    let mut later = said();
    later["later_list"] = serde_json::json!(["x", { "y": 1 }]);
    let put = Op::Put {
        key: key.clone(),
        value: serde_json::to_vec(&later).unwrap(),
        end: None,
    };
    block_on(realm.store.commit(Change::new(put), realm.now())).unwrap();
    // Taken away, and something else said.
    client.client_name = None;
    block_on(realm.write_record(client, Some(1))).expect("is 1");
    let kept = said();
    assert_eq!(kept["later_list"], later["later_list"]);
    assert_eq!(kept["revision"], 2);
    assert_eq!(kept.get("client_name"), None);
}

#[test]
fn records_that_change_together_are_written_all_or_not_at_all() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let key = SealingKey::generate();
    let node = || {
        Server::start(Setup {
            store: Some(Arc::clone(&store)),
            sealing_key: key.clone(),
            ..Setup::default()
        })
    };
    let (here, there) = (node(), node());
    let groups = || {
        let stored = block_on(load::all::<Group>(&*store, here.realm.now())).unwrap();
        let mut names: Vec<String> = stored.into_iter().map(|group| group.name).collect();
        names.sort();
        names
    };
    let in_all = GroupDraft {
        parent: Some("all".to_owned()),
        ..GroupDraft::default()
    };
    // Whatever kind of record somebody else writes in between.
    let others: [&dyn Fn(); 3] = [
        &|| {
            let client = Client::new("other", 1);
            block_on(there.realm.write_record(client, None)).expect("is new");
        },
        &|| {
            let attribute = Attribute::new("other");
            block_on(there.realm.write_record(attribute, None)).expect("is new");
        },
        &|| {
            block_on(there.realm.remove_record::<Client>("other", None)).expect("is there");
        },
    ];
    for other in others {
        let together = block_on(here.realm.together(true)).unwrap();
        let tried = Arc::clone(&together.tried);
        block_on(tried.write_group("all", &GroupDraft::default(), None)).expect("is new");
        block_on(tried.write_group("staff", &in_all, None)).expect("what it names was tried");
        other();
        let late = block_on(together.commit());
        assert!(matches!(late, Err(RecordError::Conflict)), "{late:?}");
        assert_eq!(groups(), [""; 0]);
        assert!(here.realm.snapshot().registry.people.groups.is_empty());
    }
    let together = block_on(here.realm.together(true)).unwrap();
    let tried = Arc::clone(&together.tried);
    block_on(tried.write_group("all", &GroupDraft::default(), None)).expect("is new");
    block_on(tried.write_group("staff", &in_all, None)).expect("what it names was tried");
    assert_eq!(groups(), [""; 0], "what is tried is nowhere else");
    block_on(together.commit()).expect("nobody else wrote");
    assert_eq!(groups(), ["all", "staff"]);
    let snapshot = here.realm.snapshot();
    assert!(snapshot.registry.people.groups.contains_key("staff"));
    // The census counts them.
    block_on(here.realm.remove_group("staff")).expect("is there");
    block_on(here.realm.remove_group("all")).expect("is there");
}

//! What holds for every directory, tried on generated ones against whole realms in memory.
use crate::applying::body_of;
use crate::directory::Directory;
use crate::{check, export, references, toml_text};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Map, Value, json};
use signet_admin::declarations as server;
use signet_audit::Audit;
use signet_crypto::{Algorithm, Clock, hash::sha256, seal::SealingKey};
use signet_directory::passwords::PasswordOptions;
use signet_encoding::base64url;
use signet_merge::tell::Alone;
use signet_oauth::people::{Attribute, Group};
use signet_oauth::{registry::Registry, settings::Settings};
use signet_realm::nodes::SingleNode;
use signet_realm::outbound::OutboundOptions;
use signet_realm::state::{Host, HostParts, Partition, Parts, Policy, Realm, RealmId, Replica};
use signet_realm::user_services::UserServiceOptions;
use signet_registry::change_writer::ChangeWriter;
use signet_registry::delta::Configuration;
use signet_registry::keys::{self, KeyKind, Moment, SigningKeys};
use signet_store::{
    Change, Layer, MemoryStore, NodeId, Outcome, RevocationIndex, Store, StoreError, StoreFuture,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};

struct Still;

impl Clock for Still {
    fn now_ms(&self) -> u64 {
        1_800_000_000_000
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future)
}

/// A realm over a store, as a start makes it.
async fn realm(store: Arc<dyn Store>) -> Arc<Realm> {
    let clock: Arc<dyn Clock> = Arc::new(Still);
    let mut settings = Settings::new("https://id.example");
    settings.signing_algs = vec![Algorithm::EdDsa];
    settings.access_token_alg = Algorithm::EdDsa;
    settings.id_token_alg = Algorithm::EdDsa;
    let host = Host::new(HostParts {
        clock: Arc::clone(&clock),
        policy: Policy::default(),
        outbound: OutboundOptions::default(),
        passwords: PasswordOptions::default(),
        routes: Vec::new(),
        nodes: Arc::new(SingleNode {
            name: NodeId::default(),
            url: settings.issuer.clone(),
        }),
    });
    static SEALING: OnceLock<SealingKey> = OnceLock::new();
    let current = SEALING.get_or_init(SealingKey::generate).clone();
    let partition = Partition::new(RealmId::default_realm(), store, current, Vec::new());
    let now = host.now();
    let stored = signet_registry::load::load(&**partition.store(), now);
    let stored = stored.await.unwrap();
    let revocations = RevocationIndex::load(Arc::clone(partition.store()), now);
    let tell = Alone::new(NodeId::default(), clock);
    let change_writer = ChangeWriter::new(partition.id().clone(), Arc::new(tell));
    let moment = Moment {
        now,
        longest_token: 600,
    };
    let loaded = SigningKeys::load(
        Arc::clone(partition.store()),
        Arc::clone(&change_writer),
        Arc::clone(partition.keyring()),
        KeyKind::all(&settings),
        keys::Policy::default(),
        moment,
    );
    let (signing_keys, published) = loaded.await.unwrap();
    let configuration = Configuration {
        settings: Arc::new(settings),
        declared: Arc::new(Registry::default()),
    };
    let parts = Parts {
        partition,
        change_writer,
        replica: Replica::new(configuration, stored, published).unwrap(),
        revocations: revocations.await.unwrap(),
        signing_keys,
        sealing_file: None,
        audit: Audit::off(),
        people: UserServiceOptions::default(),
    };
    Realm::new(host, parts)
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Tables of a directory: what each is called, and its members.
type Tables = Vec<(&'static str, Map<String, Value>)>;

const SECRET: &str = "a-secret-that-nobody-may-see-anywhere-0123456789";

/// A registry in which everything that is named exists, from some numbers.
fn tables(seed: &[u8]) -> Tables {
    let at = |i: usize| usize::from(seed.get(i % seed.len().max(1)).copied().unwrap_or(0));
    let mut found: Vec<(&'static str, Value)> = Vec::new();
    let (clients, roles, groups) = (at(0) % 4, at(1) % 4, at(2) % 6);
    for i in 0..at(3) % 3 {
        found.push((
            "scopes",
            json!({ "name": format!("scope{i}"), "description": "Words",
                    "published": at(i + 4) % 2 == 0, "descriptions": { "de": "Wörter" } }),
        ));
    }
    let scopes = at(3) % 3;
    for i in 0..clients {
        let scope = if scopes > 0 {
            "openid scope0"
        } else {
            "openid"
        };
        let mut client = json!({ "client_id": format!("c{i}"), "scope": scope,
            "redirect_uris": [format!("https://c{i}.example/cb")], "client_name": format!("\"é{i}\\") });
        match at(i + 5) % 3 {
            0 => client["token_endpoint_auth_method"] = "none".into(),
            1 => {
                client["client_secret"] = json!({ "file": "secret" });
                client["token_endpoint_auth_method"] = "client_secret_jwt".into();
            }
            _ => client["client_secret"] = json!({ "file": "secret" }),
        }
        if at(i + 6) % 3 == 0 {
            client["enabled"] = false.into();
        }
        found.push(("clients", client));
    }
    let role = |i: usize| match clients {
        0 => format!("r{i}"),
        _ if i.is_multiple_of(2) => format!("c0/r{i}"),
        _ => format!("r{i}"),
    };
    for i in 0..roles {
        found.push(("roles", json!({ "name": role(i), "description": "A role" })));
    }
    for i in 0..groups {
        let mut group = json!({ "name": format!("g{i}") });
        // In one that has a larger number: the order of names is not that of the changes.
        if i + 1 < groups && at(i + 7) % 2 == 0 {
            group["parent"] = format!("g{}", i + 1).into();
        }
        if roles > 0 {
            group["roles"] = json!([role(at(i + 8) % roles)]);
        }
        found.push(("groups", group));
    }
    let realms = at(14) % 4;
    for i in 0..realms {
        let mut realm = json!({ "name": format!("t{i}"), "suspended": at(i) % 2 == 0,
            "settings": { "lifetimes.code": "30s", "brand": { "name": format!("T{}", at(15)) } } });
        if i + 1 < realms && at(i + 2) % 2 == 0 {
            realm["like"] = format!("t{}", i + 1).into();
        }
        if at(i + 3) % 3 == 0 {
            realm["issuer"] = format!("https://t{i}.example").into();
        }
        found.push(("realms", realm));
    }
    for i in 0..at(9) % 3 {
        let kind = ["string", "number", "boolean", "list"][at(i + 10) % 4];
        found.push((
            "attributes",
            json!({ "name": format!("a{i}"), "type": kind }),
        ));
    }
    if clients > 0 && groups > 0 {
        found.push((
            "rules",
            json!({ "name": "rule", "effect": "deny", "groups": ["g0"], "clients": ["c0"],
                    "networks": ["10.1.2.0/24"], "except": { "groups": [format!("g{}", groups - 1)] } }),
        ));
    }
    for i in 0..at(11) % 3 {
        found.push((
            "resources",
            json!({ "identifier": format!("https://api{i}.example"), "scope": "openid",
                    "access_token_lifetime": 60 + at(12) }),
        ));
    }
    if at(13) % 2 == 0 {
        found.push((
            "providers",
            json!({ "name": "corp", "issuer": "https://corp.example", "client_id": "x",
                    "client_secret": { "file": "secret" }, "domains": ["corp.example"] }),
        ));
    }
    found
        .into_iter()
        .filter_map(|(table, members)| Some((table, members.as_object()?.clone())))
        .collect()
}

/// Writes the tables into files, each where and in which order some numbers say.
fn lay(folder: &Path, tables: &Tables, order: &[u8]) {
    let at = |i: usize| usize::from(order.get(i % order.len().max(1)).copied().unwrap_or(0));
    let mut files: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    for (i, (table, members)) in tables.iter().enumerate() {
        let folder = ["", "b/", "a/deep/"][at(i) % 3];
        let mut text = String::new();
        let mut members = members.clone();
        if let Some(secret) = members.get_mut("client_secret") {
            let up = "../".repeat(folder.matches('/').count());
            *secret = json!({ "file": format!("{up}secret") });
        }
        toml_text::table(&mut text, table, &members);
        let file = format!("{folder}f{}.toml", at(i + 1) % 3);
        files.entry(file).or_default().push((at(i + 2), text));
    }
    for (file, mut texts) in files {
        texts.sort();
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let texts: Vec<String> = texts.into_iter().map(|(_, text)| text).collect();
        std::fs::write(path, texts.join("\n")).unwrap();
    }
    std::fs::write(folder.join("secret"), SECRET).unwrap();
    let name = "directory = \"laws\"\n";
    std::fs::write(folder.join("signet-directory.toml"), name).unwrap();
}

async fn read(realm: &Arc<Realm>, folder: &Path) -> Result<Directory, TestCaseError> {
    let mut directory = check::directory(folder);
    let known = export::read(&server::export(realm).await.unwrap());
    let known = known.into_iter().map(|one| (one.kind, one.name));
    references::check(&mut directory, &known.collect());
    let said: Vec<String> = directory.mistakes.iter().map(ToString::to_string).collect();
    prop_assert!(said.is_empty(), "{said:?}");
    Ok(directory)
}

async fn sent(realm: &Arc<Realm>, folder: &Path, prune: bool) -> Result<Value, TestCaseError> {
    let directory = read(realm, folder).await?;
    Ok(body_of(&directory, (prune, false), true).unwrap())
}

async fn plan(realm: &Arc<Realm>, folder: &Path, prune: bool) -> Result<Value, TestCaseError> {
    let body = sent(realm, folder, prune).await?;
    let plan = server::plan(realm, body).await.unwrap();
    prop_assert_eq!(&plan["mistakes"], &json!([]));
    shows_no_secret(&plan)?;
    Ok(plan)
}

async fn apply(realm: &Arc<Realm>, folder: &Path, prune: bool) -> Result<Value, TestCaseError> {
    let body = sent(realm, folder, prune).await?;
    let done = server::apply(realm, body).await;
    let done = done.map_err(TestCaseError::fail)?;
    shows_no_secret(&done)?;
    Ok(done)
}

fn shows_no_secret(answer: &Value) -> Result<(), TestCaseError> {
    let text = answer.to_string();
    let hash = sha256(SECRET.as_bytes());
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    for secret in [SECRET.to_owned(), base64url::encode(&hash), hex] {
        prop_assert!(!text.contains(&secret), "{}", text);
    }
    Ok(())
}

async fn exported(realm: &Arc<Realm>) -> Result<BTreeMap<String, String>, TestCaseError> {
    let answer = server::export(realm).await.unwrap();
    shows_no_secret(&answer)?;
    Ok(export::files(&export::read(&answer)).0)
}

fn folder(dir: &tempfile::TempDir, name: &str) -> PathBuf {
    let path = dir.path().join(name);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn seeds() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 16)
}

fn laws(law: impl Fn(Vec<u8>, Vec<u8>, Vec<u8>) -> Result<(), TestCaseError>) {
    let config = ProptestConfig {
        cases: 12,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let inputs = (seeds(), seeds(), seeds());
    runner.run(&inputs, |(a, b, c)| law(a, b, c)).unwrap();
}

#[test]
fn a_plan_after_apply_is_empty_whatever_the_order_of_files() {
    laws(|seed, order, other| {
        block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let (one, two) = (folder(&dir, "one"), folder(&dir, "two"));
            let tables = tables(&seed);
            lay(&one, &tables, &order);
            lay(&two, &tables, &other);
            let realm = realm(memory()).await;
            let first = plan(&realm, &one, false).await?;
            prop_assert_eq!(first["changes"].as_array().unwrap().len(), tables.len());
            prop_assert_eq!(&first, &plan(&realm, &two, false).await?);
            let done = apply(&realm, &one, false).await?;
            prop_assert_eq!(&done["changes"], &first["changes"]);
            for folder in [&one, &two] {
                let after = plan(&realm, folder, true).await?;
                prop_assert_eq!(&after["changes"], &json!([]));
            }
            Ok(())
        })
    });
}

#[test]
fn a_directory_becomes_another_one_by_one_apply() {
    laws(|seed, order, other| {
        block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let (before, after) = (folder(&dir, "before"), folder(&dir, "after"));
            lay(&before, &tables(&seed), &order);
            lay(&after, &tables(&other), &order);
            let realm = realm(memory()).await;
            apply(&realm, &before, true).await?;
            apply(&realm, &after, true).await?;
            let left = plan(&realm, &after, true).await?;
            prop_assert_eq!(&left["changes"], &json!([]));
            let fresh = self::realm(memory()).await;
            apply(&fresh, &after, true).await?;
            prop_assert_eq!(exported(&realm).await?, exported(&fresh).await?);
            Ok(())
        })
    });
}

#[test]
fn what_is_exported_and_applied_elsewhere_is_exported_the_same() {
    laws(|seed, order, _| {
        block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let (one, two) = (folder(&dir, "one"), folder(&dir, "two"));
            lay(&one, &tables(&seed), &order);
            let here = realm(memory()).await;
            apply(&here, &one, false).await?;
            let answer = export::read(&server::export(&here).await.unwrap());
            let (files, secrets) = export::files(&answer);
            // A directory without a file is a mistake; its name is one.
            std::fs::write(two.join("signet-directory.toml"), "directory = \"two\"\n").unwrap();
            for (name, text) in &files {
                std::fs::write(two.join(name), text).unwrap();
            }
            std::fs::create_dir(two.join("secrets")).unwrap();
            for place in secrets {
                std::fs::write(two.join(place), SECRET).unwrap();
            }
            let there = realm(memory()).await;
            apply(&there, &two, false).await?;
            prop_assert_eq!(exported(&there).await?, files);
            Ok(())
        })
    });
}

#[test]
fn what_a_directory_does_not_own_is_not_touched() {
    laws(|seed, order, other| {
        block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let (one, two) = (folder(&dir, "one"), folder(&dir, "two"));
            lay(&one, &tables(&seed), &order);
            lay(&two, &tables(&other), &order);
            let realm = realm(memory()).await;
            let hand = Attribute::new("byhand");
            realm.write_attribute(hand, None).await.unwrap();
            let draft = signet_realm::records::groups::GroupDraft::default();
            realm.write_group("byhand", &draft, None).await.unwrap();
            for folder in [&one, &two, &one] {
                apply(&realm, folder, true).await?;
                let snapshot = realm.snapshot();
                let people = &snapshot.registry.people;
                let revision = people
                    .groups
                    .get("byhand")
                    .map(|group: &Arc<Group>| group.revision);
                prop_assert_eq!(revision, Some(1));
                prop_assert!(people.attributes.contains_key("byhand"));
            }
            // A directory of another name declares what this one owns: nothing is done.
            let name = "directory = \"other\"\n";
            std::fs::write(one.join("signet-directory.toml"), name).unwrap();
            let before = exported(&realm).await?;
            let body = sent(&realm, &one, true).await?;
            let has_some = body["objects"]
                .as_array()
                .is_some_and(|all| !all.is_empty());
            let refused = server::apply(&realm, body).await;
            prop_assert_eq!(refused.is_err(), has_some);
            prop_assert_eq!(exported(&realm).await?, before);
            Ok(())
        })
    });
}

/// Names and owners of everything that there is.
async fn owned(realm: &Arc<Realm>) -> BTreeMap<(String, String), String> {
    let answer = server::export(realm).await.unwrap();
    let text = |one: &Value, member: &str| one[member].as_str().unwrap_or_default().to_owned();
    let objects = answer["objects"].as_array().into_iter().flatten();
    let named = |one| ((text(one, "kind"), text(one, "name")), text(one, "owner"));
    objects.map(named).collect()
}

#[test]
fn what_is_removed_by_its_name_goes_alone_and_only_from_its_own_directory() {
    laws(|seed, order, _| {
        block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let one = folder(&dir, "one");
            lay(&one, &tables(&seed), &order);
            let realm = realm(memory()).await;
            apply(&realm, &one, false).await?;
            let objects = sent(&realm, &one, false).await?["objects"].take();
            for object in objects.as_array().into_iter().flatten() {
                let of = json!({ "kind": object["kind"], "name": object["name"] });
                let asked = |directory: &str| json!({ "directory": directory, "objects": [], "remove": [of], "adopt": true });
                let before = owned(&realm).await;
                let is_there = before
                    .keys()
                    .any(|(kind, name)| of["kind"] == *kind && of["name"] == *name);
                let refused = server::apply(&realm, asked("other")).await;
                let said = refused.err().unwrap_or_default();
                // It may have gone with its client.
                prop_assert_eq!(
                    said.contains("the directory laws owns it"),
                    is_there,
                    "{}",
                    said
                );
                prop_assert_eq!(&owned(&realm).await, &before);

                let done = server::apply(&realm, asked("laws")).await;
                let mut left = before.clone();
                match done {
                    // Something refers to it.
                    Err(_) => {}
                    Ok(done) => {
                        let gone = done["changes"].as_array().unwrap();
                        prop_assert!(gone.iter().all(|change| change["act"] == "remove"));
                        let is_gone = |kind: &str, name: &str| {
                            gone.iter()
                                .any(|change| change["kind"] == kind && change["name"] == name)
                        };
                        left.retain(|(kind, name), _| !is_gone(kind, name));
                        // A client takes its roles with it; nothing else takes anything.
                        let is_client = of["kind"] == "client";
                        let count = before.len() - left.len();
                        prop_assert!(count == usize::from(is_there) || is_client);
                        // What is gone already is no mistake, and nothing to do.
                        let again = server::apply(&realm, asked("laws")).await.unwrap();
                        prop_assert_eq!(&again["changes"], &json!([]));
                    }
                }
                prop_assert_eq!(&owned(&realm).await, &left);
            }
            Ok(())
        })
    });
}

#[test]
fn what_cannot_be_removed_is_said_and_nothing_is_done() {
    block_on(async {
        let realm = realm(memory()).await;
        let draft = signet_realm::records::groups::GroupDraft::default();
        realm.write_group("byhand", &draft, None).await.unwrap();
        let group = json!({ "kind": "group", "name": "byhand" });
        let declared = json!({ "kind": "group", "name": "byhand", "members": {} });
        for (objects, remove, adopt, said) in [
            (json!([]), &group, false, "made by hand"),
            (
                json!([declared]),
                &group,
                true,
                "it is declared, and to be removed",
            ),
            (
                json!([]),
                &json!({ "kind": "grup", "name": "x" }),
                true,
                "there is no such kind of object",
            ),
        ] {
            let asked = json!({ "directory": "one", "objects": objects, "remove": [remove], "adopt": adopt });
            let plan = server::plan(&realm, asked.clone()).await.unwrap();
            let mistake = plan["mistakes"][0]["detail"].as_str().unwrap();
            assert!(mistake.contains(said), "{mistake}");
            assert!(server::apply(&realm, asked).await.is_err());
        }
        // What every server has is as it was, and stays.
        let scope = json!({ "kind": "scope", "name": "openid" });
        let nobody = json!({ "kind": "user", "name": "nobody" });
        let asked = json!({ "directory": "one", "objects": [], "remove": [scope, nobody, group], "adopt": true });
        let done = server::apply(&realm, asked).await.unwrap();
        let names: Vec<&Value> = done["changes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| &c["name"])
            .collect();
        assert_eq!(names, ["byhand"]);
        let left = owned(&realm).await;
        assert!(left.contains_key(&("scope".to_owned(), "openid".to_owned())));
    });
}

/// A store that takes so many changes, and then none.
struct Cut {
    inner: MemoryStore,
    left: AtomicUsize,
}

impl Layer for Cut {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }
    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        let left = self
            .left
            .fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
        match left {
            Ok(_) => self.inner.commit(change, now),
            Err(_) => Box::pin(async { Err(StoreError::Unavailable("cut".to_owned())) }),
        }
    }
}

#[test]
fn a_cut_in_the_middle_leaves_the_old_or_the_new() {
    laws(|seed, order, other| {
        block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let (before, after) = (folder(&dir, "before"), folder(&dir, "after"));
            lay(&before, &tables(&seed), &order);
            lay(&after, &tables(&other), &order);
            let whole = realm(memory()).await;
            apply(&whole, &before, true).await?;
            let old = exported(&whole).await?;
            apply(&whole, &after, true).await?;
            let new = exported(&whole).await?;
            for changes in 0..4 {
                let store = Arc::new(Cut {
                    inner: MemoryStore::new(),
                    left: AtomicUsize::new(usize::MAX),
                });
                let realm = realm(Arc::clone(&store) as Arc<dyn Store>).await;
                apply(&realm, &before, true).await?;
                let body = sent(&realm, &after, true).await?;
                store.left.store(changes, SeqCst);
                let done = server::apply(&realm, body).await;
                store.left.store(usize::MAX, SeqCst);
                // A process that starts again sees what the store has.
                let again = self::realm(Arc::clone(&store) as Arc<dyn Store>).await;
                let found = exported(&again).await?;
                let expected = match (changes, done.is_ok()) {
                    (0, false) => &old,
                    (_, true) => &new,
                    // It was cut behind the change, where sessions end.
                    (_, false) => &new,
                };
                prop_assert_eq!(&found, expected);
            }
            Ok(())
        })
    });
}

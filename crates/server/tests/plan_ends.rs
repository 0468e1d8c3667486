//! What a plan of declarations says that it ends, and what is gone once it was applied: for each
//! kind of change that ends something, and for those that end nothing.
use crate::agents::world::{World, agent};
use crate::common::client::Call;
use crate::common::made::{code_content, redeem};
use crate::common::people::{PASSWORD, add_user};
use crate::common::{SECRET, Server, Setup, block_on, browser::Browser, scope};
use serde_json::{Value, json};
use signet_admin::declarations;
use signet_directory::grants::{self, GrantRow};
use signet_directory::{User, consent, session};
use signet_oauth::id::GrantId;
use signet_oauth::registry::RealmEntry;
use signet_realm::agents::binding;
use signet_realm::realms::{OpenRealm, Realms, RealmsFuture, SettingNow};
use signet_realm::state::{Host, Realm};
use signet_realm::terminate::{MAX_COUNTED, MAX_LOOKED_THROUGH};
use signet_store::Change;
use std::sync::{Arc, Mutex};

const CALLBACK: &str = "https://client.example/cb";

fn member(kind: &str, name: &str, members: Value) -> Value {
    json!({ "kind": kind, "name": name, "members": members })
}

fn person(name: &str, groups: &[&str], more: Value) -> Value {
    let mut members = json!({ "email": format!("{name}@example.test"), "groups": groups });
    for (name, value) in more.as_object().unwrap() {
        members[name] = value.clone();
    }
    member("user", name, members)
}

/// A client, groups and roles, people who are in them, and what nothing hangs on.
fn base() -> Vec<Value> {
    let mut shop = member(
        "client",
        "shop",
        json!({
            "redirect_uris": [CALLBACK], "scope": "openid email offline_access",
            "grant_types": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_method": "client_secret_basic",
            "claims": ["groups", "resource_access", "roles"],
        }),
    );
    shop["secret"] = SECRET.into();
    let staff = json!({ "parent": "all", "roles": ["editor"] });
    let rule = json!({ "effect": "deny", "users": ["dave"], "clients": ["plain"] });
    let provider = json!({ "issuer": "https://acme.example", "client_id": "signet" });
    let mut acme = member("provider", "acme", provider);
    acme["secret"] = "given-by-acme".into();
    vec![
        shop,
        member("role", "editor", json!({})),
        member("role", "shop/till", json!({})),
        member("group", "all", json!({})),
        member("group", "staff", staff),
        member("scope", "orders", json!({ "description": "Your orders" })),
        member("resource", "https://orders.example", json!({})),
        member("rule", "nobody", rule),
        acme,
        person("alice", &["staff"], json!({})),
        person(
            "bob",
            &["staff"],
            json!({ "roles": ["shop/till"], "admin": true }),
        ),
        person("carol", &[], json!({})),
    ]
}

fn directory(objects: &[Value]) -> Value {
    json!({ "directory": "d", "prune": true, "adopt": true, "objects": objects })
}

fn user(server: &Server, name: &str) -> User {
    let users = &server.realm.people.users;
    let found = block_on(users.by_login(name, server.realm.now())).unwrap();
    found.expect(name)
}

/// A grant, and the refresh token that its client has.
struct Given {
    client_id: &'static str,
    refresh: String,
}

/// People, with what they have; all of it is in force.
struct Scene {
    world: World,
    people: Vec<User>,
    grants: Vec<Given>,
}

/// How much of it is in force.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Left {
    sessions: usize,
    grants: usize,
    consents: usize,
    agents: usize,
}

impl Scene {
    fn new() -> Scene {
        let world = World::new();
        let server = &world.server;
        for name in ["bob", "carol", "dave"] {
            add_user(server, name);
        }
        let (realm, users) = (&server.realm, &server.realm.people.users);
        // Bob is not the last who may administer.
        let administers = |draft: &mut signet_directory::UserDraft| draft.user.admin = true;
        block_on(users.change(&user(server, "dave").id, realm.now(), administers)).unwrap();
        let done = block_on(declarations::apply(realm, directory(&base()))).expect("is applied");
        assert_eq!(done["ends"]["counted"], json!([]), "{done}");
        let people: Vec<User> = ["alice", "bob", "carol"]
            .map(|name| user(server, name))
            .into();
        for user in &people {
            let mut browser = Browser::new(server);
            let page = browser.get("/account").expect("name=\"password\"");
            let page = browser.log_in(&page, &user.username, PASSWORD);
            page.expect("Your account");
            let wanted = scope("openid email");
            let agreed = consent::add(&*realm.store, &user.id, "shop", &wanted, &[], realm.now());
            block_on(agreed).unwrap();
        }
        world.bind(&people[1].id, &agent("bobs"));
        let mut scene = Scene {
            world,
            people,
            grants: Vec::new(),
        };
        for (client_id, user, count) in [
            ("shop", "alice", 2),
            ("shop", "bob", 1),
            ("shop", "carol", 1),
            ("web", "alice", 1),
        ] {
            for _ in 0..count {
                let (_, given) = scene.give(client_id, user);
                scene.grants.push(given);
            }
        }
        // A revoked one is listed for a while, and is not counted.
        let (id, _) = scene.give("shop", "carol");
        block_on(scene.world.server.realm.revoke_grant(id)).unwrap();
        scene
    }

    fn give(&self, client_id: &'static str, name: &'static str) -> (GrantId, Given) {
        let server = &self.world.server;
        let content = code_content(server, client_id, &user(server, name).id);
        let code = content.seal(&server.realm.keyring()).unwrap();
        let call = Call::post("/token").basic(client_id, SECRET);
        let tokens = call.form(&redeem(&code)).send(server).expect(200);
        let given = Given {
            client_id,
            refresh: tokens.member("refresh_token"),
        };
        (content.grant_id, given)
    }

    fn plan(&self, objects: &[Value]) -> Value {
        let plan = declarations::plan(&self.world.server.realm, directory(objects));
        let plan = block_on(plan).expect("a plan");
        assert_eq!(plan["mistakes"], json!([]));
        plan
    }

    /// Applies what was planned; what it says that it ended.
    fn apply(&self, objects: &[Value], plan: &Value) -> Value {
        let mut wanted = directory(objects);
        wanted["plan"] = plan["plan"].clone();
        let done = declarations::apply(&self.world.server.realm, wanted);
        block_on(done).expect("is applied")["ends"]["counted"].clone()
    }

    /// How many of the grants can be refreshed. Once.
    fn refreshed(&mut self) -> usize {
        let server = &self.world.server;
        let mut works = 0;
        for given in &mut self.grants {
            let form = [
                ("grant_type", "refresh_token"),
                ("refresh_token", given.refresh.as_str()),
            ];
            let call = Call::post("/token").basic(given.client_id, SECRET);
            let reply = call.form(&form).send(server);
            if reply.status == 200 {
                works += 1;
                given.refresh = reply.member("refresh_token");
            }
        }
        works
    }

    /// With the declarations of before in effect again: what ended is not back.
    fn left(&mut self) -> Left {
        let before = base();
        let plan = self.plan(&before);
        self.apply(&before, &plan);
        let (store, now) = (&*self.world.server.realm.store, self.world.now());
        let (mut sessions, mut consents, mut agents) = (0, 0, 0);
        for user in &self.people {
            sessions += block_on(session::list(store, &user.id, now)).unwrap().len();
            consents += block_on(consent::all(store, &user.id, now)).unwrap().len();
            agents += block_on(binding::list(store, &user.id, now)).unwrap().len();
        }
        Left {
            sessions,
            consents,
            agents,
            grants: self.refreshed(),
        }
    }
}

/// Everything that a scene has.
const ALL: Left = Left {
    sessions: 3,
    grants: 5,
    consents: 3,
    agents: 2,
};

/// A change of the declarations.
type Changing = fn(&mut Vec<Value>);

/// A change of the declarations, and what it ends.
struct Case {
    what: &'static str,
    change: Changing,
    counted: fn() -> Value,
}

fn without(objects: &mut Vec<Value>, kind: &str, name: &str) {
    objects.retain(|object| object["kind"] != kind || object["name"] != name);
}

fn object<'o>(objects: &'o mut [Value], kind: &str, name: &str) -> &'o mut Value {
    let mut found = objects.iter_mut();
    let found = found.find(|object| object["kind"] == kind && object["name"] == name);
    &mut found.unwrap()["members"]
}

const CASES: &[Case] = &[
    Case {
        what: "a client is removed, and its roles with it",
        change: |objects| {
            without(objects, "client", "shop");
            without(objects, "role", "shop/till");
            object(objects, "user", "bob")["roles"] = json!([]);
        },
        counted: || {
            json!([{ "kind": "client", "name": "shop", "why": "removed",
                     "people": { "count": 3 }, "grants": { "count": 4 } }])
        },
    },
    Case {
        what: "a client is disabled",
        change: |objects| object(objects, "client", "shop")["enabled"] = false.into(),
        counted: || {
            json!([{ "kind": "client", "name": "shop", "why": "disabled",
                     "people": { "count": 3 }, "grants": { "count": 4 } }])
        },
    },
    Case {
        what: "a person is removed",
        change: |objects| without(objects, "user", "bob"),
        counted: || {
            json!([{ "kind": "user", "name": "bob", "why": "removed", "sessions": { "count": 1 },
                     "grants": { "count": 1 }, "consents": { "count": 1 }, "agents": { "count": 1 } }])
        },
    },
    Case {
        what: "a person is disabled",
        change: |objects| object(objects, "user", "alice")["enabled"] = false.into(),
        counted: || {
            json!([{ "kind": "user", "name": "alice", "why": "disabled", "sessions": { "count": 1 },
                     "grants": { "count": 3 }, "agents": { "count": 1 } }])
        },
    },
    Case {
        what: "a person's account is over",
        change: |objects| object(objects, "user", "carol")["expires_at"] = 1_700_000_000.into(),
        counted: || {
            json!([{ "kind": "user", "name": "carol", "why": "disabled", "sessions": { "count": 1 },
                     "grants": { "count": 1 } }])
        },
    },
    Case {
        what: "a person may administer no more",
        change: |objects| object(objects, "user", "bob")["admin"] = false.into(),
        counted: || {
            json!([{ "kind": "user", "name": "bob", "why": "demoted", "sessions": { "count": 1 },
                     "grants": { "count": 1 }, "agents": { "count": 1 } }])
        },
    },
    Case {
        what: "a person leaves a group: what a client knows of it ends",
        change: |objects| object(objects, "user", "alice")["groups"] = json!([]),
        counted: || json!([{ "kind": "user", "name": "alice", "why": "lost", "grants": { "count": 2 } }]),
    },
    Case {
        what: "a person loses a role",
        change: |objects| object(objects, "user", "bob")["roles"] = json!([]),
        counted: || json!([{ "kind": "user", "name": "bob", "why": "lost", "grants": { "count": 1 } }]),
    },
    Case {
        what: "a group is in another one no more",
        change: |objects| {
            let staff = object(objects, "group", "staff").as_object_mut().unwrap();
            staff.remove("parent");
        },
        counted: || {
            json!([{ "kind": "group", "name": "all", "why": "lost",
                     "people": { "count": 2 }, "grants": { "count": 3 } }])
        },
    },
    Case {
        what: "a role is removed",
        change: |objects| {
            without(objects, "role", "editor");
            object(objects, "group", "staff")["roles"] = json!([]);
        },
        counted: || {
            json!([{ "kind": "role", "name": "editor", "why": "lost",
                     "people": { "count": 2 }, "grants": { "count": 3 } }])
        },
    },
];

#[test]
fn what_a_plan_counts_is_what_is_gone_once_it_is_applied() {
    for Case {
        what,
        change,
        counted,
    } in CASES
    {
        let mut scene = Scene::new();
        let mut objects = base();
        change(&mut objects);
        let plan = scene.plan(&objects);
        assert_eq!(plan["ends"]["counted"], counted(), "{what}");
        let done = scene.apply(&objects, &plan);
        assert_eq!(done, counted(), "{what}");
        let left = scene.left();
        let gone = |kind: &str| {
            let list = plan["ends"]["counted"].as_array().unwrap().iter();
            let counts = list.map(|one| one[kind]["count"].as_u64().unwrap_or(0));
            usize::try_from(counts.sum::<u64>()).unwrap()
        };
        let expected = Left {
            sessions: ALL.sessions - gone("sessions"),
            grants: ALL.grants - gone("grants"),
            consents: ALL.consents - gone("consents"),
            agents: ALL.agents - gone("agents"),
        };
        assert_eq!(left, expected, "{what}");
    }
}

#[test]
fn a_group_that_is_removed_ends_what_was_issued_for_it() {
    let mut scene = Scene::new();
    let mut objects = base();
    without(&mut objects, "group", "staff");
    for name in ["alice", "bob"] {
        object(&mut objects, "user", name)["groups"] = json!([]);
    }
    let plan = scene.plan(&objects);
    // With the group its parent and its role go: what ends is counted with each of the three.
    let of = |kind: &str, name: &str| {
        json!({ "kind": kind, "name": name, "why": "lost",
                "people": { "count": 2 }, "grants": { "count": 3 } })
    };
    let groups = [
        of("group", "all"),
        of("group", "staff"),
        of("role", "editor"),
    ];
    assert_eq!(plan["ends"]["counted"], json!(groups));
    scene.apply(&objects, &plan);
    let left = scene.left();
    assert_eq!(left, Left { grants: 2, ..ALL });
}

#[test]
fn a_client_that_may_not_refresh_any_more_keeps_what_it_cannot_use() {
    let mut scene = Scene::new();
    let mut objects = base();
    object(&mut objects, "client", "shop")["grant_types"] = json!(["authorization_code"]);
    let plan = scene.plan(&objects);
    let counted = json!([{ "kind": "client", "name": "shop", "why": "cannot_refresh",
                           "people": { "count": 3 }, "grants": { "count": 4 } }]);
    assert_eq!(plan["ends"]["counted"], counted);
    assert_eq!(plan["ends"]["clients"], json!([]));
    scene.apply(&objects, &plan);
    assert_eq!(scene.refreshed(), ALL.grants - 4);
    assert_eq!(scene.left(), ALL);
}

/// Refreshing and authorizing decide again by what is there: nothing is revoked with these.
#[test]
fn what_ends_nothing_is_said_to_end_nothing() {
    let changes: &[(&str, Changing)] = &[
        ("a scope", |objects| without(objects, "scope", "orders")),
        ("a resource", |objects| {
            without(objects, "resource", "https://orders.example");
        }),
        ("a rule", |objects| without(objects, "rule", "nobody")),
        ("a provider", |objects| without(objects, "provider", "acme")),
        ("a secret", |objects| {
            let mut found = objects.iter_mut();
            let shop = found.find(|object| object["name"] == "shop").unwrap();
            shop["secret"] = "another-secret-of-at-least-thirty-two-bytes".into();
        }),
        ("a group that nobody is in", |objects| {
            objects.push(member("group", "new", json!({})));
        }),
        ("a member of a client", |objects| {
            object(objects, "client", "shop")["client_name"] = "Shop".into();
        }),
    ];
    let mut scene = Scene::new();
    for (what, change) in changes {
        let mut objects = base();
        change(&mut objects);
        let plan = scene.plan(&objects);
        assert_ne!(plan["changes"], json!([]), "{what}");
        assert_eq!(plan["ends"]["counted"], json!([]), "{what}");
        scene.apply(&objects, &plan);
        assert_eq!(scene.left(), ALL, "{what}");
    }
}

#[test]
fn who_logs_in_after_a_plan_makes_no_other_plan_of_it() {
    let scene = Scene::new();
    let mut objects = base();
    without(&mut objects, "user", "bob");
    let plan = scene.plan(&objects);
    scene.give("shop", "bob");
    let done = scene.apply(&objects, &plan);
    assert_eq!(done[0]["grants"]["count"], 2, "{done}");
}

/// Lists this many grants of a client and a person, whose account is gone.
fn list_many(server: &Server, user_id: &str, client_id: &str, count: usize) {
    let now = server.realm.now();
    let row = GrantRow {
        client_id: client_id.to_owned(),
        scope: "openid".to_owned(),
        sid: None,
        created_at: now,
    };
    let entry = |_| {
        let id = GrantId::new(signet_crypto::random::bytes());
        Change::new(grants::entry(user_id, &id, &row, now + 3600))
    };
    let changes = (0..count).map(entry).collect();
    block_on(server.realm.store.commit_each(changes, now)).unwrap();
}

#[test]
fn a_plan_counts_as_far_as_its_bounds_and_says_that_there_is_more() {
    let scene = Scene::new();
    let server = &scene.world.server;
    let mut objects = base();
    without(&mut objects, "client", "shop");
    without(&mut objects, "role", "shop/till");
    object(&mut objects, "user", "bob")["roles"] = json!([]);
    let counted = || scene.plan(&objects)["ends"]["counted"][0].clone();
    assert_eq!(counted()["grants"], json!({ "count": 4 }));
    // No account's id is before or behind these.
    list_many(server, "!", "shop", MAX_COUNTED - 4);
    assert_eq!(counted()["grants"], json!({ "count": MAX_COUNTED }));
    assert_eq!(counted()["people"], json!({ "count": 4 }));
    list_many(server, "!", "shop", 1);
    let most = json!({ "count": MAX_COUNTED, "more": true });
    assert_eq!(counted()["grants"], most);
    assert_eq!(counted()["people"], json!({ "count": 4 }));
    // Those of all clients together are too many to be looked through.
    list_many(server, "!!", "web", MAX_LOOKED_THROUGH);
    let seen = json!({ "count": MAX_COUNTED - 3, "more": true });
    assert_eq!(counted()["grants"], seen);
    assert_eq!(counted()["people"], json!({ "count": 1, "more": true }));
}

/// Gives each realm a store in memory, and keeps it.
struct Opener {
    host: Arc<Host>,
    opened: Mutex<Option<Arc<Realm>>>,
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
            let known = self.opened.lock().unwrap().clone();
            if let Some(known) = known {
                return Ok(known);
            }
            let host = self.host.clone();
            let made = tokio::task::spawn_blocking(move || Server::another(&host, &entry));
            let made = made.await.unwrap();
            *self.opened.lock().unwrap() = Some(made.clone());
            Ok(made)
        })
    }

    fn opened(&self, _: &Realm) {}
    fn end_tasks(&self, _: &Arc<Realm>) {}

    fn close(&self, _: Arc<Realm>) -> RealmsFuture<'_, ()> {
        Box::pin(async {})
    }

    fn has_work<'a>(&'a self, _: &'a RealmEntry) -> RealmsFuture<'a, bool> {
        Box::pin(async { false })
    }

    fn delete<'a>(&'a self, _: &'a RealmEntry) -> RealmsFuture<'a, Result<usize, String>> {
        Box::pin(async { Ok(0) })
    }
}

#[test]
fn a_realm_that_is_suspended_or_removed_is_counted_whole() {
    let server = Server::start(Setup::default());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let realms = Realms::of(&server.realm).expect("it holds its realms");
    let opener = Arc::new(Opener {
        host: server.realm.host.clone(),
        opened: Mutex::default(),
    });
    runtime.block_on(async { realms.open_by(opener.clone()) });
    let acme = |members: Value| vec![member("realm", "acme", members)];
    let plan = |objects: &[Value]| {
        let plan = declarations::plan(&server.realm, directory(objects));
        runtime.block_on(plan).expect("a plan")["ends"]["counted"].clone()
    };
    let apply = |objects: &[Value]| {
        let done = declarations::apply(&server.realm, directory(objects));
        runtime.block_on(done).expect("is applied")["ends"]["counted"].clone()
    };
    assert_eq!(apply(&acme(json!({}))), json!([]));
    // The realm is opened by whoever counts in it first.
    let counted = json!([{ "kind": "realm", "name": "acme", "why": "suspended" }]);
    let suspended = acme(json!({ "suspended": true }));
    assert_eq!(plan(&suspended), counted);
    let realm = opener.opened.lock().unwrap().clone().expect("it is open");
    for name in ["ada", "bo"] {
        let new = signet_directory::NewUser {
            username: name.to_owned(),
            ..signet_directory::NewUser::default()
        };
        let user = runtime.block_on(realm.people.users.create(new, realm.now()));
        let user = user.unwrap();
        let (store, wanted) = (&*realm.store, scope("openid"));
        let agreed = consent::add(store, &user.id, "shop", &wanted, &[], realm.now());
        runtime.block_on(agreed).unwrap();
    }
    let of = |why: &str| {
        json!([{ "kind": "realm", "name": "acme", "why": why,
                 "people": { "count": 2 }, "consents": { "count": 2 } }])
    };
    assert_eq!(plan(&suspended), of("suspended"));
    assert_eq!(apply(&suspended), of("suspended"));
    // It answers no more already, and would be deleted.
    assert_eq!(plan(&[]), of("removed"));
    assert_eq!(apply(&[]), of("removed"));
    assert_eq!(plan(&[]), json!([]));
}

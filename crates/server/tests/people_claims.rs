//! Groups, roles and attributes of people, and the claims that tables make of them.
use crate::common::{
    SECRET, Server, Setup, block_on,
    browser::Browser,
    client,
    client::{Call, Reply},
    cluster::Cluster,
    made::{claims, code_content, redeem},
    people::{Mail, PASSWORD, add_user, people, request, start},
    scope,
};
use http::Method;
use serde_json::{Value, json};
use signet_oauth::client::ConsentPolicy;
use signet_oauth::issued::format::AccessTokenFormat;
use signet_oauth::people::MAX_GROUP_DEPTH;
use signet_oauth::people::mapped_claims::OMITTED;

const API: &str = "https://api.example";

fn with_people(setup: &mut Setup) {
    let mut operator = client("operator");
    operator.scope = scope("signet:admin");
    setup.clients.push(operator);
    setup.clients[0].scope = scope("openid profile email groups work offline_access api:read");
    setup.clients[0].consent = ConsentPolicy::Skip;
}

fn server(mail: &Mail) -> Server {
    start(mail, with_people)
}

pub struct Operator<'a> {
    server: &'a Server,
    pub token: String,
}

impl<'a> Operator<'a> {
    pub fn of(server: &'a Server) -> Operator<'a> {
        let form = [
            ("grant_type", "client_credentials"),
            ("scope", "signet:admin"),
        ];
        let reply = Call::post("/token").basic("operator", SECRET).form(&form);
        let token = reply.send(server).expect(200).member("access_token");
        Operator { server, token }
    }
    pub fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Reply {
        let mut call = Call::new(method, &format!("/admin/v1{path}")).bearer(&self.token);
        if let Some(body) = body {
            call = call.json(body);
        }
        call.send(self.server)
    }
    #[track_caller]
    pub fn get(&self, path: &str) -> Value {
        self.send(Method::GET, path, None).expect(200).json()
    }
    #[track_caller]
    pub fn put(&self, path: &str, body: Value, status: u16) -> Reply {
        self.send(Method::PUT, path, Some(&body)).expect(status)
    }
    #[track_caller]
    pub fn post(&self, path: &str, body: Value, status: u16) -> Reply {
        self.send(Method::POST, path, Some(&body)).expect(status)
    }
    #[track_caller]
    pub fn delete(&self, path: &str, status: u16) -> Reply {
        self.send(Method::DELETE, path, None).expect(status)
    }
    /// Replaces what is there.
    #[track_caller]
    pub fn replace(&self, path: &str, body: Value, status: u16) -> Reply {
        let read = self.send(Method::GET, path, None).expect(200);
        let call = Call::new(Method::PUT, &format!("/admin/v1{path}"))
            .bearer(&self.token)
            .header("if-match", read.header("etag"));
        call.json(&body).send(self.server).expect(status)
    }
    pub fn join(&self, user: &str, group: &str) {
        let body = json!({ "add": [group] });
        self.post(&format!("/users/{user}/groups"), body, 200);
    }
    pub fn leave(&self, user: &str, group: &str) {
        let body = json!({ "remove": [group] });
        self.post(&format!("/users/{user}/groups"), body, 200);
    }
}

fn alice(server: &Server) -> String {
    let users = &server.realm.people.users;
    let found = block_on(users.by_login("alice", server.realm.now())).unwrap();
    found.expect("alice").id
}

/// Tokens of alice for a client.
fn tokens(server: &Server, client_id: &str, wanted: &str, asked: Option<&str>) -> Reply {
    let mut content = code_content(server, client_id, &alice(server));
    content.scope = scope(wanted);
    content.claims = asked.map(str::to_owned);
    let code = content.seal(&server.realm.keyring()).unwrap();
    let form = redeem(&code);
    let call = Call::post("/token").basic(client_id, SECRET).form(&form);
    call.send(server).expect(200)
}

fn refreshed(server: &Server, client_id: &str, token: &str) -> Reply {
    let form = [("grant_type", "refresh_token"), ("refresh_token", token)];
    let call = Call::post("/token").basic(client_id, SECRET).form(&form);
    call.send(server)
}

fn userinfo(server: &Server, token: &str) -> Value {
    let reply = Call::get("/userinfo").bearer(token).send(server);
    reply.expect(200).json()
}

fn introspected(server: &Server, client_id: &str, token: &str) -> Value {
    let call = Call::post("/introspect").basic(client_id, SECRET);
    let reply = call.form(&[("token", token)]).send(server);
    reply.expect(200).json()
}

#[test]
pub fn groups_are_made_nested_changed_and_removed_without_a_circle() {
    let mail = Mail::new();
    let server = server(&mail);
    let operator = Operator::of(&server);
    operator.put("/roles/reader", json!({}), 201);
    operator.put(
        "/roles/web%2Feditor",
        json!({"description": "May write"}),
        201,
    );
    operator.put("/roles/nobody%2Feditor", json!({}), 400);
    operator.put("/groups/staff", json!({"roles": ["reader"]}), 201);
    operator
        .put("/groups/staff", json!({}), 409)
        .expect_code("exists");
    let engineering =
        json!({"parent": "staff", "roles": ["web/editor"], "description": "Who builds"});
    let made = operator.put("/groups/engineering", engineering, 201).json();
    assert_eq!(made["parent"], "staff");
    assert_eq!(made["roles"], json!(["web/editor"]));
    operator.put("/groups/backend", json!({"parent": "engineering"}), 201);

    // Each is what it was read as, or nothing is changed.
    operator
        .replace("/groups/staff", json!({"parent": "backend"}), 409)
        .expect_code("circle");
    operator
        .replace("/groups/staff", json!({"parent": "staff"}), 409)
        .expect_code("circle");
    operator.replace("/groups/staff", json!({"parent": "nowhere"}), 400);
    operator.replace("/groups/staff", json!({"roles": ["nothing"]}), 400);
    operator
        .delete("/groups/engineering", 409)
        .expect_code("in_use");
    let names: Vec<Value> = operator.get("/groups")["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["name"].clone())
        .collect();
    assert_eq!(names, ["backend", "engineering", "staff"]);

    // No deeper than groups may be.
    let mut parent = "backend".to_owned();
    for depth in 4..=MAX_GROUP_DEPTH {
        let name = format!("level-{depth}");
        operator.put(&format!("/groups/{name}"), json!({"parent": parent}), 201);
        parent = name;
    }
    operator.put("/groups/too-deep", json!({"parent": parent}), 400);
    for (bad, body) in [
        ("a%2Fb", json!({})),
        ("a", json!({"parents": []})),
        ("a", json!({"name": "b"})),
    ] {
        operator.put(&format!("/groups/{bad}"), body, 400);
    }

    // A group that is made again under its name is another one.
    let user = alice(&server);
    operator.put("/groups/guests", json!({}), 201);
    operator.join(&user, "guests");
    assert_eq!(
        operator.get(&format!("/users/{user}"))["groups"],
        json!(["guests"])
    );
    let members = operator.get("/groups/guests/members");
    assert_eq!(members["items"][0]["username"], "alice");
    operator.delete("/groups/guests", 204);
    operator.put("/groups/guests", json!({}), 201);
    assert_eq!(operator.get(&format!("/users/{user}"))["groups"], json!([]));
    assert_eq!(operator.get("/groups/guests/members")["items"], json!([]));
    operator.post(
        &format!("/users/{user}/groups"),
        json!({"add": ["nowhere"]}),
        400,
    );
}

pub trait Code {
    fn expect_code(self, code: &str) -> Self;
}

impl Code for Reply {
    #[track_caller]
    fn expect_code(self, code: &str) -> Reply {
        assert_eq!(self.json()["code"], code, "{}", self.text());
        self
    }
}

#[test]
pub fn who_leaves_a_group_is_out_at_the_next_refresh_introspection_and_userinfo() {
    let mail = Mail::new();
    let server = server(&mail);
    let operator = Operator::of(&server);
    let user = alice(&server);
    operator.put("/groups/staff", json!({}), 201);
    operator.put("/groups/engineering", json!({"parent": "staff"}), 201);
    operator.join(&user, "engineering");

    let none = tokens(&server, "web", "openid email", None);
    assert_eq!(claims(&none.member("access_token"))["groups"], Value::Null);
    let reply = tokens(&server, "web", "openid groups offline_access", None);
    let both = json!(["engineering", "staff"]);
    let access = reply.member("access_token");
    assert_eq!(claims(&reply.member("id_token"))["groups"], both);
    assert_eq!(claims(&access)["groups"], both);
    assert_eq!(userinfo(&server, &access)["groups"], both);
    assert_eq!(introspected(&server, "web", &access)["groups"], both);

    operator.leave(&user, "engineering");
    // What was written into the token is no more so: it ends, and the grant that it hangs on.
    let ended = Call::get("/userinfo").bearer(&access).send(&server);
    ended.expect(401);
    assert_eq!(
        introspected(&server, "web", &access),
        json!({"active": false})
    );
    refreshed(&server, "web", &reply.member("refresh_token")).expect_error(400, "invalid_grant");
    let again = tokens(&server, "web", "openid groups offline_access", None);
    assert_eq!(
        userinfo(&server, &again.member("access_token"))["groups"],
        json!([])
    );
    assert_eq!(claims(&again.member("access_token"))["groups"], json!([]));
    assert_eq!(claims(&again.member("id_token"))["groups"], json!([]));

    let metadata = Call::get("/.well-known/openid-configuration").send(&server);
    let metadata = metadata.expect(200).json();
    for (list, name) in [
        ("scopes_supported", "groups"),
        ("claims_supported", "groups"),
    ] {
        let names = metadata[list].as_array().unwrap();
        assert!(names.contains(&json!(name)), "{list}");
    }
}

#[test]
pub fn each_table_gives_its_claims_where_it_says() {
    let mail = Mail::new();
    let server = server(&mail);
    let operator = Operator::of(&server);
    let user = alice(&server);
    operator.put("/roles/auditor", json!({}), 201);
    operator.put("/roles/web%2Feditor", json!({}), 201);
    operator.put(
        "/groups/grafana-editors",
        json!({"roles": ["web/editor"]}),
        201,
    );
    operator.post(
        &format!("/users/{user}/roles"),
        json!({"add": ["auditor"]}),
        200,
    );
    operator.join(&user, "grafana-editors");
    operator.put(
        "/scopes/work",
        json!({"description": "See your work", "published": true, "claims": ["realm_access.roles", "resource_access"]}),
        200,
    );
    let client = json!({
        "redirect_uris": ["https://client.example/cb"],
        "scope": "openid work groups",
        "token_endpoint_auth_method": "client_secret_basic",
        "claims": [
            {"claim": "role", "from": "groups", "as": "string", "in": ["id_token"], "prefix": "grafana-",
             "values": [["grafana-admins", "Admin"], ["grafana-editors", "Editor"]], "default": "Viewer"},
            {"claim": "email", "from": "profile:email", "in": ["id_token"]},
        ],
    });
    let made = operator.post("/clients", client, 201).json();
    let (id, secret) = (
        made["client_id"].as_str().unwrap().to_owned(),
        made["client_secret"].as_str().unwrap().to_owned(),
    );
    assert_eq!(made["claims"][0]["claim"], "role");
    operator.put(
        "/resources/https%3A%2F%2Fapi.example",
        json!({"identifier": API, "claims": ["groups"]}),
        201,
    );

    let redeemed = |change: &dyn Fn(&mut signet_oauth::issued::sealed::AuthorizationCode)| {
        let mut content = code_content(&server, &id, &user);
        content.scope = scope("openid work");
        change(&mut content);
        let code = content.seal(&server.realm.keyring()).unwrap();
        let call = Call::post("/token")
            .basic(&id, &secret)
            .form(&redeem(&code));
        call.send(&server).expect(200)
    };
    let reply = redeemed(&|_| {});
    let (id_token, access) = (
        claims(&reply.member("id_token")),
        reply.member("access_token"),
    );
    assert_eq!(id_token["role"], "Editor");
    assert_eq!(id_token["email"], "alice@example.test");
    assert_eq!(id_token["realm_access"]["roles"], json!(["auditor"]));
    assert_eq!(
        id_token["resource_access"]["web"]["roles"],
        json!(["editor"])
    );
    assert_eq!(claims(&access)["realm_access"]["roles"], json!(["auditor"]));
    assert_eq!(claims(&access)["role"], Value::Null);
    assert_eq!(
        userinfo(&server, &access)["resource_access"]["web"]["roles"],
        json!(["editor"])
    );
    assert_eq!(claims(&access)["groups"], Value::Null);

    // A claim that is asked for singly, of a scope that the client may ask for.
    let single = r#"{"id_token":{"groups":null},"userinfo":{"groups":null}}"#;
    let reply = redeemed(&|content| content.claims = Some(single.to_owned()));
    assert_eq!(
        claims(&reply.member("id_token"))["groups"],
        json!(["grafana-editors"])
    );
    let access = reply.member("access_token");
    assert_eq!(claims(&access)["groups"], Value::Null);
    assert_eq!(
        userinfo(&server, &access)["groups"],
        json!(["grafana-editors"])
    );

    // What cannot be is refused when it is written.
    for bad in [
        json!([{"claim": "sub", "from": "groups"}]),
        json!([{"claim": "email", "from": "value:root@example.test"}]),
        json!([{"preset": "groups", "at_most": 1000}]),
        json!([{"claim": "d", "from": "attribute:unknown"}]),
        json!([{"preset": "groups", "in": ["id_token"]}]),
    ] {
        operator.replace(
            "/resources/https%3A%2F%2Fapi.example",
            json!({"claims": bad}),
            400,
        );
    }
    let compact = json!({"access_token_format": "compact", "claims": ["groups"]});
    operator.replace("/resources/https%3A%2F%2Fapi.example", compact, 400);
    let small =
        json!({"access_token_format": "compact", "claims": [{"preset": "groups", "at_most": 30}]});
    operator.replace("/resources/https%3A%2F%2Fapi.example", small, 200);

    // A client that is gone takes its roles along.
    operator.put(&format!("/roles/{id}%2Fowner"), json!({}), 201);
    operator.delete(&format!("/clients/{id}"), 204);
    assert_eq!(operator.get("/roles")["items"].as_array().unwrap().len(), 2);
}

#[test]
fn both_token_formats_say_the_same_of_a_person_and_neither_more_than_fits() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        with_people(setup);
        let mut compact = client("compact");
        compact.scope = scope("openid groups");
        compact.access_token_format = Some(AccessTokenFormat::Compact);
        setup.clients.push(compact);
    });
    let operator = Operator::of(&server);
    let user = alice(&server);
    let name = |i: usize| format!("group-{i:02}-{}", "x".repeat(50));
    let join = |range: std::ops::Range<usize>| {
        let names: Vec<String> = range.map(name).collect();
        for name in &names {
            operator.put(&format!("/groups/{name}"), json!({}), 201);
        }
        operator.post(&format!("/users/{user}/groups"), json!({"add": names}), 200);
    };
    join(0..20);
    for client_id in ["web", "compact"] {
        let access = tokens(&server, client_id, "openid groups", None).member("access_token");
        let said = introspected(&server, client_id, &access);
        assert_eq!(said["active"], true);
        assert_eq!(said["groups"].as_array().unwrap().len(), 20, "{client_id}");
    }
    join(20..60);
    // More than a compact claim carries, and less than JSON does.
    let access = tokens(&server, "compact", "openid groups", None).member("access_token");
    assert_eq!(introspected(&server, "compact", &access)["active"], true);
    let access = tokens(&server, "web", "openid groups", None).member("access_token");
    assert_eq!(claims(&access)["groups"].as_array().unwrap().len(), 60);
    join(60..95);
    // More than the table allows: left out whole, and said so, everywhere.
    let reply = tokens(&server, "web", "openid groups", None);
    let access = reply.member("access_token");
    for said in [
        claims(&access),
        claims(&reply.member("id_token")),
        userinfo(&server, &access),
        introspected(&server, "web", &access),
    ] {
        assert_eq!(said["groups"], Value::Null);
        assert_eq!(said[OMITTED], json!(["groups"]));
    }
}

#[test]
pub fn attributes_follow_their_schema_for_the_person_and_for_administrators() {
    let mail = Mail::new();
    let server = server(&mail);
    let operator = Operator::of(&server);
    let user = alice(&server);
    let path = format!("/users/{user}/attributes");
    operator.put(
        "/attributes/department",
        json!({"read": "person", "label": "Department"}),
        201,
    );
    operator.put("/attributes/level", json!({"type": "number"}), 201);
    let badge = json!({"read": "person", "write": "person", "verified": true, "max_bytes": 8, "label": "Badge"});
    operator.put("/attributes/badge", badge, 201);
    operator.put(
        "/attributes/origin",
        json!({"read": "nobody", "write": "nobody"}),
        201,
    );
    operator.put("/attributes/bad", json!({"write": "person"}), 400);
    operator.put("/attributes/bad", json!({"type": "script"}), 400);

    let all = json!({"attributes": {"department": "Sales <b>", "level": 3}});
    let shown = operator.put(&path, all, 200).json();
    assert_eq!(
        shown["attributes"],
        json!({"department": "Sales <b>", "level": 3})
    );
    for bad in [
        json!({"level": "three"}),
        json!({"department": 1}),
        json!({"unknown": "x"}),
        json!({"origin": "x"}),
        json!({"badge": "longer than eight"}),
    ] {
        operator.put(&path, json!({ "attributes": bad }), 400);
    }

    operator.put(
        "/scopes/work",
        json!({"description": "See your work", "published": true, "claims": [
            {"claim": "department", "from": "attribute:department"},
            {"claim": "work.level", "from": "attribute:level"},
            {"claim": "badge", "from": "attribute:badge"},
        ]}),
        200,
    );
    let said = |scope: &str| {
        let access = tokens(&server, "web", scope, None).member("access_token");
        userinfo(&server, &access)
    };
    assert_eq!(said("openid work")["department"], "Sales <b>");
    assert_eq!(said("openid work")["work"], json!({"level": 3}));

    // The person sees what they may see, and changes what they may change.
    let mut browser = Browser::new(&server);
    let page = browser.get("/account");
    let page = browser.log_in(&page, "alice", PASSWORD).expect("About you");
    let page = page.expect("Sales &lt;b&gt;").expect("Badge");
    assert!(!page.text().contains("<bdi>level</bdi>"));
    let fields = [
        ("attribute.badge", "b-17"),
        ("attribute.department", "Board"),
        ("attribute.level", "9"),
    ];
    let page = browser.press(&page, "attributes", &fields);
    let page = page
        .expect("What you changed was saved")
        .expect("b-17")
        .expect("has to confirm this");
    let found = operator.get(&format!("/users/{user}"));
    assert_eq!(
        found["attributes"],
        json!({"badge": "b-17", "department": "Sales <b>", "level": 3})
    );
    assert_eq!(found["unverified_attributes"], json!(["badge"]));
    browser
        .press(
            &page,
            "attributes",
            &[("attribute.badge", "longer than eight")],
        )
        .expect("too long");
    // What the person wrote is no claim before somebody vouches for it.
    assert_eq!(said("openid work")["badge"], Value::Null);
    operator.put(&path, json!({"attributes": {"badge": "b-17"}}), 200);
    assert_eq!(said("openid work")["badge"], "b-17");

    // Nothing typed: no value.
    let motto = json!({"type": "string", "read": "person", "write": "person"});
    operator.put("/attributes/motto", motto, 201);
    let page = browser.get("/account");
    let fields = [("attribute.badge", ""), ("attribute.motto", "so be it")];
    let page = browser.press(&page, "attributes", &fields);
    page.expect("What you changed was saved");
    let found = operator.get(&format!("/users/{user}"));
    assert_eq!(found["attributes"].get("badge"), None, "{found}");
    assert_eq!(found["attributes"]["motto"], "so be it");

    // The schema decides what is given out, whatever was written under another one.
    operator.replace("/attributes/department", json!({"type": "number"}), 200);
    assert_eq!(said("openid work")["department"], Value::Null);
    operator.delete("/attributes/badge", 204);
    assert_eq!(said("openid work")["badge"], Value::Null);
    operator.put(&path, json!({"attributes": {"level": null}}), 200);
    assert_eq!(said("openid work")["work"], Value::Null);
}

#[test]
fn a_claim_of_a_scope_that_was_not_granted_is_named_on_the_consent_page() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        with_people(setup);
        setup.clients[0].consent = ConsentPolicy::Ask;
    });
    let asked = r#"{"userinfo":{"groups":null}}"#;
    let mut browser = Browser::new(&server);
    let login = browser.get(&request(&[("scope", "openid"), ("claims", asked)]));
    let consent = browser.log_in(&login, "alice", PASSWORD);
    consent.expect("groups");
}

fn nodes(mail: &Mail) -> Cluster {
    let cluster = Cluster::of(2, || {
        let mut setup = Setup {
            clients: vec![client("web")],
            people: people(mail),
            ..Setup::default()
        };
        with_people(&mut setup);
        setup
    });
    add_user(cluster.node(0), "alice");
    cluster
}

#[test]
fn what_one_node_says_of_people_holds_on_the_other() {
    let mail = Mail::new();
    let cluster = nodes(&mail);
    let (one, two) = (cluster.node(0), cluster.node(1));
    let (here, there) = (Operator::of(one), Operator::of(two));
    let user = alice(one);
    here.put("/groups/staff", json!({}), 201);
    there.put("/groups/engineering", json!({"parent": "staff"}), 201);
    here.join(&user, "engineering");
    let reply = tokens(two, "web", "openid groups offline_access", None);
    let access = reply.member("access_token");
    let both = json!(["engineering", "staff"]);
    assert_eq!(claims(&access)["groups"], both);
    assert_eq!(userinfo(one, &access)["groups"], both);
    there.leave(&user, "engineering");
    assert_eq!(introspected(one, "web", &access), json!({"active": false}));
    refreshed(one, "web", &reply.member("refresh_token")).expect_error(400, "invalid_grant");
    let again = tokens(one, "web", "openid groups", None);
    assert_eq!(claims(&again.member("access_token"))["groups"], json!([]));

    // A node that comes later reads what there is.
    let mut cluster = cluster;
    let mut setup = Setup {
        clients: vec![client("web")],
        people: people(&mail),
        ..Setup::default()
    };
    with_people(&mut setup);
    let third = cluster.join(setup);
    let names = Operator::of(third).get("/groups");
    assert_eq!(names["items"].as_array().unwrap().len(), 2);
}

#[test]
fn two_nodes_together_make_no_circle() {
    let mail = Mail::new();
    let cluster = nodes(&mail);
    let (one, two) = (cluster.node(0), cluster.node(1));
    let operator = Operator::of(one);
    let other = Operator::of(two);
    for round in 0..8 {
        let (a, b) = (format!("a{round}"), format!("b{round}"));
        operator.put(&format!("/groups/{a}"), json!({}), 201);
        operator.put(&format!("/groups/{b}"), json!({}), 201);
        let into = |operator: &Operator<'_>, group: &str, parent: &str| {
            let path = format!("/admin/v1/groups/{group}");
            let call = Call::new(Method::PUT, &path)
                .bearer(&operator.token)
                .header("if-match", "\"1\"");
            call.json(&json!({ "parent": parent }))
                .send(operator.server)
                .status
        };
        let (first, second) = std::thread::scope(|scope| {
            let first = scope.spawn(|| into(&operator, &a, &b));
            let second = scope.spawn(|| into(&other, &b, &a));
            (first.join().unwrap(), second.join().unwrap())
        });
        let mut statuses = [first, second];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "round {round}");
    }
    for node in &cluster.nodes {
        let snapshot = node.realm.snapshot();
        assert_eq!(snapshot.registry.people.groups.len(), 16);
        assert_eq!(snapshot.registry.people.check_depths(), Ok(()));
    }
}

#[test]
fn what_the_configuration_declares_of_people_is_not_changed_here() {
    use signet_oauth::people::{Group, People};
    let mail = Mail::new();
    let server = server(&mail);
    let operator = Operator::of(&server);
    let user = alice(&server);
    server.configure(|_, declared| {
        let mut people = People::default();
        people.put_group(std::sync::Arc::new(Group {
            id: "declared".into(),
            name: "staff".into(),
            description: None,
            parent: None,
            roles: Vec::new(),
            external_id: None,
            revision: 0,
        }));
        declared.people = people.into();
    });
    operator
        .put("/groups/staff", json!({}), 409)
        .expect_code("declared_in_configuration");
    operator
        .delete("/groups/staff", 409)
        .expect_code("declared_in_configuration");
    operator.put("/groups/engineering", json!({"parent": "staff"}), 201);
    operator.join(&user, "engineering");
    let access = tokens(&server, "web", "openid groups", None).member("access_token");
    assert_eq!(
        userinfo(&server, &access)["groups"],
        json!(["engineering", "staff"])
    );
}

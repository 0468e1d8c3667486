//! SCIM 2.0, over the wire.
use crate::common::{
    SECRET, Server, Setup, block_on, client,
    client::{Call, Reply},
    made::{code_content, redeem},
    people::{Mail, start},
    scope,
};
use http::Method;
use serde_json::{Value, json};
use signet_directory::{NewUser, UserDraft};
use signet_oauth::client::ConsentPolicy;

const USER: &str = "urn:ietf:params:scim:schemas:core:2.0:User";
const GROUP: &str = "urn:ietf:params:scim:schemas:core:2.0:Group";

fn with_provisioner(setup: &mut Setup) {
    let mut provisioner = client("provisioner");
    provisioner.scope = scope("signet:scim signet:admin");
    setup.clients.push(provisioner);
    setup.clients[0].scope = scope("openid groups offline_access");
    setup.clients[0].consent = ConsentPolicy::Skip;
}

struct Scim<'a> {
    server: &'a Server,
    token: String,
}

impl<'a> Scim<'a> {
    fn of(server: &'a Server) -> Scim<'a> {
        Scim::with(server, "signet:scim")
    }

    fn with(server: &'a Server, scope: &str) -> Scim<'a> {
        let form = [("grant_type", "client_credentials"), ("scope", scope)];
        let call = Call::post("/token").basic("provisioner", SECRET);
        let token = call.form(&form).send(server).expect(200);
        Scim {
            server,
            token: token.member("access_token"),
        }
    }

    fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
        version: Option<&str>,
    ) -> Reply {
        let mut call = Call::new(method, &format!("/scim/v2{path}")).bearer(&self.token);
        if let Some(version) = version {
            call = call.header("if-match", version);
        }
        if let Some(body) = body {
            call = call.json(&body);
        }
        call.send(self.server)
    }

    #[track_caller]
    fn get(&self, path: &str) -> Value {
        self.send(Method::GET, path, None, None).expect(200).json()
    }

    #[track_caller]
    fn post(&self, path: &str, body: Value, status: u16) -> Value {
        let reply = self.send(Method::POST, path, Some(body), None);
        reply.expect(status).json()
    }

    #[track_caller]
    fn patch(&self, path: &str, operations: Value, status: u16) -> Value {
        let body = json!({
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
            "Operations": operations,
        });
        let reply = self.send(Method::PATCH, path, Some(body), None);
        reply.expect(status).json()
    }

    fn user(&self, name: &str) -> Value {
        let body = json!({
            "schemas": [USER], "userName": name, "externalId": format!("x-{name}"),
            "name": {"givenName": "Given", "familyName": "Family"},
            "emails": [{"value": format!("{name}@example.test"), "primary": true}],
        });
        self.post("/Users", body, 201)
    }
}

#[test]
fn accounts_are_made_read_replaced_patched_and_removed() {
    let mail = Mail::new();
    let server = start(&mail, with_provisioner);
    let scim = Scim::of(&server);
    let bob = scim.user("bob");
    let path = format!("/Users/{}", bob["id"].as_str().unwrap());
    assert_eq!(
        (&bob["active"], &bob["externalId"]),
        (&json!(true), &json!("x-bob"))
    );
    let location = bob["meta"]["location"].as_str().unwrap();
    assert!(location.ends_with(&format!("/scim/v2{path}")), "{location}");
    let again = json!({"schemas": [USER], "userName": "bob"});
    let error = scim.post("/Users", again, 409);
    assert_eq!(
        (&error["scimType"], &error["status"]),
        (&json!("uniqueness"), &json!("409"))
    );

    // Of two writers the second reads again first.
    let mut replaced = bob.clone();
    replaced["displayName"] = "Bob".into();
    let read = bob["meta"]["version"].as_str().unwrap();
    let put = |version: &str| scim.send(Method::PUT, &path, Some(replaced.clone()), Some(version));
    let now = put(read).expect(200);
    assert_ne!(now.header("etag"), read);
    put(read).expect(412);
    assert_eq!(now.json()["displayName"], "Bob");
    let patched = scim.patch(&path, json!([
        {"op": "replace", "path": "name.givenName", "value": "Robert"},
        {"op": "replace", "path": "emails[type eq \"work\"].value", "value": "robert@example.test"},
        {"op": "remove", "path": "displayName"},
    ]), 200);
    assert_eq!(patched["name"]["givenName"], "Robert");
    assert_eq!(patched["emails"][0]["value"], "robert@example.test");
    assert_eq!(patched.get("displayName"), None);
    let error = scim.patch(
        &path,
        json!([{"op": "replace", "path": "userName", "value": "x"}]),
        400,
    );
    assert_eq!(error["scimType"], "mutability");
    let error = scim.patch(
        &path,
        json!([{"op": "add", "path": "a b", "value": 1}]),
        400,
    );
    assert_eq!(error["scimType"], "invalidPath");

    let some = scim.get(&format!("{path}?attributes=userName,name.familyName"));
    assert_eq!(some["name"], json!({"familyName": "Family"}));
    assert_eq!(some.get("emails"), None);
    assert_eq!(
        scim.get(&format!("{path}?excludedAttributes=name"))
            .get("name"),
        None
    );
    scim.send(Method::DELETE, &path, None, None).expect(204);
    scim.send(Method::GET, &path, None, None).expect(404);
}

#[test]
fn accounts_are_found_by_filters_and_in_pages() {
    let mail = Mail::new();
    let server = start(&mail, with_provisioner);
    let scim = Scim::of(&server);
    for name in ["bob", "carol", "dave"] {
        scim.user(name);
    }
    let list = |query: &str| scim.get(&format!("/Users?{query}"));
    assert_eq!(list("")["totalResults"], 4);
    let carol = list("filter=userName%20eq%20%22CAROL%22");
    assert_eq!(carol["totalResults"], 1);
    assert_eq!(carol["Resources"][0]["userName"], "carol");
    let external = list("filter=externalId%20eq%20%22x-dave%22");
    assert_eq!(external["Resources"][0]["userName"], "dave");
    assert_eq!(
        list("filter=userName%20eq%20%22nobody%22")["totalResults"],
        0
    );
    let not = list("filter=not%20(userName%20sw%20%22a%22)%20and%20active%20eq%20true");
    assert_eq!(not["totalResults"], 3);
    let (first, second) = (list("count=3"), list("startIndex=4&count=3"));
    assert_eq!(
        (&first["itemsPerPage"], &second["itemsPerPage"]),
        (&json!(3), &json!(1))
    );
    assert_eq!(list("count=0")["Resources"], json!([]));
    let searched = scim.post(
        "/Users/.search",
        json!({"filter": "userName eq \"bob\""}),
        200,
    );
    assert_eq!(searched["totalResults"], 1);
    for (query, kind) in [
        ("filter=userName", "invalidFilter"),
        ("count=x", "invalidValue"),
        ("attributes=a&excludedAttributes=b", "invalidValue"),
        ("attributes=a%20b", "invalidPath"),
    ] {
        let reply = scim.send(Method::GET, &format!("/Users?{query}"), None, None);
        assert_eq!(reply.expect(400).json()["scimType"], kind, "{query}");
    }
}

#[test]
fn groups_and_their_members_and_what_leaving_ends() {
    let mail = Mail::new();
    let server = start(&mail, with_provisioner);
    let scim = Scim::of(&server);
    let users = &server.realm.people.users;
    let alice = block_on(users.by_login("alice", server.realm.now()))
        .unwrap()
        .unwrap()
        .id;
    let bob = scim.user("bob")["id"].as_str().unwrap().to_owned();
    let body = json!({"schemas": [GROUP], "displayName": "staff", "externalId": "g1",
        "members": [{"value": alice}]});
    let staff = scim.post("/Groups", body, 201);
    let path = format!("/Groups/{}", staff["id"].as_str().unwrap());
    assert_eq!(staff["members"][0]["value"], alice);
    assert_eq!(
        scim.get(&format!("/Users/{alice}"))["groups"][0]["display"],
        "staff"
    );

    let mut content = code_content(&server, "web", &alice);
    content.scope = scope("openid groups offline_access");
    let code = content.seal(&server.realm.keyring()).unwrap();
    let call = Call::post("/token").basic("web", SECRET);
    let token = call
        .form(&redeem(&code))
        .send(&server)
        .expect(200)
        .member("access_token");
    let is_active = || {
        let call = Call::post("/introspect").basic("web", SECRET);
        let said = call
            .form(&[("token", token.as_str())])
            .send(&server)
            .expect(200)
            .json();
        said["active"] == true
    };
    assert!(is_active());
    let patched = scim.patch(
        &path,
        json!([
            {"op": "add", "path": "members", "value": [{"value": bob}]},
            {"op": "remove", "path": format!("members[value eq \"{alice}\"]")},
        ]),
        200,
    );
    assert_eq!(patched["members"].as_array().unwrap().len(), 1);
    assert_eq!(patched["members"][0]["value"], bob);
    assert!(!is_active(), "what the group gave has ended");

    let unknown = json!([{"op": "add", "path": "members", "value": [{"value": "nobody"}]}]);
    assert_eq!(scim.patch(&path, unknown, 400)["scimType"], "invalidValue");
    let renamed = json!([{"op": "replace", "path": "displayName", "value": "other"}]);
    assert_eq!(scim.patch(&path, renamed, 400)["scimType"], "mutability");
    let version = patched["meta"]["version"].as_str().unwrap();
    scim.patch(
        &path,
        json!([{"op": "add", "path": "members", "value": [{"value": alice}]}]),
        200,
    );
    scim.send(Method::DELETE, &path, None, Some(version))
        .expect(412);
    let listed =
        scim.get("/Groups?filter=displayName%20eq%20%22staff%22&excludedAttributes=members");
    assert_eq!(listed["totalResults"], 1);
    assert_eq!(listed["Resources"][0]["externalId"], "g1");
    assert_eq!(listed["Resources"][0].get("members"), None);
    scim.send(Method::DELETE, &path, None, None).expect(204);
    assert_eq!(scim.get("/Groups")["totalResults"], 0);
}

#[test]
fn an_account_that_is_not_active_is_out_at_once() {
    let mail = Mail::new();
    let server = start(&mail, with_provisioner);
    let scim = Scim::of(&server);
    let users = &server.realm.people.users;
    let alice = block_on(users.by_login("alice", server.realm.now()))
        .unwrap()
        .unwrap()
        .id;
    let code = code_content(&server, "web", &alice)
        .seal(&server.realm.keyring())
        .unwrap();
    let patch = json!([{"op": "Replace", "path": "active", "value": "False"}]);
    assert_eq!(
        scim.patch(&format!("/Users/{alice}"), patch, 200)["active"],
        false
    );
    let call = Call::post("/token").basic("web", SECRET);
    call.form(&redeem(&code))
        .send(&server)
        .expect_error(400, "invalid_grant");
    let made = json!({"schemas": [USER], "userName": "eve", "active": false, "password": "a long enough secret of hers"});
    let made = scim.post("/Users", made, 201);
    assert_eq!(
        (&made["active"], made.get("password")),
        (&json!(false), None)
    );
}

#[test]
fn many_operations_in_one_request_name_each_other() {
    let mail = Mail::new();
    let server = start(&mail, with_provisioner);
    let scim = Scim::of(&server);
    let bulk = |operations: Value, more: Value| {
        let mut body = json!({
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],
            "Operations": operations,
        });
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        body
    };
    let done = scim.post("/Bulk", bulk(json!([
        {"method": "POST", "path": "/Users", "bulkId": "u", "data": {"schemas": [USER], "userName": "bob"}},
        {"method": "POST", "path": "/Groups", "bulkId": "g", "data": {"schemas": [GROUP],
            "displayName": "staff", "members": [{"value": "bulkId:u"}]}},
        {"method": "POST", "path": "/Users", "bulkId": "v", "data": {"schemas": [USER], "userName": "bob"}},
        {"method": "DELETE", "path": "/Users/bulkId:u"},
        {"method": "DELETE", "path": "/Users/bulkId:none"},
    ]), json!({})), 200);
    let statuses: Vec<&str> = done["Operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["201", "201", "409", "204", "409"]);
    assert_eq!(done["Operations"][2]["response"]["scimType"], "uniqueness");
    let stopped = bulk(
        json!([
            {"method": "DELETE", "path": "/Users/nobody"},
            {"method": "POST", "path": "/Users", "bulkId": "w", "data": {"schemas": [USER], "userName": "carol"}},
        ]),
        json!({"failOnErrors": 1}),
    );
    let stopped = scim.post("/Bulk", stopped, 200);
    assert_eq!(stopped["Operations"].as_array().unwrap().len(), 1);
    let many = vec![json!({"method": "DELETE", "path": "/Users/x"}); 101];
    scim.post("/Bulk", bulk(json!(many), json!({})), 413);
}

#[test]
fn nobody_without_the_scope_sees_anything() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        with_provisioner(setup);
        setup.clients.push(client("other"));
    });
    Call::get("/scim/v2/Users").send(&server).expect(401);
    let form = [("grant_type", "client_credentials"), ("scope", "api:read")];
    let call = Call::post("/token").basic("other", SECRET);
    let token = call
        .form(&form)
        .send(&server)
        .expect(200)
        .member("access_token");
    for path in ["/Users", "/Groups", "/Schemas", "/ServiceProviderConfig"] {
        let call = Call::get(&format!("/scim/v2{path}")).bearer(&token);
        let reply = call.send(&server).expect(403);
        assert!(reply.header("www-authenticate").contains("signet:scim"));
    }
    let scim = Scim::of(&server);
    let config = scim.get("/ServiceProviderConfig");
    assert_eq!(
        (&config["patch"]["supported"], &config["sort"]["supported"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(scim.get("/Schemas")["totalResults"], 2);
    assert_eq!(scim.get(&format!("/Schemas/{USER}"))["id"], USER);
    assert_eq!(scim.get("/ResourceTypes/Group")["endpoint"], "/Groups");
}

/// An administrator's account, with a password, an address and a group.
fn administrator(server: &Server) -> String {
    let new = NewUser {
        username: "root".into(),
        email: Some("root@example.test".into()),
        admin: true,
        ..NewUser::default()
    };
    let users = &server.realm.people.users;
    block_on(users.create(new, server.realm.now())).unwrap().id
}

// MS3: the right to provision was the right to administer, in two steps.
#[test]
fn an_administrators_account_is_not_changed_by_who_may_only_provision() {
    let mail = Mail::new();
    let server = start(&mail, with_provisioner);
    let root = administrator(&server);
    let (scim, both) = (
        Scim::of(&server),
        Scim::with(&server, "signet:scim signet:admin"),
    );
    let path = format!("/Users/{root}");
    let read = scim.get(&path);
    assert_eq!(read["userName"], "root", "reading stays");
    let found = scim.get("/Users?filter=userName%20eq%20%22root%22");
    assert_eq!(found["totalResults"], 1);
    for operation in [
        json!({"op": "replace", "path": "password", "value": "scim-Chosen-Pass-99"}),
        json!({"op": "replace", "path": "emails", "value": [{"value": "me@evil.example"}]}),
        json!({"op": "replace", "path": "active", "value": false}),
        json!({"op": "replace", "path": "displayName", "value": "x"}),
    ] {
        scim.patch(&path, json!([operation]), 403);
    }
    let put = scim.send(Method::PUT, &path, Some(read.clone()), None);
    let put = put.expect(403);
    assert_eq!(
        put.header("www-authenticate"),
        "Bearer error=\"insufficient_scope\", scope=\"signet:scim signet:admin\""
    );
    scim.send(Method::DELETE, &path, None, None).expect(403);
    let bulk = json!({
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],
        "Operations": [{"method": "DELETE", "path": path}],
    });
    let done = scim.post("/Bulk", bulk, 200);
    assert_eq!(done["Operations"][0]["status"], "403");

    // Rules about groups can keep somebody out.
    let bob = scim.user("bob")["id"].as_str().unwrap().to_owned();
    let group = |name: &str, member: &str| {
        json!({"schemas": [GROUP], "displayName": name,
        "members": [{"value": member}]})
    };
    scim.post("/Groups", group("staff", &root), 403);
    let staff = both.post("/Groups", group("staff", &root), 201);
    let staff = format!("/Groups/{}", staff["id"].as_str().unwrap());
    let out = json!([{"op": "remove", "path": format!("members[value eq \"{root}\"]")}]);
    scim.patch(&staff, out.clone(), 403);
    scim.send(Method::DELETE, &staff, None, None).expect(403);
    // Who is beside an administrator is moved as before.
    let add = json!([{"op": "add", "path": "members", "value": [{"value": bob}]}]);
    assert_eq!(scim.patch(&staff, add, 200)["members"][1]["type"], "User");

    assert_eq!(scim.get(&path)["displayName"], Value::Null);
    let rename = json!([{"op": "replace", "path": "displayName", "value": "Root"}]);
    assert_eq!(both.patch(&path, rename, 200)["displayName"], "Root");
    both.patch(&staff, out, 200);
    // The last one stays; nobody can insist here.
    both.send(Method::DELETE, &path, None, None).expect(409);
    let disable = json!([{"op": "replace", "path": "active", "value": false}]);
    both.patch(&path, disable, 409);
    let another = signet_directory::NewUser {
        username: "another".into(),
        admin: true,
        ..Default::default()
    };
    let users = &server.realm.people.users;
    crate::common::block_on(users.create(another, server.realm.now())).unwrap();
    both.send(Method::DELETE, &path, None, None).expect(204);
}

// LS3, RFC 7644 section 3.5.2: all or nothing.
#[test]
fn what_is_refused_leaves_the_account_as_it_was() {
    let mail = Mail::new();
    let server = start(&mail, with_provisioner);
    let scim = Scim::of(&server);
    scim.user("bob");
    let carol = scim.user("carol");
    let path = format!("/Users/{}", carol["id"].as_str().unwrap());
    let of_bob = json!([{"value": "BOB@example.test"}]);
    let operations = json!([
        {"op": "replace", "path": "active", "value": false},
        {"op": "replace", "path": "emails", "value": of_bob},
    ]);
    assert_eq!(scim.patch(&path, operations, 409)["scimType"], "uniqueness");
    let mut put = carol.clone();
    put["externalId"] = "other".into();
    put["emails"] = of_bob;
    scim.send(Method::PUT, &path, Some(put), None).expect(409);
    assert_eq!(scim.get(&path), carol, "its version, too");
    let operations = json!([
        {"op": "replace", "path": "active", "value": false},
        {"op": "replace", "path": "emails", "value": [{"value": "New@example.test"}]},
    ]);
    let done = scim.patch(&path, operations, 200);
    assert_eq!(done["active"], false);
    assert_eq!(done["emails"], json!([{"value": "new@example.test"}]));
    let again = json!({"schemas": [USER], "userName": "dave",
        "emails": [{"value": "carol@example.test"}]});
    scim.post("/Users", again, 201);
    // The same address in other letters is no change.
    let read = scim.get(&path);
    let mut same = read.clone();
    same["emails"] = json!([{"value": "NEW@Example.test"}]);
    let put = scim.send(Method::PUT, &path, Some(same), None).expect(200);
    assert_eq!(put.json()["emails"], read["emails"]);
}

// LP2: of racing changes with one version several were answered 200.
#[test]
fn of_changes_of_one_version_of_a_group_one_is_made() {
    let mail = Mail::new();
    let server = start(&mail, with_provisioner);
    let scim = Scim::of(&server);
    let people: Vec<String> = (0..5)
        .map(|i| {
            scim.user(&format!("p{i}"))["id"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    let body = |name: &str| json!({"schemas": [GROUP], "displayName": name});
    let staff = scim.post("/Groups", body("staff"), 201);
    let other = scim.post("/Groups", body("other"), 201);
    assert_ne!(staff["meta"]["version"], other["meta"]["version"]);
    let path = format!("/Groups/{}", staff["id"].as_str().unwrap());
    for _ in 0..4 {
        let version = scim.get(&path)["meta"]["version"]
            .as_str()
            .unwrap()
            .to_owned();
        let answers: Vec<u16> = std::thread::scope(|threads| {
            let racers: Vec<_> = people
                .iter()
                .map(|id| {
                    let (scim, path, version) = (&scim, &path, &version);
                    threads.spawn(move || {
                        let body = json!({
                            "schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
                            "Operations": [{"op": "replace", "path": "members",
                                "value": [{"value": id}]}],
                        });
                        scim.send(Method::PATCH, path, Some(body), Some(version))
                            .status
                    })
                })
                .collect();
            racers
                .into_iter()
                .map(|racer| racer.join().unwrap())
                .collect()
        });
        let done = answers.iter().filter(|status| **status == 200).count();
        let refused = answers.iter().filter(|status| **status == 412).count();
        assert_eq!((done, refused), (1, 4), "{answers:?}");
        let members = scim.get(&path)["members"].as_array().unwrap().len();
        assert_eq!(members, 1);
    }
    // Whoever changes the members in another way has changed the version, too.
    let version = scim.get(&path)["meta"]["version"]
        .as_str()
        .unwrap()
        .to_owned();
    let id = staff["id"].as_str().unwrap().to_owned();
    let users = &server.realm.people.users;
    let snapshot = server.realm.snapshot();
    let registry = &snapshot.registry.people;
    let into = |draft: &mut UserDraft| {
        draft
            .user
            .change_groups(std::slice::from_ref(&id), &[], registry);
    };
    let out = |draft: &mut UserDraft| {
        draft
            .user
            .change_groups(&[], std::slice::from_ref(&id), registry);
    };
    for person in &people {
        block_on(users.change(person, server.realm.now(), into)).unwrap();
        block_on(users.change(person, server.realm.now(), out)).unwrap();
    }
    scim.send(Method::DELETE, &path, None, Some(&version))
        .expect(412);
}

#[test]
fn accounts_are_found_by_their_addresses() {
    let mail = Mail::new();
    let server = start(&mail, with_provisioner);
    let scim = Scim::of(&server);
    for name in ["bob", "carol"] {
        scim.user(name);
    }
    let found = |filter: &str| {
        let encoded: String = filter.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let list = scim.get(&format!("/Users?filter={encoded}"));
        let name = list["Resources"][0]["userName"].as_str().map(str::to_owned);
        (list["totalResults"].as_u64().unwrap(), name)
    };
    let carol = (1, Some("carol".to_owned()));
    for filter in [
        "emails eq \"Carol@example.test\"",
        "emails.value eq \"carol@example.test\"",
        "emails[value eq \"CAROL@example.test\"]",
        "emails[type eq \"work\" and value eq \"carol@example.test\"]",
        "active eq true and emails.value eq \"carol@example.test\"",
        "emails.value co \"carol@\"",
    ] {
        assert_eq!(found(filter), carol, "{filter}");
    }
    for filter in [
        "emails.value eq \"nobody@example.test\"",
        "emails.value eq \"carol\"",
        "active eq false and emails.value eq \"carol@example.test\"",
        "emails[type eq \"home\" and value eq \"carol@example.test\"]",
    ] {
        assert_eq!(found(filter), (0, None), "{filter}");
    }
    let two = found("emails.value eq \"bob@example.test\" or userName eq \"carol\"");
    assert_eq!(two.0, 2);
}

// What is not on the page is counted and not made; the numbers are the same.
#[test]
fn pages_count_everybody() {
    let mail = Mail::new();
    let server = start(&mail, with_provisioner);
    let scim = Scim::of(&server);
    for i in 0..7 {
        scim.user(&format!("p{i}"));
    }
    let all = scim.get("/Users");
    let ids = |list: &Value| -> Vec<Value> {
        let list = list["Resources"].as_array().unwrap();
        list.iter().map(|one| one["id"].clone()).collect()
    };
    assert_eq!((&all["totalResults"], ids(&all).len()), (&json!(8), 8));
    for (start, count) in [(1, 1), (1, 0), (3, 2), (8, 5), (9, 5), (100, 1)] {
        let page = scim.get(&format!("/Users?startIndex={start}&count={count}"));
        assert_eq!(page["totalResults"], 8, "{start} {count}");
        let wanted = ids(&all).into_iter().skip(start - 1).take(count);
        assert_eq!(ids(&page), wanted.collect::<Vec<_>>(), "{start} {count}");
    }
}

// Accounts of one request are made at once; what is answered is as if one came after the other.
#[test]
fn a_bulk_import_answers_each_operation_in_its_place() {
    let mail = Mail::new();
    let server = start(&mail, with_provisioner);
    let scim = Scim::of(&server);
    let mut operations: Vec<Value> = (0..40)
        .map(|i| {
            json!({"method": "POST", "path": "/Users", "bulkId": format!("b{i}"), "data": {
                "schemas": [USER], "userName": format!("p{i}"), "externalId": format!("x{i}"),
                "emails": [{"value": format!("p{i}@example.test")}]}})
        })
        .collect();
    operations[7]["data"]["userName"] = "P6".into();
    operations[20]["data"]["emails"] = json!([{"value": "not an address"}]);
    operations.push(
        json!({"method": "POST", "path": "/Groups", "bulkId": "g", "data": {
        "schemas": [GROUP], "displayName": "staff",
        "members": [{"value": "bulkId:b0"}, {"value": "bulkId:b39"}]}}),
    );
    let body = json!({
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],
        "Operations": operations,
    });
    let done = scim.post("/Bulk", body, 200);
    let answers = done["Operations"].as_array().unwrap();
    assert_eq!(answers.len(), 41);
    for (i, answer) in answers[..40].iter().enumerate() {
        let status = match i {
            7 => "409",
            20 => "400",
            _ => "201",
        };
        assert_eq!(answer["status"], status, "{i}: {answer}");
        assert_eq!(answer["bulkId"], format!("b{i}"));
        if status == "201" {
            let (_, id) = answer["location"]
                .as_str()
                .unwrap()
                .rsplit_once('/')
                .unwrap();
            assert_eq!(
                scim.get(&format!("/Users/{id}"))["userName"],
                format!("p{i}")
            );
        }
    }
    assert_eq!(answers[40]["status"], "201");
    let list = scim.get("/Groups");
    assert_eq!(list["Resources"][0]["members"].as_array().unwrap().len(), 2);
}

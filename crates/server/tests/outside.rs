//! Users of a directory that is not ours: they log in through the pages that everybody does.

use crate::common::{
    SECRET, Server, block_on,
    browser::{Browser, Page},
    client,
    client::Call,
    made::{claims, redeem},
    people::{Mail, PASSWORD, add_user, request, start},
    scope,
};
use http::Method;
use serde_json::{Value, json};
use signet_crypto::Secret;
use signet_directory::{
    Capabilities, Directory, DirectoryError, DirectoryFuture, PasswordVerdict, Person, Profile,
    UserError, Value as Attribute,
};
use signet_oauth::client::Client;
use signet_realm::records::groups::GroupDraft;
use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Arc, Mutex};

const THEIRS: &str = "the directory's own password";

/// A directory in memory, which is only read.
#[derive(Default)]
struct Outside {
    people: Mutex<BTreeMap<String, Person>>,
    down: Mutex<bool>,
}

impl Outside {
    fn with(names: &[&str]) -> Arc<Outside> {
        let outside = Outside::default();
        for name in names {
            let person = Person {
                id: format!("entry of {name}"),
                username: (*name).to_owned(),
                email: Some(format!("{name}@corp.example")),
                email_verified: true,
                enabled: true,
                profile: Profile {
                    name: Some(format!("{name} of Corp")),
                    ..Profile::default()
                },
                groups: vec!["staff".into(), "nowhere here".into()],
                attributes: [("department".into(), Attribute::Text("Sales".into()))].into(),
            };
            outside
                .people
                .lock()
                .unwrap()
                .insert(person.id.clone(), person);
        }
        Arc::new(outside)
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Person)) {
        let mut people = self.people.lock().unwrap();
        change(people.get_mut(&format!("entry of {name}")).unwrap());
    }

    fn answer<T: Send + 'static>(&self, answer: T) -> DirectoryFuture<'_, T> {
        Box::pin(ready(match *self.down.lock().unwrap() {
            false => Ok(answer),
            true => Err(DirectoryError {
                directory: "corp".into(),
                reason: "is down".into(),
            }),
        }))
    }
}

impl Directory for Outside {
    fn name(&self) -> &str {
        "corp"
    }
    fn find<'a>(&'a self, login: &'a str) -> DirectoryFuture<'a, Option<Person>> {
        let people = self.people.lock().unwrap();
        let named =
            |person: &&Person| person.username == login || person.email.as_deref() == Some(login);
        self.answer(people.values().find(named).cloned())
    }
    fn by_id<'a>(&'a self, id: &'a str) -> DirectoryFuture<'a, Option<Person>> {
        self.answer(self.people.lock().unwrap().get(id).cloned())
    }
    fn verify_password<'a>(
        &'a self,
        id: &'a str,
        password: Secret<String>,
    ) -> DirectoryFuture<'a, PasswordVerdict> {
        let known = self.people.lock().unwrap().contains_key(id);
        self.answer(match known && password == Secret::new(THEIRS.to_owned()) {
            true => PasswordVerdict::Right,
            false => PasswordVerdict::Wrong,
        })
    }
    fn may(&self) -> Capabilities {
        Capabilities::NONE
    }
}

fn server(mail: &Mail, outside: &Arc<Outside>) -> Server {
    let outside = outside.clone();
    start(mail, |setup| {
        setup.people.outside = vec![outside];
        setup.clients.push(Client {
            scope: scope("signet:admin openid"),
            ..client("operator")
        });
    })
}

/// Through login and consent, as the browser finds them, to the tokens.
#[track_caller]
fn tokens(server: &Server, browser: &mut Browser<'_>, name: &str) -> Value {
    let mut page = browser.get(&request(&[]));
    page = browser.log_in(&page, name, THEIRS);
    if page.offers("allow") {
        page = browser.press(&page, "allow", &[]);
    }
    let code = page
        .param("code")
        .unwrap_or_else(|| panic!("{}", page.text()));
    let answer = Call::post("/token")
        .basic("web", SECRET)
        .form(&redeem(&code));
    answer.send(server).expect(200).json()
}

fn sub(tokens: &Value) -> String {
    let id_token = tokens["id_token"].as_str().unwrap();
    claims(id_token)["sub"].as_str().unwrap().to_owned()
}

#[test]
fn a_person_of_another_directory_logs_in_and_keeps_their_sub() {
    let mail = Mail::new();
    let outside = Outside::with(&["olga"]);
    let server = server(&mail, &outside);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let wrong = browser.log_in(&page, "olga", PASSWORD);
    wrong.expect("is not right");
    let first = tokens(&server, &mut browser, "olga");
    // By another name, in another browser; and by a name of another spelling, after the name was
    // changed there.
    let second = tokens(&server, &mut Browser::new(&server), "OLGA@corp.example");
    outside.change("olga", |person| person.username = "olga.new".into());
    let third = tokens(&server, &mut Browser::new(&server), " Olga.New ");
    assert_eq!(sub(&first), sub(&second));
    assert_eq!(sub(&first), sub(&third));
    let userinfo = Call::get("/userinfo").bearer(third["access_token"].as_str().unwrap());
    let userinfo = userinfo.send(&server).expect(200).json();
    assert_eq!(userinfo["sub"], sub(&first));
    assert_eq!(userinfo["email"], "olga@corp.example");
    let account = browser.get("/account").expect("olga of Corp");
    account.expect("olga.new");
}

#[test]
fn the_groups_of_another_directory_count_where_the_realm_has_them() {
    let mail = Mail::new();
    let outside = Outside::with(&["olga"]);
    let server = server(&mail, &outside);
    let (realm, now) = (&server.realm, server.realm.now());
    let draft = GroupDraft::default();
    block_on(realm.write_group("staff", &draft, None)).unwrap();
    let department = signet_oauth::people::Attribute::new("department");
    block_on(realm.write_attribute(department, None)).unwrap();
    let known = || block_on(realm.people.users.by_login("olga", now));
    let user = known().unwrap().unwrap();
    let claims = user.claims();
    let snapshot = realm.snapshot();
    let groups = snapshot.registry.people.groups_of(&claims.held);
    assert_eq!(groups.into_iter().collect::<Vec<_>>(), ["staff"]);
    assert!(claims.held.attributes["department"].verified);
    // Nobody puts them into groups here, or says what their department is.
    let changed = realm.people.users.change(&user.id, now, |draft| {
        draft.user.groups.push("another".into());
    });
    assert!(matches!(
        block_on(changed),
        Err(UserError::KeptElsewhere(_))
    ));
    let changed = realm.people.users.change(&user.id, now, |draft| {
        draft.user.attributes.clear();
    });
    assert!(matches!(
        block_on(changed),
        Err(UserError::KeptElsewhere(_))
    ));
    // Who leaves a group there is out of it here, minutes later.
    outside.change("olga", |person| person.groups.clear());
    let later = realm.people.users.by_login("olga", now + 301);
    let claims = block_on(later).unwrap().unwrap().claims();
    assert!(snapshot.registry.people.groups_of(&claims.held).is_empty());
}

#[test]
fn racing_first_logins_get_one_sub() {
    let mail = Mail::new();
    let server = server(&mail, &Outside::with(&["olga"]));
    let users = &server.realm.people.users;
    let ids: Vec<String> = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| block_on(users.by_login("olga", server.realm.now()))))
            .collect();
        let found = racers.into_iter().map(|racer| racer.join().unwrap());
        found.map(|found| found.unwrap().unwrap().id).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    let all = block_on(users.list(None, 9, server.realm.now())).unwrap();
    assert_eq!(all.len(), 2, "alice, and olga once");
}

#[test]
fn what_their_directory_keeps_is_not_changed_here() {
    let mut mail = Mail::new();
    let outside = Outside::with(&["olga"]);
    let server = server(&mail, &outside);
    let mut browser = Browser::new(&server);
    let sub = sub(&tokens(&server, &mut browser, "olga"));

    // Her own page says so, and takes no password all the same.
    let page = browser.get("/account").expect("keeps your password");
    assert!(!page.offers("password") && !page.offers("profile"));
    let fields = [
        ("password", THEIRS),
        ("new_password", "another calm set of words"),
    ];
    let interaction = page.field("interaction");
    let forged = [
        &fields[..],
        &[("interaction", &*interaction), ("decision", "password")],
    ];
    let page = browser.post("/account", &forged.concat());
    page.expect("kept in the directory");
    let name = [
        ("interaction", &*interaction),
        ("decision", "profile"),
        ("names", "given"),
        ("name", "Another"),
        ("locale", "de"),
    ];
    let page = browser.post("/account", &name);
    assert!(!page.text().contains("Another"), "{}", page.text());

    // No link to a new password is mailed; what is said is the same.
    let mut other = Browser::new(&server);
    let page = other.get("/account/recover");
    let page = other.press(&page, "email", &[("username", "olga")]);
    page.expect("Check your mail");
    assert_eq!(mail.fresh(), Vec::<String>::new());

    // An operator receives the reason, and what is Signet's own can be changed.
    let operator = Operator::of(&server);
    let path = format!("/admin/v1/users/{sub}");
    let shown = operator.call(Method::GET, &path, &Value::Null, 200);
    assert_eq!(shown["directory"], "corp");
    let refused = |method, target: &str, body: &Value| {
        let problem = operator.call(method, &format!("{path}{target}"), body, 409);
        assert_eq!(problem["code"], "kept_elsewhere", "{problem}");
    };
    refused(
        Method::PUT,
        "/password",
        &json!({ "password": "another calm set of words" }),
    );
    refused(
        Method::PUT,
        "/email",
        &json!({ "email": "olga@elsewhere.example" }),
    );
    refused(Method::DELETE, "", &Value::Null);
    let profile = json!({ "admin": false, "enabled": true, "profile": { "name": "Olga" } });
    refused(Method::PUT, "", &profile);
    // The refused removal did not keep her out.
    browser.get("/account").expect("Your account");
    let rights = json!({ "admin": true, "enabled": true, "profile": shown["profile"] });
    operator.call(Method::PUT, &path, &rights, 200);
    // Nobody else has an account that may administer.
    let disable = format!("{path}/disable");
    let last = operator.call(Method::POST, &disable, &Value::Null, 409);
    assert_eq!(last["code"], "last_administrator", "{last}");
    let disable = format!("{disable}?last_administrator=true");
    operator.call(Method::POST, &disable, &Value::Null, 200);
    let page = browser.get("/account");
    browser.log_in(&page, "olga", THEIRS).expect("is not right");
    operator.call(Method::POST, &format!("{path}/enable"), &Value::Null, 200);
    let page = browser.get("/account");
    browser.log_in(&page, "olga", THEIRS).expect("Your account");
}

#[test]
fn nobody_takes_the_name_of_another_directorys_person() {
    let mail = Mail::new();
    let outside = Outside::with(&["olga"]);
    let server = server(&mail, &outside);
    let operator = Operator::of(&server);
    for (name, email, code) in [
        ("Olga", "o@example.test", "username_taken"),
        ("other", "OLGA@corp.example", "email_taken"),
    ] {
        let new = json!({ "username": name, "email": email });
        let problem = operator.call(Method::POST, "/admin/v1/users", &new, 409);
        assert_eq!(problem["code"], code);
    }
    // An account that was here first stays whose it is, whoever comes to be called so elsewhere.
    let mut namesake = outside.people.lock().unwrap()["entry of olga"].clone();
    (namesake.id, namesake.username) = ("entry of alice".into(), "alice".into());
    outside
        .people
        .lock()
        .unwrap()
        .insert(namesake.id.clone(), namesake);
    let mut browser = Browser::new(&server);
    let page = browser.get("/account");
    browser
        .log_in(&page, "alice", THEIRS)
        .expect("is not right");
    let page = browser.get("/account");
    browser
        .log_in(&page, "alice", PASSWORD)
        .expect("Your account");
}

#[test]
fn who_leaves_their_directory_is_out_minutes_later() {
    let mail = Mail::new();
    let outside = Outside::with(&["olga", "otto"]);
    let server = server(&mail, &outside);
    let (mut olga, mut otto) = (Browser::new(&server), Browser::new(&server));
    tokens(&server, &mut olga, "olga");
    tokens(&server, &mut otto, "otto");
    outside.people.lock().unwrap().remove("entry of olga");
    outside.change("otto", |person| person.enabled = false);
    server.pass(301);
    for browser in [&mut olga, &mut otto] {
        assert!(!browser.get("/account").text().contains("Your account"));
    }
    let page = otto.get("/account");
    otto.log_in(&page, "otto", THEIRS).expect("is not right");
    outside.change("otto", |person| person.enabled = true);
    let page = otto.get("/account");
    otto.log_in(&page, "otto", THEIRS).expect("Your account");
}

#[test]
fn a_directory_that_fails_keeps_only_its_own_people_waiting() {
    let mail = Mail::new();
    let outside = Outside::with(&["olga"]);
    let server = server(&mail, &outside);
    add_user(&server, "bob");
    let mut olga = Browser::new(&server);
    tokens(&server, &mut olga, "olga");
    *outside.down.lock().unwrap() = true;
    server.pass(301);
    // Who is logged in stays so.
    olga.get("/account").expect("Your account");
    let mut bob = Browser::new(&server);
    let page: Page = bob.get("/account");
    bob.log_in(&page, "bob", PASSWORD).expect("Your account");
    let mut again = Browser::new(&server);
    let page = again.get("/account");
    again.log_in(&page, "olga", THEIRS).expect_status(503);
}

struct Operator<'a> {
    server: &'a Server,
    token: String,
}

impl<'a> Operator<'a> {
    fn of(server: &'a Server) -> Operator<'a> {
        let form = [
            ("grant_type", "client_credentials"),
            ("scope", "signet:admin"),
        ];
        let token = Call::post("/token").basic("operator", SECRET).form(&form);
        let token = token.send(server).expect(200).member("access_token");
        Operator { server, token }
    }

    #[track_caller]
    fn call(&self, method: Method, target: &str, body: &Value, status: u16) -> Value {
        let mut call = Call::new(method.clone(), target).bearer(&self.token);
        if method == Method::PUT {
            let shown = Call::get(
                target
                    .trim_end_matches("/password")
                    .trim_end_matches("/email"),
            );
            let shown = shown.bearer(&self.token).send(self.server).expect(200);
            call = call.header("if-match", shown.header("etag"));
        }
        if !body.is_null() {
            call = call.json(body);
        }
        let reply = call.send(self.server).expect(status);
        match reply.body.is_empty() {
            true => Value::Null,
            false => reply.json(),
        }
    }
}

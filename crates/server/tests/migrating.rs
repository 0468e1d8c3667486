//! Moving in by the first login: a server that knows passwords is asked for names that nobody has
//! here.
use crate::common::{
    SECRET, Server, block_on,
    browser::{Browser, Page},
    client::Call,
    people::{Mail, PASSWORD, request, start},
};
use crate::providers::write;
use serde_json::{Value, json};
use signet_directory::User;
use signet_oauth::command_line;
use signet_oauth::people::provider::{
    ClaimRow, GroupRow, MAX_MIGRATED_FROM, Protocol, Provider, ProviderAuth,
};
use signet_realm::records::groups::GroupDraft;
use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::{Arc, Mutex, atomic::Ordering::SeqCst},
    time::Duration,
};

const UUID: &str = "00112233-4455-6677-8899-aabbccddeeff";

/// A server over plain HTTP that answers by path, and keeps what it was sent.
struct Old {
    url: String,
    answers: Arc<Mutex<Answers>>,
    heard: Arc<Mutex<Vec<String>>>,
}

#[derive(Clone, Default)]
struct Answers {
    by_path: Vec<(&'static str, u16, Value)>,
    wait: Duration,
}

impl Old {
    fn start() -> Old {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
        let old = Old {
            url,
            answers: Arc::default(),
            heard: Arc::default(),
        };
        let (answers, heard) = (old.answers.clone(), old.heard.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(mut stream), answers, heard) = (stream, answers.clone(), heard.clone())
                else {
                    return;
                };
                std::thread::spawn(move || {
                    let mut all = Vec::new();
                    let mut read = [0; 4096];
                    let request = loop {
                        let length = stream.read(&mut read).unwrap_or(0);
                        all.extend_from_slice(&read[..length]);
                        let text = String::from_utf8_lossy(&all).into_owned();
                        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
                            let said = head.to_ascii_lowercase();
                            let said = said.split("content-length: ").nth(1);
                            let said = said.and_then(|rest| rest.split('\r').next());
                            body.len() >= said.map_or(0, |said| said.parse().unwrap())
                        });
                        if whole || length == 0 {
                            break text;
                        }
                    };
                    heard.lock().unwrap().push(request.clone());
                    let answers = answers.lock().unwrap().clone();
                    std::thread::sleep(answers.wait);
                    let path = request.split(' ').nth(1).unwrap_or("");
                    let found = answers.by_path.iter().find(|(known, ..)| *known == path);
                    let (status, body) = found.map_or((500, Value::Null), |(_, status, body)| {
                        (*status, body.clone())
                    });
                    let body = body.to_string();
                    let head = format!(
                        "HTTP/1.1 {status} Said\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                        body.len()
                    );
                    let _ = stream.write_all((head + &body).as_bytes());
                });
            }
        });
        old
    }

    fn says(&self, by_path: Vec<(&'static str, u16, Value)>) {
        self.answers.lock().unwrap().by_path = by_path;
    }

    fn heard(&self) -> Vec<String> {
        std::mem::take(&mut self.heard.lock().unwrap())
    }

    fn hook(&self) -> Provider {
        Provider {
            protocol: Protocol::Hook,
            migrate: true,
            trust_email: true,
            client_id: "signet".into(),
            ..Provider::new("old", format!("{}/hook", self.url))
        }
    }
}

fn bob() -> Value {
    json!({
        "sub": UUID, "preferred_username": "bob", "email": "bob@old.example",
        "email_verified": true, "given_name": "Bob", "roles": ["staff", "nobody-knows-this"],
    })
}

fn log_in<'a>(server: &'a Server, name: &str, password: &str) -> (Browser<'a>, Page) {
    let mut here = Browser::new(server);
    let login = here.get(&request(&[]));
    let page = here.log_in(&login, name, password);
    (here, page)
}

/// Whether the login is done: the client's consent comes next.
fn is_in(page: &Page) -> bool {
    page.offers("allow") && !page.text().contains("name=\"password\"")
        || page.param("code").is_some()
}

fn found(server: &Server, name: &str) -> Option<User> {
    let users = &server.realm.people.users;
    block_on(users.by_login(name, server.realm.now())).unwrap()
}

fn pass(server: &Server, seconds: u64) {
    server.clock.passed.fetch_add(seconds * 1000, SeqCst);
}

#[test]
fn who_is_known_at_the_old_server_alone_is_moved_at_the_first_login_and_asked_for_once() {
    let (mail, old) = (Mail::new(), Old::start());
    let server = start(&mail, |_| {});
    let draft = GroupDraft::default();
    let staff = server.realm.write_group("staff", &draft, None);
    let staff = block_on(staff).unwrap();
    write(
        &server,
        Provider {
            groups: vec![GroupRow {
                claim: "roles".into(),
                value: "*".into(),
                group: None,
            }],
            claims: vec![ClaimRow {
                claim: "given_name".into(),
                to: "nickname".into(),
            }],
            ..old.hook()
        },
    );
    // A name that somebody has here is never asked for, whatever the password.
    let (_, page) = log_in(&server, "alice", "not hers");
    assert!(!is_in(&page) && old.heard().is_empty());

    old.says(vec![("/hook", 401, Value::Null)]);
    let (_, page) = log_in(&server, "bob", "wrong");
    assert!(!is_in(&page), "{}", page.text());
    assert!(found(&server, "bob").is_none());
    assert_eq!(old.heard().len(), 1);

    old.says(vec![("/hook", 200, bob())]);
    let (_, page) = log_in(&server, "bob", "old & right=1");
    assert!(is_in(&page), "{}", page.text());
    let heard = old.heard();
    assert_eq!(heard.len(), 1);
    let (head, form) = heard[0].split_once("\r\n\r\n").unwrap();
    assert_eq!(form, "username=bob&password=old+%26+right%3D1");
    assert!(head.to_ascii_lowercase().contains("authorization: basic "));
    let user = found(&server, "bob@old.example").unwrap();
    assert_eq!((&*user.username, user.email_verified), ("bob", true));
    assert_eq!(user.id, "ABEiM0RVZneImaq7zN3u_w");
    assert_eq!(user.profile.nickname.as_deref(), Some("Bob"));
    assert_eq!(user.groups, std::slice::from_ref(&staff.id));
    assert!(!user.admin);

    // From now on it is this server's: the old one is not asked, and may be gone.
    old.says(vec![("/hook", 500, Value::Null)]);
    let (_, page) = log_in(&server, "bob", "old & right=1");
    assert!(is_in(&page), "{}", page.text());
    let (_, page) = log_in(&server, "bob", "wrong");
    assert!(!is_in(&page));
    assert!(old.heard().is_empty());
}

#[test]
fn a_password_that_was_changed_here_counts_and_who_was_removed_here_does_not_come_back() {
    let (mail, old) = (Mail::new(), Old::start());
    let server = start(&mail, |_| {});
    write(&server, old.hook());
    old.says(vec![("/hook", 200, bob())]);
    let (_, page) = log_in(&server, "bob", "old");
    assert!(is_in(&page));
    let users = &server.realm.people.users;
    let (id, now) = (found(&server, "bob").unwrap().id, server.realm.now());
    let phc = block_on(users.hash(signet_crypto::Secret::new("new".into()))).unwrap();
    block_on(users.set_password(&id, Some(&phc), now)).unwrap();
    // By another name of theirs at the old server, which still believes the old password.
    let (_, page) = log_in(&server, "robert", "old");
    assert!(!is_in(&page), "{}", page.text());
    let (_, page) = log_in(&server, "robert", "new");
    assert!(is_in(&page), "{}", page.text());

    block_on(users.remove(&id, now)).unwrap();
    for name in ["bob", "robert"] {
        let (_, page) = log_in(&server, name, "old");
        assert!(!is_in(&page), "{}", page.text());
        assert!(found(&server, name).is_none());
    }
}

#[test]
fn two_first_logins_at_once_make_one_account() {
    let (mail, old) = (Mail::new(), Old::start());
    let server = start(&mail, |_| {});
    write(&server, old.hook());
    for (sub, name) in [(UUID, "bob"), ("4711", "carol")] {
        let answer = json!({ "sub": sub, "preferred_username": name });
        old.says(vec![("/hook", 200, answer)]);
        old.answers.lock().unwrap().wait = Duration::from_millis(300);
        let pages: Vec<bool> = std::thread::scope(|scope| {
            let logins: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| is_in(&log_in(&server, name, "old").1)))
                .collect();
            logins
                .into_iter()
                .map(|login| login.join().unwrap())
                .collect()
        });
        assert_eq!(pages, [true; 4], "{name}");
    }
    let all = block_on(
        server
            .realm
            .people
            .users
            .list(None, 100, server.realm.now()),
    )
    .unwrap();
    assert_eq!(all.len(), 3, "alice, bob, carol");
}

#[test]
fn whose_name_somebody_else_has_here_gets_no_account_and_no_address_of_theirs() {
    let (mail, old) = (Mail::new(), Old::start());
    let server = start(&mail, |_| {});
    write(&server, old.hook());
    // Somebody else's user name here.
    let answer = json!({ "sub": "7", "preferred_username": "alice" });
    old.says(vec![("/hook", 200, answer)]);
    let (_, page) = log_in(&server, "a.liddell", "old");
    assert!(!is_in(&page), "{}", page.text());
    // Somebody else's address here: it is left out.
    let answer = json!({
        "sub": "8", "preferred_username": "bob", "email": "alice@example.test",
        "email_verified": true,
    });
    old.says(vec![("/hook", 200, answer)]);
    let (_, page) = log_in(&server, "bob", "old");
    assert!(is_in(&page), "{}", page.text());
    assert_eq!(found(&server, "bob").unwrap().email, None);
    assert_eq!(
        found(&server, "alice@example.test").unwrap().username,
        "alice"
    );
    // Of a server that is not trusted for addresses none comes over.
    write(
        &server,
        Provider {
            trust_email: false,
            ..old.hook()
        },
    );
    let answer = json!({
        "sub": "9", "preferred_username": "carol", "email": "c@old.example",
        "email_verified": true,
    });
    old.says(vec![("/hook", 200, answer)]);
    let (_, page) = log_in(&server, "carol", "old");
    assert!(is_in(&page), "{}", page.text());
    assert_eq!(found(&server, "carol").unwrap().email, None);
}

#[test]
fn a_server_that_does_not_answer_is_not_a_wrong_password_and_holds_up_nobody() {
    let (mail, old) = (Mail::new(), Old::start());
    let server = start(&mail, |_| {});
    write(&server, old.hook());
    old.says(vec![("/hook", 500, Value::Null)]);
    let (_, page) = log_in(&server, "bob", "old");
    assert_eq!(page.reply.status, 503, "{}", page.text());
    assert_eq!(old.heard().len(), 1);
    // For a moment it is not asked again.
    old.says(vec![("/hook", 200, bob())]);
    let (_, page) = log_in(&server, "bob", "old");
    assert_eq!(page.reply.status, 503);
    assert!(old.heard().is_empty());
    // Who is here logs in meanwhile.
    let (_, page) = log_in(&server, "alice", PASSWORD);
    assert!(is_in(&page), "{}", page.text());
    pass(&server, 10);
    let (_, page) = log_in(&server, "bob", "old");
    assert!(is_in(&page), "{}", page.text());
}

#[test]
fn answers_that_name_nobody_make_no_account() {
    let (mail, old) = (Mail::new(), Old::start());
    let server = start(&mail, |_| {});
    write(&server, old.hook());
    for answer in [
        json!({}),
        json!([]),
        json!("bob"),
        json!({ "sub": "" }),
        json!({ "sub": ["x"], "preferred_username": "bob" }),
        json!({ "preferred_username": "bob" }),
    ] {
        old.says(vec![("/hook", 200, answer.clone())]);
        let (_, page) = log_in(&server, "bob", "old");
        assert_eq!(page.reply.status, 503, "{answer}");
        pass(&server, 10);
    }
    for name in ["bob smith", "root\u{202e}", &"x".repeat(100)] {
        let answer = json!({ "sub": "5", "preferred_username": name });
        old.says(vec![("/hook", 200, answer)]);
        let (_, page) = log_in(&server, "bob", "old");
        assert!(!is_in(&page), "{name}: {}", page.text());
    }
    let all = block_on(server.realm.people.users.list(None, 10, server.realm.now())).unwrap();
    assert_eq!(all.len(), 1, "alice");
}

#[test]
fn the_password_grant_asks_and_userinfo_says_who_it_is() {
    let (mail, old) = (Mail::new(), Old::start());
    let server = start(&mail, |_| {});
    let at = |path: &str| Some(format!("{}{path}", old.url));
    write(
        &server,
        Provider {
            migrate: true,
            hidden: true,
            client_id: "signet".into(),
            auth: ProviderAuth::ClientSecretPost,
            ..Provider::new("old", old.url.clone())
        },
    );
    let metadata = json!({
        "issuer": old.url, "authorization_endpoint": at("/authorize"),
        "token_endpoint": at("/token"), "userinfo_endpoint": at("/userinfo"),
    });
    let discovery = ("/.well-known/openid-configuration", 200, metadata);
    let refused = json!({ "error": "invalid_grant" });
    old.says(vec![discovery.clone(), ("/token", 401, refused)]);
    let (_, page) = log_in(&server, "bob", "wrong");
    assert_eq!(page.reply.status, 200);
    assert!(!is_in(&page), "{}", page.text());
    let tokens = json!({ "access_token": "at", "token_type": "Bearer" });
    old.heard();
    old.says(vec![
        discovery.clone(),
        ("/token", 200, tokens),
        ("/userinfo", 200, bob()),
    ]);
    let (_, page) = log_in(&server, "bob", "old");
    assert!(is_in(&page), "{}", page.text());
    let heard = old.heard();
    let form = heard[0].split_once("\r\n\r\n").unwrap().1;
    let wanted = format!(
        "grant_type=password&username=bob&password=old&scope=openid+email+profile&client_id=signet&client_secret={}",
        SECRET.replace(' ', "+")
    );
    assert_eq!(form, wanted);
    assert!(
        heard[1]
            .to_ascii_lowercase()
            .contains("authorization: bearer at")
    );
    // A server that does not allow the grant is a mistake of the operator, not of the person.
    let refused = json!({ "error": "unauthorized_client" });
    old.says(vec![discovery, ("/token", 400, refused)]);
    let (_, page) = log_in(&server, "carol", "old");
    assert_eq!(page.reply.status, 503);
}

#[test]
fn so_many_servers_are_asked_in_the_order_of_their_names() {
    let (mail, old) = (Mail::new(), Old::start());
    let server = start(&mail, |_| {});
    for n in 0..MAX_MIGRATED_FROM + 1 {
        let provider = Provider {
            name: format!("old-{n}"),
            ..old.hook()
        };
        write(&server, provider);
    }
    old.says(vec![("/hook", 401, Value::Null)]);
    let (_, page) = log_in(&server, "bob", "old");
    assert!(!is_in(&page));
    assert_eq!(old.heard().len(), MAX_MIGRATED_FROM);
    // Nothing that cannot be a name is sent anywhere.
    for typed in ["", "   ", "bob\u{7}"] {
        let (_, page) = log_in(&server, typed, "old");
        assert!(!is_in(&page));
    }
    let (_, page) = log_in(&server, "bob", "");
    assert!(!is_in(&page));
    assert!(old.heard().is_empty());
}

#[test]
fn the_command_lines_login_asks_nobody() {
    let (mail, old) = (Mail::new(), Old::start());
    let server = start(&mail, |_| {});
    server.configure(|_, declared| command_line::add(declared).unwrap());
    write(&server, old.hook());
    old.says(vec![("/hook", 200, bob())]);
    let refused = Call::post("/password-login")
        .json(&json!({ "username": "bob", "password": "old" }))
        .send(&server);
    assert_eq!(
        refused.json()["error"],
        "access_denied",
        "{}",
        refused.text()
    );
    assert!(old.heard().is_empty());
    assert!(found(&server, "bob").is_none());
}

#[test]
fn nobody_is_sent_to_a_server_that_is_asked_for_passwords_alone() {
    let (mail, old) = (Mail::new(), Old::start());
    let server = start(&mail, |_| {});
    write(&server, old.hook());
    let mut here = Browser::new(&server);
    let login = here.get(&request(&[]));
    assert!(!login.text().contains("provider:old"), "{}", login.text());
    let page = here.get(&request(&[("idp_hint", "old")]));
    assert!(page.url.starts_with("/authorize"), "{}", page.url);
    here.get("/providers/old/callback?code=c&state=s")
        .expect_error("not_found");
    assert!(old.heard().is_empty());
}

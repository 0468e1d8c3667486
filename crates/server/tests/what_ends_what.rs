//! Every act that ends something, and what it ends: each is done, each column is asked, and the
//! table of docs/operations.md says the same.
use crate::{
    agents::world::World,
    common::{
        SECRET, block_on,
        browser::{Browser, Page},
        client::{Call, Reply},
        failing::FullDisk,
        people::{PASSWORD, VERIFIER, add_user, request},
    },
};
use http::Method;
use serde_json::json;
use signet_realm::attempts::{self, Kind};
use std::{
    cell::RefCell,
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::Ordering::SeqCst},
};

const NEW: &str = "another calm set of words";
const CALLBACK: &str = "https://client.example/cb";
const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const TABLE: &str = include_str!("../../../docs/operations.md");

/// The heading of the table, in the order of [`Left`]'s members.
const COLUMNS: &str = "| act | session | refresh token | with `offline_access` | access token | exchanged token | agents' \
     bindings | known device |";

/// What Alice has: a session in one browser with everything that was issued under it, and another
/// session that acts are done in.
struct Scene<'s> {
    world: &'s World,
    browser: RefCell<Browser<'s>>,
    other: RefCell<Browser<'s>>,
    refresh: String,
    offline: String,
    access: String,
    exchanged: String,
}

/// Whether each column is still in force.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
struct Left {
    session: bool,
    refresh: bool,
    offline: bool,
    access: bool,
    exchanged: bool,
    agent: bool,
    device: bool,
}

fn redeem(world: &World, code: &str) -> Reply {
    let form = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
    ];
    token(world, "web", &form).expect(200)
}

fn token(world: &World, client_id: &str, form: &[(&str, &str)]) -> Reply {
    let call = Call::post("/token").basic(client_id, SECRET).form(form);
    call.send(&world.server)
}

fn refreshed(world: &World, refresh_token: &str) -> Reply {
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh_token),
    ];
    token(world, "web", &form)
}

#[track_caller]
fn log_in<'s>(world: &'s World, name: &str) -> Browser<'s> {
    let mut browser = Browser::new(&world.server);
    let page = browser.get("/account").expect("name=\"password\"");
    browser.log_in(&page, name, PASSWORD).expect("Your account");
    browser
}

#[track_caller]
fn tokens(world: &World, browser: &mut Browser<'_>, scope: &str) -> Reply {
    let page = browser.get(&request(&[("scope", scope), ("prompt", "consent")]));
    let back = browser.press(&page, "allow", &[]);
    redeem(world, &back.param("code").expect("a code"))
}

fn world() -> World {
    World::with(|platform| platform.may_act_for = vec!["web".to_owned()])
}

impl<'s> Scene<'s> {
    fn new(world: &'s World) -> Scene<'s> {
        let mut browser = log_in(world, "alice");
        let session = tokens(world, &mut browser, "openid email");
        let offline = tokens(world, &mut browser, "openid email offline_access");
        let access = session.member("access_token");
        let form = [
            ("grant_type", EXCHANGE),
            ("subject_token", access.as_str()),
            ("subject_token_type", ACCESS_TOKEN),
        ];
        let exchanged = token(world, "platform", &form).expect(200);
        let scene = Scene {
            world,
            browser: RefCell::new(browser),
            other: RefCell::new(log_in(world, "alice")),
            refresh: session.member("refresh_token"),
            offline: offline.member("refresh_token"),
            access,
            exchanged: exchanged.member("access_token"),
        };
        assert!(scene.is_active("web", &scene.access));
        assert!(scene.is_active("platform", &scene.exchanged));
        // An exchange with her agent's grant works, and another will after the act, or not.
        world.token();
        scene
    }

    fn is_active(&self, client_id: &str, token: &str) -> bool {
        let call = Call::post("/introspect").basic(client_id, SECRET);
        let reply = call.form(&[("token", token)]).send(&self.world.server);
        reply.status == 200 && reply.json()["active"] == true
    }

    /// Asks every column.
    fn left(&self, password: &str) -> Left {
        let world = self.world;
        let page = self.browser.borrow_mut().get("/account");
        let session = page.text().contains("Your account");
        let access = self.is_active("web", &self.access);
        let exchanged = self.is_active("platform", &self.exchanged);
        let refresh = refreshed(world, &self.refresh).status == 200;
        let offline = refreshed(world, &self.offline).status == 200;
        let agent = world.exchange(&world.carol, &world.chain()).status == 200;
        Left {
            session,
            refresh,
            offline,
            access,
            exchanged,
            agent,
            device: self.is_known_device(password),
        }
    }

    /// Others have used up the guesses of the account: only a browser that is known gets in.
    fn is_known_device(&self, password: &str) -> bool {
        let realm = &self.world.server.realm;
        let _ = block_on(
            realm
                .people
                .users
                .set_enabled(&self.world.user_id, true, realm.now()),
        );
        let limits = &realm.people.limits;
        let strangers = limits.of_account(Kind::Password, &self.world.user_id, None);
        while block_on(attempts::count(&*realm.store, &strangers, realm.now())).is_ok() {}
        let mut browser = self.browser.borrow_mut();
        browser.cookies.remove("__Host-signet-session");
        let page = browser.get("/account").expect("name=\"password\"");
        let page = browser.log_in(&page, "alice", password);
        page.text().contains("Your account")
    }

    fn account(&self, decision: &str, fields: &[(&str, &str)]) -> Page {
        let mut other = self.other.borrow_mut();
        let page = other.get("/account").expect("Your account");
        other.press(&page, decision, fields)
    }

    fn admin(&self, method: Method, path: &str, body: Option<serde_json::Value>) {
        let target = format!("/admin/v1/{}", path.replace("ALICE", &self.world.user_id));
        let reply = self.world.admin(method, &target, body.as_ref());
        assert!(reply.status < 300, "{}: {}", reply.status, reply.text());
    }

    fn revoke(&self, token: &str) {
        let call = Call::post("/revoke").basic("web", SECRET);
        let reply = call.form(&[("token", token)]).send(&self.world.server);
        reply.expect(200);
    }
}

const ALL_END: Left = Left {
    session: false,
    refresh: false,
    offline: false,
    access: false,
    exchanged: false,
    agent: false,
    device: false,
};
const ALL_STAY: Left = Left {
    session: true,
    refresh: true,
    offline: true,
    access: true,
    exchanged: true,
    agent: true,
    device: true,
};
/// Everything but what tells a device from others.
const ALL_BUT_DEVICE: Left = Left {
    device: true,
    ..ALL_END
};
/// A session and what hangs on it.
const THE_SESSION: Left = Left {
    session: false,
    refresh: false,
    access: false,
    exchanged: false,
    ..ALL_STAY
};
/// What a client holds of everybody. What another was given in exchange lives on as long as the
/// token it came from would have.
const THE_CLIENT: Left = Left {
    exchanged: true,
    ..THE_GRANTS
};
/// What a client holds.
const THE_GRANTS: Left = Left {
    refresh: false,
    offline: false,
    access: false,
    exchanged: false,
    ..ALL_STAY
};

struct Act {
    name: &'static str,
    act: fn(&Scene<'_>),
    /// The password afterwards.
    password: &'static str,
    left: Left,
}

const fn act(name: &'static str, left: Left, act: fn(&Scene<'_>)) -> Act {
    Act {
        name,
        act,
        password: PASSWORD,
        left,
    }
}

const fn new_password(name: &'static str, act: fn(&Scene<'_>)) -> Act {
    Act {
        name,
        act,
        password: NEW,
        left: ALL_END,
    }
}

const ACTS: &[Act] = &[
    new_password(
        "new password at `/account` (the own session begins again)",
        |scene| {
            let fields = [("password", PASSWORD), ("new_password", NEW)];
            let page = scene.account("password", &fields);
            // The person goes on, in a session of which nothing from before is left.
            page.expect("The password was changed");
            let mut other = scene.other.borrow_mut();
            other.get("/account").expect("Your account");
            tokens(scene.world, &mut other, "openid email");
        },
    ),
    new_password("first password at `/account`", |scene| {
        let realm = &scene.world.server.realm;
        let users = &realm.people.users;
        let without = users.set_password(&scene.world.user_id, None, realm.now());
        block_on(without).unwrap();
        let page = scene.account("password", &[("new_password", NEW)]);
        page.expect("The password was changed");
    }),
    new_password("recovery by mail", |scene| {
        let mut browser = Browser::new(&scene.world.server);
        let page = browser.get("/account/recover");
        browser.press(&page, "email", &[("username", "alice")]);
        let mails = scene.world.mail.lock().unwrap().fresh();
        let start = mails[0].find("/account/recover?token=").unwrap();
        let link = mails[0][start..].split_whitespace().next().unwrap();
        let page = browser.get(link);
        browser.press(&page, "password", &[("new_password", NEW)]);
    }),
    new_password("an administrator sets the password", |scene| {
        let body = json!({ "password": NEW });
        scene.admin(Method::PUT, "users/ALICE/password", Some(body));
    }),
    act(
        "an administrator disables the person",
        ALL_BUT_DEVICE,
        |scene| {
            scene.admin(Method::POST, "users/ALICE/disable", None);
        },
    ),
    act(
        "an administrator revokes everything of the person",
        ALL_BUT_DEVICE,
        |scene| {
            scene.admin(Method::POST, "users/ALICE/revoke", None);
        },
    ),
    act("an administrator removes the person", ALL_END, |scene| {
        scene.admin(Method::DELETE, "users/ALICE", None);
    }),
    act("logging out", THE_SESSION, |scene| {
        let mut browser = scene.browser.borrow_mut();
        let page = browser.get("/logout");
        browser.press(&page, "allow", &[]).expect("signed-out");
    }),
    act("the person ends all other sessions", THE_SESSION, |scene| {
        scene
            .account("end-others", &[])
            .expect("All other sessions have ended");
    }),
    act("an administrator ends the session", THE_SESSION, |scene| {
        let realm = &scene.world.server.realm;
        let listed =
            signet_directory::session::list(&*realm.store, &scene.world.user_id, realm.now());
        for (_, row) in block_on(listed).unwrap() {
            let path = format!("users/ALICE/sessions/{}", row.sid);
            scene.admin(Method::DELETE, &path, None);
        }
    }),
    act(
        "somebody else logs in in the same browser",
        THE_SESSION,
        |scene| {
            add_user(&scene.world.server, "bill");
            let mut browser = scene.browser.borrow_mut();
            let page = browser.get(&request(&[("prompt", "login")]));
            browser.log_in(&page, "bill", PASSWORD);
            // Bill's session is not Alice's.
            browser.cookies.remove("__Host-signet-session");
        },
    ),
    act(
        "the session ends by itself",
        Left {
            access: true,
            exchanged: true,
            ..THE_SESSION
        },
        |scene| {
            // The row as after its time: the tokens of the test live no longer than a session is
            // idle.
            let realm = &scene.world.server.realm;
            let listed =
                signet_directory::session::list(&*realm.store, &scene.world.user_id, realm.now());
            for (id, row) in block_on(listed).unwrap() {
                let ended = signet_directory::session::end(&*realm.store, &id, &row, realm.now());
                block_on(ended).unwrap();
            }
        },
    ),
    act("the person withdraws the consent", THE_GRANTS, |scene| {
        scene
            .account("withdraw", &[])
            .expect("can no longer act for you");
    }),
    act(
        "an administrator withdraws the consent",
        THE_GRANTS,
        |scene| {
            scene.admin(Method::DELETE, "users/ALICE/consents/web", None);
        },
    ),
    act(
        "the client revokes the refresh token",
        Left {
            offline: true,
            ..THE_GRANTS
        },
        |scene| scene.revoke(&scene.refresh),
    ),
    act(
        "a code or an old refresh token comes a second time",
        Left {
            offline: true,
            ..THE_GRANTS
        },
        |scene| {
            refreshed(scene.world, &scene.refresh).expect(200);
            refreshed(scene.world, &scene.refresh).expect_error(400, "invalid_grant");
        },
    ),
    act(
        "the client revokes the access token",
        Left {
            access: false,
            exchanged: false,
            ..ALL_STAY
        },
        |scene| scene.revoke(&scene.access),
    ),
    act(
        "an administrator disables, removes or revokes the client",
        THE_CLIENT,
        |scene| {
            scene.admin(Method::POST, "clients/web/revoke", None);
        },
    ),
    act("the client leaves the configuration", THE_CLIENT, |scene| {
        let realm = &scene.world.server.realm;
        let declared = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        block_on(realm.note_declared_clients(&declared(&["web"]))).unwrap();
        block_on(realm.note_declared_clients(&declared(&[]))).unwrap();
    }),
    act(
        "the person takes an identity off, or stops all agents",
        Left {
            agent: false,
            ..ALL_STAY
        },
        |scene| {
            scene
                .account("stop-agents", &[])
                .expect("No agent can act for you");
        },
    ),
];

fn word(stays: bool) -> &'static str {
    if stays { "stays" } else { "ends" }
}

fn row(name: &str, left: Left) -> String {
    let cells = [
        left.session,
        left.refresh,
        left.offline,
        left.access,
        left.exchanged,
        left.agent,
        left.device,
    ];
    format!("| {name} | {} |", cells.map(word).join(" | "))
}

#[test]
fn every_act_ends_what_the_manual_says_and_nothing_else() {
    let mut wrong = Vec::new();
    for one in ACTS {
        let world = world();
        let scene = Scene::new(&world);
        world.server.pass(1);
        (one.act)(&scene);
        let left = scene.left(one.password);
        if left != one.left {
            wrong.push(format!(
                "is     {}\nshould {}",
                row(one.name, left),
                row(one.name, one.left)
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Acts that make something, too, or count a guess: on a full disk they are answered with 503.
const NEED_SPACE: &[&str] = &[
    "new password at `/account` (the own session begins again)",
    "first password at `/account`",
    "recovery by mail",
    "somebody else logs in in the same browser",
    "a code or an old refresh token comes a second time",
];

#[test]
fn on_a_full_disk_every_act_that_makes_nothing_ends_the_same() {
    let mut wrong = Vec::new();
    let mut done = 0;
    for one in ACTS.iter().filter(|one| !NEED_SPACE.contains(&one.name)) {
        let store = Arc::new(FullDisk::default());
        let world = World::over(Some(store.clone()), |platform| {
            platform.may_act_for = vec!["web".to_owned()];
        });
        let scene = Scene::new(&world);
        world.server.pass(1);
        store.full.store(true, SeqCst);
        let ready = Call::get("/health/ready").send(&world.server).expect(200);
        assert!(ready.text().contains("degraded"), "{}", ready.text());
        let done_so = std::panic::catch_unwind(AssertUnwindSafe(|| (one.act)(&scene)));
        // Asking makes something: a refresh, a login.
        store.full.store(false, SeqCst);
        if done_so.is_err() {
            wrong.push(format!("{}: was refused", one.name));
            continue;
        }
        let left = scene.left(one.password);
        if left != one.left {
            wrong.push(row(one.name, left));
        }
        done += 1;
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert_eq!(done, ACTS.len() - NEED_SPACE.len());
}

#[test]
fn nothing_ends_without_an_act() {
    let world = world();
    let scene = Scene::new(&world);
    assert_eq!(scene.left(PASSWORD), ALL_STAY);
}

#[test]
fn the_manual_has_the_table_of_what_ends_what() {
    let rows: Vec<String> = ACTS.iter().map(|one| row(one.name, one.left)).collect();
    let after = TABLE.split_once(COLUMNS).expect("the table").1;
    let mut there: Vec<&str> = after
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    // Rows of acts that other tests hold are marked.
    there.retain(|line| !line.contains('\u{2020}'));
    assert_eq!(there, rows, "\n{}", rows.join("\n"));
}

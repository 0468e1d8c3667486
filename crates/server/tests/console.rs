//! The console: who gets in, what its forms do, what they refuse.
use crate::common::{
    Server, Setup, block_on,
    browser::{Browser, Page},
    client::escape,
    people::{CHEAP, Mail, PASSWORD, add_user, start},
    totp::{App, between},
};
use signet_console::first;
use signet_crypto::password::hash;
use signet_directory::passwords::PasswordOptions;
use signet_directory::{NewUser, User};
use signet_login::journey::totp;
use signet_oauth::client::Client;
use signet_oauth::command_line;
use signet_request::cookie::Cookie;

const LOGIN: &str = "name=\"password\"";

fn server(mail: &Mail) -> Server {
    let server = start(mail, |setup| setup.clients.push(command_line()));
    server.stop_clock();
    server
}

/// Its record says what administrators may, as for the command line.
fn command_line() -> Client {
    command_line::client().unwrap()
}

fn administrator(server: &Server) -> User {
    administrator_with(server, "root", &[])
}

/// An administrator with these roles; none: an owner.
fn administrator_with(server: &Server, name: &str, roles: &[&str]) -> User {
    let user = NewUser {
        username: name.to_owned(),
        admin_roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        email: Some(format!("{name}@example.test")),
        password: Some(hash(PASSWORD.as_bytes(), CHEAP).unwrap()),
        admin: true,
        ..NewUser::default()
    };
    let users = &server.realm.people.users;
    block_on(users.create(user, server.realm.now())).unwrap()
}

/// Logs in at the console, whose administrator sets up an app on the way.
#[track_caller]
fn enter<'s>(server: &'s Server, at: &str) -> (Browser<'s>, App, Page) {
    enter_as(server, "root", at)
}

#[track_caller]
fn enter_as<'s>(server: &'s Server, name: &str, at: &str) -> (Browser<'s>, App, Page) {
    let mut browser = Browser::new(server);
    let page = browser.get(at).expect(LOGIN);
    let page = browser.log_in(&page, name, PASSWORD);
    let app = App::of(&between(&page.text(), "<code id=\"totp-secret\">", "<"));
    let code = app.code(server, 0);
    let page = browser.press(&page, "totp-add", &[("totp", &code), ("label", "phone")]);
    server.pass(totp::PERIOD);
    (browser, app, page)
}

/// Sends the form of an operation that a page has.
#[track_caller]
fn send(browser: &mut Browser<'_>, page: &Page, operation: &str, fields: &[(&str, &str)]) -> Page {
    let token = page.field("form");
    let hidden: Vec<(String, String)> = ["read", "revision"]
        .into_iter()
        .filter(|name| page.text().contains(&format!("name=\"{name}\" value=")))
        .map(|name| (name.to_owned(), page.field(name)))
        .collect();
    let mut all = vec![("form", token.as_str())];
    all.extend(hidden.iter().map(|(n, v)| (n.as_str(), v.as_str())));
    all.extend(fields);
    browser.post(&format!("/console/do/{operation}"), &all)
}

#[test]
fn the_console_is_entered_with_two_factors_that_were_just_shown_and_by_administrators_alone() {
    let mail = Mail::new();
    let server = server(&mail);
    administrator(&server);
    // Somebody else: neither before nor after a login.
    let mut alice = Browser::new(&server);
    let page = alice.get("/console/clients").expect(LOGIN);
    assert_eq!(page.url, "/console?to=%2Fclients");
    let page = alice.get("/account");
    alice
        .log_in(&page, "alice", PASSWORD)
        .expect("Your account");
    for at in [
        "/console",
        "/console/clients",
        "/console/do/createUser",
        "/console/audit",
    ] {
        alice
            .get(at)
            .expect_status(403)
            .expect("may not administer here");
    }
    // A password alone leads to a second factor, and then to the page that was asked for.
    let (mut root, app, page) = enter(&server, "/console/clients");
    assert_eq!(page.url, "/console/clients");
    page.expect("<h1><bdi>Clients</bdi></h1>").expect("web");
    // The session alone, without the console's cookie, is enough while it is fresh...
    let console = root.cookie_name(Cookie::Console);
    root.cookies.remove(&console);
    root.get("/console/clients").expect("<bdi>Clients</bdi>");
    // ...and no longer than that.
    root.cookies.remove(&console);
    server.pass(601);
    let page = root.get("/console/clients").expect(LOGIN);
    // A whole login brings it back: with the factor that the account has now.
    let page = root.log_in(&page, "root", PASSWORD).expect("name=\"totp\"");
    let page = root.press(&page, "allow", &[("totp", &app.code(&server, 0))]);
    page.expect("<bdi>Clients</bdi>");
}

#[test]
fn the_console_closes_when_it_is_left_alone() {
    let mail = Mail::new();
    let server = server(&mail);
    administrator(&server);
    let (mut root, ..) = enter(&server, "/console");
    server.pass(29 * 60);
    root.get("/console/users").expect("<bdi>People</bdi>");
    server.pass(29 * 60);
    root.get("/console/users").expect("<bdi>People</bdi>");
    server.pass(30 * 60);
    root.get("/console/users").expect(LOGIN);
}

#[test]
fn a_console_in_use_ends_after_eight_hours() {
    let mail = Mail::new();
    let server = server(&mail);
    administrator(&server);
    let (mut root, ..) = enter(&server, "/console");
    for _ in 0..23 {
        server.pass(20 * 60);
        root.get("/console/users").expect("<bdi>People</bdi>");
    }
    server.pass(20 * 60);
    root.get("/console/users").expect(LOGIN);
}

#[test]
fn who_is_no_administrator_any_more_is_out_at_the_next_request() {
    let mail = Mail::new();
    let server = server(&mail);
    let root = administrator(&server);
    let (mut browser, ..) = enter(&server, "/console");
    let users = &server.realm.people.users;
    let demoted = users.change(&root.id, server.realm.now(), |draft| {
        draft.user.admin = false
    });
    block_on(demoted).unwrap();
    browser.get("/console/users").expect_status(403);
}

#[test]
fn pages_allow_nothing_that_is_not_theirs_and_are_kept_nowhere() {
    let mail = Mail::new();
    let server = server(&mail);
    administrator(&server);
    let (mut root, _, page) = enter(&server, "/console");
    let policy = page.reply.header("content-security-policy").to_owned();
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(page.reply.header("cache-control"), "no-store");
    let text = page.text();
    assert!(
        !text.contains(" style=\"") && !text.contains("onclick"),
        "{text}"
    );
    let style = between(&text, "rel=\"stylesheet\" href=\"", "\"");
    let style = root.get(&style).expect_status(200);
    assert_eq!(
        style.reply.header("content-type"),
        "text/css; charset=utf-8"
    );
}

#[test]
fn every_page_answers() {
    let mail = Mail::new();
    let server = server(&mail);
    let user = administrator(&server);
    let (mut root, ..) = enter(&server, "/console");
    for at in [
        "",
        "/settings",
        "/keys",
        "/token",
        "/operations",
        "/users",
        "/groups",
        "/roles",
        "/attributes",
        "/rules",
        "/clients",
        "/resources",
        "/scopes",
        "/providers",
        "/realms",
        "/sessions",
        "/grants",
        "/agents",
        "/nodes",
        "/do/explainAccess",
        "/clients/web",
        "/cluster",
        "/mail",
        "/brand",
        "/drift",
        "/explain",
        "/wizard",
        "/connection/web",
    ] {
        let page = root.get(&format!("/console{at}")).expect_status(200);
        assert!(
            !page.text().contains("id=\"problem\""),
            "{at}: {}",
            page.text()
        );
    }
    root.get(&format!("/console/users/{}", user.id))
        .expect("<bdi>root</bdi>")
        .expect("Factors")
        .expect("totp");
    root.get("/console/nothing").expect_status(404);
    root.get("/console/clients/nothing").expect_status(404);
    root.get("/console/do/nothing").expect_status(404);
    // Every operation has a form.
    for row in signet_admin::rows() {
        let id = row.facts().id;
        root.get(&format!("/console/do/{id}"))
            .expect(row.facts().id);
    }
}

/// What programs outside hold on to: `main#console`, sections as links, tables with a row a record,
/// and a search that is called `q`.
#[test]
fn sections_searches_and_tables_have_the_names_that_programs_find_them_by() {
    let mail = Mail::new();
    let server = server(&mail);
    administrator(&server);
    let (mut root, _, page) = enter(&server, "/console");
    let text = page.text();
    assert!(text.contains("<main id=\"console\""), "{text}");
    let sections = [
        "overview",
        "users",
        "groups",
        "rules",
        "clients",
        "resources",
        "providers",
        "realms",
        "keys",
        "sessions",
        "agents",
        "audit",
        "mail",
        "brand",
        "settings",
        "cluster",
    ];
    assert_eq!(text.matches("data-section=").count(), sections.len());
    for section in sections {
        let behind = format!("data-section=\"{section}\"");
        let (before, _) = text
            .split_once(&behind)
            .unwrap_or_else(|| panic!("{section}"));
        let link = before.rsplit("href=\"").next().unwrap();
        let link = link.split('"').next().unwrap().to_owned();
        let page = root.get(&link).expect_status(200).text();
        assert!(page.contains("<main id=\"console\""), "{section}");
        let here = page.split(&behind).nth(1).unwrap();
        assert!(
            here.starts_with(" aria-current=\"page\""),
            "{section} says where it is"
        );
        let is_list = !["overview", "brand"].contains(&section);
        assert!(!is_list || page.contains("<table"), "{section}: {page}");
    }
    // A row a record, and what is searched for.
    add_user(&server, "bertha");
    let rows = |page: &Page| {
        let text = page.text();
        let body = text.split("<tbody>").nth(1).unwrap();
        body.split("</tbody>")
            .next()
            .unwrap()
            .matches("<tr")
            .count()
    };
    assert_eq!(rows(&root.get("/console/users")), 3);
    let page = root
        .get("/console/users?q=berth")
        .expect("name=\"q\" value=\"berth\"");
    assert_eq!(rows(&page), 1);
    let page = root.get("/console/users?state=admin");
    assert_eq!(rows(&page), 1);
    let all = rows(&root.get("/console/clients"));
    let page = root
        .get("/console/clients?q=signet-cli")
        .expect("signet-cli");
    assert!(rows(&page) == 1 && all > 1, "{all}");
    assert_eq!(
        rows(&root.get("/console/settings?q=issuer&source=configuration")),
        0
    );
}

#[test]
fn one_act_for_several_people_is_done_and_recorded_for_each() {
    let mail = Mail::new();
    let server = server(&mail);
    let own = administrator(&server);
    let bertha = add_user(&server, "bertha");
    let (mut root, ..) = enter(&server, "/console/users");
    let page = root.get("/console/users").expect("With those selected");
    let token = page.field("form");
    let (one, other) = (format!("s:{}", bertha.id), format!("s:{}", own.id));
    let sent = |act: &'static str, confirm: Option<&'static str>| {
        let mut fields = vec![
            ("form".to_owned(), token.clone()),
            ("act".to_owned(), act.to_owned()),
            ("word".to_owned(), String::new()),
            (one.clone(), "bertha".to_owned()),
            (other.clone(), "root".to_owned()),
        ];
        fields.extend(confirm.map(|text| ("confirm".to_owned(), text.to_owned())));
        fields
    };
    let mut post = |fields: Vec<(String, String)>| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (&**n, &**v)).collect();
        root.post("/console/bulk/users", &fields)
    };
    let users = &server.realm.people.users;
    let is_enabled = |id: &str| {
        let found = block_on(users.by_id(id, server.realm.now()));
        found.unwrap().unwrap().enabled
    };
    // First it is shown; a wrong number does nothing.
    post(sent("disableUser", None))
        .expect("To go on, type")
        .expect("bertha");
    post(sent("disableUser", Some("7"))).expect_status(400);
    assert!(is_enabled(&bertha.id));
    // The last administrator stays; the other is done all the same, and each result is in its row.
    let page = post(sent("disableUser", Some("2")));
    page.expect("Done: 1 · Refused: 1")
        .expect("data-state=\"failure\"");
    assert!(!is_enabled(&bertha.id) && is_enabled(&own.id));
    post(sent("changeUserGroups", Some("1"))).expect_status(400);
    post(sent("removeClient", Some("2"))).expect_status(404);
}

#[test]
fn an_application_is_connected_by_three_answers() {
    let mail = Mail::new();
    let server = server(&mail);
    administrator(&server);
    let (mut root, ..) = enter(&server, "/console/wizard");
    let page = root.get("/console/wizard");
    for kind in ["web", "spa", "native", "service", "device", "mcp", "agent"] {
        page.text()
            .contains(&format!("kind={kind}\""))
            .then_some(())
            .unwrap();
        let asks = root.get(&format!("/console/wizard?kind={kind}"));
        let third = match kind {
            "web" | "spa" | "native" => "name=\"redirect_uris\"",
            "mcp" => "name=\"resource\"",
            _ => "name=\"scope\"",
        };
        let asks = asks.expect("name=\"name\"").expect(third);
        let token = asks.field("form");
        let fields = [
            ("form", token.as_str()),
            ("kind", kind),
            ("name", "Made <here>"),
            (
                "redirect_uris",
                match kind {
                    "native" => "http://127.0.0.1/callback",
                    _ => "https://app.example/callback",
                },
            ),
            ("resource", "https://tools.example/mcp"),
        ];
        let is_redirected = third.contains("redirect");
        let own: Vec<_> = fields
            .into_iter()
            .filter(|(name, _)| *name != "redirect_uris" || is_redirected)
            .collect();
        let made = root.post("/console/wizard", &own).expect_status(200).text();
        assert!(
            made.contains(&*server.realm.snapshot().settings.issuer),
            "{kind}: {made}"
        );
        assert!(!made.contains("<here>"), "{kind}");
        match kind {
            "mcp" => {
                assert!(made.contains("https://tools.example/mcp"), "{made}");
                let snapshot = server.realm.snapshot();
                assert!(
                    snapshot
                        .registry
                        .resource("https://tools.example/mcp")
                        .is_some()
                );
            }
            _ => {
                let id = between(&made, "<dt>client_id</dt><dd><code><bdi>", "<");
                assert!(
                    server.realm.snapshot().registry.clients.contains_key(&id),
                    "{kind}"
                );
                let programs = made.split("programs").nth(1).unwrap();
                assert!(programs.contains(&*id), "{kind}: {programs}");
                let page = root
                    .get(&format!("/console/connection/{id}"))
                    .expect_status(200);
                page.expect("data-token-bytes=")
                    .expect("It has not asked for anything yet.");
            }
        }
    }
    // A refusal is said, and what was typed stays.
    let page = root.get("/console/wizard?kind=web");
    let token = page.field("form");
    let wrong = [
        ("form", token.as_str()),
        ("kind", "web"),
        ("name", "Shop"),
        ("redirect_uris", "http://shop.example/"),
    ];
    let page = root.post("/console/wizard", &wrong).expect_status(400);
    page.expect("value=\"Shop\"").expect("http://shop.example/");
}

#[test]
fn the_question_of_access_is_answered_on_its_page() {
    let mail = Mail::new();
    let server = server(&mail);
    administrator(&server);
    let (mut root, ..) = enter(&server, "/console/explain");
    let page = root.get("/console/explain?user=alice&client=web&scope=openid");
    page.expect("data-state=\"valid\"")
        .expect("No rule decides");
    let page = root.get("/console/explain?user=nobody&client=web");
    page.expect("there is no user nobody");
    // A colour that cannot be read is refused where it is typed, and another one is taken.
    let page = root
        .get("/console/brand?name=Shop&accent=%23ffd700")
        .expect_status(400);
    page.expect("contrast").expect("aria-invalid=\"true\"");
    let page = root
        .get("/console/brand?name=Shop&accent=%237a1fa2")
        .expect_status(200);
    let page = page
        .expect("--accent:#7a1fa2")
        .expect("accent = &quot;#7a1fa2&quot;");
    let policy = page.reply.header("content-security-policy").to_owned();
    assert!(
        policy.contains("'sha256-") && !policy.contains("unsafe"),
        "{policy}"
    );
}

#[test]
fn the_overview_counts_what_this_node_did() {
    let mail = Mail::new();
    let server = server(&mail);
    administrator(&server);
    let (mut root, ..) = enter(&server, "/console");
    let page = root.get("/console");
    page.expect("aria-label=\"Logins: ")
        .expect("class=\"chart refusals\"");
    let text = root.get("/console?span=day").text();
    assert_eq!(
        text.matches("class=\"span\"").count(),
        3 * 96,
        "a span for each bar"
    );
    let logins = between(&text, "aria-label=\"Logins: ", "\"");
    assert_ne!(logins, "0");
}

#[test]
fn a_record_is_made_changed_and_removed_and_each_act_shows_what_the_api_shows() {
    let mail = Mail::new();
    let server = server(&mail);
    administrator(&server);
    let (mut root, ..) = enter(&server, "/console/do/createClient");
    let page = root
        .get("/console/do/createClient")
        .expect("name=\"b.client_name\"");
    // A refusal stands at the field that it is about, and what was typed stays.
    let wrong = send(
        &mut root,
        &page,
        "createClient",
        &[
            ("b.client_id", "shop"),
            ("b.client_name", "The shop"),
            ("b.redirect_uris", "http://shop.example/cb"),
        ],
    );
    let wrong = wrong.expect_status(400).expect("value=\"The shop\"");
    assert!(
        wrong.text().contains("id=\"f-b-redirect_uris-wrong\""),
        "{}",
        wrong.text()
    );
    let page = send(
        &mut root,
        &wrong,
        "createClient",
        &[
            ("b.client_id", "shop"),
            ("b.client_name", "The <shop>"),
            (
                "b.redirect_uris",
                "https://shop.example/cb\r\nhttps://shop.example/other",
            ),
        ],
    );
    let page = page
        .expect_status(200)
        .expect("client_secret")
        .expect("not shown again");
    assert!(!page.text().contains("<shop>"), "escaped");
    let client = server
        .realm
        .snapshot()
        .registry
        .clients
        .get("shop")
        .cloned()
        .unwrap();
    assert_eq!(client.redirect_uris.len(), 2);
    // The secret is shown once.
    let page = root.get("/console/clients/shop").expect("The &lt;shop&gt;");
    assert!(!page.text().contains("client_secret<"), "{}", page.text());
    let page = root.get("/console/do/replaceClient?p.client_id=shop");
    let page = page.expect("https://shop.example/other");
    let revision = page.field("revision");
    assert_eq!(revision, "1");
    let page = send(
        &mut root,
        &page,
        "replaceClient",
        &[
            ("p.client_id", "shop"),
            ("b.client_name", "Shop"),
            ("b.redirect_uris", "https://shop.example/cb"),
            ("b.enabled", "true"),
        ],
    );
    assert_eq!(page.url, "/console/clients/shop?done=replaceClient");
    page.expect("Done, and recorded");
    // To remove it, its name is typed.
    let page = root
        .get("/console/do/removeClient?p.client_id=shop")
        .expect("To go on, type");
    let again = send(
        &mut root,
        &page,
        "removeClient",
        &[("p.client_id", "shop"), ("confirm", "web")],
    );
    again
        .expect_status(400)
        .expect("what was typed at the end is not");
    assert!(
        server
            .realm
            .snapshot()
            .registry
            .clients
            .contains_key("shop")
    );
    let page = send(
        &mut root,
        &page,
        "removeClient",
        &[("p.client_id", "shop"), ("confirm", "shop")],
    );
    assert_eq!(page.url, "/console/clients?done=removeClient");
    assert!(
        !server
            .realm
            .snapshot()
            .registry
            .clients
            .contains_key("shop")
    );
}

#[test]
fn of_two_who_change_a_record_the_second_sees_what_the_first_changed_and_loses_nothing() {
    let mail = Mail::new();
    let server = server(&mail);
    administrator(&server);
    let (mut root, ..) = enter(&server, "/console");
    let page = root.get("/console/do/createClient");
    let fields = [
        ("b.client_id", "shop"),
        ("b.redirect_uris", "https://client.example/cb"),
    ];
    send(&mut root, &page, "createClient", &fields).expect("client_secret");
    let first = root.get("/console/do/replaceClient?p.client_id=shop");
    let second = root.get("/console/do/replaceClient?p.client_id=shop");
    let redirects = "https://client.example/cb";
    let same = [
        ("p.client_id", "shop"),
        ("b.redirect_uris", redirects),
        ("b.enabled", "true"),
        ("b.scope", "openid"),
    ];
    let with = |more: &[(&'static str, &'static str)]| [&same[..], more].concat();
    send(
        &mut root,
        &first,
        "replaceClient",
        &with(&[("b.client_name", "First")]),
    )
    .expect("Done, and recorded");
    let page = send(
        &mut root,
        &second,
        "replaceClient",
        &with(&[("b.client_uri", "https://second.example/")]),
    );
    let page = page
        .expect_status(409)
        .expect("somebody else has changed this record meanwhile")
        .expect("<mark>First</mark>")
        // What the second did not touch is the first's; what they typed is theirs.
        .expect("value=\"First\"")
        .expect("value=\"https://second.example/\"");
    let client = server
        .realm
        .snapshot()
        .registry
        .clients
        .get("shop")
        .cloned()
        .unwrap();
    assert_eq!(client.client_name.as_deref(), Some("First"));
    assert_eq!(client.client_uri, None);
    let more = [
        ("b.client_name", "First"),
        ("b.client_uri", "https://second.example/"),
    ];
    send(&mut root, &page, "replaceClient", &with(&more)).expect("Done, and recorded");
    let client = server
        .realm
        .snapshot()
        .registry
        .clients
        .get("shop")
        .cloned()
        .unwrap();
    assert_eq!(
        client.client_uri.as_deref(),
        Some("https://second.example/")
    );
}

#[test]
fn what_ends_something_asks_for_two_factors_of_the_last_minutes() {
    let mail = Mail::new();
    let server = server(&mail);
    administrator(&server);
    let alice = add_user(&server, "bob");
    let (mut root, app, _) = enter(&server, "/console");
    let at = format!("/console/do/disableUser?p.user_id={}", alice.id);
    let fields = [
        ("p.user_id", alice.id.as_str()),
        ("confirm", alice.id.as_str()),
    ];
    let fresh = root.get(&at).expect("name=\"confirm\"");
    server.pass(601);
    // The form that was shown while it was fresh is not enough, and no new one offers the act.
    let page = send(&mut root, &fresh, "disableUser", &fields);
    page.expect_status(403)
        .expect("first show who you are once more");
    let page = root.get(&at).expect("Show who you are");
    assert!(!page.text().contains("name=\"confirm\""), "{}", page.text());
    let link = between(&page.text(), "class=\"button main\" href=\"", "\"").replace("&amp;", "&");
    let page = root.get(&link).expect(LOGIN);
    let page = root.log_in(&page, "root", PASSWORD).expect("name=\"totp\"");
    let page = root.press(&page, "allow", &[("totp", &app.code(&server, 0))]);
    assert!(
        page.url.starts_with("/console/do/disableUser?"),
        "{}",
        page.url
    );
    let page = page.expect("name=\"confirm\"");
    send(&mut root, &page, "disableUser", &fields).expect("Done, and recorded");
    let users = &server.realm.people.users;
    let found = block_on(users.by_id(&alice.id, server.realm.now()))
        .unwrap()
        .unwrap();
    assert!(!found.enabled);
    // A change that ends nothing needs none.
    server.pass(601);
    let page = root
        .get("/console/do/writeRole")
        .expect("name=\"b.description\"");
    send(&mut root, &page, "writeRole", &[("p.role", "editor")]).expect("Done, and recorded");
}

#[test]
fn a_form_counts_for_the_browser_and_the_session_that_it_was_made_for() {
    let mail = Mail::new();
    let server = server(&mail);
    administrator(&server);
    let (mut root, app, _) = enter(&server, "/console");
    let page = root.get("/console/do/writeRole");
    let token = page.field("form");
    let fields = |token: &'static str| [("form", token), ("p.role", "editor")];
    for bad in ["", "AAAA"] {
        root.post("/console/do/writeRole", &fields(bad))
            .expect_status(403);
    }
    root.post("/console/do/writeRole", &[("p.role", "editor")])
        .expect_status(403);
    // Another browser of the same person.
    let mut other = Browser::new(&server);
    let login = other.get("/console").expect(LOGIN);
    let login = other
        .log_in(&login, "root", PASSWORD)
        .expect("name=\"totp\"");
    other
        .press(&login, "allow", &[("totp", &app.code(&server, 0))])
        .expect("Overview");
    let own = [("form", token.as_str()), ("p.role", "editor")];
    other.post("/console/do/writeRole", &own).expect_status(403);
    // Another site, which has the cookies but not the form, and says where it is.
    let mut foreign = Browser::new(&server);
    foreign.cookies.clone_from(&root.cookies);
    foreign.cross_site_post("/console/do/writeRole", &own);
    assert!(
        !server
            .realm
            .snapshot()
            .registry
            .people
            .roles
            .contains_key("editor")
    );
    root.post("/console/do/writeRole", &own)
        .expect("Done, and recorded");
    assert!(
        server
            .realm
            .snapshot()
            .registry
            .people
            .roles
            .contains_key("editor")
    );
}

#[test]
fn a_pasted_token_says_what_it_is_and_ends_and_comes_back_in_no_page() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        setup.clients.push(crate::common::client("service"));
        setup.clients.push(command_line());
    });
    server.stop_clock();
    administrator(&server);
    let answer = crate::common::client::Call::post("/token")
        .basic("service", crate::common::SECRET)
        .form(&[("grant_type", "client_credentials")])
        .send(&server);
    let token = answer.json()["access_token"].as_str().unwrap().to_owned();
    let (mut root, ..) = enter(&server, "/console/token");
    let page = root.get("/console/token");
    let form = page.field("form");
    let look = |root: &mut Browser<'_>, token: &str| {
        root.post("/console/token", &[("form", &form), ("token", token)])
    };
    let page = look(&mut root, &token)
        .expect("This token counts")
        .expect("service");
    assert!(!page.text().contains(&token));
    look(&mut root, &token[..token.len() - 4]).expect("no token of this server");
    let page = root.get("/console/do/revokeToken");
    let fields = [("b.token", token.as_str()), ("confirm", "yes")];
    // Nor where the form is refused.
    let wrong = send(
        &mut root,
        &page,
        "revokeToken",
        &[fields[0], ("confirm", "no")],
    );
    assert!(!wrong.expect_status(400).text().contains(&token));
    let page = send(&mut root, &page, "revokeToken", &fields).expect("revoked");
    assert!(!page.text().contains(&token));
    look(&mut root, &token).expect("This token was revoked");
}

#[test]
fn a_long_list_is_shown_in_pages_and_a_search_finds_one_person() {
    let mail = Mail::new();
    let server = server(&mail);
    administrator(&server);
    for n in 0..60 {
        add_user(&server, &format!("person{n:02}"));
    }
    let (mut root, ..) = enter(&server, "/console/users");
    let page = root.get("/console/users");
    assert_eq!(
        page.text().matches("<tr>").count(),
        51,
        "a page and its head"
    );
    let next = between(&page.text(), "rel=\"next\" href=\"", "\"").replace("&amp;", "&");
    let page = root.get(&next).expect("First page");
    assert_eq!(page.text().matches("<tr>").count(), 13);
    let page = root.get("/console/users?q=person42").expect("person42");
    assert_eq!(page.text().matches("<tr>").count(), 2);
    root.get(&format!("/console/users?q={}", escape("<b>")))
        .expect("There is nothing here");
}

#[test]
fn an_act_is_in_the_trail_with_who_and_what_and_the_page_shows_it() {
    let mail = Mail::new();
    let trail = tempfile::tempdir().unwrap();
    let server = start(&mail, |setup| {
        setup.audit = Some(trail.path().join("audit"));
        setup.clients.push(command_line());
    });
    server.stop_clock();
    let user = administrator(&server);
    let (mut root, ..) = enter(&server, "/console");
    let page = root.get("/console/do/writeRole");
    send(&mut root, &page, "writeRole", &[("p.role", "editor")]).expect("Done, and recorded");
    // A refusal is recorded, too.
    let page = root.get("/console/do/writeGroup");
    send(
        &mut root,
        &page,
        "writeGroup",
        &[("p.group", "bad/name"), ("b.roles", "nobody")],
    )
    .expect_status(400);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        let page = root.get(&format!(
            "/console/audit?who={}&action=write",
            escape(&user.id)
        ));
        let text = page.text();
        if text.contains("writeRole") && text.contains("editor") && text.contains("writeGroup") {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{text}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    root.get("/console").expect("writeRole");
    root.get("/console/roles/editor").expect("writeRole");
}

#[test]
fn an_administrator_of_a_realm_sees_that_realm_and_one_of_the_installation_every_realm() {
    crate::common::in_second_realm(crate::common::Place::ByPath, || {
        let mail = Mail::new();
        let server = server(&mail);
        let first = server.beside();
        administrator(&server);
        administrator(first);
        // Of the realm: there, and not at the first one.
        let (mut own, ..) = enter(&server, "/console");
        own.get("/console").expect("class=\"realm\"");
        own.get("/console/realms").expect_status(403);
        own.get("/console/users").expect("alice");
        own.moved_to(first).get("/console/users").expect(LOGIN);
        // Of the installation: at both, and recorded there as what they are.
        let (mut root, ..) = enter(first, "/console");
        let page = root.get("/console/users").expect("root");
        assert!(!page.text().contains("alice"), "{}", page.text());
        let mut root = root.moved_to(&server);
        root.get("/console/users").expect("alice");
        let page = root.get("/console/do/writeRole");
        send(&mut root, &page, "writeRole", &[("p.role", "editor")]).expect("Done, and recorded");
        let roles = |server: &Server| server.realm.snapshot().registry.people.roles.len();
        assert_eq!((roles(&server), roles(first)), (1, 0));
        // A form of one realm counts in no other.
        let token = page.field("form");
        let mut root = root.moved_to(first);
        let fields = [("form", token.as_str()), ("p.role", "editor")];
        root.post("/console/do/writeRole", &fields)
            .expect_status(403);
        assert_eq!(roles(first), 0);
    });
}

#[test]
fn the_console_speaks_the_readers_language() {
    let mail = Mail::new();
    let server = server(&mail);
    administrator(&server);
    let (mut root, ..) = enter(&server, "/console");
    root.get("/console/users?ui_locales=ar")
        .expect("dir=\"rtl\"");
}

/// A server that nobody has an account at.
fn empty() -> Server {
    let server = Server::start(Setup {
        clients: vec![command_line()],
        passwords: PasswordOptions {
            cost: CHEAP,
            ..PasswordOptions::default()
        },
        ..Setup::default()
    });
    server.stop_clock();
    server
}

fn first_link(server: &Server) -> String {
    let link = block_on(first::link(&server.realm))
        .unwrap()
        .expect("a link");
    let (_, below) = link.split_once("/console").unwrap();
    format!("/console{below}")
}

#[test]
fn the_link_of_the_first_start_makes_one_administrator_once() {
    let server = empty();
    let older = first_link(&server);
    let link = first_link(&server);
    let secret = link.split_once("token=").unwrap().1.to_owned();
    // What is stored does not open it, and the one before it is worth nothing.
    let mut browser = Browser::new(&server);
    browser
        .get(&older)
        .expect_status(400)
        .expect("This link was used");
    browser.get("/console/first?token=").expect_status(400);
    let page = browser.get(&link).expect("The first administrator");
    assert_eq!(page.field("token"), secret);
    // Opening it again changes nothing; a refused name or password neither.
    browser.get(&link).expect("The first administrator");
    let send = |browser: &mut Browser<'_>, name: &str, password: &str| {
        let fields = [
            ("token", secret.as_str()),
            ("username", name),
            ("new_password", password),
        ];
        browser.post("/console/first", &fields)
    };
    send(&mut browser, "root", "short")
        .expect_status(400)
        .expect("value=\"root\"");
    send(&mut browser, "a b", PASSWORD)
        .expect_status(400)
        .expect("id=\"problem\"");
    // A passkey is offered; whoever has none now sets up an app, and is in the console.
    let page = send(&mut browser, "root", PASSWORD);
    let page = browser.press(&page.expect("passkey-add"), "later", &[]);
    let app = App::of(&between(&page.text(), "<code id=\"totp-secret\">", "<"));
    let code = app.code(&server, 0);
    let page = browser.press(&page, "totp-add", &[("totp", &code), ("label", "phone")]);
    page.expect("<bdi>Overview</bdi>")
        .expect("You have no passkey");
    let users = &server.realm.people.users;
    let root = block_on(users.by_login("root", server.realm.now()))
        .unwrap()
        .unwrap();
    assert!(root.admin);
    // Used, and no further one is made.
    let mut other = Browser::new(&server);
    other.get(&link).expect_status(400);
    send(&mut other, "second", PASSWORD).expect_status(400);
    assert!(block_on(first::link(&server.realm)).unwrap().is_none());
}

#[test]
fn of_two_who_send_the_first_link_at_once_one_is_the_administrator() {
    let server = empty();
    let secret = first_link(&server)
        .split_once("token=")
        .unwrap()
        .1
        .to_owned();
    let made: usize = std::thread::scope(|scope| {
        let tries: Vec<_> = ["one", "two", "three", "four"]
            .into_iter()
            .map(|name| {
                let (server, secret) = (&server, &secret);
                scope.spawn(move || {
                    let fields = [
                        ("token", secret.as_str()),
                        ("username", name),
                        ("new_password", PASSWORD),
                    ];
                    let page = Browser::new(server).post("/console/first", &fields);
                    usize::from(page.reply.status == 200)
                })
            })
            .collect();
        tries.into_iter().map(|one| one.join().unwrap()).sum()
    });
    let all = block_on(server.realm.people.users.list(None, 10, server.realm.now())).unwrap();
    assert_eq!((made, all.len()), (1, 1));
}

#[test]
fn the_link_of_the_first_start_ends_after_a_day() {
    let server = empty();
    let link = first_link(&server);
    server.pass(first::MAX_LINK_SECONDS - 1);
    Browser::new(&server)
        .get(&link)
        .expect("The first administrator");
    server.pass(1);
    Browser::new(&server).get(&link).expect_status(400);
}

#[test]
fn the_link_of_development_mode_logs_the_administrator_in_once_and_a_second_factor_is_still_asked_for()
 {
    let mail = Mail::new();
    let server = server(&mail);
    administrator(&server);
    let link = block_on(first::login_link(&server.realm, "root"))
        .unwrap()
        .expect("a link");
    let (_, below) = link.split_once("/console").unwrap();
    let link = format!("/console{below}");
    let secret = link.split_once("token=").unwrap().1.to_owned();
    let mut browser = Browser::new(&server);
    browser
        .get(&link)
        .expect("logs the administrator of this development server in");
    let page = browser.post("/console/first", &[("token", &secret)]);
    browser
        .press(&page.expect("passkey-add"), "later", &[])
        .expect("totp-secret");
    Browser::new(&server).get(&link).expect_status(400);
    assert!(
        block_on(first::login_link(&server.realm, "nobody"))
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_search_ends_its_page_after_many_accounts_and_the_next_page_goes_on() {
    let mail = Mail::new();
    let server = server(&mail);
    administrator(&server);
    let users = &server.realm.people.users;
    block_on(async {
        for n in 0..20_100 {
            let user = NewUser {
                username: format!("n{n}"),
                ..NewUser::default()
            };
            users.create(user, server.realm.now()).await.unwrap();
        }
    });
    let (mut root, ..) = enter(&server, "/console/users");
    let page = root
        .get("/console/users?q=nobody-has-this")
        .expect("There is nothing here");
    let next = between(&page.text(), "rel=\"next\" href=\"", "\"").replace("&amp;", "&");
    let page = root.get(&next).expect("There is nothing here");
    assert!(!page.text().contains("rel=\"next\""), "it was the last");
}

/// The rule is the API's own table (`crate::administrators`): the console asks it at every form.
#[test]
fn every_form_of_the_console_is_refused_to_who_has_no_role_for_it() {
    for role in crate::administrators::ROLES {
        let mail = Mail::new();
        let server = server(&mail);
        administrator_with(&server, role, &[role]);
        let (mut browser, ..) = enter_as(&server, role, "/console");
        let token = browser.get("/console").field("form");
        for (operation, roles) in crate::administrators::MAY {
            let may = roles.split(' ').any(|one| one == *role);
            let at = format!("/console/do/{operation}");
            let shown = browser.get(&at);
            let mut rows = signet_admin::rows();
            let row = rows.find(|row| row.facts().id == *operation).unwrap();
            let is_get = row.facts().method == signet_operation::facts::Method::Get;
            let sent = (!is_get).then(|| browser.post(&at, &[("form", &token)]));
            let pages = [("shown", Some(&shown)), ("sent", sent.as_ref())];
            for (how, page) in pages
                .into_iter()
                .filter_map(|(how, page)| Some((how, page?)))
            {
                let is_refused =
                    page.reply.status == 403 && page.text().contains("insufficient_role");
                assert_eq!(
                    !is_refused, may,
                    "{role}: {operation} {how}: {}",
                    page.reply.status
                );
                if !may {
                    assert!(
                        page.text()
                            .contains(&format!("{operation} needs one of the roles"))
                    );
                }
            }
        }
    }
}

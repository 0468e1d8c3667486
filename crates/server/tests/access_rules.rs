//! Access rules, wherever they are asked.
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
use crate::people_claims::{Code, Operator};
use serde_json::{Value, json};
use signet_oauth::client::ConsentPolicy;
use signet_oauth::people::access_rules::{AccessRule, Effect, Mode};
use std::sync::Arc;

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

fn with_operator(setup: &mut Setup) {
    let mut operator = client("operator");
    operator.scope = scope("signet:admin");
    setup.clients.push(operator);
    setup.clients[0].consent = ConsentPolicy::Skip;
}

fn server(mail: &Mail) -> Server {
    start(mail, with_operator)
}

fn user(server: &Server, name: &str) -> String {
    let users = &server.realm.people.users;
    let found = block_on(users.by_login(name, server.realm.now())).unwrap();
    found.expect(name).id
}

fn deny(operator: &Operator<'_>, name: &str, mut rule: Value) {
    rule["effect"] = "deny".into();
    let name = name.replace(' ', "%20");
    operator.put(&format!("/rules/{name}"), rule, 201);
}

/// What an authorization request of `web` by somebody who is logged in ends with.
fn answered(browser: &mut Browser<'_>, more: &[(&str, &str)]) -> (Option<String>, Option<String>) {
    let page = browser.get(&request(more));
    (page.param("code"), page.param("error"))
}

fn logged_in<'s>(server: &'s Server, name: &str) -> Browser<'s> {
    let mut browser = Browser::new(server);
    let page = browser.get(&request(&[]));
    let page = browser.log_in(&page, name, PASSWORD);
    assert!(page.param("code").is_some(), "{}", page.url);
    browser
}

fn code(server: &Server, name: &str, wanted: &str) -> String {
    let mut content = code_content(server, "web", &user(server, name));
    content.scope = scope(wanted);
    content.seal(&server.realm.keyring()).unwrap()
}

fn at_token(server: &Server, form: &[(&str, &str)]) -> Reply {
    let call = Call::post("/token").basic("web", SECRET);
    call.form(form).send(server)
}

#[test]
fn a_person_who_is_denied_gets_access_denied_and_somebody_else_a_code() {
    let mail = Mail::new();
    let server = server(&mail);
    add_user(&server, "bob");
    let operator = Operator::of(&server);
    let (mut alice, mut bob) = (logged_in(&server, "alice"), logged_in(&server, "bob"));
    operator.put("/groups/guests", json!({}), 201);
    operator.join(&user(&server, "alice"), "guests");
    deny(
        &operator,
        "no guests",
        json!({"groups": ["guests"], "clients": ["web"]}),
    );

    let denied = (None, Some("access_denied".to_owned()));
    assert_eq!(answered(&mut alice, &[]), denied);
    // Silently, and by a login that begins here, too.
    assert_eq!(answered(&mut alice, &[("prompt", "none")]), denied);
    let mut again = Browser::new(&server);
    let page = again.get(&request(&[]));
    let page = again.log_in(&page, "alice", PASSWORD);
    assert_eq!(page.param("error").as_deref(), Some("access_denied"));
    assert!(answered(&mut bob, &[]).0.is_some());

    // A rule that allows changes nothing while one denies.
    operator.put(
        "/rules/but%20alice",
        json!({"effect": "allow", "users": ["alice"]}),
        201,
    );
    assert_eq!(answered(&mut alice, &[]), denied);
    operator.delete("/rules/no%20guests", 204);
    assert!(answered(&mut alice, &[]).0.is_some());
}

#[test]
fn every_grant_asks_and_says_no_in_its_own_words() {
    let mail = Mail::new();
    let server = server(&mail);
    let operator = Operator::of(&server);
    let id = user(&server, "alice");
    let own = [("grant_type", "client_credentials"), ("scope", "api:read")];
    let first = code(&server, "alice", "openid offline_access api:read");
    let tokens = at_token(&server, &redeem(&first)).expect(200);
    let (access, refresh) = (
        tokens.member("access_token"),
        tokens.member("refresh_token"),
    );
    let exchange = [
        ("grant_type", EXCHANGE),
        ("subject_token", access.as_str()),
        ("subject_token_type", ACCESS_TOKEN),
    ];
    let refreshing = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh.as_str()),
    ];
    at_token(&server, &own).expect(200);
    at_token(&server, &exchange).expect(200);

    let second = code(&server, "alice", "openid");
    deny(&operator, "alice", json!({"users": [id]}));
    at_token(&server, &redeem(&second)).expect_error(400, "invalid_grant");
    at_token(&server, &refreshing).expect_error(400, "invalid_grant");
    at_token(&server, &exchange).expect_error(400, "invalid_request");
    // It is about her, and about no client's own tokens.
    at_token(&server, &own).expect(200);
    deny(
        &operator,
        "web",
        json!({"clients": ["web"], "scopes": ["api:read"]}),
    );
    at_token(&server, &own).expect_error(400, "unauthorized_client");

    // What was refused consumed nothing.
    operator.delete("/rules/alice", 204);
    operator.delete("/rules/web", 204);
    at_token(&server, &redeem(&second)).expect(200);
    at_token(&server, &refreshing).expect(200);
}

#[test]
fn a_device_is_approved_by_nobody_who_may_not() {
    let mail = Mail::new();
    let server = server(&mail);
    let operator = Operator::of(&server);
    let begun = Call::post("/device_authorization").basic("web", SECRET);
    let begun = begun.form(&[("scope", "openid")]).send(&server).expect(200);
    deny(
        &operator,
        "no devices",
        json!({"users": ["alice"], "clients": ["web"]}),
    );
    let mut browser = Browser::new(&server);
    let page = browser.get(&format!("/device?user_code={}", begun.member("user_code")));
    let page = browser.log_in(&page, "alice", PASSWORD);
    let page = browser.press(&page, "allow", &[]);
    browser
        .press(&page, "allow", &[])
        .expect_error("access_denied");
    let device_code = begun.member("device_code");
    let poll = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
        ("device_code", device_code.as_str()),
    ];
    at_token(&server, &poll).expect_error(400, "access_denied");
}

#[test]
fn where_the_realm_denies_by_default_nobody_is_in_without_a_rule_and_that_is_shown() {
    let mail = Mail::new();
    let server = server(&mail);
    let operator = Operator::of(&server);
    let mut alice = logged_in(&server, "alice");
    assert_eq!(operator.get("/access/mode")["mode"], "allow");
    server.configure(|settings, declared| {
        settings.access = Mode::Deny;
        // The operator is let in by the file.
        let mut rule = AccessRule::new("operator", Effect::Allow);
        rule.clients = vec!["operator".into()];
        declared.rules = Arc::new([(rule.name.clone(), Arc::new(rule))].into());
    });
    let operator = Operator::of(&server);
    let mode = operator.get("/access/mode");
    assert_eq!(mode, json!({"mode": "deny", "rules": 1}));
    let denied = (None, Some("access_denied".to_owned()));
    assert_eq!(answered(&mut alice, &[]), denied);

    let openid = json!({"effect": "allow", "users": ["alice"], "scopes": ["openid", "profile"]});
    operator.put("/rules/openid", openid, 201);
    assert_eq!(answered(&mut alice, &[]), denied, "email is not allowed");
    assert!(
        answered(&mut alice, &[("scope", "openid profile")])
            .0
            .is_some()
    );

    // The explanation is the decision.
    let explained = |more: &str| operator.get(&format!("/access?client=web&user=alice{more}"));
    let yes = explained("&scope=openid%20profile");
    assert_eq!(
        yes,
        json!({"allowed": true, "decision": "allow", "rule": "openid", "mode": "deny", "holding": ["openid"]})
    );
    let no = explained("&scope=openid%20email");
    assert_eq!((&no["allowed"], &no["rule"]), (&json!(false), &Value::Null));
    let operators = operator.get("/access?client=operator&scope=signet%3Aadmin");
    assert_eq!(operators["rule"], "operator");
    operator
        .delete("/rules/operator", 409)
        .expect_code("declared_in_configuration");
}

#[test]
fn where_and_how_somebody_logged_in_counts() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        with_operator(setup);
        setup.policy.trusted_proxies = vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()];
    });
    let operator = Operator::of(&server);
    let mut alice = logged_in(&server, "alice");
    alice.from = Some("192.0.2.7".into());
    deny(
        &operator,
        "office",
        json!({"clients": ["web"], "except": {"networks": ["192.0.2.0/24"]}}),
    );
    let code = answered(&mut alice, &[]).0.expect("from the office");
    // The application redeems it from wherever its server is.
    at_token(&server, &redeem(&code)).expect(200);
    alice.from = Some("198.51.100.7".into());
    assert_eq!(
        answered(&mut alice, &[]).1.as_deref(),
        Some("access_denied")
    );
    operator.delete("/rules/office", 204);
    assert!(answered(&mut alice, &[]).0.is_some());
    let password = "urn:signet:acr:password";
    deny(
        &operator,
        "more",
        json!({"clients": ["web"], "acr": [password]}),
    );
    assert_eq!(
        answered(&mut alice, &[]).1.as_deref(),
        Some("access_denied")
    );
}

/// Tokens of alice for `web`, and whether they are still active: asked at `server`.
struct Held {
    access: String,
    refresh: String,
}

impl Held {
    fn get(server: &Server, wanted: &str) -> Held {
        let code = code(server, "alice", wanted);
        let reply = at_token(server, &redeem(&code)).expect(200);
        Held {
            access: reply.member("access_token"),
            refresh: reply.member("refresh_token"),
        }
    }

    #[track_caller]
    fn expect(&self, server: &Server, active: bool) {
        let call = Call::post("/introspect").basic("web", SECRET);
        let form = [("token", self.access.as_str())];
        let said = call.form(&form).send(server).expect(200).json();
        assert_eq!(said["active"], active, "{said}");
        if !active {
            let form = [
                ("grant_type", "refresh_token"),
                ("refresh_token", self.refresh.as_str()),
            ];
            at_token(server, &form).expect_error(400, "invalid_grant");
        }
    }
}

#[test]
fn leaving_a_group_ends_what_the_group_gave_on_every_node_and_nothing_else() {
    let mail = Mail::new();
    let cluster = Cluster::of(2, || {
        let mut setup = Setup {
            clients: vec![client("web")],
            people: people(&mail),
            ..Setup::default()
        };
        with_operator(&mut setup);
        setup.clients[0].scope = scope("openid groups api:read api:write offline_access");
        setup
    });
    let (one, two) = (cluster.node(0), cluster.node(1));
    add_user(one, "alice");
    let id = user(one, "alice");
    let (operator, there) = (Operator::of(one), Operator::of(two));
    operator.put("/groups/staff", json!({}), 201);
    operator.put("/groups/engineering", json!({"parent": "staff"}), 201);
    operator.put("/groups/chess", json!({}), 201);
    for group in ["engineering", "chess"] {
        operator.join(&id, group);
    }
    let only = json!({"scopes": ["api:write"], "except": {"groups": ["staff"]}});
    deny(&operator, "writing is for staff", only);

    let writes = Held::get(two, "openid api:write offline_access");
    let says = Held::get(two, "openid groups offline_access");
    let reads = Held::get(two, "openid api:read offline_access");
    // What a token says of a group that was left is no more so.
    there.leave(&id, "chess");
    for node in [one, two] {
        writes.expect(node, true);
        says.expect(node, false);
        reads.expect(node, true);
    }
    // A rule let her in because of a group that is not so much as named in the change.
    let says = Held::get(one, "openid groups offline_access");
    operator.leave(&id, "engineering");
    for node in [two, one] {
        writes.expect(node, false);
        says.expect(node, false);
        reads.expect(node, true);
    }

    // The same where the groups themselves change.
    operator.join(&id, "engineering");
    let writes = Held::get(one, "openid api:write offline_access");
    operator.replace("/groups/engineering", json!({}), 200);
    writes.expect(two, false);
    reads.expect(two, true);
    let says = Held::get(one, "openid groups offline_access");
    operator.delete("/groups/engineering", 204);
    says.expect(two, false);
    // Coming into a group ends nothing.
    let says = Held::get(one, "openid groups offline_access");
    operator.join(&id, "chess");
    says.expect(two, true);
    reads.expect(one, true);
}

#[test]
fn rules_are_replaced_by_revision_and_name_what_exists() {
    let mail = Mail::new();
    let server = server(&mail);
    let operator = Operator::of(&server);
    operator.put("/groups/staff", json!({}), 201);
    let rule = json!({"effect": "deny", "groups": ["staff"], "users": ["alice"]});
    let made = operator.put("/rules/r", rule.clone(), 201).json();
    assert_eq!(made["users"], json!([user(&server, "alice")]));
    operator.put("/rules/r", rule, 409).expect_code("exists");
    // What was shown can be written back.
    let mut again = operator.get("/rules/r");
    again["scopes"] = json!(["email"]);
    let replaced = operator.replace("/rules/r", again, 200).json();
    assert_eq!(
        (&replaced["revision"], &replaced["scopes"]),
        (&json!(2), &json!(["email"]))
    );
    for bad in [
        json!({"effect": "deny", "groups": ["nowhere"]}),
        json!({"effect": "deny", "users": ["nobody"]}),
        json!({"effect": "deny", "clients": ["no-client"]}),
        json!({"effect": "deny", "acr": ["no-class"]}),
        json!({"effect": "deny", "networks": ["10.0.0.1/8"]}),
        json!({"effect": "deny", "moon": "full"}),
        json!({"groups": ["staff"]}),
    ] {
        operator.put("/rules/bad", bad, 400);
    }
    // A group that a rule names stays.
    operator.delete("/groups/staff", 409).expect_code("in_use");
    operator.delete("/rules/r", 204);
    operator.delete("/groups/staff", 204);
    assert_eq!(operator.get("/rules")["items"], json!([]));
}

#[test]
fn a_rule_of_one_node_is_asked_on_the_other() {
    let mail = Mail::new();
    let cluster = Cluster::of(2, || {
        let mut setup = Setup {
            clients: vec![client("web")],
            people: people(&mail),
            ..Setup::default()
        };
        with_operator(&mut setup);
        setup
    });
    let (one, two) = (cluster.node(0), cluster.node(1));
    add_user(one, "alice");
    let operator = Operator::of(one);
    let before = code(two, "alice", "openid");
    let access = at_token(two, &redeem(&before))
        .expect(200)
        .member("access_token");
    assert_eq!(claims(&access)["scope"], "openid");
    deny(&operator, "closed", json!({"users": ["alice"]}));
    let after = code(two, "alice", "openid");
    at_token(two, &redeem(&after)).expect_error(400, "invalid_grant");
    let there = Operator::of(two);
    assert_eq!(there.get("/access?client=web&user=alice")["rule"], "closed");
    there.delete("/rules/closed", 204);
    at_token(one, &redeem(&after)).expect(200);
}

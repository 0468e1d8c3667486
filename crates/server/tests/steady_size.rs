//! What the server keeps in its store, and that it does not grow with use: rows and bytes of a
//! session, of a refresh token family, and of hours of traffic. The figures are printed:
//! `cargo test -p signet-server --test it steady_size -- --nocapture`.
#![allow(
    clippy::print_stdout,
    reason = "the figures, for whoever asks with --nocapture"
)]
use crate::common::{
    SECRET, Server, Setup, block_on,
    browser::Browser,
    client::{Call, Reply},
    made::{alice, assertion, code, random_id, redeem, signer},
    people::{Mail, PASSWORD, request, start},
};
use signet_crypto::Algorithm;
use signet_oauth::client::AuthMethod;
use signet_realm::tasks;
use signet_store::{Key, Row, Table};
use std::collections::BTreeMap;

/// Everything that is in a store.
fn everything(server: &Server) -> Vec<(Key, Row)> {
    let mut all = Vec::new();
    for table in Table::ALL {
        let mut after: Option<Key> = None;
        loop {
            // No time is before any row's end.
            let page = server.realm.store.page(*table, after.as_ref(), 256, 0);
            let page = block_on(page).unwrap();
            let Some((last, _)) = page.last() else { break };
            after = Some(last.clone());
            all.extend(page);
        }
    }
    all
}

/// Rows and bytes (keys and values) by table.
fn sizes(server: &Server) -> BTreeMap<String, (usize, usize)> {
    let mut sizes: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (key, row) in everything(server) {
        let (rows, bytes) = sizes.entry(format!("{:?}", key.table)).or_default();
        *rows += 1;
        *bytes += key.partition.len() + key.sort.len() + row.value.len();
    }
    sizes
}

/// What is more in the second than in the first, as one line.
fn grown(
    before: &BTreeMap<String, (usize, usize)>,
    after: &BTreeMap<String, (usize, usize)>,
) -> (usize, usize, String) {
    let (mut rows, mut bytes, mut said) = (0, 0, String::new());
    for (table, (r, b)) in after {
        let (had_r, had_b) = before.get(table).copied().unwrap_or_default();
        if (*r, *b) != (had_r, had_b) {
            rows += r - had_r.min(*r);
            bytes += b - had_b.min(*b);
            said.push_str(&format!(" {table} {r}-{had_r}/{b}-{had_b}"));
        }
    }
    (rows, bytes, said)
}

fn refresh(server: &Server, token: &str) -> Reply {
    Call::post("/token")
        .basic("service", SECRET)
        .form(&[("grant_type", "refresh_token"), ("refresh_token", token)])
        .send(server)
        .expect(200)
}

#[test]
fn a_client_credentials_token_writes_nothing() {
    let server = Server::start(Setup::default());
    let token = || {
        Call::post("/token")
            .basic("service", SECRET)
            .form(&[("grant_type", "client_credentials")])
            .send(&server)
            .expect(200)
            .member("access_token")
    };
    let before = everything(&server);
    let tokens: Vec<String> = (0..20).map(|_| token()).collect();
    for token in &tokens {
        let introspected = Call::post("/introspect").basic("service", SECRET);
        introspected
            .form(&[("token", token)])
            .send(&server)
            .expect(200);
    }
    // Not a row, not a version of one.
    assert_eq!(everything(&server), before);
}

#[test]
fn a_session_and_a_family_keep_the_same_however_often_they_are_used() {
    let mail = Mail::new();
    let server = start(&mail, |_| {});
    let empty = sizes(&server);
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    let page = browser.log_in(&page, "alice", PASSWORD);
    browser.press(&page.expect("asks for access"), "allow", &[]);
    let logged_in = sizes(&server);
    let (rows, bytes, said) = grown(&empty, &logged_in);
    println!("a session, its consent: {rows} rows, {bytes} bytes:{said}");
    assert!(rows <= 6 && bytes <= 2048, "{said}");
    // Codes that are asked for and not redeemed are remembered nowhere.
    for _ in 0..10 {
        browser.get(&request(&[]));
    }
    let (rows, bytes, said) = grown(&logged_in, &sizes(&server));
    assert!(rows == 0 && bytes <= 64, "{said}");
}

#[test]
fn a_refresh_family_keeps_the_same_however_often_it_is_rotated() {
    let server = Server::start(Setup::default());
    let user = alice(&server);
    let before = sizes(&server);
    let form = code(&server, "service", &user);
    let first = Call::post("/token").basic("service", SECRET);
    let first = first.form(&redeem(&form)).send(&server).expect(200);
    let begun = sizes(&server);
    let (rows, bytes, said) = grown(&before, &begun);
    println!("a redeemed code and its family: {rows} rows, {bytes} bytes:{said}");
    assert!(rows <= 5 && bytes <= 1024, "{said}");
    let mut token = first.member("refresh_token");
    for _ in 0..50 {
        token = refresh(&server, &token).member("refresh_token");
    }
    let (rows, bytes, said) = grown(&begun, &sizes(&server));
    println!("fifty rotations later: {rows} rows, {bytes} bytes more:{said}");
    assert!(rows == 0 && bytes <= 64, "{said}");
}

/// Three days, an hour at a time: people redeem codes and refresh for some hours, clients prove
/// themselves by assertions.
#[test]
fn three_days_of_traffic_keep_no_more_than_the_first_hours_of_it() {
    const LIFETIME_HOURS: usize = 4;
    let key = signer(Algorithm::Es256);
    let mut setup = Setup::default();
    setup.settings.refresh_token_lifetime = LIFETIME_HOURS as u64 * 3600;
    let mut assertive = crate::common::client("assertive");
    assertive.token_endpoint_auth_method = AuthMethod::PrivateKeyJwt;
    assertive.secrets.clear();
    assertive.jwks = Some(crate::client_authentication::public_set(&key));
    setup.clients.push(assertive);
    let server = Server::start(setup);
    let user = alice(&server);
    let mut families: Vec<String> = Vec::new();
    let mut hours = Vec::new();
    for hour in 0..72 {
        for _ in 0..3 {
            let form = code(&server, "service", &user);
            let reply = Call::post("/token").basic("service", SECRET);
            let reply = reply.form(&redeem(&form)).send(&server).expect(200);
            families.push(reply.member("refresh_token"));
            let now = server.realm.now();
            let proof = assertion(&key, "assertive", &server.issuer(), &random_id(), now);
            Call::post("/token")
                .form(&[
                    ("grant_type", "client_credentials"),
                    (
                        "client_assertion_type",
                        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                    ),
                    ("client_assertion", &proof),
                ])
                .send(&server)
                .expect(200);
        }
        // Those of the last two hours are in use.
        let in_use = families.len().saturating_sub(6);
        for token in &mut families[in_use..] {
            *token = refresh(&server, token).member("refresh_token");
        }
        let all = sizes(&server);
        let sum = |all: &BTreeMap<String, (usize, usize)>| {
            all.values()
                .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
        };
        hours.push(sum(&all));
        if hour == 71 {
            println!("after three days, 6 tokens of people and clients an hour: {all:?}");
        }
        server.pass(3600);
        block_on(tasks::sweep_once(&server.realm));
    }
    // Everything of an hour has ended by the lifetime of the tokens, the time that a used one is
    // remembered, and the margin for clocks that step.
    let steady = LIFETIME_HOURS + 8;
    let most = |hours: &[(usize, usize)]| {
        let rows = hours.iter().map(|hour| hour.0).max();
        let bytes = hours.iter().map(|hour| hour.1).max();
        (rows.unwrap_or(0), bytes.unwrap_or(0))
    };
    let (rows, bytes) = most(&hours[..2 * steady]);
    let (last_rows, last_bytes) = most(&hours[2 * steady..]);
    println!("the first day: {rows} rows, {bytes} bytes; later {last_rows}, {last_bytes}");
    assert!(last_rows <= rows, "{hours:?}");
    // Numbers in rows have digits.
    assert!(last_bytes <= bytes + 64, "{hours:?}");
}

//! The flows that the load goes through: one function each.

use signet_http_client::text::form;
use std::{future::Future, pin::Pin, time::Duration};

use signet_encoding::base64url;
use signet_jose::jwt::Typ;
use tokio::time::sleep;

use crate::{
    client::{Answer, Call, parameter},
    history::{Kind, Outcome},
    page::Form,
    settings::{BATCH, ISSUER, NATIVE, PEOPLE, REDIRECT, SERVICE},
    worker::{Judge, Worker},
};

/// One round of a flow.
pub type Flow = for<'a> fn(&'a mut Worker) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

/// One node, again and again, by what needs the store and one request: how long it does not answer
/// is seen to a few hundredths of a second. The worker's number is the node's.
pub const PROBE: Flow = |w| Box::pin(probe(w));

/// Each other flow, and how many workers go through it.
pub const FLOWS: [(Flow, usize); 8] = [
    (|w| Box::pin(code(w)), 4),
    (|w| Box::pin(mail(w)), 2),
    (|w| Box::pin(assertion(w)), 1),
    (|w| Box::pin(proof(w)), 2),
    (|w| Box::pin(device(w)), 1),
    (|w| Box::pin(pushed(w)), 2),
    (|w| Box::pin(plain(w)), 2),
    (|w| Box::pin(session(w)), 1),
];

/// RFC 7636 appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const SCOPE: &str = "openid offline_access";

fn random_id() -> String {
    base64url::encode(&signet_crypto::random::bytes::<16>())
}

fn unix_seconds() -> u64 {
    let since = std::time::UNIX_EPOCH.elapsed();
    since.map_or(0, |since| since.as_secs())
}

/// A token or `invalid_grant`.
const GRANTED: Judge = |answer| {
    if answer.status.is_success() {
        return Some(Outcome::Done);
    }
    let error = answer.error()?;
    matches!(&*error, "invalid_grant" | "expired_token").then_some(Outcome::Refused)
};

fn authorization(prompt: &str) -> [(&str, &str); 7] {
    [
        ("response_type", "code"),
        ("client_id", NATIVE),
        ("redirect_uri", REDIRECT),
        ("scope", SCOPE),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("prompt", prompt),
    ]
}

/// The cookies that an answer sets, over those that were there.
fn cookies(answer: &Answer, before: &str) -> String {
    let mut jar: Vec<(&str, &str)> = before
        .split("; ")
        .filter_map(|c| c.split_once('='))
        .collect();
    for set in answer.headers.get_all("set-cookie") {
        let Some((name, rest)) = set.to_str().ok().and_then(|set| set.split_once('=')) else {
            continue;
        };
        jar.retain(|(own, _)| *own != name);
        match rest.split(';').next() {
            Some("") | None => {}
            Some(value) => jar.push((name, value)),
        }
    }
    let pairs: Vec<String> = jar.iter().map(|(n, v)| format!("{n}={v}")).collect();
    pairs.join("; ")
}

/// A form of a page as a browser sends it.
fn submit(worker: &Worker, node: usize, form: &Form, more: &[(&str, &str)], cookie: &str) -> Call {
    let at = worker.shared.cluster.node(node).place.public;
    Call::form(&form.action, &form.with(more))
        .with("cookie", cookie.to_owned())
        .with("origin", format!("https://{at}"))
}

/// Logs a person in with the password: the cookies, and the code of the first request. Where the
/// way breaks off, none.
async fn log_in(worker: &mut Worker, user: &str) -> Option<(String, String)> {
    let path = format!("/authorize?{}", form(&authorization("login")));
    let (node, page) = worker.anywhere(|_, _| Call::get(&path)).await?;
    let jar = cookies(&page, "");
    let form = Form::find(&page.page())?;
    let password = worker.shared.cluster.common.password.clone();
    let typed = [
        ("username", user),
        ("password", &*password),
        ("decision", "allow"),
    ];
    let call = submit(worker, node, &form, &typed, &jar);
    let answer = worker.send(node, &call).await.ok()?;
    let code = parameter(&answer.location()?, "code")?;
    Some((cookies(&answer, &jar), code))
}

/// Everybody of the first sort has a session from now on.
pub async fn log_in_everybody(worker: &mut Worker) -> Result<(), String> {
    let (name, count) = PEOPLE[0];
    for number in 0..count {
        let user = format!("{name}{number}");
        let mut tries = 0;
        let cookie = loop {
            if let Some((cookie, _)) = log_in(worker, &user).await {
                break cookie;
            }
            tries += 1;
            if tries > 20 {
                return Err(format!(
                    "{user} cannot log in{}",
                    worker.shared.cluster.logs()
                ));
            }
            sleep(Duration::from_millis(200)).await;
        };
        worker.shared.sessions.borrow_mut().push((user, cookie));
    }
    Ok(())
}

fn somebody(worker: &mut Worker) -> (String, String) {
    let count = worker.shared.sessions.borrow().len();
    let which = worker.below(count);
    worker.shared.sessions.borrow()[which].clone()
}

/// A code of somebody who has a session, without a page.
async fn silent_code(worker: &mut Worker) -> Option<String> {
    let (user, cookie) = somebody(worker);
    let path = format!("/authorize?{}", form(&authorization("none")));
    loop {
        let call = |_: &Worker, _| Call::get(&path).with("cookie", cookie.clone());
        let (node, answer) = worker.anywhere(call).await?;
        let location = answer.location().unwrap_or_default();
        if let Some(code) = parameter(&location, "code") {
            return Some(code);
        }
        match parameter(&location, "error").as_deref() {
            // RFC 6749 section 4.1.2.1: the node cannot tell now.
            Some("temporarily_unavailable" | "server_error") => {}
            error => {
                let said = format!("the session of {user} at node {}: {error:?}", node + 1);
                worker.shared.recorder.gone(said);
                return None;
            }
        }
        sleep(Duration::from_millis(20)).await;
    }
}

fn redeem(code: &str) -> Call {
    let fields = [
        ("grant_type", "authorization_code"),
        ("client_id", NATIVE),
        ("redirect_uri", REDIRECT),
        ("code", code),
        ("code_verifier", VERIFIER),
    ];
    Call::form("/token", &fields)
}

fn rotate(token: &str) -> Call {
    let fields = [
        ("grant_type", "refresh_token"),
        ("client_id", NATIVE),
        ("refresh_token", token),
    ];
    Call::form("/token", &fields)
}

/// A code, redeemed at several nodes at once or at one; its refresh tokens, rotated likewise; then
/// nothing, a replay, or a revocation.
async fn code(worker: &mut Worker) {
    let Some(code) = silent_code(worker).await else {
        return;
    };
    let grant = worker.shared.recorder.grant();
    let value = worker.value(Kind::Code, Some(grant));
    let times = 1 + usize::from(worker.chance(30)) + usize::from(worker.chance(10));
    let redeemed = worker.race(value, times, |_| redeem(&code), GRANTED).await;
    let Some(mut tokens) = redeemed else { return };
    let mut used: Vec<(usize, String)> = Vec::new();
    for _ in 0..1 + worker.below(4) {
        if let Some(access) = tokens.member("access_token") {
            let token = worker.keep_token(Some(grant), &access);
            let node = worker.any();
            worker.introspect(token, &access, node).await;
            worker.verify(&access).await;
        }
        let Some(refresh) = tokens.member("refresh_token") else {
            return;
        };
        let value = worker.value(Kind::RefreshToken, Some(grant));
        used.push((value, refresh.clone()));
        let times = 1 + usize::from(worker.chance(15));
        match worker
            .race(value, times, |_| rotate(&refresh), GRANTED)
            .await
        {
            Some(next) => tokens = next,
            None => return,
        }
    }
    match worker.below(4) {
        // The code once more, then what was issued for it.
        0 => {
            worker.race(value, 1, |_| redeem(&code), GRANTED).await;
        }
        // An old refresh token once more.
        1 => {
            let which = worker.below(used.len());
            let (value, refresh) = used[which].clone();
            worker.race(value, 1, |_| rotate(&refresh), GRANTED).await;
        }
        2 => {
            let Some(refresh) = tokens.member("refresh_token") else {
                return;
            };
            let node = worker.any();
            let fields = [("client_id", NATIVE), ("token", &*refresh)];
            let call = Call::form("/revoke", &fields);
            let judge: Judge = |answer| answer.status.is_success().then_some(Outcome::Done);
            if let Some((operation, _)) = worker.timed(node, &call, judge).await {
                worker.shared.recorder.grant_ended(grant, operation);
            }
            let value = worker.value(Kind::RefreshToken, Some(grant));
            worker.race(value, 1, |_| rotate(&refresh), GRANTED).await;
        }
        _ => {}
    }
    if let Some(access) = tokens.member("access_token") {
        let token = worker.keep_token(Some(grant), &access);
        let node = worker.any();
        worker.introspect(token, &access, node).await;
    }
}

/// A one-time code by mail, typed at several nodes.
async fn mail(worker: &mut Worker) {
    let user = format!("{}{}", PEOPLE[1].0, worker.number % PEOPLE[1].1);
    let path = format!("/authorize?{}", form(&authorization("login")));
    let Some((node, page)) = worker.anywhere(|_, _| Call::get(&path)).await else {
        return;
    };
    let jar = cookies(&page, "");
    let Some(form) = Form::find(&page.page()) else {
        return;
    };
    let asked = [("username", &*user), ("decision", "email")];
    let call = submit(worker, node, &form, &asked, &jar);
    let Ok(page) = worker.send(node, &call).await else {
        return;
    };
    let jar = cookies(&page, &jar);
    let (Some(form), Some(digits)) = (Form::find(&page.page()), letter(worker, &user)) else {
        return;
    };
    let value = worker.value(Kind::MailCode, None);
    let judge: Judge = |answer| {
        if answer.location().is_some_and(|to| to.starts_with(REDIRECT)) {
            return Some(Outcome::Done);
        }
        answer
            .page()
            .contains("has expired")
            .then_some(Outcome::Refused)
    };
    let times = 1 + worker.below(3);
    let nodes: Vec<usize> = (0..times).map(|_| worker.any()).collect();
    let calls: Vec<Call> = nodes
        .iter()
        .map(|node| {
            submit(
                worker,
                *node,
                &form,
                &[("otp", &digits), ("decision", "allow")],
                &jar,
            )
        })
        .collect();
    let call = |node| {
        let at = nodes
            .iter()
            .position(|own| *own == node)
            .unwrap_or_default();
        calls[at].clone()
    };
    worker.race_at(value, &nodes, call, judge).await;
}

/// The digits of the latest letter to somebody; older ones go.
fn letter(worker: &Worker, user: &str) -> Option<String> {
    let directory = worker.shared.cluster.common.directory.join("mail");
    let to = format!("{user}@faults.test");
    let mut found: Option<(std::path::PathBuf, String)> = None;
    for entry in std::fs::read_dir(directory).ok()?.flatten() {
        let path = entry.path();
        let is_letter = path.extension().is_some_and(|kind| kind == "eml");
        let Some(text) = std::fs::read_to_string(&path).ok().filter(|_| is_letter) else {
            continue;
        };
        if !text.contains(&to) {
            continue;
        }
        let _already_gone = std::fs::remove_file(&path);
        if found.as_ref().is_none_or(|(other, _)| *other < path) {
            found = Some((path, text));
        }
    }
    let (_, text) = found?;
    let mut lines = text.lines().map(str::trim);
    let digits = lines.find(|l| l.len() == 6 && l.bytes().all(|b| b.is_ascii_digit()))?;
    Some(digits.to_owned())
}

/// A request with an assertion of its own (RFC 7523).
fn asserted(worker: &Worker) -> Call {
    let now = unix_seconds();
    let assertion = worker.shared.cluster.common.batch.sign(Typ::Jwt, |w| {
        w.member("iss").string(BATCH);
        w.member("sub").string(BATCH);
        w.member("aud").string(ISSUER);
        w.member("jti").string(&random_id());
        w.member("iat").number(now);
        w.member("exp").number(now + 250);
    });
    // Invariant: an ES256 key signs.
    let assertion = assertion.unwrap_or_default();
    let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    let fields = [
        ("grant_type", "client_credentials"),
        ("client_assertion_type", kind),
        ("client_assertion", &*assertion),
    ];
    Call::form("/token", &fields)
}

const AUTHENTICATED: Judge = |answer| {
    if answer.status.is_success() {
        return Some(Outcome::Done);
    }
    (answer.error()? == "invalid_client").then_some(Outcome::Refused)
};

async fn probe(worker: &mut Worker) {
    let value = worker.value(Kind::Assertion, None);
    let call = asserted(worker);
    let node = worker.number;
    worker
        .race_at(value, &[node], |_| call.clone(), AUTHENTICATED)
        .await;
}

/// An assertion, sent to several nodes at once, and once more.
async fn assertion(worker: &mut Worker) {
    let value = worker.value(Kind::Assertion, None);
    let call = asserted(worker);
    let times = 2 + worker.below(2);
    worker
        .race(value, times, |_| call.clone(), AUTHENTICATED)
        .await;
    worker.race(value, 1, |_| call.clone(), AUTHENTICATED).await;
}

/// A DPoP proof (RFC 9449), sent to several nodes at once.
async fn proof(worker: &mut Worker) {
    let common = &worker.shared.cluster.common;
    let signed = common.proofs.sign(Typ::DpopProof, |w| {
        w.member("htm").string("POST");
        w.member("htu").string(&format!("{ISSUER}/token"));
        w.member("jti").string(&random_id());
        w.member("iat").number(unix_seconds());
    });
    let call = Call::form("/token", &[("grant_type", "client_credentials")])
        .basic(SERVICE, &common.secret)
        .with("dpop", signed.unwrap_or_default());
    let value = worker.value(Kind::DpopProof, None);
    let times = 1 + worker.below(3);
    let judge: Judge = |answer| {
        if answer.status.is_success() {
            return Some(Outcome::Done);
        }
        (answer.error()? == "invalid_dpop_proof").then_some(Outcome::Refused)
    };
    worker.race(value, times, |_| call.clone(), judge).await;
}

/// A device code (RFC 8628): asked for, approved and redeemed, each at any node.
async fn device(worker: &mut Worker) {
    let fields = [("client_id", NATIVE), ("scope", SCOPE)];
    let call = Call::form("/device_authorization", &fields);
    let Some((_, begun)) = worker.anywhere(|_, _| call.clone()).await else {
        return;
    };
    let (Some(code), Some(user_code)) = (begun.member("device_code"), begun.member("user_code"))
    else {
        return;
    };
    let (_, cookie) = somebody(worker);
    let path = format!("/device?{}", form(&[("user_code", &*user_code)]));
    let call = |_: &Worker, _| Call::get(&path).with("cookie", cookie.clone());
    let Some((_, mut page)) = worker.anywhere(call).await else {
        return;
    };
    for typed in [
        [("user_code", &*user_code), ("decision", "continue")],
        [("user_code", &*user_code), ("decision", "allow")],
    ] {
        let Some(form) = Form::find(&page.page()) else {
            return;
        };
        let call = |w: &Worker, node| submit(w, node, &form, &typed, &cookie);
        match worker.anywhere(call).await {
            Some((_, next)) => page = next,
            None => return,
        }
    }
    let value = worker.value(Kind::DeviceCode, None);
    let fields = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
        ("client_id", NATIVE),
        ("device_code", &*code),
    ];
    let call = Call::form("/token", &fields);
    let times = 1 + worker.below(3);
    worker.race(value, times, |_| call.clone(), GRANTED).await;
}

/// A pushed request (RFC 9126), opened at several nodes.
async fn pushed(worker: &mut Worker) {
    let call = Call::form("/par", &authorization("none"));
    let Some((_, answer)) = worker.anywhere(|_, _| call.clone()).await else {
        return;
    };
    let Some(uri) = answer.member("request_uri") else {
        return;
    };
    let (_, cookie) = somebody(worker);
    let path = form(&[("client_id", NATIVE), ("request_uri", &uri)]);
    let call = Call::get(&format!("/authorize?{path}")).with("cookie", cookie);
    let value = worker.value(Kind::PushedRequest, None);
    let judge: Judge = |answer| match answer.location() {
        Some(to) if parameter(&to, "code").is_some() => Some(Outcome::Done),
        Some(to) => match &*parameter(&to, "error")? {
            "temporarily_unavailable" | "server_error" => Some(Outcome::Unknown),
            _ => Some(Outcome::Refused),
        },
        None => answer.status.is_client_error().then_some(Outcome::Refused),
    };
    let times = 1 + worker.below(3);
    worker.race(value, times, |_| call.clone(), judge).await;
}

/// A token by client_credentials, which needs no store, validated at any nodes; some are revoked.
async fn plain(worker: &mut Worker) {
    let secret = worker.shared.cluster.common.secret.clone();
    let node = worker.any();
    let form = [("grant_type", "client_credentials")];
    let call = Call::form("/token", &form).basic(SERVICE, &secret);
    let judge: Judge = |answer| answer.status.is_success().then_some(Outcome::Done);
    let Some((operation, answer)) = worker.timed(node, &call, judge).await else {
        return;
    };
    worker.shared.recorder.plain(operation);
    let Some(text) = answer.and_then(|answer| answer.member("access_token")) else {
        return;
    };
    worker.verify(&text).await;
    let token = worker.keep_token(None, &text);
    for _ in 0..2 {
        let node = worker.any();
        worker.introspect(token, &text, node).await;
    }
    if worker.chance(30) {
        let node = worker.any();
        let call = Call::form("/revoke", &[("token", &*text)]).basic(SERVICE, &secret);
        if let Some((operation, _)) = worker.timed(node, &call, judge).await {
            worker.shared.recorder.token_ended(token, operation);
        }
        for _ in 0..4 {
            let node = worker.any();
            worker.introspect(token, &text, node).await;
        }
    }
}

/// A session that is revoked with a receipt: who is in the receipt calls its token inactive at
/// once.
async fn session(worker: &mut Worker) {
    let (name, count) = PEOPLE[2];
    let user = format!("{name}{}", worker.below(count));
    let Some((_, code)) = log_in(worker, &user).await else {
        return;
    };
    let grant = worker.shared.recorder.grant();
    let value = worker.value(Kind::Code, Some(grant));
    let redeemed = worker.race(value, 1, |_| redeem(&code), GRANTED).await;
    let Some(access) = redeemed.and_then(|tokens| tokens.member("access_token")) else {
        return;
    };
    let token = worker.keep_token(Some(grant), &access);
    let node = worker.any();
    worker.introspect(token, &access, node).await;
    let Some(session) = session_of(&access) else {
        worker
            .shared
            .recorder
            .gone("an access token without a session".to_owned());
        return;
    };
    let node = worker.any();
    let body = serde_json::json!({ "session": session });
    let recorder = worker.shared.recorder.clone();
    let invoked = recorder.now();
    let call = Call::json("/admin/v1/revocations", &body);
    let answer = worker.shared.cluster.administer(node, call).await;
    let returned = recorder.now();
    let answer = answer
        .ok()
        .filter(|answer| !answer.status.is_client_error());
    let heard = answer.as_ref().filter(|answer| answer.status.is_success());
    let operation = crate::history::Operation {
        node,
        invoked,
        returned,
        outcome: match heard {
            Some(_) => Outcome::Done,
            None => Outcome::Unknown,
        },
    };
    recorder.grant_ended(grant, operation);
    let Some(heard) = heard else { return };
    let receipt = heard.json()["nodes"].clone();
    for node in receipt.as_array().into_iter().flatten() {
        let name = node["name"].as_str().unwrap_or_default();
        let number = name
            .strip_prefix("node-")
            .and_then(|n| n.parse::<usize>().ok());
        let Some(number) = number else { continue };
        let seen = worker.introspect(token, &access, number - 1).await;
        if seen == Some(Outcome::Done) {
            recorder.unkept(format!(
                "{name} acknowledged the end of a session, and called its token active"
            ));
        }
    }
}

/// The `sid` of a token, unverified.
fn session_of(token: &str) -> Option<String> {
    let claims = token.split('.').nth(1)?;
    let claims = base64url::decode(claims.as_bytes()).ok()?;
    let claims: serde_json::Value = serde_json::from_slice(&claims).ok()?;
    Some(claims["sid"].as_str()?.to_owned())
}

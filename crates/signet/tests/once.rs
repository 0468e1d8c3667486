//! What may happen once happens once: of a hundred racing requests one succeeds, also after `kill
//! -9` and a restart. Real processes, real sockets, a real disk.

use std::collections::BTreeMap;

use crate::support::{
    Browser, CHALLENGE, Dev, REDIRECT, Server, VERIFIER, body, json, parameter, signet,
};
use http::StatusCode;
use signet_crypto::{Algorithm, SigningKey};
use signet_jose::jwt::{JwtSigner, Typ};

const RACERS: usize = 100;

/// Sends the same form a hundred times at once; how often each status and error came back, and the
/// good answers.
async fn race(
    dev: &Dev,
    client: Option<&str>,
    path: &str,
    fields: &[(&str, &str)],
) -> (BTreeMap<String, usize>, Vec<serde_json::Value>) {
    let fields: Vec<(String, String)> = fields
        .iter()
        .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
        .collect();
    let tasks: Vec<_> = (0..RACERS)
        .map(|_| {
            let (dev, fields, path) = (dev.clone(), fields.clone(), path.to_owned());
            let client = client.map(str::to_owned);
            tokio::spawn(async move {
                let fields: Vec<(&str, &str)> = fields
                    .iter()
                    .map(|(n, v)| (n.as_str(), v.as_str()))
                    .collect();
                let answer = dev.post(&path, client.as_deref(), &fields).await;
                (answer.status, body(&answer))
            })
        })
        .collect();
    let mut counts = BTreeMap::new();
    let mut good = Vec::new();
    for task in tasks {
        let (status, answer) = task.await.unwrap();
        let error = answer["error"].as_str().unwrap_or_default();
        *counts
            .entry(format!("{} {error}", status.as_u16()).trim().to_owned())
            .or_insert(0) += 1;
        if status == StatusCode::OK {
            good.push(answer);
        }
    }
    (counts, good)
}

fn one_of_a_hundred(counts: &BTreeMap<String, usize>, refusal: &str) {
    let expected = BTreeMap::from([("200".to_owned(), 1), (refusal.to_owned(), RACERS - 1)]);
    assert_eq!(counts, &expected);
}

fn code_form(code: &str) -> [(&str, &str); 5] {
    [
        ("grant_type", "authorization_code"),
        ("client_id", "native"),
        ("redirect_uri", REDIRECT),
        ("code", code),
        ("code_verifier", VERIFIER),
    ]
}

fn refresh_form(token: &str) -> [(&str, &str); 3] {
    [
        ("grant_type", "refresh_token"),
        ("client_id", "native"),
        ("refresh_token", token),
    ]
}

#[tokio::test]
async fn a_code_is_redeemed_once_and_its_replay_ends_what_it_gave() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(dir.path());
    let mut browser = Browser::new(&dev);
    let code = browser.code("native", "openid offline_access").await;
    let (counts, good) = race(&dev, None, "/token", &code_form(&code)).await;
    one_of_a_hundred(&counts, "400 invalid_grant");
    // RFC 6749 section 4.1.2: the replay ended the tokens of the winner, too.
    let refresh = good[0]["refresh_token"].as_str().unwrap();
    assert_eq!(
        dev.post("/token", None, &refresh_form(refresh))
            .await
            .status,
        400
    );

    let code = browser.code("native", "openid").await;
    let first = dev.post("/token", None, &code_form(&code)).await;
    assert_eq!(first.status, StatusCode::OK);
    server.crash_and_restart(&dev).await;
    let again = dev.post("/token", None, &code_form(&code)).await;
    assert_eq!(body(&again)["error"], "invalid_grant");
}

#[tokio::test]
async fn a_refresh_token_rotates_once_and_its_replay_ends_the_family() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(dir.path());
    let mut browser = Browser::new(&dev);
    let mut family = Vec::new();
    for _ in 0..2 {
        let code = browser.code("native", "openid offline_access").await;
        let answer = body(&dev.post("/token", None, &code_form(&code)).await);
        family.push(answer["refresh_token"].as_str().unwrap().to_owned());
    }
    let (counts, good) = race(&dev, None, "/token", &refresh_form(&family[0])).await;
    one_of_a_hundred(&counts, "400 invalid_grant");
    let next = good[0]["refresh_token"].as_str().unwrap();
    assert_eq!(
        dev.post("/token", None, &refresh_form(next)).await.status,
        400,
        "the family ended"
    );

    // The other device is another family, and goes on; a rotation that was answered outlives a
    // crash.
    let rotated = body(&dev.post("/token", None, &refresh_form(&family[1])).await);
    server.crash_and_restart(&dev).await;
    let new = rotated["refresh_token"].as_str().unwrap();
    let after = body(&dev.post("/token", None, &refresh_form(new)).await);
    assert!(after["access_token"].is_string(), "{after}");
    let replay = body(&dev.post("/token", None, &refresh_form(&family[1])).await);
    assert_eq!(replay["error"], "invalid_grant");
    server.crash_and_restart(&dev).await;
    let newest = after["refresh_token"].as_str().unwrap();
    let ended = body(&dev.post("/token", None, &refresh_form(newest)).await);
    assert_eq!(
        ended["error"], "invalid_grant",
        "a family that ended stays ended"
    );
}

#[tokio::test]
async fn an_assertion_authenticates_once() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(dir.path());
    let made = signet(&[
        "client",
        "add",
        "--client-id",
        "batch",
        "--auth-method",
        "client_secret_jwt",
        "--grant-type",
        "client_credentials",
        "--json",
        "--data-dir",
        dev.dir(),
    ]);
    let made = json(&made);
    let secret = made["client_secret"]
        .as_str()
        .unwrap_or_else(|| panic!("{made}"));
    let assertion = |jti: &str| assertion(&dev, "batch", secret, jti);
    let form = |assertion: &str| {
        [
            ("grant_type".to_owned(), "client_credentials".to_owned()),
            (
                "client_assertion_type".to_owned(),
                "urn:ietf:params:oauth:client-assertion-type:jwt-bearer".to_owned(),
            ),
            ("client_assertion".to_owned(), assertion.to_owned()),
        ]
    };
    let borrowed = |f: &[(String, String); 3]| f.clone();
    let first = form(&assertion("one"));
    let fields = borrowed(&first);
    let fields: Vec<(&str, &str)> = fields
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_str()))
        .collect();
    let (counts, _) = race(&dev, None, "/token", &fields).await;
    one_of_a_hundred(&counts, "401 invalid_client");

    server.crash_and_restart(&dev).await;
    let replay = dev.post("/token", None, &fields).await;
    assert_eq!(
        body(&replay)["error"],
        "invalid_client",
        "replay ids outlive a crash"
    );
    let second = form(&assertion("two"));
    let fields: Vec<(&str, &str)> = second
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_str()))
        .collect();
    assert_eq!(
        dev.post("/token", None, &fields).await.status,
        StatusCode::OK
    );
}

fn assertion(dev: &Dev, client_id: &str, secret: &str, jti: &str) -> String {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let claims = serde_json::json!({
        "iss": client_id, "sub": client_id, "aud": dev.issuer, "jti": jti, "iat": now, "exp": now + 60,
    });
    let key = SigningKey::from_private(Algorithm::Hs256, secret.as_bytes()).unwrap();
    let mut token = Vec::new();
    JwtSigner::new(key, "s")
        .sign_into(Typ::Jwt, claims.to_string().as_bytes(), &mut token)
        .unwrap();
    String::from_utf8(token).unwrap()
}

#[tokio::test]
async fn a_pushed_request_leads_to_one_code() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(dir.path());
    let mut browser = Browser::new(&dev);
    // Alice logs in and agrees once: from here on her session alone answers.
    browser.code("web", "openid").await;
    let push = async |dev: &Dev| {
        let answer = dev
            .post(
                "/par",
                Some("web"),
                &[
                    ("response_type", "code"),
                    ("client_id", "web"),
                    ("redirect_uri", REDIRECT),
                    ("scope", "openid"),
                    ("prompt", "none"),
                    ("code_challenge", CHALLENGE),
                    ("code_challenge_method", "S256"),
                ],
            )
            .await;
        body(&answer)["request_uri"].as_str().unwrap().to_owned()
    };
    let request_uri = push(&dev).await;
    let cookies = browser.cookie_header();
    let go = |request_uri: &str| {
        let url = format!(
            "{}/authorize?{}",
            dev.issuer,
            crate::support::http_client::form(&[
                ("client_id", "web"),
                ("request_uri", request_uri)
            ])
        );
        let (client, cookies) = (dev.client(), cookies.clone());
        async move {
            let answer = client.get(&url, &[("cookie", &cookies)]).await.unwrap();
            let location = answer.header("location").unwrap_or_default().to_owned();
            parameter(&location, "code")
        }
    };
    let racers: Vec<_> = (0..RACERS)
        .map(|_| tokio::spawn(go(&request_uri)))
        .collect();
    let mut codes = Vec::new();
    for racer in racers {
        codes.extend(racer.await.unwrap());
    }
    assert_eq!(codes.len(), 1, "of a hundred one gets a code");

    server.crash_and_restart(&dev).await;
    assert_eq!(go(&request_uri).await, None, "a used request stays used");
    let fresh = push(&dev).await;
    server.crash_and_restart(&dev).await;
    assert!(
        go(&fresh).await.is_some(),
        "a request that was answered was durable"
    );
}

/// A proof for the token endpoint (RFC 9449 section 4.2).
fn dpop_proof(dev: &Dev, key: &SigningKey, jti: &str) -> String {
    use signet_encoding::{base64url, json::Writer};
    use signet_jose::jwk::Jwk;
    let mut public = Jwk::for_signatures(key.public().unwrap().clone(), Algorithm::Es256, "k");
    (public.kid, public.alg, public.key_use) = (None, None, None);
    let mut jwk = Vec::new();
    Writer::new(&mut jwk).object(|w| {
        w.member("typ").string("dpop+jwt");
        w.member("alg").string("ES256");
        public.write(w.member("jwk"));
    });
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let claims = serde_json::json!({
        "jti": jti, "htm": "POST", "htu": format!("{}/token", dev.issuer), "iat": now,
    });
    let input = format!(
        "{}.{}",
        base64url::encode(&jwk),
        base64url::encode(claims.to_string().as_bytes())
    );
    let mut signature = Vec::new();
    key.sign_into(input.as_bytes(), &mut signature).unwrap();
    format!("{input}.{}", base64url::encode(&signature))
}

#[tokio::test]
async fn a_dpop_proof_is_taken_once() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(dir.path());
    let key = SigningKey::generate(Algorithm::Es256).unwrap();
    let send = |proof: &str| {
        let (dev, proof) = (dev.clone(), proof.to_owned());
        async move {
            let (id, secret) = dev.credentials("service");
            let authorization = crate::support::basic(&id, &secret);
            let headers = [
                ("content-type", "application/x-www-form-urlencoded"),
                ("authorization", authorization.as_str()),
                ("dpop", proof.as_str()),
            ];
            let url = format!("{}/token", dev.issuer);
            let form = "grant_type=client_credentials".into();
            let answer = dev
                .client()
                .send(http::Method::POST, &url, &headers, form)
                .await
                .unwrap();
            let answer = body(&answer);
            answer["error"]
                .as_str()
                .or(answer["token_type"].as_str())
                .unwrap()
                .to_owned()
        }
    };
    let proof = dpop_proof(&dev, &key, "one");
    let racers: Vec<_> = (0..RACERS).map(|_| tokio::spawn(send(&proof))).collect();
    let mut counts = BTreeMap::new();
    for racer in racers {
        *counts.entry(racer.await.unwrap()).or_insert(0) += 1;
    }
    let expected = [
        ("DPoP".to_owned(), 1),
        ("invalid_dpop_proof".to_owned(), RACERS - 1),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
    server.crash_and_restart(&dev).await;
    assert_eq!(
        send(&proof).await,
        "invalid_dpop_proof",
        "replay ids outlive a crash"
    );
    assert_eq!(send(&dpop_proof(&dev, &key, "two")).await, "DPoP");
}

//! What a process sends to a collector, as one that is scripted receives it, and what it costs when
//! the collector is not there.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{
    Server, http_client::Answer, http_client::HttpClient, http_client::form, json, signet, text,
};

const PATIENCE: Duration = Duration::from_secs(60);
const SECRET: &str = "a-secret-of-a-client-that-is-long-enough-0123";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// A request that was received.
#[derive(Clone, Debug)]
struct Received {
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Received {
    fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        all.find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }
}

/// What it answers: the whole answer for a path, by how many came for that path before.
type Script = dyn Fn(&str, usize) -> String + Send + Sync;

/// A real HTTP server that answers by its script, and keeps what it received.
struct Receiver {
    port: u16,
    received: Arc<Mutex<Vec<Received>>>,
}

const TAKEN: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

impl Receiver {
    fn start(script: impl Fn(&str, usize) -> String + Send + Sync + 'static) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let (kept, script): (_, Arc<Script>) = (received.clone(), Arc::new(script));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, script) = (kept.clone(), script.clone());
                std::thread::spawn(move || while serve(&stream, &kept, &*script).is_some() {});
            }
        });
        Receiver { port, received }
    }

    fn all(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// What was received, once it is enough.
    fn once(&self, enough: impl Fn(&[Received]) -> bool) -> Vec<Received> {
        let started = Instant::now();
        loop {
            let all = self.all();
            if enough(&all) {
                return all;
            }
            assert!(started.elapsed() < PATIENCE, "not enough: {all:#?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn serve(mut stream: &TcpStream, kept: &Mutex<Vec<Received>>, script: &Script) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut headers, mut length) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let (name, value) = (name.to_ascii_lowercase(), value.trim().to_owned());
        if name == "content-length" {
            length = value.parse().ok()?;
        }
        headers.push((name, value));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let before = {
        let mut kept = kept.lock().unwrap();
        let before = kept.iter().filter(|one| one.path == path).count();
        kept.push(Received {
            path: path.clone(),
            headers,
            body: text(&body),
        });
        before
    };
    stream.write_all(script(&path, before).as_bytes()).ok()
}

/// A server that sends what it records to this address, and where it answers.
fn watched(dir: &Path, endpoint: &str, further: &str) -> (Server, String) {
    let file = dir.join("signet.toml");
    std::fs::write(dir.join("secret"), SECRET).unwrap();
    std::fs::write(
        dir.join("headers"),
        "authorization: Bearer of-the-collector\n",
    )
    .unwrap();
    std::fs::write(
        &file,
        format!(
            "issuer = \"https://id.example\"\ndata_dir = \"{}\"\n[keys]\nalgorithms = [\"ES256\", \"RS256\"]\n\
             [outbound]\nallow_loopback = true\n\
             [telemetry]\notlp_endpoint = \"{endpoint}\"\notlp_headers = {{ file = \"headers\" }}\nmetrics_interval = \"1s\"\n{further}\n\
             [[listeners]]\naddress = \"127.0.0.1:0\"\nprotocol = \"http\"\n\
             [[clients]]\nclient_id = \"service\"\nclient_secrets = [{{ file = \"secret\" }}]\ngrant_types = [\"client_credentials\"]\n\
             [[clients]]\nclient_id = \"keyed\"\ngrant_types = [\"client_credentials\"]\ntoken_endpoint_auth_method = \"private_key_jwt\"\njwks_uri = \"{endpoint}/jwks\"\n",
            dir.join("data").display()
        ),
    )
    .unwrap();
    let (server, port) = Server::configured(&file, &dir.join("log"));
    (server, format!("http://127.0.0.1:{port}"))
}

async fn token(base: &str, headers: &[(&str, &str)], fields: &[(&str, &str)]) -> Answer {
    let mut all = vec![("content-type", "application/x-www-form-urlencoded")];
    all.extend(headers);
    let client = HttpClient::new(&[]).unwrap();
    let url = format!("{base}/token");
    let sent = client.send(http::Method::POST, &url, &all, form(fields).into());
    sent.await.unwrap()
}

async fn service_token(base: &str, headers: &[(&str, &str)]) -> Answer {
    let fields = [
        ("grant_type", "client_credentials"),
        ("client_id", "service"),
        ("client_secret", SECRET),
    ];
    token(base, headers, &fields).await
}

/// Every span that was received, once each: a batch may have been sent again.
fn spans(all: &[Received]) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let of = |one: &Received| -> Vec<Value> {
        let body: Value = serde_json::from_str(&one.body).unwrap();
        let spans = &body["resourceSpans"][0]["scopeSpans"][0]["spans"];
        spans.as_array().cloned().unwrap_or_default()
    };
    let traces = all.iter().filter(|one| one.path.ends_with("/v1/traces"));
    let spans = traces.flat_map(of);
    spans
        .filter(|span| seen.insert(span["spanId"].to_string()))
        .collect()
}

fn attribute<'a>(span: &'a Value, name: &str) -> Option<&'a Value> {
    let all = span["attributes"].as_array()?;
    let found = all.iter().find(|one| one["key"] == name)?;
    found["value"].as_object()?.values().next()
}

/// The span of the request of this id.
fn of_request<'a>(spans: &'a [Value], answer: &Answer) -> Option<&'a Value> {
    let id = answer.header("x-request-id").unwrap();
    let mut all = spans.iter();
    all.find(|span| attribute(span, "signet.request_id").is_some_and(|of| of == id))
}

#[tokio::test]
async fn a_request_arrives_as_steps_with_its_id_and_metrics_and_lines_arrive_beside_it() {
    let receiver = Receiver::start(|_, _| TAKEN.into());
    let dir = tempfile::tempdir().unwrap();
    let (_server, base) = watched(dir.path(), &format!("{}/otlp/", receiver.url()), "");
    let good = service_token(&base, &[]).await;
    assert_eq!(good.status, 200);
    let wrong = [
        ("grant_type", "client_credentials"),
        ("client_id", "service"),
        ("client_secret", "no"),
    ];
    let bad = token(&base, &[], &wrong).await;
    assert_eq!(bad.status, 401);
    let all = receiver.once(|all| {
        let spans = spans(all);
        of_request(&spans, &good).is_some()
            && of_request(&spans, &bad).is_some()
            && all.iter().any(|one| {
                one.path == "/otlp/v1/metrics" && one.body.contains("signet_tokens_issued")
            })
            && all
                .iter()
                .any(|one| one.path == "/otlp/v1/logs" && one.body.contains("answered the request"))
    });
    for one in &all {
        assert_eq!(one.header("authorization"), Some("Bearer of-the-collector"));
        assert_eq!(one.header("content-type"), Some("application/json"));
    }
    let spans = spans(&all);
    let whole = of_request(&spans, &good).unwrap();
    assert_eq!(whole["name"], "POST /token");
    assert_eq!(
        (&whole["kind"], &whole["status"]),
        (&2.into(), &Value::Null)
    );
    for (name, value) in [
        ("http.route", "/token"),
        ("http.request.method", "POST"),
        ("http.response.status_code", "200"),
        ("signet.client_id", "service"),
        ("signet.grant_type", "client_credentials"),
        ("signet.realm", "https://id.example"),
    ] {
        assert_eq!(attribute(whole, name).unwrap(), value, "{whole:#}");
    }
    let nanos = |span: &Value, name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
    for step in [
        "read the body",
        "authenticate the client",
        "decide",
        "sign the access token",
    ] {
        let of_trace = spans
            .iter()
            .filter(|span| span["traceId"] == whole["traceId"]);
        let step: Vec<&Value> = of_trace.filter(|span| span["name"] == step).collect();
        assert_eq!(step.len(), 1, "{spans:#?}");
        assert_eq!(step[0]["parentSpanId"], whole["spanId"]);
        assert!(nanos(step[0], "startTimeUnixNano") >= nanos(whole, "startTimeUnixNano"));
        assert!(nanos(step[0], "endTimeUnixNano") <= nanos(whole, "endTimeUnixNano"));
    }
    let refused = of_request(&spans, &bad).unwrap();
    assert_eq!(attribute(refused, "error.type").unwrap(), "invalid_client");
    // Who has not authenticated is not named.
    assert!(attribute(refused, "signet.client_id").is_none());

    // The line of the refused request belongs to its trace.
    let lines = all.iter().filter(|one| one.path.ends_with("/v1/logs"));
    let lines: Vec<Value> = lines
        .flat_map(|one| {
            let body: Value = serde_json::from_str(&one.body).unwrap();
            let records = &body["resourceLogs"][0]["scopeLogs"][0]["logRecords"];
            records.as_array().cloned().unwrap()
        })
        .collect();
    let id = bad.header("x-request-id").unwrap();
    let line = lines
        .iter()
        .find(|line| attribute(line, "request_id").is_some_and(|of| of == id));
    let line = line.expect("a line of the refused request");
    assert_eq!(line["body"]["stringValue"], "answered the request");

    let metrics = all
        .iter()
        .rev()
        .find(|one| one.path.ends_with("/v1/metrics"))
        .unwrap();
    let metrics: Value = serde_json::from_str(&metrics.body).unwrap();
    let metrics = metrics["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].clone();
    for metric in metrics.as_array().unwrap() {
        let name = metric["name"].as_str().unwrap();
        let row = signet_telemetry::metrics::table::ALL
            .iter()
            .find(|row| row.name == name);
        assert_eq!(metric["unit"], row.expect(name).unit.name());
    }
}

#[tokio::test]
async fn nothing_that_is_exported_has_a_secret_or_what_somebody_typed() {
    let receiver = Receiver::start(|_, _| TAKEN.into());
    let dir = tempfile::tempdir().unwrap();
    let further = "sample = 1.0\nsample_per_second = 1000\nparents = \"everybody\"\n[log]\nrequests = \"all\"";
    let (mut server, base) = watched(dir.path(), &receiver.url(), further);
    let client = HttpClient::new(&[]).unwrap();
    let canary = |at: usize| format!("canary{at}canary");
    let names = [
        "grant_type",
        "client_id",
        "client_secret",
        "code",
        "code_verifier",
        "refresh_token",
        "redirect_uri",
        "scope",
        "resource",
        "audience",
        "subject_token",
        "subject_token_type",
        "actor_token",
        "device_code",
        "user_code",
        "client_assertion",
        "client_assertion_type",
        "assertion",
        "username",
        "password",
        "totp",
        "token",
        "token_type_hint",
        "id_token_hint",
        "login_hint",
        "state",
        "nonce",
        "request",
        "request_uri",
        "interaction",
        "email",
        "dpop_jkt",
        "response_type",
        "code_challenge",
        "logout_token",
        "authorization_details",
        "prompt",
    ];
    let paths = [
        "/token",
        "/authorize",
        "/introspect",
        "/revoke",
        "/par",
        "/device_authorization",
        "/device",
        "/userinfo",
        "/register",
        "/login/password",
        "/interaction",
        "/recover",
        "/account",
        "/logout",
        "/sign-up",
        "/admin/v1/users",
        "/scim/v2/Users",
        "/revocations",
        "/a-path-canary999canary",
    ];
    let mut at = 0;
    let mut asked = 0;
    for path in paths {
        for (method, media) in [
            (http::Method::GET, ""),
            (http::Method::POST, "application/x-www-form-urlencoded"),
            (http::Method::POST, "application/json"),
        ] {
            let mut fields = Vec::new();
            for name in names {
                at += 1;
                // Some that get further than the first field.
                let value = match (name, at % 3) {
                    ("grant_type", 0) => "authorization_code".to_owned(),
                    ("grant_type", 1) => "refresh_token".to_owned(),
                    ("client_id", 0 | 1) => "service".to_owned(),
                    _ => canary(at),
                };
                fields.push((name, value));
            }
            let pairs: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (*n, v.as_str())).collect();
            let (url, body) = match media {
                "" => (format!("{base}{path}?{}", form(&pairs)), String::new()),
                "application/json" => {
                    let object: serde_json::Map<String, Value> = fields
                        .iter()
                        .map(|(n, v)| ((*n).to_owned(), v.clone().into()))
                        .collect();
                    (format!("{base}{path}"), Value::Object(object).to_string())
                }
                _ => (format!("{base}{path}"), form(&pairs)),
            };
            at += 10;
            let typed = [
                ("authorization", format!("Bearer {}", canary(at + 1))),
                ("dpop", canary(at + 2)),
                (
                    "cookie",
                    format!("__Host-signet={}; a={}", canary(at + 3), canary(at + 4)),
                ),
                ("user-agent", canary(at + 5)),
                ("origin", format!("https://{}.example", canary(at + 6))),
                ("accept-language", canary(at + 7)),
                ("x-forwarded-for", canary(at + 8)),
                ("tracestate", format!("own={}", canary(at + 9))),
                ("traceparent", "00-nonsense".to_owned()),
            ];
            let mut headers: Vec<(&str, &str)> =
                typed.iter().map(|(n, v)| (*n, v.as_str())).collect();
            if !media.is_empty() {
                headers.push(("content-type", media));
            }
            client
                .send(method, &url, &headers, body.into())
                .await
                .unwrap();
            asked += 1;
        }
    }
    // A secret that is right, too.
    let good = service_token(&base, &[]).await;
    assert_eq!(good.status, 200);
    asked += 1;
    server.signal("TERM");
    assert_eq!(server.end(), Some(0));
    let all = receiver.all();
    let spans = spans(&all);
    let requests = spans.iter().filter(|span| span["kind"] == 2).count();
    assert!(requests >= asked, "{requests} of {asked}");
    assert!(
        all.iter()
            .any(|one| one.path == "/v1/logs" && one.body.contains("answered the request"))
    );
    let issued = serde_json::from_slice::<Value>(&good.body).unwrap();
    let issued = issued["access_token"].as_str().unwrap().to_owned();
    for one in &all {
        for secret in ["canary", SECRET, &issued, "of-the-collector"] {
            let found = one
                .body
                .find(secret)
                .map(|at| &one.body[at.saturating_sub(300)..]);
            assert!(
                found.is_none(),
                "{}: {secret}: {:?}",
                one.path,
                found.map(|f| &f[..f.len().min(400)])
            );
        }
    }
    let log = server.log();
    assert!(
        !log.contains("of-the-collector") && !log.contains(SECRET),
        "{log}"
    );
}

#[tokio::test]
async fn a_caller_s_trace_goes_on_here_and_on_to_others_where_its_word_counts() {
    let receiver = Receiver::start(|path, _| {
        match path {
        "/jwks" => "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{\"keys\":[]}".into(),
        _ => TAKEN.into(),
    }
    });
    let dir = tempfile::tempdir().unwrap();
    let further = "parents = \"everybody\"\nsample = 0.0\nsample_per_second = 0\nmetrics = false\nlogs = false";
    let (_server, base) = watched(dir.path(), &receiver.url(), further);
    let unseen = service_token(&base, &[]).await;
    let header = signet_jws_part(r#"{"alg":"ES256","kid":"x","typ":"JWT"}"#);
    let claims = signet_jws_part(
        r#"{"iss":"keyed","sub":"keyed","aud":"https://id.example","exp":4000000000,"jti":"x"}"#,
    );
    let assertion = format!("{header}.{claims}.{}", signet_jws_part(&"x".repeat(64)));
    let fields = [
        ("grant_type", "client_credentials"),
        (
            "client_assertion_type",
            "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        ),
        ("client_assertion", assertion.as_str()),
    ];
    let sent = [
        ("traceparent", PARENT),
        ("tracestate", "vendor=of-the-caller"),
    ];
    let answer = token(&base, &sent, &fields).await;
    assert_eq!(answer.status, 401);
    let all = receiver.once(|all| of_request(&spans(all), &answer).is_some());
    let spans = spans(&all);
    assert!(of_request(&spans, &unseen).is_none(), "nobody asked for it");
    let whole = of_request(&spans, &answer).unwrap();
    assert_eq!(whole["traceId"], TRACE);
    assert_eq!(whole["parentSpanId"], "b7ad6b7169203331");
    assert_eq!(whole["traceState"], "vendor=of-the-caller");
    let call = spans
        .iter()
        .find(|span| span["name"] == "call")
        .expect("a call");
    assert_eq!(
        (&call["kind"], &call["traceId"]),
        (&3.into(), &TRACE.into())
    );
    assert_eq!(attribute(call, "server.address").unwrap(), "127.0.0.1");
    let fetched = all
        .iter()
        .find(|one| one.path == "/jwks")
        .expect("keys were asked for");
    let said = fetched.header("traceparent").expect("says its trace");
    assert_eq!(
        said,
        format!("00-{TRACE}-{}-01", call["spanId"].as_str().unwrap())
    );
    assert_eq!(fetched.header("tracestate"), Some("vendor=of-the-caller"));
}

/// base64url of a text, for a JWS that nobody believes.
fn signet_jws_part(text: &str) -> String {
    signet_encoding::base64url::encode(text.as_bytes())
}

#[tokio::test]
async fn a_stranger_s_trace_is_named_beside_one_of_our_own() {
    let receiver = Receiver::start(|_, _| TAKEN.into());
    let dir = tempfile::tempdir().unwrap();
    let (_server, base) = watched(dir.path(), &receiver.url(), "metrics = false\nlogs = false");
    let answer = service_token(&base, &[("traceparent", PARENT)]).await;
    let all = receiver.once(|all| of_request(&spans(all), &answer).is_some());
    let spans = spans(&all);
    let whole = of_request(&spans, &answer).unwrap();
    assert_ne!(whole["traceId"], TRACE);
    assert!(whole.get("parentSpanId").is_none());
    assert_eq!(whole["links"][0]["traceId"], TRACE);
}

#[tokio::test]
async fn what_a_collector_could_not_take_is_sent_again_and_what_waits_leaves_before_the_end() {
    let busy = "HTTP/1.1 503 Service Unavailable\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n";
    let receiver = Receiver::start(move |path, before| match (path, before) {
        ("/v1/traces", 0) => busy.into(),
        _ => TAKEN.into(),
    });
    let dir = tempfile::tempdir().unwrap();
    let further = "metrics = false\nlogs = false";
    let (mut server, base) = watched(dir.path(), &receiver.url(), further);
    let first = service_token(&base, &[]).await;
    let all = receiver.once(|all| all.len() >= 2);
    assert_eq!(all[0].body, all[1].body, "the same batch again");
    assert!(of_request(&spans(&all), &first).is_some());
    let last = service_token(&base, &[]).await;
    server.signal("TERM");
    assert_eq!(server.end(), Some(0));
    assert!(of_request(&spans(&receiver.all()), &last).is_some());
}

#[tokio::test]
async fn a_collector_that_is_down_slow_or_answers_nonsense_changes_no_answer() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let nonsense = Receiver::start(|_, before| match before % 3 {
        0 => "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n<nothing>".into(),
        1 => "what is this?\r\n\r\n".into(),
        _ => "HTTP/1.1 400 Bad Request\r\ncontent-length: 4\r\n\r\nnope".into(),
    });
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    for endpoint in [
        format!("http://{closed}"),
        format!("http://{}", silent.local_addr().unwrap()),
        nonsense.url(),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let (mut server, base) = watched(dir.path(), &endpoint, "sample = 1.0");
        for _ in 0..50 {
            assert_eq!(service_token(&base, &[]).await.status, 200, "{endpoint}");
        }
        if endpoint == nonsense.url() {
            // One that refuses a batch for good is not asked again, and what was lost is counted.
            let client = HttpClient::new(&[]).unwrap();
            let started = Instant::now();
            loop {
                service_token(&base, &[]).await;
                let url = format!("{base}/metrics");
                let said = client.get(&url, &[]).await.unwrap();
                let said = text(&said.body);
                let lost = said.lines().any(|line| {
                    line.starts_with("signet_telemetry_dropped_total{") && !line.ends_with(" 0")
                });
                if lost {
                    break;
                }
                assert!(started.elapsed() < PATIENCE, "{said}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        server.signal("TERM");
        assert_eq!(server.end(), Some(0), "{endpoint}");
    }
}

#[tokio::test]
async fn a_development_server_shows_the_way_of_a_request_to_its_administrator() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let fields = [("grant_type", "client_credentials")];
    let answer = dev.post("/token", Some("service"), &fields).await;
    let id = answer.header("x-request-id").unwrap();
    let show = |id: &str, further: &[&str]| {
        let mut all = vec!["dev", "trace", id, "--data-dir", dev.dir()];
        all.extend(further);
        signet(&all)
    };
    let shown = show(id, &[]);
    let (out, err) = (text(&shown.stdout), text(&shown.stderr));
    assert_eq!(shown.status.code(), Some(0), "{err}");
    assert!(out.starts_with(&format!("request {id}, trace ")), "{out}");
    for step in [
        "  request  ",
        "    authenticate the client",
        "    sign the access token",
        "http.route=/token",
    ] {
        assert!(out.contains(step), "{step} in {out}");
    }
    let shown = json(&show(id, &["--json"]));
    assert_eq!(shown["request_id"], id);
    let trace = shown["trace_id"].as_str().unwrap();
    assert_eq!(json(&show(trace, &["--json"]))["request_id"], id);
    // A person's way, with what it waited for.
    let logged_in = signet(&["dev", "token", "--client", "web", "--data-dir", dev.dir()]);
    assert_eq!(
        logged_in.status.code(),
        Some(0),
        "{}",
        text(&logged_in.stderr)
    );

    let none = show("AAAAAAAAAAAAAAAA", &[]);
    assert_eq!(none.status.code(), Some(1), "{}", text(&none.stderr));
    assert_eq!(show("../users", &[]).status.code(), Some(2));
    // Nobody else gets it.
    let url = format!("{}/admin/v1/traces/{id}", dev.url);
    let nobody = dev.client().get(&url, &[]).await.unwrap();
    assert_eq!(nobody.status, 401);
    let service = format!("Bearer {}", dev.service_token().await);
    let other = dev
        .client()
        .get(&url, &[("authorization", &service)])
        .await
        .unwrap();
    assert!(
        [401, 403].contains(&other.status.as_u16()),
        "{}",
        other.status
    );
}

//! The stream of revocations: who may read it, what it says, and when it ends.
use crate::common::{
    SECRET, Server, Setup, block_on, client, client::Call, failing::FullDisk, nodes::Cut, scope,
};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use signet_http::{Body, Connection, Limits, ListenerKind, Serves};
use signet_oauth::client::AuthMethod;
use signet_oauth::id::{GrantId, Jti};
use signet_realm::state::Realm;
use signet_request::http::service::Service;
use signet_store::{MAX_BEHIND, Subject};
use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};

const REVOCATIONS: &str = "signet:revocations";

fn server() -> Server {
    let mut reader = client("reader");
    reader.scope = scope(REVOCATIONS);
    let mut public = client("public");
    public.scope = scope(REVOCATIONS);
    public.token_endpoint_auth_method = AuthMethod::None;
    Server::start(Setup {
        clients: vec![client("service"), reader, public],
        plain: true,
        ..Setup::default()
    })
}

/// The lines of an open stream.
struct Lines(BufReader<TcpStream>);

impl Lines {
    fn open(server: &Server) -> Lines {
        Lines::open_with(server, "")
    }

    fn open_with(server: &Server, form: &str) -> Lines {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let authorization = client::basic("reader", SECRET);
        let target = server.place_of("/revocations");
        let name = server.name(server.address.port());
        let head = format!(
            "POST {target} HTTP/1.1\r\nhost: {name}\r\nauthorization: {authorization}\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
            form.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream);
        let mut status = String::new();
        lines.read_line(&mut status).unwrap();
        assert_eq!(status, "HTTP/1.1 200 OK\r\n");
        Lines(lines)
    }

    /// The next object, whatever the chunks around it; None at the end.
    fn next(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            // A connection that is reset has ended, too.
            if self.0.read_line(&mut line).unwrap_or(0) == 0 || line == "0\r\n" {
                return None;
            }
            if line.starts_with('{') {
                return Some(serde_json::from_str(&line).unwrap());
            }
        }
    }

    /// The next object that is no heartbeat.
    fn said(&mut self) -> Option<Value> {
        loop {
            let object = self.next()?;
            if object.get("heartbeat").is_none() {
                return Some(object);
            }
        }
    }
}

fn end(realm: &Realm) -> u64 {
    realm.now() + 600
}

fn revoke(realm: &Realm, subject: Subject, end: u64) {
    block_on(realm.revocations.revoke(subject, end, realm.now())).unwrap();
}

#[test]
fn only_an_authenticated_client_with_the_scope_may_read_it() {
    let server = server();
    let call = || Call::post("/revocations").form(&[]);
    call().send(&server).expect_error(401, "invalid_client");
    call()
        .basic("reader", "wrong")
        .send(&server)
        .expect_error(401, "invalid_client");
    Call::post("/revocations")
        .form(&[("client_id", "public")])
        .send(&server)
        .expect_error(401, "invalid_client");
    call()
        .basic("service", SECRET)
        .send(&server)
        .expect_error(403, "insufficient_scope");
    Call::get("/revocations").send(&server).expect(405);
    let metadata = Call::get("/.well-known/oauth-authorization-server").send(&server);
    assert_eq!(
        metadata.member("signet_revocation_stream_uri"),
        format!("{}/revocations", server.issuer())
    );
}

// HN1: the gate judges by what is said here, and a node that is cut off keeps speaking.
#[test]
fn a_node_that_does_not_hear_the_others_says_until_when_it_did_and_not_that_it_told_everything() {
    let cut = Arc::new(Cut::default());
    cut.ago.store(u64::MAX, SeqCst);
    let mut reader = client("reader");
    reader.scope = scope(REVOCATIONS);
    let server = Server::start(Setup {
        clients: vec![reader],
        plain: true,
        nodes: Some(cut.clone()),
        ..Setup::default()
    });
    let mut lines = Lines::open(&server);
    revoke(
        &server.realm,
        Subject::Session("s".into()),
        end(&server.realm),
    );
    // Everything that it knows, and signs of life; not that this was all.
    let (mut told, mut beaten) = (false, false);
    while !told || !beaten {
        let line = lines.next().unwrap();
        assert!(line.get("synced").is_none(), "{line}");
        match line.get("heartbeat") {
            Some(_) => {
                assert_eq!(line["heard"], 0);
                beaten = true;
            }
            None => told = line["sid"] == "s",
        }
    }
    // The others are heard again.
    cut.ago.store(1, SeqCst);
    let synced = lines.said().unwrap();
    let ago = |line: &Value, what: &str| {
        line[what].as_u64().expect("a time") - line["heard"].as_u64().expect("a time")
    };
    assert_eq!(ago(&synced, "synced"), 1);
    // And they are not: the time until when they were stands still.
    cut.ago.store(40, SeqCst);
    let beat = loop {
        let line = lines.next().unwrap();
        if line["heard"] != synced["heard"] && ago(&line, "heartbeat") == 40 {
            break line;
        }
    };
    assert!(beat["heartbeat"].is_u64());
}

// HN1: a node that would itself call no token active promises nothing to readers.
#[test]
fn a_stream_neither_begins_nor_goes_on_where_the_node_may_not_speak() {
    let server = server();
    let mut lines = Lines::open(&server);
    assert!(lines.said().unwrap()["synced"].is_u64());
    server.realm.set_deaf(true);
    assert_eq!(lines.said(), None);
    let call = Call::post("/revocations").form(&[]).basic("reader", SECRET);
    call.send(&server)
        .expect_error(503, "temporarily_unavailable");
    server.realm.set_deaf(false);
    let mut lines = Lines::open(&server);
    assert!(lines.said().unwrap()["synced"].is_u64());
    server.realm.set_removed();
    assert_eq!(lines.said(), None);
}

// LN3: a balancer would send it logins, each of which is refused.
#[test]
fn a_full_disk_is_no_reason_to_be_ready_without_a_majority() {
    let (cut, store) = (Arc::new(Cut::default()), Arc::new(FullDisk::default()));
    let server = Server::start(Setup {
        nodes: Some(cut.clone()),
        store: Some(store.clone()),
        ..Setup::default()
    });
    let ready = || Call::get("/health/ready").send(&server);
    store.full.store(true, SeqCst);
    assert!(ready().expect(200).text().contains("degraded"));
    cut.minority.store(true, SeqCst);
    let said = ready().expect(503);
    assert!(!said.text().contains("degraded"), "{}", said.text());
    assert!(said.text().contains("sync: minority"), "{}", said.text());
}

#[test]
pub fn whoever_waits_for_a_revocation_hears_who_has_it_in_effect() {
    let server = server();
    let mut lines = Lines::open_with(&server, "acknowledge=true");
    let stream = lines.said().unwrap()["stream"].as_str().unwrap().to_owned();
    assert!(lines.said().unwrap()["synced"].is_u64());
    // One that does not acknowledge is not asked, and has not heard.
    let mut silent = Lines::open(&server);
    assert!(silent.said().unwrap()["synced"].is_u64());

    let end = end(&server.realm);
    revoke(&server.realm, Subject::Session("s".into()), end);
    let realm = server.realm.clone();
    let asking =
        std::thread::spawn(move || block_on(realm.revocation_streams.ask(Duration::from_secs(30))));
    // What was revoked before comes first.
    assert_eq!(lines.said().unwrap()["sid"], "s");
    let number = lines.said().unwrap()["acknowledge"].to_string();
    let acknowledge = |stream: &str, number: &str| {
        Call::post("/revocations")
            .form(&[("stream", stream), ("acknowledged", number)])
            .basic("reader", SECRET)
            .send(&server)
    };
    acknowledge("AAAAAAAAAAAAAAAAAAAAAA", &number).expect_error(400, "invalid_request");
    acknowledge("?", &number).expect_error(400, "invalid_request");
    acknowledge(&stream, "-1").expect_error(400, "invalid_request");
    acknowledge(&stream, &number).expect(200);
    let heard = asking.join().unwrap();
    assert_eq!(heard.len(), 2);
    assert_eq!(
        heard.iter().filter(|heard| heard.after.is_some()).count(),
        1
    );
    assert_eq!(silent.said().unwrap()["sid"], "s");
}

#[test]
pub fn it_says_what_counts_already_and_then_each_kind_as_it_happens() {
    let server = server();
    let end = end(&server.realm);
    revoke(&server.realm, Subject::Grant(GrantId::new([1; 16])), end);
    let mut lines = Lines::open(&server);
    assert_eq!(
        lines.said(),
        Some(json!({"grant_id": "AQEBAQEBAQEBAQEBAQEBAQ", "end": end}))
    );
    assert!(lines.said().unwrap()["synced"].is_u64());
    for (subject, said) in [
        (
            Subject::Jti(Jti::new([2; 16])),
            json!({"jti": "AgICAgICAgICAgICAgICAg", "end": end}),
        ),
        (
            Subject::Session("s \"1\"".into()),
            json!({"sid": "s \"1\"", "end": end}),
        ),
        (
            Subject::User("alice".into(), 5),
            json!({"sub": "alice", "epoch_ms": 5, "end": end}),
        ),
        (
            Subject::Client("web".into(), 6),
            json!({"client_id": "web", "epoch_ms": 6, "end": end}),
        ),
        (
            Subject::AgentGrant([3; 32]),
            json!({"agent_grant": "AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM", "end": end}),
        ),
        (
            Subject::Agent("agent:x".into(), 7),
            json!({"agent": "agent:x", "epoch_ms": 7, "end": end}),
        ),
    ] {
        revoke(&server.realm, subject, end);
        assert_eq!(lines.said(), Some(said));
    }
    let mut beats = 0;
    while beats < 2 {
        beats += u32::from(lines.next().unwrap()["heartbeat"].is_u64());
    }
}

#[test]
fn it_ends_when_the_clients_record_changes_and_when_the_server_stops() {
    let server = server();
    let mut lines = Lines::open(&server);
    assert!(lines.said().unwrap()["synced"].is_u64());
    server.configure(|_, declared| {
        let mut reader = (*declared.clients["reader"]).clone();
        reader.revision += 1;
        declared.clients.insert("reader".into(), Arc::new(reader));
    });
    assert_eq!(lines.said(), None);
    let mut lines = Lines::open(&server);
    assert!(lines.said().unwrap()["synced"].is_u64());
    server.realm.revocation_streams.end();
    assert_eq!(lines.said(), None);
}

#[test]
fn a_reader_that_takes_nothing_is_dropped_and_memory_is_bounded() {
    let server = server();
    let service = Service::new(
        server.realm.clone(),
        crate::common::routes(),
        Limits::default(),
    );
    let connection = Connection {
        peer: [127, 0, 0, 1].into(),
        listener_kind: ListenerKind::Public,
        is_tls: false,
        certificate: None,
    };
    let request = http::Request::post("/revocations")
        .header("authorization", client::basic("reader", SECRET))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::default())
        .unwrap();
    block_on(async {
        let response = service.respond(&connection, request).await;
        assert_eq!(response.status(), 200);
        let mut body = response.into_body();
        let mut said = Vec::new();
        while !said.windows(8).any(|piece| piece == b"\"synced\"") {
            let frame = body.frame().await.expect("goes on").unwrap();
            said.extend_from_slice(&frame.into_data().unwrap());
        }
        let end = end(&server.realm);
        let changes = 2 * MAX_BEHIND;
        for number in 0..changes as u64 {
            let subject = Subject::Client(format!("client-{number}"), number);
            server
                .realm
                .revocations
                .revoke(subject, end, server.realm.now())
                .await
                .unwrap();
            tokio::task::yield_now().await;
        }
        let read = tokio::time::timeout(Duration::from_secs(60), body.collect());
        let said = read.await.expect("the stream ends").unwrap().to_bytes();
        let lines = said.iter().filter(|byte| **byte == b'\n').count();
        assert!(lines < changes, "{lines}");
    });
}

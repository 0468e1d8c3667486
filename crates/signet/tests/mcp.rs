//! `signet mcp`: a real process, spoken to over its standard input and output.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::support::{SIGNET, text};
use serde_json::{Value, json};

const PASSPHRASE: &str = "a passphrase for tests";

/// Two identities, and a place for what they make.
struct Place {
    directory: tempfile::TempDir,
}

fn run(arguments: &[&str]) -> std::process::Output {
    Command::new(SIGNET)
        .args(arguments)
        .env("SIGNET_PASSPHRASE", PASSPHRASE)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

impl Place {
    fn new() -> Place {
        let place = Place {
            directory: tempfile::tempdir().unwrap(),
        };
        for name in ["alice", "bob"] {
            let file = place.path(&format!("{name}.aid"));
            let made = run(&[
                "agent",
                "create",
                "--name",
                name,
                "--out",
                file.to_str().unwrap(),
            ]);
            assert!(made.status.success(), "{}", text(&made.stderr));
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    fn document(&self, name: &str) -> Value {
        let file = self.path(&format!("{name}.aid"));
        let shown = run(&["agent", "show", "--document", file.to_str().unwrap()]);
        serde_json::from_slice(&shown.stdout).unwrap()
    }
}

/// A host: one process of the server, and what it says.
struct Host {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
    /// Sent along with each request (protocol 2026-07-28).
    meta: Option<Value>,
}

impl Host {
    fn start(place: &Place, more: &[&str]) -> Host {
        let identity = place.path("alice.aid");
        let mut child = Command::new(SIGNET)
            .args(["mcp", "--identity", identity.to_str().unwrap()])
            .args(more)
            .env("SIGNET_PASSPHRASE", PASSPHRASE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Host {
            child,
            input,
            lines,
            next: 1,
            meta: None,
        }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn hear(&self) -> Value {
        let line = self
            .lines
            .recv_timeout(Duration::from_secs(60))
            .expect("the server answers");
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"))
    }

    fn request(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.say(&message.to_string());
        id
    }

    /// The answer to a request, whatever the server asks meanwhile being answered by `reply`.
    fn ask(&mut self, method: &str, params: Value, reply: impl Fn(&Value) -> Value) -> Value {
        let id = self.request(method, params);
        loop {
            let message = self.hear();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            if message.get("id").is_some() {
                assert_eq!(message["method"], "elicitation/create", "{message}");
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": reply(&message["params"]) });
                self.say(&answer.to_string());
            }
        }
    }

    /// As hosts begin up to protocol version 2025-11-25.
    fn initialize(&mut self, version: &str, capabilities: Value) -> Value {
        let params = json!({
            "protocolVersion": version,
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = self.ask("initialize", params, no_question);
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        answer["result"].clone()
    }

    fn call(&mut self, tool: &str, arguments: Value, reply: impl Fn(&Value) -> Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.ask("tools/call", params, reply);
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].clone()
    }

    fn end(mut self) -> Option<i32> {
        self.input.take();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn no_question(question: &Value) -> Value {
    panic!("nothing needs approval here: {question}")
}

fn approve(question: &Value) -> Value {
    assert!(question["message"].as_str().unwrap().contains("alice"));
    assert_eq!(
        question["requestedSchema"]["properties"]["approve"]["type"],
        "boolean"
    );
    json!({ "action": "accept", "content": { "approve": true } })
}

fn receipt() -> Value {
    json!({ "action": "mail.send", "content": "the message", "outcome": "success" })
}

fn grant_to(document: Value) -> Value {
    json!({ "to": document, "capabilities": ["read:calendar"], "expires_in": "1h" })
}

/// A host that can ask, begun.
fn asking(place: &Place, more: &[&str]) -> Host {
    let mut host = Host::start(place, more);
    host.initialize("2025-11-25", json!({ "elicitation": {} }));
    host
}

fn error_of(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    result["structuredContent"]["error"].as_str().unwrap()
}

#[test]
fn a_host_learns_who_it_is_and_what_it_can_do() {
    let place = Place::new();
    let mut host = Host::start(&place, &[]);
    let begun = host.initialize("2025-11-25", json!({}));
    assert_eq!(begun["protocolVersion"], "2025-11-25");
    assert_eq!(begun["serverInfo"]["name"], "signet");
    assert!(begun["capabilities"]["tools"].is_object());
    let tools = host.ask("tools/list", json!({}), no_question)["result"]["tools"].clone();
    let names: Vec<_> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "who_am_i",
            "list_grants",
            "check_grant",
            "sign_receipt",
            "make_grant"
        ]
    );
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
        assert!(
            tool["description"].as_str().is_some_and(|d| d.len() > 20),
            "{tool}"
        );
    }
    let me = host.call("who_am_i", json!({}), no_question);
    let own = place.document("alice");
    assert_eq!(me["structuredContent"]["document"]["id"], own["id"]);
    assert_eq!(me["structuredContent"]["name"], "alice");
    // The text is the same answer, for hosts that read no structure.
    let said: Value = serde_json::from_str(me["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(said, me["structuredContent"]);
    assert_eq!(host.end(), Some(0));
}

#[test]
fn a_receipt_is_signed_when_a_person_approves_it_and_verifies_with_the_command_line() {
    let place = Place::new();
    let mut host = asking(&place, &[]);
    let first = host.call("sign_receipt", receipt(), approve);
    let signed = &first["structuredContent"];
    assert_eq!(signed["approved_by"], "person");
    let mut next = receipt();
    next["previous"] = signed["object"].clone();
    let second = host.call("sign_receipt", next, approve);
    let document = place.write("alice.json", &place.document("alice").to_string());
    let one = place.write("1.json", &signed["object"].to_string());
    let two = place.write("2.json", &second["structuredContent"]["object"].to_string());
    let verified = run(&[
        "agent",
        "receipt",
        "verify",
        "--identity",
        document.to_str().unwrap(),
        one.to_str().unwrap(),
        two.to_str().unwrap(),
    ]);
    assert!(verified.status.success(), "{}", text(&verified.stderr));
}

#[test]
fn nothing_is_signed_without_approval() {
    let place = Place::new();
    let mut host = asking(&place, &[]);
    let answers = [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": {} }),
        json!({ "action": "accept", "content": { "approve": false } }),
        json!({ "action": "accept", "content": { "approve": "true" } }),
    ];
    for answer in answers {
        let result = host.call("sign_receipt", receipt(), |_| answer.clone());
        assert_eq!(error_of(&result), "not_approved");
        assert!(result["structuredContent"].get("object").is_none());
    }
    let result = host.call(
        "make_grant",
        grant_to(place.document("bob")),
        |_| json!({ "action": "decline" }),
    );
    assert_eq!(error_of(&result), "not_approved");
    // A host that cannot ask: refused, not allowed.
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let mut mute = Host::start(&place, &[]);
        mute.initialize("2025-06-18", capabilities);
        let result = mute.call("sign_receipt", receipt(), no_question);
        assert_eq!(error_of(&result), "approval_unavailable");
        let result = mute.call("make_grant", grant_to(place.document("bob")), no_question);
        assert_eq!(error_of(&result), "approval_unavailable");
    }
}

#[test]
fn a_policy_says_what_needs_no_person_and_what_not_even_a_person_may() {
    let place = Place::new();
    let policy = place.write(
        "policy.toml",
        r#"
        [[rule]]
        tool = "sign_receipt"
        action = "mail.*"
        verdict = "allow"

        [[rule]]
        tool = "make_grant"
        longest = "1h"
        verdict = "refuse"

        [[rule]]
        tool = "make_grant"
        capability = "read:calendar"
        verdict = "ask"
        "#,
    );
    let mut host = asking(&place, &["--policy", policy.to_str().unwrap()]);
    let result = host.call("sign_receipt", receipt(), no_question);
    assert_eq!(result["structuredContent"]["approved_by"], "policy");
    let mut other = receipt();
    other["action"] = "payment.send".into();
    assert_eq!(
        error_of(&host.call("sign_receipt", other, no_question)),
        "refused_by_policy"
    );
    let result = host.call("make_grant", grant_to(place.document("bob")), approve);
    assert_eq!(result["structuredContent"]["approved_by"], "person");
    let mut wider = grant_to(place.document("bob"));
    wider["capabilities"] = json!(["read:calendar", "write:calendar"]);
    assert_eq!(
        error_of(&host.call("make_grant", wider, no_question)),
        "refused_by_policy"
    );
    let mut longer = grant_to(place.document("bob"));
    longer["expires_in"] = "2h".into();
    assert_eq!(
        error_of(&host.call("make_grant", longer, no_question)),
        "refused_by_policy"
    );
    // A policy that cannot be understood begins nothing.
    let broken = place.write(
        "broken.toml",
        "[[rule]]\ntool = \"sign_receipt\"\nverdit = \"allow\"\n",
    );
    let mut refused = Host::start(&place, &["--policy", broken.to_str().unwrap()]);
    refused.input.take();
    assert_eq!(refused.end(), Some(2));
}

#[test]
fn grants_are_made_listed_and_checked() {
    let place = Place::new();
    // Bob grants Alice; she holds it, and delegates to nobody beyond it.
    let to = place.write("alice.json", &place.document("alice").to_string());
    let held = place.path("held");
    std::fs::create_dir(&held).unwrap();
    let bob = place.path("bob.aid");
    let file = held.join("from-bob.json");
    let made = run(&[
        "agent",
        "grant",
        "--identity",
        bob.to_str().unwrap(),
        "--to",
        to.to_str().unwrap(),
        "--capability",
        "read:*",
        "--expires-in",
        "1h",
        "--max-depth",
        "1",
        "--out",
        file.to_str().unwrap(),
    ]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    std::fs::write(held.join("notes.json"), "{}").unwrap();
    let mut host = asking(&place, &["--grants", held.to_str().unwrap()]);
    let listed = host.call("list_grants", json!({}), no_question);
    let grants = listed["structuredContent"]["grants"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(grants.len(), 1);
    assert_eq!(grants[0]["capabilities"], json!(["read:*"]));
    assert_eq!(grants[0]["status"], "current");

    let carol = place.path("carol.aid");
    run(&[
        "agent",
        "create",
        "--name",
        "carol",
        "--out",
        carol.to_str().unwrap(),
    ]);
    let mut wanted = grant_to(place.document("carol"));
    wanted["parent"] = grants[0]["grant"].clone();
    let delegated = host.call("make_grant", wanted.clone(), approve);
    let delegated = delegated["structuredContent"]["object"].clone();
    let chain = json!([grants[0]["grant"], delegated]);
    let check = |host: &mut Host, capability: &str, grants: &Value, root: Value| {
        let arguments = json!({ "root": root, "capability": capability, "grants": grants });
        host.call("check_grant", arguments, no_question)["structuredContent"].clone()
    };
    let accepted = check(&mut host, "read:calendar", &chain, place.document("bob"));
    assert_eq!(accepted["accepted"], true, "{accepted}");
    assert!(
        accepted["not_checked"]
            .as_array()
            .unwrap()
            .contains(&json!("possession"))
    );
    let refused = check(&mut host, "write:calendar", &chain, place.document("bob"));
    assert_eq!(
        (&refused["accepted"], &refused["reason"]),
        (&json!(false), &json!("capability_not_granted"))
    );
    let refused = check(&mut host, "read:calendar", &chain, place.document("carol"));
    assert_eq!(refused["accepted"], false, "{refused}");
    // Beyond what is held: not asked for, and not signed.
    wanted["capabilities"] = json!(["write:calendar"]);
    assert_eq!(
        error_of(&host.call("make_grant", wanted, no_question)),
        "capability_widened"
    );
    // What is held by others is not delegated.
    let mut foreign = grant_to(place.document("bob"));
    foreign["parent"] = chain[1].clone();
    assert_eq!(
        error_of(&host.call("make_grant", foreign, no_question)),
        "invalid_arguments"
    );
}

#[test]
fn with_the_current_version_the_question_is_the_answer_and_counts_for_one_call_once() {
    let place = Place::new();
    let mut host = Host::start(&place, &[]);
    host.meta = Some(json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    }));
    let discovered = host.ask("server/discover", json!({}), no_question)["result"].clone();
    let versions = discovered["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{discovered}");
    let asked = host.call("sign_receipt", receipt(), no_question);
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["approval"];
    assert_eq!(question["method"], "elicitation/create");
    let state = asked["requestState"].clone();
    let again = |host: &mut Host, arguments: Value, state: &Value, answer: Value| {
        let params = json!({
            "name": "sign_receipt", "arguments": arguments, "requestState": state,
            "inputResponses": { "approval": answer },
        });
        host.ask("tools/call", params, no_question)["result"].clone()
    };
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    let signed = again(&mut host, receipt(), &state, yes.clone());
    assert_eq!(
        signed["structuredContent"]["approved_by"], "person",
        "{signed}"
    );
    // Used.
    assert_eq!(
        error_of(&again(&mut host, receipt(), &state, yes.clone())),
        "approval_mismatch"
    );
    // Of another call.
    let asked = host.call("sign_receipt", receipt(), no_question);
    let mut other = receipt();
    other["content"] = "another message".into();
    assert_eq!(
        error_of(&again(
            &mut host,
            other,
            &asked["requestState"],
            yes.clone()
        )),
        "approval_mismatch"
    );
    // Made up, and declined.
    assert_eq!(
        error_of(&again(&mut host, receipt(), &json!("AAAA"), yes.clone())),
        "approval_mismatch"
    );
    let asked = host.call("sign_receipt", receipt(), no_question);
    let no = json!({ "action": "decline" });
    assert_eq!(
        error_of(&again(&mut host, receipt(), &asked["requestState"], no)),
        "not_approved"
    );
    // Without the capability there is no question.
    host.meta.as_mut().unwrap()["io.modelcontextprotocol/clientCapabilities"] = json!({});
    assert_eq!(
        error_of(&host.call("sign_receipt", receipt(), no_question)),
        "approval_unavailable"
    );
}

#[test]
fn malformed_input_is_answered_precisely_and_ends_nothing() {
    let place = Place::new();
    let mut host = asking(&place, &[]);
    let wrong = [
        ("sign_receipt", json!({}), "missing field `action`"),
        (
            "sign_receipt",
            json!({ "action": "a", "content": "c", "key": "k" }),
            "unknown field `key`",
        ),
        (
            "sign_receipt",
            json!({ "action": 1, "content": "c" }),
            "expected a string",
        ),
        (
            "sign_receipt",
            json!({ "action": "a", "content": "c", "previous": {} }),
            "previous",
        ),
        (
            "make_grant",
            json!({ "to": {}, "capabilities": ["read:x"], "expires_in": "1h" }),
            "to",
        ),
        (
            "check_grant",
            json!({ "root": {}, "capability": "read:x", "grants": [] }),
            "root",
        ),
        (
            "who_am_i",
            json!({ "identity": "/etc/passwd" }),
            "unknown field `identity`",
        ),
    ];
    for (tool, arguments, expected) in wrong {
        let result = host.call(tool, arguments, no_question);
        assert_eq!(error_of(&result), "invalid_arguments", "{tool}");
        let said = result["structuredContent"]["error_description"]
            .as_str()
            .unwrap();
        assert!(said.contains(expected), "{tool}: {said}");
    }
    let mut grant = grant_to(place.document("bob"));
    for (member, value) in [
        ("expires_in", json!("soon")),
        ("capabilities", json!(["everything"])),
        ("constraints", json!(["x"])),
    ] {
        let before = grant[member].clone();
        grant[member] = value;
        let result = host.call("make_grant", grant.clone(), no_question);
        assert_eq!(error_of(&result), "invalid_arguments", "{member}");
        grant[member] = before;
    }
    let unknown = host.ask(
        "tools/call",
        json!({ "name": "open_identity", "arguments": {} }),
        no_question,
    );
    assert_eq!(unknown["error"]["code"], -32602);
    let unknown = host.ask("keys/export", json!({}), no_question);
    assert!(unknown["error"]["code"].is_i64(), "{unknown}");
    // Lines that are no messages; the session goes on.
    host.say("this is no JSON");
    host.say("[]");
    host.say("{\"jsonrpc\":\"2.0\"}");
    let id = host.request("tools/call", json!({ "name": "who_am_i", "arguments": {} }));
    loop {
        let message = host.hear();
        if message["id"] == id {
            assert_eq!(message["result"]["structuredContent"]["name"], "alice");
            break;
        }
        assert!(message["error"].is_object(), "{message}");
    }
}

#[test]
fn there_is_no_passphrase_but_the_persons() {
    let place = Place::new();
    let identity = place.path("alice.aid");
    let start = |passphrase: Option<&str>, identity: &Path| {
        let mut command = Command::new(SIGNET);
        command
            .args(["mcp", "--identity", identity.to_str().unwrap()])
            .env_remove("SIGNET_PASSPHRASE");
        if let Some(passphrase) = passphrase {
            command.env("SIGNET_PASSPHRASE", passphrase);
        }
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
        (output.status.code(), text(&output.stderr))
    };
    let (code, said) = start(None, &identity);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("SIGNET_PASSPHRASE"), "{said}");
    assert_eq!(start(Some("wrong"), &identity).0, Some(1));
    // The next key signs nothing yet.
    let next = place.path("alice.aid.next");
    assert_eq!(start(Some(PASSPHRASE), &next).0, Some(2));
    assert_eq!(start(Some(PASSPHRASE), &identity).0, Some(0));
}

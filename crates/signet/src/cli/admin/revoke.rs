//! `signet revoke`: at once, everywhere, with a receipt.

use clap::Args;
use http::Method;
use serde_json::{Map, Value};

use super::{account, noun::Leave};
use crate::cli::{Failure, Output, block_on};
use crate::moment::Moment;
use signet_admin_client::{Session, Target};
use signet_terminal::output;

/// `signet revoke ...`
#[derive(Debug, Args)]
#[group(id = "what", required = true, multiple = true)]
pub struct Revoke {
    /// Everything of a user, by name, mail address or id: sessions, grants and tokens.
    #[arg(long, value_name = "NAME", group = "what", conflicts_with_all = ["client", "agent", "delegation", "session"])]
    user: Option<String>,
    /// Everything of a client.
    #[arg(long, value_name = "CLIENT_ID", group = "what", allow_hyphen_values = true, conflicts_with_all = ["agent", "delegation", "session"])]
    client: Option<String>,
    /// Every token that an agent acts in.
    #[arg(long, value_name = "AGENT_ID", group = "what", conflicts_with_all = ["delegation", "session"])]
    agent: Option<String>,
    /// Every token that was issued under a delegation of an agent's chain.
    #[arg(long, value_name = "GRANT_ID", group = "what", allow_hyphen_values = true, conflicts_with_all = ["session", "before"])]
    delegation: Option<String>,
    /// A login session, and every token that was issued in it.
    #[arg(
        long,
        value_name = "SID",
        group = "what",
        allow_hyphen_values = true,
        conflicts_with = "before"
    )]
    session: Option<String>,
    /// Only what was issued before this moment: Unix seconds, or 2026-11-22T10:00:00Z. Alone: of
    /// everybody.
    #[arg(long, value_name = "TIME", group = "what", value_parser = Moment::parse)]
    before: Option<Moment>,
    #[command(flatten)]
    leave: Leave,
    #[command(flatten)]
    target: Target,
}

/// `signet revoke ...`
pub fn revoke(command: Revoke, output: &Output) -> Result<(), Failure> {
    let of_one = command.user.is_some()
        || command.client.is_some()
        || command.agent.is_some()
        || command.delegation.is_some()
        || command.session.is_some();
    // What is revoked of one can be had again by a login; a script that answers an incident does
    // not stop here. Everything of everybody is another matter.
    match (&command.user, of_one) {
        (Some(name), _) => {
            let question = format!("End every session, grant and token of {name}?");
            command.leave.ask_a_person(&question)?;
        }
        (None, true) => {}
        (None, false) => {
            let question = "Revoke everything that was issued to anybody before then?";
            command.leave.ask(question)?;
        }
    }
    block_on(Session::with(&command.target, async |session| {
        let mut body = Map::new();
        if let Some(name) = &command.user {
            body.insert("user".into(), account::find(session, name).await?.into());
        }
        let named = [
            ("client", &command.client),
            ("agent", &command.agent),
            ("delegation", &command.delegation),
            ("session", &command.session),
        ];
        for (name, value) in named {
            if let Some(value) = value {
                body.insert(name.into(), value.as_str().into());
            }
        }
        if let Some(before) = command.before {
            body.insert("before".into(), before.0.into());
        }
        let body = Value::Object(body);
        let answer = session
            .call(Method::POST, "/revocations", Some(&body), None)
            .await?;
        let missing = missing(&answer.value);
        if missing.is_empty() {
            return output.print(&answer.value, || shown(&answer.value));
        }
        // What was revoked stays revoked; that somebody could not be notified yet is a "no" all the
        // same.
        if !output.json {
            output.print(&answer.value, || shown(&answer.value))?;
        }
        let said = format!("revoked, and not yet confirmed by {}", missing.join("; "));
        Err(Failure::no("unreachable", said).with(answer.value))
    }))?
}

fn entries<'a>(answer: &'a Value, member: &str) -> &'a [Value] {
    answer[member].as_array().map_or(&[], Vec::as_slice)
}

/// Who has it in effect.
fn shown(answer: &Value) -> String {
    let row = |kind: &str, entry: &Value| {
        let ms = entry["ms"].as_f64().unwrap_or_default();
        let name = entry["name"].as_str().unwrap_or_default();
        vec![kind.to_owned(), name.to_owned(), format!("{ms:.1}")]
    };
    let nodes = entries(answer, "nodes").iter().map(|e| row("node", e));
    let readers = entries(answer, "readers").iter().map(|e| row("reader", e));
    let rows: Vec<Vec<String>> = nodes.chain(readers).collect();
    output::table(&["in effect at", "name", "ms"], &rows)
}

/// Who has not said that it is in effect there.
fn missing(answer: &Value) -> Vec<String> {
    let mut missing: Vec<String> = entries(answer, "unreachable")
        .iter()
        .filter_map(Value::as_str)
        .map(|node| format!("node {node}"))
        .collect();
    for reader in entries(answer, "unheard") {
        let node = reader["node"].as_str().unwrap_or_default();
        missing.push(match reader["client_id"].as_str() {
            Some(client) => format!("{client}, which reads the stream of {node}"),
            None => format!("the readers of {node}"),
        });
    }
    missing
}

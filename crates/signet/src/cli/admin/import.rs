//! `signet user import`: the accounts of a file, line by line.
//!
//! The whole file is read before anything is sent, so that a line that is no JSON object is
//! reported while nothing has been done. Then lines go to the server some at a time, and each is
//! judged by itself.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use http::Method;
use serde_json::{Map, Value, json};
use signet_admin::MAX_IMPORTED;

use crate::cli::{Failure, Output, block_on, output};
use signet_admin_client::{Session, Target};
use signet_terminal::progress::Progress;

/// Where the server takes them.
const PATH: &str = "/user-import";
/// Longest line, in bytes.
pub const MAX_LINE_BYTES: usize = 64 * 1024;
/// Bytes of lines that are sent at once: the server's bound of a body, with room to spare.
const BYTES_AT_ONCE: usize = 96 * 1024;

/// The outcome of the lines.
#[derive(Default)]
struct Done {
    imported: u64,
    existing: u64,
    refused: Vec<Value>,
}

/// Does the command.
pub fn run(file: &Path, target: &Target, output: &Output) -> Result<(), Failure> {
    let total = check(file)?;
    block_on(Session::with(target, async |session| {
        import(session, file, total, output).await
    }))?
}

/// The lines of a file: their numbers, from 1, and what is in them. Empty lines are none.
fn lines(file: &Path) -> Result<impl Iterator<Item = Result<(u64, Value), Failure>>, Failure> {
    let unreadable =
        |e: std::io::Error| Failure::unusable(format!("cannot read {}: {e}", file.display()));
    let mut reader = BufReader::new(File::open(file).map_err(unreadable)?);
    let name = file.display().to_string();
    let mut number = 0;
    Ok(std::iter::from_fn(move || {
        loop {
            let mut line = Vec::new();
            let limit = MAX_LINE_BYTES as u64 + 2;
            let read = (&mut reader).take(limit).read_until(b'\n', &mut line);
            number += 1;
            let bad =
                |why: String| Failure::no("invalid_request", format!("{name}:{number}: {why}"));
            match read {
                Err(e) => return Some(Err(bad(e.to_string()))),
                Ok(0) => return None,
                Ok(_) => {}
            }
            let text = line.trim_ascii();
            if text.len() > MAX_LINE_BYTES {
                let why = format!("the line is longer than {MAX_LINE_BYTES} bytes");
                return Some(Err(bad(why)));
            }
            if text.is_empty() {
                continue;
            }
            return Some(match serde_json::from_slice::<Map<String, Value>>(text) {
                Ok(account) => Ok((number, Value::Object(account))),
                // The library counts lines of its own text.
                Err(e) => Err(bad(format!(
                    "not a JSON object: {} at column {}",
                    e.to_string().split(" at line ").next().unwrap_or_default(),
                    e.column()
                ))),
            });
        }
    }))
}

/// How many accounts there are. Nothing was sent yet.
fn check(file: &Path) -> Result<u64, Failure> {
    let mut total = 0;
    for line in lines(file)? {
        if let Err(failure) = line {
            output::note("nothing was imported: every line is read before the first is sent");
            return Err(failure);
        }
        total += 1;
    }
    Ok(total)
}

async fn import(
    session: &Session,
    file: &Path,
    total: u64,
    output: &Output,
) -> Result<(), Failure> {
    let progress = Progress::of("importing");
    let mut done = Done::default();
    let (mut waiting, mut bytes, mut sent) = (Vec::new(), 0, 0);
    let mut all = lines(file)?;
    loop {
        let next = all.next().transpose()?;
        let len = next.as_ref().map_or(0, |(_, line)| line.to_string().len());
        let full = waiting.len() >= MAX_IMPORTED || bytes + len > BYTES_AT_ONCE;
        if !waiting.is_empty() && (full || next.is_none()) {
            let upto = sent + waiting.len() as u64;
            if let Err(failure) = send(session, file, &waiting, &mut done).await {
                output::note(&format!(
                    "{sent} of {total} accounts were looked at before; run it again: those that were imported stay as they are"
                ));
                return Err(failure);
            }
            sent = upto;
            progress.at(sent, total);
            waiting.clear();
            bytes = 0;
        }
        let Some(line) = next else { break };
        bytes += len;
        waiting.push(line);
    }
    drop(progress);
    let refused = done.refused.len();
    let sentence = format!(
        "{} accounts were imported, {} were there already and stay as they are, {refused} were refused",
        done.imported, done.existing
    );
    let said = json!({
        "imported": done.imported,
        "existing": done.existing,
        "refused": done.refused,
    });
    if refused == 0 {
        return output.print(&said, || sentence);
    }
    output::note("all lines but those that were refused are done; mend them, and run it again");
    Err(Failure::no("refused", sentence).with(said))
}

/// Sends some lines, and says which are refused.
async fn send(
    session: &Session,
    file: &Path,
    lines: &[(u64, Value)],
    done: &mut Done,
) -> Result<(), Failure> {
    let users: Vec<&Value> = lines.iter().map(|(_, line)| line).collect();
    let body = json!({ "users": users });
    let answer = session.call(Method::POST, PATH, Some(&body), None).await?;
    let results = answer.value["results"].as_array();
    let results = results.filter(|results| results.len() == lines.len());
    let results = results.ok_or_else(|| Failure::unusable("the server answered something else"))?;
    for ((number, line), result) in lines.iter().zip(results) {
        match result["outcome"].as_str() {
            Some("made") => done.imported += 1,
            Some("existing") => done.existing += 1,
            _ => {
                let why = result["error"].as_str().unwrap_or("refused");
                let username = line["username"].as_str().unwrap_or("");
                output::note(&format!("{}:{number}: {username}: {why}", file.display()));
                done.refused.push(json!({
                    "line": number,
                    "username": username,
                    "error": why,
                }));
            }
        }
    }
    Ok(())
}

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

use serde_json::{Map, Value, json};
use signet_admin_client::{Session, Target};
use signet_terminal::output::{Failure, Output, note};

use super::send::{Sender, ended};

/// Longest line of a file of accounts, in bytes.
pub(crate) const MAX_LINE_BYTES: usize = 64 * 1024;

/// Does the command.
///
/// # Errors
/// A line that is no account; what the server refuses.
pub async fn run(file: &Path, target: &Target, output: &Output) -> Result<(), Failure> {
    let total = check(file)?;
    Session::with(target, async |session| {
        import(session, file, total, output).await
    })
    .await
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
            note("nothing was imported: every line is read before the first is sent");
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
    let sender = Sender::new(session, file.display().to_string(), "line");
    let done = sender.all(total, lines(file)?).await?;
    let refused = done.refused.len();
    let sentence = format!(
        "{} accounts were imported, {} were there already and stay as they are, {refused} were refused",
        done.imported, done.existing
    );
    let mut said = json!({
        "imported": done.imported,
        "existing": done.existing,
        "refused": done.refused,
    });
    if !done.left_out.is_empty() {
        said["left_out"] = done.left_out.into();
    }
    ended(output, refused > 0, said, sentence, String::new)
}

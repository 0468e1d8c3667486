//! People on their way to a server: some at a time, each judged by itself there.

use http::Method;
use serde_json::{Value, json};
use signet_admin_client::Session;
use signet_terminal::output::{Failure, Output, note};
use signet_terminal::progress::Progress;

/// How many accounts are sent at once, at most: as many as the server takes.
pub const AT_ONCE: usize = 100;
/// Bytes of accounts that are sent at once: the server's bound of a body, with room to spare.
const BYTES_AT_ONCE: usize = 96 * 1024;
/// Where the server takes them.
const PATH: &str = "/user-import";

/// The outcome of what was sent.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) imported: u64,
    pub(crate) existing: u64,
    /// Who was refused, where, and why.
    pub(crate) refused: Vec<Value>,
    /// Who was made without something, and without what.
    pub(crate) left_out: Vec<Value>,
}

/// An account that waits.
struct Waiting {
    /// Its line, from 1.
    line: u64,
    account: Value,
}

/// Sends accounts, and counts what is done with them.
pub(crate) struct Sender<'a> {
    session: &'a Session,
    /// What accounts are read from, for people.
    file: String,
    /// What a line is called.
    unit: &'static str,
    waiting: Vec<Waiting>,
    bytes: usize,
    done: Done,
    /// How many the server has looked at.
    sent: u64,
}

impl<'a> Sender<'a> {
    pub(crate) fn new(session: &'a Session, file: String, unit: &'static str) -> Sender<'a> {
        Sender {
            session,
            file,
            unit,
            waiting: Vec::new(),
            bytes: 0,
            done: Done::default(),
            sent: 0,
        }
    }

    /// Sends all of them, each with its line, and shows how far it is.
    ///
    /// # Errors
    /// What a line has in it that is no account; a server that answers nothing, or something else.
    pub(crate) async fn all(
        mut self,
        total: u64,
        accounts: impl Iterator<Item = Result<(u64, Value), Failure>>,
    ) -> Result<Done, Failure> {
        let progress = Progress::of("importing");
        let sent = async {
            for account in accounts {
                let (line, account) = account?;
                self.push(line, account).await?;
                progress.at(self.sent, total);
            }
            self.flush().await
        };
        let sent = sent.await;
        drop(progress);
        if let Err(failure) = sent {
            note(&format!(
                "{} of {total} accounts were looked at before; run it again: those that were imported stay as they are",
                self.sent
            ));
            return Err(failure);
        }
        Ok(self.done)
    }

    /// Takes one more; those before it are sent if it does not fit beside them.
    async fn push(&mut self, line: u64, account: Value) -> Result<(), Failure> {
        let len = account.to_string().len();
        if self.waiting.len() >= AT_ONCE || self.bytes + len > BYTES_AT_ONCE {
            self.flush().await?;
        }
        self.bytes += len;
        self.waiting.push(Waiting { line, account });
        Ok(())
    }

    /// Sends what waits, and says which are refused.
    async fn flush(&mut self) -> Result<(), Failure> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let users: Vec<&Value> = self.waiting.iter().map(|one| &one.account).collect();
        let body = json!({ "users": users });
        let answer = self
            .session
            .call(Method::POST, PATH, Some(&body), None)
            .await?;
        let results = answer.value["results"].as_array();
        let results = results.filter(|results| results.len() == self.waiting.len());
        let results =
            results.ok_or_else(|| Failure::unusable("the server answered something else"))?;
        for (Waiting { line, account }, result) in self.waiting.iter().zip(results) {
            let username = account["username"].as_str().unwrap_or("");
            let unit = self.unit;
            let said = |why: &Value| json!({ unit: line, "username": username, "error": why });
            let place = format!("{}:{line}: {username}", self.file);
            match result["outcome"].as_str() {
                Some("made") => {
                    self.done.imported += 1;
                    for why in result["left_out"].as_array().into_iter().flatten() {
                        note(&format!(
                            "{place}: left out: {}",
                            why.as_str().unwrap_or("")
                        ));
                        self.done.left_out.push(said(why));
                    }
                }
                Some("existing") => self.done.existing += 1,
                _ => {
                    let why = result["error"].as_str().unwrap_or("refused");
                    note(&format!("{place}: {why}"));
                    self.done.refused.push(said(&why.into()));
                }
            }
        }
        self.sent += self.waiting.len() as u64;
        self.waiting.clear();
        self.bytes = 0;
        Ok(())
    }
}

/// Says what was done. Where something was refused the command fails, with the same document.
pub(crate) fn ended(
    output: &Output,
    refused: bool,
    said: Value,
    sentence: String,
    more: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if !refused {
        return output.print(&said, || sentence + &more());
    }
    note("everything but what was refused is done; mend it, and run it again");
    Err(Failure::no("refused", sentence).with(said))
}

//! `signet import SOURCE FILE`: what another server exports, read, reported, and made here.
//!
//! What people name is made before them: attributes, roles, clients, groups, providers. What is
//! there stays as it is and is counted, so that an import that was cut off is done again.

use std::{collections::HashSet, path::PathBuf};

use clap::builder::PossibleValuesParser;
use http::Method;
use serde_json::{Value, json};
use signet_admin_client::{Session, Target, http_client::percent_encode};
use signet_terminal::output::{Failure, Output, note};

use super::opening::Opening;
use super::send::{Done, Sender, ended};
use crate::moved::Moved;
use crate::read::ReadError;
use crate::sources::{Options, SOURCES, Source};

/// Most records of a kind that are looked at, to know which are there.
const PAGE: usize = 500;

/// `signet import`
#[derive(Debug, clap::Args)]
pub struct Import {
    /// The server that the file comes from.
    #[arg(value_parser = PossibleValuesParser::new(SOURCES.iter().map(|source| source.name)))]
    source: String,
    /// What it exported: docs/moving.md says how for each. A directory, where it writes several.
    file: PathBuf,
    /// Read it, say what would come over and what would not, and do nothing. Needs no server.
    #[arg(long)]
    dry_run: bool,
    /// The host that passkeys were made for, where the export does not say it.
    #[arg(long, value_name = "HOST")]
    rp_id: Option<String>,
    #[command(flatten)]
    opening: Opening,
    #[command(flatten)]
    target: Target,
}

/// Of one kind, how many were made, and how many were there.
#[derive(Default)]
struct Count {
    made: u64,
    existing: u64,
}

impl Count {
    fn json(&self) -> Value {
        json!({ "made": self.made, "existing": self.existing })
    }
}

/// Does the command.
///
/// # Errors
/// What is wrong with the file; what the server refuses.
pub async fn run(import: &Import, output: &Output) -> Result<(), Failure> {
    // Invariant: the argument's values are the table's names.
    let source =
        Source::named(&import.source).ok_or_else(|| Failure::unusable("no such source"))?;
    let options = Options {
        rp_id: import.rp_id.clone(),
    };
    let unreadable = |ReadError { place, why }| {
        Failure::no(
            "invalid_export",
            format!("{place}: {why}; nothing was done"),
        )
    };
    let moved = source
        .open_path(&import.file, &options, &|| import.opening.identity())
        .map_err(unreadable)?;
    if import.dry_run {
        let said = json!({
            "from": moved.from,
            "dry_run": true,
            "found": moved.counts(),
            "report": moved.report.to_json(),
        });
        return output.print(&said, || {
            let found = counted(&moved.counts());
            let report = moved.report.to_text(source.rows);
            format!(
                "{}: {found}\nNothing was done (--dry-run).\n{report}",
                moved.from
            )
        });
    }
    let file = import.file.display().to_string();
    let session = Session::with(&import.target, async |session| {
        send(session, &moved, file, source, output).await
    });
    session.await
}

/// `people 12, groups 4`, without the zeros.
fn counted(counts: &Value) -> String {
    let counts = counts.as_object().into_iter().flatten();
    let counts = counts.filter(|(_, number)| number.as_u64() != Some(0));
    let counts: Vec<String> = counts
        .map(|(name, number)| format!("{} {number}", name.replace('_', " ")))
        .collect();
    counts.join(", ")
}

/// What is done at a server, one kind after the other.
struct Work<'a> {
    session: &'a Session,
    refused: Vec<Value>,
}

impl Work<'_> {
    /// The names of the records of a kind that are there.
    async fn names(&self, path: &str, member: &str) -> Result<HashSet<String>, Failure> {
        let (mut names, mut after) = (HashSet::new(), String::new());
        loop {
            let page = self
                .session
                .get(&format!("{path}?limit={PAGE}{after}"))
                .await?;
            let items = page["items"].as_array().into_iter().flatten();
            names.extend(items.filter_map(|item| Some(item[member].as_str()?.to_owned())));
            match page["next"].as_str() {
                Some(next) => after = format!("&after={}", percent_encode(next)),
                None => return Ok(names),
            }
        }
    }

    /// A record that the server refuses is counted, and keeps no other out; a server that is out of
    /// reach ends the import.
    fn refuse(&mut self, kind: &str, name: &str, failure: Failure) -> Result<(), Failure> {
        if failure.error() == "unusable" {
            return Err(failure);
        }
        let why = failure.description();
        note(&format!("{kind} {name}: {why}"));
        self.refused
            .push(json!({ "kind": kind, "name": name, "error": why }));
        Ok(())
    }

    /// Makes the records of a kind that are not there, by their names.
    async fn make<T: serde::Serialize>(
        &mut self,
        (kind, path): (&str, &str),
        records: impl IntoIterator<Item = (&str, T)>,
    ) -> Result<Count, Failure> {
        let there = self.names(path, "name").await?;
        let mut count = Count::default();
        for (name, record) in records {
            if there.contains(name) {
                count.existing += 1;
                continue;
            }
            // Invariant: what was read from JSON is JSON.
            let body = serde_json::to_value(record).unwrap_or_default();
            let one = format!("{path}/{}", percent_encode(name));
            match self
                .session
                .call(Method::PUT, &one, Some(&body), None)
                .await
            {
                Ok(_) => count.made += 1,
                Err(failure) => self.refuse(kind, name, failure)?,
            }
        }
        Ok(count)
    }

    /// Makes clients; those that lack a secret now are named in the second.
    async fn clients(&mut self, moved: &Moved) -> Result<(Count, Vec<String>), Failure> {
        let (mut count, mut without) = (Count::default(), Vec::new());
        for client in &moved.clients {
            let body = Value::Object(client.document.clone());
            let made = self
                .session
                .call(Method::POST, "/client-import", Some(&body), None);
            match made.await {
                Ok(answer) if answer.value["outcome"] == "existing" => count.existing += 1,
                Ok(answer) => {
                    count.made += 1;
                    if answer.value["lacks_secret"] == true {
                        without.push(client.client_id.clone());
                    }
                }
                Err(failure) => self.refuse("client", &client.client_id, failure)?,
            }
        }
        Ok((count, without))
    }
}

async fn send(
    session: &Session,
    moved: &Moved,
    file: String,
    source: &Source,
    output: &Output,
) -> Result<(), Failure> {
    let mut work = Work {
        session,
        refused: Vec::new(),
    };
    let attributes = moved.attributes.iter().map(|one| (&*one.name, one));
    let attributes = work.make(("attribute", "/attributes"), attributes).await?;
    // A client's roles are those of a client that is there.
    let (clients, without_secret) = work.clients(moved).await?;
    let roles = moved.roles.iter().map(|one| (&*one.name, one));
    let roles = work.make(("role", "/roles"), roles).await?;
    let groups = moved.groups.iter().map(|one| (&*one.name, one));
    let groups = work.make(("group", "/groups"), groups).await?;
    let providers = moved
        .providers
        .iter()
        .map(|one| (&*one.name, &one.document));
    let providers = work.make(("provider", "/providers"), providers).await?;
    let people = people(session, moved, file).await?;
    let refused = work.refused.len() + people.refused.len();
    let said = json!({
        "from": moved.from,
        "found": moved.counts(),
        "people": {
            "imported": people.imported,
            "existing": people.existing,
            "refused": people.refused,
            "left_out": people.left_out,
        },
        "attributes": attributes.json(),
        "roles": roles.json(),
        "groups": groups.json(),
        "clients": clients.json(),
        "clients_without_secret": without_secret,
        "providers": providers.json(),
        "refused": work.refused,
        "report": moved.report.to_json(),
    });
    let sentence = format!(
        "{}: {} people were imported, {} were there already and stay as they are, {} were refused",
        moved.from,
        people.imported,
        people.existing,
        people.refused.len()
    );
    let sentence = match work.refused.len() {
        0 => sentence,
        others => format!("{sentence}; {others} other records were refused"),
    };
    ended(output, refused > 0, said, sentence, || {
        let mut text = String::new();
        for (name, count) in [
            ("attributes", &attributes),
            ("roles", &roles),
            ("groups", &groups),
            ("clients", &clients),
            ("identity providers", &providers),
        ] {
            text.push_str(&format!(
                "\n{name}: {} made, {} there",
                count.made, count.existing
            ));
        }
        for client in &without_secret {
            text.push_str(&format!(
                "\nclient {client} has no secret: signet client secret {client}"
            ));
        }
        text.push_str(&format!("\n{}", moved.report.to_text(source.rows)));
        text
    })
}

async fn people(session: &Session, moved: &Moved, file: String) -> Result<Done, Failure> {
    // Invariant: texts, numbers and lists of them always serialize.
    let people = moved.people.iter();
    let people = people.map(|person| serde_json::to_value(person).unwrap_or_default());
    let accounts = moved.accounts.iter().cloned().map(Value::Object);
    let numbered = (1..).zip(people.chain(accounts)).map(Ok);
    let total = (moved.people.len() + moved.accounts.len()) as u64;
    let sender = Sender::new(session, file, "number");
    sender.all(total, numbered).await
}

//! `signet upgrade check`: what this version would do with what another one wrote.

use std::time::Instant;

use clap::Subcommand;
use serde_json::{Value, json};
use signet_store::schema::{SchemaMismatch, SchemaStatus};
use signet_store::sqlite;
use signet_store::{Engine, PostgresStore, SqliteStore};
use signet_terminal::{Failure, Output};

use crate::place::{Place, Which};
use crate::written_by;

/// `signet upgrade ...`
#[derive(Debug, Subcommand)]
pub enum UpgradeCommand {
    /// Say whether this version can take a server over, what it would do, and whether there is a
    /// way back. Changes nothing. Exit 0: it can; 1: it cannot.
    #[command(
        after_help = "Example:\n  signet upgrade check --data-dir .signet\n  signet upgrade check --config /etc/signet/signet.toml --json"
    )]
    Check(Which),
}

impl UpgradeCommand {
    /// Does the command.
    ///
    /// # Errors
    /// Exit 1: this version cannot; exit 2: what cannot be read.
    pub fn run(&self, output: &Output) -> Result<(), Failure> {
        match self {
            UpgradeCommand::Check(which) => check(which, output),
        }
    }
}

/// What was found.
struct Found {
    /// Which engine.
    engine: &'static str,
    status: SchemaStatus,
    /// Rows that a step could touch.
    rows: Option<u64>,
    /// How long reading all of them took, milliseconds.
    read_ms: Option<u64>,
}

fn look(place: &Place) -> Result<Found, Failure> {
    let unusable = |e: &dyn std::fmt::Display| Failure::unusable(e.to_string());
    match &place.engine {
        Engine::Sqlite { directory, .. } => {
            place.existing_rows()?;
            let status = match SqliteStore::schema(directory) {
                Ok(Some(status)) => status,
                Ok(None) => return Err(unusable(&"the database is empty")),
                Err(error) => return Err(unusable(&error)),
            };
            // A step works on what is there: how much that is, and how fast this machine reads it.
            let began = Instant::now();
            let sizes = match status.pending() {
                [] => None,
                _ => Some(sqlite::sizes(directory).map_err(|e| unusable(&e))?),
            };
            let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            Ok(Found {
                engine: "sqlite",
                status,
                rows: sizes
                    .as_ref()
                    .map(|sizes| sizes.values().map(|size| size.rows).sum()),
                read_ms: sizes.map(|_| took),
            })
        }
        Engine::Postgres { options, .. } => Ok(Found {
            engine: "postgres",
            status: PostgresStore::schema(options).map_err(|e| unusable(&e))?,
            rows: None,
            read_ms: None,
        }),
    }
}

/// What to do first, and how.
fn first(place: &Place, found: &Found) -> Vec<String> {
    let which = match &place.configuration {
        Some(configuration) => format!("--config {}", configuration.file.display()),
        None => format!("--data-dir {}", place.data_dir.display()),
    };
    let mut first = vec![format!(
        "signet backup --to FILE --passphrase-file F {which}"
    )];
    if found.engine == "postgres" && !found.status.pending().is_empty() {
        first.push(format!("signet store migrate {which}"));
    }
    if place.configuration.is_some() {
        first.push(format!("signet config check {which}"));
    }
    first
}

fn check(which: &Which, output: &Output) -> Result<(), Failure> {
    let place = which.find(false)?;
    let found = look(&place)?;
    let status = &found.status;
    let written_by = written_by::read(&place.data_dir)
        .map_err(|e| Failure::unusable(format!("{}: {e}", written_by::FILE)))?;
    let steps: Vec<Value> = status
        .pending()
        .iter()
        .map(|step| json!({ "version": step.version, "name": step.name }))
        .collect();
    let (known, schema) = (status.known(), status.found);
    // A program works on its own schema and on the next one.
    let way_back = known <= schema + 1;
    let back = match (status.pending(), way_back) {
        ([], _) => "the way back is open: nothing of the database changes".to_owned(),
        (_, true) => {
            format!("the way back is open: the version before works on schema {known}, too")
        }
        (_, false) => format!(
            "there is no way back but the backup: a version that knows schema {schema} does not open schema {known}"
        ),
    };
    let possible = !matches!(status.accept(), Err(SchemaMismatch::New));
    let answer = json!({
        "possible": possible,
        "version": env!("CARGO_PKG_VERSION"),
        "written_by": written_by,
        "engine": found.engine,
        "schema": schema,
        "known_schema": known,
        "upgrades_from": { "schema_from": 1, "schema_to": known + 1 },
        "steps": steps,
        "rows": found.rows,
        "rows_read_ms": found.read_ms,
        "way_back": way_back,
        "first": first(&place, &found),
    });
    if !possible {
        let why = format!(
            "the database has schema {schema}, and this version knows {known} and can work with one more, no further: use the version that wrote it, or a later one"
        );
        return Err(Failure::no("schema_too_new", why).with(answer));
    }
    output.print(&answer, || {
        let writer = match written_by.last() {
            Some(last) => format!("written by version {}", last.version),
            None => "written by a version that did not say so".to_owned(),
        };
        let mut lines = vec![
            format!(
                "{}: {writer}, {} with schema {schema}",
                place.data_dir.display(),
                found.engine
            ),
            format!(
                "this version ({}) knows schema {known}, and upgrades from schemas 1 to {}",
                env!("CARGO_PKG_VERSION"),
                known + 1
            ),
        ];
        match status.pending() {
            [] => lines.push("there is nothing to upgrade".to_owned()),
            pending => {
                let steps = pending
                    .iter()
                    .map(|step| format!("  {}  {}", step.version, step.name));
                lines.push("the first start would do:".to_owned());
                lines.extend(steps);
            }
        }
        if let (Some(rows), Some(ms)) = (found.rows, found.read_ms) {
            lines.push(format!(
                "there are {rows} rows; reading all of them took {ms} ms here, and a step takes a few times as long where it rewrites them"
            ));
        }
        lines.push(back);
        lines.push("first:".to_owned());
        lines.extend(first(&place, &found).into_iter().map(|line| format!("  {line}")));
        lines.join("\n")
    })
}

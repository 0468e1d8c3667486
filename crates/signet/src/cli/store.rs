//! `signet store`: the database's schema, and moving from one engine to another.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use signet_crypto::Clock;
use signet_store::{
    Change, Engine, EngineError, Key, Op, OpenError, Outcome, PostgresStore, Row, SqliteStore,
    Store, StoreError, Table,
    postgres::{Behind, PostgresError},
    schema::{Migration, SchemaMismatch, SchemaStatus},
    sqlite::{self, DATABASE_FILE},
};

use super::{Failure, Output, Progress, block_on, config::refusal};
use crate::{config::read, engine, engine::StoreUrl, serve::SystemClock};

/// Rows that are read and written at once.
const PAGE: usize = 250;

/// `signet store ...`
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Say which schema the database has, and whether this program can work with it.
    #[command(
        after_help = "Example:\n  signet store status --store postgres://signet@db.example.com/signet"
    )]
    Status(Which),
    /// Make the schema or bring it up to date, while servers run.
    #[command(
        after_help = "Example:\n  signet store migrate --dry-run --config /etc/signet/signet.toml"
    )]
    Migrate {
        #[command(flatten)]
        which: Which,
        /// Say what would be done, and do nothing.
        #[arg(long)]
        dry_run: bool,
        /// Also where a server is connected that cannot work on the new schema: it refuses
        /// everything from then on.
        #[arg(long)]
        leave_behind: bool,
    },
    /// Copy every row into an empty store of any engine, and compare them afterwards.
    #[command(
        after_help = "Example:\n  signet store copy --from sqlite:/var/lib/signet --to postgres://signet@db.example.com/signet"
    )]
    Copy {
        /// sqlite:DIR or postgres://USER@HOST/DATABASE, which no server uses meanwhile.
        #[arg(long, value_name = "URL")]
        from: String,
        /// The same; without rows.
        #[arg(long, value_name = "URL")]
        to: String,
    },
}

/// Which store.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Which {
    /// sqlite:DIR or postgres://USER@HOST:PORT/DATABASE; a password comes from PGPASSWORD or a
    /// password file.
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// The embedded store of a data directory.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The store of a configuration file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Which {
    fn engine(&self) -> Result<Engine, Failure> {
        if let Some(file) = &self.config {
            let loaded = read::load(file, true).map_err(|p| refusal(file, &p).fatal())?;
            return engine::of_config(&loaded.config, &loaded.base).map_err(Failure::unusable);
        }
        if let Some(url) = &self.store {
            return Ok(parse(url)?.engine(Path::new(".")));
        }
        // Invariant: clap wants one of the three.
        Ok(Engine::sqlite(
            self.data_dir.as_deref().unwrap_or(Path::new(".")),
        ))
    }
}

fn parse(url: &str) -> Result<StoreUrl, Failure> {
    StoreUrl::parse(url).map_err(Failure::unusable)
}

/// Does the command.
pub fn run(command: StoreCommand, output: &Output) -> Result<(), Failure> {
    match command {
        StoreCommand::Status(which) => status(&which.engine()?, output),
        StoreCommand::Migrate {
            which,
            dry_run,
            leave_behind,
        } => {
            let behind = match leave_behind {
                true => Behind::Leave,
                false => Behind::Refuse,
            };
            migrate(&which.engine()?, dry_run, behind, output)
        }
        StoreCommand::Copy { from, to } => copy(&parse(&from)?, &parse(&to)?, output),
    }
}

fn reach(error: &PostgresError) -> Failure {
    Failure::unusable(error.to_string())
}

fn list(migrations: &[Migration]) -> Value {
    let each = |m: &Migration| json!({ "version": m.version, "name": m.name });
    migrations.iter().map(each).collect()
}

fn lines(migrations: &[Migration]) -> String {
    let each = |m: &Migration| format!("\n  {}  {}", m.version, m.name);
    migrations.iter().map(each).collect()
}

/// Whether there is a database of the embedded engine in a directory. None: a server has it open.
fn embedded(directory: &Path) -> Result<Option<bool>, Failure> {
    if !directory.join(DATABASE_FILE).exists() {
        return Ok(Some(false));
    }
    match signet_store::open(&Engine::sqlite(directory)) {
        Ok(store) => {
            store.close();
            Ok(Some(true))
        }
        Err(EngineError::Embedded(OpenError::InUse { .. })) => Ok(None),
        Err(error) => Err(Failure::unusable(error.to_string())),
    }
}

fn status(engine: &Engine, output: &Output) -> Result<(), Failure> {
    match engine {
        Engine::Sqlite { directory, .. } => {
            let place = directory.display().to_string();
            let schema = SqliteStore::schema(directory);
            let schema = schema.map_err(|e| Failure::unusable(e.to_string()))?;
            // Read before it is opened: that brings it up to date.
            let state = match embedded(directory)? {
                Some(true) => "current",
                Some(false) => "missing",
                None => "in use",
            };
            let answer = json!({
                "engine": "sqlite",
                "directory": place,
                "state": state,
                "schema": schema.as_ref().map(|schema| schema.found),
                "known": sqlite::SCHEMA_VERSION,
            });
            match state {
                "missing" => Err(Failure::no(
                    "missing",
                    format!("there is no database in {place}"),
                )
                .with(answer)),
                _ => output.print(&answer, || format!("sqlite in {place}: {state}")),
            }
        }
        Engine::Postgres { options, .. } => {
            let status = PostgresStore::schema(options).map_err(|e| reach(&e))?;
            let connected = PostgresStore::connected(options).map_err(|e| reach(&e))?;
            let mut answer = describe(&status, &options.address.to_string());
            let each = |(known, connections): (&u32, &u64)| json!({ "known": known, "connections": connections });
            answer["connected"] = connected.iter().map(each).collect();
            match accept(&status) {
                Ok(()) => output.print(&answer, || {
                    let each = |(known, connections): (&u32, &u64)| {
                        format!(
                            "\n  {connections} connections of programs that know schema {known}"
                        )
                    };
                    format!(
                        "postgres at {}: schema {}, this program's is {}{}",
                        options.address,
                        status.found,
                        status.known(),
                        connected.iter().map(each).collect::<String>()
                    )
                }),
                Err(error) => Err(Failure::no(code(&error), error.to_string()).with(answer)),
            }
        }
    }
}

fn accept(status: &SchemaStatus) -> Result<(), PostgresError> {
    let (found, known) = (status.found, status.known());
    status.accept().map_err(|mismatch| match mismatch {
        SchemaMismatch::Old => PostgresError::OldSchema { found, known },
        SchemaMismatch::New => PostgresError::NewSchema { found, known },
    })
}

fn describe(status: &SchemaStatus, address: &str) -> Value {
    json!({
        "engine": "postgres",
        "url": address,
        "schema": status.found,
        "known": status.known(),
        "pending": list(status.pending()),
    })
}

fn code(error: &PostgresError) -> &'static str {
    match error {
        PostgresError::OldSchema { .. } => "migration_needed",
        PostgresError::NewSchema { .. } => "schema_too_new",
        PostgresError::Behind { .. } => "would_leave_behind",
        PostgresError::Unreachable(_)
        | PostgresError::Refused { .. }
        | PostgresError::Tls(_)
        | PostgresError::PasswordFile(_)
        | PostgresError::Corrupt(_)
        | PostgresError::Lost(_)
        | PostgresError::Slow => "unusable",
    }
}

fn migrate(engine: &Engine, dry_run: bool, behind: Behind, output: &Output) -> Result<(), Failure> {
    let options = match engine {
        Engine::Sqlite { directory, .. } => {
            // The server makes it; here is nothing to do, but to say whether it could be opened.
            embedded(directory)?;
            let answer = json!({ "engine": "sqlite", "done": [], "pending": [] });
            return output.print(&answer, || "sqlite: there is nothing to do".to_owned());
        }
        Engine::Postgres { options, .. } => options,
    };
    if dry_run {
        let status = PostgresStore::schema(options).map_err(|e| reach(&e))?;
        let answer = describe(&status, &options.address.to_string());
        return output.print(&answer, || match status.pending() {
            [] => "there is nothing to do".to_owned(),
            pending => format!("would do:{}", lines(pending)),
        });
    }
    let done = PostgresStore::migrate(options, behind).map_err(|e| match &e {
        PostgresError::Behind { .. } => Failure::no(code(&e), e.to_string()),
        other => reach(other),
    })?;
    let answer = json!({ "engine": "postgres", "done": list(&done), "pending": [] });
    output.print(&answer, || match &*done {
        [] => "there is nothing to do".to_owned(),
        done => format!("done:{}", lines(done)),
    })
}

fn copy(from: &StoreUrl, to: &StoreUrl, output: &Output) -> Result<(), Failure> {
    let source = with_directory(from)?;
    if let Engine::Sqlite { directory, .. } = &source
        && !directory.join(DATABASE_FILE).exists()
    {
        return Err(Failure::unusable(format!(
            "there is no database in {}",
            directory.display()
        )));
    }
    let destination = with_directory(to)?;
    let source = open_alone(&source, from)?;
    if let Engine::Postgres { options, .. } = &destination {
        PostgresStore::migrate(options, Behind::Refuse).map_err(|e| reach(&e))?;
    }
    let destination = open_alone(&destination, to)?;
    let now = SystemClock.now_ms() / 1000;
    let copied = block_on(copy_rows(&*source, &*destination, now))?;
    source.close();
    destination.close();
    let rows = copied?;
    let answer = json!({ "from": from.to_string(), "to": to.to_string(), "rows": rows });
    output.print(&answer, || format!("{rows} rows were copied and compared"))
}

fn with_directory(url: &StoreUrl) -> Result<Engine, Failure> {
    match url {
        StoreUrl::Sqlite(None) => Err(Failure::unusable("which directory? sqlite:DIR")),
        StoreUrl::Sqlite(Some(_)) | StoreUrl::Postgres(_) => Ok(url.engine(Path::new("."))),
    }
}

/// Opens a store that nobody else uses.
fn open_alone(engine: &Engine, url: &StoreUrl) -> Result<std::sync::Arc<dyn Store>, Failure> {
    let in_use = || Failure::no("in_use", format!("{url} is in use; stop its servers first"));
    match engine {
        Engine::Sqlite { .. } => {}
        Engine::Postgres { options, .. } => {
            let others = PostgresStore::connected(options).map_err(|e| reach(&e))?;
            if !others.is_empty() {
                return Err(in_use());
            }
        }
    }
    match signet_store::open(engine) {
        Ok(store) => Ok(store),
        Err(EngineError::Embedded(OpenError::InUse { .. })) => Err(in_use()),
        Err(error) => Err(Failure::unusable(error.to_string())),
    }
}

fn failed(error: StoreError) -> Failure {
    Failure::unusable(error.to_string())
}

/// Every row of a table, page by page.
struct Pages<'a> {
    store: &'a dyn Store,
    table: Table,
    after: Option<Key>,
    ended: bool,
    now: u64,
}

impl<'a> Pages<'a> {
    fn of(store: &'a dyn Store, table: Table, now: u64) -> Pages<'a> {
        Pages {
            store,
            table,
            after: None,
            ended: false,
            now,
        }
    }

    /// Empty after the last.
    async fn next(&mut self) -> Result<Vec<(Key, Row)>, Failure> {
        if self.ended {
            return Ok(Vec::new());
        }
        let page = self
            .store
            .page(self.table, self.after.as_ref(), PAGE, self.now);
        let page = page.await.map_err(failed)?;
        self.ended = page.len() < PAGE;
        if let Some((last, _)) = page.last() {
            self.after = Some(last.clone());
        }
        Ok(page)
    }
}

async fn copy_rows(from: &dyn Store, to: &dyn Store, now: u64) -> Result<u64, Failure> {
    let mut total = 0;
    for table in Table::ALL {
        // Ended ones count, too: what is there is not ours to mix with.
        if !to
            .page(*table, None, 1, 0)
            .await
            .map_err(failed)?
            .is_empty()
        {
            return Err(Failure::no(
                "not_empty",
                "the destination has rows already; nothing was copied",
            ));
        }
        let mut pages = Pages::of(from, *table, now);
        loop {
            match pages.next().await?.len() {
                0 => break,
                some => total += some as u64,
            }
        }
    }
    let progress = Progress::of("Copying");
    // Written, then compared.
    let (steps, mut done) = (2 * total, 0);
    for table in Table::ALL {
        let mut pages = Pages::of(from, *table, now);
        loop {
            let page = pages.next().await?;
            if page.is_empty() {
                break;
            }
            done += page.len() as u64;
            write(to, page, now).await?;
            progress.at(done, steps);
        }
    }
    for table in Table::ALL {
        let (mut ours, mut theirs) = (Pages::of(from, *table, now), Pages::of(to, *table, now));
        loop {
            let (page, copy) = (ours.next().await?, theirs.next().await?);
            // Versions are each engine's own.
            let same = |((key, row), (other_key, other)): (&(Key, Row), &(Key, Row))| {
                key == other_key && row.value == other.value && row.end == other.end
            };
            if page.len() != copy.len() || !page.iter().zip(&copy).all(same) {
                return Err(Failure::no(
                    "copy_differs",
                    format!("a row of {table:?} is not in the destination as it was read"),
                ));
            }
            if page.is_empty() {
                break;
            }
            done += page.len() as u64;
            progress.at(done, steps);
        }
    }
    Ok(total)
}

async fn write(to: &dyn Store, page: Vec<(Key, Row)>, now: u64) -> Result<(), Failure> {
    let rows = page.len();
    let table = page.first().map(|(key, _)| key.table);
    let insert = |(key, row): (Key, Row)| {
        Change::new(Op::Insert {
            key,
            value: row.value,
            end: row.end,
        })
    };
    let changes = page.into_iter().map(insert).collect();
    let outcomes = to.commit_each(changes, now).await.map_err(failed)?;
    if outcomes.len() == rows && outcomes.iter().all(Outcome::is_done) {
        return Ok(());
    }
    Err(Failure::no(
        "not_empty",
        format!(
            "another row of {table:?} was there already: somebody else writes to the destination"
        ),
    ))
}

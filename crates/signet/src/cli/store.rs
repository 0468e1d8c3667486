//! `signet store`: the database's schema, and moving from one engine to another.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};
use signet_crypto::Clock;
use signet_store::{
    Destination, Engine, EngineError, MoveError, OpenError, PostgresStore, SqliteStore,
    postgres::{Behind, PostgresError},
    schema::{Migration, SchemaMismatch, SchemaStatus},
    sqlite::{self, DATABASE_FILE},
};

use super::{Failure, Output, Progress, block_on, config::refusal};
use signet_admin_client::{Session, Target};
use signet_config::engine;
use signet_config::read;
use signet_process::SystemClock;
use signet_store::StoreUrl;

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
    /// Move the rows of a running server to another engine: changes wait for less than a second,
    /// and nobody is logged out.
    #[command(
        after_help = "The server continues over the new store. Set [store] to it before the next start.\n\nExample:\n  signet store move --to postgres://signet@db.example.com/signet --server https://id.example.com --login root"
    )]
    Move {
        /// sqlite:DIR or postgres://USER@HOST/DATABASE, empty, as the server reaches it.
        #[arg(long, value_name = "URL")]
        to: String,
        #[command(flatten)]
        target: Target,
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
    /// Say which of two stores counts after a server died while it moved its rows.
    #[command(
        after_help = "Where the rows were moved, a server can be started over the new store from then on; otherwise over the old one.\n\nExample:\n  signet store finish --from sqlite:/var/lib/signet --to postgres://signet@db.example.com/signet"
    )]
    Finish {
        /// Where the rows were, which no server uses now.
        #[arg(long, value_name = "URL")]
        from: String,
        /// Where they went.
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
        StoreCommand::Move { to, target } => move_rows(&to, &target, output),
        StoreCommand::Copy { from, to } => copy(&parse(&from)?, &parse(&to)?, output),
        StoreCommand::Finish { from, to } => finish(&parse(&from)?, &parse(&to)?, output),
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
        | PostgresError::Excluded
        | PostgresError::Pooled { .. }
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

/// Opens a store that is there, and that nobody else uses.
fn open_existing(url: &StoreUrl) -> Result<Arc<dyn Destination>, Failure> {
    let engine = with_directory(url)?;
    if let Engine::Sqlite { directory, .. } = &engine
        && !directory.join(DATABASE_FILE).exists()
    {
        return Err(Failure::unusable(format!(
            "there is no database in {}",
            directory.display()
        )));
    }
    open_alone(&engine, url)
}

fn not_copied(error: &MoveError) -> Failure {
    match error {
        MoveError::NotEmpty => Failure::no("not_empty", error.to_string()),
        MoveError::Differs(_) => Failure::no("copy_differs", error.to_string()),
        MoveError::NotMoved => Failure::no("not_moved", error.to_string()),
        MoveError::Store(_) | MoveError::Moving | MoveError::Busy | MoveError::Refused(_) => {
            Failure::unusable(error.to_string())
        }
    }
}

fn finish(from: &StoreUrl, to: &StoreUrl, output: &Output) -> Result<(), Failure> {
    let source = open_existing(from)?.as_store();
    let destination = open_existing(to)?;
    let now = SystemClock.now_ms() / 1000;
    let finished = block_on(signet_store::finish_move(&*source, &*destination, now))?;
    source.close();
    destination.close();
    finished.map_err(|error| not_copied(&error))?;
    let answer =
        json!({ "from": from.to_string(), "to": to.to_string(), "counts": to.to_string() });
    output.print(&answer, || {
        format!("all rows are in {to}: set [store] to it")
    })
}

fn copy(from: &StoreUrl, to: &StoreUrl, output: &Output) -> Result<(), Failure> {
    let destination = with_directory(to)?;
    let source = open_existing(from)?.as_store();
    let now = SystemClock.now_ms() / 1000;
    let left = block_on(signet_node::left_or_arriving(&*source, now))?;
    if let Some(why) = left.map_err(|e| Failure::unusable(e.to_string()))? {
        return Err(Failure::no("moved_away", why));
    }
    if let Engine::Postgres { options, .. } = &destination {
        PostgresStore::migrate(options, Behind::Refuse).map_err(|e| reach(&e))?;
    }
    let destination = open_alone(&destination, to)?;
    let progress = Progress::of("Copying");
    let copied = block_on(signet_store::copy(
        &*source,
        &*destination,
        now,
        &mut |at| {
            progress.at(at.done, at.total);
        },
    ))?;
    drop(progress);
    source.close();
    destination.close();
    let rows = copied.map_err(|error| not_copied(&error))?;
    let answer = json!({ "from": from.to_string(), "to": to.to_string(), "rows": rows });
    output.print(&answer, || format!("{rows} rows were copied and compared"))
}

/// How often it is asked how far a move is.
const ASK_EVERY: Duration = Duration::from_millis(100);

fn move_rows(to: &str, target: &Target, output: &Output) -> Result<(), Failure> {
    // A password in it is refused here, before it goes anywhere.
    parse(to)?;
    block_on(Session::with(target, async |session| {
        let path = "/store/move";
        let body = json!({ "to": to });
        session.call(Method::POST, path, Some(&body), None).await?;
        let progress = Progress::of("Moving");
        let last = loop {
            let now = session.call(Method::GET, path, None, None).await?.value;
            match now["state"].as_str() {
                Some("done" | "failed") => break now,
                Some(_) | None => {
                    let number = |name: &str| now[name].as_u64().unwrap_or(0);
                    progress.at(number("done"), number("total").max(1));
                }
            }
            tokio::time::sleep(ASK_EVERY).await;
        };
        drop(progress);
        match last["error"].as_str() {
            Some(error) => Err(Failure::no("not_moved", error.to_owned()).with(last.clone())),
            None => output.print(&last, || {
                format!(
                    "{} rows were moved and compared; changes waited for {} ms. Set [store] to {to} before the next start.",
                    last["rows"], last["held_ms"]
                )
            }),
        }
    }))?
}

fn with_directory(url: &StoreUrl) -> Result<Engine, Failure> {
    match url {
        StoreUrl::Sqlite(None) => Err(Failure::unusable("which directory? sqlite:DIR")),
        StoreUrl::Sqlite(Some(_)) | StoreUrl::Postgres(_) => Ok(url.engine(Path::new("."))),
    }
}

/// Opens a store that nobody else uses.
fn open_alone(engine: &Engine, url: &StoreUrl) -> Result<Arc<dyn Destination>, Failure> {
    let in_use = || {
        Failure::no(
            "in_use",
            format!("{url} is in use; stop its servers first, or use `signet store move`"),
        )
    };
    match engine {
        Engine::Sqlite { .. } => {}
        Engine::Postgres { options, .. } => {
            if PostgresStore::others(options).map_err(|e| reach(&e))? > 0 {
                return Err(in_use());
            }
        }
    }
    match signet_store::open_destination(engine) {
        Ok(store) => Ok(store),
        Err(EngineError::Embedded(OpenError::InUse { .. })) => Err(in_use()),
        Err(error) => Err(Failure::unusable(error.to_string())),
    }
}

//! Which server a command is about: by its data directory, its configuration file, or both.

use std::path::{Path, PathBuf};

use clap::Args;
use signet_admin_client::dev_file;
use signet_config::{Config, engine, read};
use signet_store::sqlite::DATABASE_FILE;
use signet_store::{Engine, StoreUrl};
use signet_terminal::Failure;

/// Below the data directory, unless a configuration says otherwise.
const AUDIT: &str = "audit";

/// Which server.
#[derive(Debug, Clone, Default, Args)]
pub struct Which {
    /// The data directory of a server, running or not [default: .signet, or the configuration
    /// file's].
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The configuration file of the server.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where its rows are, if neither in the data directory nor where the configuration file says:
    /// postgres://USER@HOST:PORT/DATABASE, without a password.
    #[arg(long, value_name = "URL")]
    store: Option<String>,
}

/// A configuration file, and what it says.
#[derive(Debug)]
pub(crate) struct Configuration {
    /// The file.
    pub file: PathBuf,
    /// Where relative paths of it start.
    pub base: PathBuf,
    /// What it says, `--data-dir` over it.
    pub config: Config,
}

/// Where everything of a server is.
#[derive(Debug)]
pub(crate) struct Place {
    /// Its data directory.
    pub data_dir: PathBuf,
    /// Its store.
    pub engine: Engine,
    /// Its audit trail.
    pub audit: PathBuf,
    /// Its configuration file, if one was named.
    pub configuration: Option<Configuration>,
    /// `dev.json`, of a development server.
    pub dev: Option<dev_file::DevFile>,
}

/// Every problem of a configuration file, for a command that cannot begin without it.
pub(crate) fn refusal(file: &Path, problems: &[read::Problem]) -> Failure {
    let lines: Vec<String> = problems
        .iter()
        .map(|problem| format!("{}: {problem}", file.display()))
        .collect();
    Failure::no("invalid_configuration", lines.join("\nsignet: ")).fatal()
}

impl Which {
    /// Finds everything of the server. `secrets`: also read the secrets that its file refers to.
    ///
    /// # Errors
    /// For the operator: what is not there, or wrong.
    pub(crate) fn find(&self, secrets: bool) -> Result<Place, Failure> {
        let configuration = match &self.config {
            None => None,
            Some(file) => {
                let mut loaded = read::load(file, secrets).map_err(|p| refusal(file, &p))?;
                if let Some(directory) = &self.data_dir {
                    loaded.config.data_dir.clone_from(directory);
                }
                Some(Configuration {
                    file: file.clone(),
                    base: loaded.base,
                    config: loaded.config,
                })
            }
        };
        let data_dir = match (&configuration, &self.data_dir) {
            (Some(found), _) => found.config.data_dir.clone(),
            (None, Some(directory)) => directory.clone(),
            (None, None) => dev_file::DEFAULT_DIR.into(),
        };
        let data_dir = data_dir
            .canonicalize()
            .map_err(|e| Failure::unusable(format!("{}: {e}", data_dir.display())))?;
        let engine = match (&self.store, &configuration) {
            (Some(url), _) => StoreUrl::parse(url)
                .map_err(Failure::unusable)?
                .engine(&data_dir),
            (None, Some(found)) => {
                engine::of_config(&found.config, &found.base).map_err(Failure::unusable)?
            }
            (None, None) => Engine::sqlite(&data_dir),
        };
        let config = configuration.as_ref().map(|found| &found.config);
        let audit = config.map_or(Path::new(AUDIT), |config| &config.audit.directory);
        let dev = dev_file::read(&data_dir.join(dev_file::FILE)).map_err(Failure::unusable)?;
        Ok(Place {
            audit: data_dir.join(audit),
            engine,
            configuration,
            dev,
            data_dir,
        })
    }
}

impl Place {
    /// The issuer, where it is known.
    pub(crate) fn issuer(&self) -> Option<&str> {
        let config = self.configuration.as_ref().map(|found| &found.config);
        let dev = self.dev.as_ref().map(|dev| dev.issuer.as_str());
        config.map(|config| config.issuer.as_str()).or(dev)
    }

    /// The directory of the embedded database; None: the rows are elsewhere.
    pub(crate) fn rows(&self) -> Option<&Path> {
        match &self.engine {
            Engine::Sqlite { directory, .. } => Some(directory),
            Engine::Postgres { .. } => None,
        }
    }

    /// The same, where the database has to be there.
    ///
    /// # Errors
    /// It is not.
    pub(crate) fn existing_rows(&self) -> Result<Option<&Path>, Failure> {
        match self.rows() {
            Some(directory) if !directory.join(DATABASE_FILE).exists() => {
                Err(Failure::unusable(format!(
                    "{} holds no database: --data-dir or --config names another server, and --store says where rows are that are in PostgreSQL",
                    directory.display()
                )))
            }
            rows => Ok(rows),
        }
    }
}

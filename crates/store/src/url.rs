//! Which store is meant, as a command line or a message says it: a URL.

use crate::{
    Engine,
    postgres::{Address, Options},
};
use std::{
    fmt,
    path::{Path, PathBuf},
};

/// A store's URL: `sqlite`, `sqlite:DIR` or `postgres://...`.
#[derive(Clone, Debug)]
pub enum StoreUrl {
    /// The embedded engine; None: in the data directory.
    Sqlite(Option<PathBuf>),
    /// The distributed one.
    Postgres(Box<Address>),
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreUrl::Sqlite(None) => f.write_str("sqlite"),
            StoreUrl::Sqlite(Some(directory)) => write!(f, "sqlite:{}", directory.display()),
            StoreUrl::Postgres(address) => write!(f, "{address}"),
        }
    }
}

impl StoreUrl {
    /// Reads one. The error does not repeat the text: it could have a password.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<StoreUrl, String> {
        match text.strip_prefix("sqlite") {
            Some("") => Ok(StoreUrl::Sqlite(None)),
            Some(rest) => match rest.strip_prefix(':').filter(|path| !path.is_empty()) {
                Some(path) => {
                    // As a URL would have it, too: sqlite:///var/lib/signet.
                    let path = path.strip_prefix("//").unwrap_or(path);
                    Ok(StoreUrl::Sqlite(Some(path.into())))
                }
                None => Err("a store in files is sqlite or sqlite:DIR".to_owned()),
            },
            None => Address::parse(text)
                .map(|address| StoreUrl::Postgres(Box::new(address)))
                .map_err(|e| e.to_string()),
        }
    }

    /// Whether it is a database of its own, and not in the data directory.
    pub fn is_database(&self) -> bool {
        match self {
            StoreUrl::Sqlite(_) => false,
            StoreUrl::Postgres(_) => true,
        }
    }

    /// The engine of a command that is no node. `data_dir`: where `sqlite` alone is.
    pub fn engine(&self, data_dir: &Path) -> Engine {
        match self {
            StoreUrl::Sqlite(directory) => Engine::sqlite(directory.as_deref().unwrap_or(data_dir)),
            StoreUrl::Postgres(address) => Engine::Postgres {
                options: Options::new((**address).clone()),
                directory: None,
            },
        }
    }

    /// The engine of a node with this data directory.
    pub fn engine_of_node(&self, data_dir: &Path) -> Engine {
        match self.engine(data_dir) {
            Engine::Postgres { options, .. } => Engine::Postgres {
                options,
                directory: Some(data_dir.to_owned()),
            },
            engine @ Engine::Sqlite { .. } => engine,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_named_by_a_url_that_no_error_repeats() {
        let shown = |text: &str| StoreUrl::parse(text).map(|url| url.to_string());
        assert_eq!(shown("sqlite").as_deref(), Ok("sqlite"));
        assert_eq!(shown("sqlite:/var/lib").as_deref(), Ok("sqlite:/var/lib"));
        assert_eq!(shown("sqlite:///var/lib").as_deref(), Ok("sqlite:/var/lib"));
        let url = "postgres://signet@db:5432/signet";
        assert_eq!(shown(url).as_deref(), Ok(url));
        for bad in [
            "",
            "sqlite:",
            "sqlites",
            "mysql://hunter2@db/x",
            "postgres://u:hunter2@db/x",
        ] {
            let error = StoreUrl::parse(bad).expect_err(bad);
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}

//! `[login]`, as the configuration file has it.

use std::path::PathBuf;

use serde::Deserialize;
use signet_config::duration::Duration;

/// The table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoginConfig {
    /// One of `[[issuers]]`; without, the first.
    pub issuer: Option<String>,
    /// The gate's, at that issuer.
    pub client_id: String,
    /// File that holds the client's secret.
    pub client_secret_file: Option<PathBuf>,
    /// Variable of the environment that holds it.
    pub client_secret_env: Option<String>,
    /// In place of a secret: a key that signs the client's assertions.
    pub private_key: Option<PrivateKey>,
    /// Origins of the applications.
    #[serde(default)]
    pub applications: Vec<String>,
    /// Path of the redirect URI at each of them.
    #[serde(default = "default_redirect_path")]
    pub redirect_path: String,
    /// Scopes that are asked for.
    #[serde(default = "default_scopes")]
    pub scopes: Vec<String>,
    /// Resources that the access token is asked for (RFC 8707).
    #[serde(default)]
    pub resources: Vec<String>,
    /// Authentication contexts, one of which must be the login's.
    #[serde(default)]
    pub acr: Vec<String>,
    /// Asks for a login that is no older.
    pub max_age: Option<Duration>,
    /// How long a session lasts without a request.
    #[serde(default = "default_idle")]
    pub idle: Duration,
    /// How long it lasts at most.
    #[serde(default = "default_absolute")]
    pub absolute: Duration,
    /// Path of the application that a logout at the issuer returns to.
    pub after_logout: Option<String>,
    /// File of the keys that seal cookies; made where it is missing.
    #[serde(default = "default_keys_file")]
    pub keys_file: PathBuf,
    /// What is demanded by path.
    #[serde(default)]
    pub paths: Vec<PathConfig>,
}

/// A key of `private_key_jwt`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PrivateKey {
    /// PEM file with a PKCS#8 key.
    pub file: PathBuf,
    /// JOSE name of the algorithm.
    pub algorithm: String,
    /// Its name in the client's key set.
    pub kid: String,
}

/// A rule by path.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PathConfig {
    /// Where it begins.
    pub path: String,
    /// Whether no login is needed.
    #[serde(default)]
    pub open: bool,
    /// One of these groups.
    #[serde(default)]
    pub groups: Vec<String>,
    /// All of these scopes.
    #[serde(default)]
    pub scopes: Vec<String>,
}

fn default_redirect_path() -> String {
    "/.signet/callback".to_owned()
}
fn default_scopes() -> Vec<String> {
    vec!["openid".to_owned()]
}
fn default_idle() -> Duration {
    Duration(3600)
}
fn default_absolute() -> Duration {
    Duration(10 * 3600)
}
fn default_keys_file() -> PathBuf {
    "login.keys".into()
}

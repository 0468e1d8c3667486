//! `dev.json`: what a development server says of itself, in its data directory. Its commands and
//! the scripts of its users read it.
use std::{
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use signet_crypto::private_file;

/// What a development server says of itself, in its data directory.
pub const FILE: &str = "dev.json";
/// The data directory unless told otherwise.
pub const DEFAULT_DIR: &str = ".signet";

/// `dev.json`: where the server is and how to log in to it. Scripts rely on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DevFile {
    /// The server's issuer.
    pub issuer: String,
    /// PEM file of the authority of its certificate.
    pub ca_cert: PathBuf,
    /// Who administers it.
    pub admin: Account,
    /// Who does not.
    pub user: Account,
    /// What can ask for tokens.
    pub clients: Clients,
    /// Where its mails are put.
    pub mail_dir: PathBuf,
    /// What the administrative commands of this machine use. Directories of earlier versions have
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admin_client: Option<Credentials>,
    /// The node that this directory is of, where it joined another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<DevNode>,
}

/// A node of several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DevNode {
    /// Its name.
    pub name: String,
    /// Where it answers everything that the issuer answers.
    pub url: String,
}

impl DevFile {
    /// Where the server of this directory answers: its own address, where it is a node of several.
    pub fn url(&self) -> &str {
        self.node.as_ref().map_or(&self.issuer, |node| &node.url)
    }

    /// Writes it, mode 0600: whole, or not at all.
    ///
    /// # Errors
    /// What the system says, for the operator.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let mut text = serde_json::to_vec_pretty(self).map_err(|e| e.to_string())?;
        text.push(b'\n');
        private_file::write(path, &text).map_err(|e| format!("{}: {e}", path.display()))
    }
}

/// A person's credentials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The name to log in with.
    pub username: String,
    /// In plain text: it is a development server's.
    pub password: String,
    /// The verified address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

/// The three clients.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clients {
    /// For itself.
    pub service: Credentials,
    /// With a secret, for people.
    pub web: Credentials,
    /// Without a secret, for people.
    pub native: Credentials,
}

/// A client's credentials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// Its identifier.
    pub client_id: String,
    /// Its secret, unless it is public.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// Where codes may be sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirect_uris: Vec<String>,
}

/// Reads the `dev.json` of a data directory: for the commands that administer its server.
///
/// # Errors
/// Why it cannot be read, for the operator.
pub fn read_file(directory: &Path) -> Result<DevFile, String> {
    let path = directory.join(FILE);
    read(&path)?.ok_or_else(|| {
        format!(
            "{} is not there: is {} the data directory of a development server?",
            path.display(),
            directory.display()
        )
    })
}

/// Reads one, by its own path; none where it is not there.
///
/// # Errors
/// What the system says, or that it is no such file.
pub fn read(path: &Path) -> Result<Option<DevFile>, String> {
    match std::fs::read(path) {
        Ok(text) => serde_json::from_slice(&text)
            .map(Some)
            .map_err(|e| format!("{}: {e}", path.display())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(format!("{}: {e}", path.display())),
    }
}

//! What kind of application a client is: arguments for [`signet_connect`].

use std::path::Path;

use clap::Args;
use serde_json::{Map, Value};
use signet_connect::{Connection, Kind};

/// At most one kind.
#[derive(Clone, Copy, Debug, Args)]
#[group(id = "kind", multiple = false)]
pub struct KindArguments {
    /// A web application that keeps a secret, and people log in to.
    #[arg(long)]
    web: bool,
    /// A single page: a program in the browser, without a secret.
    #[arg(long)]
    spa: bool,
    /// A program on somebody's own machine or telephone, without a secret.
    #[arg(long)]
    native: bool,
    /// A service that acts for itself.
    #[arg(long)]
    service: bool,
    /// A device without a browser: its person logs in on another one.
    #[arg(long)]
    device: bool,
}

impl KindArguments {
    fn kind(self) -> Option<&'static Kind> {
        let kinds = [
            (self.web, "web"),
            (self.spa, "spa"),
            (self.native, "native"),
            (self.service, "service"),
            (self.device, "device"),
        ];
        let mut named = kinds.into_iter().filter(|(named, _)| *named);
        named.next().and_then(|(_, name)| Kind::named(name))
    }

    /// Fills a record with what its kind needs and nobody said.
    pub fn fill(self, record: &mut Map<String, Value>) {
        if let Some(kind) = self.kind() {
            kind.fill(record);
        }
    }

    /// The lines to paste for a client that was made: its variables, and the program.
    pub fn lines(self, made: &Value, issuer: &str, authority: Option<&Path>) -> Option<String> {
        let kind = self.kind()?;
        let word = |name: &str| made[name].as_str();
        // Absolute: the program may be anywhere.
        let file = authority.map(|file| file.canonicalize().unwrap_or_else(|_| file.to_owned()));
        let file = file.map(|file| file.display().to_string());
        let of = Connection {
            issuer,
            client_id: word("client_id").unwrap_or_default(),
            client_secret: word("client_secret"),
            redirect_uri: made["redirect_uris"][0].as_str(),
            resource: None,
            authority: file.as_deref(),
        };
        Some(kind.lines(kind.programs.first()?, &of))
    }
}

//! A session with the admin API of a running server.
//!
//! Who calls is decided in this order: a token (SIGNET_ADMIN_TOKEN), a client's credentials (a file
//! or the environment), a person's login, and for a development server on this machine the client
//! that its dev.json has for this. None of these is kept: each command gets a token of its own,
//! which expires within minutes. `signet login` is the exception ([`LoginCommand`]): the login is
//! kept by `signet-context`, and commands that name no server and nobody else use it.

mod commands;
pub mod dev_file;
pub mod http_client;
mod kept;
mod login;
mod redirect;

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::Value;
use signet_context::Context;
use signet_crypto::Secret;

pub use crate::commands::LoginCommand;
use crate::http_client::{Answer, HttpClient};
use login::{ClientLogin, Login, Way, claims};
use signet_oauth::authorize::acr::TWO_FACTORS;
use signet_terminal::input;
use signet_terminal::output::{Failure, note};

/// The record was changed since it was read.
pub const CONFLICT: &str = "conflict";

/// Which server, and as whom.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Target {
    /// The server's issuer URL [also: SIGNET_SERVER; default: that of the current context, see
    /// `signet login`].
    #[arg(long, value_name = "URL", conflicts_with = "data_dir")]
    server: Option<String>,
    /// The data directory of a development server on this machine [default without a context:
    /// .signet].
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// PEM file of the authority that the server's certificate comes from [also: SIGNET_CA_CERT].
    #[arg(long, value_name = "FILE")]
    ca_cert: Option<PathBuf>,
    /// The realm to administer, one beside the server's first (`signet realm list`). An
    /// administrator of the server logs in to the first; an administrator of the realm alone names
    /// its issuer as --server instead.
    #[arg(long, value_name = "NAME")]
    pub realm: Option<String>,
    /// The administrator to log in as. With SIGNET_PASSWORD no browser is needed, where a password
    /// is enough for the account, or a password and a code of its app, in SIGNET_TOTP.
    #[arg(long, value_name = "NAME")]
    login: Option<String>,
    /// How to log in [default: password with SIGNET_PASSWORD; else what `signet login` keeps for
    /// the server; else the browser, or a device code where there is no screen].
    #[arg(long, value_enum, value_name = "WAY")]
    login_by: Option<Way>,
    /// For scripts: a JSON file with the client_id and client_secret of a client that has the scope
    /// signet:admin, or, to read only, signet:admin.read and says so in its member scope [also:
    /// SIGNET_CLIENT_ID, SIGNET_CLIENT_SECRET and SIGNET_CLIENT_SCOPE, or a token in
    /// SIGNET_ADMIN_TOKEN].
    #[arg(long, value_name = "FILE", conflicts_with_all = ["login", "login_by"])]
    credentials: Option<PathBuf>,
    /// Why, for the audit trail; a realm may ask for it.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// A browser is asked for two factors.
    #[arg(skip)]
    two_factors: bool,
}

/// A client that may administer, as `signet client add --json` prints it, or less.
#[derive(Deserialize)]
struct Credentials {
    client_id: String,
    client_secret: String,
    /// What its record has; the whole of the admin API where it is left out.
    scope: Option<String>,
}

/// Who calls.
enum Caller {
    Token(Secret<String>),
    Client(ClientLogin),
    Person(Option<String>, Way),
    /// A login that is kept.
    Kept(Box<Context>),
}

/// A server that was found.
pub struct Place {
    /// The issuer, without a slash at its end.
    pub issuer: String,
    /// Where it answers: the issuer's address, or a node's own.
    pub base: String,
    /// The authority that its certificate comes from.
    pub trust: Option<PathBuf>,
    dev: Option<dev_file::DevFile>,
    kept: Option<Context>,
}

/// A variable of the environment, unless it is empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl Target {
    /// A server by its URL, or a development server by its data directory.
    pub fn at(place: &str, ca_cert: Option<PathBuf>, credentials: Option<PathBuf>) -> Target {
        let is_url = place.contains("://");
        Target {
            server: is_url.then(|| place.to_owned()),
            data_dir: (!is_url).then(|| PathBuf::from(place)),
            ca_cert,
            realm: None,
            login: None,
            login_by: None,
            credentials,
            reason: None,
            two_factors: false,
        }
    }

    /// For what is done by a person alone who has just shown two factors: a login in a browser asks
    /// for them. What a password or a client gets stays as it is.
    #[must_use]
    pub fn with_two_factors(mut self) -> Target {
        self.two_factors = true;
        self
    }

    /// The server that is named, by the argument or the environment.
    fn named(&self) -> Option<String> {
        let named = self.server.clone().or_else(|| match self.data_dir {
            Some(_) => None,
            None => variable("SIGNET_SERVER"),
        });
        named.map(|server| server.trim_end_matches('/').to_owned())
    }

    /// Whether something says who calls, so that no kept login is meant.
    fn says_who(&self) -> bool {
        self.credentials.is_some()
            || self.login.is_some()
            || self.login_by.is_some()
            || variable("SIGNET_ADMIN_TOKEN").is_some()
            || variable("SIGNET_CLIENT_ID").is_some()
    }

    /// The kept login of the server that is meant. None: a data directory is named, or nothing is
    /// kept.
    fn kept(&self) -> Result<Option<Context>, Failure> {
        let named = self.named();
        if self.data_dir.is_some() || named.is_some() && self.says_who() {
            return Ok(None);
        }
        kept::find(named.as_deref())
    }

    /// Whether a server is meant that answers somewhere: one that is named, or the one of the
    /// current context. Else it is the development server of a directory.
    pub fn is_a_server(&self) -> bool {
        // What is kept and cannot be read is no reason to speak to another server: the command
        // finds out why.
        self.named().is_some() || self.kept().map_or(true, |kept| kept.is_some())
    }

    fn directory(&self) -> &Path {
        let directory = self.data_dir.as_deref();
        directory.unwrap_or(Path::new(dev_file::DEFAULT_DIR))
    }

    /// Whether it is a development server of this machine, which needs nobody to log in.
    pub fn is_development(&self) -> bool {
        !self.is_a_server() && dev_file::read_file(self.directory()).is_ok()
    }

    /// Where the server is.
    pub fn place(&self) -> Result<Place, Failure> {
        let trust = self
            .ca_cert
            .clone()
            .or_else(|| variable("SIGNET_CA_CERT").map(PathBuf::from));
        let kept = self.kept()?;
        let named = self.named();
        if let (None, Some(kept)) = (&named, &kept) {
            kept::say_which(kept, self.directory());
        }
        let (issuer, trust, dev) = match (named, &kept) {
            (named, Some(kept)) => {
                let trust = trust.or_else(|| kept.ca_cert.clone());
                (named.unwrap_or_else(|| kept.issuer.clone()), trust, None)
            }
            (Some(server), None) => (server, trust, None),
            (None, None) => {
                let file = dev_file::read_file(self.directory()).map_err(|e| {
                    Failure::unusable(format!(
                        "{e} (--server URL or SIGNET_SERVER names any other; `signet login --server URL` keeps one)"
                    ))
                })?;
                let trust = trust.unwrap_or_else(|| file.ca_cert.clone());
                (file.issuer.clone(), Some(trust), Some(file))
            }
        };
        let issuer = issuer.trim_end_matches('/').to_owned();
        let base = dev.as_ref().and_then(|dev| dev.node.as_ref());
        let base = base.map_or_else(|| issuer.clone(), |node| node.url.clone());
        Ok(Place {
            issuer,
            base,
            trust,
            dev,
            kept,
        })
    }

    fn caller(
        &self,
        dev: Option<&dev_file::DevFile>,
        kept: Option<Context>,
    ) -> Result<Caller, Failure> {
        if let Some(file) = &self.credentials {
            return credentials(file);
        }
        if self.login_by.is_none()
            && let Some(token) = variable("SIGNET_ADMIN_TOKEN")
        {
            return Ok(Caller::Token(Secret::new(token)));
        }
        if self.login.is_none() && self.login_by.is_none() {
            if let Some(client_id) = variable("SIGNET_CLIENT_ID") {
                let secret = variable("SIGNET_CLIENT_SECRET").ok_or_else(|| {
                    Failure::unusable("SIGNET_CLIENT_ID is set, and SIGNET_CLIENT_SECRET is not")
                })?;
                let scope = variable("SIGNET_CLIENT_SCOPE");
                let login = ClientLogin::new(client_id, secret, scope.as_deref());
                return Ok(Caller::Client(login));
            }
            if let Some(client) = dev.and_then(|dev| dev.admin_client.as_ref()) {
                let secret = client.client_secret.clone().unwrap_or_default();
                let login = ClientLogin::new(client.client_id.clone(), secret, None);
                return Ok(Caller::Client(login));
            }
            // What was shown when the kept login began may be too old for two factors.
            if let Some(kept) = kept.filter(|_| !self.two_factors) {
                return Ok(Caller::Kept(Box::new(kept)));
            }
            // A directory of an earlier version, without that client.
            if dev.is_some() {
                return Ok(Caller::Person(None, Way::Password));
            }
        }
        match self.login_by.or_else(Way::usual) {
            Some(way) => Ok(Caller::Person(self.login.clone(), way)),
            None if self.login.is_some() => Err(Failure::unusable(
                "there is no terminal to log in at: SIGNET_PASSWORD, or --credentials FILE",
            )),
            None => Err(Failure::unusable(
                "who are you? `signet login` at a terminal, --login NAME with SIGNET_PASSWORD, or --credentials FILE",
            )),
        }
    }
}

/// Whether other users of this machine can read or change a file.
fn is_open_to_others(file: &Path) -> bool {
    let metadata = std::fs::metadata(file);
    metadata.is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

fn credentials(file: &Path) -> Result<Caller, Failure> {
    if is_open_to_others(file) {
        note(&format!(
            "signet: {} can be read or changed by other users of this machine: chmod 600 {0}",
            file.display()
        ));
    }
    let text = std::fs::read(file)
        .map_err(|e| Failure::unusable(format!("cannot read {}: {e}", file.display())))?;
    // The parser's own words could repeat the secret.
    let found: Credentials = serde_json::from_slice(&text).map_err(|_| {
        Failure::unusable(format!(
            "{}: expected a JSON object with client_id and client_secret",
            file.display()
        ))
    })?;
    Ok(Caller::Client(ClientLogin::new(
        found.client_id,
        found.client_secret,
        found.scope.as_deref(),
    )))
}

/// A server, and the token it takes.
pub struct Session {
    client: HttpClient,
    base: String,
    token: Secret<String>,
    /// The server whose login was kept.
    kept: Option<String>,
    /// Why, where the caller says it.
    reason: Option<String>,
}

impl Session {
    /// Finds the server, gets a token unless one is at hand, and does `work`.
    pub async fn with<T>(
        target: &Target,
        work: impl AsyncFnOnce(&Session) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        work(&Session::open(target).await?).await
    }

    async fn open(target: &Target) -> Result<Session, Failure> {
        let Place {
            issuer,
            base,
            trust,
            dev,
            kept,
        } = target.place()?;
        let client = HttpClient::new(trust.as_slice()).map_err(Failure::unusable)?;
        let login = Login {
            client: &client,
            issuer: &issuer,
            base: &base,
        };
        let mut of_kept = None;
        let token = match target.caller(dev.as_ref(), kept)? {
            Caller::Kept(context) => {
                of_kept = Some(context.issuer.clone());
                kept::token(*context, &login).await?
            }
            Caller::Token(token) => token,
            Caller::Client(client) => login.as_client(&client).await?,
            Caller::Person(name, Way::Browser) => {
                let class = target.two_factors.then_some(TWO_FACTORS);
                login.by_browser(name.as_deref(), class).await?.access
            }
            Caller::Person(_, Way::Device) => login.by_device().await?.access,
            Caller::Person(name, Way::Password) => {
                let (name, password) = match (name, dev) {
                    (Some(name), _) => (name, input::known_password("Password")?),
                    // A development server's administrator is in its file.
                    (None, Some(dev)) => (dev.admin.username, Secret::new(dev.admin.password)),
                    (None, None) => {
                        return Err(Failure::unusable("whose password? --login NAME"));
                    }
                };
                let totp = variable("SIGNET_TOTP").map(Secret::new);
                login.by_password(&name, &password, totp.as_ref()).await?
            }
        };
        let mut session = Session {
            base: format!("{base}/admin/v1"),
            client,
            token,
            kept: of_kept,
            reason: target.reason.clone(),
        };
        if let Some(realm) = &target.realm {
            let path = format!("/realms/{}", http_client::percent_encode(realm));
            let found = session.get(&path).await?;
            let of_realm = found["issuer"].as_str().unwrap_or_default();
            // A node is asked under its own name, as it is for the first realm.
            let of_realm = match of_realm.strip_prefix(&issuer) {
                Some(path) if path.starts_with('/') => format!("{base}{path}"),
                Some(_) | None => of_realm.to_owned(),
            };
            session.base = format!("{of_realm}/admin/v1");
        }
        Ok(session)
    }

    /// Whom the server takes the caller for, as the token says: a `client_id`, where a client acts
    /// for itself.
    pub fn acts_as_client(&self) -> Option<String> {
        let claims = claims(self.token.expose())?;
        let client_id = claims["client_id"].as_str()?;
        // RFC 9068 section 3: of a client that acts for itself the subject is the client.
        (claims["sub"] == client_id).then(|| client_id.to_owned())
    }

    /// GET; `path` begins with a slash.
    pub async fn get(&self, path: &str) -> Result<Value, Failure> {
        Ok(self.call(Method::GET, path, None, None).await?.value)
    }

    /// Any call. `if_match`: the ETag of what is replaced. A refusal by the server is exit 1 with
    /// its own code and words.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        if_match: Option<&str>,
    ) -> Result<Reply, Failure> {
        let url = format!("{}{path}", self.base);
        let bearer = format!("Bearer {}", self.token.expose());
        let mut headers = vec![
            ("authorization", bearer.as_str()),
            ("accept", "application/json"),
        ];
        if let Some(etag) = if_match {
            headers.push(("if-match", etag));
        }
        if let Some(reason) = self.reason.as_deref().filter(|_| method != Method::GET) {
            headers.push(("signet-reason", reason));
        }
        let body = match body {
            Some(value) => {
                headers.push(("content-type", "application/json"));
                Bytes::from(value.to_string())
            }
            None => Bytes::new(),
        };
        let answer = self
            .client
            .send(method, &url, &headers, body)
            .await
            .map_err(Failure::unusable)?;
        if let Some(server) = &self.kept
            && answer.status == StatusCode::UNAUTHORIZED
        {
            return Err(kept::ended(server));
        }
        let etag = answer.header("etag").map(str::to_owned);
        Ok(Reply {
            value: read(&answer, &url)?,
            etag,
        })
    }
}

/// What a call answered.
pub struct Reply {
    /// The body.
    pub value: Value,
    /// Names the revision of the record.
    pub etag: Option<String>,
}

/// An answer's JSON; a refusal by the server is exit 1 with its own code and words.
pub fn read(answer: &Answer, url: &str) -> Result<Value, Failure> {
    let value = if answer.body.is_empty() {
        Ok(Value::Null)
    } else {
        serde_json::from_slice::<Value>(&answer.body)
    };
    if answer.status.is_success() {
        return value.map_err(|e| Failure::unusable(format!("{url}: the answer is not JSON: {e}")));
    }
    let value = value.unwrap_or_default();
    // OAuth's own form (RFC 6749 section 5.2), or a problem document (RFC 9457) of the admin API.
    match value["error"].as_str().or(value["code"].as_str()) {
        Some(error) => {
            let words = value["error_description"]
                .as_str()
                .or(value["detail"].as_str());
            // One name for it, whichever check found out: somebody else was faster.
            let error = match error {
                "changed_meanwhile" => CONFLICT,
                other => other,
            };
            Err(Failure::no(error, words.unwrap_or(error)))
        }
        // No error of the API: something else answers there.
        None => Err(Failure::unusable(format!(
            "{url} answered {}",
            answer.status
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credentials_file_that_others_can_read_is_said() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (mode, open) in [(0o600, false), (0o400, false), (0o644, true), (0o620, true)] {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(file.path(), permissions).unwrap();
            assert_eq!(is_open_to_others(file.path()), open, "{mode:o}");
        }
        assert!(!is_open_to_others(Path::new("/nonexistent")));
    }
}

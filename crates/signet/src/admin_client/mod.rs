//! A session with the admin API of a running server.
//!
//! The token comes from SIGNET_ADMIN_TOKEN, or from a login as the built-in client `signet-cli`: authorization code and PKCE
//! with the server's own pages, whose forms are filled in as a browser would. Nothing is kept: each command logs in anew.

mod login;
mod page;

use std::path::PathBuf;

use bytes::Bytes;
use http::Method;
use serde_json::Value;
use signet_crypto::Secret;

use crate::{
    cli::Failure,
    dev,
    http_client::{Answer, HttpClient, percent_encode},
    input,
};

/// The built-in client of the command line.
pub const CLI_CLIENT_ID: &str = "signet-cli";
/// Its redirect: nothing listens there, the answer is taken from the Location header.
pub const CLI_REDIRECT_URI: &str = "http://127.0.0.1/callback";

/// Which server, and as whom.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Target {
    /// The server's issuer URL.
    #[arg(long, value_name = "URL", conflicts_with = "data_dir")]
    pub server: Option<String>,
    /// The data directory of a development server on this machine.
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// PEM file of the authority that the server's certificate comes from.
    #[arg(long, value_name = "FILE")]
    pub ca_cert: Option<PathBuf>,
    /// The administrator to log in as; the password comes from SIGNET_PASSWORD or a prompt. SIGNET_ADMIN_TOKEN, a token
    /// with the scope signet:admin, makes a login needless.
    #[arg(long, value_name = "NAME")]
    pub login: Option<String>,
}

/// A server, and the token it takes.
pub struct Session {
    client: HttpClient,
    base: String,
    token: Secret<String>,
    /// By a login of its own.
    made: bool,
}

impl Session {
    /// Finds the server, logs in unless a token is at hand, does `work`, and ends the login that it made.
    pub async fn with<T>(
        target: &Target,
        work: impl AsyncFnOnce(&Session) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let session = Session::open(target).await?;
        let done = work(&session).await;
        session.close().await;
        done
    }

    /// Ends the login session, and with it the token. Its own end comes within minutes anyway: a failure is no failure.
    async fn close(&self) {
        if let Some((user, sid)) = self
            .made
            .then(|| login::session_of(self.token.expose()))
            .flatten()
        {
            let path = format!(
                "/users/{}/sessions/{}",
                percent_encode(&user),
                percent_encode(&sid)
            );
            let _ = self.call(Method::DELETE, &path, None, None).await;
        }
    }

    async fn open(target: &Target) -> Result<Session, Failure> {
        let (issuer, trust, account) = match (&target.server, &target.data_dir) {
            (Some(server), _) => (server.clone(), target.ca_cert.clone(), None),
            (None, directory) => {
                let directory = directory.clone().unwrap_or_else(|| dev::DEFAULT_DIR.into());
                let file = dev::read_file(&directory).map_err(|e| {
                    Failure::unusable(format!("{e} (--server URL names any other)"))
                })?;
                let trust = target.ca_cert.clone().unwrap_or(file.ca_cert);
                (file.issuer, Some(trust), Some(file.admin))
            }
        };
        let issuer = issuer.trim_end_matches('/').to_owned();
        let trust: Vec<PathBuf> = trust.into_iter().collect();
        let client = HttpClient::new(&trust).map_err(Failure::unusable)?;
        let (token, made) = match std::env::var("SIGNET_ADMIN_TOKEN") {
            Ok(token) if !token.is_empty() => (Secret::new(token), false),
            _ => {
                let (name, password) = match (&target.login, account) {
                    (None, Some(account)) => (account.username, Secret::new(account.password)),
                    (Some(name), _) => (name.clone(), input::password(false, None, "Password")?),
                    (None, None) => {
                        return Err(Failure::unusable(
                            "who are you? --login NAME, or a token in SIGNET_ADMIN_TOKEN",
                        ));
                    }
                };
                (
                    login::log_in(&client, &issuer, &name, &password).await?,
                    true,
                )
            }
        };
        Ok(Session {
            client,
            base: format!("{issuer}/admin/v1"),
            token,
            made,
        })
    }

    /// GET; `path` begins with a slash.
    pub async fn get(&self, path: &str) -> Result<Value, Failure> {
        Ok(self.call(Method::GET, path, None, None).await?.value)
    }

    /// Any call. `if_match`: the ETag of what is replaced. A refusal by the server is exit 1 with its own code and words.
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
        let etag = answer.header("etag").map(str::to_owned);
        Ok(Reply {
            value: read(&answer, &url)?,
            etag,
        })
    }
}

/// What a call answered.
pub struct Reply {
    pub value: Value,
    /// Names the revision of the record.
    pub etag: Option<String>,
}

fn read(answer: &Answer, url: &str) -> Result<Value, Failure> {
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
            Err(Failure::no(error, words.unwrap_or(error)))
        }
        // No error of the API: something else answers there.
        None => Err(Failure::unusable(format!(
            "{url} answered {}",
            answer.status
        ))),
    }
}

//! `signet dev`: what a development server made, and a token of it that a person can ask for.

mod code_flow;

use std::path::PathBuf;

use bytes::Bytes;
use clap::{Args, Subcommand, ValueEnum};
use http::Method;
use serde_json::Value;
use signet_crypto::Secret;

use super::{Failure, Output, block_on, output};
use crate::dev::{self, Credentials, DevFile};
use signet_admin_client::http_client::{HttpClient, form};
use signet_http_client::text::basic;
use signet_terminal::input;

/// `signet dev ...`
#[derive(Debug, Subcommand)]
pub enum DevCommand {
    /// Print an access token of the development server.
    #[command(
        after_help = "Example:\n  signet dev token\n  signet dev token --client web --user alice --scope openid --scope email"
    )]
    Token(Token),
    /// Print what dev.json says: where the server is, its accounts and clients, with their secrets.
    #[command(after_help = "Example:\n  signet dev show")]
    Show(Directory),
    /// Print the way of one request through a development server, step by step, with times: of the
    /// last 1000 that it answered.
    #[command(after_help = "Example:\n  signet dev trace 8w0ZlJ0Hh2mVq7aX")]
    Trace(signet_monitoring::Trace),
}

/// Whose server.
#[derive(Debug, Args)]
pub struct Directory {
    /// The development server's data directory.
    #[arg(long, value_name = "DIR", default_value = dev::DEFAULT_DIR)]
    data_dir: PathBuf,
}

/// `signet dev token ...`
#[derive(Debug, Args)]
pub struct Token {
    /// For whom: the service's own token, or a person's by way of an application.
    #[arg(long, value_enum, default_value = "service")]
    client: ClientName,
    /// Who logs in, with `web` and `native` [default: alice]. The password of anybody that dev.json
    /// has not comes from SIGNET_PASSWORD or a prompt.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// A scope to ask for [default: what the client may have; with a person openid, profile and
    /// email].
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
    /// A resource server that the token is for (RFC 8707) [default: the issuer].
    #[arg(long, value_name = "URI")]
    resource: Vec<String>,
    #[command(flatten)]
    directory: Directory,
}

/// The three clients of dev.json.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ClientName {
    Service,
    Web,
    Native,
}

const PERSON_SCOPES: &str = "openid profile email";

/// Does the command.
pub fn run(command: DevCommand, output: &Output) -> Result<(), Failure> {
    match command {
        DevCommand::Token(arguments) => token(&arguments, output),
        DevCommand::Trace(command) => block_on(command.run(output))?,
        DevCommand::Show(directory) => {
            let file = read(&directory)?;
            let value =
                serde_json::to_value(&file).map_err(|e| Failure::unusable(e.to_string()))?;
            output.print(&value, || table(&value))
        }
    }
}

fn read(directory: &Directory) -> Result<DevFile, Failure> {
    dev::read_file(&directory.data_dir).map_err(|e| {
        Failure::unusable(format!(
            "{e} (`signet serve --dev` makes one; --data-dir DIR names any other)"
        ))
    })
}

/// Each leaf of the file on a line: `clients.web.client_id`.
fn table(file: &Value) -> String {
    fn leaves(path: &str, value: &Value, rows: &mut Vec<Vec<String>>) {
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    let path = match path {
                        "" => name.clone(),
                        path => format!("{path}.{name}"),
                    };
                    leaves(&path, value, rows);
                }
            }
            Value::Array(items) => {
                let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                rows.push(vec![path.to_owned(), texts.join(" ")]);
            }
            Value::String(text) => rows.push(vec![path.to_owned(), text.clone()]),
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                rows.push(vec![path.to_owned(), value.to_string()]);
            }
        }
    }
    let mut rows = Vec::new();
    leaves("", file, &mut rows);
    output::table(&["member", "value"], &rows)
}

fn token(arguments: &Token, output: &Output) -> Result<(), Failure> {
    let file = read(&arguments.directory)?;
    let client = HttpClient::new(std::slice::from_ref(&file.ca_cert)).map_err(Failure::unusable)?;
    let answer = match arguments.client {
        ClientName::Service if arguments.user.is_some() => {
            return Err(Failure::unusable(
                "the service has tokens of its own: --user goes with --client web or native",
            ));
        }
        ClientName::Service => {
            let scope = arguments.scope.join(" ");
            let mut fields = vec![("grant_type", "client_credentials")];
            if !scope.is_empty() {
                fields.push(("scope", &scope));
            }
            fields.extend(resources(arguments));
            block_on(post_token(&client, &file, &file.clients.service, &fields))??
        }
        ClientName::Web => block_on(of_person(&client, &file, &file.clients.web, arguments))??,
        ClientName::Native => {
            block_on(of_person(&client, &file, &file.clients.native, arguments))??
        }
    };
    let token = answer["access_token"]
        .as_str()
        .ok_or_else(|| Failure::unusable("the server gave no access token"))?
        .to_owned();
    output.print(&answer, || token)
}

fn resources(arguments: &Token) -> impl Iterator<Item = (&str, &str)> {
    arguments.resource.iter().map(|r| ("resource", r.as_str()))
}

/// A person's token: login and consent as a browser does them, and the code for it.
async fn of_person(
    client: &HttpClient,
    file: &DevFile,
    application: &Credentials,
    arguments: &Token,
) -> Result<Value, Failure> {
    let name = arguments.user.as_deref().unwrap_or(&file.user.username);
    let known = [&file.user, &file.admin]
        .into_iter()
        .find(|account| account.username == name);
    let password = match known {
        Some(account) => Secret::new(account.password.clone()),
        None => input::known_password(&format!("Password of {name}"))?,
    };
    let scope = match arguments.scope.is_empty() {
        true => PERSON_SCOPES.to_owned(),
        false => arguments.scope.join(" "),
    };
    let redirect = application
        .redirect_uris
        .first()
        .ok_or_else(|| Failure::unusable("the client of dev.json has no redirect_uri"))?;
    let resources: Vec<_> = resources(arguments).collect();
    let flow = code_flow::Flow {
        client,
        server: file.url(),
        client_id: &application.client_id,
        redirect_uri: redirect,
        scope: &scope,
        resources: &resources,
    };
    let (code, verifier) = flow.code(name, &password).await?;
    let mut fields = vec![
        ("grant_type", "authorization_code"),
        ("redirect_uri", redirect),
        ("code", code.expose()),
        ("code_verifier", verifier.expose()),
    ];
    fields.extend(resources);
    post_token(client, file, application, &fields).await
}

async fn post_token(
    client: &HttpClient,
    file: &DevFile,
    application: &Credentials,
    fields: &[(&str, &str)],
) -> Result<Value, Failure> {
    let mut fields = fields.to_vec();
    let mut headers = vec![("content-type", "application/x-www-form-urlencoded")];
    let authorization;
    match &application.client_secret {
        Some(secret) => {
            authorization = basic(&application.client_id, secret);
            headers.push(("authorization", authorization.as_str()));
        }
        None => fields.push(("client_id", &application.client_id)),
    }
    let url = format!("{}/token", file.url());
    let body = Bytes::from(form(&fields));
    let answer = client
        .send(Method::POST, &url, &headers, body)
        .await
        .map_err(|e| Failure::unusable(format!("{e} (is the development server running?)")))?;
    signet_admin_client::read(&answer, &url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_for_each_member() {
        let file = serde_json::json!({
            "issuer": "https://localhost:1",
            "clients": { "web": { "client_id": "web", "redirect_uris": ["a", "b"] } },
        });
        let text = table(&file);
        for line in [
            "issuer",
            "clients.web.client_id",
            "clients.web.redirect_uris",
        ] {
            assert!(text.lines().any(|l| l.starts_with(line)), "{text}");
        }
        assert!(text.contains("a b"));
    }
}

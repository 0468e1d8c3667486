//! `signet client`.

use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Map, Value};
use signet_admin::CLIENTS;
use signet_oauth::scope::ADMIN;

use super::{
    connect::KindArguments,
    fields::Field,
    noun::{Leave, Paging, change_if, item, list, record, remove, revoke, secret_once, send, show},
};
use crate::cli::{Failure, Output, block_on, note};
use signet_admin_client::{Session, Target};
use signet_config::duration::Duration;

/// `signet client ...`
#[derive(Debug, Subcommand)]
pub enum ClientCommand {
    /// List clients.
    #[command(
        after_help = "Example:\n  signet client list --server https://id.example.com --login root"
    )]
    List {
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        paging: Paging,
    },
    /// Show one client.
    #[command(after_help = "Example:\n  signet client show web --json")]
    Show {
        /// Its client_id.
        id: String,
        #[command(flatten)]
        target: Target,
    },
    /// Make a client. A secret is generated where its method needs one, and printed this once.
    ///
    /// A kind (--web, --spa, --native, --service, --device) fills the record with what such an
    /// application needs, and prints a program to begin with.
    #[command(
        after_help = "Example:\n  signet client add --web --name \"My app\" --redirect-uri https://app.example.com/callback\n  signet client add --name \"My app\" --redirect-uri https://app.example.com/callback --scope openid"
    )]
    Add(Box<AddClient>),
    /// Change members of a client's record, by their RFC 7591 names.
    #[command(
        after_help = "Example:\n  signet client set web require_pkce=false access_token_lifetime=300"
    )]
    Set {
        /// Its client_id.
        id: String,
        /// Members to change.
        #[arg(value_name = "NAME=VALUE", required = true)]
        fields: Vec<Field>,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
    /// Make another secret, printed this once; the ones before it end, at once or after a while.
    #[command(after_help = "Example:\n  signet client secret web --others-expire-in 1h")]
    Secret {
        /// Its client_id.
        id: String,
        /// How long the other secrets stay valid: 90s, 10m, 8h, 30d.
        #[arg(long, value_name = "DURATION", default_value = "0", value_parser = Duration::parse)]
        others_expire_in: Duration,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
    /// End everything that a client holds: tokens and grants. Its record stays.
    #[command(after_help = "Example:\n  signet client revoke web")]
    Revoke {
        /// Its client_id.
        id: String,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
    /// Remove a client; its tokens end.
    #[command(after_help = "Example:\n  signet client remove web")]
    Remove {
        /// Its client_id.
        id: String,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet client add ...`
#[derive(Debug, Args)]
pub struct AddClient {
    #[command(flatten)]
    kind: KindArguments,
    /// Its id; generated unless given.
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// Shown to people.
    #[arg(long)]
    name: Option<String>,
    /// Where answers go.
    #[arg(long, value_name = "URI")]
    redirect_uri: Vec<String>,
    /// A grant: authorization_code, refresh_token, client_credentials, ...
    #[arg(long, value_name = "GRANT")]
    grant_type: Vec<String>,
    /// client_secret_basic, private_key_jwt, none, ... Without it: a secret, which may come in the
    /// header or in the body.
    #[arg(long, value_name = "METHOD")]
    auth_method: Option<String>,
    /// A scope it may ask for.
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
    /// Further members.
    #[arg(value_name = "NAME=VALUE")]
    fields: Vec<Field>,
    #[command(flatten)]
    leave: Leave,
    #[command(flatten)]
    target: Target,
}

/// `signet client ...`
pub fn run(command: ClientCommand, output: &Output) -> Result<(), Failure> {
    match command {
        ClientCommand::List { target, paging } => list(&CLIENTS, &target, &paging, output),
        ClientCommand::Show { id, target } => show(&CLIENTS, &target, &id, output),
        ClientCommand::Remove { id, leave, target } => {
            remove(&CLIENTS, &target, &id, leave, output)
        }
        ClientCommand::Revoke { id, leave, target } => {
            leave.ask_a_person(&format!("End every token and grant of {id}?"))?;
            block_on(Session::with(&target, async |session| {
                revoke(session, &item(&CLIENTS, &id), &id, output).await
            }))?
        }
        ClientCommand::Set {
            id,
            fields,
            leave,
            target,
        } => block_on(Session::with(&target, async |session| {
            let own = session.acts_as_client().is_some_and(|own| own == id);
            let scopes = fields.iter().any(|field| field.is("scope"));
            let written = change_if(session, &CLIENTS, &id, &fields, |before, after| {
                if scopes {
                    no_commas(after, leave)?;
                }
                match own && administers(before) && !administers(after) {
                    true => leave.ask(&format!(
                        "{id} is the client that this command acts as, and it would administer no more."
                    )),
                    false => Ok(()),
                }
            });
            let written = written.await?;
            // Who took its own right away cannot ask what is defined.
            let may_ask = !own || written.as_object().is_some_and(administers);
            if scopes && may_ask {
                undefined_scopes(session, &written).await?;
            }
            output.print(&written, || secret_once(&written))
        }))?,
        ClientCommand::Secret {
            id,
            others_expire_in,
            leave,
            target,
        } => {
            if others_expire_in.0 == 0 {
                leave.ask_a_person(&format!("End the other secrets of {id} now?"))?;
            }
            let path = format!("{}/secrets", item(&CLIENTS, &id));
            let body = serde_json::json!({ "others_expire_in": others_expire_in.0 });
            send(&target, Method::POST, &path, &body, output, secret_once)
        }
        ClientCommand::Add(add) => {
            let mut fields = record(&CLIENTS, &add.fields)?;
            let mut put = |name: &str, value: Value| {
                fields.insert(name.into(), value);
            };
            if let Some(id) = add.client_id {
                put("client_id", id.into());
            }
            if let Some(name) = add.name {
                put("client_name", name.into());
            }
            if !add.redirect_uri.is_empty() {
                put("redirect_uris", add.redirect_uri.into());
            }
            if !add.grant_type.is_empty() {
                put("grant_types", add.grant_type.into());
            }
            if let Some(method) = add.auth_method {
                put("token_endpoint_auth_method", method.into());
            }
            if !add.scope.is_empty() {
                put("scope", add.scope.join(" ").into());
            }
            let kind = add.kind;
            kind.fill(&mut fields);
            no_commas(&fields, add.leave)?;
            let place = add.target.place()?;
            let body = Value::Object(fields);
            block_on(Session::with(&add.target, async |session| {
                let made = session
                    .call(Method::POST, CLIENTS.path(), Some(&body), None)
                    .await?;
                undefined_scopes(session, &made.value).await?;
                output.print(&made.value, || {
                    let record = secret_once(&made.value);
                    let (issuer, trust) = (&place.issuer, place.trust.as_deref());
                    match kind.lines(&made.value, issuer, trust) {
                        Some(lines) => format!(
                            "{record}\n\nA program to begin with; docs/connect.md has others.\n\n{lines}"
                        ),
                        None => record,
                    }
                })
            }))?
        }
    }
}

/// Whether a client with this record gets tokens of its own for the admin API.
fn administers(record: &Map<String, Value>) -> bool {
    let scope = record.get("scope").and_then(Value::as_str);
    let grants = record.get("grant_types").and_then(Value::as_array);
    let of_its_own = |grant: &Value| grant == "client_credentials";
    record.get("enabled") != Some(&Value::Bool(false))
        && scope.is_some_and(|scope| scope.split(' ').any(|name| name == ADMIN))
        && grants.is_some_and(|grants| grants.iter().any(of_its_own))
}

/// A comma may be a part of a scope's name (RFC 6749 section 3.3), and nearly never is one.
fn no_commas(record: &Map<String, Value>, leave: Leave) -> Result<(), Failure> {
    let scope = record.get("scope").and_then(Value::as_str);
    let names = scope.unwrap_or_default();
    match names.split(' ').find(|name| name.contains(',')) {
        Some(name) => {
            let apart = name.replace(',', " ");
            leave.ask(&format!(
                "\"{name}\" would be one scope: spaces separate them, as in scope=\"{apart}\"."
            ))
        }
        None => Ok(()),
    }
}

/// Says which scopes of a client nobody has defined: it may ask for them, and they mean nothing to
/// anybody.
async fn undefined_scopes(session: &Session, client: &Value) -> Result<(), Failure> {
    let scopes = session.get("/scopes").await?;
    let known: Vec<&str> = scopes["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|scope| scope["name"].as_str())
        .collect();
    for name in client["scope"].as_str().unwrap_or_default().split(' ') {
        if !name.is_empty() && !known.contains(&name) {
            note(&format!(
                "nobody has defined the scope {name}: `signet scope add {name} \"...\"` does"
            ));
        }
    }
    Ok(())
}

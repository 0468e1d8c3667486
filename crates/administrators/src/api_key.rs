//! `signet api-key ...`
use crate::duration::seconds;
use clap::Subcommand;
use http::Method;
use serde_json::{Value, json};
use signet_admin_client::http_client::percent_encode;
use signet_admin_client::{Session, Target};
use signet_terminal::input::confirm;
use signet_terminal::output::{Failure, Output, date, note, table};

const COLUMNS: [&str; 5] = ["name", "id", "roles", "expires_at", "last_used_at"];
/// Keys of a page.
const PAGE: usize = 500;

/// `signet api-key ...`
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "what is flattened says of itself what it is")]
pub enum ApiKeyCommand {
    /// Make an API key, which is printed here and never again.
    #[command(
        after_help = "SIGNET_ADMIN_TOKEN takes a key.\n\nExample:\n  signet api-key add backup --role auditor --expires-in 90d"
    )]
    Add {
        /// What it is for.
        name: String,
        /// A role that it has. May be repeated.
        #[arg(long = "role", value_name = "ROLE", required = true)]
        roles: Vec<String>,
        /// When it ends: 90d, 12h; at most 366d.
        #[arg(long, value_name = "TIME", value_parser = seconds)]
        expires_in: u64,
        #[command(flatten)]
        target: Target,
    },
    /// List the API keys, with their ends and their last uses.
    #[command(after_help = "Example:\n  signet api-key list")]
    List {
        #[command(flatten)]
        target: Target,
    },
    /// Remove an API key: it is valid no more, on no node.
    #[command(after_help = "Example:\n  signet api-key remove 5f0c9a1be24d7786a3c1 --yes")]
    Remove {
        /// Its id, as the list has it.
        id: String,
        /// Do not ask. Only a person at a terminal is asked.
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        target: Target,
    },
}

impl ApiKeyCommand {
    /// Does it.
    ///
    /// # Errors
    /// The server's refusal; a server that cannot be reached.
    pub async fn run(self, output: &Output) -> Result<(), Failure> {
        match self {
            ApiKeyCommand::Add {
                name,
                roles,
                expires_in,
                target,
            } => {
                let body = json!({ "name": name, "roles": roles, "expires_in": expires_in });
                Session::with(&target, async |session| {
                    let made = session.call(Method::POST, "/api-keys", Some(&body), None);
                    let made = made.await?.value;
                    note("signet: the key is shown once");
                    let key = made["api_key"].as_str().unwrap_or_default().to_owned();
                    output.print(&made, || key)
                })
                .await
            }
            ApiKeyCommand::List { target } => {
                Session::with(&target, async |session| {
                    let keys = all(session).await?;
                    let rows: Vec<Vec<String>> = keys.iter().map(cells).collect();
                    output.print(&Value::Array(keys), || table(&COLUMNS, &rows))
                })
                .await
            }
            ApiKeyCommand::Remove { id, yes, target } => {
                confirm(yes, &format!("Remove the API key {id}?"))?;
                Session::with(&target, async |session| {
                    let path = format!("/api-keys/{}", percent_encode(&id));
                    session.call(Method::DELETE, &path, None, None).await?;
                    output.print(&json!({ "removed": id }), || format!("removed {id}"))
                })
                .await
            }
        }
    }
}

async fn all(session: &Session) -> Result<Vec<Value>, Failure> {
    let mut all = Vec::new();
    let mut path = format!("/api-keys?limit={PAGE}");
    loop {
        let page = session.get(&path).await?;
        all.extend(page["items"].as_array().cloned().unwrap_or_default());
        match page["next"].as_str() {
            Some(next) => path = format!("/api-keys?limit={PAGE}&after={}", percent_encode(next)),
            None => return Ok(all),
        }
    }
}

fn cells(key: &Value) -> Vec<String> {
    let cell = |column: &&str| match &key[*column] {
        Value::Array(items) => {
            let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            texts.join(" ")
        }
        Value::Number(at) => at.as_u64().map(date).unwrap_or_default(),
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    };
    COLUMNS.iter().map(cell).collect()
}

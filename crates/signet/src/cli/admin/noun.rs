//! The other nouns of the admin API. Each verb is one request; people get tables, scripts the API's own JSON.

use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Map, Value};

use super::fields::{self, Field};
use crate::{
    admin_client::{Session, Target},
    cli::{Failure, Output, block_on, output},
    http_client::percent_encode,
};

/// A collection of the admin API.
pub struct Kind {
    /// Under /admin/v1.
    pub path: &'static str,
    /// What a table shows of each item.
    pub columns: &'static [&'static str],
}

const CLIENTS: Kind = Kind {
    path: "/clients",
    columns: &[
        "client_id",
        "client_name",
        "token_endpoint_auth_method",
        "grant_types",
        "scope",
        "enabled",
    ],
};
const KEYS: Kind = Kind {
    path: "/keys",
    columns: &[
        "kid",
        "alg",
        "phase",
        "created_at",
        "active_from",
        "ends_at",
    ],
};
const SESSIONS: Kind = Kind {
    path: "/sessions",
    columns: &[
        "sid",
        "username",
        "auth_time",
        "last_seen",
        "address",
        "browser",
    ],
};
const GRANTS: Kind = Kind {
    path: "/grants",
    columns: &[
        "grant_id",
        "username",
        "client_id",
        "scope",
        "created_at",
        "expires_at",
    ],
};
const SCOPES: Kind = Kind {
    path: "/scopes",
    columns: &["name", "description", "published"],
};
const RESOURCES: Kind = Kind {
    path: "/resources",
    columns: &["identifier", "name", "scopes"],
};

/// How much of a list.
#[derive(Clone, Debug, Args)]
#[group(skip)]
pub struct Paging {
    /// At most so many.
    #[arg(long, default_value_t = 1000)]
    limit: usize,
}

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
    #[command(
        after_help = "Example:\n  signet client add --name \"My app\" --redirect-uri https://app.example.com/callback --scope openid"
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
        target: Target,
    },
    /// Make another secret, printed this once; the older ones go on for a while, or end with --only.
    #[command(after_help = "Example:\n  signet client secret web --only")]
    Secret {
        /// Its client_id.
        id: String,
        /// End every other secret at once.
        #[arg(long)]
        only: bool,
        #[command(flatten)]
        target: Target,
    },
    /// Remove a client; its tokens end.
    #[command(after_help = "Example:\n  signet client remove web")]
    Remove {
        /// Its client_id.
        id: String,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet client add ...`
#[derive(Debug, Args)]
pub struct AddClient {
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
    /// client_secret_basic, private_key_jwt, none, ...
    #[arg(long, value_name = "METHOD")]
    auth_method: Option<String>,
    /// A scope it may ask for.
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
    /// Further members.
    #[arg(value_name = "NAME=VALUE")]
    fields: Vec<Field>,
    #[command(flatten)]
    target: Target,
}

/// `signet key ...`
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// List signing keys and where they are in their life.
    #[command(after_help = "Example:\n  signet key list")]
    List {
        #[command(flatten)]
        target: Target,
    },
    /// Let the next keys take over, as soon as they have been published for long enough.
    #[command(after_help = "Example:\n  signet key rotate --alg ES256")]
    Rotate {
        /// One algorithm; all unless given.
        #[arg(long)]
        alg: Option<String>,
        /// The current keys may be in other hands: withdraw them at once, with everything that they signed.
        #[arg(long)]
        compromised: bool,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet session ...`
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// List a user's login sessions.
    #[command(after_help = "Example:\n  signet session list --user alice")]
    List {
        /// User name, mail address or id.
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        paging: Paging,
    },
    /// Show one session.
    #[command(after_help = "Example:\n  signet session show SID")]
    Show {
        /// Its sid.
        id: String,
        #[command(flatten)]
        target: Target,
    },
    /// End a session, with the tokens that came from it.
    #[command(after_help = "Example:\n  signet session remove SID")]
    Remove {
        /// Its sid.
        id: String,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet grant ...`
#[derive(Debug, Subcommand)]
pub enum GrantCommand {
    /// List what a user has granted.
    #[command(after_help = "Example:\n  signet grant list --user alice")]
    List {
        /// User name, mail address or id.
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        paging: Paging,
    },
    /// Show one grant.
    #[command(after_help = "Example:\n  signet grant show GRANT_ID")]
    Show {
        /// Its grant_id.
        id: String,
        #[command(flatten)]
        target: Target,
    },
    /// End a grant: its refresh tokens and every access token.
    #[command(after_help = "Example:\n  signet grant remove GRANT_ID")]
    Remove {
        /// Its grant_id.
        id: String,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet scope ...`
#[derive(Debug, Subcommand)]
pub enum ScopeCommand {
    /// List scopes.
    #[command(after_help = "Example:\n  signet scope list")]
    List {
        #[command(flatten)]
        target: Target,
    },
    /// Make a scope, or change it.
    #[command(after_help = "Example:\n  signet scope add orders:read \"See your orders\"")]
    Add {
        /// Its name.
        name: String,
        /// What people read when they are asked.
        description: String,
        /// Leave it out of the metadata.
        #[arg(long)]
        unpublished: bool,
        #[command(flatten)]
        target: Target,
    },
    /// Remove a scope.
    #[command(after_help = "Example:\n  signet scope remove orders:read")]
    Remove {
        /// Its name.
        name: String,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet resource ...`
#[derive(Debug, Subcommand)]
pub enum ResourceCommand {
    /// List resource servers.
    #[command(after_help = "Example:\n  signet resource list")]
    List {
        #[command(flatten)]
        target: Target,
    },
    /// Show one resource server.
    #[command(after_help = "Example:\n  signet resource show https://api.example.com")]
    Show {
        /// Its identifier.
        id: String,
        #[command(flatten)]
        target: Target,
    },
    /// Make a resource server (RFC 8707).
    #[command(
        after_help = "Example:\n  signet resource add https://api.example.com 'scopes=[\"orders:read\"]'"
    )]
    Add {
        /// Its identifier, a URI.
        id: String,
        /// Further members.
        #[arg(value_name = "NAME=VALUE")]
        fields: Vec<Field>,
        #[command(flatten)]
        target: Target,
    },
    /// Change a resource server.
    #[command(
        after_help = "Example:\n  signet resource set https://api.example.com access_token_lifetime=60"
    )]
    Set {
        /// Its identifier.
        id: String,
        /// Members to change.
        #[arg(value_name = "NAME=VALUE", required = true)]
        fields: Vec<Field>,
        #[command(flatten)]
        target: Target,
    },
    /// Remove a resource server.
    #[command(after_help = "Example:\n  signet resource remove https://api.example.com")]
    Remove {
        /// Its identifier.
        id: String,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet client ...`
pub fn client(command: ClientCommand, output: &Output) -> Result<(), Failure> {
    match command {
        ClientCommand::List { target, paging } => list(&CLIENTS, &target, &paging, &[], output),
        ClientCommand::Show { id, target } => show(&CLIENTS, &target, &id, output),
        ClientCommand::Remove { id, target } => remove(&CLIENTS, &target, &id, output),
        ClientCommand::Set { id, fields, target } => {
            set(&CLIENTS, &target, &id, record(fields), output)
        }
        ClientCommand::Secret { id, only, target } => {
            let path = format!("{}/secrets", item(&CLIENTS, &id));
            let body = serde_json::json!({ "only": only });
            post(&target, &path, &body, output, secret_once)
        }
        ClientCommand::Add(add) => {
            let mut fields = Map::new();
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
            fields::put(&mut fields, add.fields);
            post(
                &add.target,
                CLIENTS.path,
                &Value::Object(fields),
                output,
                secret_once,
            )
        }
    }
}

/// `signet key ...`
pub fn key(command: KeyCommand, output: &Output) -> Result<(), Failure> {
    match command {
        KeyCommand::List { target } => list(&KEYS, &target, &Paging { limit: 1000 }, &[], output),
        KeyCommand::Rotate {
            alg,
            compromised,
            target,
        } => {
            let mut body = Map::new();
            if let Some(alg) = alg {
                body.insert("alg".into(), alg.into());
            }
            body.insert("compromised".into(), compromised.into());
            post(
                &target,
                "/keys/rotate",
                &Value::Object(body),
                output,
                |answer| {
                    items(answer)
                        .map_or_else(|| output::pretty(answer), |rows| rows_table(&KEYS, rows))
                },
            )
        }
    }
}

/// `signet session ...`
pub fn session(command: SessionCommand, output: &Output) -> Result<(), Failure> {
    match command {
        SessionCommand::List {
            user,
            target,
            paging,
        } => list(
            &SESSIONS,
            &target,
            &paging,
            &[("user", user.as_deref())],
            output,
        ),
        SessionCommand::Show { id, target } => show(&SESSIONS, &target, &id, output),
        SessionCommand::Remove { id, target } => remove(&SESSIONS, &target, &id, output),
    }
}

/// `signet grant ...`
pub fn grant(command: GrantCommand, output: &Output) -> Result<(), Failure> {
    match command {
        GrantCommand::List {
            user,
            target,
            paging,
        } => list(
            &GRANTS,
            &target,
            &paging,
            &[("user", user.as_deref())],
            output,
        ),
        GrantCommand::Show { id, target } => show(&GRANTS, &target, &id, output),
        GrantCommand::Remove { id, target } => remove(&GRANTS, &target, &id, output),
    }
}

/// `signet scope ...`
pub fn scope(command: ScopeCommand, output: &Output) -> Result<(), Failure> {
    match command {
        ScopeCommand::List { target } => {
            list(&SCOPES, &target, &Paging { limit: 1000 }, &[], output)
        }
        ScopeCommand::Remove { name, target } => remove(&SCOPES, &target, &name, output),
        ScopeCommand::Add {
            name,
            description,
            unpublished,
            target,
        } => {
            let body = serde_json::json!({ "name": name, "description": description, "published": !unpublished });
            post(&target, SCOPES.path, &body, output, |_| {
                format!("{name} was made")
            })
        }
    }
}

/// `signet resource ...`
pub fn resource(command: ResourceCommand, output: &Output) -> Result<(), Failure> {
    match command {
        ResourceCommand::List { target } => {
            list(&RESOURCES, &target, &Paging { limit: 1000 }, &[], output)
        }
        ResourceCommand::Show { id, target } => show(&RESOURCES, &target, &id, output),
        ResourceCommand::Remove { id, target } => remove(&RESOURCES, &target, &id, output),
        ResourceCommand::Set { id, fields, target } => {
            set(&RESOURCES, &target, &id, record(fields), output)
        }
        ResourceCommand::Add { id, fields, target } => {
            let mut body = record(fields);
            body.insert("identifier".into(), id.clone().into());
            post(
                &target,
                RESOURCES.path,
                &Value::Object(body),
                output,
                |_| format!("{id} was made"),
            )
        }
    }
}

fn record(fields: Vec<Field>) -> Map<String, Value> {
    let mut record = Map::new();
    fields::put(&mut record, fields);
    record
}

fn item(kind: &Kind, id: &str) -> String {
    format!("{}/{}", kind.path, percent_encode(id))
}

/// A collection, page after page, up to the limit.
pub fn list(
    kind: &Kind,
    target: &Target,
    paging: &Paging,
    filters: &[(&str, Option<&str>)],
    output: &Output,
) -> Result<(), Failure> {
    block_on(async {
        let session = Session::open(target).await?;
        let mut query: Vec<String> = filters
            .iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", percent_encode((*value)?))))
            .collect();
        query.push(format!("limit={}", paging.limit.clamp(1, 100)));
        let mut all: Vec<Value> = Vec::new();
        let mut after: Option<String> = None;
        while all.len() < paging.limit {
            let mut query = query.clone();
            query.extend(
                after
                    .take()
                    .map(|a| format!("after={}", percent_encode(&a))),
            );
            let page = session
                .get(&format!("{}?{}", kind.path, query.join("&")))
                .await?;
            all.extend(items(&page).into_iter().flatten().cloned());
            after = page["next"].as_str().map(str::to_owned);
            if after.is_none() {
                break;
            }
        }
        all.truncate(paging.limit);
        let text = rows_table(kind, &all);
        output.print(&Value::Array(all), || text)
    })?
}

/// The items of a list answer.
fn items(answer: &Value) -> Option<&Vec<Value>> {
    answer["items"].as_array()
}

fn rows_table(kind: &Kind, rows: &[Value]) -> String {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| kind.columns.iter().map(|c| cell(c, &row[*c])).collect())
        .collect();
    output::table(kind.columns, &rows)
}

fn cell(column: &str, value: &Value) -> String {
    let is_time = column.ends_with("_at")
        || column.ends_with("_time")
        || column.ends_with("_from")
        || column == "last_seen";
    match value {
        Value::Null => "-".into(),
        Value::String(text) => text.clone(),
        Value::Number(n) if is_time => n.as_u64().map_or_else(|| n.to_string(), output::date),
        Value::Array(list) => {
            let parts: Vec<String> = list.iter().map(|v| cell(column, v)).collect();
            parts.join(" ")
        }
        other => other.to_string(),
    }
}

/// One item.
pub fn show(kind: &Kind, target: &Target, id: &str, output: &Output) -> Result<(), Failure> {
    block_on(async {
        let session = Session::open(target).await?;
        let value = session.get(&item(kind, id)).await?;
        output.print(&value, || members(&value))
    })?
}

/// One item as lines.
fn members(value: &Value) -> String {
    let Some(object) = value.as_object() else {
        return output::pretty(value);
    };
    let rows: Vec<Vec<String>> = object
        .iter()
        .filter(|(_, v)| !v.is_null())
        .map(|(name, v)| vec![name.clone(), cell(name, v)])
        .collect();
    output::table(&["member", "value"], &rows)
}

/// Changes members of an item (RFC 7396 merge patch).
pub fn set(
    kind: &Kind,
    target: &Target,
    id: &str,
    record: Map<String, Value>,
    output: &Output,
) -> Result<(), Failure> {
    if record.is_empty() {
        return Err(Failure::unusable(
            "nothing to change: name a member as NAME=VALUE",
        ));
    }
    block_on(async {
        let session = Session::open(target).await?;
        let value = session
            .call(Method::PATCH, &item(kind, id), Some(&Value::Object(record)))
            .await?;
        output.print(&value, || members(&value))
    })?
}

/// Removes an item.
pub fn remove(kind: &Kind, target: &Target, id: &str, output: &Output) -> Result<(), Failure> {
    block_on(async {
        let session = Session::open(target).await?;
        session.call(Method::DELETE, &item(kind, id), None).await?;
        output.print(&serde_json::json!({ "removed": id }), || {
            format!("{id} was removed")
        })
    })?
}

fn post(
    target: &Target,
    path: &str,
    body: &Value,
    output: &Output,
    text: impl FnOnce(&Value) -> String,
) -> Result<(), Failure> {
    block_on(async {
        let session = Session::open(target).await?;
        let value = session.call(Method::POST, path, Some(body)).await?;
        output.print(&value, || text(&value))
    })?
}

/// A new client's record, with a word about the secret.
fn secret_once(answer: &Value) -> String {
    let mut text = members(answer);
    if answer.get("client_secret").is_some() {
        text.push_str("\n\nThe secret is shown this once; the server keeps a hash of it.");
    }
    text
}

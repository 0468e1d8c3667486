//! `signet login`, `signet logout` and `signet context`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};
use signet_context::{Context, ContextError, Folder, name_of};
use signet_crypto::Secret;
use signet_terminal::output::{Failure, Output, date, note, table};

use crate::http_client::{HttpClient, percent_encode};
use crate::login::{Issued, Login, opener};
use crate::{dev_file, kept, variable};

/// What begins, ends and chooses a login that is kept.
#[derive(Debug, Subcommand)]
pub enum LoginCommand {
    /// Log in to a server in your browser, and keep the login: commands that name no server are
    /// then done there.
    #[command(
        after_help = "The login is kept in $XDG_CONFIG_HOME/signet/contexts.json, for you alone, until it is logged out, the session ends, or eight hours have passed. docs/command-line.md has the rest.\n\nExample:\n  signet login --server https://id.example\n  signet login --server https://id.example --device"
    )]
    Login(LogIn),
    /// End a kept login: its tokens are revoked at the server, and forgotten here.
    #[command(after_help = "Example:\n  signet logout\n  signet logout id.example")]
    Logout(LogOut),
    /// The logins that are kept, and which of them commands use.
    #[command(subcommand, after_help = "Example:\n  signet context list")]
    Context(ContextCommand),
}

/// `signet login ...`
#[derive(Debug, Args)]
pub struct LogIn {
    /// The server's issuer URL [also: SIGNET_SERVER; default: that of the current context, else
    /// the development server of .signet].
    #[arg(long, value_name = "URL", conflicts_with = "data_dir")]
    server: Option<String>,
    /// The data directory of a server on this machine that `signet serve --dev` began.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// PEM file of the authority that the server's certificate comes from; it is kept with the
    /// login [also: SIGNET_CA_CERT].
    #[arg(long, value_name = "FILE")]
    ca_cert: Option<PathBuf>,
    /// Log in with a code that is typed in any browser, also on another machine; the way where
    /// this machine has no browser.
    #[arg(long)]
    device: bool,
    /// Who logs in; another account is refused.
    #[arg(long, value_name = "NAME")]
    login: Option<String>,
    /// What the login is called in `signet context list` [default: the server's host].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

/// `signet logout ...`
#[derive(Debug, Args)]
pub struct LogOut {
    /// Which of `signet context list` [default: the current one].
    name: Option<String>,
}

/// `signet context ...`
#[derive(Debug, Subcommand)]
pub enum ContextCommand {
    /// List the logins that are kept.
    #[command(after_help = "Example:\n  signet context list --json")]
    List,
    /// Make one of them what commands use that name no server.
    #[command(after_help = "Example:\n  signet context use id.example")]
    Use {
        /// Its name in the list.
        name: String,
    },
}

impl LoginCommand {
    /// Does the command.
    ///
    /// # Errors
    /// Why not, for the operator.
    pub async fn run(self, output: &Output) -> Result<(), Failure> {
        match self {
            LoginCommand::Login(arguments) => log_in(arguments, output).await,
            LoginCommand::Logout(arguments) => log_out(arguments, output).await,
            LoginCommand::Context(ContextCommand::List) => list(output),
            LoginCommand::Context(ContextCommand::Use { name }) => select(&name, output),
        }
    }
}

fn folder() -> Result<Folder, Failure> {
    Folder::of_user().map_err(kept::unusable)
}

/// A server that a login is begun at.
struct Server {
    issuer: String,
    ca_cert: Option<PathBuf>,
}

impl LogIn {
    /// The one that is named; else that of the current context; else the development server of the
    /// directory.
    fn server(&self, current: Option<&Context>) -> Result<Server, Failure> {
        let given = self
            .ca_cert
            .clone()
            .or_else(|| variable("SIGNET_CA_CERT").map(PathBuf::from));
        let named = self.server.clone().or_else(|| match self.data_dir {
            Some(_) => None,
            None => variable("SIGNET_SERVER"),
        });
        let (issuer, ca_cert) = match (named, &self.data_dir, current) {
            (Some(named), ..) => {
                let issuer = named.trim_end_matches('/').to_owned();
                // As the login before it.
                let same = current.filter(|context| context.issuer == issuer);
                let known = same.and_then(|context| context.ca_cert.clone());
                (issuer, given.or(known))
            }
            (None, None, Some(current)) => {
                let known = current.ca_cert.clone();
                (current.issuer.clone(), given.or(known))
            }
            (None, directory, _) => {
                let directory = directory.as_deref();
                let directory = directory.unwrap_or(Path::new(dev_file::DEFAULT_DIR));
                let file = dev_file::read_file(directory).map_err(|e| {
                    Failure::unusable(format!("log in where? --server URL names a server ({e})"))
                })?;
                (file.issuer, given.or(Some(file.ca_cert)))
            }
        };
        // The command may run elsewhere next time.
        let ca_cert = ca_cert.map(|file| {
            file.canonicalize()
                .map_err(|e| Failure::unusable(format!("cannot read {}: {e}", file.display())))
        });
        Ok(Server {
            issuer,
            ca_cert: ca_cert.transpose()?,
        })
    }
}

async fn log_in(arguments: LogIn, output: &Output) -> Result<(), Failure> {
    let folder = folder()?;
    // What is wrong with the file is said before anybody logs in.
    let contexts = folder.read().map_err(kept::unusable)?;
    let server = arguments.server(contexts.current())?;
    let name = arguments
        .name
        .clone()
        .unwrap_or_else(|| name_of(&server.issuer));
    let is_taken = contexts.named(&name);
    if let Some(other) = is_taken.filter(|other| other.issuer != server.issuer) {
        let said = format!(
            "the context {name} is of {}: --name gives this one another name",
            other.issuer
        );
        return Err(Failure::no("conflict", said));
    }
    let client = HttpClient::new(server.ca_cert.as_slice()).map_err(Failure::unusable)?;
    let login = Login {
        client: &client,
        issuer: &server.issuer,
        base: &server.issuer,
    };
    let issued = match arguments.device || opener().is_none() {
        true => login.by_device().await?,
        false => login.by_browser(arguments.login.as_deref(), None).await?,
    };
    let kept = keep(&arguments, &folder, &server, name, issued, &login).await?;
    let (context, replaced) = kept;
    if let Some(replaced) = replaced {
        // It would go on for hours, and nobody has it any more.
        end(&replaced, &login).await.unwrap_or_else(|failure| {
            note(&format!(
                "the login before this one could not be ended at the server: {}",
                failure.description()
            ));
        });
    }
    if context.tokens.refresh.is_none() {
        note(&format!(
            "the server issues no refresh token to the command line: the login ends at {}",
            date(context.tokens.expires_at)
        ));
    }
    output.print(&shown(&context, true), || {
        format!(
            "logged in to {} as {}; commands that name no server are done there (context {})",
            context.issuer,
            who(&context),
            context.name
        )
    })
}

/// Looks who it is, and keeps the login. One that is not kept is ended at the server.
async fn keep(
    arguments: &LogIn,
    folder: &Folder,
    server: &Server,
    name: String,
    issued: Issued,
    login: &Login<'_>,
) -> Result<(Context, Option<Context>), Failure> {
    let sub = issued.sub.clone();
    let tokens = kept::tokens(issued);
    let sub = sub.ok_or_else(|| Failure::unusable("the server gave no ID token"))?;
    let account = account(login, &tokens.access, &sub).await;
    let username = account["username"].as_str().map(str::to_owned);
    let context = Context {
        name,
        issuer: server.issuer.clone(),
        ca_cert: server.ca_cert.clone(),
        sub,
        username,
        tokens,
    };
    let result = match &arguments.login {
        // Whoever else on this machine knows the address of the login can open it, too.
        Some(wanted) if ![&account["username"], &account["email"]].contains(&&json!(wanted)) => {
            let said = format!("{} logged in, not {wanted}", who(&context));
            Err(Failure::no("access_denied", said))
        }
        _ => write(folder, context.clone()),
    };
    match result {
        Ok(replaced) => Ok((context, replaced)),
        Err(failure) => {
            let _ = end(&context, login).await;
            Err(failure)
        }
    }
}

fn write(folder: &Folder, context: Context) -> Result<Option<Context>, Failure> {
    let locked = folder.lock().map_err(kept::unusable)?;
    let mut contexts = locked.read().map_err(kept::unusable)?;
    let replaced = contexts.keep(context).map_err(Failure::unusable)?;
    locked.write(&contexts).map_err(kept::unusable)?;
    Ok(replaced)
}

/// The account's record; null for who may not read it.
async fn account(login: &Login<'_>, access: &Secret<String>, sub: &str) -> Value {
    let url = format!("{}/admin/v1/users/{}", login.base, percent_encode(sub));
    let bearer = format!("Bearer {}", access.expose());
    let headers = [("authorization", bearer.as_str())];
    let answer = login
        .client
        .send(Method::GET, &url, &headers, bytes::Bytes::new());
    match answer.await {
        Ok(answer) => crate::read(&answer, &url).unwrap_or_default(),
        Err(_) => Value::Null,
    }
}

/// Revokes what was issued.
async fn end(context: &Context, login: &Login<'_>) -> Result<(), Failure> {
    let tokens = &context.tokens;
    let token = tokens.refresh.as_ref().unwrap_or(&tokens.access);
    login.revoke(token).await
}

async fn log_out(arguments: LogOut, output: &Output) -> Result<(), Failure> {
    let folder = folder()?;
    // Nobody refreshes meanwhile: the refresh token that is revoked is the last one.
    let locked = folder.lock().map_err(kept::unusable)?;
    let mut contexts = locked.read().map_err(kept::unusable)?;
    let context = match &arguments.name {
        Some(name) => contexts.named(name).ok_or_else(|| unknown(name))?,
        None => contexts.current().ok_or_else(|| {
            Failure::no(
                "not_found",
                "no login is current: `signet context list`, then signet logout NAME",
            )
        })?,
    };
    let context = context.clone();
    let trust = context.ca_cert.clone();
    let ended = async {
        let client = HttpClient::new(trust.as_slice()).map_err(Failure::unusable)?;
        let login = Login {
            client: &client,
            issuer: &context.issuer,
            base: &context.issuer,
        };
        end(&context, &login).await
    };
    let ended = ended.await;
    contexts.forget(&context.name);
    locked.write(&contexts).map_err(kept::unusable)?;
    if let Err(failure) = ended {
        return Err(Failure::unusable(format!(
            "forgotten here, and not ended at {}, where it is valid for up to eight hours: {}",
            context.issuer,
            failure.description()
        )));
    }
    let answer = json!({ "context": context.name, "server": context.issuer, "revoked": true });
    output.print(&answer, || format!("logged out of {}", context.issuer))
}

fn unknown(name: &str) -> Failure {
    let said = format!("there is no context {name}: `signet context list` has them");
    Failure::no("not_found", said)
}

fn who(context: &Context) -> &str {
    context.username.as_deref().unwrap_or(&context.sub)
}

fn shown(context: &Context, is_current: bool) -> Value {
    json!({
        "context": context.name,
        "server": context.issuer,
        "user": who(context),
        "sub": context.sub,
        "ca_cert": context.ca_cert,
        "current": is_current,
    })
}

fn list(output: &Output) -> Result<(), Failure> {
    let contexts = match Folder::of_user() {
        Err(ContextError::NoHome) => signet_context::Contexts::default(),
        other => other
            .and_then(|folder| folder.read())
            .map_err(kept::unusable)?,
    };
    let is_current = |context: &Context| contexts.current() == Some(context);
    let all = contexts.all().iter();
    let value = all.clone().map(|c| shown(c, is_current(c))).collect();
    output.print(&Value::Array(value), || {
        let rows: Vec<Vec<String>> = all
            .map(|c| {
                let mark = if is_current(c) { "*" } else { "" };
                let texts = [mark, &c.name, &c.issuer, who(c)];
                texts.map(str::to_owned).to_vec()
            })
            .collect();
        match rows.is_empty() {
            true => "no login is kept: signet login --server URL".to_owned(),
            false => table(&["", "context", "server", "user"], &rows),
        }
    })
}

fn select(name: &str, output: &Output) -> Result<(), Failure> {
    let locked = folder()?.lock().map_err(kept::unusable)?;
    let mut contexts = locked.read().map_err(kept::unusable)?;
    if !contexts.select(name) {
        return Err(unknown(name));
    }
    locked.write(&contexts).map_err(kept::unusable)?;
    let current = contexts.current().map(|context| shown(context, true));
    output.print(&current.unwrap_or_default(), || {
        format!("commands that name no server use {name}")
    })
}

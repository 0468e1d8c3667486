//! Sessions and grants: the API keeps them under their user; the commands find the user where none
//! is named.

use clap::Subcommand;
use http::Method;
use serde_json::Value;
use signet_admin::{GRANTS, LOGOUTS, Noun, SESSIONS};

use super::{
    account,
    noun::{self, Leave, Paging},
};
use crate::cli::{Failure, Output, block_on};
use signet_admin_client::http_client::percent_encode;
use signet_admin_client::{Session, Target};

/// `signet session ...`
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// List login sessions.
    #[command(after_help = "Example:\n  signet session list --user alice")]
    List(List),
    /// Show one session.
    #[command(after_help = "Example:\n  signet session show SID --user alice")]
    Show(One),
    /// List the logout notices that clients received, and those that wait (back-channel logout).
    #[command(after_help = "Example:\n  signet session logouts")]
    Logouts {
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        paging: Paging,
    },
    /// Terminate a session, with the tokens that were issued in it.
    #[command(after_help = "Example:\n  signet session remove SID --user alice")]
    Remove(Removed),
}

/// `signet grant ...`
#[derive(Debug, Subcommand)]
pub enum GrantCommand {
    /// List what people have granted to clients.
    #[command(after_help = "Example:\n  signet grant list --user alice")]
    List(List),
    /// Show one grant.
    #[command(after_help = "Example:\n  signet grant show GRANT_ID --user alice")]
    Show(One),
    /// Revoke a grant: its refresh tokens and access tokens.
    #[command(after_help = "Example:\n  signet grant remove GRANT_ID --user alice")]
    Remove(Removed),
}

/// A list's arguments.
#[derive(Debug, clap::Args)]
pub struct List {
    /// User name, mail address or id. Without it, everybody's.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    paging: Paging,
}

/// One session's or grant's.
#[derive(Debug, clap::Args)]
pub struct One {
    /// Its id, as the list shows it.
    #[arg(allow_hyphen_values = true)]
    id: String,
    /// User name, mail address or id. Without it, everybody is searched.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    #[command(flatten)]
    target: Target,
}

/// One that is removed.
#[derive(Debug, clap::Args)]
pub struct Removed {
    #[command(flatten)]
    one: One,
    #[command(flatten)]
    leave: Leave,
}

/// `signet session ...`
pub fn session(command: SessionCommand, output: &Output) -> Result<(), Failure> {
    match command {
        SessionCommand::List(arguments) => list(&SESSIONS, arguments, output),
        SessionCommand::Logouts { target, paging } => {
            block_on(Session::with(&target, async |session| {
                let found = noun::all(session, LOGOUTS.path(), paging.limit).await?;
                noun::print_list(&LOGOUTS, found, &paging, output)
            }))?
        }
        SessionCommand::Show(arguments) => show(&SESSIONS, arguments, output),
        SessionCommand::Remove(arguments) => remove(&SESSIONS, arguments, output),
    }
}

/// `signet grant ...`
pub fn grant(command: GrantCommand, output: &Output) -> Result<(), Failure> {
    match command {
        GrantCommand::List(arguments) => list(&GRANTS, arguments, output),
        GrantCommand::Show(arguments) => show(&GRANTS, arguments, output),
        GrantCommand::Remove(arguments) => remove(&GRANTS, arguments, output),
    }
}

fn list(of: &Noun, arguments: List, output: &Output) -> Result<(), Failure> {
    block_on(Session::with(&arguments.target, async |session| {
        let limit = arguments.paging.limit;
        let found = collect(session, of, arguments.user.as_deref(), limit).await?;
        noun::print_list(of, found, &arguments.paging, output)
    }))?
}

fn show(of: &Noun, arguments: One, output: &Output) -> Result<(), Failure> {
    block_on(Session::with(&arguments.target, async |session| {
        let found = find(session, of, &arguments).await?;
        output.print(&found, || noun::members(&found))
    }))?
}

fn remove(of: &Noun, removed: Removed, output: &Output) -> Result<(), Failure> {
    let arguments = removed.one;
    let (name, id) = (of.name, &arguments.id);
    let question = format!("Remove the {name} {id}, with the tokens that were issued in it?");
    removed.leave.ask(&question)?;
    block_on(Session::with(&arguments.target, async |session| {
        let found = find(session, of, &arguments).await?;
        let user_id = found["user_id"].as_str().unwrap_or_default();
        let path = format!(
            "{}{}/{}",
            account::path(user_id),
            of.path(),
            percent_encode(&arguments.id)
        );
        session.call(Method::DELETE, &path, None, None).await?;
        noun::removed(&arguments.id, output)
    }))?
}

async fn find(session: &Session, of: &Noun, arguments: &One) -> Result<Value, Failure> {
    let all = collect(session, of, arguments.user.as_deref(), usize::MAX).await?;
    all.into_iter()
        .find(|item| item[of.id] == arguments.id.as_str())
        .ok_or_else(|| {
            let said = format!("there is no {} {}", of.name, arguments.id);
            Failure::no("not_found", said)
        })
}

/// One user's, or everybody's in one list, each with its user's id and name.
async fn collect(
    session: &Session,
    of: &Noun,
    user: Option<&str>,
    limit: usize,
) -> Result<Vec<Value>, Failure> {
    let Some(name) = user else {
        return noun::all(session, of.path(), limit).await;
    };
    let user = session
        .get(&account::path(&account::find(session, name).await?))
        .await?;
    let id = user["id"].as_str().unwrap_or_default();
    let page = session
        .get(&format!("{}{}", account::path(id), of.path()))
        .await?;
    let mut found = page["items"].as_array().cloned().unwrap_or_default();
    found.truncate(limit);
    for item in &mut found {
        item["user_id"] = user["id"].clone();
        item["username"] = user["username"].clone();
    }
    Ok(found)
}

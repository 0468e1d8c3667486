//! `signet user invite` and `signet user withdraw-invitation`: an account whose person sets its
//! first password by a link in the mail.

use clap::Args;
use http::Method;
use serde_json::{Map, Value, json};
use signet_admin::USERS;

use super::account;
use crate::cli::{Failure, Output, block_on};
use signet_admin_client::http_client::percent_encode;
use signet_admin_client::{Session, Target};

/// `signet user invite ...`
#[derive(Debug, Args)]
pub struct Invite {
    /// The user name. An account that is there is invited as it is; otherwise it is made.
    name: String,
    /// Mail address of the account that is made.
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// Full name of the account that is made.
    #[arg(long, value_name = "NAME", requires = "email")]
    full_name: Option<String>,
    /// A group to put the user into; may be given more than once.
    #[arg(long = "group", value_name = "GROUP")]
    groups: Vec<String>,
    #[command(flatten)]
    target: Target,
}

/// Makes the account where it does not exist, and sends the mail.
pub fn invite(invite: &Invite, output: &Output) -> Result<(), Failure> {
    block_on(Session::with(&invite.target, async |session| {
        let path = match known(session, &invite.name).await? {
            Some(id) if invite.email.is_none() => account::path(&id),
            Some(_) => {
                return Err(Failure::unusable(
                    "the user exists: without --email the account is invited as it is",
                ));
            }
            None => make(session, invite).await?,
        };
        if !invite.groups.is_empty() {
            let body = json!({ "add": invite.groups });
            let groups = format!("{path}/groups");
            session
                .call(Method::POST, &groups, Some(&body), None)
                .await?;
        }
        let invitation = format!("{path}/invitation");
        let answer = session.call(Method::POST, &invitation, None, None).await?;
        output.print(&answer.value, || {
            let email = answer.value["email"].as_str().unwrap_or_default();
            format!(
                "{} was invited: a mail is on its way to {email}",
                invite.name
            )
        })
    }))?
}

async fn known(session: &Session, name: &str) -> Result<Option<String>, Failure> {
    let path = format!("{}?login={}", USERS.path(), percent_encode(name));
    let found = session.get(&path).await?;
    Ok(found["items"][0]["id"].as_str().map(str::to_owned))
}

/// Makes the account; its path.
async fn make(session: &Session, invite: &Invite) -> Result<String, Failure> {
    let Some(email) = &invite.email else {
        return Err(Failure::unusable(format!(
            "there is no user \"{}\": --email says where the invitation goes",
            invite.name
        )));
    };
    let mut record = Map::new();
    record.insert("username".into(), invite.name.clone().into());
    record.insert("email".into(), email.clone().into());
    if let Some(name) = &invite.full_name {
        record.insert("profile".into(), json!({ "name": name }));
    }
    let record = Value::Object(record);
    let made = session
        .call(Method::POST, USERS.path(), Some(&record), None)
        .await?;
    Ok(account::path(made.value["id"].as_str().unwrap_or_default()))
}

/// Takes an invitation back.
pub fn withdraw(name: &str, target: &Target, output: &Output) -> Result<(), Failure> {
    block_on(Session::with(target, async |session| {
        let path = account::path(&account::find(session, name).await?);
        let path = format!("{path}/invitation");
        session.call(Method::DELETE, &path, None, None).await?;
        let done = json!({ "withdrawn": name });
        output.print(&done, || format!("the invitation of {name} was withdrawn"))
    }))?
}

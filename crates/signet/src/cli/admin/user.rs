//! `signet user`: over the admin API.

use std::path::PathBuf;

use clap::Subcommand;
use http::Method;
use serde_json::{Map, Value, json};
use signet_admin::USERS;
use signet_crypto::Secret;

use super::{
    account::{find, how_to_insist, path},
    add::{self, Add},
    credentials, delete,
    fields::Field,
    invite::{self, Invite},
    noun::{self, Leave, Paging},
};
use crate::cli::{Failure, Output, block_on};
use signet_admin_client::http_client::percent_encode;
use signet_admin_client::{Session, Target};
use signet_terminal::input;

/// `signet user ...`
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// List users.
    #[command(
        after_help = "Example:\n  signet user list --data-dir .signet\n  signet user list --search example.com"
    )]
    List {
        /// Only users whose name, mail address, full, given or family name has this in it.
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        paging: Paging,
    },
    /// Show one user.
    #[command(after_help = "Example:\n  signet user show alice --json")]
    Show {
        /// User name, mail address or id.
        name: String,
        #[command(flatten)]
        target: Target,
    },
    /// Make a user. With --config or --data-dir of a server that is not running, without a server:
    /// the first administrator.
    #[command(
        after_help = "Example:\n  signet user add root --admin --config /etc/signet/signet.toml"
    )]
    Add(Add),
    /// Invite a user: a mail with a link by which they set their first password. Sent again, the
    /// link of the mail before works no more.
    #[command(
        after_help = "Example:\n  signet user invite alice --email alice@example.com --group engineering\n  signet user invite alice"
    )]
    Invite(Invite),
    /// Keep a user who was to be erased after the time of grace.
    #[command(after_help = "Example:\n  signet user keep alice")]
    Keep {
        /// User name, mail address or id.
        name: String,
        #[command(flatten)]
        target: Target,
    },
    /// Take an invitation back: its link works no more. The account stays.
    #[command(after_help = "Example:\n  signet user withdraw-invitation alice")]
    WithdrawInvitation {
        /// User name, mail address or id.
        name: String,
        #[command(flatten)]
        target: Target,
    },
    /// Change a user: members of the record, the password.
    #[command(
        after_help = "Example:\n  signet user set alice admin_roles=help-desk email=alice@example.com\n  signet user set alice --password-stdin --temporary < password\n  signet user set alice expires_at=1798761600"
    )]
    Set {
        /// User name, mail address or id.
        name: String,
        /// Members to change.
        #[arg(value_name = "NAME=VALUE")]
        fields: Vec<Field>,
        /// Read a new password from standard input; all of the user's sessions and tokens end.
        #[arg(long)]
        password_stdin: bool,
        /// The new password is temporary: the next login has to set another.
        #[arg(long, requires = "password_stdin")]
        temporary: bool,
        /// Also where no owner is left.
        #[arg(long)]
        last_administrator: bool,
        #[command(flatten)]
        target: Target,
    },
    /// Set attributes of a user, by the schema. null takes one away.
    #[command(after_help = "Example:\n  signet user attributes alice department=Sales level=3")]
    Attributes {
        /// User name, mail address or id.
        name: String,
        /// Attributes to set.
        #[arg(value_name = "NAME=VALUE", required = true)]
        fields: Vec<Field>,
        /// Nobody vouches for these values.
        #[arg(long)]
        unverified: bool,
        #[command(flatten)]
        target: Target,
    },
    /// List what a user logs in with beside the password: code apps, recovery codes, passkeys and
    /// remembered browsers.
    #[command(after_help = "Example:\n  signet user credentials alice")]
    Credentials {
        /// User name, mail address or id.
        name: String,
        #[command(flatten)]
        target: Target,
    },
    /// Take credentials of a kind away from a user who has lost them, or one of them. The user is
    /// notified by mail.
    #[command(after_help = "Example:\n  signet user remove-credential alice totp")]
    RemoveCredential {
        /// User name, mail address or id.
        name: String,
        /// totp, recovery_codes, passkey or remembered_browser.
        kind: String,
        /// Which of them, as the list shows it. Without it, all of the kind.
        #[arg(allow_hyphen_values = true)]
        id: Option<String>,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
    /// Make the accounts of a file from another server: one JSON object a line.
    ///
    /// Members are those of `user show --json`, and `password_hash`: Argon2, bcrypt, PBKDF2,
    /// scrypt, salted SHA or crypt(3), in PHC or modular crypt form. A line that is refused keeps
    /// no other out. Accounts that are there already stay as they are: the command can be run
    /// again.
    #[command(
        after_help = "Example:\n  signet user import people.jsonl\n\nA line:\n  {\"username\":\"alice\",\"email\":\"alice@example.com\",\"email_verified\":true,\"password_hash\":\"$2b$12$...\"}"
    )]
    Import {
        /// JSON lines.
        file: PathBuf,
        #[command(flatten)]
        target: Target,
    },
    /// Print everything that is kept of a user as JSON: profile, attributes, groups, roles, what
    /// they log in with (and nothing that logs in), sessions, consents, grants, identities at
    /// providers, agents.
    #[command(after_help = "Example:\n  signet user export alice > alice.json")]
    Export {
        /// User name, mail address or id.
        name: String,
        #[command(flatten)]
        target: Target,
    },
    /// End every session, grant and token of a user, as `signet revoke --user` does. The account
    /// stays.
    #[command(after_help = "Example:\n  signet user revoke alice")]
    Revoke {
        /// User name, mail address or id.
        name: String,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
    /// Remove a user, with all sessions and grants.
    #[command(
        after_help = "Example:\n  signet user remove alice\n  signet user remove alice --with-grace"
    )]
    Remove {
        /// User name, mail address or id.
        name: String,
        /// Everything ends now; the account is erased after `lifetimes.deletion_grace`, and can be
        /// kept until then, by its person or by `signet user keep`.
        #[arg(long)]
        with_grace: bool,
        /// Also the last account that may administer.
        #[arg(long)]
        last_administrator: bool,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
}

/// Does the command.
pub fn run(command: UserCommand, output: &Output) -> Result<(), Failure> {
    match command {
        UserCommand::List {
            search,
            target,
            paging,
        } => block_on(Session::with(&target, async |session| {
            let path = match &search {
                None => USERS.path().to_owned(),
                Some(words) => format!("{}?search={}", USERS.path(), percent_encode(words)),
            };
            let found = noun::all(session, &path, paging.limit).await?;
            noun::print_list(&USERS, found, &paging, output)
        }))?,
        UserCommand::Show { name, target } => block_on(Session::with(&target, async |session| {
            let user = session.get(&path(&find(session, &name).await?)).await?;
            output.print(&user, || noun::members(&user))
        }))?,
        UserCommand::Remove {
            name,
            with_grace: true,
            last_administrator,
            leave,
            target,
        } => {
            leave.ask_a_person(&format!(
                "Erase {name} after the time of grace, and end all sessions and grants now?"
            ))?;
            delete::later(&name, insists(last_administrator), &target, output)
        }
        UserCommand::Keep { name, target } => delete::keep(&name, &target, output),
        UserCommand::Remove {
            name,
            with_grace: false,
            last_administrator,
            leave,
            target,
        } => {
            leave.ask(&format!(
                "Remove {name} for good, with all sessions and grants?"
            ))?;
            block_on(Session::with(&target, async |session| {
                let path = path(&find(session, &name).await?);
                let path = format!("{path}{}", insists(last_administrator));
                let removed = session.call(Method::DELETE, &path, None, None).await;
                removed.map_err(|failure| how_to_insist(failure, &name))?;
                noun::removed(&name, output)
            }))?
        }
        UserCommand::Attributes {
            name,
            fields,
            unverified,
            target,
        } => {
            let attributes = noun::record(&USERS, &fields)?;
            let body = json!({ "attributes": attributes, "verified": !unverified });
            block_on(Session::with(&target, async |session| {
                let path = path(&find(session, &name).await?);
                let path = format!("{path}/attributes");
                let answer = session.call(Method::PUT, &path, Some(&body), None).await?;
                output.print(&answer.value, || noun::members(&answer.value))
            }))?
        }
        UserCommand::Credentials { name, target } => credentials::list(&name, &target, output),
        UserCommand::RemoveCredential {
            name,
            kind,
            id,
            leave,
            target,
        } => {
            leave.ask(&format!("Remove {kind} of {name} for good?"))?;
            credentials::remove(&name, &kind, id.as_deref(), &target, output)
        }
        UserCommand::Import { file, target } => {
            block_on(signet_moving::import_accounts(&file, &target, output)).and_then(|done| done)
        }
        UserCommand::Export { name, target } => {
            block_on(Session::with(&target, async |session| {
                let path = path(&find(session, &name).await?);
                let data = session.get(&format!("{path}/export")).await?;
                // A document has one form: people are given the file.
                output.print(&data, || format!("{data:#}"))
            }))?
        }
        UserCommand::Revoke {
            name,
            leave,
            target,
        } => {
            leave.ask_a_person(&format!("End every session, grant and token of {name}?"))?;
            block_on(Session::with(&target, async |session| {
                let path = path(&find(session, &name).await?);
                noun::revoke(session, &path, &name, output).await
            }))?
        }
        UserCommand::Add(new) => add::run(new, output),
        UserCommand::Invite(wanted) => invite::invite(&wanted, output),
        UserCommand::WithdrawInvitation { name, target } => {
            invite::withdraw(&name, &target, output)
        }
        UserCommand::Set {
            name,
            fields,
            password_stdin,
            temporary,
            last_administrator,
            target,
        } => {
            let changes = noun::record(&USERS, &fields)?;
            let password = password_stdin
                .then(|| input::new_password(true, None, false, ""))
                .transpose()?
                .map(|secret| NewPassword { secret, temporary });
            if changes.is_empty() && password.is_none() {
                return Err(Failure::unusable(
                    "nothing to change: name a member as NAME=VALUE",
                ));
            }
            block_on(Session::with(&target, async |session| {
                let set = set(
                    session,
                    &name,
                    changes,
                    password,
                    last_administrator,
                    output,
                );
                set.await.map_err(|failure| how_to_insist(failure, &name))
            }))?
        }
    }
}

/// The query of an operation that may leave no account that administers.
fn insists(last_administrator: bool) -> &'static str {
    match last_administrator {
        true => "?last_administrator=true",
        false => "",
    }
}

/// A password that is to be set.
struct NewPassword {
    secret: Secret<String>,
    temporary: bool,
}

/// Address and password have operations of their own; rights and profile are replaced with a
/// compare.
async fn set(
    session: &Session,
    name: &str,
    mut changes: Map<String, Value>,
    password: Option<NewPassword>,
    last_administrator: bool,
    output: &Output,
) -> Result<(), Failure> {
    let path = path(&find(session, name).await?);
    let email = changes.remove("email");
    let verified = changes.remove("email_verified");
    if email.is_some() || verified.is_some() {
        let user = session.get(&path).await?;
        let email = email.unwrap_or_else(|| user["email"].clone());
        let body = json!({ "email": email, "verified": verified.unwrap_or(Value::Bool(!email.is_null())) });
        session
            .call(Method::PUT, &format!("{path}/email"), Some(&body), None)
            .await?;
    }
    if !changes.is_empty() {
        let read = session.call(Method::GET, &path, None, None).await?;
        let mut body = json!({ "admin": read.value["admin"], "enabled": read.value["enabled"],
                               "profile": read.value["profile"] });
        for (member, value) in changes {
            match member.as_str() {
                "admin" | "enabled" | "admin_roles" | "must_change_password" => {
                    body[member] = value
                }
                // Null takes the end away, as for other members.
                "expires_at" if value.is_null() => body[member] = 0.into(),
                "expires_at" => body[member] = value,
                // Everything else is a claim of the profile (OpenID Connect Core section 5.1); the
                // server knows which.
                _ => body["profile"][member] = value,
            }
        }
        let path = format!("{path}{}", insists(last_administrator));
        session
            .call(Method::PUT, &path, Some(&body), read.etag.as_deref())
            .await?;
    }
    if let Some(password) = password {
        let body = json!({ "password": password.secret.expose(), "temporary": password.temporary });
        session
            .call(Method::PUT, &format!("{path}/password"), Some(&body), None)
            .await?;
    }
    let user = session.get(&path).await?;
    output.print(&user, || noun::members(&user))
}

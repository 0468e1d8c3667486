//! `signet user`: over the admin API, or, for the first administrator, straight into the store of a
//! server that is not running.

use std::{path::PathBuf, sync::Arc, time::SystemTime};

use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Map, Value, json};
use signet_audit::{self as audit, Action, Event};
use signet_crypto::{Secret, password};
use signet_directory::{Local, NewUser, PasswordOf, PasswordPolicy, Profile, UserError};
use signet_server::admin::USERS;
use signet_store::{Engine, EngineError, OpenError, Store};

use super::{
    credentials, delete,
    fields::Field,
    import,
    invite::{self, Invite},
    noun::{self, Leave, Paging},
};
use crate::{
    admin_client::{Session, Target},
    cli::{Failure, Output, block_on, config::refusal, output},
    config::{apply, read},
    engine,
    http_client::percent_encode,
    input, private_file,
};

/// `signet user ...`
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// List users.
    #[command(
        after_help = "Example:\n  signet user list --data-dir .signet\n  signet user list --search example.com"
    )]
    List {
        /// Only users whose name, mail address or full name has this in it.
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
    /// Invite a user: a mail with a link by which they set their first password. Sent again, the link
    /// of the mail before works no more.
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
        after_help = "Example:\n  signet user set alice admin=true email=alice@example.com\n  signet user set alice --password-stdin --temporary < password\n  signet user set alice expires_at=1798761600"
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
    /// told by mail.
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
    /// End every session, grant and token of a user. The account stays.
    #[command(after_help = "Example:\n  signet user revoke alice")]
    Revoke {
        /// User name, mail address or id.
        name: String,
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
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet user add ...`
#[derive(Debug, Args)]
pub struct Add {
    /// The user name.
    name: String,
    /// May administer the server.
    #[arg(long)]
    admin: bool,
    /// Mail address, taken as proven.
    #[arg(long)]
    email: Option<String>,
    /// Full name.
    #[arg(long, value_name = "NAME")]
    full_name: Option<String>,
    /// Read the password from standard input (one line).
    #[arg(long, conflicts_with_all = ["password_file", "without_password"])]
    password_stdin: bool,
    /// Read the password from a file.
    #[arg(long, value_name = "FILE", conflicts_with = "without_password")]
    password_file: Option<PathBuf>,
    /// The password is temporary: the first login has to set another.
    #[arg(long, conflicts_with = "without_password")]
    temporary: bool,
    /// No password: the person logs in with a mailed code.
    #[arg(long, requires = "email")]
    without_password: bool,
    /// Without a server: the configuration that it will be started with; says where the database
    /// is.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["server", "data_dir", "login", "credentials"])]
    config: Option<PathBuf>,
    #[command(flatten)]
    target: Target,
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
            leave,
            target,
        } => {
            leave.ask(&format!(
                "Erase {name} after the time of grace, and end all sessions and grants now?"
            ))?;
            delete::later(&name, &target, output)
        }
        UserCommand::Keep { name, target } => delete::keep(&name, &target, output),
        UserCommand::Remove {
            name,
            with_grace: false,
            leave,
            target,
        } => {
            leave.ask(&format!(
                "Remove {name} for good, with all sessions and grants?"
            ))?;
            block_on(Session::with(&target, async |session| {
                let path = path(&find(session, &name).await?);
                session.call(Method::DELETE, &path, None, None).await?;
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
        UserCommand::Import { file, target } => import::run(&file, &target, output),
        UserCommand::Export { name, target } => {
            block_on(Session::with(&target, async |session| {
                let path = path(&find(session, &name).await?);
                let data = session.get(&format!("{path}/export")).await?;
                // A document has one form: people are given the file.
                output.print(&data, || format!("{data:#}"))
            }))?
        }
        UserCommand::Revoke { name, target } => {
            block_on(Session::with(&target, async |session| {
                let path = path(&find(session, &name).await?);
                noun::revoke(session, &path, &name, output).await
            }))?
        }
        UserCommand::Add(add) => run_add(add, output),
        UserCommand::Invite(wanted) => invite::invite(&wanted, output),
        UserCommand::WithdrawInvitation { name, target } => {
            invite::withdraw(&name, &target, output)
        }
        UserCommand::Set {
            name,
            fields,
            password_stdin,
            temporary,
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
                set(session, &name, changes, password, output).await
            }))?
        }
    }
}

/// A user's id, from the name or address that people know, or the id itself.
pub async fn find(session: &Session, name: &str) -> Result<String, Failure> {
    let found = session
        .get(&format!("{}?login={}", USERS.path(), percent_encode(name)))
        .await?;
    match found["items"][0]["id"].as_str() {
        Some(id) => Ok(id.to_owned()),
        // Not a name: the next call says whether it is an id.
        None => Ok(name.to_owned()),
    }
}

/// The path of one user.
pub fn path(id: &str) -> String {
    format!("{}/{}", USERS.path(), percent_encode(id))
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
                "admin" | "enabled" | "must_change_password" => body[member] = value,
                // Null takes the end away, as for other members.
                "expires_at" if value.is_null() => body[member] = 0.into(),
                "expires_at" => body[member] = value,
                // Everything else is a claim of the profile (OpenID Connect Core section 5.1); the
                // server knows which.
                _ => body["profile"][member] = value,
            }
        }
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

fn run_add(add: Add, output: &Output) -> Result<(), Failure> {
    if let Some(engine) = place(&add)?
        && let Some(store) = offline(&engine)?
    {
        // Nobody logs in here: SIGNET_PASSWORD is the new account's.
        let secret = new_secret(&add, true)?;
        let done = block_on(add_offline(store, &add, secret.as_ref(), output))?;
        match &engine {
            Engine::Sqlite { directory, .. } => {
                private_file::give_to_owner(directory, &STORE_FILES);
            }
            Engine::Postgres { .. } => {}
        }
        return done;
    }
    if add.config.is_some() {
        return Err(Failure::unusable(
            "the server is running: name it by --server, or stop it",
        ));
    }
    // The administrator first: who may not make users is not asked for a password of one. What
    // --password-stdin gives is read before, as nothing is asked.
    let early = add.password_stdin || add.password_file.is_some() || add.without_password;
    let known = early.then(|| new_secret(&add, false)).transpose()?;
    block_on(Session::with(&add.target, async |session| {
        let secret = match known {
            Some(secret) => secret,
            None => new_secret(&add, false)?,
        };
        let record = new_user(&add, secret.as_ref());
        let made = session
            .call(Method::POST, USERS.path(), Some(&record), None)
            .await?;
        output.print(&made.value, || format!("{} was made", add.name))
    }))?
}

/// The new account's password; none with --without-password.
fn new_secret(add: &Add, environment: bool) -> Result<Option<Secret<String>>, Failure> {
    if add.without_password {
        return Ok(None);
    }
    let secret = input::new_password(
        add.password_stdin,
        add.password_file.as_deref(),
        environment,
        &format!("Password of {}", add.name),
    )?;
    let (policy, issuer) = match &add.config {
        Some(file) => {
            let loaded = read::load(file, false).map_err(|p| refusal(file, &p).fatal())?;
            let policy = apply::password_policy(&loaded.config);
            (policy, Some(loaded.config.issuer))
        }
        // A server that runs has a policy of its own, and asks for its own least of administrators.
        None if add.target.server().is_some() => (
            PasswordPolicy {
                min_chars_of_administrators: 0,
                ..PasswordPolicy::default()
            },
            None,
        ),
        None => (PasswordPolicy::default(), None),
    };
    let issuer = issuer.and_then(|issuer| issuer.parse::<http::Uri>().ok());
    let profile = Profile {
        name: add.full_name.clone(),
        ..Profile::default()
    };
    let of = PasswordOf::new(&add.name, add.email.as_deref(), &profile, add.admin)
        .at(issuer.as_ref().and_then(http::Uri::host));
    policy
        .check(secret.expose(), &of)
        .map_err(|why| Failure::no("invalid_request", why.to_string()))?;
    Ok(Some(secret))
}

fn new_user(add: &Add, secret: Option<&Secret<String>>) -> Value {
    let mut record = Map::new();
    record.insert("username".into(), add.name.clone().into());
    record.insert("admin".into(), add.admin.into());
    if let Some(email) = &add.email {
        record.insert("email".into(), email.clone().into());
        record.insert("email_verified".into(), true.into());
    }
    if let Some(name) = &add.full_name {
        record.insert("profile".into(), json!({ "name": name }));
    }
    if let Some(secret) = secret {
        record.insert("password".into(), secret.expose().clone().into());
        record.insert("temporary".into(), add.temporary.into());
    }
    Value::Object(record)
}

/// What the embedded store writes into its directory.
const STORE_FILES: [&str; 4] = ["signet.db", "signet.db-wal", "signet.db-shm", "signet.lock"];

/// Where the database of a server is that need not run; none: one that runs is spoken to.
fn place(add: &Add) -> Result<Option<Engine>, Failure> {
    if let Some(file) = &add.config {
        let loaded = read::load(file, false).map_err(|p| refusal(file, &p).fatal())?;
        return match engine::of_config(&loaded.config, &loaded.base).map_err(Failure::unusable)? {
            Engine::Sqlite { directory, .. } => Ok(Some(Engine::sqlite(directory))),
            // Servers may run meanwhile: accounts are read where they are.
            Engine::Postgres { options, .. } => Ok(Some(Engine::Postgres {
                options,
                directory: None,
            })),
        };
    }
    let Some(directory) = add
        .target
        .data_dir
        .as_ref()
        .filter(|_| add.target.server().is_none())
    else {
        return Ok(None);
    };
    // A server was here, and its database is not: [store] directory names another place, and only
    // the file knows it.
    let has = |name: &str| directory.join(name).exists();
    if has("sealing-keys.json") && !has("signet.db") {
        return Err(Failure::unusable(format!(
            "the database of {} is elsewhere ([store] directory or url): --config FILE finds it",
            directory.display()
        )));
    }
    Ok(Some(Engine::sqlite(directory.clone())))
}

/// The store; `None` if a server has its directory open.
fn offline(engine: &Engine) -> Result<Option<Arc<dyn Store>>, Failure> {
    let failed = |e: &dyn std::fmt::Display| match engine {
        Engine::Sqlite { directory, .. } => {
            Failure::unusable(format!("{}: {e}", directory.display()))
        }
        Engine::Postgres { .. } => Failure::unusable(e.to_string()),
    };
    if let Engine::Sqlite { directory, .. } = engine {
        private_file::directory(directory).map_err(|e| failed(&e))?;
    }
    match signet_store::open(engine) {
        Ok(store) => Ok(Some(store)),
        Err(EngineError::Embedded(OpenError::InUse { .. })) => Ok(None),
        Err(e) => Err(failed(&e)),
    }
}

async fn add_offline(
    store: Arc<dyn Store>,
    add: &Add,
    secret: Option<&Secret<String>>,
    output: &Output,
) -> Result<(), Failure> {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |d| d.as_secs());
    let phc = secret
        .map(|s| password::hash(s.expose().as_bytes(), password::Cost::default()))
        .transpose()
        .map_err(|e| Failure::no("invalid_request", e.to_string()))?;
    let new = NewUser {
        username: add.name.clone(),
        email: add.email.clone(),
        email_verified: add.email.is_some(),
        password: phc,
        must_change_password: add.temporary,
        expires_at: None,
        admin: add.admin,
        terms: None,
        profile: Profile {
            name: add.full_name.clone(),
            ..Profile::default()
        },
    };
    // The next start of the server finds the line beside the user, and logs it.
    let event = Event::new(Action::ADMIN, now.saturating_mul(1000))
        .subject("local")
        .operation("createUser")
        .target(&add.name);
    let node = signet_audit::stored_node(&*store, now).await;
    let node = node.map_err(|e| Failure::unusable(e.to_string()))?;
    let users = Local::new(audit::carrying(store.clone(), &node));
    let (made, _) = audit::with_record(event, users.create(new, now)).await;
    store.close();
    let user = made.map_err(|e| match e {
        UserError::Store(e) => Failure::unusable(e.to_string()),
        refused => Failure::no("invalid_request", refused.to_string()),
    })?;
    output::note("the store was written directly: no server is running on it");
    let shown = json!({ "id": user.id, "username": user.username, "email": user.email, "admin": user.admin,
                        "enabled": user.enabled, "created_at": user.created_at });
    output.print(&shown, || {
        format!(
            "{} {} was made, id {}",
            if user.admin { "administrator" } else { "user" },
            user.username,
            user.id
        )
    })
}

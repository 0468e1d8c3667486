//! `signet user add`: over the admin API, or, for the first administrator, straight into the store
//! of a server that is not running.

use std::{path::PathBuf, sync::Arc, time::SystemTime};

use clap::Args;
use http::Method;
use serde_json::{Map, Value, json};
use signet_admin::USERS;
use signet_audit::{self as audit, Action, Event};
use signet_crypto::{Secret, password};
use signet_directory::{Local, NewUser, PasswordOf, PasswordPolicy, Profile, UserError};
use signet_setup::stopped;
use signet_store::{Engine, Store};

use crate::cli::{Failure, Output, block_on, config::refusal, output};
use signet_admin_client::{Session, Target};
use signet_config::engine;
use signet_config::{apply, read};
use signet_crypto::private_file;
use signet_terminal::input;

/// What the admin API says of a name and of an address that somebody has.
const USERNAME_TAKEN: &str = "username_taken";
const EMAIL_TAKEN: &str = "email_taken";

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
pub fn run(add: Add, output: &Output) -> Result<(), Failure> {
    if let Some(engine) = place(&add)?
        && let Some(store) = stopped::open(&engine)?
    {
        if add.target.realm.is_some() {
            // Its rows are not those that are written here.
            return Err(Failure::unusable(
                "a user of a further realm is made while the server runs: start it, and leave --config out",
            ));
        }
        // Nobody logs in here: SIGNET_PASSWORD is the new account's.
        let secret = new_secret(&add, true)?;
        let done = block_on(add_offline(store, &add, secret.as_ref(), output))?;
        match &engine {
            Engine::Sqlite { directory, .. } => {
                private_file::give_to_owner(directory, &stopped::FILES);
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
            .await
            .map_err(|failure| naming(&add, failure))?;
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
        None if add.target.is_a_server() => (
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
        .filter(|_| !add.target.is_a_server())
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

/// The code of a refusal, as the admin API has it.
fn code_of(refused: &UserError) -> &'static str {
    match refused {
        UserError::UsernameTaken => USERNAME_TAKEN,
        UserError::EmailTaken => EMAIL_TAKEN,
        UserError::Username
        | UserError::MixedScripts
        | UserError::Email
        | UserError::Profile
        | UserError::NotFound
        | UserError::TooManyCredentials
        | UserError::TooMuchHeld
        | UserError::KeptElsewhere(_)
        | UserError::Id
        | UserError::Conflict
        | UserError::Directory(_)
        | UserError::Store(_) => "invalid_request",
    }
}

/// A refusal with the name that it is about, which the command knows and the server does not
/// repeat.
fn naming(add: &Add, failure: Failure) -> Failure {
    let name = match failure.error() {
        USERNAME_TAKEN => Some(add.name.as_str()),
        EMAIL_TAKEN => add.email.as_deref(),
        _ => None,
    };
    match name {
        Some(name) => {
            let said = format!("{}: {name}", failure.description());
            Failure::no(failure.error(), said)
        }
        None => failure,
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
        admin: add.admin,
        by_administrator: true,
        profile: Profile {
            name: add.full_name.clone(),
            ..Profile::default()
        },
        ..NewUser::default()
    };
    // The next start of the server finds the line beside the user, and logs it.
    let event = Event::new(Action::ADMIN, now.saturating_mul(1000))
        .subject("local")
        .operation("createUser");
    let node = signet_audit::stored_node(&*store, now).await;
    let node = node.map_err(|e| Failure::unusable(e.to_string()))?;
    let users = Local::new(audit::carrying(store.clone(), &node));
    let (made, _) = audit::with_record(event, users.create(new, now)).await;
    let made = match made {
        Ok(user) => Ok(user),
        Err(UserError::Store(e)) => Err(Failure::unusable(e.to_string())),
        Err(refused) => {
            // A refusal changes nothing that could carry its line.
            let code = code_of(&refused);
            let event = event.target_name(&add.name).refused(code);
            let kept = audit::leave_record(&*store, &node, event, now).await;
            let kept = kept.map_err(|e| Failure::unusable(e.to_string()));
            kept.and(Err(naming(add, Failure::no(code, refused.to_string()))))
        }
    };
    store.close();
    let user = made?;
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

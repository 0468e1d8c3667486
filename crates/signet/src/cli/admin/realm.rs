//! `signet realm`: the realms of a server beside its first.

use clap::Subcommand;
use http::Method;
use serde_json::{Map, Value, json};
use signet_admin::REALMS;
use signet_admin_client::{Session, Target};
use signet_config::duration::Duration;

use super::fields::{self, Field};
use super::noun::{self, Leave, Paging};
use crate::cli::{Failure, Output, block_on};

/// Where the settings of a realm's record are.
const SETTINGS: &str = "settings";

/// `signet realm ...`
#[derive(Debug, Subcommand)]
pub enum RealmCommand {
    /// List realms.
    #[command(after_help = "Example:\n  signet realm list")]
    List {
        #[command(flatten)]
        paging: Paging,
        #[command(flatten)]
        target: Target,
    },
    /// Show a realm: its issuer, and the settings that it has of its own.
    #[command(after_help = "Example:\n  signet realm show acme")]
    Show {
        /// Its name.
        name: String,
        #[command(flatten)]
        target: Target,
    },
    /// Make a realm: an issuer with people, clients and keys of its own. It answers at once.
    #[command(
        after_help = "Settings are those of docs/settings.md that belong to a realm.\n\nExample:\n  signet realm add acme\n  signet realm add acme --issuer https://login.acme.example lifetimes.access_token=5m\n  signet user add root --admin --realm acme"
    )]
    Add {
        /// 1 to 32 of a-z, 0-9 and -, a letter first.
        name: String,
        /// Its issuer identifier [default: the server's issuer, and the name behind it].
        #[arg(long, value_name = "URL")]
        issuer: Option<String>,
        /// A realm whose settings it gets, too.
        #[arg(long, value_name = "NAME")]
        like: Option<String>,
        /// Members and settings.
        #[arg(value_name = "NAME=VALUE")]
        fields: Vec<RealmField>,
        #[command(flatten)]
        target: Target,
    },
    /// Change a realm's record. It counts from the next request; NAME=null takes a setting out.
    #[command(
        after_help = "Example:\n  signet realm set acme brand.name=\"Acme Inc.\" sign_up.enabled=false"
    )]
    Set {
        /// Its name.
        name: String,
        /// Members and settings.
        #[arg(value_name = "NAME=VALUE", required = true)]
        fields: Vec<RealmField>,
        #[command(flatten)]
        target: Target,
    },
    /// Let a realm answer nothing. It keeps everything.
    #[command(after_help = "Example:\n  signet realm suspend acme")]
    Suspend {
        /// Its name.
        name: String,
        #[command(flatten)]
        target: Target,
    },
    /// Let a realm answer again that is suspended, or was removed and has time left.
    #[command(after_help = "Example:\n  signet realm resume acme")]
    Resume {
        /// Its name.
        name: String,
        #[command(flatten)]
        target: Target,
    },
    /// Give a realm another name. It keeps everything, its issuer too unless another one is given.
    #[command(
        after_help = "A new issuer ends every token and every registration at other servers that name the old one.\n\nExample:\n  signet realm rename acme acme-inc\n  signet realm rename acme acme-inc --issuer https://id.example.com/acme-inc"
    )]
    Rename {
        /// Its name.
        name: String,
        /// Its name from now on.
        new_name: String,
        /// Its issuer from now on.
        #[arg(long, value_name = "URL")]
        issuer: Option<String>,
        #[command(flatten)]
        target: Target,
    },
    /// Suspend a realm, and delete everything of it after a time of grace.
    #[command(
        after_help = "Example:\n  signet realm remove acme --yes\n  signet realm remove acme --grace 0 --yes"
    )]
    Remove {
        /// Its name.
        name: String,
        /// For how long it can be resumed. 0: it is deleted now.
        #[arg(long, default_value = "7d", value_name = "TIME", value_parser = Duration::parse)]
        grace: Duration,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
}

/// A member of the record (`description=TEXT`), or a setting (`lifetimes.code=30s`).
#[derive(Clone, Debug)]
pub enum RealmField {
    Member(Field),
    Setting(String, Value),
}

impl std::str::FromStr for RealmField {
    type Err = String;

    fn from_str(text: &str) -> Result<RealmField, String> {
        let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
        let is_member = REALMS.fields().iter().any(|field| field.name == name);
        if is_member && name != SETTINGS {
            return text.parse().map(RealmField::Member);
        }
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        Ok(RealmField::Setting(name.to_owned(), value))
    }
}

/// Puts arguments into a record.
fn put(record: &mut Map<String, Value>, given: Vec<RealmField>) -> Result<(), Failure> {
    let mut members = Vec::new();
    for field in given {
        match field {
            RealmField::Member(member) => members.push(member),
            RealmField::Setting(path, value) => {
                let settings = record.entry(SETTINGS);
                settings.or_insert_with(|| Value::Object(Map::new()))[path] = value;
            }
        }
    }
    fields::put(record, &members, &[])?;
    record.retain(|_, value| !value.is_null());
    Ok(())
}

/// `signet realm ...`
pub fn realm(command: RealmCommand, output: &Output) -> Result<(), Failure> {
    match command {
        RealmCommand::List { paging, target } => noun::list(&REALMS, &target, &paging, output),
        RealmCommand::Show { name, target } => noun::show(&REALMS, &target, &name, output),
        RealmCommand::Add {
            name,
            issuer,
            like,
            fields,
            target,
        } => {
            let mut record = Map::new();
            let named = [("issuer", issuer), ("like", like)];
            for (member, value) in named {
                record.extend(value.map(|value| (member.to_owned(), value.into())));
            }
            put(&mut record, fields)?;
            let path = noun::item(&REALMS, &name);
            let body = Value::Object(record);
            noun::send(&target, Method::PUT, &path, &body, output, noun::members)
        }
        RealmCommand::Set {
            name,
            fields,
            target,
        } => block_on(Session::with(&target, async |session| {
            let path = noun::item(&REALMS, &name);
            let read = session.call(Method::GET, &path, None, None).await?;
            let Value::Object(mut record) = read.value else {
                return Err(Failure::unusable("the server's answer is no record"));
            };
            put(&mut record, fields)?;
            let body = Value::Object(record);
            let etag = read.etag.as_deref();
            let written = session.call(Method::PUT, &path, Some(&body), etag).await?;
            output.print(&written.value, || noun::members(&written.value))
        }))?,
        RealmCommand::Suspend { name, target } => act(&target, &name, "suspend", output),
        RealmCommand::Resume { name, target } => act(&target, &name, "resume", output),
        RealmCommand::Rename {
            name,
            new_name,
            issuer,
            target,
        } => {
            let path = format!("{}/rename", noun::item(&REALMS, &name));
            let body = json!({ "name": new_name, "issuer": issuer });
            noun::send(&target, Method::POST, &path, &body, output, noun::members)
        }
        RealmCommand::Remove {
            name,
            grace,
            leave,
            target,
        } => {
            leave.ask(&format!(
                "Remove the realm {name} with its people, clients and keys?"
            ))?;
            let path = format!("{}?grace={}", noun::item(&REALMS, &name), grace.0);
            block_on(Session::with(&target, async |session| {
                let removed = session.call(Method::DELETE, &path, None, None).await?;
                output.print(&removed.value, || match grace.0 {
                    0 => format!("{name} is deleted"),
                    _ => format!(
                        "{name} answers nothing any more, and is deleted at {}; until then: signet realm resume {name}",
                        noun::cell("deletes_at", &removed.value["deletes_at"])
                    ),
                })
            }))?
        }
    }
}

fn act(target: &Target, name: &str, verb: &str, output: &Output) -> Result<(), Failure> {
    let path = format!("{}/{verb}", noun::item(&REALMS, name));
    block_on(Session::with(target, async |session| {
        let changed = session.call(Method::POST, &path, None, None).await?;
        output.print(&changed.value, || noun::members(&changed.value))
    }))?
}

//! Identity providers of others.

use std::{io::Read, path::PathBuf};

use clap::Subcommand;
use http::Method;
use serde_json::{Map, Value};
use signet_admin::PROVIDERS;

use super::{
    fields::{self, Field},
    noun::{Leave, Paging, item, list, members, record, remove, send, set, show},
};
use crate::cli::{Failure, Output};
use signet_admin_client::Target;

/// `signet provider ...`
#[derive(Debug, Subcommand)]
pub enum ProviderCommand {
    /// List identity providers, each with the redirect URI to register there.
    #[command(after_help = "Example:\n  signet provider list --json")]
    List {
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        paging: Paging,
    },
    /// Show one identity provider. Its client secret is never shown.
    #[command(after_help = "Example:\n  signet provider show corp")]
    Show {
        /// Its name.
        name: String,
        #[command(flatten)]
        target: Target,
    },
    /// Add an identity provider: an OpenID Connect issuer, or one of a preset; or a server whose
    /// people move here when they log in for the first time (docs/moving.md).
    #[command(
        after_help = "Example:\n  signet provider add corp --issuer https://id.corp.example --client-id signet --client-secret-file secret\n  signet provider add github --preset github --client-id Iv1.8a61 --client-secret-file secret\n  signet provider add corp --issuer https://id.corp.example --client-id signet token_endpoint_auth_method=private_key_jwt\n  signet provider add old --issuer https://old.example/realms/corp --client-id signet --client-secret-file secret migrate=true hidden=true trust_email=true"
    )]
    Add {
        /// What it is called in URLs and buttons: lower-case letters, digits and hyphens.
        name: String,
        /// Its issuer identifier.
        #[arg(long)]
        issuer: Option<String>,
        /// Who this server is there; of an LDAP server the name that it binds with.
        #[arg(long)]
        client_id: Option<String>,
        /// The file with the client secret; - for standard input.
        #[arg(long, value_name = "FILE")]
        client_secret_file: Option<PathBuf>,
        /// github, google, microsoft, gitlab or apple.
        #[arg(long)]
        preset: Option<String>,
        /// Further members: label, trust_email, domains, groups and so on
        /// (docs/identity-providers.md).
        #[arg(value_name = "NAME=VALUE")]
        fields: Vec<Field>,
        #[command(flatten)]
        target: Target,
    },
    /// Change an identity provider.
    #[command(
        after_help = "Example:\n  signet provider set corp trust_email=true domains+=corp.example"
    )]
    Set {
        /// Its name.
        name: String,
        /// Members to change.
        #[arg(
            value_name = "NAME=VALUE",
            required_unless_present = "client_secret_file"
        )]
        fields: Vec<Field>,
        /// The file with a new client secret; - for standard input.
        #[arg(long, value_name = "FILE")]
        client_secret_file: Option<PathBuf>,
        #[command(flatten)]
        target: Target,
    },
    /// Remove an identity provider. Nobody logs in by it any more; accounts stay.
    #[command(after_help = "Example:\n  signet provider remove corp")]
    Remove {
        /// Its name.
        name: String,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet provider ...`
pub fn provider(command: ProviderCommand, output: &Output) -> Result<(), Failure> {
    match command {
        ProviderCommand::List { target, paging } => list(&PROVIDERS, &target, &paging, output),
        ProviderCommand::Show { name, target } => show(&PROVIDERS, &target, &name, output),
        ProviderCommand::Add {
            name,
            issuer,
            client_id,
            client_secret_file,
            preset,
            fields,
            target,
        } => {
            let mut body: Map<String, Value> = record(&PROVIDERS, &fields)?;
            let said = [
                ("issuer", issuer),
                ("preset", preset),
                ("client_id", client_id),
            ];
            for (member, value) in said {
                if let Some(value) = value {
                    body.insert(member.to_owned(), value.into());
                }
            }
            if let Some(file) = client_secret_file {
                body.insert("client_secret".to_owned(), secret(&file)?.into());
            }
            let body = Value::Object(body);
            send(
                &target,
                Method::PUT,
                &item(&PROVIDERS, &name),
                &body,
                output,
                members,
            )
        }
        ProviderCommand::Set {
            name,
            mut fields,
            client_secret_file,
            target,
        } => {
            if let Some(file) = client_secret_file {
                fields.push(fields::secret("client_secret", secret(&file)?));
            }
            set(&PROVIDERS, &target, &name, &fields, output)
        }
        ProviderCommand::Remove {
            name,
            leave,
            target,
        } => remove(&PROVIDERS, &target, &name, leave, output),
    }
}

/// The one line of a file, without its end.
fn secret(file: &std::path::Path) -> Result<String, Failure> {
    const MAX: u64 = 64 * 1024;
    let failed = |e: std::io::Error| {
        Failure::unusable(format!(
            "cannot read the client secret in {}: {e}",
            file.display()
        ))
    };
    let mut text = String::new();
    if file == std::path::Path::new("-") {
        std::io::stdin().lock().take(MAX).read_to_string(&mut text)
    } else {
        let opened = std::fs::File::open(file).map_err(failed)?;
        opened.take(MAX).read_to_string(&mut text)
    }
    .map_err(failed)?;
    let line = text.trim_end_matches(['\r', '\n']);
    match line.is_empty() {
        true => Err(Failure::unusable(
            "the file with the client secret is empty",
        )),
        false => Ok(line.to_owned()),
    }
}

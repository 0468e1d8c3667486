//! `signet config`: is the file right, and what may be in it?

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::json;

use super::{Failure, Output, note, output::pretty};
use crate::config::{check, read};

/// `signet config ...`
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Check a configuration file: names, types, meaning, and that its secrets can be read.
    #[command(after_help = "Example:\n  signet config check --json /etc/signet/signet.toml")]
    Check {
        /// The TOML file.
        #[arg(required_unless_present = "config")]
        file: Option<PathBuf>,
        /// The same, as `signet serve` takes it.
        #[arg(long, value_name = "FILE", conflicts_with = "file")]
        config: Option<PathBuf>,
        /// Do not read the secrets that the file refers to (on a machine that does not have them).
        #[arg(long)]
        without_secrets: bool,
    },
    /// Print the JSON Schema of the configuration file.
    #[command(after_help = "Example:\n  signet config schema > signet.schema.json")]
    Schema,
}

/// Does the command. `check` answers no (exit 1) if there is a problem; a file that cannot be read
/// is exit 2.
pub fn run(command: ConfigCommand, output: &Output) -> Result<(), Failure> {
    match command {
        ConfigCommand::Schema => {
            let schema = read::schema();
            output.print(&schema, || pretty(&schema))
        }
        ConfigCommand::Check {
            file,
            config,
            without_secrets,
        } => {
            // The command line's rules: exactly one of the two is there.
            let file = file.or(config).unwrap_or_default();
            if let Err(e) = std::fs::File::open(&file) {
                return Err(Failure::unusable(format!(
                    "cannot read {}: {e}",
                    file.display()
                )));
            }
            match read::load(&file, !without_secrets) {
                Ok(loaded) => {
                    let notes = check::notes(&loaded.config);
                    for found in &notes {
                        note(&format!(
                            "{}: {}: {}",
                            file.display(),
                            found.path,
                            found.message
                        ));
                    }
                    let list: Vec<_> = notes
                        .iter()
                        .map(|n| json!({ "path": n.path, "message": n.message }))
                        .collect();
                    output.print(
                        &json!({ "valid": true, "issuer": loaded.config.issuer, "notes": list }),
                        || format!("{}: good", file.display()),
                    )
                }
                Err(problems) => Err(refusal(&file, &problems)),
            }
        }
    }
}

/// The problems as one refusal: a line each for people, a list for scripts.
pub fn refusal(file: &std::path::Path, problems: &[read::Problem]) -> Failure {
    let lines: Vec<String> = problems
        .iter()
        .map(|p| format!("{}: {p}", file.display()))
        .collect();
    let list: Vec<_> = problems
        .iter()
        .map(|p| {
            json!({ "line": p.line, "column": p.column, "path": p.path, "message": p.message,
                    "suggestion": p.suggestion })
        })
        .collect();
    Failure::no("invalid_configuration", lines.join("\nsignet: "))
        .with(json!({ "valid": false, "problems": list }))
}

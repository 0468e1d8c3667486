//! `signet config`: is the file right, and what may be in it?

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::json;

use super::{Failure, Output, note, output::pretty};
use signet_config::{check, example, model::Config, read};
use signet_texts::LANGUAGES;

/// `signet config ...`
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Check a configuration file: names, types, meaning, and that everything can be made of it
    /// that a start makes, sockets and store aside.
    #[command(after_help = "Example:\n  signet config check --json /etc/signet/signet.toml")]
    Check {
        /// The TOML file, or a directory of declarations.
        #[arg(required_unless_present = "config")]
        file: Option<PathBuf>,
        /// The same, as `signet serve` takes it.
        #[arg(long, value_name = "FILE", conflicts_with = "file")]
        config: Option<PathBuf>,
        /// Do not read the secrets that the file refers to (on a machine that does not have them),
        /// and make nothing of the file.
        #[arg(long)]
        without_secrets: bool,
    },
    /// Print the JSON Schema of the configuration file.
    #[command(
        after_help = "Example:\n  signet config schema > signet.schema.json\n  signet config schema --kubernetes | kubectl apply -f -"
    )]
    Schema {
        /// Of a file of a directory of declarations.
        #[arg(long)]
        declarations: bool,
        /// The CustomResourceDefinitions of declarations in Kubernetes, as YAML.
        #[arg(long, conflicts_with = "declarations")]
        kubernetes: bool,
    },
    /// Print a configuration file to begin with: what everybody sets.
    #[command(
        after_help = "Example:\n  signet config example > /etc/signet/signet.toml\n  signet config example --all | less"
    )]
    Example {
        /// Every setting, each with what it is for and its default.
        #[arg(long)]
        all: bool,
    },
    /// Print what pages and mails say, as the setting `brand.texts` that says it otherwise: keep
    /// the lines that you change.
    #[command(
        after_help = "Example:\n  signet config texts de > texts.toml\n  signet config texts en --find mail-"
    )]
    Texts {
        /// The language's tag.
        #[arg(default_value = "en")]
        language: String,
        /// Those alone whose id has this in it.
        #[arg(long, value_name = "PART")]
        find: Option<String>,
    },
}

/// Does the command. `check` answers no (exit 1) if there is a problem; a file that cannot be read
/// is exit 2.
pub fn run(command: ConfigCommand, output: &Output) -> Result<(), Failure> {
    match command {
        ConfigCommand::Schema {
            declarations: true, ..
        } => signet_declaration::schema(output),
        ConfigCommand::Schema {
            kubernetes: true, ..
        } => signet_declaration::kubernetes_schema(output),
        ConfigCommand::Schema { .. } => {
            let schema = read::schema();
            output.print(&schema, || pretty(&schema))
        }
        ConfigCommand::Example { all } => {
            let text = example::example(all);
            output.print(&json!({ "file": text }), || text.trim_end().to_owned())
        }
        ConfigCommand::Texts { language, find } => texts(&language, find.as_deref(), output),
        ConfigCommand::Check {
            file,
            config,
            without_secrets,
        } => {
            // The command line's rules: exactly one of the two is there.
            let file = file.or(config).unwrap_or_default();
            if file.is_dir() {
                return signet_declaration::check_directory(&file, output);
            }
            if let Err(e) = std::fs::File::open(&file) {
                return Err(Failure::unusable(format!(
                    "cannot read {}: {e}",
                    file.display()
                )));
            }
            let loaded = read::load(&file, !without_secrets).and_then(|loaded| {
                let made = match without_secrets {
                    true => Ok(()),
                    false => rehearse(&loaded.config, &loaded.base),
                };
                made.map(|()| loaded)
                    .map_err(|message| vec![read::Problem::nowhere(message)])
            });
            match loaded {
                Ok(loaded) => {
                    let notes = check::notes(&loaded.config, &loaded.base, !without_secrets);
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

fn texts(tag: &str, find: Option<&str>, output: &Output) -> Result<(), Failure> {
    let mut languages = LANGUAGES.into_iter();
    let Some(language) = languages.find(|language| language.tag() == tag) else {
        let tags: Vec<&str> = LANGUAGES.iter().map(|language| language.tag()).collect();
        let known = tags.join(", ");
        return Err(Failure::unusable(format!(
            "there is no language \"{tag}\"; there are {known}"
        )));
    };
    let mut texts = language.sources();
    texts.retain(|id, _| find.is_none_or(|part| id.contains(part)));
    let value = json!({ "brand": { "texts": { tag: texts } } });
    let whole = || {
        let mut lines = vec![format!("[brand.texts.{tag}]")];
        // A text in JSON is one in TOML, and an id is a bare key.
        let texts = texts.iter();
        lines.extend(texts.map(|(id, text)| format!("{id} = {}", json!(text))));
        lines.join("\n")
    };
    output.print(&value, whole)
}

/// Makes what a start makes. Directories that are made for that are removed: whoever checks a file
/// need not be whom the server runs as.
fn rehearse(config: &Config, base: &Path) -> Result<(), String> {
    let mails = config
        .mail
        .as_ref()
        .and_then(|mail| mail.directory.as_ref());
    let missing: Vec<PathBuf> = mails.map_or_else(Vec::new, |directory| {
        let directory = base.join(directory);
        let ancestors = directory.ancestors().map(Path::to_path_buf);
        ancestors.take_while(|path| !path.exists()).collect()
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| e.to_string())?;
    let routes: Vec<&'static str> = crate::serve::router().paths().collect();
    let made = runtime.block_on(async { signet_assembly::rehearse(config, base, &routes) });
    for directory in missing {
        // Not there, or not empty: then it is not what was made here.
        let _ = std::fs::remove_dir(directory);
    }
    made
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

//! `signet explain`: what a setting of the configuration file is.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::{Failure, Output, block_on, config::refusal};
use signet_admin_client::{Session, Target};
use signet_config::{
    explain::{Explained, explain},
    read,
    settings::{value, values},
};

/// `signet explain`
#[derive(Debug, Args)]
pub struct Explain {
    /// A setting ("lifetimes.code"), a table ("lifetimes"), a list of the file ("clients") or a
    /// member of its records ("clients.redirect_uris"). Default: every setting.
    #[arg(value_name = "PATH")]
    path: Option<String>,
    /// A configuration file: also print the value that it gives, and where.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Ask a running server for the value that counts there, and where it comes from; with
    /// `--realm`, in that realm.
    #[arg(long, conflicts_with = "config")]
    running: bool,
    #[command(flatten)]
    target: Target,
}

/// Prints the settings; exit 1 for an unknown name.
pub fn run(arguments: &Explain, output: &Output) -> Result<(), Failure> {
    let path = arguments.path.as_deref().unwrap_or_default();
    let found = explain(path).map_err(|near| {
        let near = near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
        Failure::no("not_found", format!("no setting \"{path}\"{near}"))
    })?;
    if arguments.running {
        return running(arguments, &found, output);
    }
    let file = arguments.config.as_deref().map(File::read).transpose()?;
    let list: Vec<Value> = found
        .iter()
        .map(|one| {
            let mut shown = one.to_json();
            if let Some(file) = &file {
                let (value, line) = file.value(one);
                shown["value"] = value.clone();
                shown["line"] = line.into();
            }
            shown
        })
        .collect();
    output.print(&json!({ "settings": list }), || {
        let blocks = found.iter().map(|one| block(one, file.as_ref()));
        blocks.collect::<Vec<_>>().join("\n\n")
    })
}

/// Prints what a running server says of these settings.
fn running(arguments: &Explain, found: &[Explained], output: &Output) -> Result<(), Failure> {
    let settings = block_on(Session::with(&arguments.target, async |session| {
        session.get("/settings").await
    }))??;
    let said = settings["items"].as_array().into_iter().flatten();
    let wanted: Vec<&Value> = said
        .filter(|one| found.iter().any(|found| one["name"] == *found.path))
        .collect();
    output.print(&json!({ "settings": wanted }), || {
        let blocks = wanted.iter().map(|one| {
            let text = |name: &str| one[name].as_str().unwrap_or_default();
            let value = match &one["value"] {
                Value::Null => "not set".to_owned(),
                value => value.to_string(),
            };
            let lines = [
                text("name").to_owned(),
                format!("  {:<12} {}", "what it is", text("documentation")),
                format!("  {:<12} {}", "written as", text("type")),
                format!("  {:<12} {value} ({})", "value", text("source")),
                format!("  {:<12} the {}", "setting of", text("owner")),
                format!(
                    "  {:<12} {}",
                    "changed in",
                    match text("changed_in") {
                        "record" => "the realm's record: signet realm set",
                        _ => "the configuration file",
                    }
                ),
            ];
            lines.join("\n")
        });
        blocks.collect::<Vec<_>>().join("\n\n")
    })
}

/// A configuration file that was read.
struct File {
    name: String,
    text: String,
    values: Value,
}

impl File {
    fn read(path: &Path) -> Result<File, Failure> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| Failure::unusable(format!("cannot read {}: {e}", path.display())))?;
        let loaded = read::load(path, false).map_err(|problems| refusal(path, &problems))?;
        Ok(File {
            name: path.display().to_string(),
            text,
            values: values(&loaded.config),
        })
    }

    /// A setting's value, and the line where the file gives it; no line: it is the default. A
    /// member of a record has as many as there are records, and none here.
    fn value(&self, one: &Explained) -> (&Value, Option<usize>) {
        match one.path == one.setting.path {
            true => (
                value(&self.values, &one.path),
                read::line_of(&self.text, &one.path),
            ),
            false => (&Value::Null, None),
        }
    }
}

fn block(one: &Explained, file: Option<&File>) -> String {
    let mut lines = vec![one.path.clone()];
    let mut line = |name: &str, text: String| lines.push(format!("  {name:<12} {text}"));
    line("what it is", one.documentation.clone());
    line("written as", one.shape.clone());
    if !one.default.is_null() {
        line("default", text(&one.default));
    }
    if let Some(file) = file.filter(|_| one.path == one.setting.path) {
        line(
            "value",
            match file.value(one) {
                (Value::Null, _) => "not set".to_owned(),
                (value, Some(at)) => format!("{} ({}, line {at})", text(value), file.name),
                (value, None) => format!("{} (default)", text(value)),
            },
        );
    }
    line("setting of", format!("the {}", one.setting.owner.name()));
    line(
        "changed by",
        format!(
            "the configuration file; counts at a {}",
            match one.setting.takes_effect.name() {
                "reload" => "reload (SIGHUP)",
                restart => restart,
            }
        ),
    );
    lines.join("\n")
}

/// As the file has it.
fn text(value: &Value) -> String {
    match value {
        Value::Array(items) if items.iter().any(Value::is_object) => match items.len() {
            1 => "1 record".to_owned(),
            records => format!("{records} records"),
        },
        value => value.to_string(),
    }
}

//! `signet man`: the commands as manual pages; and the page of the manual that has them.

use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory};

use super::{Arguments, Failure, Output};

/// `signet man --out DIR`
#[derive(Debug, Args)]
pub struct Man {
    /// Where they are written; it is made where it is missing.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// `signet man`
pub fn run(command: &Man, output: &Output) -> Result<(), Failure> {
    let directory = &command.out;
    let failed = |path: &Path, e: std::io::Error| {
        Failure::unusable(format!("cannot write {}: {e}", path.display()))
    };
    std::fs::create_dir_all(directory).map_err(|e| failed(directory, e))?;
    let mut names = Vec::new();
    for (name, page) in pages() {
        let path = directory.join(&name);
        std::fs::write(&path, page).map_err(|e| failed(&path, e))?;
        names.push(name);
    }
    let answer = serde_json::json!({ "directory": directory, "pages": names });
    output.print(&answer, || {
        format!(
            "Wrote {} manual pages into {}: man {}/signet.1",
            names.len(),
            directory.display(),
            directory.display()
        )
    })
}

/// Each command's page by its file's name: `signet-client-add.1`.
fn pages() -> Vec<(String, Vec<u8>)> {
    let mut pages = Vec::new();
    walk(&whole(), &mut |command, path| {
        let name = path.replace(' ', "-");
        let named = command
            .clone()
            .display_name(name.clone())
            .bin_name(path.to_owned());
        let mut page = Vec::new();
        // Writing into memory cannot fail.
        if clap_mangen::Man::new(named)
            .title(name.clone())
            .render(&mut page)
            .is_ok()
        {
            pages.push((format!("{name}.1"), page));
        }
    });
    pages
}

/// The commands with what clap adds to each: `--help`, `--json`.
fn whole() -> Command {
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    command
}

/// Each command before those below it, with the words that call it.
fn walk(command: &Command, each: &mut dyn FnMut(&Command, &str)) {
    fn below(command: &Command, path: &str, each: &mut dyn FnMut(&Command, &str)) {
        each(command, path);
        for sub in command.get_subcommands() {
            below(sub, &format!("{path} {}", sub.get_name()), each);
        }
    }
    below(command, "signet", each);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/reference/commands.md.
    fn page() -> String {
        let mut page = String::from(
            "# Commands\n\nEvery command of `signet`, as `signet COMMAND --help` shows it; `signet man --out DIR` writes the same as manual pages, and\n`signet completions SHELL` what a shell \
             completes. Exit codes: 0 done, or yes; 1 the answer is no, or it was refused; 2 it could\nnot be tried. With `--json` data and failures are JSON.\n\n\
             This page is made of the commands themselves: `SIGNET_WRITE_DOCS=1 cargo test -p signet --bin signet` writes it.\n",
        );
        walk(&whole(), &mut |command, path| {
            // What only groups others is a line of its own.
            let deep = "#".repeat((path.split(' ').count() + 1).min(4));
            let about = command.get_long_about().or_else(|| command.get_about());
            let about = about.map(ToString::to_string).unwrap_or_default();
            page.push_str(&format!("\n{deep} {path}\n\n{about}\n"));
            let mut named = command.clone().bin_name(path.to_owned());
            let usage = named.render_usage().to_string();
            let usage = usage.trim_start_matches("Usage: ");
            page.push_str(&format!("\n    {usage}\n"));
            let arguments = command
                .get_arguments()
                .filter(|argument| !argument.is_hide_set() && argument.get_id() != "help")
                .filter(|argument| argument.get_id() != "json" || path == "signet");
            let mut rows = String::new();
            for argument in arguments {
                let help = argument.get_long_help().or_else(|| argument.get_help());
                let help = help.map(ToString::to_string).unwrap_or_default();
                let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
                let help = help.replace('|', "\\|");
                let values: Vec<String> = match argument.get_action().takes_values() {
                    true => argument
                        .get_possible_values()
                        .iter()
                        .map(|value| format!("`{}`", value.get_name()))
                        .collect(),
                    false => Vec::new(),
                };
                let values = match values.is_empty() {
                    true => String::new(),
                    false => format!(" ({})", values.join(", ")),
                };
                let name = argument.to_string().replace('|', "\\|");
                rows.push_str(&format!("| `{name}` | {help}{values} |\n"));
            }
            if !rows.is_empty() {
                page.push_str(&format!("\n| | |\n|---|---|\n{rows}"));
            }
            let after = command.get_after_help().map(ToString::to_string);
            if let Some((before, examples)) = after
                .as_deref()
                .and_then(|text| text.split_once("Example:\n"))
            {
                let before = before.trim();
                if !before.is_empty() {
                    page.push_str(&format!("\n{before}\n"));
                }
                page.push_str("\nFor example:\n\n");
                for line in examples.lines() {
                    page.push_str(&format!("    {}\n", line.trim_start()));
                }
            }
        });
        page
    }

    #[test]
    fn the_manual_is_what_the_commands_say_of_themselves() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/reference/commands.md"
        );
        let page = page();
        if std::env::var_os("SIGNET_WRITE_DOCS").is_some() {
            std::fs::write(file, &page).unwrap();
        }
        let written = std::fs::read_to_string(file).unwrap_or_default();
        assert_eq!(
            written, page,
            "SIGNET_WRITE_DOCS=1 cargo test -p signet --bin signet"
        );
    }

    #[test]
    fn every_command_has_a_manual_page_that_names_it() {
        let pages = pages();
        assert!(pages.len() > 100, "{}", pages.len());
        let (_, add) = pages
            .iter()
            .find(|(name, _)| name == "signet-client-add.1")
            .expect("signet client add");
        let add = String::from_utf8_lossy(add);
        assert!(
            add.contains(".TH") && add.contains("signet client add"),
            "{add}"
        );
        for (name, page) in &pages {
            assert!(name.starts_with("signet") && page.len() > 100, "{name}");
        }
    }
}

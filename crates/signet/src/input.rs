//! Where secrets come from: standard input, a file, the environment or a prompt; never an argument.

use std::{
    io::{self, BufRead, IsTerminal, Read, Write},
    path::Path,
    process::{Command, Stdio},
};

use signet_crypto::Secret;

use crate::cli::Failure;

/// Longest token or secret that is read, in bytes.
pub const MAX_INPUT: usize = 1024 * 1024;

/// The token of an argument, or of standard input where it is `-`. White space around it is not part of it.
pub fn token(argument: &str) -> Result<String, Failure> {
    if argument != "-" {
        return Ok(argument.trim().to_owned());
    }
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_INPUT as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Failure::unusable(format!("cannot read standard input: {e}")))?;
    // Bytes that are not UTF-8 are no token; the verifier says so.
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// A password: `--password-stdin`, `--password-file`, SIGNET_PASSWORD, or a prompt on a terminal, in this order.
pub fn password(stdin: bool, file: Option<&Path>, label: &str) -> Result<Secret<String>, Failure> {
    if stdin {
        let mut line = String::new();
        io::stdin()
            .lock()
            .take(MAX_INPUT as u64)
            .read_line(&mut line)
            .map_err(|e| Failure::unusable(format!("cannot read the password: {e}")))?;
        return finish(line, "standard input");
    }
    if let Some(file) = file {
        let text = std::fs::read_to_string(file)
            .map_err(|e| Failure::unusable(format!("cannot read {}: {e}", file.display())))?;
        return finish(text, "the file");
    }
    if let Ok(password) = std::env::var("SIGNET_PASSWORD") {
        return finish(password, "SIGNET_PASSWORD");
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::unusable(
            "a password is needed: --password-stdin, --password-file, or SIGNET_PASSWORD",
        ));
    }
    let first = prompt(&format!("{label}: "))?;
    finish(first, "the prompt")
}

/// The passphrase of an identity file: from this environment variable, or a prompt on a terminal. There is no default.
pub fn passphrase(variable: &str, label: &str, confirm: bool) -> Result<Secret<String>, Failure> {
    if let Ok(passphrase) = std::env::var(variable) {
        return finish(passphrase, variable);
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::unusable(format!(
            "a passphrase is needed: {variable}, or a terminal to ask at"
        )));
    }
    let first = finish(prompt(&format!("{label}: "))?, "the prompt")?;
    if confirm && finish(prompt(&format!("{label} again: "))?, "the prompt")? != first {
        return Err(Failure::unusable("the two differ"));
    }
    Ok(first)
}

fn finish(mut text: String, from: &str) -> Result<Secret<String>, Failure> {
    let end = text.trim_end_matches(['\r', '\n']).len();
    text.truncate(end);
    if text.is_empty() {
        return Err(Failure::unusable(format!("{from} gave no password")));
    }
    Ok(Secret::new(text))
}

/// Asks on the terminal. The echo is turned off through `stty`, which every Unix has: no terminal code of our own.
fn prompt(label: &str) -> Result<String, Failure> {
    let echo = |mode: &str| {
        Command::new("stty")
            .arg(mode)
            .stdin(Stdio::inherit())
            .status()
            .is_ok_and(|s| s.success())
    };
    let failed = |e: io::Error| Failure::unusable(format!("cannot read from the terminal: {e}"));
    let mut terminal = io::stderr();
    terminal
        .write_all(label.as_bytes())
        .and_then(|()| terminal.flush())
        .map_err(failed)?;
    let hidden = echo("-echo");
    let mut line = String::new();
    let read = io::stdin()
        .lock()
        .take(MAX_INPUT as u64)
        .read_line(&mut line);
    if hidden {
        echo("echo");
        let _ = writeln!(terminal);
    }
    read.map_err(failed)?;
    Ok(line)
}

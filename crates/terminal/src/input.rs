//! Where secrets come from: standard input, a file, the environment or a prompt; never an argument.

use std::{
    io::{self, BufRead, IsTerminal, Read, Write},
    path::Path,
};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use signet_crypto::Secret;

use crate::output::Failure;

/// Longest token or secret that is read, in bytes.
pub const MAX_INPUT: usize = 1024 * 1024;

/// The token of an argument, or of standard input where it is `-`. White space around it is not
/// part of it.
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

/// The caller's own password: SIGNET_PASSWORD, or a prompt on a terminal.
pub fn known_password(label: &str) -> Result<Secret<String>, Failure> {
    if let Ok(password) = std::env::var("SIGNET_PASSWORD") {
        return finish(password, "SIGNET_PASSWORD");
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::unusable(
            "a password is needed: SIGNET_PASSWORD, or a terminal to ask at",
        ));
    }
    finish(prompt(&format!("{label}: "))?, "the prompt")
}

/// A password to set: `--password-stdin`, `--password-file`, or a prompt on a terminal that asks
/// twice. Where `environment` says so, SIGNET_PASSWORD comes before the prompt: then it is not the
/// caller's own.
pub fn new_password(
    stdin: bool,
    file: Option<&Path>,
    environment: bool,
    label: &str,
) -> Result<Secret<String>, Failure> {
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
    if environment && let Ok(password) = std::env::var("SIGNET_PASSWORD") {
        return finish(password, "SIGNET_PASSWORD");
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::unusable(
            "a new password is needed: --password-stdin or --password-file",
        ));
    }
    twice(label)
}

/// The passphrase of an identity file: from this environment variable, or a prompt on a terminal.
/// There is no default.
pub fn passphrase(variable: &str, label: &str, confirm: bool) -> Result<Secret<String>, Failure> {
    if let Ok(passphrase) = std::env::var(variable) {
        return finish(passphrase, variable);
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::unusable(format!(
            "a passphrase is needed: {variable}, or a terminal to ask at"
        )));
    }
    if confirm {
        twice(label)
    } else {
        finish(prompt(&format!("{label}: "))?, "the prompt")
    }
}

/// The passphrase of an encrypted file: what stands in `file`, or a prompt on a terminal, which
/// asks twice for a new one. None: there is neither.
///
/// # Errors
/// A file that cannot be read, or is empty; two that differ.
pub fn passphrase_of_file(
    file: Option<&Path>,
    label: &str,
    is_new: bool,
) -> Result<Option<Secret<String>>, Failure> {
    if let Some(file) = file {
        let text = std::fs::read_to_string(file)
            .map_err(|e| Failure::unusable(format!("cannot read {}: {e}", file.display())))?;
        return finish(text, "the file").map(Some);
    }
    if !io::stdin().is_terminal() {
        return Ok(None);
    }
    let typed = match is_new {
        true => twice(label),
        false => finish(prompt(&format!("{label}: "))?, "the prompt"),
    };
    typed.map(Some)
}

/// Whether somebody is there to ask.
pub fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks yes or no before what cannot be undone, unless `yes` (`--yes`). Without a terminal it is
/// refused: a script that means it says so.
///
/// # Errors
/// `not_confirmed` where nobody can be asked; `cancelled` where the answer is no.
pub fn confirm(yes: bool, question: &str) -> Result<(), Failure> {
    if !yes && !is_attended() {
        let said = format!("{question} Nothing was changed: --yes does it");
        return Err(Failure::no("not_confirmed", said));
    }
    confirm_at_terminal(yes, question)
}

/// Asks yes or no before what can be had again, unless `yes` (`--yes`). Without a terminal nobody
/// is there to ask, and it is done.
///
/// # Errors
/// `cancelled` where the answer is no.
pub fn confirm_at_terminal(yes: bool, question: &str) -> Result<(), Failure> {
    if yes || !is_attended() {
        return Ok(());
    }
    match ask(&format!("{question} [y/N] "), 64)?
        .to_ascii_lowercase()
        .as_str()
    {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::no("cancelled", "nothing was changed")),
    }
}

/// Longest line that is typed as an answer, in bytes.
const MAX_LINE: usize = 4096;

/// One line typed at the terminal, without the white space around it. The end of the input is no
/// answer: whoever closes it does not go on.
///
/// # Errors
/// The terminal cannot be read, or its input has ended.
pub fn line(question: &str) -> Result<String, Failure> {
    ask(question, MAX_LINE)
}

fn ask(question: &str, longest: usize) -> Result<String, Failure> {
    let failed = |e: io::Error| Failure::unusable(format!("cannot read from the terminal: {e}"));
    let mut terminal = io::stderr();
    write!(terminal, "{question}")
        .and_then(|()| terminal.flush())
        .map_err(failed)?;
    let mut line = String::new();
    let read = io::stdin()
        .lock()
        .take(longest as u64)
        .read_line(&mut line)
        .map_err(failed)?;
    match read {
        0 => Err(Failure::no("cancelled", "nothing was changed")),
        _ => Ok(line.trim().to_owned()),
    }
}

fn twice(label: &str) -> Result<Secret<String>, Failure> {
    let first = finish(prompt(&format!("{label}: "))?, "the prompt")?;
    if finish(prompt(&format!("{label} again: "))?, "the prompt")? != first {
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

/// The terminal without echo, until this is dropped: also where the reading fails, or is
/// interrupted.
struct Silent(Termios);

impl Silent {
    /// What was typed before belongs to nothing and is thrown away; what is typed from here on is
    /// not shown.
    fn begin() -> io::Result<Silent> {
        let before = tcgetattr(io::stdin())?;
        let mut silent = before.clone();
        // Without ISIG, so that Ctrl-C reaches us: a process that it ends would leave the terminal
        // without echo.
        silent
            .local_modes
            .remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
        tcsetattr(io::stdin(), OptionalActions::Flush, &silent)?;
        Ok(Silent(before))
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        // A terminal that is gone needs no echo.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        let _ = writeln!(io::stderr());
    }
}

/// Asks on the terminal. The echo is off before the question stands there, so nothing of an answer
/// is ever shown.
fn prompt(label: &str) -> Result<String, Failure> {
    let failed = |e: io::Error| Failure::unusable(format!("cannot read from the terminal: {e}"));
    let silent = Silent::begin().map_err(failed)?;
    let mut terminal = io::stderr();
    terminal
        .write_all(label.as_bytes())
        .and_then(|()| terminal.flush())
        .map_err(failed)?;
    let line = typed(&mut io::stdin().lock()).map_err(failed)?;
    drop(silent);
    match line {
        Some(bytes) => {
            String::from_utf8(bytes).map_err(|_| Failure::unusable("what was typed is not UTF-8"))
        }
        None => Err(Failure::unusable("interrupted")),
    }
}

/// One line of a terminal that edits nothing itself: backspace, Ctrl-U, Ctrl-C, Ctrl-D are done
/// here. None: interrupted.
fn typed(keys: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut line: Vec<u8> = Vec::new();
    let mut key = [0];
    while keys.read(&mut key)? == 1 {
        match key[0] {
            b'\n' | b'\r' | 0x04 => break,
            0x03 => return Ok(None),
            0x08 | 0x7f => {
                // One character, however many bytes it has in UTF-8.
                while line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
            }
            0x15 => line.clear(),
            _ if line.len() >= MAX_INPUT => break,
            byte => line.push(byte),
        }
    }
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_line_can_be_corrected_and_interrupted() {
        let read = |keys: &str| typed(&mut keys.as_bytes()).unwrap();
        assert_eq!(read("secret\nrest").as_deref(), Some(&b"secret"[..]));
        assert_eq!(read("s\u{e9}\u{7f}x\u{8}y\r").as_deref(), Some(&b"sy"[..]));
        assert_eq!(
            read("wrong\u{15}right\u{4}").as_deref(),
            Some(&b"right"[..])
        );
        assert_eq!(read("sec\u{3}"), None);
        assert_eq!(read("\u{7f}\n").as_deref(), Some(&b""[..]));
    }
}

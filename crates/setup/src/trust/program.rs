//! Programs of the system that are run: found in PATH, without a terminal, and without what
//! Signet's own variables hold.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

/// Whether PATH has it.
pub(super) fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| {
        let found = std::fs::metadata(folder.join(program));
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })
}

/// Runs it to its end with this on its standard input; what it printed, or why it failed.
pub(super) fn run<S: AsRef<OsStr>>(
    program: &str,
    arguments: &[S],
    input: &str,
) -> Result<Vec<u8>, String> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"SIGNET_") {
            command.env_remove(name);
        }
    }
    let failed = |e: std::io::Error| format!("{program}: {e}");
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ends without reading says why itself. What is written fits into a pipe.
        let _ = stdin.write_all(input.as_bytes());
    }
    let done = child.wait_with_output().map_err(failed)?;
    if done.status.success() {
        return Ok(done.stdout);
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let said = said.lines().find(|line| !line.trim().is_empty());
    Err(match said {
        Some(said) => format!("{program}: {}", said.trim()),
        None => format!("{program}: {}", done.status),
    })
}

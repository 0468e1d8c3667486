//! Where a secret is. A directory names the place, and never has the secret itself.
use crate::node::{Data, Node};
use signet_crypto::{Secret, random};
use signet_encoding::base64url;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Longest secret, in bytes
const MAX_SECRET_BYTES: usize = 64 * 1024;

/// What is said of a secret that stands where its place should.
pub(crate) const PLAIN: &str = "a secret stands here in plain text";
const FORMS: &str = "{ file = \"PATH\" }, { env = \"NAME\" }, { command = [\"PROGRAM\", ...] } or { generate = \"PATH\" }";

/// A secret's place. Paths begin at the directory of the file that names them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SecretPlace {
    File(PathBuf),
    Env(String),
    Command(Vec<String>),
    Generate(PathBuf),
    /// Read already, of what keeps secrets for a cluster.
    Held(Secret<String>),
}

impl SecretPlace {
    /// Reads a member that is a secret.
    ///
    /// # Errors
    /// What is wrong, which never repeats what stands there, and what to write instead.
    pub(crate) fn read(node: &Node, base: &Path) -> Result<SecretPlace, (String, String)> {
        let wrong = || ("a secret's place is expected".to_owned(), FORMS.to_owned());
        let Data::Table(members) = &node.data else {
            return Err((PLAIN.to_owned(), format!("write where it is: {FORMS}")));
        };
        let [member] = members.as_slice() else {
            return Err(wrong());
        };
        let text = member.value.text().filter(|text| !text.is_empty());
        let place = match (member.name.as_str(), text, &member.value.data) {
            ("file", Some(path), _) => SecretPlace::File(base.join(path)),
            ("generate", Some(path), _) => SecretPlace::Generate(base.join(path)),
            ("env", Some(name), _) => SecretPlace::Env(name.to_owned()),
            ("command", _, Data::List(words)) => {
                let words: Option<Vec<String>> =
                    words.iter().map(|w| w.text().map(str::to_owned)).collect();
                let words = words.filter(|words| !words.is_empty());
                SecretPlace::Command(words.ok_or_else(wrong)?)
            }
            _ => return Err(wrong()),
        };
        Ok(place)
    }

    /// Whether the secret can be read, as far as can be said without reading it.
    ///
    /// # Errors
    /// Why not, for the person who wrote the directory.
    pub(crate) fn look(&self) -> Result<(), String> {
        match self {
            SecretPlace::File(path) if !path.is_file() => {
                Err(format!("there is no secret file {}", path.display()))
            }
            SecretPlace::Env(name) if std::env::var_os(name).is_none() => {
                Err(format!("the environment variable {name} is not set"))
            }
            SecretPlace::File(_)
            | SecretPlace::Env(_)
            | SecretPlace::Command(_)
            | SecretPlace::Generate(_)
            | SecretPlace::Held(_) => Ok(()),
        }
    }

    /// The secret. `make`: a file that is to be generated and does not exist is made; otherwise
    /// its secret is one that nobody keeps.
    ///
    /// # Errors
    /// Why it cannot be read. Never what was found.
    pub(crate) fn fetch(&self, make: bool) -> Result<Secret<String>, String> {
        let text = match self {
            SecretPlace::File(path) => file(path)?,
            SecretPlace::Env(name) => std::env::var(name)
                .map_err(|_| format!("the environment variable {name} is not set, or not UTF-8"))?,
            SecretPlace::Command(words) => output_of(words)?,
            SecretPlace::Held(secret) => secret.expose().clone(),
            SecretPlace::Generate(path) if path.exists() => file(path)?,
            SecretPlace::Generate(path) => {
                let mut bytes = [0; 48];
                random::fill_system(&mut bytes);
                let made = base64url::encode(&bytes);
                if make {
                    write_new(path, &made)?;
                }
                made
            }
        };
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        match text.len() {
            0 => Err("the secret is empty".to_owned()),
            1..=MAX_SECRET_BYTES => Ok(Secret::new(text.to_owned())),
            _ => Err("the secret is longer than 64 KiB".to_owned()),
        }
    }
}

fn file(path: &Path) -> Result<String, String> {
    let said = |e: std::io::Error| format!("cannot read the secret file {}: {e}", path.display());
    std::fs::read_to_string(path).map_err(said)
}

/// Only its owner may read what is made.
fn write_new(path: &Path, secret: &str) -> Result<(), String> {
    let said = |e: std::io::Error| format!("cannot make the secret file {}: {e}", path.display());
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(said)?;
    }
    let mut options = std::fs::OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(said)?;
    file.write_all(secret.as_bytes())
        .and_then(|()| file.write_all(b"\n"))
        .and_then(|()| file.sync_all())
        .map_err(said)
}

fn output_of(words: &[String]) -> Result<String, String> {
    let program = words.first().map_or("", String::as_str);
    let failed = |why: String| format!("the command {program} {why}");
    let output = Command::new(program)
        .args(words.get(1..).unwrap_or_default())
        .stdin(Stdio::null())
        // What it says of itself could repeat the secret.
        .stderr(Stdio::null())
        .output()
        .map_err(|e| failed(format!("cannot be run: {e}")))?;
    if !output.status.success() {
        return Err(failed(format!("failed: {}", output.status)));
    }
    String::from_utf8(output.stdout).map_err(|_| failed("gave no text".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_generated_secret_is_made_once_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secrets/shop");
        let place = SecretPlace::Generate(path.clone());
        place.fetch(false).unwrap();
        assert!(!path.exists(), "a plan makes nothing");
        let made = place.fetch(true).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(place.fetch(true).unwrap() == made);
        assert!(SecretPlace::File(path).fetch(false).unwrap() == made);
    }

    #[test]
    fn a_command_gives_the_secret_and_its_failure_repeats_nothing() {
        let words = |words: &[&str]| {
            SecretPlace::Command(words.iter().map(|word| (*word).to_owned()).collect())
        };
        let said = words(&["echo", "hunter2"]).fetch(false).unwrap();
        assert_eq!(said.expose(), "hunter2");
        let failed = words(&["sh", "-c", "echo hunter2; exit 3"]).fetch(false);
        let failed = failed.err().unwrap();
        assert!(!failed.contains("hunter2"), "{failed}");
    }
}

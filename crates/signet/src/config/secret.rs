//! Secrets are never written into the configuration: it names the file or the environment variable that holds one.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use signet_crypto::Secret;

/// Longest secret that is read, in bytes: keys and passwords are far shorter.
const MAX_BYTES: u64 = 64 * 1024;

/// Where a secret is: `{ file = "/run/secrets/smtp" }` or `{ env = "SMTP_PASSWORD" }`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum SecretRef {
    /// The file's content, without one trailing line end. A relative path starts at the configuration file's directory.
    File(PathBuf),
    /// The environment variable's value.
    Env(String),
}

impl SecretRef {
    /// Reads the secret. The error names where it should have been, and never what was found there.
    pub fn read(&self, base: &Path) -> Result<Secret<String>, String> {
        match self {
            SecretRef::File(path) => {
                let path = base.join(path);
                let size = std::fs::metadata(&path)
                    .map_err(|e| format!("cannot read the secret file {}: {e}", path.display()))?
                    .len();
                if size > MAX_BYTES {
                    return Err(format!(
                        "the secret file {} is larger than 64 KiB",
                        path.display()
                    ));
                }
                let mut text = std::fs::read_to_string(&path)
                    .map_err(|e| format!("cannot read the secret file {}: {e}", path.display()))?;
                if text.ends_with('\n') {
                    text.pop();
                    if text.ends_with('\r') {
                        text.pop();
                    }
                }
                if text.is_empty() {
                    return Err(format!("the secret file {} is empty", path.display()));
                }
                Ok(Secret::new(text))
            }
            SecretRef::Env(name) => match std::env::var(name) {
                Ok(value) if !value.is_empty() => Ok(Secret::new(value)),
                Ok(_) => Err(format!("the environment variable {name} is empty")),
                Err(_) => Err(format!(
                    "the environment variable {name} is not set, or not UTF-8"
                )),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_file_loses_one_trailing_line_end() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("s"), "secret\n\n").unwrap();
        let secret = SecretRef::File("s".into()).read(dir.path()).unwrap();
        assert_eq!(secret.expose(), "secret\n");
    }

    #[test]
    fn a_missing_or_empty_secret_is_an_error_that_names_its_place() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("empty"), "\n").unwrap();
        let empty = SecretRef::File("empty".into())
            .read(dir.path())
            .err()
            .unwrap();
        assert!(empty.contains("empty"), "{empty}");
        let missing = SecretRef::File("missing".into())
            .read(dir.path())
            .err()
            .unwrap();
        assert!(missing.contains("missing"), "{missing}");
        let unset = SecretRef::Env("SIGNET_TEST_UNSET".into())
            .read(dir.path())
            .err()
            .unwrap();
        assert!(unset.contains("SIGNET_TEST_UNSET"), "{unset}");
    }
}

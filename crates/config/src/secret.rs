//! Secrets are never written into the configuration: it names the file or the environment variable
//! that holds one.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, Error, MapAccess, Visitor},
};
use signet_crypto::Secret;

/// Longest secret that is read, in bytes: keys and passwords are far shorter.
const MAX_BYTES: u64 = 64 * 1024;

/// Where a secret is: `{ file = "/run/secrets/smtp" }` or `{ env = "SMTP_PASSWORD" }`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(deny_unknown_fields, rename_all = "snake_case")]
pub enum SecretRef {
    /// The file's content, without one trailing line end. A relative path starts at the
    /// configuration file's directory.
    File(PathBuf),
    /// The environment variable's value.
    Env(String),
}

/// Read by hand: the derived reader's errors repeat what stands there, and what stands there by
/// mistake is the secret.
impl<'de> Deserialize<'de> for SecretRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SecretRef, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

const EXPECTED: &str =
    "where the secret is: { file = \"PATH\" } or { env = \"NAME\" }; it is never written here";

impl<'de> Visitor<'de> for Reader {
    type Value = SecretRef;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SecretRef, A::Error> {
        let wrong = || A::Error::custom(format!("expected {EXPECTED}"));
        let mut found = None;
        while let Some((name, value)) = map.next_entry::<String, Untold>().map_err(|_| wrong())? {
            let reference = match (&*name, value.0) {
                ("file", Some(path)) => SecretRef::File(path.into()),
                ("env", Some(variable)) => SecretRef::Env(variable),
                _ => return Err(wrong()),
            };
            if found.replace(reference).is_some() {
                return Err(wrong());
            }
        }
        found.ok_or_else(wrong)
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<SecretRef, E> {
        Err(E::custom(format!("expected {EXPECTED}")))
    }
    fn visit_bool<E: de::Error>(self, _: bool) -> Result<SecretRef, E> {
        Err(E::custom(format!("expected {EXPECTED}")))
    }
    fn visit_i64<E: de::Error>(self, _: i64) -> Result<SecretRef, E> {
        Err(E::custom(format!("expected {EXPECTED}")))
    }
    fn visit_f64<E: de::Error>(self, _: f64) -> Result<SecretRef, E> {
        Err(E::custom(format!("expected {EXPECTED}")))
    }
}

/// A text, or something else that no error may repeat.
struct Untold(Option<String>);

impl<'de> Deserialize<'de> for Untold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Untold, D::Error> {
        // Any value of TOML is one of JSON, but for dates, which are tables to serde.
        let value = serde_json::Value::deserialize(deserializer)?;
        Ok(Untold(value.as_str().map(str::to_owned)))
    }
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

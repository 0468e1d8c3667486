//! The files of an export: how much of one is read, and how a mistake in it is named.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;
use signet_age::{AgeError, Identity};

/// Longest file of an export that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 1 << 30;
/// Most files of an export that is a directory.
pub const MAX_FILES: usize = 10_000;

/// Why a file cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// The file, and the line where that is known.
    pub place: String,
    /// What is wrong. Never a value of the file: it may be a secret.
    pub why: String,
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.why)
    }
}

impl std::error::Error for ReadError {}

/// How an encrypted file is opened: asked for when there is one, as somebody may have to be asked.
/// The error is for people.
pub type Opens<'a> = &'a dyn Fn() -> Result<Identity, String>;

/// Opens nothing.
///
/// # Errors
/// Always.
pub fn opens_nothing() -> Result<Identity, String> {
    Err("it is encrypted: --passphrase-file FILE or --identity FILE opens it".to_owned())
}

/// One file of an export.
pub struct Part {
    /// Its name, for people.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl Part {
    /// A mistake of the file.
    pub fn error(&self, why: impl Into<String>) -> ReadError {
        ReadError {
            place: self.name.clone(),
            why: why.into(),
        }
    }

    /// The file as one JSON document. The error names the member, and never repeats its value.
    ///
    /// # Errors
    /// No JSON, or of another shape.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, ReadError> {
        document(&self.bytes, &self.name)
    }

    /// The lines of the file, each a JSON document; empty lines are none. A file that is one array
    /// has its members as lines.
    ///
    /// # Errors
    /// As [`Part::json`], with the line's number.
    pub fn lines<T: DeserializeOwned>(&self) -> Result<Vec<T>, ReadError> {
        if self.bytes.trim_ascii_start().starts_with(b"[") {
            return self.json();
        }
        let lines = self.bytes.split(|byte| *byte == b'\n').enumerate();
        lines
            .filter(|(_, line)| !line.trim_ascii().is_empty())
            .map(|(at, line)| document(line, &format!("{}:{}", self.name, at + 1)))
            .collect()
    }
}

fn document<T: DeserializeOwned>(bytes: &[u8], place: &str) -> Result<T, ReadError> {
    let refused = |path: &str, error: &serde_json::Error| {
        // The parser repeats values where the type is wrong, and those may be secrets.
        let text = error.to_string();
        let why = text.split(" at line ").next().unwrap_or_default();
        let why = match why.split_once("invalid type: ") {
            Some((_, rest)) => match rest.rsplit_once(", expected ") {
                Some((_, expected)) => format!("expected {expected}"),
                None => "another type".to_owned(),
            },
            None if error.is_data() && !why.starts_with("missing field") => {
                match why.rsplit_once(", expected ") {
                    Some((_, expected)) => format!("expected {expected}"),
                    None => "not what is expected here".to_owned(),
                }
            }
            None => why.to_owned(),
        };
        let at = match error.line() {
            0 => String::new(),
            line => format!(" (line {line}, column {})", error.column()),
        };
        let member = match path {
            "." | "" => String::new(),
            path => format!("{path}: "),
        };
        ReadError {
            place: place.to_owned(),
            why: format!("{member}{why}{at}"),
        }
    };
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read = serde_path_to_error::deserialize(&mut reader);
    let read = read.map_err(|error| refused(&error.path().to_string(), error.inner()))?;
    reader.end().map_err(|error| refused("", &error))?;
    Ok(read)
}

/// A text that is JSON within JSON, as a tree; None: it is none.
pub(crate) fn nested(text: Option<&str>) -> Option<Value> {
    serde_json::from_str(text?).ok()
}

/// The files of an export: the one that is named, or those of a directory whose names end so (and
/// with `.age` behind it, where they are encrypted), in the order of their names with numbers as
/// numbers.
///
/// # Errors
/// [`ReadError`].
pub fn parts(path: &Path, endings: &[&str], opens: Opens<'_>) -> Result<Vec<Part>, ReadError> {
    if !path.is_dir() {
        return Ok(vec![part(path, opens)?]);
    }
    let unreadable = |why: std::io::Error| ReadError {
        place: path.display().to_string(),
        why: why.to_string(),
    };
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let plain = name.strip_suffix(".age").unwrap_or(&name);
        if endings.iter().any(|ending| plain.ends_with(ending)) {
            files.push(file);
        }
        if files.len() > MAX_FILES {
            return Err(ReadError {
                place: path.display().to_string(),
                why: format!("more than {MAX_FILES} files"),
            });
        }
    }
    files.sort_by_key(|file| (file.as_os_str().len(), file.clone()));
    if files.is_empty() {
        return Err(ReadError {
            place: path.display().to_string(),
            why: format!("no file in it ends with {}", endings.join(" or ")),
        });
    }
    files.iter().map(|file| part(file, opens)).collect()
}

fn part(path: &Path, opens: Opens<'_>) -> Result<Part, ReadError> {
    let name = path.display().to_string();
    let refused = |why: String| ReadError {
        place: name.clone(),
        why,
    };
    let file = File::open(path).map_err(|error| refused(error.to_string()))?;
    let mut bytes = Vec::new();
    let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| refused(error.to_string()))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(refused(format!("longer than {MAX_FILE_BYTES} bytes")));
    }
    if signet_age::is_encrypted(&bytes) {
        let identity = opens().map_err(refused)?;
        let opened = signet_age::decrypt(&bytes, &identity);
        bytes = opened.map_err(|error: AgeError| refused(error.to_string()))?;
    }
    // A mark of the byte order, as some editors write it, is no JSON.
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    Ok(Part { name, bytes })
}

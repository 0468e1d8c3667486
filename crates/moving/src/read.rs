//! The files of an export: how much of one is read, and how a mistake in it is named.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, DeserializeOwned, Deserializer, IgnoredAny};
use serde_json::Value;
use signet_age::{AgeError, Identity};

/// Longest file of an export that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 1 << 30;
/// Most files of one folder of an export.
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
            .map(|(at, line)| document(line, &self.line(at + 1)))
            .collect()
    }

    /// The place of a line.
    fn line(&self, number: usize) -> String {
        format!("{}:{number}", self.name)
    }

    /// Whether it has a document in each line, more than one.
    fn is_lines(&self) -> bool {
        let lines = self.bytes.split(|byte| *byte == b'\n');
        let mut lines = lines.filter(|line| !line.trim_ascii().is_empty());
        let first = lines.next().filter(|_| lines.next().is_some());
        first.is_some_and(|line| serde_json::from_slice::<IgnoredAny>(line).is_ok())
    }

    /// The documents of the file, each with its place in it: lines, or the members of an array, or
    /// of an array that is a member of an object and is called one of `lists`; else the file is
    /// one.
    ///
    /// # Errors
    /// As [`Part::json`].
    pub(crate) fn documents(&self, lists: &[&str]) -> Result<Vec<Document>, ReadError> {
        let within = |place: String, value: Value| Document {
            file: self.name.clone(),
            place,
            value,
        };
        let all = |values: Vec<Value>, list: &str| {
            let placed = values.into_iter().enumerate();
            placed
                .map(|(at, value)| within(format!("{list}[{at}]"), value))
                .collect()
        };
        if self.is_lines() {
            let lines = self.bytes.split(|byte| *byte == b'\n').enumerate();
            return lines
                .filter(|(_, line)| !line.trim_ascii().is_empty())
                .map(|(at, line)| {
                    let file = self.line(at + 1);
                    let (value, place) = (document(line, &file)?, String::new());
                    Ok(Document { file, place, value })
                })
                .collect();
        }
        let mut value = self.json::<Value>()?;
        if let Value::Array(values) = value {
            return Ok(all(values, ""));
        }
        let list = lists.iter().find(|name| {
            let member = value.get(**name);
            member.is_some_and(Value::is_array)
        });
        match list.map(|name| (name, value[*name].take())) {
            Some((name, Value::Array(values))) => Ok(all(values, name)),
            _ => Ok(vec![within(String::new(), value)]),
        }
    }
}

/// A document of a file, whose shape is not looked at yet.
pub(crate) struct Document {
    /// The file, and the line where the file has one a line.
    file: String,
    /// Where it is in there.
    place: String,
    pub(crate) value: Value,
}

impl Document {
    /// Whether it is an object that has this member, and the member says something.
    pub(crate) fn has(&self, member: &str) -> bool {
        self.value.get(member).is_some_and(|value| !value.is_null())
    }

    /// A mistake of the document.
    pub(crate) fn error(&self, why: impl Into<String>) -> ReadError {
        let why = why.into();
        ReadError {
            place: self.file.clone(),
            why: match self.place.as_str() {
                "" => why,
                place => format!("{place}: {why}"),
            },
        }
    }

    /// Reads it, or its member of this name.
    ///
    /// # Errors
    /// It has another shape.
    pub(crate) fn read<T: DeserializeOwned>(self, member: &str) -> Result<T, ReadError> {
        let Document {
            file,
            place,
            mut value,
        } = self;
        let place = [place.as_str(), member].into_iter();
        let place: Vec<&str> = place.filter(|name| !name.is_empty()).collect();
        let place = place.join(".");
        if !member.is_empty() {
            value = value.get_mut(member).map(Value::take).unwrap_or_default();
        }
        serde_path_to_error::deserialize(value).map_err(|error| {
            let inside = error.path().to_string();
            let path = match (place.as_str(), inside.as_str()) {
                (_, "." | "") => place.clone(),
                ("", _) => inside,
                (_, more) if more.starts_with('[') => format!("{place}{more}"),
                (_, more) => format!("{place}.{more}"),
            };
            refused(&file, &path, error.inner())
        })
    }
}

/// The mistake of a document. The parser repeats values where the type is wrong, and those may be
/// secrets: they are not repeated here.
fn refused(place: &str, path: &str, error: &serde_json::Error) -> ReadError {
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
}

fn document<T: DeserializeOwned>(bytes: &[u8], place: &str) -> Result<T, ReadError> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read = serde_path_to_error::deserialize(&mut reader);
    let read = read.map_err(|error| refused(place, &error.path().to_string(), error.inner()))?;
    reader.end().map_err(|error| refused(place, "", &error))?;
    Ok(read)
}

/// A member that is null is as one that is left out.
///
/// # Errors
/// The deserializer's.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// A time as databases and APIs write one, in Unix seconds: seconds themselves, or RFC 3339.
pub(crate) fn seconds(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => {
            let time: jiff::Timestamp = text.parse().ok()?;
            time.as_second().try_into().ok()
        }
        other => other.as_u64(),
    }
}

/// A text that is JSON within JSON, as a tree; None: it is none.
pub(crate) fn nested(text: Option<&str>) -> Option<Value> {
    serde_json::from_str(text?).ok()
}

/// The files of an export: the one that is named, or those of a directory, and of these folders in
/// it, whose names end so (and with `.age` behind it, where they are encrypted), in the order of
/// their names with numbers as numbers.
///
/// # Errors
/// [`ReadError`].
pub fn parts(
    path: &Path,
    (endings, folders): (&[&str], &[&str]),
    opens: Opens<'_>,
) -> Result<Vec<Part>, ReadError> {
    if !path.is_dir() {
        return Ok(vec![part(path, opens)?]);
    }
    let mut files = listed(path, endings)?;
    for folder in folders {
        let folder = path.join(folder);
        if folder.is_dir() {
            files.extend(listed(&folder, endings)?);
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

/// The files of a directory whose names end so.
fn listed(path: &Path, endings: &[&str]) -> Result<Vec<PathBuf>, ReadError> {
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
    Ok(files)
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

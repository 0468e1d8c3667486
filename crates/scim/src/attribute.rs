//! Paths of attributes (RFC 7644 section 3.10): `name.familyName`, `urn:...:User:userName`.
use crate::error::{Error, Kind};

/// The longest path, in bytes.
pub const MAX_PATH_BYTES: usize = 2048;

/// An attribute, perhaps of a schema, perhaps a part of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttributePath {
    /// The schema that the attribute is of, as it was written.
    pub schema: Option<String>,
    /// Its name.
    pub name: String,
    /// A sub-attribute.
    pub part: Option<String>,
}

pub(crate) fn is_name(text: &str) -> bool {
    // RFC 7643 section 2.1; `$ref` is a name, too.
    let rest = text.strip_prefix('$').unwrap_or(text);
    rest.starts_with(|c: char| c.is_ascii_alphabetic())
        && rest
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

impl AttributePath {
    /// Reads one.
    ///
    /// # Errors
    /// [`Kind::InvalidPath`].
    pub fn parse(text: &str) -> Result<AttributePath, Error> {
        let invalid = || Error::new(Kind::InvalidPath, "this is no path of an attribute");
        if text.len() > MAX_PATH_BYTES {
            return Err(invalid());
        }
        let is_urn = text
            .get(..4)
            .is_some_and(|s| s.eq_ignore_ascii_case("urn:"));
        let (schema, rest) = match text.rsplit_once(':') {
            Some((schema, rest)) if is_urn => (Some(schema.to_owned()), rest),
            Some(_) => return Err(invalid()),
            None => (None, text),
        };
        // A version has a dot (`...:2.0:User`): it stands before the last colon.
        let (name, part) = match rest.split_once('.') {
            Some((name, part)) => (name, Some(part)),
            None => (rest, None),
        };
        if !is_name(name) || !part.is_none_or(is_name) {
            return Err(invalid());
        }
        Ok(AttributePath {
            schema,
            name: name.to_owned(),
            part: part.map(str::to_owned),
        })
    }
}

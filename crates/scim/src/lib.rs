//! SCIM 2.0 without I/O (RFC 7643, RFC 7644): filters, paths, patches and projections over JSON.
//!
//! Everything that a client sends is bounded before it costs anything:
//! [`filter::MAX_FILTER_BYTES`], [`filter::MAX_DEPTH`], [`filter::MAX_TERMS`],
//! [`patch::MAX_OPERATIONS`]. What a resource means is the caller's matter.
#![forbid(unsafe_code)]

pub mod attribute;
pub mod error;
pub mod filter;
pub mod patch;
pub mod path;
pub mod project;

pub use error::{Error, Kind};

use serde_json::{Map, Value};

/// A member of an object, whatever the case of its name (RFC 7643 section 2.1).
pub fn member<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if let Some(found) = object.get(name) {
        return Some(found);
    }
    let mut members = object.iter();
    members
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

/// The name under which an object has a member, whatever its case; the name itself where it has
/// none.
pub fn key_of(object: &Map<String, Value>, name: &str) -> String {
    let found = object.keys().find(|key| key.eq_ignore_ascii_case(name));
    found.map_or_else(|| name.to_owned(), Clone::clone)
}

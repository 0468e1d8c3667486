//! How values are written as text: strict JSON, canonical base64url, base32.
//!
//! No JSON or base64 library stands below this crate, because strictness is what it is for: a
//! signed document is read by several parties, and wherever two parsers disagree somebody's policy
//! is by-passed.
//!
//! - [`base32`]: secrets of code apps.
//! - [`base64url`]: one text for given bytes.
//! - [`json`]: a pull reader for hot paths, a small tree for documents, a writer.
//!
//! What a document means, and how large it may be, is for the callers: each hands in its own
//! [`Limits`](json::Limits).

#![forbid(unsafe_code)]

pub mod base32;
pub mod base64url;
pub mod json;

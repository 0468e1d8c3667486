//! Strict JSON (RFC 8259, and the I-JSON profile of RFC 7493 where the two differ).
//!
//! One text has one meaning: UTF-8 without a byte order mark, no duplicate members (names compared
//! after unescaping), no lone surrogates, no raw control characters, nothing after the value, every
//! count bounded. Signed documents are read by several parties, and two parsers that disagree are
//! two policies (known fault V8).
//!
//! Two ways to read: the pull [`Reader`] (schema reading, borrows, no tree: hot paths) and the
//! small tree [`Value`] (registration documents, the `claims` parameter, outbound answers). One way
//! to write: [`Writer`].

mod document;
mod error;
mod limits;
mod number;
mod reader;
mod text;
mod value;
mod writer;

pub use document::{parse, parse_object};
pub use error::JsonError;
pub use limits::{Limits, MAX_DEPTH};
pub use number::{MAX_DIGITS, Number};
pub use reader::{Kind, Reader};
pub use text::plain_prefix;
pub use value::{Object, Value};
pub use writer::Writer;

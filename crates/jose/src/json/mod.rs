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

mod number;
mod reader;
mod text;
mod value;
mod writer;

pub use number::{MAX_DIGITS, Number};
pub use reader::{Kind, Reader, parse, parse_object};
pub(crate) use text::plain_prefix;
pub use value::{Object, Value};
pub use writer::Writer;

/// Bounds of one document. All are inclusive.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// length of the text
    pub bytes: usize,
    /// arrays and objects inside each other; 1 is a flat object. At most [`MAX_DEPTH`] counts.
    pub depth: usize,
    /// object members and array elements, together, in the whole document
    pub members: usize,
}

/// Nesting beyond this is refused whatever the [`Limits`] say: reading recurses, and stacks are
/// finite.
pub const MAX_DEPTH: usize = 64;

impl Default for Limits {
    fn default() -> Self {
        Limits {
            bytes: 64 * 1024,
            depth: 16,
            members: 512,
        }
    }
}

/// Why a text was refused. It is the sender's fault in every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// not JSON, or not in the one strict form; the offset is for logs
    #[error("malformed JSON at byte {0}")]
    Malformed(usize),
    /// two members of one object have one name
    #[error("a member name appears twice")]
    Duplicate,
    /// longer, deeper or fuller than its [`Limits`], or a number that parsers read differently
    #[error("JSON beyond its limits")]
    Limit,
    /// JSON, but not of the type that the schema asks for
    #[error("a member has the wrong type")]
    Type,
}

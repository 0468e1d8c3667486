//! Why a text is refused.

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
    /// longer, deeper or fuller than its [`Limits`](super::Limits), or a number that parsers read
    /// differently
    #[error("JSON beyond its limits")]
    Limit,
    /// JSON, but not of the type that the schema asks for
    #[error("a member has the wrong type")]
    Type,
}

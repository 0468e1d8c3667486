//! Refusals, as RFC 7644 section 3.12 names them.

/// The `scimType` of a refusal (RFC 7644 table 9), where it has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A filter that cannot be read, or that is not answered here.
    InvalidFilter,
    /// Too many results, or too many operations.
    TooMany,
    /// A value that somebody else has.
    Uniqueness,
    /// An attribute that cannot be changed.
    Mutability,
    /// A body that is not of the request's form.
    InvalidSyntax,
    /// A path that cannot be read.
    InvalidPath,
    /// A path that names nothing.
    NoTarget,
    /// A value that is missing, or not of the attribute's form.
    InvalidValue,
    /// A request that must not be made this way: secrets in a URL.
    Sensitive,
}

impl Kind {
    /// As the answer writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::InvalidFilter => "invalidFilter",
            Kind::TooMany => "tooMany",
            Kind::Uniqueness => "uniqueness",
            Kind::Mutability => "mutability",
            Kind::InvalidSyntax => "invalidSyntax",
            Kind::InvalidPath => "invalidPath",
            Kind::NoTarget => "noTarget",
            Kind::InvalidValue => "invalidValue",
            Kind::Sensitive => "sensitive",
        }
    }
}

/// Why a request is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{detail}")]
pub struct Error {
    /// Its type.
    pub kind: Kind,
    /// In words, for the sender.
    pub detail: String,
}

impl Error {
    /// A refusal.
    pub fn new(kind: Kind, detail: impl Into<String>) -> Error {
        Error {
            kind,
            detail: detail.into(),
        }
    }
}

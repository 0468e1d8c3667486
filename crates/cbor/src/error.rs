//! Why bytes were refused.

/// What is wrong with an encoding, or with the signatures of a message. All of it is the sender's
/// doing, but [`Error::Library`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Error {
    /// Not the bytes of what is read.
    #[error("the encoding is malformed")]
    Malformed,
    /// Another encoding of something that has exactly one (RFC 8949 section 4.2).
    #[error("the encoding is not the canonical one")]
    NotCanonical,
    /// More bytes, items or nesting than is read.
    #[error("the item is too large")]
    TooLarge,
    /// A map with pairs that nobody asked for.
    #[error("the map has a member that is unknown")]
    UnknownMember,
    /// A message of another kind.
    #[error("the item is of another type")]
    WrongType,
    /// The number or the algorithms of the signatures are not those of the signers' keys.
    #[error("the signatures are not of the algorithms of the signer's key")]
    WrongAlgorithm,
    /// A signature that the key did not make for this content.
    #[error("a signature does not hold")]
    SignatureInvalid,
    /// The cryptography library failed where nothing should go wrong.
    #[error("the cryptography library failed")]
    Library,
}

/// What this crate answers.
pub type Result<T> = std::result::Result<T, Error>;

/// Refuses for this reason unless the condition holds.
pub(crate) fn ensure(condition: bool, reason: Error) -> Result<()> {
    if condition { Ok(()) } else { Err(reason) }
}

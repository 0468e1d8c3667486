//! Errors, sorted by whose fault they are: the token's, the caller's, the key's.

/// Why a token was not accepted. The reason is for the log and for an honest developer; a peer
/// learns that the token is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// Longer than [`crate::MAX_TOKEN_BYTES`].
    #[error("the token is too large")]
    TooLarge,
    /// Not protobuf, or not in its one canonical form.
    #[error("the token is not canonical")]
    NotCanonical,
    /// A field beyond its limit, or of the wrong size.
    #[error("a field of the token is out of bounds")]
    Bounds,
    /// A scope of a version 1 token that is no scope-token (RFC 6749 section 3.3).
    #[error("a scope of the token has a character that no scope has")]
    Characters,
    /// A version, algorithm or key id type that does not exist, or does not go with the others.
    #[error("the token is of an unknown kind")]
    Unknown,
    /// A proof where the algorithm has none, a signature where it has none, or neither.
    #[error("the token's signature or proof is missing or superfluous")]
    Shape,
    /// None of the verifier's keys has this key id and algorithm.
    #[error("no key of the verifier fits the token")]
    NoKey,
    /// The signature does not hold.
    #[error("the signature is not valid")]
    Signature,
    /// `expires_at` has passed.
    #[error("the token has expired")]
    Expired,
    /// `not_before` or `issued_at` lies ahead.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// Not the expected audience.
    #[error("the token is for another audience")]
    Audience,
    /// Not the expected issuer, or none where one is expected.
    #[error("the token is of another issuer")]
    Issuer,
    /// A required scope is missing.
    #[error("the token lacks a scope")]
    Scope,
    /// The token names another certificate than the one that vouches for its key, or one where none
    /// is needed; or the certificate is not valid now.
    #[error("the key's certificate does not cover the token")]
    Certificate,
    /// The token is bound to a key and the caller did not say whose proof it saw (or saw
    /// another's).
    #[error("the token is bound to another key")]
    Confirmation,
}

/// Why a token could not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// A field beyond the limits that a verifier applies.
    #[error("{0} is out of bounds")]
    Bounds(&'static str),
    /// A character that a scope cannot have: RFC 6749 section 3.3 allows printable ASCII without
    /// space, quotation mark and backslash.
    #[error("{0} has a character that is not allowed in it")]
    Characters(&'static str),
    /// Scopes and claims must be in strictly ascending order.
    #[error("{0} must be in strictly ascending order, without doubles")]
    Order(&'static str),
    /// A version 1 field in a version 0 token.
    #[error("{0} needs version 1")]
    Version(&'static str),
    /// `expires_at` must be set.
    #[error("expires_at must be set")]
    NoEnd,
    /// The cryptography library failed.
    #[error("signing failed")]
    Library,
    /// The proof that was made does not hold, and is not handed out: the prover's tables are
    /// damaged.
    #[error("the proof that was made does not hold: the prover's tables are damaged")]
    Proof,
    /// A zero-knowledge key signs only with a prover.
    #[error("a zero-knowledge key needs proving parameters")]
    NoProver,
}

/// Why a key could not be read or made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not a canonical key message.
    #[error("the key file is malformed")]
    Malformed,
    /// An algorithm that does not exist or is not handled by this type of key.
    #[error("the key's algorithm is unknown or has no such key")]
    Algorithm,
    /// An HMAC key under 32 bytes: its id would help to guess it.
    #[error("an HMAC key must have at least 32 bytes")]
    TooShort,
    /// The secret and the public half do not belong together, or a point is not acceptable.
    #[error("the key is not valid")]
    Invalid,
    /// Two keys of a set have one id and algorithm.
    #[error("two keys have one id")]
    Duplicate,
    /// A zero-knowledge key whose proof system's verifying key the verifier has not pinned: its
    /// maker may know the secrets, and prove anything.
    #[error(
        "the proof system's verifying key is not pinned: nobody here knows who made its parameters"
    )]
    Unpinned,
    /// The proof system's verifying key has points that no honest setup makes: anybody could make
    /// proofs under it.
    #[error("the proof system's verifying key is degenerate: anybody could make proofs under it")]
    Degenerate,
    /// The parameters of the proof system are missing, or another statement's, or not those that
    /// the key file names.
    #[error("the proof system's parameters are missing or not the ones of this key")]
    Parameters,
    /// A symmetric key may not be used as its own id.
    #[error("this key id type does not go with the algorithm")]
    KeyIdType,
}

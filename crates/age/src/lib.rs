//! Files that are encrypted as `age` does it (age-encryption.org/v1): to a passphrase, or to the
//! holder of an X25519 key. Any other program of the format reads them, and they are read here.
//!
//! The format is short: a header with the file's key, sealed for each of those who may read it, and
//! the text in chunks of 64 KiB, each sealed by itself. A file that was cut, reordered or changed
//! is refused. [`decrypt`] gives out nothing of it; [`Decrypted`], for files that are longer than
//! memory is, gives out chunks that hold, and ends in an error: who reads by it uses nothing before
//! the end.
//!
//! The primitives are [`signet_crypto`]'s. The library of the format for Rust brings a second
//! cryptography library and one of translations; what is left of it is this framing.
#![forbid(unsafe_code)]

mod header;
mod key;
mod payload;

pub use header::{MAGIC, is_encrypted};
pub use key::{Identity, Recipient};
pub use payload::{Decrypted, Encrypted, OwnKey, decrypt};

/// Largest work factor of a passphrase that is accepted: 2 to this power kibibytes, four gibibytes.
/// It is the one that the format's own program accepts; others choose by the time it takes them.
pub const MAX_WORK_FACTOR: u8 = 22;
/// Work factor of a file that is written: a quarter of a gibibyte, a second.
pub(crate) const WORK_FACTOR: u8 = 18;
/// Longest header that is read, in bytes.
pub const MAX_HEADER_BYTES: usize = 64 * 1024;

/// Why a file cannot be decrypted, or a key is none. No text repeats what was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgeError {
    /// It does not begin as such a file does.
    #[error("it is no file of the format age-encryption.org/v1")]
    NotAge,
    /// Its header breaks the format.
    #[error("its header is malformed: {0}")]
    Header(&'static str),
    /// The passphrase opens nothing in it.
    #[error("the passphrase is wrong")]
    WrongPassphrase,
    /// It is encrypted to others than these identities.
    #[error("it is encrypted to another recipient")]
    WrongIdentity,
    /// It was encrypted to recipients, and a passphrase was given.
    #[error("it is encrypted to a recipient: an identity file opens it, and no passphrase")]
    NoPassphrase,
    /// It was encrypted to a passphrase, and an identity was given.
    #[error("it is encrypted to a passphrase, and no identity opens it")]
    PassphraseNeeded,
    /// Its passphrase costs more than is spent.
    #[error("its passphrase costs more than is spent on one")]
    TooDear,
    /// It was changed or cut after it was written.
    #[error("it was changed or cut off: nothing of it is used")]
    Changed,
    /// No recipient.
    #[error("a recipient is age1 and 58 letters and digits more")]
    Recipient,
    /// Another kind of recipient or identity.
    #[error("a key of another kind: recipients are age1..., identities AGE-SECRET-KEY-1...")]
    OtherKind,
    /// No identity in a file of them.
    #[error("no line of it is an identity, AGE-SECRET-KEY-1...")]
    Identity,
    /// The cryptography library refused where nothing should go wrong.
    #[error("the cryptography library failed")]
    Library,
}

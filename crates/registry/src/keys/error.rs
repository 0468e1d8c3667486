//! What can go wrong with signing keys.
use signet_crypto::KeyError;
use signet_store::StoreError;

/// Why the keys could not be had or changed. None of it is a client's fault.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The cryptography library failed, or a stored key does not fit its algorithm.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// As before, of a key of compact tokens.
    #[error(transparent)]
    Compact(#[from] signet_compact::KeyError),
    /// The sealing keys at hand do not open a stored key: the file belongs to another data
    /// directory, or is too old.
    #[error("a signing key does not open with the sealing keys of this data directory")]
    Sealed,
    /// A stored record is not what was written.
    #[error("a stored signing key cannot be read")]
    Unreadable,
    /// No key is kept for this algorithm.
    #[error("there is no signing key for this algorithm")]
    NoSuchAlgorithm,
    /// Other nodes changed the keys again and again while a change was decided.
    #[error("other nodes keep changing the signing keys")]
    Changed,
    /// The runtime is stopping.
    #[error("the server is stopping")]
    Stopping,
}

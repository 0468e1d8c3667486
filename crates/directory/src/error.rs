//! What can go wrong with an account.

use signet_store::StoreError;

/// Why a user could not be made, found or changed. All but the last two are the caller's to put right.
#[derive(Debug, Clone, thiserror::Error)]
pub enum UserError {
    /// The user name is empty, too long, or has characters that a name may not have.
    #[error("the user name must have 1 to 64 visible characters and no spaces")]
    Username,
    /// The e-mail address cannot be one.
    #[error("the e-mail address is malformed")]
    Email,
    /// A profile claim is too long or has control characters.
    #[error("a profile value is too long or has control characters")]
    Profile,
    /// Somebody has this user name.
    #[error("the user name is taken")]
    UsernameTaken,
    /// Somebody has this e-mail address.
    #[error("the e-mail address is taken")]
    EmailTaken,
    /// No user has this id.
    #[error("there is no such user")]
    NotFound,
    /// Others changed the record at the same time, several times in a row.
    #[error("the record is being changed by somebody else")]
    Conflict,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

//! What can go wrong with an account.

use signet_store::StoreError;

/// The directory did not answer, or not what it should. For the log; callers do not see it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the directory {directory} failed: {reason}")]
pub struct DirectoryError {
    /// Which one.
    pub directory: String,
    /// What happened.
    pub reason: String,
}

/// Why a user could not be made, found or changed. `Conflict`, `Directory` and `Store` are nobody's
/// mistake; all others are the caller's to correct.
#[derive(Debug, Clone, thiserror::Error)]
pub enum UserError {
    /// The user name is empty, too long, or has characters that a name may not have.
    #[error("the user name must have 1 to 64 letters, digits and ASCII marks, and no spaces")]
    Username,
    /// The user name has letters of several scripts, and no administrator chose it.
    #[error("the user name has letters of several scripts")]
    MixedScripts,
    /// The e-mail address cannot be one.
    #[error("the e-mail address is malformed")]
    Email,
    /// A profile claim is too long or has control characters.
    #[error("a profile value is too long or has control characters")]
    Profile,
    /// Somebody has this user name.
    #[error("somebody has this user name")]
    UsernameTaken,
    /// Somebody has this e-mail address.
    #[error("somebody has this e-mail address")]
    EmailTaken,
    /// No user has this id.
    #[error("there is no such user")]
    NotFound,
    /// The account has as many credentials as it may have.
    #[error("the account has too many credentials")]
    TooManyCredentials,
    /// The account has as many groups, roles or attributes as it may have.
    #[error("the account is in too many groups, or has too many roles or attributes")]
    TooMuchHeld,
    /// The directory that the person comes from keeps this, and Signet may not change it.
    #[error("{0} is kept in the directory that the person comes from: change it there")]
    KeptElsewhere(&'static str),
    /// An id that is brought cannot be one here, or is another account's.
    #[error("the id must be 16 bytes as base64url, and no other account's")]
    Id,
    /// Others changed the record at the same time, several times in a row.
    #[error("the record is being changed by somebody else")]
    Conflict,
    /// A directory outside failed.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// For who can only say "later": everything but the store's own errors is its being unavailable for
/// this account.
impl From<UserError> for StoreError {
    fn from(error: UserError) -> StoreError {
        match error {
            UserError::Store(error) => error,
            UserError::Username
            | UserError::MixedScripts
            | UserError::Email
            | UserError::Profile
            | UserError::UsernameTaken
            | UserError::EmailTaken
            | UserError::NotFound
            | UserError::TooManyCredentials
            | UserError::TooMuchHeld
            | UserError::KeptElsewhere(_)
            | UserError::Id
            | UserError::Conflict
            | UserError::Directory(_) => StoreError::Unavailable(error.to_string()),
        }
    }
}

//! Why an answer was refused.

use signet_encoding::json::JsonError;

/// Every refusal, one for each thing that is compared. For logs and the audit trail: a person
/// learns that the passkey was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The JSON of the browser is not such an answer.
    #[error("the browser's answer is malformed")]
    Message,
    /// The client data is not JSON of this form.
    #[error("the client data is malformed")]
    ClientData,
    /// Of another ceremony.
    #[error("the client data is of another type")]
    Type,
    /// Not the challenge that was asked.
    #[error("the answer is to another challenge")]
    Challenge,
    /// Made on another page.
    #[error("the answer was made at another origin")]
    Origin,
    /// Made in a frame of somebody else's page.
    #[error("the answer was made in a frame of another origin")]
    CrossOrigin,
    /// The authenticator data is not of its form.
    #[error("the authenticator data is malformed")]
    AuthenticatorData,
    /// Made for another relying party.
    #[error("the answer is for another relying party")]
    RelyingParty,
    /// Nobody touched the authenticator.
    #[error("nobody was present")]
    NotPresent,
    /// The authenticator did not verify its user, and that was asked for.
    #[error("the user was not verified")]
    NotVerified,
    /// Backed up and not able to be, or not what it was at the registration.
    #[error("the backup flags contradict each other or the registration")]
    Backup,
    /// The public key is not one, or of an algorithm that was not asked for.
    #[error("the public key is malformed or of another algorithm")]
    Key,
    /// Not made by the key.
    #[error("the signature is not valid")]
    Signature,
    /// Not the credential that it says.
    #[error("the answer is of another credential")]
    Credential,
    /// The attestation does not hold, or is of a format that proves nothing here.
    #[error("the attestation is not valid")]
    Attestation,
}

/// With [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// The browser's JSON; client data has an arm of its own where it is read.
impl From<JsonError> for Error {
    fn from(_: JsonError) -> Error {
        Error::Message
    }
}

pub(crate) fn ensure(holds: bool, error: Error) -> Result<()> {
    if holds { Ok(()) } else { Err(error) }
}

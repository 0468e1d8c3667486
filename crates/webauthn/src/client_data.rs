//! What the browser says it did (section 5.8.1): its bytes are signed with the rest.

use signet_crypto::ct_eq;
use signet_encoding::base64url;
use signet_encoding::json::{JsonError, Kind, Limits, Reader};

use crate::error::{Error, Result, ensure};
use crate::{CHALLENGE_LEN, MAX_CLIENT_DATA, RelyingParty};

/// Which ceremony the client data is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ceremony {
    Create,
    Get,
}

impl Ceremony {
    fn name(self) -> &'static str {
        match self {
            Ceremony::Create => "webauthn.create",
            Ceremony::Get => "webauthn.get",
        }
    }
}

/// Reads only to skip: members that later browsers add are allowed (section 5.8.1).
struct Malformed;

impl From<JsonError> for Malformed {
    fn from(_: JsonError) -> Malformed {
        Malformed
    }
}

/// Section 7.1 steps 7 to 11, section 7.2 steps 10 to 14.
pub(crate) fn check(
    bytes: &[u8],
    ceremony: Ceremony,
    challenge: &[u8; CHALLENGE_LEN],
    party: &RelyingParty,
) -> Result<()> {
    let limits = Limits {
        bytes: MAX_CLIENT_DATA,
        depth: 4,
        members: 32,
    };
    let malformed = |_: Malformed| Error::ClientData;
    let mut reader = Reader::new(bytes, &limits).map_err(|_| Error::ClientData)?;
    let (mut kind, mut asked, mut origin) = (None, None, None);
    let (mut cross_origin, mut has_top) = (false, false);
    reader
        .object(|reader, name| -> std::result::Result<(), Malformed> {
            match &*name {
                "type" => kind = Some(reader.string()?),
                "challenge" => asked = Some(reader.string()?),
                "origin" => origin = Some(reader.string()?),
                "crossOrigin" => cross_origin = reader.bool()?,
                "topOrigin" => has_top = reader.kind()? != Kind::Null,
                _ => {}
            }
            Ok(())
        })
        .map_err(malformed)?;
    reader.finish().map_err(|_| Error::ClientData)?;
    let (Some(kind), Some(asked), Some(origin)) = (kind, asked, origin) else {
        return Err(Error::ClientData);
    };
    ensure(kind == ceremony.name(), Error::Type)?;
    let asked = base64url::decode(asked.as_bytes()).map_err(|_| Error::Challenge)?;
    ensure(ct_eq(&asked, challenge), Error::Challenge)?;
    // Pages of the server are in no frame, not even in one of its own.
    ensure(!cross_origin && !has_top, Error::CrossOrigin)?;
    let known = party.origins().iter().any(|known| *known == origin);
    ensure(known, Error::Origin)
}

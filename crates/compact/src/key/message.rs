//! The messages that keys are kept in.

use crate::wire::Reader;
use crate::{Algorithm, KeyError};

/// `SigningKey` or `VerifyingKey`, canonical.
pub(crate) struct KeyMessage<'a> {
    pub(super) algorithm: Algorithm,
    pub(super) first: &'a [u8],
    pub(super) second: &'a [u8],
}

impl<'a> KeyMessage<'a> {
    pub(super) fn parse(bytes: &'a [u8], second_allowed: bool) -> Result<KeyMessage<'a>, KeyError> {
        let mut reader = Reader::new(bytes);
        let mut next = || reader.next().map_err(|_| KeyError::Malformed);
        let Some((1, algorithm)) = next()? else {
            return Err(KeyError::Malformed);
        };
        let algorithm = Algorithm::from_number(algorithm.small().map_err(|_| KeyError::Malformed)?)
            .ok_or(KeyError::Algorithm)?;
        let Some((2, first)) = next()? else {
            return Err(KeyError::Malformed);
        };
        let first = first.bytes().map_err(|_| KeyError::Malformed)?;
        let second = match next()? {
            None => &[][..],
            Some((3, second)) if second_allowed => {
                second.bytes().map_err(|_| KeyError::Malformed)?
            }
            Some(_) => return Err(KeyError::Malformed),
        };
        if next()?.is_some() {
            return Err(KeyError::Malformed);
        }
        Ok(KeyMessage {
            algorithm,
            first,
            second,
        })
    }
}

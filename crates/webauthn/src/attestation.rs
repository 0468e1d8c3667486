//! The attestation object (section 6.5.4), and what is trusted of it.
//!
//! Nothing is asked for (`attestation: "none"`), so nothing has to be proven: the model that an
//! authenticator says it is, is its own word. What is self-attested in the `packed` format with the
//! credential's own key is checked all the same, for it is a signature that must hold.

use signet_cbor::{Decoder, Value};

use crate::cose_key::{CoseKey, algorithm_of};
use crate::error::{Error, Result, ensure};

/// What stood behind a new credential.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attestation {
    /// Nothing.
    None,
    /// The credential's own key signed its registration.
    Own,
    /// A statement of another format or another key, which was not asked for and is not trusted.
    Unchecked,
}

/// An attestation object.
pub(crate) struct AttestationObject<'a> {
    format: &'a str,
    statement: Vec<(Value, Value)>,
    pub(crate) authenticator_data: &'a [u8],
}

impl<'a> AttestationObject<'a> {
    /// Reads one in its canonical form.
    pub(crate) fn parse(data: &'a [u8]) -> Result<AttestationObject<'a>> {
        let object = Decoder::whole(data, |d| {
            d.map(|map| {
                named(map.key(Decoder::text)?, "fmt")?;
                let format = map.value().text()?;
                named(map.key(Decoder::text)?, "attStmt")?;
                let Value::Map(statement) = Value::read(map.value())? else {
                    return Err(signet_cbor::Error::Malformed);
                };
                named(map.key(Decoder::text)?, "authData")?;
                let authenticator_data = map.value().bytes()?;
                Ok(AttestationObject {
                    format,
                    statement,
                    authenticator_data,
                })
            })
        });
        object.map_err(|_| Error::Attestation)
    }

    fn member(&self, name: &str) -> Option<&Value> {
        let is_it = |(key, _): &&(Value, Value)| matches!(key, Value::Text(text) if text == name);
        self.statement.iter().find(is_it).map(|(_, value)| value)
    }

    /// Checks the statement, for the key that was made.
    pub(crate) fn check(&self, key: &CoseKey, client_data_hash: &[u8; 32]) -> Result<Attestation> {
        match self.format {
            // Section 8.7.
            "none" => {
                ensure(self.statement.is_empty(), Error::Attestation)?;
                Ok(Attestation::None)
            }
            // Section 8.2, self attestation.
            "packed" if self.member("x5c").is_none() => {
                let (Some(Value::Int(number)), Some(Value::Bytes(signature))) =
                    (self.member("alg"), self.member("sig"))
                else {
                    return Err(Error::Attestation);
                };
                let number = i64::try_from(*number).map_err(|_| Error::Attestation)?;
                let same = algorithm_of(number) == Some(key.algorithm);
                ensure(same, Error::Attestation)?;
                let signed = [self.authenticator_data, client_data_hash.as_slice()].concat();
                key.verify(&signed, signature)
                    .map_err(|_| Error::Attestation)?;
                Ok(Attestation::Own)
            }
            _ => Ok(Attestation::Unchecked),
        }
    }
}

fn named(found: &str, expected: &str) -> signet_cbor::Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(signet_cbor::Error::UnknownMember),
    }
}

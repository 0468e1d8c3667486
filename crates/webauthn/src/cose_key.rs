//! A credential's public key (RFC 9052 section 7), of the algorithms that are asked for.

use signet_cbor::{Decoder, Error as CborError, MapReader};
use signet_crypto::{Algorithm, PublicKey, VerifyingKey};

use crate::ecdsa;
use crate::error::{Error, Result};
use crate::item::one_item;

/// The algorithms that a credential may have, by their numbers of the COSE registry, the preferred
/// first. ES256 and RS256 are what every platform has between them; ML-DSA is asked for after the
/// small ones, because no browser's authenticator has it yet and its keys are large.
pub const SUPPORTED: [(i64, Algorithm); 6] = [
    (-7, Algorithm::Es256),
    (-8, Algorithm::EdDsa),
    (-257, Algorithm::Rs256),
    // RFC 9964.
    (-48, Algorithm::MlDsa44),
    (-49, Algorithm::MlDsa65),
    (-50, Algorithm::MlDsa87),
];

/// The algorithm of a COSE number.
pub fn algorithm_of(number: i64) -> Option<Algorithm> {
    let row = SUPPORTED.iter().find(|(known, _)| *known == number)?;
    Some(row.1)
}

/// A public key with the one algorithm it is used with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CoseKey {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The key; checked where it is used.
    pub key: PublicKey,
}

// Labels of RFC 9053 section 7 and RFC 8230 section 4.
const KTY: i64 = 1;
const ALG: i64 = 3;
const OKP: i64 = 1;
const EC2: i64 = 2;
const RSA: i64 = 3;
const AKP: i64 = 7;
const P_256: i64 = 1;
const ED25519: i64 = 6;

impl CoseKey {
    /// Reads a key that is all there is.
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn parse(data: &[u8]) -> Result<CoseKey> {
        let (key, read) = CoseKey::read(data)?;
        match read == data.len() {
            true => Ok(key),
            false => Err(Error::Key),
        }
    }

    /// Reads the key at the beginning, and says how many bytes it has.
    pub(crate) fn read(data: &[u8]) -> Result<(CoseKey, usize)> {
        let read = one_item(data, |d| d.map(read_members));
        let (key, length) = read.map_err(|_| Error::Key)?;
        // A point off the curve, a weak RSA key: refused when it is registered, not at a login.
        VerifyingKey::new(key.algorithm, &key.key).map_err(|_| Error::Key)?;
        Ok((key, length))
    }

    /// Checks a signature as authenticators make it (section 6.5.5).
    ///
    /// # Errors
    /// [`Error::Signature`]; [`Error::Key`] for a key that is none.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<()> {
        let key = VerifyingKey::new(self.algorithm, &self.key).map_err(|_| Error::Key)?;
        let valid = match self.algorithm {
            Algorithm::Es256 => {
                let fixed = ecdsa::from_der(signature).ok_or(Error::Signature)?;
                key.verify(message, &fixed)
            }
            _ => key.verify(message, signature),
        };
        valid.map_err(|_| Error::Signature)
    }
}

/// The members of a key, in their canonical order, and no others.
fn read_members(map: &mut MapReader<'_, '_>) -> signet_cbor::Result<CoseKey> {
    let kty = int_at(map, KTY)?;
    let alg = int_at(map, ALG)?;
    let algorithm = algorithm_of(alg).ok_or(CborError::WrongAlgorithm)?;
    let key = match (kty, algorithm) {
        (EC2, Algorithm::Es256) => {
            same(int_at(map, -1)?, P_256)?;
            PublicKey::P256 {
                x: at(map, -2, Decoder::fixed)?,
                y: at(map, -3, Decoder::fixed)?,
            }
        }
        (OKP, Algorithm::EdDsa) => {
            same(int_at(map, -1)?, ED25519)?;
            PublicKey::Ed25519 {
                x: at(map, -2, Decoder::fixed)?,
            }
        }
        (RSA, Algorithm::Rs256) => PublicKey::Rsa {
            n: at(map, -1, Decoder::bytes)?.to_vec(),
            e: at(map, -2, Decoder::bytes)?.to_vec(),
        },
        (AKP, Algorithm::MlDsa44 | Algorithm::MlDsa65 | Algorithm::MlDsa87) => PublicKey::MlDsa {
            algorithm,
            public: at(map, -1, Decoder::bytes)?.to_vec(),
        },
        _ => return Err(CborError::WrongAlgorithm),
    };
    Ok(CoseKey { algorithm, key })
}

fn same(found: i64, expected: i64) -> signet_cbor::Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(CborError::WrongAlgorithm),
    }
}

fn at<'a, T>(
    map: &mut MapReader<'_, 'a>,
    label: i64,
    read: impl FnOnce(&mut Decoder<'a>) -> signet_cbor::Result<T>,
) -> signet_cbor::Result<T> {
    same(map.key(Decoder::int)?, label)?;
    read(map.value())
}

fn int_at(map: &mut MapReader<'_, '_>, label: i64) -> signet_cbor::Result<i64> {
    at(map, label, Decoder::int)
}

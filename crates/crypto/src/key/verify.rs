//! Public keys, prepared.

use std::fmt;

use aws_lc_rs::{
    hmac,
    signature::{self, ParsedPublicKey, RsaPublicKeyComponents},
};

use super::{
    InvalidSignature, KeyError, PublicKey, RSA_BITS, ed25519::Ed25519Key, es256::Kept,
    hmac_key_min, ml_dsa_lengths,
};
use crate::{Algorithm, mac::HmacSha256Key};

/// A public (or HMAC) key prepared for one algorithm: parsing and every check of the key have been
/// done.
#[derive(Clone)]
pub struct VerifyingKey {
    algorithm: Algorithm,
    inner: Inner,
}

#[derive(Clone)]
enum Inner {
    Ed25519(Ed25519Key),
    /// HS256, by the two states that its key is.
    Hs256(HmacSha256Key),
    Hmac(Box<hmac::Key>),
    /// ES256, with the point's two coordinates.
    Es256 {
        point: [[u8; 32]; 2],
        key: ParsedPublicKey,
    },
    /// ES256, by a key that is used for long.
    KeptEs256(Kept),
    /// ECDSA, RSA and ML-DSA, with the only length that a signature can have.
    Parsed {
        key: ParsedPublicKey,
        signature_len: usize,
    },
}

impl VerifyingKey {
    /// Prepares a key.
    ///
    /// # Errors
    /// [`KeyError::WrongKeyType`] where key and algorithm do not belong together;
    /// [`KeyError::Malformed`] for wrong lengths, points off the curve, encodings that are not
    /// canonical; [`KeyError::Weak`] for RSA of fewer than 2048 bits or with an exponent that is
    /// even or under 65537, and for Ed25519 keys of small order; [`KeyError::Unsupported`] for RSA
    /// of more than 8192 bits.
    pub fn new(algorithm: Algorithm, key: &PublicKey) -> Result<VerifyingKey, KeyError> {
        if !key.fits(algorithm) {
            return Err(KeyError::WrongKeyType);
        }
        let inner = match key {
            PublicKey::P256 { x, y } => Inner::Es256 {
                point: [*x, *y],
                key: ecdsa(&signature::ECDSA_P256_SHA256_FIXED, x, y)?,
            },
            PublicKey::P384 { x, y } => Inner::Parsed {
                key: ecdsa(&signature::ECDSA_P384_SHA384_FIXED, x, y)?,
                signature_len: 2 * x.len(),
            },
            PublicKey::P521 { x, y } => Inner::Parsed {
                key: ecdsa(&signature::ECDSA_P521_SHA512_FIXED, x, y)?,
                signature_len: 2 * x.len(),
            },
            PublicKey::Ed25519 { x } => Inner::Ed25519(Ed25519Key::new(x)?),
            PublicKey::Rsa { n, e } => rsa(algorithm, n, e)?,
            PublicKey::MlDsa { public, .. } => ml_dsa(algorithm, public)?,
        };
        Ok(VerifyingKey { algorithm, inner })
    }

    /// For HS256, HS384 and HS512 (`client_secret_jwt`).
    ///
    /// # Errors
    /// [`KeyError::WrongKeyType`] for any other algorithm; [`KeyError::Weak`] for a secret shorter
    /// than the hash (RFC 7518 section 3.2).
    pub fn hmac(algorithm: Algorithm, secret: &[u8]) -> Result<VerifyingKey, KeyError> {
        let key = hmac_key(algorithm, secret)?;
        let inner = match algorithm {
            Algorithm::Hs256 => Inner::Hs256(HmacSha256Key::new(secret)),
            _ => Inner::Hmac(Box::new(key)),
        };
        Ok(VerifyingKey { algorithm, inner })
    }

    /// The same key, to check the signatures of many: an issuer's, say. An ES256 key gets a table
    /// of its multiples in the background, once it has checked
    /// [`VERIFICATIONS_BEFORE_TABLE`](super::VERIFICATIONS_BEFORE_TABLE) and while there are fewer
    /// than [`MAX_TABLES`](super::MAX_TABLES): its checks take less than a third of the time from
    /// then on, and its copies share the table. Other keys stay as they are. Not for the keys of
    /// callers, who could use the places up.
    pub fn kept(self) -> VerifyingKey {
        let inner = match self.inner {
            Inner::Es256 { point, key } => Inner::KeptEs256(Kept::new(point, key)),
            inner => inner,
        };
        VerifyingKey { inner, ..self }
    }

    #[cfg(test)]
    pub(super) fn has_table(&self) -> bool {
        matches!(&self.inner, Inner::KeptEs256(key) if key.has_table())
    }

    /// The one algorithm that this key verifies.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Bytes of every signature that this key could have made: no other length needs to be checked.
    pub fn signature_len(&self) -> usize {
        match &self.inner {
            Inner::Ed25519(_) => 64,
            Inner::Hs256(_) => 32,
            Inner::Hmac(key) => key.algorithm().digest_algorithm().output_len(),
            Inner::Es256 { .. } | Inner::KeptEs256(_) => 64,
            Inner::Parsed { signature_len, .. } => *signature_len,
        }
    }

    /// Checks the JOSE signature of `message`.
    ///
    /// # Errors
    /// If the key did not make it, or if its length is not the algorithm's.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        match &self.inner {
            Inner::Ed25519(key) => key.verify(&[message], signature),
            Inner::Hs256(key) => match key.verify(message, signature) {
                true => Ok(()),
                false => Err(InvalidSignature),
            },
            Inner::Hmac(key) => hmac::verify(key, message, signature).map_err(|_| InvalidSignature),
            Inner::Es256 { key, .. } => parsed(key, 64, message, signature),
            Inner::KeptEs256(key) => key.verify(message, signature),
            Inner::Parsed { key, signature_len } => parsed(key, *signature_len, message, signature),
        }
    }
}

impl VerifyingKey {
    /// Checks the JOSE signature of the concatenation of `context` and `message`: copied into one
    /// only for algorithms whose library wants it so, and to the stack where both are short.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn verify_with_context(
        &self,
        context: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let length = context.len() + message.len();
        match &self.inner {
            Inner::Ed25519(key) => key.verify(&[context, message], signature),
            _ if context.is_empty() => self.verify(message, signature),
            _ if length <= SHORT => {
                let mut joined = [0; SHORT];
                joined[..context.len()].copy_from_slice(context);
                joined[context.len()..length].copy_from_slice(message);
                self.verify(&joined[..length], signature)
            }
            _ => self.verify(&[context, message].concat(), signature),
        }
    }
}

/// Longest message that is joined on the stack, in bytes.
const SHORT: usize = 1024;

/// One signature of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchItem<'a> {
    /// An Ed25519 key; any other makes the batch fail.
    pub key: &'a VerifyingKey,
    /// What stands before the message when it is signed; may be empty.
    pub context: &'a [u8],
    /// What was signed.
    pub message: &'a [u8],
    /// 64 bytes.
    pub signature: &'a [u8],
}

/// Checks many Ed25519 signatures at once, at well under the cost of each alone. The answer is that
/// of [`VerifyingKey::verify`] for all of them.
///
/// # Errors
/// If at least one does not hold; which one is for the caller to find out.
pub fn verify_ed25519_batch(items: &[BatchItem<'_>]) -> Result<(), InvalidSignature> {
    let mut keys = Vec::with_capacity(items.len());
    for item in items {
        let Inner::Ed25519(key) = &item.key.inner else {
            return Err(InvalidSignature);
        };
        keys.push(key);
    }
    let batch = keys
        .into_iter()
        .zip(items)
        .map(|(key, item)| (key, [item.context, item.message], item.signature));
    if Ed25519Key::verify_batch(batch) {
        Ok(())
    } else {
        Err(InvalidSignature)
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyingKey")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

fn parsed(
    key: &ParsedPublicKey,
    signature_len: usize,
    message: &[u8],
    signature: &[u8],
) -> Result<(), InvalidSignature> {
    if signature.len() != signature_len {
        return Err(InvalidSignature);
    }
    key.verify_sig(message, signature)
        .map_err(|_| InvalidSignature)
}

fn ecdsa<const N: usize>(
    algorithm: &'static signature::EcdsaVerificationAlgorithm,
    x: &[u8; N],
    y: &[u8; N],
) -> Result<ParsedPublicKey, KeyError> {
    // SEC 1 section 2.3.3: an uncompressed point. The library refuses coordinates beyond the field
    // and points off the curve.
    let mut point = Vec::with_capacity(1 + 2 * N);
    point.push(0x04);
    point.extend_from_slice(x);
    point.extend_from_slice(y);
    ParsedPublicKey::new(algorithm, &point)
        .map_err(|_| KeyError::Malformed("not a point of the curve"))
}

fn rsa(algorithm: Algorithm, n: &[u8], e: &[u8]) -> Result<Inner, KeyError> {
    check_rsa(n, e)?;
    let parameters = match algorithm {
        Algorithm::Rs256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        Algorithm::Rs384 => &signature::RSA_PKCS1_2048_8192_SHA384,
        Algorithm::Rs512 => &signature::RSA_PKCS1_2048_8192_SHA512,
        Algorithm::Ps256 => &signature::RSA_PSS_2048_8192_SHA256,
        Algorithm::Ps384 => &signature::RSA_PSS_2048_8192_SHA384,
        Algorithm::Ps512 => &signature::RSA_PSS_2048_8192_SHA512,
        _ => return Err(KeyError::WrongKeyType),
    };
    let key = RsaPublicKeyComponents { n, e }
        .to_parsed_public_key(parameters)
        .map_err(|_| KeyError::Malformed("not an RSA public key"))?;
    Ok(Inner::Parsed {
        key,
        signature_len: n.len(),
    })
}

pub(super) fn check_rsa(n: &[u8], e: &[u8]) -> Result<(), KeyError> {
    // RFC 7518 section 6.3.1.1: the minimum number of octets. A second form of one key would have a
    // second thumbprint.
    if n.first().is_none_or(|first| *first == 0) || e.first().is_none_or(|first| *first == 0) {
        return Err(KeyError::Malformed(
            "an RSA number is empty or has leading zeros",
        ));
    }
    let bits = 8 * n.len() - n[0].leading_zeros() as usize;
    if bits < *RSA_BITS.start() {
        return Err(KeyError::Weak("RSA under 2048 bits"));
    }
    if bits > *RSA_BITS.end() {
        return Err(KeyError::Unsupported("RSA over 8192 bits"));
    }
    if n[n.len() - 1] & 1 == 0 {
        return Err(KeyError::Weak("an even RSA modulus"));
    }
    // 65537 and more, as FIPS 186-5 appendix A.1.1 has it; more than four bytes only slow a
    // verifier down.
    if e[e.len() - 1] & 1 == 0 {
        return Err(KeyError::Weak("an even RSA exponent"));
    }
    if e.len() > 4 {
        return Err(KeyError::Unsupported("an RSA exponent over 32 bits"));
    }
    let exponent = e
        .iter()
        .fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    if exponent < 65_537 {
        return Err(KeyError::Weak("an RSA exponent under 65537"));
    }
    Ok(())
}

fn ml_dsa(algorithm: Algorithm, public: &[u8]) -> Result<Inner, KeyError> {
    let (public_len, signature_len) = ml_dsa_lengths(algorithm).ok_or(KeyError::WrongKeyType)?;
    // Also keeps the library from reading the bytes as a SubjectPublicKeyInfo, which it would
    // accept too.
    if public.len() != public_len {
        return Err(KeyError::Malformed(
            "an ML-DSA public key has a fixed length",
        ));
    }
    let parameters = match algorithm {
        Algorithm::MlDsa44 => &signature::ML_DSA_44,
        Algorithm::MlDsa65 => &signature::ML_DSA_65,
        Algorithm::MlDsa87 => &signature::ML_DSA_87,
        _ => return Err(KeyError::WrongKeyType),
    };
    let key = ParsedPublicKey::new(parameters, public)
        .map_err(|_| KeyError::Malformed("not an ML-DSA public key"))?;
    Ok(Inner::Parsed { key, signature_len })
}

pub(super) fn hmac_key(algorithm: Algorithm, secret: &[u8]) -> Result<hmac::Key, KeyError> {
    let parameters = match algorithm {
        Algorithm::Hs256 => hmac::HMAC_SHA256,
        Algorithm::Hs384 => hmac::HMAC_SHA384,
        Algorithm::Hs512 => hmac::HMAC_SHA512,
        _ => return Err(KeyError::WrongKeyType),
    };
    if secret.len() < hmac_key_min(algorithm) {
        return Err(KeyError::Weak("an HMAC key shorter than its hash"));
    }
    Ok(hmac::Key::new(parameters, secret))
}

//! Opening what was encrypted to a public key: RSA-OAEP-256 (RFC 7518 section 4.3) and ECDH-ES in
//! direct key agreement (section 4.6), with AES-GCM for the content (section 5.3).
//!
//! Everything that depends on a secret fails with one error, and after the same work: a content key
//! that does not come out of RSA is replaced by a random one, so that the content's tag is what
//! refuses (RFC 7516 section 11.5).
use crate::{KeyError, Secret, hash::sha256, key::RSA_BITS, random};
use aws_lc_rs::{
    aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey},
    agreement::{self, ECDH_P256, ECDH_P384, UnparsedPublicKey, X25519},
    rsa::{OAEP_SHA256_MGF1SHA256, OaepPrivateDecryptingKey, PrivateDecryptingKey},
};
use zeroize::Zeroize;

/// How the content is encrypted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContentCipher {
    /// AES-GCM with a key of 128 bits.
    A128Gcm,
    /// AES-GCM with a key of 256 bits.
    A256Gcm,
}

impl ContentCipher {
    /// The registered name (`enc`).
    pub const fn name(self) -> &'static str {
        match self {
            ContentCipher::A128Gcm => "A128GCM",
            ContentCipher::A256Gcm => "A256GCM",
        }
    }

    /// The cipher of this name; exact.
    pub fn from_name(name: &str) -> Option<ContentCipher> {
        [ContentCipher::A128Gcm, ContentCipher::A256Gcm]
            .into_iter()
            .find(|cipher| cipher.name() == name)
    }

    const fn key_bytes(self) -> usize {
        match self {
            ContentCipher::A128Gcm => 16,
            ContentCipher::A256Gcm => 32,
        }
    }
}

/// The curve of a key agreement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgreementCurve {
    /// NIST P-256.
    P256,
    /// NIST P-384.
    P384,
    /// Curve25519 (RFC 7748).
    X25519,
}

impl AgreementCurve {
    /// The registered name (`crv`).
    pub const fn name(self) -> &'static str {
        match self {
            AgreementCurve::P256 => "P-256",
            AgreementCurve::P384 => "P-384",
            AgreementCurve::X25519 => "X25519",
        }
    }

    /// Bytes of a coordinate.
    pub const fn coordinate_bytes(self) -> usize {
        match self {
            AgreementCurve::P256 | AgreementCurve::X25519 => 32,
            AgreementCurve::P384 => 48,
        }
    }

    fn algorithm(self) -> &'static agreement::Algorithm {
        match self {
            AgreementCurve::P256 => &ECDH_P256,
            AgreementCurve::P384 => &ECDH_P384,
            AgreementCurve::X25519 => &X25519,
        }
    }
}

/// What was encrypted: the parts of a JWE behind its key.
#[derive(Clone, Copy, Debug)]
pub struct Sealed<'a> {
    /// 96 bits
    pub iv: &'a [u8; 12],
    /// as long as the plaintext
    pub ciphertext: &'a [u8],
    /// 128 bits
    pub tag: &'a [u8; 16],
    /// what is authenticated beside it
    pub aad: &'a [u8],
}

/// It was not opened. There is no second reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("it cannot be decrypted")]
pub struct CannotDecrypt;

/// A private key that opens.
pub struct DecryptionKey(Kind);

enum Kind {
    Rsa(OaepPrivateDecryptingKey),
    Agreement(AgreementCurve, agreement::PrivateKey),
}

/// PKCS#8 of an X25519 key (RFC 8410 section 7), before its 32 bytes.
const X25519_PKCS8: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x6e, 0x04, 0x22, 0x04, 0x20,
];

impl DecryptionKey {
    /// Reads PKCS#8 DER of an RSA, P-256, P-384 or X25519 key.
    ///
    /// # Errors
    /// [`KeyError::Weak`] for RSA of fewer than 2048 bits, [`KeyError::Unsupported`] for more than
    /// 8192 or another kind of key.
    pub fn from_pkcs8(der: &[u8]) -> Result<DecryptionKey, KeyError> {
        if let Ok(key) = PrivateDecryptingKey::from_pkcs8(der) {
            let bits = key.key_size_bits();
            if bits < *RSA_BITS.start() {
                return Err(KeyError::Weak("an RSA key has 2048 bits at least"));
            }
            if !RSA_BITS.contains(&bits) {
                return Err(KeyError::Unsupported("an RSA key of more than 8192 bits"));
            }
            let key = OaepPrivateDecryptingKey::new(key).map_err(|_| KeyError::Library)?;
            return Ok(DecryptionKey(Kind::Rsa(key)));
        }
        if let Some(raw) = der.strip_prefix(&X25519_PKCS8) {
            let key = agreement::PrivateKey::from_private_key(&X25519, raw)
                .map_err(|_| KeyError::Malformed("an X25519 key has 32 bytes"))?;
            return Ok(DecryptionKey(Kind::Agreement(AgreementCurve::X25519, key)));
        }
        for curve in [AgreementCurve::P256, AgreementCurve::P384] {
            if let Ok(key) = agreement::PrivateKey::from_private_key_der(curve.algorithm(), der) {
                return Ok(DecryptionKey(Kind::Agreement(curve, key)));
            }
        }
        Err(KeyError::Unsupported(
            "no PKCS#8 key of RSA, P-256, P-384 or X25519",
        ))
    }

    /// The curve of a key agreement; None for RSA.
    pub fn curve(&self) -> Option<AgreementCurve> {
        match &self.0 {
            Kind::Rsa(_) => None,
            Kind::Agreement(curve, _) => Some(*curve),
        }
    }

    /// Opens what RSA-OAEP-256 encrypted the content key of.
    ///
    /// # Errors
    /// [`CannotDecrypt`], whatever is wrong, also where this is no RSA key.
    pub fn open_rsa_oaep(
        &self,
        encrypted_key: &[u8],
        cipher: ContentCipher,
        sealed: &Sealed<'_>,
    ) -> Result<Vec<u8>, CannotDecrypt> {
        let Kind::Rsa(key) = &self.0 else {
            return Err(CannotDecrypt);
        };
        let mut content_key: [u8; 32] = random::bytes();
        let mut out = vec![0; key.min_output_size()];
        let decrypted = key.decrypt(&OAEP_SHA256_MGF1SHA256, encrypted_key, &mut out, None);
        if let Ok(found) = decrypted
            && found.len() == cipher.key_bytes()
        {
            content_key[..found.len()].copy_from_slice(found);
        }
        out.zeroize();
        let opened = open(cipher, &content_key[..cipher.key_bytes()], sealed);
        content_key.zeroize();
        opened
    }

    /// Opens what was encrypted under a key that this one and an ephemeral public key agree on.
    /// `public` is x for X25519, else x and y; `party_u` and `party_v` are the decoded `apu` and
    /// `apv`.
    ///
    /// # Errors
    /// [`CannotDecrypt`], whatever is wrong, also where this is no key of that agreement.
    pub fn open_ecdh_es(
        &self,
        public: &[u8],
        party_u: &[u8],
        party_v: &[u8],
        cipher: ContentCipher,
        sealed: &Sealed<'_>,
    ) -> Result<Vec<u8>, CannotDecrypt> {
        let Kind::Agreement(curve, key) = &self.0 else {
            return Err(CannotDecrypt);
        };
        let mut point = Vec::with_capacity(1 + public.len());
        if *curve != AgreementCurve::X25519 {
            point.push(4); // uncompressed (SEC 1 section 2.3.3)
        }
        point.extend_from_slice(public);
        // The library refuses points off the curve, and a shared secret of zero.
        let peer = UnparsedPublicKey::new(curve.algorithm(), &point);
        let content_key = agreement::agree(key, peer, CannotDecrypt, |shared| {
            Ok(concat_kdf(shared, party_u, party_v, cipher))
        })?;
        open(cipher, &content_key.expose()[..cipher.key_bytes()], sealed)
    }
}

impl std::fmt::Debug for DecryptionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = self.curve().map_or("RSA", AgreementCurve::name);
        write!(f, "DecryptionKey({kind})")
    }
}

/// RFC 7518 section 4.6.2: one round of SHA-256 is as long as the longest key. In direct agreement
/// the algorithm's id is that of the content.
fn concat_kdf(
    shared: &[u8],
    party_u: &[u8],
    party_v: &[u8],
    cipher: ContentCipher,
) -> Secret<[u8; 32]> {
    let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX).to_be_bytes();
    let name = cipher.name().as_bytes();
    let mut input = Vec::with_capacity(64 + shared.len() + party_u.len() + party_v.len());
    input.extend_from_slice(&1u32.to_be_bytes());
    input.extend_from_slice(shared);
    for part in [name, party_u, party_v] {
        input.extend_from_slice(&length(part.len()));
        input.extend_from_slice(part);
    }
    input.extend_from_slice(&length(8 * cipher.key_bytes()));
    let key = Secret::new(sha256(&input));
    input.zeroize();
    key
}

fn open(cipher: ContentCipher, key: &[u8], sealed: &Sealed<'_>) -> Result<Vec<u8>, CannotDecrypt> {
    let algorithm = match cipher {
        ContentCipher::A128Gcm => &AES_128_GCM,
        ContentCipher::A256Gcm => &AES_256_GCM,
    };
    let key = UnboundKey::new(algorithm, key).map_err(|_| CannotDecrypt)?;
    let mut plaintext = vec![0; sealed.ciphertext.len()];
    LessSafeKey::new(key)
        .open_separate_gather(
            Nonce::assume_unique_for_key(*sealed.iv),
            Aad::from(sealed.aad),
            sealed.ciphertext,
            sealed.tag,
            &mut plaintext,
        )
        .map_err(|_| CannotDecrypt)?;
    Ok(plaintext)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7518 appendix C: the shared secret, the parties and the key that comes out of them.
    #[test]
    fn the_key_derivation_is_that_of_the_rfc() {
        let shared = [
            158, 86, 217, 29, 129, 113, 53, 211, 114, 131, 66, 131, 191, 132, 38, 156, 251, 49,
            110, 163, 218, 128, 106, 72, 246, 218, 167, 121, 140, 254, 144, 196,
        ];
        let key = concat_kdf(&shared, b"Alice", b"Bob", ContentCipher::A128Gcm);
        let expected = [
            86, 170, 141, 234, 248, 35, 109, 32, 92, 34, 40, 205, 113, 167, 16, 26,
        ];
        assert_eq!(key.expose()[..16], expected);
    }

    #[test]
    fn keys_of_another_kind_and_broken_ones_are_refused() {
        for der in [&b""[..], b"junk", &X25519_PKCS8] {
            assert!(DecryptionKey::from_pkcs8(der).is_err());
        }
    }
}

//! JWE compact serialization (RFC 7516 section 7.1), for one purpose: a signed token inside an
//! encrypted one (RFC 7519 section 5.2).
//!
//! The caller's keys decide: RSA-OAEP-256 for an RSA key, ECDH-ES in direct agreement for one of
//! P-256, P-384 or X25519, and A128GCM or A256GCM for the content. Everything else is refused by
//! name: RSA1_5, PBES2, `dir`, key wrapping, CBC, compression, critical extensions. Keys and
//! addresses of keys inside the header are passed over, but for the ephemeral one that ECDH-ES is
//! about.
//!
//! What a sender can see without any key is distinguished ([`JweError`]); whatever fails with one
//! is [`JweError::Decryption`].
use crate::{jwk::MAX_KID_BYTES, jws::typ_is};
use signet_crypto::decrypt::{AgreementCurve, ContentCipher, DecryptionKey, Sealed};
use signet_encoding::{
    base64url,
    json::{JsonError, Limits, Object, Reader},
};

/// Bounds of a decoded protected header.
const HEADER_LIMITS: Limits = Limits {
    bytes: 8 * 1024,
    depth: 8,
    members: 64,
};
/// Longest `apu` and `apv` that are read, in bytes of their wire form
pub const MAX_PARTY_BYTES: usize = 512;

/// Why a JWE was not opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum JweError {
    /// Longer than allowed.
    #[error("the token is too large")]
    TooLarge,
    /// Not five parts of canonical base64url with a header of strict JSON, or a part with a length
    /// that it cannot have.
    #[error("the token is malformed")]
    Malformed,
    /// `alg` or `enc` is not one of those above.
    #[error("the encryption algorithm is not allowed")]
    Algorithm,
    /// `crit` is there.
    #[error("a critical extension")]
    Critical,
    /// `zip` or `b64` is there.
    #[error("an extension that is refused")]
    Extension,
    /// `cty` is not `JWT`: no signed token is inside.
    #[error("the content is of another type")]
    Type,
    /// No key fits, or the content does not open under it.
    #[error("the token cannot be decrypted")]
    Decryption,
}

impl From<JsonError> for JweError {
    fn from(_: JsonError) -> JweError {
        JweError::Malformed
    }
}

/// A private key and its name.
#[derive(Debug)]
pub struct NamedKey {
    /// `kid` of tokens that are for it. A token that names none is for any key that fits; a key
    /// without name takes any.
    pub kid: Option<String>,
    /// the key
    pub key: DecryptionKey,
}

/// The algorithm by which the content's key is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum KeyManagement {
    RsaOaep256,
    EcdhEs,
}

struct Header {
    alg: KeyManagement,
    enc: ContentCipher,
    kid: Option<String>,
    epk: Option<Ephemeral>,
    apu: Vec<u8>,
    apv: Vec<u8>,
}

struct Ephemeral {
    curve: AgreementCurve,
    /// x, and y where the curve has one
    point: Vec<u8>,
}

/// Whether a text has the five parts of a JWE.
pub fn has_form(token: &str) -> bool {
    token.bytes().filter(|byte| *byte == b'.').count() == 4
}

/// Opens a nested token: what comes out is the inner one, still to be verified.
///
/// # Errors
/// [`JweError`]
pub fn decrypt_nested(
    token: &str,
    keys: &[NamedKey],
    max_bytes: usize,
) -> Result<String, JweError> {
    if token.len() > max_bytes {
        return Err(JweError::TooLarge);
    }
    let mut parts = token.split('.');
    let mut part = || parts.next().ok_or(JweError::Malformed);
    let (protected, encrypted_key, iv, ciphertext, tag) =
        (part()?, part()?, part()?, part()?, part()?);
    if parts.next().is_some() {
        return Err(JweError::Malformed);
    }
    if protected.len() > base64url::encoded_len(HEADER_LIMITS.bytes) {
        return Err(JweError::TooLarge);
    }
    let header = read_header(&decode(protected)?)?;
    let encrypted_key = decode(encrypted_key)?;
    // RFC 7516 section 5.2 item 10: with direct agreement the encrypted key is empty.
    if (header.alg == KeyManagement::EcdhEs) != encrypted_key.is_empty() {
        return Err(JweError::Malformed);
    }
    let (iv, tag, ciphertext) = (decode_array(iv)?, decode_array(tag)?, decode(ciphertext)?);
    let sealed = Sealed {
        iv: &iv,
        ciphertext: &ciphertext,
        tag: &tag,
        aad: protected.as_bytes(),
    };
    let named = |key: &&NamedKey| match (&header.kid, &key.kid) {
        (Some(wanted), Some(name)) => wanted == name,
        _ => true,
    };
    for key in keys.iter().filter(named) {
        let opened = match (&header.epk, key.key.curve()) {
            (None, None) => key.key.open_rsa_oaep(&encrypted_key, header.enc, &sealed),
            (Some(epk), Some(curve)) if epk.curve == curve => {
                key.key
                    .open_ecdh_es(&epk.point, &header.apu, &header.apv, header.enc, &sealed)
            }
            _ => continue,
        };
        if let Ok(inner) = opened {
            return String::from_utf8(inner).map_err(|_| JweError::Decryption);
        }
    }
    Err(JweError::Decryption)
}

fn decode(part: &str) -> Result<Vec<u8>, JweError> {
    base64url::decode(part.as_bytes()).map_err(|_| JweError::Malformed)
}

fn decode_array<const N: usize>(part: &str) -> Result<[u8; N], JweError> {
    base64url::decode_array(part.as_bytes()).map_err(|_| JweError::Malformed)
}

fn read_header(text: &[u8]) -> Result<Header, JweError> {
    let mut reader = Reader::new(text, &HEADER_LIMITS)?;
    let (mut alg, mut enc, mut kid, mut cty, mut epk) = (None, None, None, None, None);
    let (mut apu, mut apv) = (Vec::new(), Vec::new());
    reader.object(|r, name| -> Result<(), JweError> {
        match &*name {
            "alg" => {
                alg = Some(match &*r.string()? {
                    "RSA-OAEP-256" => KeyManagement::RsaOaep256,
                    "ECDH-ES" => KeyManagement::EcdhEs,
                    _ => return Err(JweError::Algorithm),
                });
            }
            "enc" => {
                let cipher = ContentCipher::from_name(&r.string()?);
                enc = Some(cipher.ok_or(JweError::Algorithm)?);
            }
            "kid" => {
                let text = r.string()?;
                if text.len() > MAX_KID_BYTES {
                    return Err(JweError::TooLarge);
                }
                kid = Some(text.into_owned());
            }
            "cty" => cty = Some(r.string()?.into_owned()),
            "epk" => {
                let value = r.value()?;
                epk = Some(ephemeral(value.as_object().ok_or(JweError::Malformed)?)?);
            }
            "apu" => apu = party(&r.string()?)?,
            "apv" => apv = party(&r.string()?)?,
            // RFC 7516 section 4.1.13: what is critical must be understood, and no extension is.
            "crit" => return Err(JweError::Critical),
            // RFC 8725 section 3.6: what is decompressed can be larger than anybody expects.
            "zip" | "b64" => return Err(JweError::Extension),
            _ => {}
        }
        Ok(())
    })?;
    reader.finish()?;
    let alg = alg.ok_or(JweError::Malformed)?;
    // RFC 7519 section 5.2: nested tokens say so.
    if !typ_is(cty.as_deref(), "JWT") {
        return Err(JweError::Type);
    }
    // An ephemeral key belongs to ECDH-ES and to nothing else.
    if (alg == KeyManagement::EcdhEs) != epk.is_some() {
        return Err(JweError::Malformed);
    }
    Ok(Header {
        alg,
        enc: enc.ok_or(JweError::Malformed)?,
        kid,
        epk,
        apu,
        apv,
    })
}

fn party(text: &str) -> Result<Vec<u8>, JweError> {
    if text.len() > MAX_PARTY_BYTES {
        return Err(JweError::TooLarge);
    }
    decode(text)
}

/// RFC 7518 section 4.6.1.1: a public key and nothing more.
fn ephemeral(jwk: &Object<'_>) -> Result<Ephemeral, JweError> {
    let text = |name: &str| jwk.string(name).map_err(|_| JweError::Malformed);
    let kty = text("kty")?;
    let curve = match (kty, text("crv")?) {
        (Some("EC"), Some("P-256")) => AgreementCurve::P256,
        (Some("EC"), Some("P-384")) => AgreementCurve::P384,
        (Some("OKP"), Some("X25519")) => AgreementCurve::X25519,
        (Some(_), Some(_)) => return Err(JweError::Algorithm),
        _ => return Err(JweError::Malformed),
    };
    if jwk.get("d").is_some() {
        return Err(JweError::Malformed);
    }
    let coordinate = |name: &str| {
        let bytes = decode(text(name)?.ok_or(JweError::Malformed)?)?;
        match bytes.len() == curve.coordinate_bytes() {
            true => Ok(bytes),
            false => Err(JweError::Malformed),
        }
    };
    let mut point = coordinate("x")?;
    if curve != AgreementCurve::X25519 {
        point.extend(coordinate("y")?);
    }
    Ok(Ephemeral { curve, point })
}

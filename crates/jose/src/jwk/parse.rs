//! Reading one JWK.

use super::{Jwk, JwkError, KeyUse, MAX_KID_BYTES};
use signet_crypto::{Algorithm, KeyType, PublicKey};
use signet_encoding::base64url;
use signet_encoding::json::Object;

/// RSA moduli up to 8192 bits, exponents up to 64: what signet-crypto could accept at all.
const MAX_MODULUS_BYTES: usize = 1024;
const MAX_EXPONENT_BYTES: usize = 8;
/// Longest certificate chain that is carried.
const MAX_CHAIN: usize = 8;

pub(super) fn jwk(object: &Object<'_>) -> Result<Jwk, JwkError> {
    let kty = object.string("kty")?.ok_or(JwkError::Member("kty"))?;
    refuse_private(kty, object)?;
    let alg = match object.string("alg")? {
        Some(name) => Some(Algorithm::from_name(name).ok_or(JwkError::Unsupported)?),
        None => None,
    };
    let key = material(kty, alg, object)?;
    if alg.is_some_and(|alg| !key.fits(alg)) {
        return Err(JwkError::Member("alg"));
    }
    Ok(Jwk {
        key,
        kid: kid(object)?,
        alg,
        key_use: key_use(object)?,
        key_ops: key_ops(object)?,
        x5c: x5c(object)?,
    })
}

fn refuse_private(kty: &str, object: &Object<'_>) -> Result<(), JwkError> {
    // RFC 7518 sections 6.2.2, 6.3.2 and 6.4; RFC 8037 section 2; RFC 9964 section 3. `d`, `k` and
    // `priv` name a secret in every type; the short names of the RSA factors may mean something
    // else in a type that is not known here.
    const ALWAYS: [&str; 3] = ["d", "k", "priv"];
    const RSA: [&str; 6] = ["p", "q", "dp", "dq", "qi", "oth"];
    let has = |names: &[&str]| names.iter().any(|name| object.get(name).is_some());
    match kty == "oct" || has(&ALWAYS) || (kty == "RSA" && has(&RSA)) {
        true => Err(JwkError::Private),
        false => Ok(()),
    }
}

fn material(kty: &str, alg: Option<Algorithm>, object: &Object<'_>) -> Result<PublicKey, JwkError> {
    match kty {
        "EC" => match object.string("crv")?.ok_or(JwkError::Member("crv"))? {
            "P-256" => Ok(PublicKey::P256 {
                x: fixed(object, "x")?,
                y: fixed(object, "y")?,
            }),
            "P-384" => Ok(PublicKey::P384 {
                x: fixed(object, "x")?,
                y: fixed(object, "y")?,
            }),
            "P-521" => Ok(PublicKey::P521 {
                x: fixed(object, "x")?,
                y: fixed(object, "y")?,
            }),
            _ => Err(JwkError::Unsupported),
        },
        "OKP" => match object.string("crv")?.ok_or(JwkError::Member("crv"))? {
            "Ed25519" => Ok(PublicKey::Ed25519 {
                x: fixed(object, "x")?,
            }),
            _ => Err(JwkError::Unsupported),
        },
        "RSA" => Ok(PublicKey::Rsa {
            n: integer(object, "n", MAX_MODULUS_BYTES)?,
            e: integer(object, "e", MAX_EXPONENT_BYTES)?,
        }),
        "AKP" => {
            // RFC 9964 section 3: `alg` is required, and the length of `pub` is the algorithm's.
            let algorithm = alg.ok_or(JwkError::Member("alg"))?;
            if algorithm.key_type() != KeyType::Akp {
                return Err(JwkError::Member("alg"));
            }
            let length = match algorithm {
                Algorithm::MlDsa44 => 1312,
                Algorithm::MlDsa65 => 1952,
                Algorithm::MlDsa87 => 2592,
                _ => return Err(JwkError::Unsupported),
            };
            let text = required(object, "pub")?;
            if base64url::decoded_len(text.len()) != Some(length) {
                return Err(JwkError::Member("pub"));
            }
            let public = base64url::decode(text.as_bytes()).map_err(|_| JwkError::Member("pub"))?;
            Ok(PublicKey::MlDsa { algorithm, public })
        }
        _ => Err(JwkError::Unsupported),
    }
}

fn required<'o>(object: &'o Object<'_>, name: &'static str) -> Result<&'o str, JwkError> {
    object.string(name)?.ok_or(JwkError::Member(name))
}

/// RFC 7518 section 6.2.1.2: a coordinate has the full length of its field, leading zeros included.
fn fixed<const N: usize>(object: &Object<'_>, name: &'static str) -> Result<[u8; N], JwkError> {
    base64url::decode_array(required(object, name)?.as_bytes()).map_err(|_| JwkError::Member(name))
}

/// RFC 7518 section 2, Base64urlUInt: the minimal number of octets, so that one key has one
/// encoding and one thumbprint.
fn integer(object: &Object<'_>, name: &'static str, max: usize) -> Result<Vec<u8>, JwkError> {
    let text = required(object, name)?;
    if text.len() > base64url::encoded_len(max) {
        return Err(JwkError::Member(name));
    }
    match base64url::decode(text.as_bytes()) {
        Ok(bytes) if bytes.first().is_some_and(|first| *first != 0) => Ok(bytes),
        _ => Err(JwkError::Member(name)),
    }
}

fn kid(object: &Object<'_>) -> Result<Option<String>, JwkError> {
    match object.string("kid")? {
        Some(kid) if kid.len() > MAX_KID_BYTES => Err(JwkError::Member("kid")),
        kid => Ok(kid.map(str::to_owned)),
    }
}

fn key_use(object: &Object<'_>) -> Result<Option<KeyUse>, JwkError> {
    match object.string("use")? {
        None => Ok(None),
        Some("sig") => Ok(Some(KeyUse::Signature)),
        Some("enc") => Ok(Some(KeyUse::Encryption)),
        Some(_) => Err(JwkError::Unsupported),
    }
}

fn key_ops(object: &Object<'_>) -> Result<Option<Vec<String>>, JwkError> {
    let Some(operations) = object.strings("key_ops")? else {
        return Ok(None);
    };
    // RFC 7517 section 4.3: duplicates must not be present. The bound keeps the comparison small.
    let repeats = |(index, operation): (usize, &&str)| operations[..index].contains(operation);
    if operations.len() > 8 || operations.iter().enumerate().any(repeats) {
        return Err(JwkError::Member("key_ops"));
    }
    Ok(Some(operations.into_iter().map(str::to_owned).collect()))
}

fn x5c(object: &Object<'_>) -> Result<Vec<Vec<u8>>, JwkError> {
    let chain = object.strings("x5c")?.unwrap_or_default();
    if chain.len() > MAX_CHAIN {
        return Err(JwkError::Member("x5c"));
    }
    chain
        .into_iter()
        .map(|text| {
            base64url::decode_standard(text.as_bytes()).map_err(|_| JwkError::Member("x5c"))
        })
        .collect()
}

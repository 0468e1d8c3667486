//! DPoP proofs (RFC 9449), the stateless half.
//!
//! [`verify`] checks everything of section 4.3 that a proof, a method, a URL and a moment decide
//! (items 2 to 9 and 11). [`presentation`] checks the binding of an access token and `ath` (item
//! 12) on top, [`nonce`] makes and knows the server's nonces (item 10). Left to the caller, because
//! they need state or the rest of the request: that there is exactly one `DPoP` header field (item
//! 1), and that a `jti` is seen once.

mod htu;
pub mod nonce;
pub mod presentation;

use crate::jwk::JwkError;
use crate::jws::{self, JwsError};
use crate::jwt::Typ;
use signet_crypto::Algorithm;
use signet_encoding::base64url;
use signet_encoding::json::{JsonError, Limits, Reader};

/// Longest proof that is read, in bytes: an ML-DSA-87 key and signature fit.
pub const MAX_PROOF_BYTES: usize = 16 * 1024;
/// Longest `jti`, in bytes. It is kept by the replay guard, so an unauthenticated caller must not
/// choose its size.
pub const MAX_JTI_BYTES: usize = 256;
/// Longest `nonce`, in bytes.
pub const MAX_NONCE_BYTES: usize = 1024;

/// What a proof may be signed with, separated by spaces: the `algs` of a challenge (RFC 9449
/// section 7.1) and `dpop_signing_alg_values_supported` of metadata. [`verify`] accepts these.
pub const PROOF_ALGORITHMS: &str =
    "ES256 ES384 ES512 EdDSA Ed25519 RS256 PS256 ML-DSA-44 ML-DSA-65 ML-DSA-87";

const CLAIMS_LIMITS: Limits = Limits {
    bytes: 8 * 1024,
    depth: 8,
    members: 64,
};

/// A proof whose signature, `typ`, `htm`, `htu` and `iat` held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DpopProof {
    /// RFC 7638 thumbprint of the proof's key, base64url
    pub jkt: String,
    /// id of the proof, not empty; to be seen once while the proof is fresh
    pub jti: String,
    /// when the client made it, in seconds
    pub iat: u64,
    /// the server's nonce, if the client sent one
    pub nonce: Option<String>,
    /// hash of the access token, if the client sent one
    pub ath: Option<String>,
    /// the proof's algorithm; asymmetric
    pub alg: Algorithm,
}

impl DpopProof {
    /// Whether the proof goes with this access token (RFC 9449 section 4.3 item 12). A proof
    /// without `ath` does not.
    pub fn covers(&self, access_token: &str) -> bool {
        self.ath.as_deref() == Some(&*ath(access_token))
    }
}

/// Checks a proof for the request `htm` `htu` at `now` (seconds).
///
/// A proof is fresh from `leeway` seconds before its `iat` to `max_age + leeway` seconds after it,
/// both inclusive. `htu` is compared after the normalization of RFC 3986 sections 6.2.2 and 6.2.3,
/// without query and fragment; the method exactly.
pub fn verify(
    proof: &str,
    htm: &str,
    htu: &str,
    now: u64,
    max_age: u64,
    leeway: u64,
) -> Result<DpopProof, DpopError> {
    let compact = jws::split(proof.as_bytes(), MAX_PROOF_BYTES)?;
    let (header, jwk) = compact.decode_header_with_jwk()?;
    // Section 4.3 item 4: exactly this type; an ID token or an access token is no proof.
    if header.typ.as_deref() != Some(Typ::DpopProof.as_str()) {
        return Err(DpopError::Malformed);
    }
    // Item 5: asymmetric; `none` is no algorithm here at all.
    if header.alg.is_symmetric() {
        return Err(DpopError::Algorithm);
    }
    // Items 6 and 7: the embedded key is public, and the proof is signed with it.
    let jwk = jwk
        .ok_or(DpopError::Malformed)?
        .map_err(|_: JwkError| DpopError::Key)?;
    let key = jwk.verifying_key(header.alg).map_err(|_| DpopError::Key)?;
    let payload = compact.verify(&header, &key)?;

    let claims = Claims::parse(&payload).map_err(|_| DpopError::Malformed)?;
    // Item 8.
    if claims.htm != htm {
        return Err(DpopError::Method);
    }
    // Item 9.
    if !htu::same(&claims.htu, htu) {
        return Err(DpopError::Url);
    }
    // Item 11.
    let fresh = now.saturating_add(leeway) >= claims.iat
        && now <= claims.iat.saturating_add(max_age).saturating_add(leeway);
    if !fresh {
        return Err(DpopError::Time);
    }
    Ok(DpopProof {
        jkt: jwk.thumbprint_text(),
        jti: claims.jti,
        iat: claims.iat,
        nonce: claims.nonce,
        ath: claims.ath,
        alg: header.alg,
    })
}

/// The origin of an `http(s)` URL, in the one form that equals are equal in: scheme and host in
/// lower case, the port where it is not the scheme's own (RFC 6454 section 6.2). None for a text
/// that is no such URL.
pub fn origin(url: &str) -> Option<String> {
    htu::origin(url)
}

/// base64url(SHA-256(access token)): the `ath` that a proof must carry at a resource.
pub fn ath(access_token: &str) -> String {
    base64url::encode(&signet_crypto::hash::sha256(access_token.as_bytes()))
}

/// RFC 9449 section 4.2.
#[derive(Default)]
struct Claims {
    jti: String,
    htm: String,
    htu: String,
    iat: u64,
    nonce: Option<String>,
    ath: Option<String>,
}

impl Claims {
    fn parse(payload: &[u8]) -> Result<Claims, JsonError> {
        let mut claims = Claims::default();
        let (mut jti, mut htm, mut htu, mut iat) = (false, false, false, false);
        let mut reader = Reader::new(payload, &CLAIMS_LIMITS)?;
        reader.object(|r, name| -> Result<(), JsonError> {
            match &*name {
                "jti" => (jti, claims.jti) = (true, r.string()?.into_owned()),
                "htm" => (htm, claims.htm) = (true, r.string()?.into_owned()),
                "htu" => (htu, claims.htu) = (true, r.string()?.into_owned()),
                "iat" => (iat, claims.iat) = (true, r.numeric_date()?),
                "nonce" => claims.nonce = Some(r.string()?.into_owned()),
                "ath" => claims.ath = Some(r.string()?.into_owned()),
                _ => {}
            }
            Ok(())
        })?;
        reader.finish()?;
        let bounded = (1..=MAX_JTI_BYTES).contains(&claims.jti.len())
            && claims
                .nonce
                .as_ref()
                .is_none_or(|nonce| nonce.len() <= MAX_NONCE_BYTES);
        match jti && htm && htu && iat && bounded {
            true => Ok(claims),
            false => Err(JsonError::Type),
        }
    }
}

/// Why a proof was refused: always the client's fault, `invalid_dpop_proof` to the peer (RFC 9449
/// section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DpopError {
    /// not a compact JWS of type `dpop+jwt` with the required members
    #[error("malformed DPoP proof")]
    Malformed,
    /// `alg` is unknown, `none`, or symmetric
    #[error("unsupported algorithm")]
    Algorithm,
    /// the `jwk` is missing a part, carries a private one, or does not fit `alg`
    #[error("the proof's key is private or malformed")]
    Key,
    /// not signed with the embedded key
    #[error("the signature is not valid")]
    Signature,
    /// `htm` is another one
    #[error("the proof is for another method")]
    Method,
    /// `htu` is another one
    #[error("the proof is for another URL")]
    Url,
    /// `iat` is outside the window
    #[error("the proof is too old or from the future")]
    Time,
}

impl From<JwsError> for DpopError {
    fn from(error: JwsError) -> Self {
        match error {
            JwsError::Algorithm => DpopError::Algorithm,
            JwsError::KeyMismatch => DpopError::Key,
            JwsError::Signature => DpopError::Signature,
            _ => DpopError::Malformed,
        }
    }
}

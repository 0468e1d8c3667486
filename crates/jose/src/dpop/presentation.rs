//! Whether the presenter of a bound access token may use it: at a resource server, and at an
//! authorization server's own resources, by the same rules (RFC 9449 section 7, RFC 8705 section
//! 3).
//!
//! Left to the caller: that the token itself holds, whether unbound tokens are taken, which nonces
//! are good, and that the proof that is given back is seen once.

use super::{DpopError, DpopProof, verify};
use crate::authorization::Scheme;
use signet_crypto::ct_eq;
use signet_encoding::base64url;

/// What a token is bound to: its `cnf` (RFC 7800). A confirmation that is not one of these two must
/// be refused before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Binding<'a> {
    /// thumbprint of a DPoP key (RFC 9449 section 6.1)
    pub jkt: Option<&'a str>,
    /// SHA-256 of a client certificate, base64url (RFC 8705 section 3.1)
    pub x5t_s256: Option<&'a str>,
}

/// A DPoP proof and the request that it must be for.
#[derive(Clone, Copy, Debug)]
pub struct Proof<'a> {
    /// the one `DPoP` header field
    pub jwt: &'a str,
    /// the request's method
    pub method: &'a str,
    /// the request's URL as its sender saw it
    pub url: &'a str,
}

/// A token as it was presented, and what came with it.
#[derive(Clone, Copy, Debug)]
pub struct Presentation<'a> {
    /// how, where that is known
    pub scheme: Option<Scheme>,
    /// the token
    pub access_token: &'a str,
    /// the proof, if there was one
    pub proof: Option<Proof<'a>>,
    /// SHA-256 of the client's certificate (DER), whose key the TLS handshake proved
    pub certificate: Option<[u8; 32]>,
}

/// When a proof is fresh: see [`verify`]. Seconds.
#[derive(Clone, Copy, Debug)]
pub struct Freshness {
    /// this moment, Unix seconds
    pub now: u64,
    /// how old a proof may be
    pub max_age: u64,
    /// how far clocks may be apart
    pub leeway: u64,
}

/// Why the presenter may not use the token. The caller's fault, each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PresentationError {
    /// RFC 9449 section 7.1: the DPoP scheme is for tokens that are bound to a key.
    #[error("the access token is not bound to a key")]
    NotBoundToKey,
    /// RFC 9449 section 7.2: a token that is bound to a key is no bearer token.
    #[error("the access token needs a DPoP proof")]
    SentAsBearer,
    /// There is no certificate.
    #[error("the access token is bound to a certificate, and none was presented")]
    NoCertificate,
    /// The certificate is another one.
    #[error("the access token is bound to another certificate")]
    OtherCertificate,
    /// There is no proof.
    #[error("there is no DPoP proof")]
    NoProof,
    /// The proof is none, or for another request.
    #[error("the DPoP proof is not valid for this request: {0}")]
    Proof(#[from] DpopError),
    /// The proof is by another key.
    #[error("the access token is bound to another key")]
    OtherKey,
    /// RFC 9449 section 4.3 item 12.
    #[error("the proof is for another access token")]
    OtherToken,
    /// Section 4.3 item 10: its nonce is none of the server's, or missing.
    #[error("the proof must carry a nonce of this server")]
    Nonce,
}

/// Checks `cnf` against what came with the request; gives the proof, which must be seen once.
/// `nonce` decides about the proof's nonce, and is asked about a proof that otherwise holds.
///
/// # Errors
/// [`PresentationError`].
pub fn check(
    binding: Binding<'_>,
    presented: &Presentation<'_>,
    freshness: Freshness,
    nonce: impl FnOnce(Option<&str>) -> bool,
) -> Result<Option<DpopProof>, PresentationError> {
    if let Some(thumbprint) = binding.x5t_s256 {
        let shown = presented
            .certificate
            .ok_or(PresentationError::NoCertificate)?;
        let bound = base64url::decode_array::<32>(thumbprint.as_bytes());
        if !bound.is_ok_and(|bound| ct_eq(&bound, &shown)) {
            return Err(PresentationError::OtherCertificate);
        }
    }
    let Some(jkt) = binding.jkt else {
        return match presented.scheme {
            Some(Scheme::Dpop) => Err(PresentationError::NotBoundToKey),
            Some(Scheme::Bearer) | None => Ok(None),
        };
    };
    // Proof or not.
    if presented.scheme == Some(Scheme::Bearer) {
        return Err(PresentationError::SentAsBearer);
    }
    let Proof { jwt, method, url } = presented.proof.ok_or(PresentationError::NoProof)?;
    let Freshness {
        now,
        max_age,
        leeway,
    } = freshness;
    let proof = verify(jwt, method, url, now, max_age, leeway)?;
    if !ct_eq(proof.jkt.as_bytes(), jkt.as_bytes()) {
        return Err(PresentationError::OtherKey);
    }
    if !proof.covers(presented.access_token) {
        return Err(PresentationError::OtherToken);
    }
    match nonce(proof.nonce.as_deref()) {
        true => Ok(Some(proof)),
        false => Err(PresentationError::Nonce),
    }
}

//! Sender constraint: DPoP (RFC 9449) with server nonces and a replay guard, and certificate
//! binding (RFC 8705).
//!
//! Server nonces hold no state: a nonce is the time of its making, sealed. Any node opens it, and
//! it ends by itself.
use crate::client::Client;
use crate::error::{Challenge, ErrorCode, OAuthError};
use crate::issued::access_token::VerifiedAccessToken;
use crate::issued::sealed::Confirmation;
use crate::request::{Context, PeerCertificate};
use crate::token::decision::SingleUse;
use signet_crypto::seal::{Keyring, Purpose};
use signet_encoding::base64url;
use signet_jose::dpop::{
    self, DpopProof, nonce,
    presentation::{self, Freshness, Presentation, PresentationError, Proof},
};

pub use signet_jose::{authorization::Scheme, dpop::nonce::LIFETIME as NONCE_LIFETIME};

/// A proof that held: whose key it is, and what must be committed before anything is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Possession {
    /// thumbprint of the proof's key, base64url
    pub jkt: String,
    /// the proof's id, to be seen once
    pub single_use: SingleUse,
}

/// The sealing keys, as the key of nonces: those of every node, and of the time before they were
/// rotated.
struct Sealing<'a>(&'a Keyring);

impl nonce::NonceKey for Sealing<'_> {
    fn seal(&self, made: [u8; 8]) -> Option<Vec<u8>> {
        self.0.seal(Purpose::DpopNonce, &made).ok()
    }

    fn open(&self, sealed: &[u8]) -> Option<[u8; 8]> {
        self.0
            .open(Purpose::DpopNonce, sealed)
            .ok()?
            .try_into()
            .ok()
    }
}

/// Makes a nonce for the `DPoP-Nonce` header (RFC 9449 section 8). None only if the cryptography
/// library fails.
pub fn new_nonce(keyring: &Keyring, now: u64) -> Option<String> {
    nonce::make(&Sealing(keyring), now)
}

/// Whether a proof's nonce will do: one that is there must be the server's, whether nonces are
/// demanded or not.
fn nonce_is_good(context: &Context<'_>, nonce: Option<&str>) -> bool {
    match nonce {
        Some(nonce) => nonce::holds(&Sealing(context.keyring), nonce, context.now()),
        None => !context.settings.dpop_nonce_required,
    }
}

fn invalid_proof(hint: String) -> OAuthError {
    OAuthError::new(
        ErrorCode::InvalidDpopProof,
        "the DPoP proof is not valid for this request",
    )
    .with_hint(hint)
}

fn use_nonce() -> OAuthError {
    OAuthError::new(
        ErrorCode::UseDpopNonce,
        "the proof must carry the nonce of this answer",
    )
}

/// The proof's id, to be seen once while the proof could come again.
fn possession(context: &Context<'_>, proof: DpopProof) -> Possession {
    let settings = context.settings;
    let end = proof
        .iat
        .saturating_add(settings.dpop_proof_max_age)
        .saturating_add(settings.clock_leeway)
        .saturating_add(1);
    Possession {
        jkt: proof.jkt.clone(),
        single_use: SingleUse::DpopProof {
            jkt: proof.jkt,
            jti: proof.jti,
            end,
        },
    }
}

/// Checks the proof of a token request. `Ok(None)` where the request has none.
///
/// `use_dpop_nonce` asks for the nonce that the caller adds to the answer ([`new_nonce`]).
pub fn check(
    context: &Context<'_>,
    proof: Option<&str>,
    htm: &str,
    htu: &str,
) -> Result<Option<Possession>, OAuthError> {
    let Some(proof) = proof else {
        return Ok(None);
    };
    let settings = context.settings;
    let proof = dpop::verify(
        proof,
        htm,
        htu,
        context.now(),
        settings.dpop_proof_max_age,
        settings.clock_leeway,
    )
    .map_err(|error| invalid_proof(error.to_string()))?;
    match nonce_is_good(context, proof.nonce.as_deref()) {
        true => Ok(Some(possession(context, proof))),
        false => Err(use_nonce()),
    }
}

/// What new tokens are bound to, under the client's policy.
///
/// A proof binds to its key; without one, a certificate binds where the client's record says so
/// (RFC 8705 section 3.4). A client that must bind and cannot is refused, whatever else it shows.
pub fn bind(
    client: &Client,
    possession: Option<&Possession>,
    certificate: Option<PeerCertificate<'_>>,
) -> Result<Option<Confirmation>, OAuthError> {
    if client.dpop_bound_access_tokens && possession.is_none() {
        // RFC 9449 section 5.2. No proof is not an invalid proof: section 5 has its code for those
        // that came.
        return Err(OAuthError::invalid_request("this client must use DPoP"));
    }
    if client.tls_client_certificate_bound_access_tokens && certificate.is_none() {
        return Err(OAuthError::invalid_request(
            "this client must use its certificate",
        ));
    }
    Ok(match (possession, certificate) {
        (Some(possession), _) => Some(Confirmation::Jkt(possession.jkt.clone())),
        (None, Some(peer)) if client.tls_client_certificate_bound_access_tokens => Some(
            Confirmation::X5tS256(base64url::encode(&peer.certificate.thumbprint)),
        ),
        _ => None,
    })
}

/// Whether the presenter of a valid access token may use it: a bound token is never a bearer token.
/// The returned condition must be committed before the resource answers. Errors carry their
/// challenge.
pub fn check_presentation(
    context: &Context<'_>,
    scheme: Scheme,
    request: &crate::request::Request<'_>,
    access_token: &str,
    facts: &VerifiedAccessToken,
) -> Result<Option<SingleUse>, OAuthError> {
    let mut bound = presentation::Binding::default();
    match &facts.confirmation {
        None => {}
        Some(Confirmation::Jkt(jkt)) => bound.jkt = Some(jkt),
        Some(Confirmation::X5tS256(thumbprint)) => bound.x5t_s256 = Some(thumbprint),
    }
    let presented = Presentation {
        scheme: Some(scheme),
        access_token,
        proof: request.dpop.map(|jwt| Proof {
            jwt,
            method: request.htm,
            url: request.htu,
        }),
        certificate: request.certificate.map(|peer| peer.certificate.thumbprint),
    };
    let freshness = Freshness {
        now: context.now(),
        max_age: context.settings.dpop_proof_max_age,
        leeway: context.settings.clock_leeway,
    };
    let nonce = |nonce: Option<&str>| nonce_is_good(context, nonce);
    match presentation::check(bound, &presented, freshness, nonce) {
        Ok(proof) => Ok(proof.map(|proof| possession(context, proof).single_use)),
        Err(error) => Err(refused(error)),
    }
}

/// RFC 9449 section 7.1, RFC 6750 section 3.1: an error of the proof is reported as such, every
/// other one as the token's.
fn refused(error: PresentationError) -> OAuthError {
    let token =
        |text, challenge| OAuthError::new(ErrorCode::InvalidToken, text).with_challenge(challenge);
    let proof = |text| OAuthError::new(ErrorCode::InvalidDpopProof, text);
    match error {
        PresentationError::NotBoundToKey => {
            token("the access token is not bound to a key", Challenge::Bearer)
        }
        PresentationError::NoCertificate | PresentationError::OtherCertificate => token(
            "the access token is bound to another certificate",
            Challenge::Bearer,
        ),
        PresentationError::SentAsBearer => {
            token("the access token needs a DPoP proof", Challenge::Dpop)
        }
        PresentationError::OtherKey => {
            token("the access token is bound to another key", Challenge::Dpop)
        }
        PresentationError::NoProof => {
            proof("there is no DPoP proof").with_challenge(Challenge::Dpop)
        }
        PresentationError::OtherToken => {
            proof("the proof is for another access token").with_challenge(Challenge::Dpop)
        }
        PresentationError::Nonce => use_nonce().with_challenge(Challenge::Dpop),
        // A proof that is none, or for another request.
        error => invalid_proof(error.to_string()).with_challenge(Challenge::Dpop),
    }
}

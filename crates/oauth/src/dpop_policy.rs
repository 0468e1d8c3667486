//! Sender constraint: DPoP (RFC 9449) with server nonces and a replay guard, and certificate binding (RFC 8705).
//!
//! Server nonces hold no state: a nonce is the time of its making, sealed. Any node opens it, and it ends by itself.
use crate::{
    access_token::AccessTokenFacts,
    client::Client,
    decision::Once,
    error::{Challenge, ErrorCode, OAuthError},
    request::{Context, PeerCertificate},
    sealed::Confirmation,
};
use signet_crypto::{
    ct_eq,
    seal::{Keyring, Purpose},
};
use signet_jose::{base64url, dpop};

/// How long a server nonce is accepted, in seconds.
pub const NONCE_LIFETIME: u64 = 300;
/// Longest nonce that is opened, in bytes of its wire form.
const MAX_NONCE_BYTES: usize = 128;

/// A proof that held: whose key it is, and what must be committed before anything is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Possession {
    /// thumbprint of the proof's key, base64url
    pub jkt: String,
    /// the proof's id, to be seen once
    pub once: Once,
}

/// Makes a nonce for the `DPoP-Nonce` header (RFC 9449 section 8). None only if the cryptography library fails.
pub fn new_nonce(keyring: &Keyring, now: u64) -> Option<String> {
    let sealed = keyring.seal(Purpose::DpopNonce, &now.to_be_bytes()).ok()?;
    Some(base64url::encode(&sealed))
}

fn nonce_holds(keyring: &Keyring, nonce: &str, now: u64) -> bool {
    if nonce.len() > MAX_NONCE_BYTES {
        return false;
    }
    let opened = base64url::decode(nonce.as_bytes())
        .ok()
        .and_then(|sealed| keyring.open(Purpose::DpopNonce, &sealed).ok());
    let made = opened
        .and_then(|bytes| <[u8; 8]>::try_from(bytes).ok())
        .map(u64::from_be_bytes);
    // A node whose clock is a little ahead may have made it.
    made.is_some_and(|made| {
        now <= made.saturating_add(NONCE_LIFETIME) && made <= now.saturating_add(60)
    })
}

/// Checks the proof of a token request. `Ok(None)` where there is none.
///
/// `use_dpop_nonce` asks for the nonce that the caller adds to the answer ([`new_nonce`]).
pub fn check(
    context: &Context<'_>,
    proof: Option<&str>,
    htm: &str,
    htu: &str,
) -> Result<Option<Possession>, OAuthError> {
    proof
        .map(|proof| verify(context, proof, htm, htu).map(|(possession, _)| possession))
        .transpose()
}

fn verify(
    context: &Context<'_>,
    proof: &str,
    htm: &str,
    htu: &str,
) -> Result<(Possession, dpop::DpopProof), OAuthError> {
    let settings = context.settings;
    let now = context.now();
    let proof = dpop::verify(
        proof,
        htm,
        htu,
        now,
        settings.dpop_proof_max_age,
        settings.clock_leeway,
    )
    .map_err(|error| {
        OAuthError::new(
            ErrorCode::InvalidDpopProof,
            "the DPoP proof is not valid for this request",
        )
        .with_hint(error.to_string())
    })?;
    let nonce_is_good = match &proof.nonce {
        Some(nonce) => nonce_holds(context.keyring, nonce, now),
        None => !settings.dpop_nonce_required,
    };
    if !nonce_is_good {
        return Err(OAuthError::new(
            ErrorCode::UseDpopNonce,
            "the proof must carry the nonce of this answer",
        ));
    }
    let end = proof
        .iat
        .saturating_add(settings.dpop_proof_max_age)
        .saturating_add(settings.clock_leeway)
        .saturating_add(1);
    let once = Once::DpopProof {
        jkt: proof.jkt.clone(),
        jti: proof.jti.clone(),
        end,
    };
    Ok((
        Possession {
            jkt: proof.jkt.clone(),
            once,
        },
        proof,
    ))
}

/// What new tokens are bound to, under the client's policy.
///
/// A proof binds to its key; without one, a certificate binds where the client's record says so (RFC 8705 section 3.4). A client that
/// must bind and cannot is refused, whatever else it shows.
pub fn bind(
    client: &Client,
    possession: Option<&Possession>,
    certificate: Option<PeerCertificate<'_>>,
) -> Result<Option<Confirmation>, OAuthError> {
    if client.dpop_bound_access_tokens && possession.is_none() {
        // RFC 9449 section 5.2. No proof is not an invalid proof: section 5 has its code for those that came.
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

/// How an access token was presented at a protected resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// `Authorization: Bearer`
    Bearer,
    /// `Authorization: DPoP`
    Dpop,
}

/// Whether the presenter of a valid access token may use it: a bound token is never a bearer token. The returned condition must be
/// committed before the resource answers. Errors carry their challenge.
pub fn check_presentation(
    context: &Context<'_>,
    scheme: Scheme,
    request: &crate::request::Request<'_>,
    access_token: &str,
    facts: &AccessTokenFacts,
) -> Result<Option<Once>, OAuthError> {
    let refuse = |text, challenge| {
        Err(OAuthError::new(ErrorCode::InvalidToken, text).with_challenge(challenge))
    };
    match (&facts.confirmation, scheme) {
        (None, Scheme::Bearer) => Ok(None),
        // RFC 9449 section 7.1: the DPoP scheme is for DPoP-bound tokens.
        (None, Scheme::Dpop) => refuse("the access token is not bound to a key", Challenge::Bearer),
        (Some(Confirmation::X5tS256(expected)), Scheme::Bearer) => match request.certificate {
            Some(peer)
                if ct_eq(
                    base64url::encode(&peer.certificate.thumbprint).as_bytes(),
                    expected.as_bytes(),
                ) =>
            {
                Ok(None)
            }
            _ => refuse(
                "the access token is bound to another certificate",
                Challenge::Bearer,
            ),
        },
        (Some(Confirmation::X5tS256(_)), Scheme::Dpop) => {
            refuse("the access token is not bound to a key", Challenge::Bearer)
        }
        // RFC 9449 section 7.2: a bound token must not be accepted as bearer.
        (Some(Confirmation::Jkt(_)), Scheme::Bearer) => {
            refuse("the access token needs a DPoP proof", Challenge::Dpop)
        }
        (Some(Confirmation::Jkt(jkt)), Scheme::Dpop) => {
            let Some(proof) = request.dpop else {
                return Err(
                    OAuthError::new(ErrorCode::InvalidDpopProof, "there is no DPoP proof")
                        .with_challenge(Challenge::Dpop),
                );
            };
            let (possession, proof) = verify(context, proof, request.htm, request.htu)
                .map_err(|error| error.with_challenge(Challenge::Dpop))?;
            if !proof.covers(access_token) {
                return Err(OAuthError::new(
                    ErrorCode::InvalidDpopProof,
                    "the proof is for another access token",
                )
                .with_challenge(Challenge::Dpop));
            }
            match ct_eq(possession.jkt.as_bytes(), jkt.as_bytes()) {
                true => Ok(Some(possession.once)),
                false => refuse("the access token is bound to another key", Challenge::Dpop),
            }
        }
    }
}

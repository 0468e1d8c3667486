//! Sender constraint: a bound token is worth something only together with the proof of its key.

use crate::{
    Binding, Claims, Policy, Presented, Refusal, Scheme,
    replay::{Dated, ReplayGuard, Seen},
};
use signet_jose::dpop::{
    self, DpopError,
    nonce::{self, HmacNonceKey},
    presentation::{self, Freshness, Presentation, PresentationError},
};

/// Checks `cnf` against what came with the request (RFC 9449 section 7.1, RFC 8705 section 3).
pub(crate) fn prove(
    claims: &Claims,
    policy: &Policy,
    presented: &Presented<'_>,
    now: u64,
    replays: &ReplayGuard,
    nonce_key: &HmacNonceKey,
) -> Result<(), Refusal> {
    // Whatever else it says: a confirmation that cannot be checked is not taken as none (known
    // fault V11).
    if claims.has_unknown_confirmation() {
        return Err(Refusal::UnknownConfirmation);
    }
    let bound = presentation::Binding {
        jkt: claims.jkt(),
        x5t_s256: claims.x5t_s256(),
    };
    let as_demanded = match policy.binding {
        Binding::Optional => true,
        Binding::Dpop => bound.jkt.is_some(),
        Binding::Certificate => bound.x5t_s256.is_some(),
        Binding::Either => claims.is_bound(),
    };
    if !as_demanded {
        return Err(Refusal::Unbound);
    }
    if claims.is_bound() && presented.binding_elsewhere {
        return Ok(());
    }
    // RFC 9449 section 4.3 item 9 compares with the request's own URL. Where the host in it is what
    // the client wrote, a proof made for another server would do: so the operator says which
    // origins are his.
    if bound.jkt.is_some()
        && presented.scheme != Some(Scheme::Bearer)
        && let Some(proof) = presented.proof
        && !policy.origins.is_empty()
        && !dpop::origin(proof.url).is_some_and(|origin| policy.origins.contains(&origin))
    {
        return Err(Refusal::ProofOrigin);
    }
    let shown = Presentation {
        scheme: presented.scheme,
        access_token: presented.token,
        proof: presented.proof,
        certificate: presented.certificate,
    };
    let freshness = Freshness {
        now,
        max_age: policy.proof_max_age,
        leeway: policy.proof_leeway(),
    };
    // A nonce that is not demanded is not looked at: it may be another server's.
    let nonce_is_good = |nonce: Option<&str>| {
        !policy.proof_nonces || nonce.is_some_and(|nonce| nonce::holds(nonce_key, nonce, now))
    };
    let proof = presentation::check(bound, &shown, freshness, nonce_is_good).map_err(refusal)?;
    let Some(proof) = proof else {
        return Ok(());
    };
    // Last, so that only a proof that would be accepted is remembered.
    match replays.see(&proof.jkt, &proof.jti, Dated::Proof(proof.iat), now) {
        Seen::First => Ok(()),
        Seen::Before => Err(Refusal::ProofReplayed),
        Seen::ShareUsed => Err(Refusal::ReplayShareUsed),
        Seen::Full => Err(Refusal::ReplayGuardFull),
    }
}

fn refusal(error: PresentationError) -> Refusal {
    match error {
        PresentationError::NotBoundToKey | PresentationError::SentAsBearer => Refusal::Scheme,
        PresentationError::NoCertificate => Refusal::CertificateMissing,
        PresentationError::OtherCertificate => Refusal::Certificate,
        PresentationError::NoProof => Refusal::ProofMissing,
        PresentationError::Proof(DpopError::Time) => Refusal::ProofTime,
        PresentationError::OtherKey => Refusal::ProofKey,
        PresentationError::Nonce => Refusal::ProofNonce,
        // A proof that is none, or for something else: another method or URL, another token.
        _ => Refusal::Proof,
    }
}

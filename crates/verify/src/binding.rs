//! Sender constraint: a bound token is worth something only together with the proof of its key.

use crate::{
    Binding, Claims, Policy, Presented, Refusal, Scheme,
    nonce::ProofNonces,
    replay::{Dated, ReplayGuard, Seen},
};
use signet_jose::{
    base64url,
    dpop::{self, DpopError},
};

/// Checks `cnf` against what came with the request (RFC 9449 section 7.1, RFC 8705 section 3).
pub(crate) fn prove(
    claims: &Claims,
    policy: &Policy,
    presented: &Presented<'_>,
    now: u64,
    replays: &ReplayGuard,
    nonces: &ProofNonces,
) -> Result<(), Refusal> {
    if !claims.is_bound() {
        return match policy.binding {
            Binding::Optional if presented.scheme == Some(Scheme::Dpop) => Err(Refusal::Scheme),
            Binding::Optional => Ok(()),
            _ => Err(Refusal::Unbound),
        };
    }
    // Whatever else it says: a confirmation that cannot be checked is not taken as none (known fault V11).
    if claims.has_unknown_confirmation() {
        return Err(Refusal::UnknownConfirmation);
    }
    let (jkt, x5t) = (claims.jkt(), claims.x5t_s256());
    match policy.binding {
        Binding::Dpop if jkt.is_none() => return Err(Refusal::Unbound),
        Binding::Certificate if x5t.is_none() => return Err(Refusal::Unbound),
        _ => {}
    }
    if presented.binding_elsewhere {
        return Ok(());
    }
    if let Some(thumbprint) = x5t {
        let shown = presented.certificate.ok_or(Refusal::CertificateMissing)?;
        if base64url::decode_array::<32>(thumbprint.as_bytes()) != Ok(shown) {
            return Err(Refusal::Certificate);
        }
    }
    match jkt {
        Some(jkt) => prove_dpop(jkt, policy, presented, now, replays, nonces),
        None if presented.scheme == Some(Scheme::Dpop) => Err(Refusal::Scheme),
        None => Ok(()),
    }
}

fn prove_dpop(
    jkt: &str,
    policy: &Policy,
    presented: &Presented<'_>,
    now: u64,
    replays: &ReplayGuard,
    nonces: &ProofNonces,
) -> Result<(), Refusal> {
    // RFC 9449 section 7.1: a bound token under the Bearer scheme is refused, proof or not.
    if presented.scheme == Some(Scheme::Bearer) {
        return Err(Refusal::Scheme);
    }
    let proof = presented.proof.ok_or(Refusal::ProofMissing)?;
    // RFC 9449 section 4.3 item 9 compares with the request's own URL. Where the host in it is what the client wrote, a proof
    // made for another server would do: so the operator says which origins are his.
    if !policy.origins.is_empty() {
        let origin = dpop::origin(proof.url);
        if !origin.is_some_and(|origin| policy.origins.contains(&origin)) {
            return Err(Refusal::ProofOrigin);
        }
    }
    let leeway = policy.proof_leeway();
    let checked = dpop::verify(
        proof.jwt,
        proof.method,
        proof.url,
        now,
        policy.proof_max_age,
        leeway,
    )
    .map_err(|error| match error {
        DpopError::Time => Refusal::ProofTime,
        _ => Refusal::Proof,
    })?;
    if checked.jkt != jkt {
        return Err(Refusal::ProofKey);
    }
    // Section 4.3 item 12.
    if !checked.covers(presented.token) {
        return Err(Refusal::Proof);
    }
    // Item 10. A nonce that is not demanded is not looked at: it may be another server's.
    let carries = |nonce: &String| nonces.holds(nonce, now);
    if policy.proof_nonces && !checked.nonce.as_ref().is_some_and(carries) {
        return Err(Refusal::ProofNonce);
    }
    // Last, so that only a proof that would be accepted is remembered.
    match replays.see(&checked.jkt, &checked.jti, Dated::Proof(checked.iat), now) {
        Seen::First => Ok(()),
        Seen::Before => Err(Refusal::ProofReplayed),
        Seen::ShareUsed => Err(Refusal::ReplayShareUsed),
        Seen::Full => Err(Refusal::ReplayGuardFull),
    }
}

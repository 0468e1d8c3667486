//! The checks of claims, by when they can be made: before the signature (they can only refuse),
//! once after it, and at every use.

use crate::{Claims, Policy, Refusal, TokenKind};

/// How old a logout token without `exp` may be, in seconds, leeway aside. (`exp` came late to the
/// specification.)
pub(crate) const LOGOUT_MAX_AGE: u64 = 300;

/// Before the signature: a token that fails here could not be accepted whoever signed it, and saves
/// its signature check.
pub(crate) fn check_before_signature(
    claims: &Claims,
    policy: &Policy,
    issuer: &str,
    now: u64,
) -> Result<(), Refusal> {
    match claims.iss() {
        None => return Err(Refusal::MissingClaim),
        // RFC 8725 section 3.8: byte for byte.
        Some(iss) if iss != issuer => return Err(Refusal::Issuer),
        Some(_) => {}
    }
    if claims.exp().is_none() && policy.kind != TokenKind::LogoutToken {
        return Err(Refusal::MissingClaim);
    }
    let latest = now.saturating_add(policy.leeway);
    if claims.nbf().is_some_and(|nbf| nbf > latest) {
        return Err(Refusal::NotYetValid);
    }
    if claims.iat().is_some_and(|iat| iat > latest) {
        return Err(Refusal::IssuedInFuture);
    }
    still_fresh(claims, policy, now)?;
    audience(claims, policy)
}

fn audience(claims: &Claims, policy: &Policy) -> Result<(), Refusal> {
    // Kinds of tokens that must name an audience do so for whoever asks; plain access tokens need
    // none where none is asked for.
    if policy.any_audience && policy.kind == TokenKind::PlainAccessToken {
        return Ok(());
    }
    if claims.aud().len() == 0 {
        return Err(Refusal::MissingClaim);
    }
    match policy.any_audience
        || policy
            .audiences
            .iter()
            .any(|audience| claims.has_audience(audience))
    {
        true => Ok(()),
        false => Err(Refusal::Audience),
    }
}

/// Once, when the signature has held: what depends on the claims and the policy alone.
pub(crate) fn check_policy(claims: &Claims, policy: &Policy) -> Result<(), Refusal> {
    of_its_kind(claims, policy)?;
    demands(claims, policy)
}

/// As `check_policy`, of a compact token: its form leaves no doubt about what it is.
#[cfg(feature = "compact")]
pub(crate) fn check_policy_of_compact(claims: &Claims, policy: &Policy) -> Result<(), Refusal> {
    if !policy.any_audience {
        audience(claims, policy)?;
    }
    demands(claims, policy)
}

/// Of a token that its issuer called active: what the issuer said about it, instead of what a
/// signature would prove. Gives its end. `iss` is optional in an answer (RFC 7662 section 2.2), for
/// it is known who was asked.
#[cfg(feature = "fetch")]
pub(crate) fn check_policy_of_introspected(
    claims: &Claims,
    policy: &Policy,
    issuer: &str,
    now: u64,
) -> Result<u64, Refusal> {
    if claims.iss().is_some_and(|iss| iss != issuer) {
        return Err(Refusal::Issuer);
    }
    let exp = claims.exp().ok_or(Refusal::MissingClaim)?;
    let latest = now.saturating_add(policy.leeway);
    if claims.nbf().is_some_and(|nbf| nbf > latest) {
        return Err(Refusal::NotYetValid);
    }
    if claims.iat().is_some_and(|iat| iat > latest) {
        return Err(Refusal::IssuedInFuture);
    }
    still_fresh(claims, policy, now)?;
    if !policy.any_audience {
        audience(claims, policy)?;
    }
    demands(claims, policy)?;
    Ok(exp)
}

/// What is demanded of whom the token is about.
pub(crate) fn demands(claims: &Claims, policy: &Policy) -> Result<(), Refusal> {
    if !policy.authorized_parties.is_empty() {
        let party = claims
            .azp()
            .or(claims.client_id())
            .ok_or(Refusal::AuthorizedParty)?;
        if !policy
            .authorized_parties
            .iter()
            .any(|allowed| allowed == party)
        {
            return Err(Refusal::AuthorizedParty);
        }
    }
    if !policy.scopes.iter().all(|scope| claims.has_scope(scope)) {
        return Err(Refusal::Scope);
    }
    if !policy.acr.is_empty()
        && !claims
            .acr()
            .is_some_and(|acr| policy.acr.iter().any(|good| good == acr))
    {
        return Err(Refusal::AuthenticationContext);
    }
    match policy.rules.iter().all(|rule| rule(claims)) {
        true => Ok(()),
        false => Err(Refusal::Rule),
    }
}

fn of_its_kind(claims: &Claims, policy: &Policy) -> Result<(), Refusal> {
    let there = |value: Option<&str>| value.is_some_and(|value| !value.is_empty());
    let demand = |there: bool| match there {
        true => Ok(()),
        false => Err(Refusal::MissingClaim),
    };
    let forbid = |there: bool| match there {
        false => Ok(()),
        true => Err(Refusal::ForbiddenClaim),
    };
    match policy.kind {
        TokenKind::AccessToken => {
            // RFC 9068 section 2.2.
            demand(there(claims.sub()) && there(claims.client_id()) && there(claims.jti()))?;
            demand(claims.iat().is_some())?;
            forbid(claims.has_events())
        }
        TokenKind::PlainAccessToken => {
            // Nothing in the header tells an ID token from an access token here: the claims that
            // only an ID token has do, and what Keycloak says in the payload.
            forbid(
                claims.nonce().is_some() || claims.at_hash().is_some() || claims.c_hash().is_some(),
            )?;
            forbid(claims.has_events())?;
            match claims.payload_type() {
                Some("ID" | "Refresh" | "Offline" | "Logout") => Err(Refusal::Type),
                _ => Ok(()),
            }
        }
        TokenKind::IdToken => {
            // OpenID Connect Core section 2.
            demand(there(claims.sub()) && claims.iat().is_some())?;
            forbid(claims.has_events())?;
            if policy.any_audience {
                return Ok(());
            }
            // Section 3.1.3.7 items 4 and 5.
            let ours = |party: &str| policy.audiences.iter().any(|audience| audience == party);
            match claims.azp() {
                Some(azp) if !ours(azp) => Err(Refusal::AuthorizedParty),
                None if claims.aud().len() > 1 => Err(Refusal::AuthorizedParty),
                _ => Ok(()),
            }
        }
        TokenKind::LogoutToken => {
            // OpenID Connect Back-Channel Logout section 2.4.
            demand(claims.iat().is_some() && there(claims.jti()))?;
            demand(there(claims.sub()) || there(claims.sid()))?;
            if !claims.is_logout() {
                return Err(Refusal::LogoutEvent);
            }
            forbid(claims.nonce().is_some())
        }
    }
}

fn still_fresh(claims: &Claims, policy: &Policy, now: u64) -> Result<(), Refusal> {
    // RFC 7519 section 4.1.4: on or after `exp` it must not be accepted.
    if claims
        .exp()
        .is_some_and(|exp| now >= exp.saturating_add(policy.leeway))
    {
        return Err(Refusal::Expired);
    }
    let without_end = claims.exp().is_none().then_some(LOGOUT_MAX_AGE);
    if let Some(max_age) = policy.max_age.or(without_end) {
        let iat = claims.iat().ok_or(Refusal::MissingClaim)?;
        if now > iat.saturating_add(max_age).saturating_add(policy.leeway) {
            return Err(Refusal::TooOld);
        }
    }
    Ok(())
}

/// At every use, for time goes on.
pub(crate) fn check_freshness(claims: &Claims, policy: &Policy, now: u64) -> Result<(), Refusal> {
    still_fresh(claims, policy, now)?;
    if let Some(max_age) = policy.auth_max_age {
        // RFC 9470 section 4: a token that does not say when is not fresh enough.
        let auth_time = claims.auth_time().ok_or(Refusal::AuthenticationAge)?;
        if now
            > auth_time
                .saturating_add(max_age)
                .saturating_add(policy.leeway)
        {
            return Err(Refusal::AuthenticationAge);
        }
    }
    Ok(())
}

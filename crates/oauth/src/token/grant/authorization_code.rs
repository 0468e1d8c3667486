//! `authorization_code`: RFC 6749 section 4.1.3 with PKCE (RFC 7636), RFC 9449 section 10.
use super::{GrantRequest, invalid_grant, person::PersonGrant};
use crate::error::OAuthError;
use crate::issued::sealed::{AuthorizationCode, Confirmation};
use crate::token::decision::{Decision, GrantState, Refresh, RevocationQuery, SingleUse};
use signet_crypto::{ct_eq, hash::sha256};
use signet_encoding::base64url;

/// The once-row outlives the code by this many seconds: nodes' clocks differ.
const ROW_MARGIN: u64 = 60;

/// Everything is compared before the code counts as used, so that nobody but its owner can consume
/// it (known fault A12).
pub(super) fn decide(request: &GrantRequest<'_>) -> Result<Decision, OAuthError> {
    let wire = request.params.require("code")?;
    let code = AuthorizationCode::open(request.context.keyring, wire)
        .map_err(|_| invalid_grant("the code was not sealed here"))?;
    // RFC 6749 section 4.1.3: the code was issued to this client.
    if code.client_id != request.client.client_id {
        return Err(invalid_grant("the code was given to another client"));
    }
    if request.context.now() >= code.expires_at {
        return Err(invalid_grant("the code has expired"));
    }
    check_redirect_uri(&code, request.params.get("redirect_uri"))?;
    if code.code_challenge.is_none() && request.client.is_public() {
        // OAuth 2.1 section 4.1.1: the authorization endpoint gives no such code; a record that
        // became public since does not use one.
        return Err(invalid_grant("a public client's code without a challenge"));
    }
    check_verifier(&code, request.params.get("code_verifier"))?;
    if let Some(expected) = &code.dpop_jkt {
        // RFC 9449 section 10: the code is bound to the key that the authorization request named.
        if !matches!(&request.confirmation, Some(Confirmation::Jkt(jkt)) if ct_eq(jkt.as_bytes(), expected.as_bytes()))
        {
            return Err(invalid_grant("the code is bound to another DPoP key"));
        }
    }
    request.refuse_revoked(&RevocationQuery {
        jti: None,
        subject_jtis: &[],
        issued_at_ms: code.issued_at_ms,
        grant_id: Some(code.grant_id),
        sid: Some(&code.sid),
        user_id: Some(&code.user_id),
        client_id: Some(&code.client_id),
        agent_grants: &[],
        agents: &[],
    })?;
    let grant = PersonGrant {
        grant_id: code.grant_id,
        scope: &code.scope,
        resources: &code.resources,
        user_id: &code.user_id,
        sid: Some(&code.sid),
        session_ends_at: code.session_ends_at,
        auth_time: code.auth_time,
        acr: &code.acr,
        amr: &code.amr,
        claims: code.claims.as_deref(),
        nonce: code.nonce.as_deref(),
    };
    let refresh = grant.begin_family(request);
    let family_end = refresh.as_ref().map(|token| token.family_expires_at);
    let issue = grant.issue(
        request,
        &code.scope,
        refresh.map(|token| Refresh::New(Box::new(token))),
    )?;
    let single_use = SingleUse::Code {
        id: code.id,
        grant_id: code.grant_id,
        end: code.expires_at + ROW_MARGIN,
        family_end,
    };
    Ok(Decision {
        single_use: vec![single_use],
        grant: GrantState::Begins {
            grant_id: code.grant_id,
            family_end,
        },
        issue,
    })
}

/// RFC 6749 section 4.1.3: required and identical where the authorization request had it; never
/// another one.
fn check_redirect_uri(code: &AuthorizationCode, sent: Option<&str>) -> Result<(), OAuthError> {
    match sent {
        Some(uri) if uri == code.redirect_uri => Ok(()),
        Some(_) => Err(invalid_grant("redirect_uri is another one")),
        None if code.redirect_uri_was_sent => Err(invalid_grant("redirect_uri is missing")),
        None => Ok(()),
    }
}

fn check_verifier(code: &AuthorizationCode, sent: Option<&str>) -> Result<(), OAuthError> {
    match (&code.code_challenge, sent) {
        (None, None) => Ok(()),
        // RFC 9700 section 2.1.1: or an attacker takes PKCE away from the authorization request.
        (None, Some(_)) => Err(invalid_grant("a code_verifier without a code_challenge")),
        (Some(_), None) => Err(invalid_grant("code_verifier is missing")),
        (Some(challenge), Some(verifier)) => {
            // RFC 7636 section 4.1
            let well_formed = (43..=128).contains(&verifier.len())
                && verifier
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~'));
            let hash = base64url::encode(&sha256(verifier.as_bytes()));
            match well_formed && ct_eq(hash.as_bytes(), challenge.as_bytes()) {
                true => Ok(()),
                false => Err(invalid_grant("code_verifier does not fit")),
            }
        }
    }
}

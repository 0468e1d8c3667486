//! `refresh_token`: RFC 6749 section 6, RFC 9700 section 4.14.
//!
//! A family is a grant. Its row holds the current generation; a token says its own. Whether the two
//! agree is decided by the store in one atomic call, and a token of another generation ends the
//! family: no check here refuses a replay first (known fault A13).
use super::{
    GrantRequest, invalid_grant,
    person::{self, PersonGrant},
};
use crate::error::OAuthError;
use crate::issued::sealed::{Confirmation, RefreshToken};
use crate::token::decision::{Decision, GrantState, Refresh, Retry, RevocationQuery, SingleUse};
use signet_crypto::{ct_eq, hash::sha256};

pub(super) fn decide(request: &GrantRequest<'_>) -> Result<Decision, OAuthError> {
    let context = request.context;
    let wire = request.params.require("refresh_token")?;
    let token = RefreshToken::open(context.keyring, wire)
        .map_err(|_| invalid_grant("the refresh token was not sealed here"))?;
    if token.client_id != request.client.client_id {
        return Err(invalid_grant(
            "the refresh token was given to another client",
        ));
    }
    let now = context.now();
    if now >= token.expires_at || now >= token.family_expires_at {
        return Err(invalid_grant(
            "the refresh token has expired or was revoked",
        ));
    }
    if token
        .confirmation
        .as_ref()
        .is_some_and(|bound| !same(bound, request.confirmation.as_ref()))
    {
        return Err(invalid_grant("the refresh token is bound to another key"));
    }
    request.refuse_revoked(&RevocationQuery {
        jti: None,
        subject_jtis: &[],
        issued_at_ms: token.issued_at_ms,
        grant_id: Some(token.grant_id),
        sid: token.sid.as_deref(),
        user_id: Some(&token.user_id),
        client_id: Some(&token.client_id),
        agent_grants: &[],
        agents: &[],
    })?;
    // What the client's record no longer allows is not given again; what one refresh leaves out,
    // the next may ask for.
    let asked = request
        .scope_within(&token.scope)?
        .intersection(&request.client.scope);
    let keep = person::keeps(request);
    let (single_use, refresh) = if keep {
        let single_use = SingleUse::Current {
            grant_id: token.grant_id,
            generation: token.generation,
        };
        (single_use, Refresh::Keep)
    } else {
        let single_use = SingleUse::Rotate {
            grant_id: token.grant_id,
            from: token.generation,
            end: token.family_expires_at,
            retry: retry(request, &token),
        };
        let next = RefreshToken {
            generation: token.generation + 1,
            issued_at_ms: context.issue_ms,
            expires_at: person::idle_end(request, token.family_expires_at),
            ..token.clone()
        };
        (single_use, Refresh::New(Box::new(next)))
    };
    let grant = PersonGrant {
        grant_id: token.grant_id,
        scope: &token.scope,
        resources: &token.resources,
        user_id: &token.user_id,
        sid: token.sid.as_deref(),
        // A family that began earlier keeps the end that it began with.
        session_ends_at: token.family_expires_at,
        auth_time: token.auth_time,
        acr: &token.acr,
        amr: &token.amr,
        claims: token.claims.as_deref(),
        // OpenID Connect Core section 12.2: no nonce.
        nonce: None,
    };
    let issue = grant.issue(request, &asked, Some(refresh))?;
    Ok(Decision {
        single_use: vec![single_use],
        grant: GrantState::Continues,
        issue,
    })
}

/// Who may repeat this rotation: only whom a thief of the token alone cannot pass for.
///
/// A public client has nothing but the key that the *token* is bound to: a proof that merely came
/// along with this request is one that a thief can bring, too (RFC 9700 section 4.14.2). A
/// confidential client's tokens are not bound; it repeats a rotation with the credential and the
/// key of that rotation, which the family's row remembers.
fn retry(request: &GrantRequest<'_>, token: &RefreshToken) -> Option<Retry> {
    let binding = match request.client.is_public() {
        true => token.confirmation.as_ref(),
        false => request.confirmation.as_ref(),
    };
    let (kind, proven) = match binding? {
        Confirmation::Jkt(thumbprint) => (&b"jkt"[..], thumbprint),
        Confirmation::X5tS256(thumbprint) => (&b"x5t#S256"[..], thumbprint),
    };
    let credential = request.credentials.digest(request.certificate);
    // Of fixed length but for the last: no two of them have one encoding.
    let by = sha256(&[&credential[..], &sha256(kind), proven.as_bytes()].concat());
    Some(Retry {
        by,
        window: request.context.settings.refresh_retry_window,
    })
}

fn same(bound: &Confirmation, proven: Option<&Confirmation>) -> bool {
    match (bound, proven) {
        (Confirmation::Jkt(a), Some(Confirmation::Jkt(b)))
        | (Confirmation::X5tS256(a), Some(Confirmation::X5tS256(b))) => {
            ct_eq(a.as_bytes(), b.as_bytes())
        }
        _ => false,
    }
}

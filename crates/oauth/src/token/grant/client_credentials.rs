//! `client_credentials`: RFC 6749 section 4.4. The hottest path: one snapshot, no store, no refresh
//! token (section 4.4.3).
use super::GrantRequest;
use crate::error::{ErrorCode, OAuthError};
use crate::scope::{PRIVILEGED, ScopeSet};
use crate::token::decision::{AccessToken, Decision, GrantState, Issue};
use crate::token::target;

/// Scopes that speak of a person: nobody is there.
const OF_A_PERSON: [&str; 6] = [
    "openid",
    "profile",
    "email",
    "address",
    "phone",
    "offline_access",
];

pub(super) fn decide(request: &GrantRequest<'_>) -> Result<Decision, OAuthError> {
    let client = request.client;
    if client.is_public() {
        // RFC 6749 section 4.4: confidential clients only, whatever a record says.
        return Err(OAuthError::new(
            ErrorCode::UnauthorizedClient,
            "a public client may not use this grant",
        ));
    }
    let target = target::for_client(request.context, client, &request.params.all("resource"))?;
    let scope = match request.params.get("scope") {
        Some(text) => {
            let asked = ScopeSet::parse(text)?;
            let allowed = |name: &str| client.scope.contains(name) && !OF_A_PERSON.contains(&name);
            if !asked.iter().all(allowed) {
                return Err(OAuthError::new(
                    ErrorCode::InvalidScope,
                    "the client may not ask for this scope",
                ));
            }
            let scope = target.narrow(&asked);
            if scope.is_empty() && !asked.is_empty() {
                return Err(OAuthError::new(
                    ErrorCode::InvalidScope,
                    "the scope means nothing at the resource",
                ));
            }
            scope
        }
        // RFC 6749 section 3.3: the default is what is registered, without what only an explicit
        // request gives.
        None => target.narrow(
            &client
                .scope
                .filter(|name| !OF_A_PERSON.contains(&name) && !PRIVILEGED.contains(&name)),
        ),
    };
    Ok(Decision {
        single_use: Vec::new(),
        grant: GrantState::None,
        issue: Issue {
            access_token: AccessToken {
                client_id: client.client_id.clone(),
                sub: client.client_id.clone(),
                audience: target.audience,
                scope,
                lifetime: target.lifetime,
                format: target.format,
                algorithm: target.algorithm,
                grant_id: None,
                sid: None,
                auth_time: None,
                acr: None,
                amr: Vec::new(),
                confirmation: request.confirmation.clone(),
                act: None,
                subject_jtis: Vec::new(),
                claims: None,
                chain: None,
            },
            id_token: None,
            refresh: None,
            issued_token_type: None,
        },
    })
}

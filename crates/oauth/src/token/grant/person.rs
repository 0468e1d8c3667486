//! What the grants of a person share: a code, a device code and a refresh token all end in the same
//! tokens.
use super::GrantRequest;
use crate::client::{Client, GrantType};
use crate::error::OAuthError;
use crate::id::GrantId;
use crate::issued::claims::ClaimsRequest;
use crate::issued::sealed::RefreshToken;
use crate::scope::{self, ScopeSet};
use crate::token::decision::{AccessToken, IdToken, Issue, Refresh};
use crate::token::target;

/// What a person granted, and how they were authenticated.
pub(super) struct PersonGrant<'a> {
    pub(super) grant_id: GrantId,
    /// the whole grant
    pub(super) scope: &'a ScopeSet,
    pub(super) resources: &'a [String],
    pub(super) user_id: &'a str,
    pub(super) sid: Option<&'a str>,
    /// when that session ends at the latest
    pub(super) session_ends_at: u64,
    pub(super) auth_time: u64,
    pub(super) acr: &'a str,
    pub(super) amr: &'a [String],
    pub(super) claims: Option<&'a str>,
    pub(super) nonce: Option<&'a str>,
}

impl PersonGrant<'_> {
    /// Access token and, with `openid`, ID token, for the asked part of the grant.
    pub(super) fn issue(
        &self,
        request: &GrantRequest<'_>,
        asked: &ScopeSet,
        refresh: Option<Refresh>,
    ) -> Result<Issue, OAuthError> {
        let (context, client) = (request.context, request.client);
        let target = target::for_grant(
            context,
            client,
            &request.params.all("resource"),
            self.resources,
        )?;
        let id_token = asked.contains(scope::OPENID).then(|| IdToken {
            algorithm: client
                .id_token_signed_response_alg
                .unwrap_or(context.settings.id_token_alg),
            lifetime: context.settings.id_token_lifetime,
            nonce: self.nonce.map(str::to_owned),
            claims: self.claims.map(str::to_owned),
            sid: self
                .sid
                .filter(|_| self.wants_sid(client))
                .map(str::to_owned),
        });
        let scope = target.narrow(asked);
        Ok(Issue {
            access_token: AccessToken {
                client_id: client.client_id.clone(),
                sub: self.user_id.to_owned(),
                audience: target.audience,
                scope,
                lifetime: target.lifetime,
                format: target.format,
                algorithm: target.algorithm,
                grant_id: Some(self.grant_id),
                sid: self.sid.map(str::to_owned),
                auth_time: Some(self.auth_time),
                acr: Some(self.acr.to_owned()),
                amr: self.amr.to_vec(),
                confirmation: request.confirmation.clone(),
                act: None,
                subject_jtis: Vec::new(),
                claims: self.userinfo_claims(),
                chain: None,
            },
            id_token,
            refresh,
            issued_token_type: None,
        })
    }

    /// Whether the ID token names the session: for a client that takes part in logouts
    /// (Front-Channel Logout section 3, Back-Channel Logout section 2.1, RP-Initiated Logout
    /// section 2), or asks for it.
    fn wants_sid(&self, client: &Client) -> bool {
        let asks = || {
            let asked = ClaimsRequest::parse(self.claims?).ok()?;
            Some(asked.id_token.iter().any(|claim| claim.name == "sid"))
        };
        client.takes_part_in_logouts() || asks() == Some(true)
    }

    /// What the access token must carry for userinfo: the `userinfo` half of the `claims`
    /// parameter, if there is one.
    fn userinfo_claims(&self) -> Option<String> {
        let asked = ClaimsRequest::parse(self.claims?).ok()?;
        let half = ClaimsRequest {
            userinfo: asked.userinfo,
            id_token: Vec::new(),
        };
        (!half.is_empty()).then(|| half.to_json())
    }

    /// The first refresh token of a new family, where the client may refresh. With `offline_access`
    /// it outlives the session (OpenID Connect Core section 11); without, it ends with it.
    pub(super) fn begin_family(&self, request: &GrantRequest<'_>) -> Option<RefreshToken> {
        let (context, client) = (request.context, request.client);
        if !client.may_use(GrantType::RefreshToken) {
            return None;
        }
        let now = context.now();
        let lifetime = client
            .refresh_token_lifetime
            .unwrap_or(context.settings.refresh_token_lifetime);
        let offline = self.scope.contains(scope::OFFLINE_ACCESS);
        let family_expires_at = match offline {
            true => now + lifetime,
            false => (now + lifetime).min(self.session_ends_at),
        };
        Some(RefreshToken {
            grant_id: self.grant_id,
            generation: 0,
            client_id: client.client_id.clone(),
            scope: self.scope.clone(),
            resources: self.resources.to_vec(),
            user_id: self.user_id.to_owned(),
            sid: self.sid.filter(|_| !offline).map(str::to_owned),
            auth_time: self.auth_time,
            acr: self.acr.to_owned(),
            amr: self.amr.to_vec(),
            claims: self.claims.map(str::to_owned),
            // RFC 9449 section 5, RFC 8705 section 4: a public client has nothing else that
            // constrains it. A confidential one is authenticated at every refresh, and may change
            // its key.
            confirmation: request.confirmation.clone().filter(|_| client.is_public()),
            issued_at_ms: context.issue_ms,
            expires_at: idle_end(request, family_expires_at),
            family_expires_at,
        })
    }
}

/// When a refresh token that is not used ends. One that never rotates lives as long as its family.
pub(super) fn idle_end(request: &GrantRequest<'_>, family_expires_at: u64) -> u64 {
    if keeps(request) {
        return family_expires_at;
    }
    family_expires_at.min(request.context.now() + request.context.settings.refresh_idle_lifetime)
}

/// Whether this client's refresh tokens go on without rotation: its record says so, it is
/// confidential, and it proves possession of a key or certificate (FAPI 2.0 section 5.3.2.1).
/// Everybody else rotates (RFC 9700 section 4.14.2).
pub(super) fn keeps(request: &GrantRequest<'_>) -> bool {
    request.client.refresh_rotation == crate::client::RefreshRotation::Keep
        && !request.client.is_public()
        && request.confirmation.is_some()
}

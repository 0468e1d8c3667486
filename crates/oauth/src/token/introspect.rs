//! Introspection: RFC 7662, and signed answers (RFC 9701).
//!
//! The caller is authenticated, the token's signature is checked, and then who may see it; only
//! after that anything is said. Everything that is not a living token which the caller may see is
//! one and the same `{"active":false}` (known fault A11).
use crate::client::Client;
use crate::error::{ErrorCode, OAuthError};
use crate::id::GrantId;
use crate::issued::access_token::{TokenLookup, TokenState, VerifiedAccessToken};
use crate::issued::format::{
    AccessTokenFormat, token_type, write_agent_grants, write_confirmation,
};
use crate::issued::sealed::RefreshToken;
use crate::params::Params;
use crate::people::mapped_claims::Mapped;
use crate::request::{Context, unavailable};
use crate::token::decision::RevocationQuery;
use signet_encoding::json::Writer;
use std::sync::Arc;

/// The answer for everything that may not be said.
pub const INACTIVE: &[u8] = br#"{"active":false}"#;

/// What is known of the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Introspection {
    /// nothing that this caller may hear
    Inactive,
    /// a living access token
    AccessToken(Arc<VerifiedAccessToken>),
    /// a refresh token that looks good; whether it lives is known when the store says that its
    /// family is at its generation: [`Introspection::with_family`]
    RefreshToken(Box<RefreshToken>),
}

/// Decides what an authenticated caller hears of the token.
///
/// # Errors
/// `invalid_request` without `token`; `invalid_client` for a public client (RFC 7662 section 2.1
/// wants the caller authorized); `temporarily_unavailable` where revocation cannot be known.
pub fn decide(
    context: &Context<'_>,
    caller: &Client,
    params: &Params,
) -> Result<Introspection, OAuthError> {
    decide_with(context, caller, params, context)
}

/// As [`decide`], with a look-up of the caller's own: one that keeps what
/// [`crate::issued::access_token::verify`] gave, say.
///
/// # Errors
/// As [`decide`].
pub fn decide_with(
    context: &Context<'_>,
    caller: &Client,
    params: &Params,
    lookup: &dyn TokenLookup,
) -> Result<Introspection, OAuthError> {
    if caller.is_public() {
        return Err(
            OAuthError::new(ErrorCode::InvalidClient, "client authentication failed")
                .with_hint("a public client may not introspect"),
        );
    }
    let token = params.require("token")?;
    // `token_type_hint` is not needed: each format of access tokens has a form of its own, and a
    // sealed value none of them.
    if AccessTokenFormat::of(token).is_some() {
        return match lookup.look_up(token) {
            TokenState::Valid(facts) if may_see(context, caller, &facts) => {
                Ok(Introspection::AccessToken(facts))
            }
            TokenState::Unknown => Err(unavailable()),
            TokenState::Valid(_)
            | TokenState::Expired(_)
            | TokenState::Revoked(_)
            | TokenState::Forged => Ok(Introspection::Inactive),
        };
    }
    let Ok(token) = RefreshToken::open(context.keyring, token) else {
        return Ok(Introspection::Inactive);
    };
    let now = context.now();
    // No resource server ever sees a refresh token: its client, and who may act for that client, as
    // long as that exists.
    let visible = (token.client_id == caller.client_id
        || caller.may_act_for.contains(&token.client_id))
        && context.registry.client(&token.client_id, now).is_some();
    if !visible || now >= token.expires_at || now >= token.family_expires_at {
        return Ok(Introspection::Inactive);
    }
    match context.revocations.is_revoked(&refresh_identity(&token)) {
        Ok(false) => Ok(Introspection::RefreshToken(Box::new(token))),
        Ok(true) => Ok(Introspection::Inactive),
        Err(_) => Err(unavailable()),
    }
}

/// What the revocation index is asked about a refresh token.
pub(crate) fn refresh_identity(token: &RefreshToken) -> RevocationQuery<'_> {
    RevocationQuery {
        jti: None,
        subject_jtis: &[],
        issued_at_ms: token.issued_at_ms,
        grant_id: Some(token.grant_id),
        sid: token.sid.as_deref(),
        user_id: Some(&token.user_id),
        client_id: Some(&token.client_id),
        agent_grants: &[],
        agents: &[],
    }
}

/// A client sees its own tokens, those of clients that its record lets it act for, those that are
/// meant for it, and those for a resource server whose record names it.
fn may_see(context: &Context<'_>, caller: &Client, facts: &VerifiedAccessToken) -> bool {
    let own = facts.client_id == caller.client_id || caller.may_act_for.contains(&facts.client_id);
    own || facts.audience.iter().any(|audience| {
        *audience == caller.client_id
            || context
                .registry
                .resource(audience)
                .is_some_and(|resource| resource.introspectors.contains(&caller.client_id))
    })
}

impl Introspection {
    /// Settles a refresh token: `generation` is that of its family's row, None where the family is
    /// gone. Others stay as they are.
    #[must_use]
    pub fn with_family(self, generation: Option<u64>) -> Self {
        match self {
            Introspection::RefreshToken(token) if generation != Some(token.generation) => {
                Introspection::Inactive
            }
            other @ (Introspection::Inactive
            | Introspection::AccessToken(_)
            | Introspection::RefreshToken(_)) => other,
        }
    }

    /// The grant whose row must be read before [`Introspection::with_family`].
    pub fn family(&self) -> Option<&GrantId> {
        match self {
            Introspection::RefreshToken(token) => Some(&token.grant_id),
            Introspection::Inactive | Introspection::AccessToken(_) => None,
        }
    }

    /// Appends the JSON answer (RFC 7662 section 2.2). `mapped`: what tables of claims say of the
    /// person of an access token now.
    pub fn write(&self, issuer: &str, mapped: &Mapped, out: &mut Vec<u8>) {
        self.write_value(issuer, mapped, &mut Writer::new(out));
    }

    /// Appends the claims of a signed answer (RFC 9701 section 5), of type
    /// `token-introspection+jwt`, for `caller`.
    pub fn write_signed(
        &self,
        issuer: &str,
        caller: &str,
        now: u64,
        mapped: &Mapped,
        out: &mut Vec<u8>,
    ) {
        Writer::new(out).object(|w| {
            w.member("iss").string(issuer);
            w.member("aud").string(caller);
            w.member("iat").number(now);
            self.write_value(issuer, mapped, w.member("token_introspection"));
        });
    }

    fn write_value(&self, issuer: &str, mapped: &Mapped, w: &mut Writer<'_>) {
        match self {
            Introspection::Inactive => w.raw(INACTIVE),
            Introspection::AccessToken(facts) => w.object(|w| {
                write_access_token(facts, w);
                mapped.write(w);
            }),
            Introspection::RefreshToken(token) => w.object(|w| {
                w.member("active").bool(true);
                w.member("iss").string(issuer);
                w.member("sub").string(&token.user_id);
                w.member("client_id").string(&token.client_id);
                w.member("scope").string(&token.scope.to_string());
                w.member("iat").number(token.issued_at_ms / 1000);
                w.member("exp")
                    .number(token.expires_at.min(token.family_expires_at));
                write_confirmation(token.confirmation.as_ref(), w);
            }),
        }
    }
}

fn write_access_token(facts: &VerifiedAccessToken, w: &mut Writer<'_>) {
    w.member("active").bool(true);
    w.member("iss").string(&facts.issuer);
    w.member("sub").string(&facts.sub);
    match &facts.audience[..] {
        [one] => w.member("aud").string(one),
        several => w.member("aud").strings(several),
    }
    w.member("exp").number(facts.exp);
    w.member("iat").number(facts.iat);
    w.member("jti").string(&facts.jti);
    w.member("client_id").string(&facts.client_id);
    if !facts.scope.is_empty() {
        w.member("scope").string(&facts.scope.to_string());
    }
    w.member("token_type")
        .string(token_type(facts.confirmation.as_ref()));
    if let Some(auth_time) = facts.auth_time {
        w.member("auth_time").number(auth_time);
    }
    if let Some(acr) = &facts.acr {
        w.member("acr").string(acr);
    }
    if !facts.amr.is_empty() {
        w.member("amr").strings(&facts.amr);
    }
    write_confirmation(facts.confirmation.as_ref(), w);
    if let Some(act) = &facts.act {
        w.member("act").raw(act.as_bytes());
    }
    if let Some(details) = &facts.authorization_details {
        w.member("authorization_details").raw(details.as_bytes());
    }
    write_agent_grants(&facts.agent_grants, w);
}

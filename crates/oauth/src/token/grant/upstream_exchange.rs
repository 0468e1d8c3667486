//! Token exchange (RFC 8693) for an access token of an identity provider: who may have one, and
//! whose. The token itself is the provider's to give; the caller asks it.
//!
//! `requested_token_type` says that it is meant: the token is not one of this issuer, so it is not
//! `urn:ietf:params:oauth:token-type:access_token` (RFC 8693 section 3). The provider is named by
//! `audience`, as "the logical name of the target service" (section 2.1): its name in the registry.
//! `resource` would be the URL of an API, and one provider has many.
use super::{
    Gives, GrantRequest,
    token_exchange::{check_context, presented, refused},
    token_type::token_type,
};
use crate::error::{ErrorCode, OAuthError};
use crate::issued::token_facts::VerifiedAccessToken;
use crate::params::Params;
use crate::people::provider::Provider;
use crate::scope::ScopeSet;
use crate::token::decision::SingleUse;
use std::sync::Arc;

/// What is asked for and issued: an access token of an identity provider.
pub const UPSTREAM_TOKEN_TYPE: &str = "urn:signet:token-type:upstream-access-token";

/// What a token exchange is asked for.
pub(super) fn gives(params: &Params) -> Gives {
    match params.get("requested_token_type") == Some(UPSTREAM_TOKEN_TYPE) {
        true => Gives::ProviderToken,
        false => Gives::Tokens,
    }
}

/// An exchange that may be: what the caller still has to find is the person's token.
#[derive(Clone, Debug)]
pub struct UpstreamExchange {
    /// Conditions to commit before the provider is asked, in their order.
    pub single_use: Vec<SingleUse>,
    /// The client that asks.
    pub client_id: String,
    /// The provider.
    pub provider: Arc<Provider>,
    /// The person's token; its `sub` is the account's id.
    pub subject: Arc<VerifiedAccessToken>,
    /// What is asked of the provider (RFC 6749 section 6); none: all that the person gave.
    pub scope: Option<String>,
}

/// Decides. `once` is left to the caller.
pub(crate) fn decide(request: &GrantRequest<'_>) -> Result<UpstreamExchange, OAuthError> {
    let (context, client, params) = (request.context, request.client, request.params);
    for other in ["actor_token", "actor_token_type", "resource"] {
        if !params.all(other).is_empty() {
            return Err(OAuthError::invalid_request(
                "an exchange for a provider's token has no actor and no resource",
            ));
        }
    }
    let subject_token = params.require("subject_token")?;
    let kind = token_type(params.require("subject_token_type")?)?;
    let audience = params.all("audience");
    let [name] = audience.as_slice() else {
        return Err(OAuthError::invalid_request(
            "audience must name one identity provider",
        ));
    };
    let scope = params.get("scope").map(ScopeSet::parse).transpose()?;
    // Which providers there are, what they keep and for whom is one answer.
    let provider = context.registry.providers.usable(name);
    let provider = provider.filter(|provider| {
        provider.keep_refresh_token && provider.exchange_clients.contains(&client.client_id)
    });
    let provider = provider.ok_or_else(|| {
        OAuthError::new(
            ErrorCode::InvalidTarget,
            "there is no such provider, or not for this client",
        )
    })?;
    let subject = presented(request, subject_token, kind, "subject")?;
    check_context(request, &subject, None)?;
    if subject.confirmation.is_some() && request.confirmation.is_none() {
        return Err(refused("a bound token, and no proof of possession"));
    }
    if subject.user_id().is_none() {
        return Err(refused("a client's own token, and no person's"));
    }
    // Who acts for somebody holds a part of their powers; what the provider gives is all of them.
    if subject.act.is_some() {
        return Err(refused("the token of somebody who acts for the person"));
    }
    Ok(UpstreamExchange {
        single_use: Vec::new(),
        client_id: client.client_id.clone(),
        provider: Arc::clone(provider),
        subject,
        scope: scope.map(|scope| scope.to_string()),
    })
}

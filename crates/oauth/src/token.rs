//! The token endpoint's rules, in two steps with the caller's reading between them.
//!
//! ```text
//! begin(..)          authenticates the client and finds its grant's row
//! Begun::needs(..) what that grant must know of the store: the caller reads it, and nothing for
//! whoever is not a client decide_begun(..) proof of possession, then the grant
//! ```
//!
//! The caller then commits the decision's `once` conditions in their order, signs, and answers. A
//! grant with state of its own says in its row what it needs, and finds it in [`LookedUp`].

pub mod client_auth;
pub mod decision;
pub mod device_authorization;
pub mod dpop_policy;
pub mod grant;
pub mod introspect;
pub mod revoke;
pub mod target;
use crate::client::{Client, GrantType};
use crate::error::{ErrorCode, OAuthError};
use crate::issued::access_token::TokenLookup;
use crate::issued::agent_grants::{self, PresentedChain};
use crate::request::{Context, Request};
use crate::token::client_auth::{Authenticated, ClientKeys, Credentials};
use crate::token::decision::{Decision, Refused, StoredRow};
use crate::token::grant::{Gives, Grant, GrantRequest, Needs, UpstreamExchange, decide_upstream};

/// What the caller looked up beforehand.
#[derive(Clone, Copy, Default)]
pub struct LookedUp<'a> {
    /// the client's keys, where [`Credentials::needs_keys`] asks for them
    pub keys: Option<&'a ClientKeys>,
    /// the row that [`Needs::row`] names, where it is there
    pub row: Option<StoredRow<'a>>,
    /// the chain that the request presents, where [`Needs::chain`] asks for it
    pub chain: Option<&'a PresentedChain>,
}

/// A token request of an authenticated client that may use its grant.
pub struct Begun {
    authenticated: Authenticated,
    grant: &'static Grant,
}

impl Begun {
    /// The client.
    pub fn client(&self) -> &Client {
        &self.authenticated.client
    }

    /// The grant.
    pub fn grant_type(&self) -> GrantType {
        self.grant.grant_type
    }

    /// What the request asks for.
    pub fn gives(&self, request: &Request<'_>) -> Gives {
        (self.grant.gives)(request.params)
    }

    /// What must be read before [`decide_begun`].
    pub fn needs(&self, context: &Context<'_>, request: &Request<'_>) -> Needs {
        (self.grant.needs)(context, request.params, &self.authenticated.client)
    }
}

/// Authenticates the client and finds the grant. `keys`: where [`Credentials::needs_keys`] asks for
/// them.
///
/// # Errors
/// `invalid_client`, `unsupported_grant_type`, `unauthorized_client`,
/// `invalid_authorization_details`.
pub fn begin(
    context: &Context<'_>,
    request: &Request<'_>,
    credentials: &Credentials<'_>,
    keys: Option<&ClientKeys>,
) -> Result<Begun, OAuthError> {
    let authenticated = client_auth::authenticate(context, request, credentials, keys)?;
    let name = request.params.require("grant_type")?;
    let grant = grant::named(name).ok_or_else(|| {
        OAuthError::new(
            ErrorCode::UnsupportedGrantType,
            "the grant type is not supported",
        )
    })?;
    if !authenticated.client.may_use(grant.grant_type) {
        return Err(OAuthError::new(
            ErrorCode::UnauthorizedClient,
            "the client may not use this grant",
        ));
    }
    if !agent_grants::is_presented(request.params) {
        agent_grants::refuse_details(request.params)?;
    }
    Ok(Begun {
        authenticated,
        grant,
    })
}

/// Decides a token request that [`begin`] let in. `lookup`: what subject and actor tokens are
/// worth; the context itself, or a memory before it that keeps what
/// [`crate::issued::access_token::verify`] gave.
///
/// # Errors
/// What the client receives; nothing was spent.
pub fn decide_begun(
    begun: Begun,
    context: &Context<'_>,
    request: &Request<'_>,
    credentials: &Credentials<'_>,
    looked_up: LookedUp<'_>,
    lookup: &dyn TokenLookup,
) -> Result<Decision, Refused> {
    let client: &Client = &begun.authenticated.client;
    let possession = dpop_policy::check(context, request.dpop, request.htm, request.htu)?;
    let confirmation = dpop_policy::bind(client, possession.as_ref(), request.certificate)?;
    let grant_request = GrantRequest {
        context,
        client,
        params: request.params,
        credentials,
        certificate: request.certificate,
        confirmation,
        lookup,
        row: looked_up.row,
        chain: looked_up.chain,
    };
    let mut decision = (begun.grant.decide)(&grant_request)?;
    // What its format cannot say is refused before anything is spent.
    let token = &decision.issue.access_token;
    let format = token.format.implementation();
    format.admits(token, &context.settings.issuer)?;
    // What an unauthenticated caller could send first, the grant's own condition last (known fault
    // A12).
    let first = begun
        .authenticated
        .single_use
        .into_iter()
        .chain(possession.map(|possession| possession.single_use));
    decision.single_use.splice(0..0, first);
    Ok(decision)
}

/// Decides an exchange for a provider's token ([`Gives::ProviderToken`]), of a request
/// that [`begin`] let in; in the place of [`decide_begun`]. `lookup` as there.
///
/// # Errors
/// What the client receives; nothing was spent.
pub fn decide_upstream_begun(
    begun: Begun,
    context: &Context<'_>,
    request: &Request<'_>,
    credentials: &Credentials<'_>,
    lookup: &dyn TokenLookup,
) -> Result<UpstreamExchange, OAuthError> {
    let client: &Client = &begun.authenticated.client;
    let possession = dpop_policy::check(context, request.dpop, request.htm, request.htu)?;
    let confirmation = dpop_policy::bind(client, possession.as_ref(), request.certificate)?;
    let mut exchange = decide_upstream(&GrantRequest {
        context,
        client,
        params: request.params,
        credentials,
        certificate: request.certificate,
        confirmation,
        lookup,
        row: None,
        chain: None,
    })?;
    let possession = possession.map(|possession| possession.single_use);
    exchange.single_use = begun
        .authenticated
        .single_use
        .into_iter()
        .chain(possession)
        .collect();
    Ok(exchange)
}

/// Both steps at once, for a caller that has everything: [`begin`], then [`decide_begun`].
///
/// # Errors
/// As both.
pub fn decide(
    context: &Context<'_>,
    request: &Request<'_>,
    credentials: &Credentials<'_>,
    looked_up: LookedUp<'_>,
) -> Result<Decision, OAuthError> {
    let begun = begin(context, request, credentials, looked_up.keys)?;
    decide_begun(begun, context, request, credentials, looked_up, context)
        .map_err(|refused| refused.error)
}

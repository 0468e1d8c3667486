//! The token endpoint's one entry: authenticate, prove possession, choose the grant from the table, decide.
//!
//! The caller reads what a decision needs beforehand ([`Credentials::needs_keys`], [`device_code_id`]), commits the decision's `once` conditions in
//! their order, signs, and answers.
use crate::{
    access_token::TokenLookup,
    agent_grants::{self, PresentedChain},
    client::{Client, GrantType},
    client_auth::{self, ClientKeys, Credentials},
    decision::Decision,
    device_authorization::{DeviceRecord, open_device_code},
    dpop_policy,
    error::{ErrorCode, OAuthError},
    grant::{GRANTS, GrantRequest},
    request::{Context, Request},
};

/// What the caller looked up beforehand.
#[derive(Clone, Copy, Default)]
pub struct LookedUp<'a> {
    /// the client's keys, where [`Credentials::needs_keys`] asks for them
    pub keys: Option<&'a ClientKeys>,
    /// the row that [`device_code_id`] names
    pub device: Option<&'a DeviceRecord>,
    /// the chain that the request presents, where [`agent_grants::is_presented`](crate::agent_grants::is_presented) says that it does
    pub chain: Option<&'a PresentedChain>,
}

/// The store's row that this request needs read, if it is a device's poll with a code of this client that has not ended.
pub fn device_code_id(
    context: &Context<'_>,
    request: &Request<'_>,
    credentials: &Credentials<'_>,
) -> Option<[u8; 16]> {
    if request.params.get("grant_type") != Some(GrantType::DeviceCode.as_str()) {
        return None;
    }
    let code = request.params.get("device_code")?;
    open_device_code(context.keyring, code, &credentials.client_id, context.now())
        .ok()
        .map(|code| code.id)
}

/// Decides a token request. Authenticates the client first.
///
/// # Errors
/// What the client is told; nothing was spent.
pub fn decide(
    context: &Context<'_>,
    request: &Request<'_>,
    credentials: &Credentials<'_>,
    looked_up: LookedUp<'_>,
) -> Result<Decision, OAuthError> {
    decide_with(context, request, credentials, looked_up, context)
}

/// As [`decide`], with a look-up of the caller's own for subject and actor tokens: one that keeps what
/// [`crate::access_token::verify`] gave, say.
///
/// # Errors
/// As [`decide`].
pub fn decide_with(
    context: &Context<'_>,
    request: &Request<'_>,
    credentials: &Credentials<'_>,
    looked_up: LookedUp<'_>,
    lookup: &dyn TokenLookup,
) -> Result<Decision, OAuthError> {
    let authenticated = client_auth::authenticate(context, request, credentials, looked_up.keys)?;
    let client: &Client = &authenticated.client;
    let name = request.params.require("grant_type")?;
    let row = GRANTS
        .iter()
        .find(|row| row.grant_type.as_str() == name)
        .ok_or_else(|| {
            OAuthError::new(
                ErrorCode::UnsupportedGrantType,
                "the grant type is not supported",
            )
        })?;
    if !client.may_use(row.grant_type) {
        return Err(OAuthError::new(
            ErrorCode::UnauthorizedClient,
            "the client may not use this grant",
        ));
    }
    if !agent_grants::is_presented(request.params) {
        agent_grants::refuse_details(request.params)?;
    }
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
        device: looked_up.device,
        chain: looked_up.chain,
    };
    let mut decision = (row.decide)(&grant_request)?;
    // What its format cannot say is refused before anything is spent.
    let token = &decision.issue.access_token;
    let format = token.format.implementation();
    format.admits(token, &context.settings.issuer)?;
    // A stranger's values first, the grant's own condition last (known fault A12).
    let first = authenticated
        .once
        .into_iter()
        .chain(possession.map(|possession| possession.once));
    decision.once.splice(0..0, first);
    Ok(decision)
}

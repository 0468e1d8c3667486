//! OpenID Connect RP-Initiated Logout 1.0, without its pages.
//!
//! A link anywhere may lead to `/logout`, so nobody is logged out by it alone: only an ID token of the very session
//! ends it without a question. A redirect afterwards goes to a registered URI, exactly, or nowhere.
use crate::{
    authorize::{IdTokenHint, response::with_query, verify_id_token_hint},
    client::Client,
    error::OAuthError,
    params::Params,
    registry::Registry,
    session::Session,
    settings::Settings,
};
use signet_crypto::VerifyingKey;
use std::sync::Arc;

/// What a logout request comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logout {
    /// Ask "do you want to log out?" first. The answer comes back in a form of ours, never as a parameter here.
    pub ask: bool,
    /// where to go afterwards, with `state`; None: the signed-out page
    pub then: Option<String>,
    /// who asked, where that is known
    pub client_id: Option<String>,
    /// what the page's language may be
    pub ui_locales: Option<String>,
}

/// Checks a logout request. `session`: the browser's; `key`: this server's verification keys by `kid`; `now`: Unix seconds.
///
/// # Errors
/// `invalid_request`, always a page: a redirect URI that is not registered, or a hint of another client than `client_id`.
pub fn logout(
    params: &Params,
    registry: &Registry,
    settings: &Settings,
    key: &dyn Fn(&str) -> Option<Arc<VerifyingKey>>,
    session: Option<&Session>,
    now: u64,
) -> Result<Logout, OAuthError> {
    let hint = params
        .get("id_token_hint")
        .and_then(|token| verify_id_token_hint(token, &settings.issuer, key));
    let client = client(params, registry, hint.as_ref(), now)?;
    let then = match (params.get("post_logout_redirect_uri"), &client) {
        (Some(uri), Some(client)) => {
            if !client
                .post_logout_redirect_uris
                .iter()
                .any(|r| r.matches(uri))
            {
                return Err(OAuthError::invalid_request(
                    "post_logout_redirect_uri is not registered for this client",
                ));
            }
            Some(match params.get("state") {
                Some(state) if state.len() > 2048 => {
                    return Err(OAuthError::invalid_request("a parameter is too long"));
                }
                Some(state) => with_query(uri, &[("state", state)]),
                None => uri.to_owned(),
            })
        }
        // Section 3: without a known client, no redirect.
        (Some(_) | None, _) => None,
    };
    let of_this_session = match (&hint, session) {
        (Some(hint), Some(session)) => {
            hint.sub == session.user_id && hint.sid.as_ref().is_none_or(|sid| *sid == session.sid)
        }
        (Some(_), None) => true,
        (None, _) => false,
    };
    Ok(Logout {
        ask: session.is_some() && !of_this_session,
        then,
        client_id: client.map(|c| c.client_id.clone()),
        ui_locales: params.get("ui_locales").map(str::to_owned),
    })
}

/// The client that asks: of `client_id`, which must be in the hint's audience, or of the hint alone.
fn client<'r>(
    params: &Params,
    registry: &'r Registry,
    hint: Option<&IdTokenHint>,
    now: u64,
) -> Result<Option<&'r Arc<Client>>, OAuthError> {
    let known = |id: &str| registry.client(id, now);
    match (params.get("client_id"), hint) {
        (Some(id), Some(hint)) if !hint.audience.iter().any(|a| a == id) => Err(
            OAuthError::invalid_request("client_id and id_token_hint do not belong together"),
        ),
        // A hint was sent that is none: it may not lend its client's redirect any credit.
        (Some(_), None) if params.contains("id_token_hint") => Ok(None),
        (Some(id), _) => known(id)
            .map(Some)
            .ok_or_else(|| OAuthError::invalid_request("the client_id is unknown")),
        (None, Some(hint)) => Ok(hint.audience.first().and_then(|id| known(id))),
        (None, None) => Ok(None),
    }
}

//! Pushed authorization requests (RFC 9126).
//!
//! The `request_uri` is the request itself, sealed: no row is written at the pushing. Its id's
//! once-row is written when the person's answer is given, so that a page may be reloaded before,
//! and a used one is refused after.
pub use crate::authorize::{URN, is_request_uri};
use crate::id::PushedId;

use crate::{
    authorize::{Incoming, MAX_REQUEST_URI_BYTES, Pushed, validate_pushed},
    client::Client,
    error::{ErrorCode, OAuthError},
    request::Context,
};
use signet_crypto::seal::Purpose;
use signet_encoding::{base64url, json::Writer};
use std::sync::Arc;

/// The answer of the pushed authorization request endpoint, 201.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushedResponse {
    /// to be used once, by this client
    pub request_uri: String,
    /// seconds
    pub expires_in: u64,
}

impl PushedResponse {
    /// The JSON body (section 2.2).
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.request_uri.len() + 64);
        Writer::new(&mut out).object(|w| {
            w.member("request_uri").string(&self.request_uri);
            w.member("expires_in").number(self.expires_in);
        });
        out
    }
}

/// Checks and seals a pushed request. `client` has been authenticated; `proof_jkt` is of a DPoP
/// proof that came along and held (RFC 9449 section 10.1); `id` is random.
///
/// # Errors
/// What `/authorize` would say, as a direct answer.
pub fn push(
    incoming: Incoming,
    client: &Arc<Client>,
    proof_jkt: Option<&str>,
    id: PushedId,
    context: &Context<'_>,
) -> Result<PushedResponse, OAuthError> {
    let named = incoming.named().client_id;
    if named.is_some_and(|client_id| client_id != client.client_id) {
        return Err(OAuthError::invalid_request(
            "client_id is not the authenticated client's",
        ));
    }
    let resolved = incoming.resolved(Some(client.clone()));
    let mut request = validate_pushed(&resolved, proof_jkt, context)?;
    let expires_in = context.settings.par_lifetime;
    request.pushed = Some(Pushed {
        id,
        expires_at: context.now() + expires_in,
    });
    let sealed = context
        .keyring
        .seal(Purpose::PushedRequest, &request.to_bytes())
        .map_err(|_| OAuthError::new(ErrorCode::ServerError, "the request could not be kept"))?;
    let request_uri = format!("{URN}{}", base64url::encode(&sealed));
    if request_uri.len() > MAX_REQUEST_URI_BYTES {
        return Err(OAuthError::invalid_request("the request is too large"));
    }
    Ok(PushedResponse {
        request_uri,
        expires_in,
    })
}

//! Pushed authorization requests (RFC 9126).
//!
//! The `request_uri` is the request itself, sealed: no row is written at the pushing. Its id's once-row is written
//! when the person's answer is given, so that a page may be reloaded before, and a used one is refused after.
use crate::{
    authorize::{AuthorizationRequest, Context, Pushed, validate_pushed},
    client::Client,
    error::{ErrorCode, OAuthError},
    params::Params,
};
use signet_crypto::seal::{Keyring, Purpose};
use signet_jose::{base64url, json::Writer};
use std::sync::Arc;

/// What RFC 9126 section 2.2 puts in front.
pub const URN: &str = "urn:ietf:params:oauth:request_uri:";
/// The longest `request_uri`, in bytes.
const MAX_REQUEST_URI_BYTES: usize = 16 * 1024;

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

/// Checks and seals a pushed request. `client` has been authenticated; `proof_jkt` is of a DPoP proof that came
/// along and held (RFC 9449 section 10.1); `id` is random.
///
/// # Errors
/// What `/authorize` would say, as a direct answer.
pub fn push(
    params: &Params,
    client: &Arc<Client>,
    proof_jkt: Option<&str>,
    id: [u8; 16],
    context: &Context<'_>,
) -> Result<PushedResponse, OAuthError> {
    if params
        .get("client_id")
        .is_some_and(|c| c != client.client_id)
    {
        return Err(OAuthError::invalid_request(
            "client_id is not the authenticated client's",
        ));
    }
    let mut request = validate_pushed(params, client, proof_jkt, context)?;
    let expires_in = context.settings.par_lifetime;
    request.pushed = Some(Pushed {
        id,
        expires_at: context.now + expires_in,
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

/// Has it the form of one of ours?
pub fn is_request_uri(request_uri: &str) -> bool {
    request_uri.starts_with(URN)
}

/// Opens a `request_uri` that this server gave. Says nothing of its end, its client or its use.
pub(crate) fn open(keyring: &Keyring, request_uri: &str) -> Option<AuthorizationRequest> {
    let sealed = request_uri
        .strip_prefix(URN)
        .filter(|s| s.len() <= MAX_REQUEST_URI_BYTES)?;
    let sealed = base64url::decode(sealed.as_bytes()).ok()?;
    let bytes = keyring.open(Purpose::PushedRequest, &sealed).ok()?;
    AuthorizationRequest::from_bytes(&bytes).ok()
}

//! The `request_uri` of a pushed request (RFC 9126), as `/authorize` reads it.
//! [`crate::authorize::par`] makes it.
use super::AuthorizationRequest;
use signet_crypto::seal::{Keyring, Purpose};
use signet_encoding::base64url;

/// What RFC 9126 section 2.2 puts in front.
pub const URN: &str = "urn:ietf:params:oauth:request_uri:";
/// The longest `request_uri`, in bytes.
pub(crate) const MAX_REQUEST_URI_BYTES: usize = 16 * 1024;

/// Has it the form of one of ours?
pub fn is_request_uri(request_uri: &str) -> bool {
    request_uri.starts_with(URN)
}

/// Opens a `request_uri` that this server gave. Says nothing of its end, its client or its use.
pub(super) fn open(keyring: &Keyring, request_uri: &str) -> Option<AuthorizationRequest> {
    let sealed = request_uri
        .strip_prefix(URN)
        .filter(|s| s.len() <= MAX_REQUEST_URI_BYTES)?;
    let sealed = base64url::decode(sealed.as_bytes()).ok()?;
    let bytes = keyring.open(Purpose::PushedRequest, &sealed).ok()?;
    AuthorizationRequest::from_bytes(&bytes).ok()
}

//! The ID token of a login at a provider, kept sealed with the session for the logout there.
use signet_crypto::Secret;
use signet_crypto::seal::{Keyring, Purpose};
use signet_encoding::base64url;

const ID_TOKEN: Purpose = Purpose::Other("provider-id-token");
/// The longest ID token that is kept, in bytes: it goes on in a URL.
const MAX_ID_TOKEN: usize = 4096;

/// An ID token as it rests in a session of a provider of this issuer. None: it is too long, and the
/// provider asks the person instead.
pub(super) fn seal_id_token(keyring: &Keyring, issuer: &str, token: &str) -> Option<String> {
    if token.len() > MAX_ID_TOKEN {
        return None;
    }
    let sealed = keyring.seal_with(ID_TOKEN, issuer.as_bytes(), token.as_bytes());
    Some(base64url::encode(&sealed.ok()?))
}

/// The ID token of a session, where its key is still there.
pub fn open_id_token(keyring: &Keyring, issuer: &str, sealed: &str) -> Option<Secret<String>> {
    let sealed = base64url::decode(sealed.as_bytes()).ok()?;
    let open = keyring.open_with(ID_TOKEN, issuer.as_bytes(), &sealed);
    String::from_utf8(open.ok()?).ok().map(Secret::new)
}

//! The refresh token of a login at a provider, sealed for as long as the login is under way.
use signet_crypto::Secret;
use signet_crypto::seal::{Keyring, Purpose};
use signet_encoding::base64url;
use signet_oauth::people::provider::Provider;

const REFRESH_TOKEN: Purpose = Purpose::Other("provider-refresh-token-arriving");

fn bound_to(issuer: &str, subject: &str) -> Vec<u8> {
    [issuer.as_bytes(), b"\0", subject.as_bytes()].concat()
}

/// A refresh token of this person, where the provider's record says that it is kept.
pub(super) fn seal_refresh_token(
    keyring: &Keyring,
    provider: &Provider,
    subject: &str,
    token: Option<&Secret<String>>,
) -> Option<String> {
    let token = token.filter(|_| provider.keep_refresh_token)?;
    let bound = bound_to(&provider.issuer, subject);
    let sealed = keyring.seal_with(REFRESH_TOKEN, &bound, token.expose().as_bytes());
    Some(base64url::encode(&sealed.ok()?))
}

/// The refresh token of somebody who has arrived.
pub(crate) fn open_refresh_token(
    keyring: &Keyring,
    issuer: &str,
    subject: &str,
    sealed: &str,
) -> Option<Secret<String>> {
    let sealed = base64url::decode(sealed.as_bytes()).ok()?;
    let open = keyring.open_with(REFRESH_TOKEN, &bound_to(issuer, subject), &sealed);
    String::from_utf8(open.ok()?).ok().map(Secret::new)
}

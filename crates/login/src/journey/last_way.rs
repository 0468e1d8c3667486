//! Whether a person could log in any more without one of their credentials.

use signet_directory::{CredentialKind, CredentialName, User};

use super::METHODS;
use signet_request::browser_request::BrowserRequest;

/// Whether this credential is the last with which a login of the account can begin, whatever its
/// kind. To be asked of the record that the write replaces: of two that are taken away at once, one
/// stays.
pub(crate) fn is_last_way(browser: &BrowserRequest, user: &User, name: &CredentialName) -> bool {
    let begins_logins = match name.kind {
        CredentialKind::Password | CredentialKind::Passkey | CredentialKind::Provider => true,
        CredentialKind::Totp
        | CredentialKind::RecoveryCodes
        | CredentialKind::RememberedBrowser => false,
    };
    if !begins_logins || !user.credentials().contains(name) {
        return false;
    }
    let rest = user.without(name);
    let local = browser.context.snapshot.settings.local_login
        && METHODS.iter().any(|method| {
            method.is_first() && (method.offered)(browser) && (method.usable)(browser, &rest)
        });
    !local && !rest.has(CredentialKind::Provider)
}

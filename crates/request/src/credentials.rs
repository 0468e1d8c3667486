//! What taking a credential away takes with it, whoever does it: the person or an administrator.

use signet_directory::{CredentialKind, CredentialName, UserDraft};

use crate::security_mail::SecurityEvent;

/// Takes a credential away. Browsers that were remembered are asked again. With the last app the
/// recovery codes go, too, unless a passkey is left that they may stand in for.
pub fn take_away(draft: &mut UserDraft, name: &CredentialName) {
    draft.remove_credential(name);
    match name.kind {
        CredentialKind::Totp | CredentialKind::Passkey => {
            draft.remove_credentials(CredentialKind::RememberedBrowser);
            let user = &draft.user;
            if !user.has(CredentialKind::Totp) && !user.has(CredentialKind::Passkey) {
                draft.remove_credential(&CredentialName::RECOVERY_CODES);
            }
        }
        // Groups that came from a provider go with the link to it.
        CredentialKind::Provider => {
            draft.user.groups_outside.clear();
            draft.user.groups_outside_until = None;
        }
        CredentialKind::Password
        | CredentialKind::RecoveryCodes
        | CredentialKind::RememberedBrowser => {}
    }
}

/// The notice of it that the person receives; none of a browser that is forgotten.
pub fn removal_of(kind: CredentialKind) -> Option<SecurityEvent> {
    match kind {
        CredentialKind::Totp => Some(SecurityEvent::AppRemoved),
        CredentialKind::Passkey => Some(SecurityEvent::PasskeyRemoved),
        CredentialKind::RecoveryCodes => Some(SecurityEvent::RecoveryCodesRemoved),
        CredentialKind::Password => Some(SecurityEvent::PasswordRemoved),
        CredentialKind::Provider => Some(SecurityEvent::ProviderUnlinked),
        CredentialKind::RememberedBrowser => None,
    }
}

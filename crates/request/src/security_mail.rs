//! Mails that tell a person what happened to their account: one for each event.
//!
//! They tell and ask nothing: no link logs anybody in or changes anything. Whether one could be
//! sent stands in the audit trail; what happened has happened either way.

use http::header::USER_AGENT;
use signet_audit::{Action, Event};
use signet_directory::session::{self, browser_name};
use signet_directory::{User, UserError};
use signet_texts::Wishes;

use crate::browser_request::BrowserRequest;
use signet_pages::{Face, SecurityFacts};
use signet_realm::letters::{self, Sending};
use signet_realm::state::Realm;

/// For how long a mail about a change is sent again, seconds: whoever learns of a change later can
/// do no more about it.
const KEPT_SENDING: u64 = 3 * 86_400;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecurityEvent {
    /// A code app was added.
    AppAdded,
    /// A code app was removed.
    AppRemoved,
    /// A passkey was added.
    PasskeyAdded,
    /// A passkey was removed.
    PasskeyRemoved,
    /// A passkey was shown whose counter did not go on: there may be a copy of it.
    PasskeyCopied,
    /// A new list of recovery codes was made.
    RecoveryCodesMade,
    /// The recovery codes were removed.
    RecoveryCodesRemoved,
    /// A login used a recovery code.
    RecoveryCodeUsed,
    /// The password was changed by its person.
    PasswordChanged,
    /// The password was taken away.
    PasswordRemoved,
    /// An identity provider was linked to the account.
    ProviderLinked,
    /// A link to an identity provider was removed.
    ProviderUnlinked,
    /// The account has another e-mail address, or none. The one before is notified.
    AddressChanged,
    /// An agent identity was bound to the account.
    AgentBound,
    /// An agent identity was taken off the account.
    AgentUnbound,
    /// A new password was set by the link of a mail.
    Recovered,
    /// A login came from a browser that the account was not used in before.
    NewDevice,
}

impl SecurityEvent {
    /// Every event.
    pub const ALL: [SecurityEvent; 17] = [
        SecurityEvent::AppAdded,
        SecurityEvent::AppRemoved,
        SecurityEvent::PasskeyAdded,
        SecurityEvent::PasskeyRemoved,
        SecurityEvent::PasskeyCopied,
        SecurityEvent::RecoveryCodesMade,
        SecurityEvent::RecoveryCodesRemoved,
        SecurityEvent::RecoveryCodeUsed,
        SecurityEvent::PasswordChanged,
        SecurityEvent::PasswordRemoved,
        SecurityEvent::ProviderLinked,
        SecurityEvent::ProviderUnlinked,
        SecurityEvent::AddressChanged,
        SecurityEvent::AgentBound,
        SecurityEvent::AgentUnbound,
        SecurityEvent::Recovered,
        SecurityEvent::NewDevice,
    ];

    /// Names it in the audit trail and in the templates.
    pub const fn name(self) -> &'static str {
        match self {
            SecurityEvent::AppAdded => "totp_added",
            SecurityEvent::AppRemoved => "totp_removed",
            SecurityEvent::PasskeyAdded => "passkey_added",
            SecurityEvent::PasskeyRemoved => "passkey_removed",
            SecurityEvent::PasskeyCopied => "passkey_copied",
            SecurityEvent::RecoveryCodesMade => "recovery_codes_made",
            SecurityEvent::RecoveryCodesRemoved => "recovery_codes_removed",
            SecurityEvent::RecoveryCodeUsed => "recovery_code_used",
            SecurityEvent::PasswordChanged => "password_changed",
            SecurityEvent::PasswordRemoved => "password_removed",
            SecurityEvent::ProviderLinked => "provider_linked",
            SecurityEvent::ProviderUnlinked => "provider_unlinked",
            SecurityEvent::AddressChanged => "address_changed",
            SecurityEvent::AgentBound => "agent_bound",
            SecurityEvent::AgentUnbound => "agent_unbound",
            SecurityEvent::Recovered => "recovered",
            SecurityEvent::NewDevice => "new_device",
        }
    }

    /// Subject and first sentence: ids of texts.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            SecurityEvent::AppAdded => {
                ("factors-mail-totp-added-subject", "factors-mail-totp-added")
            }
            SecurityEvent::AppRemoved => (
                "factors-mail-totp-removed-subject",
                "factors-mail-totp-removed",
            ),
            SecurityEvent::PasskeyAdded => (
                "factors-mail-passkey-added-subject",
                "factors-mail-passkey-added",
            ),
            SecurityEvent::PasskeyRemoved => (
                "factors-mail-passkey-removed-subject",
                "factors-mail-passkey-removed",
            ),
            SecurityEvent::PasskeyCopied => ("passkey-mail-copied-subject", "passkey-mail-copied"),
            SecurityEvent::RecoveryCodesMade => {
                ("factors-mail-codes-made-subject", "factors-mail-codes-made")
            }
            SecurityEvent::RecoveryCodesRemoved => (
                "factors-mail-codes-removed-subject",
                "factors-mail-codes-removed",
            ),
            SecurityEvent::RecoveryCodeUsed => {
                ("factors-mail-code-used-subject", "factors-mail-code-used")
            }
            SecurityEvent::PasswordChanged => (
                "factors-mail-password-changed-subject",
                "factors-mail-password-changed",
            ),
            SecurityEvent::PasswordRemoved => (
                "factors-mail-password-removed-subject",
                "factors-mail-password-removed",
            ),
            SecurityEvent::ProviderLinked => (
                "factors-mail-provider-linked-subject",
                "factors-mail-provider-linked",
            ),
            SecurityEvent::ProviderUnlinked => (
                "factors-mail-provider-unlinked-subject",
                "factors-mail-provider-unlinked",
            ),
            SecurityEvent::AddressChanged => (
                "factors-mail-address-changed-subject",
                "factors-mail-address-changed",
            ),
            SecurityEvent::AgentBound => (
                "factors-mail-agent-bound-subject",
                "factors-mail-agent-bound",
            ),
            SecurityEvent::AgentUnbound => (
                "factors-mail-agent-unbound-subject",
                "factors-mail-agent-unbound",
            ),
            SecurityEvent::Recovered => {
                ("factors-mail-recovered-subject", "factors-mail-recovered")
            }
            SecurityEvent::NewDevice => ("mail-new-device-subject", "mail-new-device"),
        }
    }
}

/// Tells the person, in the language of the visit in which they did it.
pub async fn send(browser: &BrowserRequest, user: &User, event: SecurityEvent) {
    let context = &browser.context;
    let device = browser_name(context.header(USER_AGENT).unwrap_or(""));
    let address = context.peer.to_string();
    let from = Some((&*device, &*address));
    let t = browser.face();
    tell(&context.realm, user, event, &t, from, context.now_ms).await;
}

/// Tells the person of a login from a browser that is not known for the account; of their first
/// ever, or of one while no other session is there, they know themselves.
pub async fn tell_of_new_device(browser: &BrowserRequest, user: &User) {
    let (store, now) = (&*browser.context.realm.store, browser.context.now());
    match session::list(store, &user.id, now).await {
        Ok(sessions) if sessions.len() > 1 => send(browser, user, SecurityEvent::NewDevice).await,
        Ok(_) => {}
        Err(error) => tracing::error!(%error, "failed to notify a person of a new browser"),
    }
}

/// Tells the person of what somebody else did, in their own language.
pub async fn send_to(realm: &Realm, user: &User, event: SecurityEvent) {
    let wishes = Wishes {
        menu: None,
        request: None,
        person: user.profile.locale.as_deref(),
        accept: None,
    };
    let t = Face::of(wishes.choose(), realm.people.brands.own().clone(), "");
    tell(realm, user, event, &t, None, realm.now_ms()).await;
}

/// Gives an account another e-mail address, or none, and tells the person at the one before: what
/// the new one receives is no longer theirs to see, where it was not they who asked.
///
/// # Errors
/// As [`signet_directory::Accounts::set_email`].
pub async fn set_email(
    realm: &Realm,
    user_id: &str,
    email: Option<&str>,
    verified: bool,
) -> Result<User, UserError> {
    let (users, now) = (&realm.people.users, realm.now());
    let before = users.by_id(user_id, now).await?;
    let after = users.set_email(user_id, email, verified, now).await?;
    if let Some(before) = before.filter(|before| before.email != after.email) {
        send_to(realm, &before, SecurityEvent::AddressChanged).await;
    }
    Ok(after)
}

/// Where they have an address and the server can send mail.
async fn tell(
    realm: &Realm,
    user: &User,
    event: SecurityEvent,
    t: &Face,
    from: Option<(&str, &str)>,
    now_ms: u64,
) {
    let Some(email) = user.email.as_deref() else {
        return;
    };
    let (subject, what) = event.words();
    let letter = signet_pages::security(
        t,
        &SecurityFacts {
            subject,
            what,
            username: &user.username,
            server: &realm.snapshot().settings.issuer,
            at: now_ms / 1000,
            from,
        },
    );
    let record = Event::new(Action::MAIL, now_ms);
    let sending = Sending {
        user_id: Some(&user.id),
        to: email,
        what: event.name(),
        expires_at: now_ms / 1000 + KEPT_SENDING,
    };
    letters::hand_over(realm, record, &sending, &letter).await;
}

#[cfg(test)]
mod tests {
    use super::SecurityEvent;

    #[test]
    fn events_have_names_and_words_of_their_own() {
        for (index, event) in SecurityEvent::ALL.iter().enumerate() {
            for other in &SecurityEvent::ALL[index + 1..] {
                assert_ne!(event.name(), other.name());
                assert_ne!(event.words(), other.words());
            }
        }
    }
}

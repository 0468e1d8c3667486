//! Where a person is on the way through the pages: sealed into every form, bound to the browser, remembered nowhere.
//!
//! The server keeps no row for somebody who has not logged in. What has been done so far travels in a hidden field that
//! only the server can write, and that opens only together with the cookie of the browser it was given to. So the field is
//! also what protects the forms against being sent from elsewhere (CSRF): a page of an attacker has neither.

use serde::{Deserialize, Serialize};
use signet_crypto::seal::{Keyring, Purpose};
use signet_jose::base64url;
use signet_oauth::authorize::{AuthorizationRequest, Progress};

use crate::session::SessionRow;

/// Longest sealed interaction that is opened, in characters.
pub const MAX_SEALED: usize = 16 * 1024;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interaction {
    /// What it leads to.
    pub goal: Goal,
    /// The page that the form is on: what its buttons mean.
    pub page: Page,
    /// The login in this interaction.
    pub login: Option<Proof>,
    /// The session whose user chose to go on.
    pub selected: Option<Proof>,
    /// The session that a question was shown to: the answer counts for nobody else.
    pub shown_to: Option<String>,
    /// The login adds to what the session's user has shown already.
    pub step_up: bool,
    /// A code that is under way.
    pub code: Option<PendingCode>,
    /// What a proof that is pasted into the page has to answer.
    #[serde(default)]
    pub challenge: Option<String>,
    /// Unix seconds.
    pub ends_at: u64,
}

/// What the pages lead to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Goal {
    /// An answer to a client: the checked request, encoded.
    Authorize(Vec<u8>),
    /// A device: its user code, as stored.
    Device(Option<String>),
    /// The account page.
    Account,
    /// The end of the session, and then perhaps a registered redirect.
    Logout {
        /// Checked.
        then: Option<String>,
    },
    /// A new password.
    Recover,
}

/// Which page a form is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Page {
    /// None yet.
    Start,
    /// User name and password.
    Login,
    /// The mailed code.
    Code,
    /// Go on as somebody.
    Select,
    /// Allow or deny.
    Consent,
    /// The user code of a device.
    DeviceEnter,
    /// Allow or deny a device.
    DeviceConfirm,
    /// Log out?
    Logout,
    /// The forms of the account page.
    Account,
    /// The form that asks for a recovery link.
    Recover,
}

/// Something that was done by the user of a session, at a time: another session, or a later login of the same one in
/// another tab, is not it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    sid: String,
    auth_time: u64,
}

impl Proof {
    /// By this session.
    pub fn by(row: &SessionRow) -> Proof {
        Proof {
            sid: row.sid.clone(),
            auth_time: row.auth_time,
        }
    }

    fn holds(&self, row: &SessionRow) -> bool {
        self.sid == row.sid && self.auth_time == row.auth_time
    }
}

/// A code that was asked for. The typed name is shown again; nothing says whether it exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingCode {
    /// Names the row.
    pub id: [u8; 16],
    /// What was typed, to send again.
    pub typed: String,
}

impl Interaction {
    /// The beginning of one. `lifetime` in seconds.
    pub fn new(goal: Goal, lifetime: u64, now: u64) -> Interaction {
        Interaction {
            goal,
            page: Page::Start,
            login: None,
            selected: None,
            shown_to: None,
            step_up: false,
            code: None,
            challenge: None,
            ends_at: now.saturating_add(lifetime),
        }
    }

    /// For the answer to a client.
    pub fn authorize(request: &AuthorizationRequest, lifetime: u64, now: u64) -> Interaction {
        Interaction::new(Goal::Authorize(request.to_bytes()), lifetime, now)
    }

    /// What the rules may count as done, for the session that is there now.
    pub fn progress(&self, row: Option<&SessionRow>, consented_now: bool) -> Progress {
        let done = |proof: &Option<Proof>| match (proof, row) {
            (Some(proof), Some(row)) => proof.holds(row),
            _ => false,
        };
        Progress {
            logged_in_now: done(&self.login),
            consented_now,
            account_selected: done(&self.selected),
        }
    }

    /// Was the page shown to this session?
    pub fn was_shown_to(&self, row: &SessionRow) -> bool {
        self.shown_to.as_deref() == Some(&*row.sid)
    }

    /// Seals it for one browser. Empty if that fails: the form then leads to the "start again" page.
    pub fn seal(&self, keyring: &Keyring, browser: &[u8; 16]) -> String {
        // Invariant: strings, bytes and numbers always serialize.
        let plain = serde_json::to_vec(self).expect("an interaction serializes");
        keyring
            .seal_with(Purpose::Interaction, browser, &plain)
            .map(|sealed| base64url::encode(&sealed))
            .unwrap_or_default()
    }

    /// Opens what was sealed for this browser and has not ended.
    pub fn open(
        text: &str,
        keyring: &Keyring,
        browser: &[u8; 16],
        now: u64,
    ) -> Option<Interaction> {
        if text.len() > MAX_SEALED {
            return None;
        }
        let sealed = base64url::decode(text.as_bytes()).ok()?;
        let plain = keyring
            .open_with(Purpose::Interaction, browser, &sealed)
            .ok()?;
        let interaction: Interaction = serde_json::from_slice(&plain).ok()?;
        (now < interaction.ends_at).then_some(interaction)
    }
}

/// A checked request on its way from a POST to the GET that goes on with it. It says no more than the request did, so it
/// is bound to no browser: the browser's cookies did not come with a cross-site POST.
pub fn seal_resume(
    request: &AuthorizationRequest,
    keyring: &Keyring,
    ends_at: u64,
) -> Option<String> {
    let mut plain = ends_at.to_be_bytes().to_vec();
    plain.extend_from_slice(&request.to_bytes());
    let sealed = keyring.seal_with(Purpose::Interaction, b"resume", &plain);
    Some(base64url::encode(&sealed.ok()?))
}

/// Opens what [`seal_resume`] made.
pub fn open_resume(text: &str, keyring: &Keyring, now: u64) -> Option<AuthorizationRequest> {
    if text.len() > MAX_SEALED {
        return None;
    }
    let sealed = base64url::decode(text.as_bytes()).ok()?;
    let plain = keyring
        .open_with(Purpose::Interaction, b"resume", &sealed)
        .ok()?;
    let (ends_at, request) = plain.split_at_checked(8)?;
    let ends_at = u64::from_be_bytes(ends_at.try_into().ok()?);
    if now >= ends_at {
        return None;
    }
    AuthorizationRequest::from_bytes(request).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_crypto::seal::SealingKey;

    fn keyring() -> Keyring {
        Keyring::new(SealingKey::generate(), Vec::new())
    }

    #[test]
    fn an_interaction_opens_in_its_browser_until_its_end_and_nowhere_else() {
        let keyring = keyring();
        let interaction = Interaction::new(Goal::Account, 600, 1000);
        let sealed = interaction.seal(&keyring, &[1; 16]);
        let open = |browser: [u8; 16], now| Interaction::open(&sealed, &keyring, &browser, now);
        assert_eq!(open([1; 16], 1599), Some(interaction));
        assert_eq!(open([2; 16], 1000), None);
        assert_eq!(open([1; 16], 1600), None);
    }

    #[test]
    fn hostile_fields_open_nothing() {
        let keyring = keyring();
        for text in ["", "x", "AAAA", "\u{0}", "é", &"A".repeat(MAX_SEALED + 1)] {
            assert_eq!(Interaction::open(text, &keyring, &[1; 16], 0), None);
            assert!(open_resume(text, &keyring, 0).is_none());
        }
    }

    #[test]
    fn a_login_in_another_tab_is_not_progress() {
        let row = SessionRow {
            sid: "s".into(),
            user_id: "u".into(),
            auth_time: 10,
            acr: String::new(),
            amr: Vec::new(),
            created_at: 10,
            login_ms: 10_000,
            last_seen: 10,
            ends_at: 100,
            user_agent: String::new(),
            address: String::new(),
        };
        let mut interaction = Interaction::new(Goal::Account, 600, 10);
        interaction.login = Some(Proof::by(&row));
        assert!(interaction.progress(Some(&row), false).logged_in_now);
        let other = SessionRow {
            sid: "t".into(),
            ..row.clone()
        };
        assert!(!interaction.progress(Some(&other), false).logged_in_now);
        assert!(!interaction.progress(None, false).logged_in_now);
    }
}

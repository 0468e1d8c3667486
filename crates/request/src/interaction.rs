//! Where a person is on the way through the pages: sealed into every form, bound to the browser,
//! remembered nowhere.
//!
//! The server keeps no row for somebody who has not logged in. What has been done so far travels in
//! a hidden field that only the server can write, and that opens only together with the cookie of
//! the browser it was given to. So the field is also what protects the forms against being sent
//! from elsewhere (CSRF): a page of an attacker has neither.

use serde::{Deserialize, Serialize};
use signet_crypto::seal::{Keyring, Purpose};
use signet_directory::User;
use signet_encoding::base64url;
use signet_oauth::authorize::{AuthorizationRequest, Progress};
use signet_oauth::registry::Registry;
use std::collections::BTreeMap;

use crate::access::Sought;
use signet_directory::session::{SessionRow, Shown};

/// Longest sealed interaction that is opened, in characters: what a form's field may have
/// (`signet_oauth::params`). The largest request (`signet_oauth::authorize::MAX_REQUEST_BYTES`)
/// fits together with everything else that an interaction can hold.
pub const MAX_SEALED: usize = 16 * 1024;

/// The longest [`Pending::typed`], in bytes.
pub const MAX_TYPED: usize = 254;

/// How far the clock of the node that goes on with a login may be behind that of the node where it
/// began, in seconds.
const CLOCKS_DIFFER: u64 = 60;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interaction {
    /// Names it from its first form on: what it leads to is given once. None: no form was shown.
    pub id: Option<[u8; 16]>,
    /// What it leads to.
    pub goal: Goal,
    /// The page that the form is on: what its buttons mean.
    pub page: Page,
    /// The login in this interaction.
    pub login: Option<SessionStamp>,
    /// The session whose user chose to go on.
    pub selected: Option<SessionStamp>,
    /// The session that a question was shown to: the answer counts for nobody else.
    pub shown_to: Option<String>,
    /// The login adds to what the session's user has shown already.
    pub step_up: bool,
    /// What was shown in this login so far, where more is asked for before a session begins.
    pub half: Option<Half>,
    /// What it leads to wants a second factor that is shown now: a remembered browser is none.
    pub strict: bool,
    /// Classes that what it leads to demands, beside those of a client's request.
    pub required: Vec<String>,
    /// A method of login that was started and not finished.
    pub pending: Option<Pending>,
    /// What a proof that is pasted into the page has to answer.
    pub challenge: Option<String>,
    /// The tag of the language that the request asked for, where it did: after
    /// [`Interaction::open`].
    pub language: Option<String>,
    /// Somebody who has come from an identity provider.
    pub arrival: Option<Arrival>,
    /// Unix seconds.
    pub ends_at: u64,
}

/// Somebody who has come from an identity provider; who it is stands in a sealed row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// The provider's name.
    pub provider: String,
    /// Names the row.
    pub id: [u8; 16],
    /// The account that the person logs in to is to be linked.
    pub link: bool,
    /// Whose account it is: by its link, or by the address that both sides verified. None: the
    /// person proves an account here.
    #[serde(default)]
    pub account: Option<String>,
}

impl Arrival {
    /// Whether it belongs to a login of this account.
    pub fn is_of(&self, user_id: &str) -> bool {
        match &self.account {
            Some(account) => account == user_id,
            None => self.link,
        }
    }

    /// Whether the person proves an account here, and who they are at the provider proves nothing
    /// yet.
    pub fn proves_here(&self) -> bool {
        self.link && self.account.is_none()
    }
}

/// What the pages lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// An answer to a client: the checked request.
    Authorize(Box<AuthorizationRequest>),
    /// A device: its user code, as stored.
    Device(Option<String>),
    /// The account page.
    Account,
    /// A page of the console, by its path and query below the issuer.
    Console(String),
    /// The end of the session, and then perhaps a registered redirect.
    Logout {
        /// Checked.
        then: Option<String>,
        /// Who asks for it.
        client_id: Option<String>,
    },
    /// A new password.
    Recover,
    /// A new account.
    SignUp,
}

/// Which page a form is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Page {
    /// None yet.
    Start,
    /// User name and password.
    Login,
    /// The fields of the method that is [`Interaction::pending`].
    Method,
    /// A further step of the login: the fields of the method that is [`Interaction::pending`].
    Second,
    /// Something that is offered after a login; [`Interaction::pending`] names it.
    Offer,
    /// Somebody of an identity provider is seen for the first time.
    Provider,
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
    /// A form behind the account page, whose state is [`Interaction::pending`].
    AccountStep,
    /// The form that asks for a recovery link.
    Recover,
    /// The form that asks for a link to make an account.
    SignUp,
}

/// Something that was done by the user of a session, at a time: another session, or a later login
/// of the same one in another tab, is not it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStamp {
    sid: String,
    auth_time: u64,
}

impl SessionStamp {
    /// By this session.
    pub fn by(row: &SessionRow) -> SessionStamp {
        SessionStamp {
            sid: row.sid.clone(),
            auth_time: row.auth_time,
        }
    }

    fn holds(&self, row: &SessionRow) -> bool {
        self.sid == row.sid && self.auth_time == row.auth_time
    }
}

/// A login that is half way: somebody has shown some of what is asked of them, and no session is
/// begun before the rest. It counts for nothing once the account has changed its password, or has
/// been disabled or revoked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Half {
    /// Who.
    pub user_id: String,
    /// What they showed: names of `signet_oauth::authorize::acr::METHODS`.
    pub methods: Vec<String>,
    /// When, Unix seconds; what is not in it was shown at the beginning.
    #[serde(default)]
    pub shown_at: BTreeMap<String, u64>,
    /// When the login began, Unix seconds. None: at `since_ms`.
    #[serde(default)]
    pub begun_at: Option<u64>,
    /// The account's password then, by the time it was set.
    pub password_changed_at: u64,
    /// Unix milliseconds: what was revoked from then on ends the login.
    pub since_ms: u64,
}

impl Half {
    /// Of a person who has shown this in a login that began at `begun_at` (Unix seconds).
    /// `since_ms`: as [`Half::since_ms`].
    pub fn new(user: &User, shown: &[Shown], begun_at: u64, since_ms: u64) -> Half {
        let times = shown.iter();
        Half {
            user_id: user.id.clone(),
            methods: shown.iter().map(|one| one.method.clone()).collect(),
            shown_at: times.map(|one| (one.method.clone(), one.at)).collect(),
            begun_at: Some(begun_at),
            password_changed_at: user.password_changed_at,
            since_ms,
        }
    }

    /// What they showed, each with its time.
    pub fn shown(&self) -> Vec<Shown> {
        let at = |name: &String| self.shown_at.get(name).copied().unwrap_or(self.begun());
        let methods = self.methods.iter();
        methods.map(|name| Shown::new(name, at(name))).collect()
    }

    /// When the login began, Unix seconds.
    pub fn begun(&self) -> u64 {
        self.begun_at.unwrap_or(self.since_ms / 1000)
    }

    /// From when on something was shown in this login, Unix seconds: what is older was shown in a
    /// session before it.
    pub fn since(&self) -> u64 {
        self.begun().saturating_sub(CLOCKS_DIFFER)
    }
}

/// A method of login that was started. The typed name is shown again; nothing says whether it
/// exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// The method's name (`signet_login::journey::METHODS`).
    pub method: String,
    /// What was typed to name the account, at most [`MAX_TYPED`] bytes.
    pub typed: String,
    /// The method's own, which nobody else reads.
    pub state: Vec<u8>,
}

/// What of an interaction is written as JSON. The request, by far the largest part, is written
/// before it in its own form.
#[derive(Serialize, Deserialize)]
struct Wire {
    id: [u8; 16],
    goal: WireGoal,
    page: Page,
    login: Option<SessionStamp>,
    selected: Option<SessionStamp>,
    shown_to: Option<String>,
    step_up: bool,
    #[serde(default)]
    half: Option<Half>,
    #[serde(default)]
    strict: bool,
    #[serde(default)]
    required: Vec<String>,
    pending: Option<Pending>,
    challenge: Option<String>,
    #[serde(default)]
    language: Option<String>,
    arrival: Option<Arrival>,
    ends_at: u64,
}

#[derive(Serialize, Deserialize)]
enum WireGoal {
    Authorize,
    Device(Option<String>),
    Account,
    Console(String),
    Logout {
        then: Option<String>,
        #[serde(default)]
        client_id: Option<String>,
    },
    Recover,
    SignUp,
}

impl Interaction {
    /// What its login is for.
    pub fn sought<'a>(&'a self, registry: &'a Registry) -> Sought<'a> {
        let request = self.request();
        let client = request.and_then(|request| registry.clients.get(request.client_id()));
        Sought {
            client: client.map(|client| &**client),
            scope: request.map(|request| &request.scope),
            claims: request.and_then(|request| request.claims.as_ref()),
        }
    }

    /// The beginning of one. `lifetime` in seconds.
    pub fn new(goal: Goal, lifetime: u64, now: u64) -> Interaction {
        Interaction {
            id: None,
            goal,
            page: Page::Start,
            login: None,
            selected: None,
            shown_to: None,
            step_up: false,
            half: None,
            strict: false,
            required: Vec::new(),
            pending: None,
            challenge: None,
            language: None,
            arrival: None,
            ends_at: now.saturating_add(lifetime),
        }
    }

    /// For the answer to a client.
    pub fn authorize(request: AuthorizationRequest, lifetime: u64, now: u64) -> Interaction {
        Interaction::new(Goal::Authorize(Box::new(request)), lifetime, now)
    }

    /// Whether it leads beyond this server's own pages.
    pub fn leads_on(&self) -> bool {
        match self.goal {
            Goal::Authorize(_) | Goal::Device(_) => true,
            Goal::Account
            | Goal::Console(_)
            | Goal::Logout { .. }
            | Goal::Recover
            | Goal::SignUp => false,
        }
    }

    /// What the rules may count as done, for the session that is there now.
    pub fn progress(&self, row: Option<&SessionRow>, consented_now: bool) -> Progress {
        let done = |proof: &Option<SessionStamp>| match (proof, row) {
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

    /// Seals it for one browser. `language`: what the request asked for. Empty if that fails: the
    /// form then leads to the "start again" page.
    pub fn seal(&self, keyring: &Keyring, browser: &[u8; 16], language: Option<&str>) -> String {
        keyring
            .seal_with(Purpose::Interaction, browser, &self.to_bytes(language))
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
        let interaction = Interaction::from_bytes(&plain)?;
        (now < interaction.ends_at).then_some(interaction)
    }

    /// The length of the request's bytes (4 bytes, big-endian; 0: no request), the request, the
    /// rest as JSON.
    fn to_bytes(&self, language: Option<&str>) -> Vec<u8> {
        let (goal, request) = match &self.goal {
            Goal::Authorize(request) => (WireGoal::Authorize, request.to_bytes()),
            Goal::Device(user_code) => (WireGoal::Device(user_code.clone()), Vec::new()),
            Goal::Account => (WireGoal::Account, Vec::new()),
            Goal::Console(path) => (WireGoal::Console(path.clone()), Vec::new()),
            Goal::Logout { then, client_id } => {
                let (then, client_id) = (then.clone(), client_id.clone());
                (WireGoal::Logout { then, client_id }, Vec::new())
            }
            Goal::Recover => (WireGoal::Recover, Vec::new()),
            Goal::SignUp => (WireGoal::SignUp, Vec::new()),
        };
        let wire = Wire {
            id: self.id.unwrap_or_else(signet_crypto::random::bytes),
            goal,
            page: self.page,
            login: self.login.clone(),
            selected: self.selected.clone(),
            shown_to: self.shown_to.clone(),
            step_up: self.step_up,
            half: self.half.clone(),
            strict: self.strict,
            required: self.required.clone(),
            pending: self.pending.clone(),
            challenge: self.challenge.clone(),
            language: language.map(str::to_owned),
            arrival: self.arrival.clone(),
            ends_at: self.ends_at,
        };
        // A request is bounded far below 2^32 by its checks.
        let length = u32::try_from(request.len()).unwrap_or(u32::MAX);
        let mut plain = length.to_be_bytes().to_vec();
        plain.extend_from_slice(&request);
        // Invariant: strings, bytes and numbers always serialize.
        plain.extend(serde_json::to_vec(&wire).expect("an interaction serializes"));
        plain
    }

    fn from_bytes(plain: &[u8]) -> Option<Interaction> {
        let (length, rest) = plain.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (request, wire) = rest.split_at_checked(length)?;
        let wire: Wire = serde_json::from_slice(wire).ok()?;
        let goal = match wire.goal {
            WireGoal::Authorize => {
                Goal::Authorize(Box::new(AuthorizationRequest::from_bytes(request).ok()?))
            }
            WireGoal::Device(user_code) => Goal::Device(user_code),
            WireGoal::Account => Goal::Account,
            WireGoal::Console(path) => Goal::Console(path),
            WireGoal::Logout { then, client_id } => Goal::Logout { then, client_id },
            WireGoal::Recover => Goal::Recover,
            WireGoal::SignUp => Goal::SignUp,
        };
        Some(Interaction {
            id: Some(wire.id),
            goal,
            page: wire.page,
            login: wire.login,
            selected: wire.selected,
            shown_to: wire.shown_to,
            step_up: wire.step_up,
            half: wire.half,
            strict: wire.strict,
            required: wire.required,
            pending: wire.pending,
            challenge: wire.challenge,
            language: wire.language,
            arrival: wire.arrival,
            ends_at: wire.ends_at,
        })
    }

    /// The client's request, where the goal is to answer one.
    pub fn request(&self) -> Option<&AuthorizationRequest> {
        match &self.goal {
            Goal::Authorize(request) => Some(request),
            Goal::Device(_)
            | Goal::Account
            | Goal::Console(_)
            | Goal::Logout { .. }
            | Goal::Recover
            | Goal::SignUp => None,
        }
    }
}

/// Longest sealed request that is in a URL, in characters: what every browser and proxy carries.
const MAX_RESUME: usize = 6 * 1024;

/// A checked request on its way from a POST to the GET that goes on with it. It says no more than
/// the request did, so it is bound to no browser: the browser's cookies did not come with a
/// cross-site POST. None: it is too long, or could not be sealed.
pub fn seal_resume(
    request: &AuthorizationRequest,
    keyring: &Keyring,
    ends_at: u64,
) -> Option<String> {
    let mut plain = ends_at.to_be_bytes().to_vec();
    plain.extend_from_slice(&request.to_bytes());
    let sealed = keyring.seal_with(Purpose::Interaction, b"resume", &plain);
    let sealed = base64url::encode(&sealed.ok()?);
    (sealed.len() <= MAX_RESUME).then_some(sealed)
}

/// Opens what [`seal_resume`] made.
pub fn open_resume(text: &str, keyring: &Keyring, now: u64) -> Option<AuthorizationRequest> {
    if text.len() > MAX_RESUME {
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
        let sealed = interaction.seal(&keyring, &[1; 16], None);
        let open = |browser: [u8; 16], now| Interaction::open(&sealed, &keyring, &browser, now);
        let opened = open([1; 16], 1599).unwrap();
        assert!(opened.id.is_some());
        assert_eq!(Interaction { id: None, ..opened }, interaction);
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
            methods: Vec::new(),
            shown_at: Default::default(),
            factor_added_at: None,
            created_at: 10,
            login_ms: 10_000,
            last_seen: 10,
            ends_at: 100,
            user_agent: String::new(),
            address: String::new(),
            unknown: Default::default(),
            upstream: None,
        };
        let mut interaction = Interaction::new(Goal::Account, 600, 10);
        interaction.login = Some(SessionStamp::by(&row));
        assert!(interaction.progress(Some(&row), false).logged_in_now);
        let other = SessionRow {
            sid: "t".into(),
            ..row.clone()
        };
        assert!(!interaction.progress(Some(&other), false).logged_in_now);
        assert!(!interaction.progress(None, false).logged_in_now);
    }
}

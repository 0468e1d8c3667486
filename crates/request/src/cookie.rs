//! The six cookies, all `__Host-` and `Secure`; all but the state's `HttpOnly` and `SameSite=Lax`.
//!
//! | cookie | what is in it | how long |
//! |---|---|---|
//! | session | sealed: the session's secret id | the browser's session; the row decides |
//! | console | sealed: since when the console is used, by which session | the browser's; 8 hours |
//! | browser | 128 random bits that sealed interactions are bound to | the browser's session |
//! | device | sealed: a device id, and accounts that logged in here | a year |
//! | language | the tag of a language, where one was chosen in the menu | a year |
//! | state | whether it is another session ([`crate::browser_state`]): no secret | the browser's session |
//!
//! A realm's cookies carry its name, so that realms under one host name do not meet each other's:
//! `__Host-` cookies belong to the whole host (RFC 6265bis section 4.1.3.2), whatever path the
//! issuer has. The default realm's have no name behind them.
//!
//! The state's is read by a script of ours in a frame of other sites' pages (OpenID Connect Session
//! Management): `SameSite=None`, and not `Partitioned`, for what is set here, in a window of our
//! own, would be another partition's than what the frame sees.
//!
//! `Lax` lets a client's redirect to `/authorize` find the session and keeps cross-site forms
//! without it.

use crate::browser_state;
use signet_directory::session::{SessionId, SessionRow};
use std::borrow::Cow;

use http::{HeaderValue, header};
use serde::{Deserialize, Serialize};
use signet_crypto::hash::sha256;
use signet_crypto::seal::Purpose;
use signet_encoding::base64url;
use signet_store::RealmId;
use signet_texts::Language;

use crate::http::{Context, Response};
use signet_directory::User;
use signet_realm::state::Realm;

/// Which cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cookie {
    /// The session.
    Session,
    /// Since when the browser is in the console.
    Console,
    /// What interactions are bound to.
    Browser,
    /// Who logged in here before.
    Device,
    /// The language that was chosen in the menu.
    Language,
    /// Whether it is another session than a client knows.
    State,
}

impl Cookie {
    /// Its name in a realm.
    pub fn name(self, realm: &RealmId) -> Cow<'static, str> {
        let name = match self {
            Cookie::Session => "__Host-signet-session",
            Cookie::Console => "__Host-signet-console",
            Cookie::Browser => "__Host-signet-browser",
            Cookie::Device => "__Host-signet-device",
            Cookie::Language => "__Host-signet-language",
            Cookie::State => "__Host-signet-state",
        };
        match realm.is_default() {
            true => Cow::Borrowed(name),
            // A realm's name has no full stop, and no name of a cookie has: none can be taken for
            // another.
            false => Cow::Owned(format!("{name}.{}", realm.as_str())),
        }
    }
}

const DEVICE_MAX_AGE: u64 = 365 * 24 * 3600;
/// Longest cookie value that is looked at.
const MAX_VALUE_BYTES: usize = 2048;
/// Accounts that one device remembers.
const MAX_ACCOUNTS: usize = 4;
const DEVICE_PURPOSE: Purpose = Purpose::Other("device-cookie");

/// Sets a cookie. `max_age` in seconds; None: until the browser is closed.
fn set(response: &mut Response, realm: &Realm, cookie: Cookie, value: &str, max_age: Option<u64>) {
    let name = cookie.name(realm.id());
    let scope = match cookie {
        Cookie::Session | Cookie::Console | Cookie::Browser | Cookie::Device | Cookie::Language => {
            "HttpOnly; SameSite=Lax"
        }
        Cookie::State => "SameSite=None",
    };
    let mut text = format!("{name}={value}; Path=/; Secure; {scope}");
    if let Some(seconds) = max_age {
        text.push_str(&format!("; Max-Age={seconds}"));
    }
    // Names are constants and values base64url: always a header value.
    if let Ok(value) = HeaderValue::from_str(&text) {
        response.headers_mut().append(header::SET_COOKIE, value);
    }
}

/// Takes a cookie away.
pub fn clear(response: &mut Response, realm: &Realm, cookie: Cookie) {
    set(response, realm, cookie, "", Some(0));
}

/// The bytes of a base64url cookie; None where it is missing, doubled, too long or malformed.
fn bytes(context: &Context, cookie: Cookie) -> Option<Vec<u8>> {
    let value = context.cookie(&cookie.name(context.realm.id()))?;
    if value.len() > MAX_VALUE_BYTES {
        return None;
    }
    base64url::decode(value.as_bytes()).ok()
}

/// The language that was chosen in the menu of this browser.
pub fn language(context: &Context) -> Option<Language> {
    Language::of_tag(context.cookie(&Cookie::Language.name(context.realm.id()))?)
}

/// Remembers the choice.
pub fn set_language(response: &mut Response, realm: &Realm, language: Language) {
    let tag = language.tag();
    set(response, realm, Cookie::Language, tag, Some(DEVICE_MAX_AGE));
}

/// The secret id in the session cookie.
pub fn session_id(context: &Context) -> Option<SessionId> {
    let sealed = bytes(context, Cookie::Session)?;
    let opened = context
        .realm
        .keyring()
        .open(Purpose::SessionCookie, &sealed);
    SessionId::from_slice(&opened.ok()?)
}

/// Sets the session cookie; it has no age of its own, the session's row ends.
pub fn set_session(response: &mut Response, realm: &Realm, id: &SessionId) {
    if let Ok(sealed) = realm.keyring().seal(Purpose::SessionCookie, id.as_bytes()) {
        let sealed = base64url::encode(&sealed);
        set(response, realm, Cookie::Session, &sealed, None);
    }
}

/// What the console's cookie has, sealed by whoever set it.
pub fn console(context: &Context) -> Option<Vec<u8>> {
    bytes(context, Cookie::Console)
}

/// Sets the console's cookie to something that is sealed.
pub fn set_console(response: &mut Response, realm: &Realm, sealed: &[u8]) {
    let value = base64url::encode(sealed);
    set(response, realm, Cookie::Console, &value, None);
}

/// Sets the state that a client's page asks about, if it is not what the browser has. `row`: of the
/// session that is in force. A request without any session's cookie changes nothing: of a frame or
/// a form of another site the browser keeps that one back, and sends this one.
pub fn keep_state(context: &Context, row: Option<&SessionRow>, response: &mut Response) {
    let had = context.cookie(&Cookie::State.name(context.realm.id()));
    let sent = context.cookie(&Cookie::Session.name(context.realm.id()));
    let state = match row {
        Some(row) => browser_state::of(row),
        None if had.is_some() && sent.is_some() => browser_state::NOBODY.to_owned(),
        None => return,
    };
    if had != Some(&*state) {
        set(response, &context.realm, Cookie::State, &state, None);
    }
}

/// The browser's 128 bits, and whether they are new and have to be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Browser {
    /// What interactions are bound to.
    pub id: [u8; 16],
    /// The answer has to set the cookie.
    pub new: bool,
}

impl Browser {
    /// The browser that sent the request, or a new one.
    pub fn of(context: &Context) -> Browser {
        match bytes(context, Cookie::Browser).and_then(|b| b.try_into().ok()) {
            Some(id) => Browser { id, new: false },
            None => Browser {
                id: signet_crypto::random::bytes(),
                new: true,
            },
        }
    }

    /// Sets the cookie if it is new.
    pub fn keep(&self, realm: &Realm, response: &mut Response) {
        if self.new {
            let id = base64url::encode(&self.id);
            set(response, realm, Cookie::Browser, &id, None);
        }
    }
}

/// A browser in which people have logged in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownBrowser {
    id: [u8; 16],
    /// Latest last.
    accounts: Vec<Account>,
}

/// An account of a device: whose, and which of their passwords was in force when they logged in
/// there. A device does not stay known past a change of the password: whoever knew the old one may
/// have made it known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Account {
    user_id: String,
    password_changed_at: u64,
}

impl KnownBrowser {
    /// The device that sent the request.
    pub fn of(context: &Context) -> Option<KnownBrowser> {
        let sealed = bytes(context, Cookie::Device)?;
        let opened = context.realm.keyring().open(DEVICE_PURPOSE, &sealed).ok()?;
        serde_json::from_slice(&opened).ok()
    }

    /// The device's id, if this account has logged in from it.
    pub fn known(&self, user: &User) -> Option<&[u8]> {
        let is_theirs = |known: &Account| {
            known.user_id == user.id && known.password_changed_at == user.password_changed_at
        };
        self.accounts
            .iter()
            .any(is_theirs)
            .then_some(self.id.as_slice())
    }

    /// The device's id, if any account has logged in from it.
    pub fn known_to_somebody(&self) -> Option<[u8; 16]> {
        (!self.accounts.is_empty()).then_some(self.id)
    }

    /// Names the browser in rows: what is in the cookie cannot be derived from it.
    pub fn row_id(&self) -> String {
        base64url::encode(&sha256(&self.id)[..16])
    }

    /// Remembers the account, and sets the cookie again. The device, as it is from now on.
    pub fn remember(
        device: Option<KnownBrowser>,
        user: &User,
        realm: &Realm,
        response: &mut Response,
    ) -> KnownBrowser {
        let mut device = device.unwrap_or_else(|| KnownBrowser {
            id: signet_crypto::random::bytes(),
            accounts: Vec::new(),
        });
        device.accounts.retain(|known| known.user_id != user.id);
        device.accounts.push(Account {
            user_id: user.id.clone(),
            password_changed_at: user.password_changed_at,
        });
        if device.accounts.len() > MAX_ACCOUNTS {
            device.accounts.remove(0);
        }
        // Invariant: bytes, strings and numbers always serialize.
        let plain = serde_json::to_vec(&device).expect("a device serializes");
        if let Ok(sealed) = realm.keyring().seal(DEVICE_PURPOSE, &plain) {
            set(
                response,
                realm,
                Cookie::Device,
                &base64url::encode(&sealed),
                Some(DEVICE_MAX_AGE),
            );
        }
        device
    }
}

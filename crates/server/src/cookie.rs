//! The three cookies, all `__Host-`, `Secure`, `HttpOnly` and `SameSite=Lax`.
//!
//! | cookie | what is in it | how long |
//! |---|---|---|
//! | session | sealed: the session's secret id | the browser's session; the row decides |
//! | browser | 128 random bits that sealed interactions are bound to | the browser's session |
//! | device | sealed: a device id, and accounts that logged in here | a year |
//!
//! `Lax` lets a client's redirect to `/authorize` find the session and keeps cross-site forms without it.

use http::{HeaderValue, header};
use serde::{Deserialize, Serialize};
use signet_crypto::seal::{Keyring, Purpose};
use signet_jose::base64url;

use crate::{
    http::{Context, Response},
    user::User,
};

/// The session cookie's name.
pub const SESSION: &str = "__Host-signet-session";
/// The name of the cookie that interactions are bound to.
pub const BROWSER: &str = "__Host-signet-browser";
/// The name of the cookie that remembers who logged in here before.
pub const DEVICE: &str = "__Host-signet-device";

const DEVICE_MAX_AGE: u64 = 365 * 24 * 3600;
/// Longest cookie value that is looked at.
const MAX_VALUE_BYTES: usize = 2048;
/// Accounts that one device remembers.
const MAX_ACCOUNTS: usize = 4;
const DEVICE_PURPOSE: Purpose = Purpose::Other("device-cookie");

/// Sets a cookie. `max_age` in seconds; None: until the browser is closed.
pub fn set(response: &mut Response, name: &str, value: &str, max_age: Option<u64>) {
    let mut text = format!("{name}={value}; Path=/; Secure; HttpOnly; SameSite=Lax");
    if let Some(seconds) = max_age {
        text.push_str(&format!("; Max-Age={seconds}"));
    }
    // Names are constants and values base64url: always a header value.
    if let Ok(value) = HeaderValue::from_str(&text) {
        response.headers_mut().append(header::SET_COOKIE, value);
    }
}

/// Takes a cookie away.
pub fn clear(response: &mut Response, name: &str) {
    set(response, name, "", Some(0));
}

/// The bytes of a base64url cookie; None where it is missing, doubled, too long or malformed.
fn bytes(context: &Context, name: &str) -> Option<Vec<u8>> {
    let value = context.cookie(name)?;
    if value.len() > MAX_VALUE_BYTES {
        return None;
    }
    base64url::decode(value.as_bytes()).ok()
}

/// The secret id in the session cookie.
pub fn session_id(context: &Context) -> Option<[u8; 16]> {
    let sealed = bytes(context, SESSION)?;
    let opened = context
        .realm
        .keyring()
        .open(Purpose::SessionCookie, &sealed);
    opened.ok()?.try_into().ok()
}

/// Sets the session cookie; it has no age of its own, the session's row ends.
pub fn set_session(response: &mut Response, keyring: &Keyring, id: &[u8; 16]) {
    if let Ok(sealed) = keyring.seal(Purpose::SessionCookie, id) {
        set(response, SESSION, &base64url::encode(&sealed), None);
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
        match bytes(context, BROWSER).and_then(|b| b.try_into().ok()) {
            Some(id) => Browser { id, new: false },
            None => Browser {
                id: signet_crypto::random::bytes(),
                new: true,
            },
        }
    }

    /// Sets the cookie if it is new.
    pub fn keep(&self, response: &mut Response) {
        if self.new {
            set(response, BROWSER, &base64url::encode(&self.id), None);
        }
    }
}

/// A browser in which people have logged in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    id: [u8; 16],
    /// Latest last.
    accounts: Vec<Account>,
}

/// An account of a device: whose, and which of their passwords was in force when they logged in there. A device does not
/// stay known past a change of the password: whoever knew the old one may have made it known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Account {
    user_id: String,
    password_changed_at: u64,
}

impl Device {
    /// The device that sent the request.
    pub fn of(context: &Context) -> Option<Device> {
        let sealed = bytes(context, DEVICE)?;
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

    /// Remembers the account, and sets the cookie anew.
    pub fn remember(
        device: Option<Device>,
        user: &User,
        keyring: &Keyring,
        response: &mut Response,
    ) {
        let mut device = device.unwrap_or_else(|| Device {
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
        let Ok(plain) = serde_json::to_vec(&device) else {
            return;
        };
        if let Ok(sealed) = keyring.seal(DEVICE_PURPOSE, &plain) {
            set(
                response,
                DEVICE,
                &base64url::encode(&sealed),
                Some(DEVICE_MAX_AGE),
            );
        }
    }
}

//! Scripts of the house: files of their own, named by what is in them, that pages allow by their
//! hash. No page has a script in it but `form_post`.

use std::sync::LazyLock;

use signet_crypto::hash::sha256;
use signet_encoding::base64url;

use crate::parts::style::csp_hash;

/// One file.
#[derive(Debug)]
pub struct Script {
    /// Below the issuer, without a slash at the beginning: the same text has the same name for
    /// ever.
    pub path: String,
    /// As it is sent.
    pub text: &'static str,
    /// What `integrity` and the policy say of it.
    pub(crate) hash: String,
}

impl Script {
    fn new(name: &str, text: &'static str) -> Script {
        let short = base64url::encode(&sha256(text.as_bytes())[..9]);
        Script {
            path: format!("assets/{name}-{short}.js"),
            text,
            hash: csp_hash(text.as_bytes()),
        }
    }
}

/// Passkeys.
pub(crate) static PASSKEY: LazyLock<Script> =
    LazyLock::new(|| Script::new("passkey", include_str!("passkey.js")));

/// Passwords: shown while they are typed, and what a new one lacks.
pub(crate) static PASSWORD: LazyLock<Script> =
    LazyLock::new(|| Script::new("password", include_str!("password.js")));

/// Leaves the page that ends a logout, once its frames are loaded.
pub(crate) static AFTER_LOGOUT: LazyLock<Script> =
    LazyLock::new(|| Script::new("logout", include_str!("logout.js")));

/// Gives a page that answers a form an address that can be loaded again.
pub(crate) static AGAIN: LazyLock<Script> =
    LazyLock::new(|| Script::new("again", include_str!("again.js")));

/// Sends the language that was chosen.
pub(crate) static LANGUAGE: LazyLock<Script> =
    LazyLock::new(|| Script::new("language", include_str!("language.js")));

/// Copies what a button names, and prints recovery codes.
pub(crate) static COPY: LazyLock<Script> =
    LazyLock::new(|| Script::new("copy", include_str!("copy.js")));

/// Says which tab of the account page is chosen.
pub(crate) static TABS: LazyLock<Script> =
    LazyLock::new(|| Script::new("tabs", include_str!("tabs.js")));

/// Days and times in the browser's zone.
pub(crate) static MOMENT: LazyLock<Script> =
    LazyLock::new(|| Script::new("moment", include_str!("moment.js")));

/// Compares what an application knows of the browser's session with what it is.
pub(crate) static CHECK_SESSION: LazyLock<Script> =
    LazyLock::new(|| Script::new("check-session", include_str!("check-session.js")));

/// The script of a path `assets/...`.
pub fn script(path: &str) -> Option<&'static Script> {
    let all = [
        &*AGAIN,
        &*PASSKEY,
        &*PASSWORD,
        &*AFTER_LOGOUT,
        &*COPY,
        &*TABS,
        &*LANGUAGE,
        &*MOMENT,
        &*CHECK_SESSION,
    ];
    all.into_iter().find(|script| script.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_found_by_its_name_and_by_no_other() {
        let found = script(&PASSKEY.path).expect("the script");
        assert_eq!(found.hash, csp_hash(found.text.as_bytes()));
        assert!(script("assets/passkey.js").is_none());
    }
}

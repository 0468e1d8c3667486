//! The response modes (OAuth 2.0 Multiple Response Types section 2.1): one file each, one line each
//! in [`RESPONSE_MODES`].
mod form_post;
mod query;

use crate::{client::Client, error::OAuthError, request::IssuerSigners};
pub use query::with_query;
use std::fmt;

/// What the caller sends to the browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// 303 to this URL.
    Redirect(String),
    /// A page with a form that posts these fields to `action`; 200, never cached.
    FormPost {
        /// the client's redirect URI
        action: String,
        /// hidden fields, unescaped
        fields: Vec<(&'static str, String)>,
    },
}

/// Where an answer goes, and how: proven, so also where errors may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnTo {
    /// whose answer it is
    pub client_id: String,
    /// as requested, and registered
    pub redirect_uri: String,
    /// how
    pub response_mode: ResponseMode,
    /// handed back as it came
    pub state: Option<String>,
}

/// How an answer reaches the client.
pub trait Mode: Sync {
    /// `response_mode`
    fn name(&self) -> &'static str;

    /// Whether an answer can reach this redirect URI.
    ///
    /// # Errors
    /// What the client hears.
    fn admits(&self, redirect_uri: &str) -> Result<(), &'static str>;

    /// The answer as the browser gets it.
    ///
    /// # Errors
    /// A mode that signs has no key to do it with. Nothing is sent then: an answer that was asked
    /// for signed does not leave unsigned.
    fn write(&self, answer: Outgoing<'_>) -> Result<Response, OAuthError>;
}

/// An answer on its way out.
pub struct Outgoing<'a> {
    /// where it goes
    pub to: &'a ReturnTo,
    /// its members, unescaped, `state` and `iss` among them
    pub fields: Vec<(&'static str, String)>,
    /// what it is made with
    pub issuing: &'a Issuing<'a>,
}

/// Who answers, whom, and when: all that a mode may sign or encrypt an answer with.
#[derive(Clone, Copy)]
pub struct Issuing<'a> {
    /// the issuer's identifier
    pub issuer: &'a str,
    /// the keys that sign at the moment
    pub signers: &'a dyn IssuerSigners,
    /// the client, whose record says how it wants to be answered; none where it has been removed
    /// meanwhile
    pub client: Option<&'a Client>,
    /// Unix seconds
    pub now: u64,
}

/// Every mode: `response_modes_supported`. The first is the default for `code`.
pub const RESPONSE_MODES: &[ResponseMode] = &[ResponseMode::QUERY, ResponseMode::FORM_POST];

/// A mode of the table.
#[derive(Clone, Copy)]
pub struct ResponseMode(&'static dyn Mode);

impl ResponseMode {
    /// In the query of the redirect URI.
    pub const QUERY: ResponseMode = ResponseMode(&query::Query);
    /// By a page that posts itself (OAuth 2.0 Form Post Response Mode).
    pub const FORM_POST: ResponseMode = ResponseMode(&form_post::FormPost);

    #[cfg(test)]
    pub(in crate::authorize) const fn of_test(mode: &'static dyn Mode) -> ResponseMode {
        ResponseMode(mode)
    }

    /// The mode of this name.
    pub fn named(name: &str) -> Option<ResponseMode> {
        RESPONSE_MODES
            .iter()
            .copied()
            .find(|mode| mode.name() == name)
    }
}

impl std::ops::Deref for ResponseMode {
    type Target = dyn Mode;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl PartialEq for ResponseMode {
    fn eq(&self, other: &ResponseMode) -> bool {
        self.name() == other.name()
    }
}

impl Eq for ResponseMode {}

impl fmt::Debug for ResponseMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_one_name() {
        for mode in RESPONSE_MODES {
            assert_eq!(ResponseMode::named(mode.name()), Some(*mode));
        }
        assert_eq!(ResponseMode::named("fragment"), None);
    }
}

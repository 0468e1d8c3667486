//! What a way that leads elsewhere is to the journey: the person goes to another page, or the
//! browser is challenged, and no form of this server proves anything.

use signet_pages::ProviderButton;
use signet_request::browser_request::BrowserRequest;
use signet_request::interaction::Interaction;

use super::method::Boxed;
use super::next::{Journey, Next};

/// A row of [`super::LEADS`].
pub struct Lead {
    /// What begins the value of its buttons `decision`; the name of where they lead follows.
    pub decision: &'static str,
    /// Its buttons on the login page.
    pub buttons: fn(&BrowserRequest) -> Vec<ProviderButton>,
    /// Where an interaction leads before any page is shown.
    pub unasked: fn(&BrowserRequest, &Interaction) -> Option<String>,
    /// Where the name that was typed on the login page leads.
    pub of_typed: fn(&BrowserRequest, &str) -> Option<String>,
    /// Goes there: a redirect, a challenge, or a page. With the name, and what was typed.
    pub begin: fn(Box<Journey>, String, String) -> Boxed<'static, Next>,
}

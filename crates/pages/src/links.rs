//! What a client says of itself beside its name: links to its pages.
//!
//! Its logo is not shown: the picture would be loaded from wherever the client likes, which tells
//! that place who is logging in, from where and when, before the person has agreed to anything; and
//! a picture can say what a name may not.

use maud::{Markup, html};
use signet_oauth::client::Client;

use super::face::Face;

/// The pages of a client; each is linked if it is an https URL.
#[derive(Debug, Default, Clone, Copy)]
pub struct ClientLinks<'a> {
    /// Its home page.
    pub home: Option<&'a str>,
    /// Its privacy policy.
    pub policy: Option<&'a str>,
    /// Its terms of service.
    pub terms: Option<&'a str>,
}

impl<'a> ClientLinks<'a> {
    /// As the client's record has them.
    pub fn of(client: &'a Client) -> ClientLinks<'a> {
        ClientLinks {
            home: client.client_uri.as_deref(),
            policy: client.policy_uri.as_deref(),
            terms: client.tos_uri.as_deref(),
        }
    }
}

/// The links that can be shown.
pub(super) fn links(t: &Face, links: &ClientLinks<'_>) -> Markup {
    let all = [
        ("consent-about-client", links.home),
        ("consent-policy", links.policy),
        ("consent-terms", links.terms),
    ];
    let shown: Vec<(&'static str, &str)> = all
        .into_iter()
        .filter_map(|(text, uri)| Some((text, uri.filter(|uri| is_https(uri))?)))
        .collect();
    html! {
        @if !shown.is_empty() {
            div .links {
                @for (text, uri) in shown {
                    a href=(uri) rel="noopener noreferrer nofollow" target="_blank" { (t.text(text)) }
                }
            }
        }
    }
}

/// Links are shown only where they cannot be scripts.
fn is_https(uri: &str) -> bool {
    uri.get(..8)
        .is_some_and(|start| start.eq_ignore_ascii_case("https://"))
}

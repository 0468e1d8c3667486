//! What a client says of itself beside its name: its picture, and links to its pages.
//!
//! The picture comes from this server: loaded from wherever the client likes, it would tell that
//! place who is logging in, from where and when, before the person has agreed to anything.

use maud::{Markup, html};
use signet_encoding::base64url;
use signet_oauth::client::Client;

use crate::parts::face::Face;

/// The pages of a client; each is linked if it is an https URL.
#[derive(Debug, Default, Clone, Copy)]
pub struct ClientLinks<'a> {
    /// Its home page.
    pub home: Option<&'a str>,
    /// Its privacy policy.
    pub policy: Option<&'a str>,
    /// Its terms of service.
    pub terms: Option<&'a str>,
    /// Its id, where it has a picture that is shown.
    pub pictured: Option<&'a str>,
}

impl<'a> ClientLinks<'a> {
    /// As the client's record has them.
    pub fn of(client: &'a Client) -> ClientLinks<'a> {
        ClientLinks {
            home: client.client_uri.as_deref(),
            policy: client.policy_uri.as_deref(),
            terms: client.tos_uri.as_deref(),
            pictured: client.shown_logo().map(|_| &*client.client_id),
        }
    }
}

/// The picture. It says nothing that the name beside it does not.
pub(crate) fn picture(t: &Face, links: &ClientLinks<'_>) -> Markup {
    html! {
        @if let Some(client_id) = links.pictured {
            img .client src={ (t.base) "/client-logo/" (base64url::encode(client_id.as_bytes())) } alt="";
        }
    }
}

/// The links that can be shown.
pub(crate) fn links(t: &Face, links: &ClientLinks<'_>) -> Markup {
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

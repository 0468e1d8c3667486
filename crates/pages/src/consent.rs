//! Consent: who asks, and for what.

use maud::html;

use super::layout::{Frame, Html};
use super::links::{ClientLinks, links};

/// One line of what is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeLine {
    /// In words, from the scope's entry; the scope itself where it has none.
    pub description: String,
    /// Agreed to before.
    pub known: bool,
}

/// What the consent page shows.
#[derive(Debug, Default)]
pub struct ConsentPage<'a> {
    /// Where the form goes.
    pub action: &'a str,
    /// The sealed state of the interaction.
    pub interaction: &'a str,
    /// The client's name, or its id where it has none.
    pub client_name: &'a str,
    /// Where the answer goes: a name is a claim, the host is proven.
    pub client_host: &'a str,
    /// The client's own pages.
    pub links: ClientLinks<'a>,
    /// Who agrees.
    pub username: &'a str,
    /// What is asked for.
    pub scopes: &'a [ScopeLine],
    /// The resource servers that the tokens are for.
    pub resources: &'a [String],
}

/// Allow or deny.
pub fn consent(page: &ConsentPage<'_>) -> Html {
    Frame::new("Allow access?").render(html! {
        h1 { bdi { (page.client_name) } " asks for access" }
        p .soft {
            "You are logged in as " strong { bdi { (page.username) } } "."
            @if !page.client_host.is_empty() { " The answer goes to " strong { bdi { (page.client_host) } } "." }
        }
        p { "It would be able to:" }
        ul .plain {
            @for scope in page.scopes {
                li { (scope.description) @if scope.known { " " span .soft .small { "(allowed before)" } } }
            }
        }
        @if !page.resources.is_empty() {
            p .small .soft {
                "For "
                @for (index, resource) in page.resources.iter().enumerate() {
                    @if index > 0 { ", " }
                    code { (resource) }
                }
            }
        }
        form method="post" action=(page.action) {
            input type="hidden" name="interaction" value=(page.interaction);
            div .pair {
                button type="submit" name="decision" value="deny" { "Deny" }
                button .main type="submit" name="decision" value="allow" { "Allow" }
            }
        }
        (links(&page.links))
        p .small .soft .after { "You can withdraw this at any time on your " a href="account" { "account page" } "." }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_client_names_and_links_are_harmless() {
        let hostile = "<script>alert(1)</script>";
        let scopes = [ScopeLine {
            description: hostile.into(),
            known: true,
        }];
        let html = consent(&ConsentPage {
            client_name: hostile,
            client_host: hostile,
            links: ClientLinks {
                home: None,
                policy: Some("javascript:alert(1)"),
                terms: Some("https://rp.example/\"onclick=\"x"),
            },
            username: hostile,
            scopes: &scopes,
            resources: &[hostile.to_owned()],
            ..ConsentPage::default()
        });
        assert!(!html.body.contains("<script"));
        assert!(!html.body.contains("javascript:"));
        assert!(!html.body.contains("\"onclick"));
    }

    #[test]
    fn consent_has_allow_and_deny() {
        let html = consent(&ConsentPage::default());
        assert!(html.body.contains("name=\"decision\" value=\"allow\""));
        assert!(html.body.contains("name=\"decision\" value=\"deny\""));
    }
}

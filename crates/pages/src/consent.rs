//! Consent: who asks, and for what.

use maud::{Markup, html};

use crate::parts::face::{Face, Part, plain, strong};
use crate::parts::layout::{Frame, Html, Menu};
use crate::parts::links::{ClientLinks, links, picture};

/// One line of what is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeLine {
    /// In words, from the scope's entry; the scope itself where it has none.
    pub description: String,
    /// Agreed to before.
    pub known: bool,
    /// It gives power over others than the person who agrees.
    pub danger: bool,
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
pub fn consent(t: &Face, page: &ConsentPage<'_>) -> Html {
    Frame {
        menu: Menu::Interaction(page.interaction),
        ..Frame::new(t, t.text("consent-title"))
    }
    .render(html! {
        (picture(t, &page.links))
        h1 { (t.html("consent-heading", &[("client", plain(page.client_name))])) }
        p .soft {
            (t.html("page-logged-in-as", &[("name", strong(page.username))]))
            @if !page.client_host.is_empty() {
                " " (t.html("consent-answer-to", &[("host", strong(page.client_host))]))
            }
        }
        p { (t.text("consent-able")) }
        ul .plain {
            @for scope in page.scopes {
                li .danger[scope.danger] {
                    @if scope.danger { strong .tag { (t.text("consent-danger")) } " " }
                    (scope.description) @if scope.known { " " span .soft .small { (t.text("consent-before")) } }
                }
            }
        }
        @if !page.resources.is_empty() {
            p .small .soft {
                (t.html("consent-for", &[("resources", Part::Html(resources(page.resources)))]))
            }
        }
        form method="post" action=(page.action) {
            input type="hidden" name="interaction" value=(page.interaction);
            div .pair {
                button type="submit" name="decision" value="deny" { (t.text("page-deny")) }
                button .main type="submit" name="decision" value="allow" { (t.text("page-allow")) }
            }
        }
        (links(t, &page.links))
        p .small .soft .after {
            @let account = html! { a href="account" { (t.text("consent-account-page")) } };
            (t.html("consent-withdraw", &[("account", Part::Html(account))]))
        }
    })
}

fn resources(resources: &[String]) -> Markup {
    html! {
        @for (index, resource) in resources.iter().enumerate() {
            @if index > 0 { ", " }
            code { (resource) }
        }
    }
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
            danger: true,
        }];
        let html = consent(
            &Face::default(),
            &ConsentPage {
                client_name: hostile,
                client_host: hostile,
                links: ClientLinks {
                    home: None,
                    policy: Some("javascript:alert(1)"),
                    terms: Some("https://rp.example/\"onclick=\"x"),
                    pictured: Some(hostile),
                },
                username: hostile,
                scopes: &scopes,
                resources: &[hostile.to_owned()],
                ..ConsentPage::default()
            },
        );
        assert!(!html.body.contains("<script>"));
        assert!(!html.body.contains("javascript:"));
        assert!(!html.body.contains("\"onclick"));
    }

    #[test]
    fn consent_has_allow_and_deny() {
        let html = consent(&Face::default(), &ConsentPage::default());
        assert!(html.body.contains("name=\"decision\" value=\"allow\""));
        assert!(html.body.contains("name=\"decision\" value=\"deny\""));
    }
}

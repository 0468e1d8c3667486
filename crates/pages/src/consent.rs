//! Consent: who asks, and for what.

use maud::{Markup, html};

use crate::parts::face::{Face, Part, plain, strong};
use crate::parts::icon::{self, Icon, letter};
use crate::parts::layout::{Frame, Html, Menu};
use crate::parts::links::{ClientLinks, links, picture};

/// One line of what is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeLine {
    /// The scope; empty: what is asked for has no scope.
    pub name: String,
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
        (marks(t, page))
        h1 .centred { (t.html("consent-heading", &[("client", plain(page.client_name))])) }
        p .soft .centred { (t.html("page-logged-in-as", &[("name", strong(page.username))])) }
        p .able { (t.text("consent-able")) }
        (scope_list(t, page.scopes))
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
        @if !page.client_host.is_empty() {
            p .small .soft .centred { (t.html("consent-answer-to", &[("host", strong(page.client_host))])) }
        }
        (links(t, &page.links))
        p .small .soft .centred {
            @let account = html! { a href="account" { (t.text("consent-account-page")) } };
            (t.html("consent-withdraw", &[("account", Part::Html(account))]))
        }
    })
}

/// The application's mark and the server's, joined.
fn marks(t: &Face, page: &ConsentPage<'_>) -> Markup {
    html! {
        div .marks aria-hidden="true" {
            @if page.links.pictured.is_some() { span .mark { (picture(t, &page.links)) } } @else { (letter(page.client_name)) }
            span .joined { (Icon::Check.show()) }
            (own_mark(t))
        }
    }
}

/// The server's own.
fn own_mark(t: &Face) -> Markup {
    html! {
        @if t.brand.logo().is_some() {
            span .mark { img src={ (t.base) "/brand/logo" (t.brand.query) } alt=""; }
        } @else if t.brand.is_own {
            span .mark .own { (icon::signet()) }
        } @else {
            (letter(t.brand.name()))
        }
    }
}

/// What is asked for. What the application may do looks other than what it learns of the person.
pub(crate) fn scope_list(t: &Face, scopes: &[ScopeLine]) -> Markup {
    html! {
        ul .scopes {
            @for scope in scopes {
                @let icon = if scope.danger { Icon::Warning } else { icon_of(&scope.name) };
                @let class = match icon {
                    Icon::Warning => Some("danger"),
                    Icon::Check => Some("own"),
                    _ => None,
                };
                li class=[class] {
                    (icon.show())
                    span {
                        @if scope.danger { strong .tag { (t.text("consent-danger")) } " " }
                        bdi { (scope.description) } @if scope.known { " " span .soft .small { (t.text("consent-before")) } }
                    }
                }
            }
        }
    }
}

fn icon_of(scope: &str) -> Icon {
    match scope {
        "openid" | "" => Icon::Badge,
        "profile" => Icon::Person,
        "email" => Icon::Mail,
        "address" => Icon::Home,
        "phone" => Icon::Phone,
        "groups" => Icon::People,
        "offline_access" => Icon::Clock,
        _ => Icon::Check,
    }
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
            name: hostile.into(),
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
    fn what_the_application_may_do_is_told_from_who_the_person_is() {
        let line = |name: &str| ScopeLine {
            name: name.to_owned(),
            description: name.to_owned(),
            known: false,
            danger: false,
        };
        let html = scope_list(&Face::default(), &[line("email"), line("orders")]);
        let html = html.into_string();
        assert_eq!(html.matches("<svg").count(), 2, "{html}");
        assert_eq!(html.matches("<li class=\"own\">").count(), 1, "{html}");
        let page = ConsentPage {
            client_name: "Shop",
            ..ConsentPage::default()
        };
        let html = consent(&Face::default(), &page).body;
        let (marks, _) = html.split_once("<h1").expect("a heading");
        assert!(
            marks.contains(">S</span>") && marks.contains("class=\"mark own\""),
            "{marks}"
        );
    }

    #[test]
    fn consent_has_allow_and_deny() {
        let html = consent(&Face::default(), &ConsentPage::default());
        assert!(html.body.contains("name=\"decision\" value=\"allow\""));
        assert!(html.body.contains("name=\"decision\" value=\"deny\""));
    }
}

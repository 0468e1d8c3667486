//! Identity providers: their buttons, and the page of somebody who is seen for the first time.

use maud::{Markup, html};

use crate::parts::face::{Face, plain, strong};
use crate::parts::layout::{Frame, Html};

/// A button that leads to an identity provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderButton {
    /// The button's value of `decision`: `provider:NAME`.
    pub decision: String,
    /// What people call the provider.
    pub label: String,
    /// Where this server has its picture, below the issuer; none: the label's first letter.
    pub picture: Option<String>,
}

/// The buttons, behind an "or" where none was said yet.
pub(crate) fn buttons(t: &Face, providers: &[ProviderButton], or: bool) -> Markup {
    html! {
        @if or && !providers.is_empty() { p .or { (t.text("page-or")) } }
        @for provider in providers {
            button type="submit" name="decision" value=(provider.decision) formnovalidate {
                (logo(t, provider)) (t.html("provider-continue", &[("provider", plain(&provider.label))]))
            }
        }
    }
}

/// The picture that an operator named, or a letter in a circle: nobody's trade mark is drawn here.
fn logo(t: &Face, provider: &ProviderButton) -> Markup {
    if let Some(path) = &provider.picture {
        return html! { img src={ (t.base) (path) } alt="" width="20" height="20"; " " };
    }
    let letter: String = provider
        .label
        .chars()
        .take(1)
        .flat_map(char::to_uppercase)
        .collect();
    html! {
        svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" focusable="false" {
            circle cx="10" cy="10" r="9.25" fill="none" stroke="currentColor" stroke-width="1.5" {}
            text x="10" y="14" text-anchor="middle" font-size="11" font-weight="600" fill="currentColor" { (letter) }
        }
        " "
    }
}

/// What the page of somebody who is seen for the first time shows.
#[derive(Debug, Default)]
pub struct ProviderFirst<'a> {
    /// Where the form goes.
    pub action: &'a str,
    /// The sealed state of the interaction.
    pub interaction: &'a str,
    /// What people call the provider.
    pub provider: &'a str,
    /// What the person is called there.
    pub name: Option<&'a str>,
    /// Whether a new account may be made.
    pub create: bool,
    /// Whether there is somebody to go back to.
    pub can_cancel: bool,
}

/// A new account, or a link to one that the person has and proves. It is the same whether or not a
/// person has an account here.
pub fn provider_first(t: &Face, page: &ProviderFirst<'_>) -> Html {
    Frame::new(t, t.text("provider-first-title")).render(html! {
        h1 { (t.text("provider-first-title")) }
        p {
            @match page.name {
                Some(name) => { (t.html("provider-first-named", &[("provider", strong(page.provider)), ("name", strong(name))])) }
                None => { (t.html("provider-first", &[("provider", strong(page.provider))])) }
            }
        }
        form method="post" action=(page.action) {
            input type="hidden" name="interaction" value=(page.interaction);
            @if page.create {
                button .main type="submit" name="decision" value="allow" { (t.text("provider-first-create")) }
                p .or { (t.text("page-or")) }
            }
            button type="submit" name="decision" value="link" { (t.text("provider-first-link")) }
            @if page.can_cancel {
                button .text type="submit" name="decision" value="cancel" { (t.text("page-cancel")) }
            }
        }
    })
}

/// What of the links the account page shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProviderLinks<'a> {
    /// Those that there are.
    pub links: &'a [ProviderLink],
    /// Providers that can be linked.
    pub others: &'a [ProviderButton],
}

/// A link of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderLink {
    /// Names it.
    pub id: String,
    /// What people call the provider.
    pub provider: String,
    /// What the person is called there.
    pub name: Option<String>,
    /// Whether it may be taken off: not the last way to log in.
    pub can_unlink: bool,
}

/// The part of the account page about identity providers; empty where there are none.
pub(crate) fn account_links(t: &Face, interaction: &str, view: &ProviderLinks<'_>) -> Markup {
    html! {
        @if !view.links.is_empty() || !view.others.is_empty() {
            section aria-labelledby="providers" {
                h2 #providers { (t.text("provider-account-title")) }
                @for link in view.links {
                    form method="post" action="account" {
                        input type="hidden" name="interaction" value=(interaction);
                        input type="hidden" name="link" value=(link.id);
                        p {
                            strong { bdi { (link.provider) } }
                            @if let Some(name) = &link.name { " · " bdi { (name) } }
                        }
                        @if link.can_unlink {
                            button type="submit" name="decision" value="provider-unlink" { (t.text("provider-account-unlink")) }
                        }
                    }
                }
                @if !view.others.is_empty() {
                    form method="post" action="account" {
                        input type="hidden" name="interaction" value=(interaction);
                        @for provider in view.others {
                            button type="submit" name="decision" value=(provider.decision) {
                                (logo(t, provider)) (t.html("provider-account-link", &[("provider", plain(&provider.label))]))
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::login::{LoginPage, login};

    #[test]
    fn hostile_names_are_escaped() {
        let hostile = "\"><img src=x onerror=alert(1)>";
        let button = ProviderButton {
            decision: hostile.to_owned(),
            label: hostile.to_owned(),
            picture: None,
        };
        let link = ProviderLink {
            id: hostile.to_owned(),
            provider: hostile.to_owned(),
            name: Some(hostile.to_owned()),
            can_unlink: true,
        };
        let first = provider_first(
            &Face::default(),
            &ProviderFirst {
                interaction: hostile,
                provider: hostile,
                name: Some(hostile),
                create: true,
                ..ProviderFirst::default()
            },
        );
        let only = login(
            &Face::default(),
            &LoginPage {
                providers: std::slice::from_ref(&button),
                local: false,
                ..LoginPage::default()
            },
        );
        let links = account_links(
            &Face::default(),
            hostile,
            &ProviderLinks {
                links: &[link],
                others: &[button],
            },
        );
        for body in [first.body, only.body, links.into_string()] {
            assert!(!body.contains("<img"), "{body}");
        }
    }

    #[test]
    fn the_first_page_offers_a_new_account_only_where_one_may_be_made() {
        let of = |create| {
            provider_first(
                &Face::default(),
                &ProviderFirst {
                    create,
                    ..ProviderFirst::default()
                },
            )
            .body
        };
        assert!(of(true).contains("value=\"allow\""));
        assert!(!of(false).contains("value=\"allow\"") && of(false).contains("value=\"link\""));
    }
}

//! Identity providers: their buttons, and the page of somebody who is seen for the first time.

use maud::{Markup, html};
use signet_oauth::people::provider::Preset;

use crate::parts::face::{Face, plain, strong};
use crate::parts::icon::{self, letter};
use crate::parts::layout::{Frame, Html};
use crate::parts::row::{Danger, Row, danger};

/// A button that leads to an identity provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderButton {
    /// The button's value of `decision`: `provider:NAME`.
    pub decision: String,
    /// What people call the provider.
    pub label: String,
    /// Where this server has its picture, below the issuer; none: the preset's mark, or the label's
    /// first letter.
    pub picture: Option<String>,
    /// The well-known provider that it is.
    pub preset: Option<Preset>,
}

/// The buttons, behind an "or" where none was said yet.
pub(crate) fn buttons(t: &Face, providers: &[ProviderButton], or: bool) -> Markup {
    html! {
        @if or && !providers.is_empty() { p .or { (t.text("page-or")) } }
        @for provider in providers {
            button .other type="submit" name="decision" value=(provider.decision) formnovalidate {
                (logo(t, provider)) (t.html("provider-continue", &[("provider", plain(&provider.label))]))
            }
        }
    }
}

/// The picture that an operator named, the mark of a provider that everybody knows, or a letter in
/// a circle.
fn logo(t: &Face, provider: &ProviderButton) -> Markup {
    if let Some(path) = &provider.picture {
        return html! { img .icon src={ (t.base) (path) } alt="" width="20" height="20"; " " };
    }
    if let Some(preset) = provider.preset {
        return html! { (icon::provider(preset)) " " };
    }
    let letter: String = provider
        .label
        .chars()
        .take(1)
        .flat_map(char::to_uppercase)
        .collect();
    html! {
        svg .icon width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" focusable="false" {
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
    let hidden = html! { input type="hidden" name="interaction" value=(interaction); };
    html! {
        @if !view.links.is_empty() || !view.others.is_empty() {
            h2 #providers { (t.text("provider-account-title")) }
            ul .rows aria-labelledby="providers" {
                @for (index, link) in view.links.iter().enumerate() { (linked(t, link, index, &hidden)) }
                @for provider in view.others {
                    @let row = Row {
                        mark: Some(logo(t, provider)),
                        name: Some(html! { bdi { (provider.label) } }),
                        state: Some(html! { (t.text("provider-account-not-linked")) }),
                    };
                    (row.with(&html! {
                        form .inline method="post" action="account" {
                            (hidden)
                            button .narrow type="submit" name="decision" value=(provider.decision) {
                                (t.html("provider-account-link", &[("provider", plain(&provider.label))]))
                            }
                        }
                    }))
                }
            }
        }
    }
}

fn linked(t: &Face, link: &ProviderLink, index: usize, hidden: &Markup) -> Markup {
    let row = Row {
        mark: Some(letter(&link.provider)),
        name: Some(html! { bdi { (link.provider) } }),
        state: link.name.as_ref().map(|name| html! { bdi { (name) } }),
    };
    if !link.can_unlink {
        return row.plain();
    }
    let fields = html! {
        (hidden)
        input type="hidden" name="link" value=(link.id);
    };
    let act = t.text("provider-account-unlink");
    row.with(&danger(
        t,
        &Danger {
            id: &format!("unlink-{index}"),
            act: &act,
            title: &format!("{act}: {}", link.provider),
            heading: None,
            text: Some(html! { (t.text("factors-remove-text")) }),
            decision: "provider-unlink",
            fields: &fields,
        },
    ))
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
            preset: None,
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
    fn a_button_has_the_operators_picture_or_the_presets_mark_or_a_letter() {
        let of = |picture: Option<&str>, preset| {
            let button = ProviderButton {
                decision: "provider:x".to_owned(),
                label: "Example".to_owned(),
                picture: picture.map(str::to_owned),
                preset,
            };
            logo(&Face::default(), &button).into_string()
        };
        let named = of(Some("/provider-logo/x"), Some(Preset::Google));
        assert!(named.contains("src=\"/provider-logo/x\""), "{named}");
        for preset in [
            Preset::Github,
            Preset::Google,
            Preset::Microsoft,
            Preset::Gitlab,
            Preset::Apple,
        ] {
            let mark = of(None, Some(preset));
            assert!(mark.contains("<path") && !mark.contains("<text"), "{mark}");
        }
        assert!(of(None, None).contains(">E</text>"));
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

//! A new account: the address, the mail that was sent, and what stands behind its link.

use maud::{Markup, html};

use crate::parts::face::{Face, strong};
use crate::parts::layout::{Frame, Html, Menu, Notice, notice};
use crate::parts::password_field::{self, NewPassword};
use crate::parts::script::PASSWORD;

/// What the page that asks for the address shows.
#[derive(Debug, Default, Clone)]
pub struct SignUpPage<'a> {
    /// The sealed state of the interaction.
    pub interaction: &'a str,
    /// The sealed state of the login that it leads on to; None: the person came by themselves.
    pub back: Option<&'a str>,
    /// Who asked for the login.
    pub client_name: Option<&'a str>,
    /// What was typed before.
    pub email: &'a str,
    /// Whether there is a client to go back to.
    pub can_cancel: bool,
    /// What went wrong.
    pub notice: Option<Notice>,
}

/// Asks for the address of a new account.
pub fn sign_up(t: &Face, page: &SignUpPage<'_>) -> Html {
    let invalid = matches!(page.notice, Some(Notice::Error(_)));
    Frame {
        menu: Menu::Interaction(page.interaction),
        ..frame(t, "sign-up-title", page.back)
    }
    .render(html! {
        h1 { (t.text("sign-up-title")) }
        @if let Some(client) = page.client_name {
            p .soft { (t.html("login-for-client", &[("client", strong(client))])) }
        }
        p .soft { (t.text("sign-up-text")) }
        (notice(t, page.notice.as_ref()))
        form method="post" action="sign-up" {
            input type="hidden" name="interaction" value=(page.interaction);
            label for="email" { (t.text("sign-up-email")) }
            input #email name="email" type="email" value=(page.email) required maxlength="254" autofocus
                autocomplete="email" autocapitalize="none" autocorrect="off" spellcheck="false"
                aria-invalid=[invalid.then_some("true")] aria-describedby=[invalid.then_some("problem")];
            button .main type="submit" name="decision" value="email" { (t.text("sign-up-send")) }
        }
        (back(t, page.back, "sign-up-have", page.can_cancel, false))
    })
}

/// Its forms lead on to a client where the login does.
fn frame<'a>(t: &'a Face, title: &'static str, back: Option<&str>) -> Frame<'a> {
    match back {
        Some(_) => Frame::new(t, t.text(title)),
        None => Frame::own(t, t.text(title)),
    }
}

/// To the login page. `main`: there is nothing else to do on the page.
fn back(
    t: &Face,
    sealed: Option<&str>,
    label: &'static str,
    can_cancel: bool,
    main: bool,
) -> Markup {
    html! {
        @if let Some(sealed) = sealed {
            form method="post" action="interaction" {
                input type="hidden" name="interaction" value=(sealed);
                @if main {
                    button .main type="submit" name="decision" value="allow" { (t.text(label)) }
                } @else {
                    div .end {
                        @if can_cancel {
                            button .link type="submit" name="decision" value="cancel" { (t.text("page-cancel")) }
                        }
                        button .link type="submit" name="decision" value="allow" { (t.text(label)) }
                    }
                }
            }
        } @else if main {
            p { a .button .main href="account" { (t.text(label)) } }
        } @else {
            div .end { a href="account" { (t.text(label)) } }
        }
    }
}

/// The same answer for every address. `login`: the sealed state of the login that continues from
/// here, where there is one.
pub fn sign_up_sent(t: &Face, minutes: u64, login: Option<&str>) -> Html {
    frame(t, "account-recover-sent-heading", login).render(html! {
        h1 { (t.text("account-recover-sent-heading")) }
        p .soft {
            (t.with("sign-up-sent", &[("minutes", minutes.into())]))
            " " (t.text("login-code-spam"))
        }
        (back(t, login, "account-recover-back", false, true))
    })
}

/// Of an invitation.
#[derive(Debug, Clone, Copy)]
pub struct Invited<'a> {
    /// By whom, where that is a person.
    pub by: Option<&'a str>,
}

/// What the page behind a link shows: of a new account, or of an invitation to one.
#[derive(Debug, Default, Clone)]
pub struct NewAccountPage<'a> {
    /// Where the form goes, and the link led.
    pub action: &'static str,
    /// The sealed state that names the browser.
    pub interaction: &'a str,
    /// The link's value.
    pub token: &'a str,
    /// What the person logs in with.
    pub login: &'a str,
    /// It is an invitation.
    pub invited: Option<Invited<'a>>,
    /// Their full name, which they may give; None: it is known.
    pub name: Option<&'a str>,
    /// The shortest password, in characters.
    pub shortest: usize,
    /// Where the terms are that have to be accepted.
    pub terms: Option<&'a str>,
    /// What went wrong.
    pub notice: Option<Notice>,
}

/// The page behind a link.
pub fn new_account(t: &Face, page: &NewAccountPage<'_>) -> Html {
    let password = NewPassword {
        shortest: page.shortest,
        autofocus: page.name.is_none(),
        logins: &[page.login],
        name: page.name.unwrap_or(""),
    };
    let title = match page.invited {
        Some(_) => t.with(
            "mail-invitation-subject",
            &[("brand", t.brand.name().into())],
        ),
        None => t.text("sign-up-title").into_owned(),
    };
    let (about, submit) = match page.invited {
        Some(_) => ("sign-up-invited-for", "mail-invitation-button"),
        None => ("sign-up-for", "sign-up-submit"),
    };
    Frame {
        password: true,
        files: vec![&PASSWORD],
        menu: Menu::Link(page.action, page.token),
        ..Frame::own(t, &*title)
    }
    .render(html! {
        h1 { (title) }
        @if let Some(by) = page.invited.and_then(|invited| invited.by) {
            p { (t.html("sign-up-invited-by", &[("by", strong(by))])) }
        }
        p .soft { (t.html(about, &[("name", strong(page.login))])) }
        (notice(t, page.notice.as_ref()))
        form method="post" action=(page.action) {
            input type="hidden" name="token" value=(page.token);
            input type="hidden" name="interaction" value=(page.interaction);
            input type="text" name="username" value=(page.login) autocomplete="username" hidden;
            @if let Some(name) = page.name {
                label for="name" { (t.text("sign-up-name")) }
                input #name name="name" type="text" value=(name) maxlength="256" autofocus autocomplete="name";
            }
            (password_field::new(t, &password))
            @if let Some(url) = page.terms {
                (terms_box(t, url))
            }
            button .main type="submit" name="decision" value="allow" { (t.text(submit)) }
        }
    })
}

/// The box that accepts the terms.
pub(crate) fn terms_box(t: &Face, url: &str) -> Markup {
    html! {
        div .check {
            input #terms type="checkbox" name="terms" value="accepted" required;
            label for="terms" {
                (t.text("sign-up-terms")) " "
                a href=(url) rel="noopener noreferrer" target="_blank" { (t.text("sign-up-terms-link")) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "\"><img src=x onerror=alert(1)>";

    #[test]
    fn hostile_values_are_escaped_on_the_pages_of_a_new_account() {
        let t = Face::default();
        let asked = SignUpPage {
            interaction: HOSTILE,
            back: Some(HOSTILE),
            client_name: Some(HOSTILE),
            email: HOSTILE,
            can_cancel: true,
            notice: Some(Notice::Error("sign-up-domain")),
        };
        let behind = NewAccountPage {
            action: "sign-up",
            interaction: HOSTILE,
            token: HOSTILE,
            login: HOSTILE,
            invited: Some(Invited { by: Some(HOSTILE) }),
            name: Some(HOSTILE),
            shortest: 8,
            terms: Some(HOSTILE),
            notice: None,
        };
        for html in [
            sign_up(&t, &asked),
            sign_up_sent(&t, 30, Some(HOSTILE)),
            new_account(&t, &behind),
        ] {
            assert!(!html.body.contains("<img"), "{}", html.body);
        }
    }

    #[test]
    fn terms_are_asked_for_where_there_are_any() {
        let t = Face::default();
        let without = NewAccountPage::default();
        assert!(!new_account(&t, &without).body.contains("terms"));
        let with = NewAccountPage {
            terms: Some("https://example.com/terms"),
            ..without
        };
        let html = new_account(&t, &with).body;
        assert!(html.contains("name=\"terms\" value=\"accepted\" required"));
        assert!(html.contains("href=\"https://example.com/terms\""));
    }
}

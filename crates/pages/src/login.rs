//! Log in: with a password, with a code from the mail, or as somebody who already did.

pub(crate) mod accept_terms;
pub(crate) mod first_password;
pub(crate) mod login_link;
pub(crate) mod passkey;
pub(crate) mod providers;
pub(crate) mod sign_up;
pub(crate) mod steps;

use maud::{Markup, html};

use crate::login::providers::{ProviderButton, buttons};
use crate::parts::button::MethodButton;
use crate::parts::face::{Face, plain, strong};
use crate::parts::layout::{Frame, Html, Menu, Notice, notice};
use crate::parts::links::{ClientLinks, links, picture};
use crate::parts::password_field::{self, PasswordField};
use crate::parts::script::{PASSKEY, PASSWORD};

/// What the first login page shows.
#[derive(Debug, Default)]
pub struct LoginPage<'a> {
    /// Where the form goes.
    pub action: &'a str,
    /// The sealed state of the interaction.
    pub interaction: &'a str,
    /// Who asked for the login; None: the person came by themselves.
    pub client_name: Option<&'a str>,
    /// Their own pages.
    pub links: ClientLinks<'a>,
    /// What was typed before, or the request's `login_hint`.
    pub username: &'a str,
    /// The methods whose fields are on pages of their own: each is a button.
    pub methods: &'a [MethodButton],
    /// What a browser is asked for that has passkeys; none: they are not offered.
    pub passkey: Option<&'a str>,
    /// Identity providers: each is a button.
    pub providers: &'a [ProviderButton],
    /// Whether people may log in here, and not only at providers.
    pub local: bool,
    /// Whether a lost password can be recovered by mail.
    pub recovery: bool,
    /// Whether people can make accounts for themselves.
    pub sign_up: bool,
    /// Whether the login is for something beyond this server's own pages: a recovery, or
    /// a new account, comes back to it.
    pub leads_on: bool,
    /// Whether there is somebody to go back to.
    pub can_cancel: bool,
    /// What went wrong before.
    pub notice: Option<Notice>,
}

/// The login page of a realm where nobody logs in but at providers.
fn only(t: &Face, page: &LoginPage<'_>) -> Html {
    Frame::new(t, t.text("login-title")).render(html! {
        (picture(t, &page.links))
        h1 { (t.text("login-title")) }
        @if let Some(client) = page.client_name {
            p .soft { (t.html("login-for-client", &[("client", strong(client))])) }
        }
        (notice(t, page.notice.as_ref()))
        form method="post" action=(page.action) {
            input type="hidden" name="interaction" value=(page.interaction);
            @if page.providers.is_empty() { p { (t.text("provider-not-offered")) } }
            (buttons(t, page.providers, false))
            (end(t, &LoginPage { sign_up: false, can_cancel: page.can_cancel, ..LoginPage::default() }))
        }
        (links(t, &page.links))
    })
}

/// Under the card's rule: the way back, and the way to an account.
fn end(t: &Face, page: &LoginPage<'_>) -> Markup {
    html! {
        @if page.can_cancel || page.sign_up {
            div .end {
                @if page.can_cancel {
                    button .link type="submit" name="decision" value="cancel" formnovalidate { (t.text("page-cancel")) }
                }
                @if page.sign_up {
                    p {
                        (t.text("login-new-here")) " "
                        @if page.leads_on {
                            // Of a form of its own: no password is sent along.
                            button #sign-up .link type="submit" form="to-sign-up" { (t.text("login-sign-up")) }
                        } @else {
                            a #sign-up href="sign-up" { (t.text("login-sign-up")) }
                        }
                    }
                }
            }
        }
    }
}

/// User name and password together; the other methods as buttons.
pub fn login(t: &Face, page: &LoginPage<'_>) -> Html {
    if !page.local {
        return only(t, page);
    }
    let invalid = matches!(page.notice, Some(Notice::Error(_)));
    let problem = invalid.then_some("problem");
    Frame {
        password: true,
        menu: Menu::Interaction(page.interaction),
        files: page.passkey.map(|_| &*PASSKEY).into_iter().chain([&*PASSWORD]).collect(),
        ..Frame::new(t, t.text("login-title"))
    }
    .render(html! {
        (picture(t, &page.links))
        h1 { (t.text("login-title")) }
        @if let Some(client) = page.client_name {
            p .soft { (t.html("login-for-client", &[("client", strong(client))])) }
        }
        (notice(t, page.notice.as_ref()))
        form method="post" action=(page.action) {
            input type="hidden" name="interaction" value=(page.interaction);
            label for="username" { (t.text("login-username")) }
            input #username name="username" type="text" value=(page.username) required maxlength="254"
                autocomplete=(if page.passkey.is_some() { "username webauthn" } else { "username" }) autocapitalize="none" autocorrect="off" spellcheck="false"
                autofocus[page.username.is_empty()] aria-invalid=[invalid.then_some("true")] aria-describedby=[problem];
            div .labels {
                label for="password" { (t.text("login-password")) }
                (password_field::current(t, &PasswordField { autofocus: !page.username.is_empty(), problem }))
                // Behind the field: Tab leads from the name to the password. The style puts it
                // beside the label.
                @if page.recovery {
                    // Of a form of its own: no password is sent along.
                    button .small type="submit" form="forgotten" { (t.text("login-forgotten")) }
                }
            }
            button .main type="submit" name="decision" value="allow" { (t.text("login-submit")) }
            @if !page.methods.is_empty() || page.passkey.is_some() { p .or { (t.text("page-or")) } }
            @if let Some(options) = page.passkey { (passkey::login_button(t, options)) }
            @for method in page.methods {
                button .other type="submit" name="decision" value=(method.decision) formnovalidate {
                    @if let Some(icon) = method.icon() { (icon.show()) " " }
                    (t.text(method.label))
                }
            }
            (buttons(t, page.providers, page.methods.is_empty() && page.passkey.is_none()))
            (end(t, page))
        }
        @if page.sign_up && page.leads_on {
            form #to-sign-up .bare method="post" action="sign-up" {
                input type="hidden" name="interaction" value=(page.interaction);
            }
        }
        @if page.recovery {
            form #forgotten .bare method="post" action="account/recover" {
                input type="hidden" name="interaction" value=(page.interaction);
                // The script keeps it as it is typed above.
                input type="hidden" name="typed" value=(page.username);
            }
        }
        (links(t, &page.links))
    })
}

/// What the page for the mailed code shows.
#[derive(Debug, Default)]
pub struct CodePage<'a> {
    /// Where the form goes.
    pub action: &'a str,
    /// The sealed state of the interaction.
    pub interaction: &'a str,
    /// The user name or address as it was typed; the page never says whether it exists.
    pub typed: &'a str,
    /// How long a code lives, in minutes.
    pub minutes: u64,
    /// Whether there is somebody to go back to.
    pub can_cancel: bool,
    /// What may be shown in its place.
    pub others: &'a [MethodButton],
    /// What went wrong, or that a new code was sent.
    pub notice: Option<Notice>,
}

/// Six digits from the mail.
pub fn code(t: &Face, page: &CodePage<'_>) -> Html {
    let invalid = matches!(page.notice, Some(Notice::Error(_)));
    let minutes = page.minutes.max(1);
    Frame {
        menu: Menu::Interaction(page.interaction),
        ..Frame::new(t, t.text("login-code-title"))
    }
    .render(html! {
        h1 { (t.text("login-code-heading")) }
        p #about .soft {
            (t.html("login-code-about", &[("name", strong(page.typed)), ("minutes", minutes.into())]))
            " " (t.text("login-code-spam"))
        }
        (notice(t, page.notice.as_ref()))
        form method="post" action=(page.action) {
            input type="hidden" name="interaction" value=(page.interaction);
            label for="otp" { (t.text("login-code-label")) }
            input #otp .code name="otp" type="text" required maxlength="12" inputmode="numeric" pattern="[0-9 ]*"
                autocomplete="one-time-code" autofocus aria-invalid=[invalid.then_some("true")]
                aria-describedby=[Some(if invalid { "problem" } else { "about" })];
            button .main type="submit" name="decision" value="allow" { (t.text("page-continue")) }
            button type="submit" name="decision" value="email" formnovalidate { (t.text("login-code-resend")) }
            @for other in page.others {
                button .text type="submit" name="decision" value=(other.decision) formnovalidate { (t.text(other.label)) }
            }
            @if page.can_cancel {
                button .text type="submit" name="decision" value="cancel" formnovalidate { (t.text("page-cancel")) }
            }
        }
    })
}

/// What the account selection shows.
#[derive(Debug, Default)]
pub struct SelectPage<'a> {
    /// Where the form goes.
    pub action: &'a str,
    /// The sealed state of the interaction.
    pub interaction: &'a str,
    /// Who asked.
    pub client_name: Option<&'a str>,
    /// The person of the session.
    pub display_name: &'a str,
    /// Their user name.
    pub username: &'a str,
}

/// `prompt=select_account`: continue as the person of the session, or as somebody else.
pub fn select_account(t: &Face, page: &SelectPage<'_>) -> Html {
    Frame {
        menu: Menu::Interaction(page.interaction),
        ..Frame::new(t, t.text("login-select-title"))
    }
    .render(html! {
        h1 { (t.text("login-select-title")) }
        @if let Some(client) = page.client_name {
            p .soft { (t.html("login-for-client", &[("client", strong(client))])) }
        }
        form method="post" action=(page.action) {
            input type="hidden" name="interaction" value=(page.interaction);
            button .main type="submit" name="decision" value="allow" {
                (t.html("login-select-continue", &[("name", plain(page.display_name))]))
                @if page.display_name != page.username { " (" bdi { (page.username) } ")" }
            }
            button type="submit" name="decision" value="other" { (t.text("login-select-other")) }
            button .text type="submit" name="decision" value="cancel" { (t.text("page-cancel")) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_login_page_keeps_the_contract_of_names() {
        let html = login(
            &Face::default(),
            &LoginPage {
                action: "/interaction",
                interaction: "sealed",
                methods: &[MethodButton {
                    decision: "email",
                    label: "login-email-button",
                }],
                can_cancel: true,
                local: true,
                ..LoginPage::default()
            },
        );
        for part in [
            "name=\"username\"",
            "name=\"password\"",
            "name=\"decision\" value=\"allow\"",
            "name=\"decision\" value=\"email\"",
            "name=\"decision\" value=\"cancel\"",
            "name=\"interaction\" value=\"sealed\"",
        ] {
            assert!(html.body.contains(part), "{part} in {}", html.body);
        }
        // Enter presses the first submit button of the form.
        assert!(html.body.find("value=\"allow\"") < html.body.find("value=\"email\""));
    }

    #[test]
    fn nothing_stands_between_the_name_and_the_password_in_the_order_of_tab() {
        for leads_on in [true, false] {
            let html = login(
                &Face::default(),
                &LoginPage {
                    local: true,
                    recovery: true,
                    sign_up: true,
                    leads_on,
                    ..LoginPage::default()
                },
            );
            let at = |part: &str| html.body.find(part).expect(part);
            let between = &html.body[at("name=\"username\"")..at("name=\"password\"")];
            // Up to where the password's own field begins.
            let between = &between[..between.rfind("<input").expect("a field")];
            for focusable in ["<a ", "<button", "<input", "tabindex"] {
                assert!(!between.contains(focusable), "{focusable} in {between}");
            }
        }
    }

    #[test]
    fn a_name_goes_along_to_the_page_of_a_forgotten_password_and_a_password_does_not() {
        let page = LoginPage {
            local: true,
            recovery: true,
            username: "alice",
            ..LoginPage::default()
        };
        let html = login(&Face::default(), &page).body;
        let form = &html[html.find("id=\"forgotten\"").expect("a form")..];
        let form = &form[..form.find("</form>").expect("its end")];
        assert!(form.contains("name=\"typed\" value=\"alice\""), "{form}");
        assert!(!form.contains("password"), "{form}");
    }

    #[test]
    fn the_way_to_an_account_and_the_way_back_stand_on_one_line_and_send_no_password() {
        let mut page = LoginPage {
            local: true,
            sign_up: true,
            leads_on: true,
            can_cancel: true,
            ..LoginPage::default()
        };
        let html = login(&Face::default(), &page).body;
        let (_, end) = html.split_once("<div class=\"end\">").expect("the end");
        let end = end.split("</div>").next().expect("its end");
        assert!(
            end.find("value=\"cancel\"") < end.find("id=\"sign-up\""),
            "{end}"
        );
        assert!(end.contains("New here?"), "{end}");
        // The button is of the other form.
        assert!(end.contains("form=\"to-sign-up\""), "{end}");
        assert!(html.contains(
            "<form class=\"bare\" id=\"to-sign-up\" method=\"post\" action=\"sign-up\">"
        ));
        (page.sign_up, page.can_cancel) = (false, false);
        let html = login(&Face::default(), &page).body;
        assert!(!html.contains("class=\"end\""), "{html}");
    }

    #[test]
    fn hostile_names_are_escaped_on_login_pages() {
        let hostile = "\"><img src=x onerror=alert(1)>";
        let pages = [
            login(
                &Face::default(),
                &LoginPage {
                    client_name: Some(hostile),
                    username: hostile,
                    interaction: hostile,
                    local: true,
                    ..LoginPage::default()
                },
            ),
            code(
                &Face::default(),
                &CodePage {
                    typed: hostile,
                    ..CodePage::default()
                },
            ),
            select_account(
                &Face::default(),
                &SelectPage {
                    display_name: hostile,
                    username: hostile,
                    client_name: Some(hostile),
                    ..SelectPage::default()
                },
            ),
        ];
        for page in pages {
            assert!(!page.body.contains("<img"), "{}", page.body);
        }
    }

    #[test]
    fn an_error_is_announced_and_tied_to_its_fields() {
        let html = login(
            &Face::default(),
            &LoginPage {
                notice: Some(Notice::Error("login-password-wrong")),
                local: true,
                ..LoginPage::default()
            },
        );
        assert!(html.body.contains("role=\"alert\""));
        assert!(html.body.contains("aria-describedby=\"problem\""));
    }
}

//! A forgotten password: who it is of, the mail that is on its way, and the page behind its link.

use maud::{Markup, html};

use crate::parts::face::{Face, strong};
use crate::parts::layout::{Frame, Html, Menu, Notice, notice};
use crate::parts::password_field::{self, NewPassword};
use crate::parts::script::PASSWORD;

/// `/account/recover`: asks whose password was forgotten. `back`: as for [`recover_sent`].
pub fn recover(
    t: &Face,
    interaction: &str,
    typed: &str,
    problem: Option<Notice>,
    back: Option<&str>,
) -> Html {
    Frame {
        menu: Menu::Interaction(interaction),
        ..Frame::own(t, t.text("account-recover-title"))
    }
    .render(html! {
        h1 { (t.text("account-recover-heading")) }
        p .soft { (t.text("account-recover-text")) }
        (notice(t, problem.as_ref()))
        form method="post" action={ (t.base) "/account/recover" } {
            input type="hidden" name="interaction" value=(interaction);
            label for="username" { (t.text("login-username")) }
            input #username name="username" type="text" value=(typed) required maxlength="254" autofocus
                autocomplete="username" autocapitalize="none" autocorrect="off" spellcheck="false";
            button .main type="submit" name="decision" value="email" { (t.text("account-recover-send")) }
        }
        (back_to_login(t, back, false))
    })
}

/// To the login that continues from here, where there is one, or to the person's own. `main`: there
/// is nothing else to do on the page.
fn back_to_login(t: &Face, back: Option<&str>, main: bool) -> Markup {
    html! {
        @if let Some(interaction) = back {
            form method="post" action={ (t.base) "/interaction" } {
                input type="hidden" name="interaction" value=(interaction);
                @if main {
                    button .main type="submit" name="decision" value="allow" { (t.text("account-recover-back")) }
                } @else {
                    div .end { button .link type="submit" name="decision" value="allow" { (t.text("account-recover-back")) } }
                }
            }
        } @else if main {
            p { a .button .main href={ (t.base) "/account" } { (t.text("account-recover-back")) } }
        } @else {
            div .end { a href={ (t.base) "/account" } { (t.text("account-recover-back")) } }
        }
    }
}

/// The same answer for every name. `back`: the sealed interaction of a login that continues from
/// here, where there is one.
pub fn recover_sent(t: &Face, minutes: u64, back: Option<&str>) -> Html {
    Frame::own(t, t.text("account-recover-sent-heading")).render(html! {
        h1 { (t.text("account-recover-sent-heading")) }
        p .soft {
            (t.with("account-recover-sent", &[("minutes", minutes.into())]))
            " " (t.text("login-code-spam"))
        }
        (back_to_login(t, back, true))
    })
}

/// The page behind the link.
pub fn reset(
    t: &Face,
    token: &str,
    username: &str,
    shortest: usize,
    problem: Option<Notice>,
) -> Html {
    Frame {
        password: true,
        files: vec![&PASSWORD],
        menu: Menu::Link("account/recover", token),
        ..Frame::own(t, t.text("account-reset-title"))
    }
    .render(html! {
        h1 { (t.text("account-reset-title")) }
        p .soft { (t.html("account-reset-text", &[("name", strong(username))])) }
        (notice(t, problem.as_ref()))
        form method="post" action={ (t.base) "/account/recover" } {
            input type="hidden" name="token" value=(token);
            input type="text" name="username" value=(username) autocomplete="username" hidden;
            (password_field::new(t, &NewPassword { shortest, autofocus: true, logins: &[username], name: "" }))
            button .main type="submit" name="decision" value="password" { (t.text("account-password-save")) }
        }
    })
}

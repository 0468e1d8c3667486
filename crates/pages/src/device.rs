//! The second screen of the device flow (RFC 8628 section 3.3).

use maud::html;

use super::consent::{ScopeLine, scope_list};
use crate::parts::face::{Face, plain, strong};
use crate::parts::layout::{Frame, Html, Menu, Notice, notice};

/// Asks for the code that the device shows. `user_code` may come from the link; the person sees it
/// before it counts.
pub fn device_enter(
    t: &Face,
    action: &str,
    interaction: &str,
    user_code: &str,
    problem: Option<Notice>,
) -> Html {
    let invalid = matches!(problem, Some(Notice::Error(_)));
    Frame {
        menu: Menu::Interaction(interaction),
        ..Frame::own(t, t.text("device-title"))
    }
    .render(html! {
        h1 { (t.text("device-title")) }
        p #about .soft { (t.text("device-enter")) }
        (notice(t, problem.as_ref()))
        form method="post" action=(action) {
            input type="hidden" name="interaction" value=(interaction);
            label for="user_code" { (t.text("device-code")) }
            input #user_code .code name="user_code" type="text" value=(user_code) required maxlength="32" autofocus
                autocomplete="off" autocapitalize="characters" spellcheck="false"
                aria-invalid=[invalid.then_some("true")] aria-describedby=[Some(if invalid { "problem" } else { "about" })];
            button .main type="submit" name="decision" value="allow" { (t.text("page-continue")) }
        }
    })
}

/// Shows who asks, for what, and the code again: an attacker's code sent by mail is not the one on
/// the person's device (RFC 8628 section 5.4).
pub fn device_confirm(
    t: &Face,
    action: &str,
    interaction: &str,
    user_code: &str,
    client_name: &str,
    username: &str,
    scopes: &[ScopeLine],
) -> Html {
    Frame {
        menu: Menu::Interaction(interaction),
        ..Frame::own(t, t.text("device-title"))
    }
    .render(html! {
        h1 { (t.html("device-confirm", &[("client", plain(client_name))])) }
        p .soft { (t.html("page-logged-in-as", &[("name", strong(username))])) }
        p { (t.text("device-check")) }
        p .big { code { (user_code) } }
        @if !scopes.is_empty() {
            p .able { (t.text("consent-able")) }
            (scope_list(t, scopes))
        }
        form method="post" action=(action) {
            input type="hidden" name="interaction" value=(interaction);
            div .pair {
                button type="submit" name="decision" value="deny" { (t.text("page-deny")) }
                button .main type="submit" name="decision" value="allow" { (t.text("page-allow")) }
            }
        }
    })
}

/// The end of the device flow on this screen.
pub fn device_done(t: &Face, allowed: bool) -> Html {
    let (title, text) = match allowed {
        true => ("device-done-title", "device-done"),
        false => ("device-refused-title", "device-refused"),
    };
    Frame::own(t, t.text(title)).render(html! {
        h1 { (t.text(title)) }
        p .soft { (t.text(text)) " " (t.text("page-close")) }
        p { a .button .main href="account" { (t.text("page-to-account")) } }
    })
}

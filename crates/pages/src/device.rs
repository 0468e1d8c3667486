//! The second screen of the device flow (RFC 8628 section 3.3).

use maud::html;

use super::consent::ScopeLine;
use super::layout::{Frame, Html, Notice, notice};

/// Asks for the code that the device shows. `user_code` may come from the link; the person sees it
/// before it counts.
pub fn device_enter(
    action: &str,
    interaction: &str,
    user_code: &str,
    problem: Option<Notice>,
) -> Html {
    let invalid = matches!(problem, Some(Notice::Error(_)));
    Frame::own("Connect a device").render(html! {
        h1 { "Connect a device" }
        p #about .soft { "Enter the code that your device shows." }
        (notice(problem.as_ref()))
        form method="post" action=(action) {
            input type="hidden" name="interaction" value=(interaction);
            label for="user_code" { "Code" }
            input #user_code .code name="user_code" type="text" value=(user_code) required maxlength="32" autofocus
                autocomplete="off" autocapitalize="characters" spellcheck="false"
                aria-invalid=[invalid.then_some("true")] aria-describedby=[Some(if invalid { "problem" } else { "about" })];
            button .main type="submit" name="decision" value="allow" { "Continue" }
        }
    })
}

/// Shows who asks, for what, and the code again: an attacker's code sent by mail is not the one on
/// the person's device (RFC 8628 section 5.4).
pub fn device_confirm(
    action: &str,
    interaction: &str,
    user_code: &str,
    client_name: &str,
    username: &str,
    scopes: &[ScopeLine],
) -> Html {
    Frame::own("Connect a device").render(html! {
        h1 { "Connect " bdi { (client_name) } "?" }
        p .soft { "You are logged in as " strong { bdi { (username) } } "." }
        p { "Go on only if you hold the device, and it shows this code:" }
        p .big { code { (user_code) } }
        @if !scopes.is_empty() {
            p { "It would be able to:" }
            ul .plain { @for scope in scopes { li { (scope.description) } } }
        }
        form method="post" action=(action) {
            input type="hidden" name="interaction" value=(interaction);
            div .pair {
                button type="submit" name="decision" value="deny" { "Deny" }
                button .main type="submit" name="decision" value="allow" { "Allow" }
            }
        }
    })
}

/// The end of the device flow on this screen.
pub fn device_done(allowed: bool) -> Html {
    let title = if allowed {
        "Device connected"
    } else {
        "Not connected"
    };
    Frame::own(title).render(html! {
        h1 { (title) }
        @if allowed {
            p .soft { "Go back to your device. You can close this page." }
        } @else {
            p .soft { "The device was refused. You can close this page." }
        }
    })
}

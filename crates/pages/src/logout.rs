//! The end of a session.

use maud::html;

use super::layout::{Frame, Html};
use super::leaving::link;

/// Asks before a session ends: a link from anywhere must not log a person out (OpenID RP-Initiated
/// Logout section 2).
pub fn logout_confirm(
    action: &str,
    interaction: &str,
    username: &str,
    client_name: Option<&str>,
    host: Option<&str>,
) -> Html {
    Frame::new("Log out?").render(html! {
        h1 { "Log out?" }
        p .soft {
            @if let Some(client) = client_name { strong { bdi { (client) } } " asks to log you out. " }
            "You are logged in as " strong { bdi { (username) } } "."
            @if let Some(host) = host { " After it you go to " strong { bdi { (host) } } "." }
        }
        form method="post" action=(action) {
            input type="hidden" name="interaction" value=(interaction);
            button .main type="submit" name="decision" value="allow" { "Log out" }
            button .text type="submit" name="decision" value="deny" { "Stay logged in" }
        }
    })
}

/// The person chose to stay.
pub fn stayed() -> Html {
    Frame::own("Still logged in").render(html! {
        h1 { "You are still logged in" }
        p .soft { "Nothing was changed. You can close this page." }
    })
}

/// After a logout that leads nowhere by itself. `onward`: host and URL of a place that was asked
/// for by nobody known.
pub fn signed_out(onward: Option<(&str, &str)>) -> Html {
    Frame {
        main_id: "signed-out",
        ..Frame::own("Logged out")
    }
    .render(html! {
        h1 { "You are logged out" }
        p .soft { "You are logged out on this browser. You can close this page." }
        @if let Some((host, url)) = onward { (link(host, url)) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_find_the_signed_out_page() {
        assert!(signed_out(None).body.contains("<main id=\"signed-out\""));
        assert!(!stayed().body.contains("signed-out"));
    }
}

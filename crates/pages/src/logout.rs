//! The end of a session.

use maud::html;

use super::layout::{Frame, Html};

/// Asks before a session ends: a link from anywhere must not log a person out (OpenID RP-Initiated Logout section 2).
pub fn logout_confirm(
    action: &str,
    interaction: &str,
    username: &str,
    client_name: Option<&str>,
) -> Html {
    Frame::new("Log out?").render(html! {
        h1 { "Log out?" }
        p .soft {
            @if let Some(client) = client_name { strong { bdi { (client) } } " asks to log you out. " }
            "You are logged in as " strong { bdi { (username) } } "."
        }
        form method="post" action=(action) {
            input type="hidden" name="interaction" value=(interaction);
            button .main type="submit" name="decision" value="allow" { "Log out" }
            button .text type="submit" name="decision" value="deny" { "Stay logged in" }
        }
    })
}

/// After a logout without a registered place to go back to; `stayed`: the person chose to stay.
pub fn signed_out(stayed: bool) -> Html {
    if stayed {
        return Frame::own("Still logged in").render(html! {
            h1 { "You are still logged in" }
            p .soft { "Nothing was changed. You can close this page." }
        });
    }
    Frame {
        main_id: "signed-out",
        ..Frame::own("Logged out")
    }
    .render(html! {
        h1 { "You are logged out" }
        p .soft { "You are logged out on this browser. You can close this page." }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_find_the_signed_out_page() {
        assert!(signed_out(false).body.contains("<main id=\"signed-out\""));
        assert!(!signed_out(true).body.contains("signed-out"));
    }
}

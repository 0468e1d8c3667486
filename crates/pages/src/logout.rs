//! The end of a session.

use maud::html;

use super::face::{Face, strong};
use super::layout::{Frame, Html};
use super::leaving::link;

/// Asks before a session ends: a link from anywhere must not log a person out (OpenID RP-Initiated
/// Logout section 2).
pub fn logout_confirm(
    t: &Face,
    action: &str,
    interaction: &str,
    username: &str,
    client_name: Option<&str>,
    host: Option<&str>,
) -> Html {
    Frame::new(t, t.text("logout-title")).render(html! {
        h1 { (t.text("logout-title")) }
        p .soft {
            @if let Some(client) = client_name {
                (t.html("logout-asked-by", &[("client", strong(client))])) " "
            }
            (t.html("page-logged-in-as", &[("name", strong(username))]))
            @if let Some(host) = host { " " (t.html("logout-then", &[("host", strong(host))])) }
        }
        form method="post" action=(action) {
            input type="hidden" name="interaction" value=(interaction);
            button .main type="submit" name="decision" value="allow" { (t.text("logout-submit")) }
            button .text type="submit" name="decision" value="deny" { (t.text("logout-stay")) }
        }
    })
}

/// The person chose to stay.
pub fn stayed(t: &Face) -> Html {
    Frame::own(t, t.text("logout-stayed-title")).render(html! {
        h1 { (t.text("logout-stayed-heading")) }
        p .soft { (t.text("logout-stayed")) " " (t.text("page-close")) }
        p { a .alone href="account" { (t.text("page-to-account")) } }
    })
}

/// After a logout that leads nowhere by itself. `onward`: host and URL of a place that was asked
/// for by nobody known.
pub fn signed_out(t: &Face, onward: Option<(&str, &str)>) -> Html {
    Frame {
        main_id: "signed-out",
        ..Frame::own(t, t.text("logout-done-title"))
    }
    .render(html! {
        h1 { (t.text("logout-done-heading")) }
        p .soft { (t.text("logout-done")) " " (t.text("page-close")) }
        @if let Some((host, url)) = onward { (link(t, host, url)) }
        p { a .alone href="account" { (t.text("logout-again")) } }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_find_the_signed_out_page() {
        assert!(
            signed_out(&Face::default(), None)
                .body
                .contains("<main id=\"signed-out\"")
        );
        assert!(!stayed(&Face::default()).body.contains("signed-out"));
    }
}

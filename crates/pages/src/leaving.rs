//! Before a person leaves for a place that nobody but its owner has vouched for.
//!
//! A client that registered itself, or a logout that no ID token came with, must not turn this
//! server's address into a redirect to wherever somebody likes (RFC 9700 section 4.11.2): the page
//! says where it would go, and the person goes, or not.

use maud::{Markup, html};

use super::layout::{Frame, Html};

/// How it goes on.
#[derive(Debug, Clone, Copy)]
pub enum Onward<'a> {
    /// To this URL.
    Link(&'a str),
    /// With these fields, posted there.
    Form {
        /// The client's redirect URI.
        action: &'a str,
        /// Name and value, in order.
        fields: &'a [(&'a str, &'a str)],
    },
}

/// What the page shows.
#[derive(Debug)]
pub struct LeavingPage<'a> {
    /// Where it goes, for people.
    pub host: &'a str,
    /// The error's code, for scripts.
    pub error: &'a str,
    /// What went wrong, in words; may be empty.
    pub description: &'a str,
    /// How it goes on.
    pub onward: Onward<'a>,
}

/// A link to another place, as a person decides to follow it.
pub(super) fn link(host: &str, url: &str) -> Markup {
    html! {
        p { a .alone #onward href=(url) rel="noopener noreferrer nofollow" { "Go on to " bdi { (host) } } }
    }
}

/// An error of a client that registered itself.
pub fn leaving(page: &LeavingPage<'_>) -> Html {
    Frame {
        main_id: "error",
        error_code: Some(page.error),
        ..Frame::new("That did not work")
    }
    .render(html! {
        h1 { "That did not work" }
        p .soft {
            "An application asked for something that cannot be done."
            @if !page.description.is_empty() { " It is told: " bdi { (page.description) } }
        }
        p { "It wants you back at " strong { bdi { (page.host) } } ". Nobody has checked who runs it. If you do not know it, close this page." }
        @match page.onward {
            Onward::Link(url) => { (link(page.host, url)) }
            Onward::Form { action, fields } => {
                form method="post" action=(action) {
                    @for (name, value) in fields {
                        input type="hidden" name=(name) value=(value);
                    }
                    button type="submit" { "Go on to " bdi { (page.host) } }
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_before_leaving_goes_nowhere_by_itself() {
        let hostile = "\"><script>x</script>";
        let fields = [("state", hostile)];
        for onward in [
            Onward::Link("https://rp.example/cb?error=x&state=\"><script>"),
            Onward::Form {
                action: "https://rp.example/cb",
                fields: &fields,
            },
        ] {
            let html = leaving(&LeavingPage {
                host: hostile,
                error: "invalid_request",
                description: hostile,
                onward,
            });
            assert!(!html.body.contains("<script"));
            assert!(!html.body.contains("http-equiv"));
            assert!(html.body.contains("data-error=\"invalid_request\""));
        }
    }
}

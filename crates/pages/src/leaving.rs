//! Before a person leaves for a place that nobody but its owner has vouched for.
//!
//! A client that registered itself, or a logout that no ID token came with, must not turn this
//! server's address into a redirect to wherever somebody likes (RFC 9700 section 4.11.2): the page
//! says where it would go, and the person goes, or not.

use maud::{Markup, html};

use crate::parts::face::{Face, Part, plain, strong};
use crate::parts::layout::{Frame, Html};

/// How it continues.
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
    /// How it continues.
    pub onward: Onward<'a>,
}

/// A link to another place, as a person decides to follow it.
pub(super) fn link(t: &Face, host: &str, url: &str) -> Markup {
    html! {
        p { a #onward .button .main href=(url) rel="noopener noreferrer nofollow" { (t.html("error-leaving-go", &[("host", plain(host))])) } }
    }
}

/// The protocol's descriptions of errors are for developers, and English everywhere.
fn english(description: &str) -> Part {
    Part::Html(html! { bdi lang="en" { (description) } })
}

/// An error of a client that registered itself.
pub fn leaving(t: &Face, page: &LeavingPage<'_>) -> Html {
    Frame {
        main_id: "error",
        error_code: Some(page.error),
        ..Frame::new(t, t.text("error-leaving-title"))
    }
    .render(html! {
        h1 { (t.text("error-leaving-title")) }
        p .soft {
            (t.text("error-leaving-asked"))
            @if !page.description.is_empty() {
                " " (t.html("error-leaving-told", &[("description", english(page.description))]))
            }
        }
        p { (t.html("error-leaving-wants", &[("host", strong(page.host))])) }
        @match page.onward {
            Onward::Link(url) => { (link(t, page.host, url)) }
            Onward::Form { action, fields } => {
                form method="post" action=(action) {
                    @for (name, value) in fields {
                        input type="hidden" name=(name) value=(value);
                    }
                    button .main type="submit" { (t.html("error-leaving-go", &[("host", plain(page.host))])) }
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
            let html = leaving(
                &Face::default(),
                &LeavingPage {
                    host: hostile,
                    error: "invalid_request",
                    description: hostile,
                    onward,
                },
            );
            assert!(!html.body.contains("<script"));
            assert!(!html.body.contains("http-equiv"));
            assert!(html.body.contains("data-error=\"invalid_request\""));
        }
    }
}

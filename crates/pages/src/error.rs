//! The error page: what happened in words, and the code that a developer looks for.

use maud::html;

use crate::parts::face::{Face, Part};
use crate::parts::layout::{Frame, Html, Menu};

/// Shown where the error cannot go back to the client. `code` is the protocol's error code;
/// `description` a fixed text in English, or the id of a text; `request_id` finds the log line.
/// `sealed`: all of it, for the menu of languages.
pub fn error(t: &Face, code: &str, description: &str, request_id: &str, sealed: &str) -> Html {
    let mono = |text: &str| Part::Html(html! { code dir="ltr" { (text) } });
    Frame {
        main_id: "error",
        error_code: Some(code),
        menu: Menu::Error(sealed),
        ..Frame::own(t, t.text("error-title"))
    }
    .render(html! {
        h1 { (t.text("error-heading")) }
        @match t.language.find(description) {
            Some(text) => { p { (text) } }
            None => {
                p lang="en" dir="ltr" { (sentence(description)) }
                p { (t.text("error-start-again")) }
            }
        }
        p .soft .small {
            (t.html("error-code", &[("code", mono(code))]))
            @if !request_id.is_empty() { br; (t.html("error-request", &[("id", mono(request_id))])) }
        }
        p { a .button .main href={ (t.base) "/account" } { (t.text("page-to-account")) } }
    })
}

/// The rules' descriptions are fragments: a capital and a full stop make them sentences. The name
/// of a parameter stays as it is written on the wire.
fn sentence(description: &str) -> String {
    let mut text = String::with_capacity(description.len() + 1);
    let first_word = description.split(' ').next().unwrap_or_default();
    let mut chars = description.chars();
    if first_word.contains('_') {
        text.push_str(description);
    } else if let Some(first) = chars.next() {
        text.extend(first.to_uppercase());
        text.push_str(chars.as_str());
    }
    if !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_page_carries_its_code() {
        let t = Face::default();
        let html = error(&t, "invalid_request", "malformed", "r1", "sealed");
        let found = "<main id=\"error\" data-error=\"invalid_request\"";
        assert!(html.body.contains(found));
        assert!(html.body.contains("Malformed."));
    }

    #[test]
    fn a_parameters_name_gets_no_capital() {
        assert_eq!(
            sentence("redirect_uri is missing"),
            "redirect_uri is missing."
        );
        assert_eq!(sentence("malformed"), "Malformed.");
    }

    #[test]
    fn a_page_that_was_left_open_is_told_from_a_browser_without_cookies() {
        let t = Face::default();
        let of = |text| error(&t, "invalid_request", text, "", "").body;
        assert!(of("error-expired").contains("too old"));
        assert!(of("error-cookies").contains("cookies"));
    }
}

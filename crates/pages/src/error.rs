//! The error page: what happened in words, and the code that a developer looks for.

use maud::html;

use super::layout::{Frame, Html};

/// Shown where the error cannot go back to the client. `code` is the protocol's error code;
/// `description` a fixed text; `request_id` finds the log line.
pub fn error(code: &str, description: &str, request_id: &str) -> Html {
    Frame {
        main_id: "error",
        error_code: Some(code),
        ..Frame::own("Something is not right")
    }
    .render(html! {
        h1 { "This did not work" }
        p { (sentence(description)) }
        p .soft .small {
            "Error: " code { (code) }
            @if !request_id.is_empty() { br; "Request: " code { (request_id) } }
        }
        p .small .soft { "Go back to the application that sent you here and start again. If it happens again, give these two lines to whoever runs it." }
    })
}

/// The rules' descriptions are fragments: a capital and a full stop make them sentences.
fn sentence(description: &str) -> String {
    let mut text = String::with_capacity(description.len() + 1);
    let mut chars = description.chars();
    if let Some(first) = chars.next() {
        text.extend(first.to_uppercase());
    }
    text.push_str(chars.as_str());
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
        let html = error("invalid_request", "The request is malformed.", "r1");
        assert!(
            html.body
                .contains("<main id=\"error\" data-error=\"invalid_request\"")
        );
    }
}

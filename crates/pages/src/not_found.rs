//! The page of a path that nothing has.

use maud::html;

use super::layout::{Frame, Html};

/// `account`: where the person's own pages begin.
pub fn not_found(account: &str) -> Html {
    Frame::own("Page not found").render(html! {
        h1 { "There is no such page" }
        p { "The address may be mistyped, or the page may have moved." }
        p { a href=(account) { "Go to your account" } }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_a_title_a_language_and_a_way_on() {
        let html = not_found("/account").body;
        for part in [
            "<html lang=\"en\">",
            "<title>Page not found</title>",
            "<main",
            "href=\"/account\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}

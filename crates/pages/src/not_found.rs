//! The page of a path that nothing has.

use maud::html;

use crate::parts::face::Face;
use crate::parts::layout::{Frame, Html};

/// `account`: where the person's own pages begin.
pub fn not_found(t: &Face, account: &str) -> Html {
    Frame::own(t, t.text("page-missing-title")).render(html! {
        h1 { (t.text("page-missing-heading")) }
        p { (t.text("page-missing-text")) }
        p { a .button .main href=(account) { (t.text("page-to-account")) } }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_a_title_a_language_and_a_way_on() {
        let html = not_found(&Face::default(), "/account").body;
        for part in [
            "<html lang=\"en\" dir=\"ltr\">",
            "<title>Page not found</title>",
            "<main",
            "href=\"/account\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}

//! The page that clients have in a frame, to ask whether the browser's session is still the one
//! that they know (OpenID Connect Session Management 1.0 section 3.2). It shows nothing and takes
//! nothing but messages, so it alone may be in anybody's frame.

use maud::{DOCTYPE, html};

use crate::parts::script::CHECK_SESSION;

/// What the page may do: its script, and stand in frames of the web.
pub const CHECK_SESSION_POLICY: &str = "default-src 'none'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors https: http:";

/// The page. `base`: the path of the issuer, without a slash at its end. `cookie`: the name of the
/// one with the browser's state.
pub fn check_session(base: &str, cookie: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="robots" content="noindex, nofollow";
                title { "check_session_iframe" }
                script src={ (base) "/" (CHECK_SESSION.path) } integrity={ "sha256-" (CHECK_SESSION.hash) } data-cookie=(cookie) {}
            }
            body {}
        }
    };
    page.into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_its_script_by_its_hash_and_nothing_else() {
        let page = check_session("/realms/a", "\"><b>");
        assert!(
            page.contains("src=\"/realms/a/assets/check-session-"),
            "{page}"
        );
        assert!(page.contains("integrity=\"sha256-"), "{page}");
        assert!(!page.contains("<b>") && !page.contains("<form"), "{page}");
    }
}

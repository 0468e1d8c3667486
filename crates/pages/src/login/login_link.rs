//! The pages behind the link of a mailed code.

use maud::html;

use crate::parts::face::{Face, strong};
use crate::parts::layout::{Frame, Html};

/// In the browser that asked: one button, which sends what typing the code sends.
pub fn link_confirm(t: &Face, action: &str, interaction: &str, typed: &str, code: &str) -> Html {
    Frame::new(t, t.text("login-link-title")).render(html! {
        h1 { (t.text("login-link-title")) }
        p .soft { (t.html("login-link-about", &[("name", strong(typed))])) }
        form method="post" action=(action) {
            input type="hidden" name="interaction" value=(interaction);
            input type="hidden" name="otp" value=(code);
            button .main type="submit" name="decision" value="allow" autofocus { (t.text("login-submit")) }
        }
    })
}

/// In any other browser.
pub fn link_elsewhere(t: &Face) -> Html {
    Frame::own(t, t.text("login-link-elsewhere-title")).render(html! {
        h1 { (t.text("login-link-elsewhere-title")) }
        p .soft { (t.text("login-link-elsewhere")) }
        p { a .button .main href="account" { (t.text("page-to-account")) } }
    })
}

/// It no longer counts, or never did.
pub fn link_ended(t: &Face) -> Html {
    Frame::own(t, t.text("login-link-ended-title")).render(html! {
        h1 { (t.text("login-link-ended-title")) }
        p .soft { (t.text("login-link-ended")) }
        p { a .button .main href="account" { (t.text("page-to-account")) } }
    })
}

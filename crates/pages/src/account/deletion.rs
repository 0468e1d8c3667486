//! An account that is to be erased.

use maud::html;

use crate::parts::face::{Face, strong};
use crate::parts::layout::{Frame, Html, Menu};
use crate::parts::script::MOMENT;

/// What follows when its person has asked for it. `mailed`: a mail has the link that keeps it.
pub fn deletion_page(t: &Face, erase_at: u64, mailed: bool) -> Html {
    Frame {
        files: vec![&MOMENT],
        ..Frame::own(t, t.text("deletion-title"))
    }
    .render(html! {
        h1 { (t.text("deletion-title")) }
        p { (t.text("deletion-when")) " " (t.time(erase_at)) }
        p .soft {
            @if mailed { (t.text("deletion-mailed")) } @else { (t.text("deletion-ask")) }
        }
        p { a .button .main href="account" { (t.text("logout-again")) } }
    })
}

/// Behind the link of the mail: shall the account stay?
pub fn keep_account(t: &Face, token: &str, username: &str, erase_at: u64) -> Html {
    Frame {
        files: vec![&MOMENT],
        menu: Menu::Link("account/keep", token),
        ..Frame::own(t, t.text("deletion-keep-title"))
    }
    .render(html! {
        h1 { (t.text("deletion-keep-title")) }
        p .soft { (t.html("factors-mail-account", &[("name", strong(username))])) }
        p { (t.text("deletion-when")) " " (t.time(erase_at)) }
        form method="post" action="keep" {
            input type="hidden" name="token" value=(token);
            button .main type="submit" name="decision" value="allow" { (t.text("deletion-keep")) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_values_are_escaped() {
        let hostile = "\"><img src=x onerror=alert(1)>";
        let html = keep_account(&Face::default(), hostile, hostile, 1_700_000_000);
        assert!(!html.body.contains("<img"), "{}", html.body);
    }

    #[test]
    fn what_undoes_it_is_said() {
        let t = Face::default();
        let mailed = deletion_page(&t, 1_700_000_000, true).body;
        assert!(mailed.contains("link"), "{mailed}");
        let silent = deletion_page(&t, 1_700_000_000, false).body;
        assert!(!silent.contains("link in the mail"), "{silent}");
    }
}

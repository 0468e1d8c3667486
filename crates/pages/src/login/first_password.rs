//! A new password in the place of a temporary one, on the way through a login.

use maud::html;

use crate::parts::face::{Face, strong};
use crate::parts::layout::{Frame, Html, Menu, Notice, notice};
use crate::parts::password_field::{self, NewPassword};
use crate::parts::script::PASSWORD;

/// What the page shows.
#[derive(Debug, Default, Clone)]
pub struct FirstPassword<'a> {
    /// Where the form goes.
    pub action: &'a str,
    /// The sealed state of the interaction.
    pub interaction: &'a str,
    /// Whose login it is.
    pub username: &'a str,
    /// What else they log in with; empty: nothing.
    pub email: &'a str,
    /// What they are called; may be empty.
    pub name: &'a str,
    /// The shortest password, in characters.
    pub shortest: usize,
    /// The value of the button that sets it.
    pub decision: &'a str,
    /// Whether there is a client to go back to.
    pub can_cancel: bool,
    /// What went wrong.
    pub notice: Option<Notice>,
}

/// The page.
pub fn first_password(t: &Face, page: &FirstPassword<'_>) -> Html {
    let logins = [page.username, page.email];
    let field = NewPassword {
        shortest: page.shortest,
        autofocus: true,
        logins: &logins,
        name: page.name,
    };
    Frame {
        password: true,
        files: vec![&PASSWORD],
        menu: Menu::Interaction(page.interaction),
        ..Frame::new(t, t.text("account-reset-title"))
    }
    .render(html! {
        h1 { (t.text("account-reset-title")) }
        p .soft { (t.html("login-first-password", &[("name", strong(page.username))])) }
        (notice(t, page.notice.as_ref()))
        form method="post" action=(page.action) {
            input type="hidden" name="interaction" value=(page.interaction);
            input type="text" name="username" value=(page.username) autocomplete="username" hidden;
            (password_field::new(t, &field))
            button .main type="submit" name="decision" value=(page.decision) { (t.text("account-password-save")) }
            button .text type="submit" name="decision" value="other" formnovalidate { (t.text("factors-step-other")) }
            @if page.can_cancel {
                button .text type="submit" name="decision" value="cancel" formnovalidate { (t.text("page-cancel")) }
            }
        }
    })
}

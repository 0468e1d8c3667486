//! Buttons that several pages have.

use maud::{Markup, html};

use crate::parts::face::Face;
use crate::parts::icon::Icon;

/// A button that starts a method of login.
#[derive(Debug, Clone, Copy)]
pub struct MethodButton {
    /// The button's value of `decision`.
    pub decision: &'static str,
    /// Its text: an id.
    pub label: &'static str,
}

impl MethodButton {
    /// A picture of what it leads to.
    pub(crate) fn icon(&self) -> Option<Icon> {
        match self.decision {
            "email" => Some(Icon::Mail),
            "totp" => Some(Icon::Phone),
            "passkey" => Some(Icon::Key),
            _ => None,
        }
    }
}

/// A button that copies the text of an element; a script shows it. [`copied`] stands behind it.
pub(crate) fn copy_button(t: &Face, of: &str) -> Markup {
    html! {
        button .narrow type="button" hidden data-copy=(of) { (t.text("factors-codes-copy")) }
    }
}

/// Where the script says that something was copied.
pub(crate) fn copied(t: &Face) -> Markup {
    html! { p .small .said role="status" data-copied=(t.text("factors-codes-copied")) {} }
}

//! The terms, where an account has to accept them on the way through a login.

use maud::html;

use crate::login::sign_up::terms_box;
use crate::parts::face::Face;
use crate::parts::layout::{Frame, Html, Menu, Notice, notice};

/// What the page shows.
#[derive(Debug, Default, Clone)]
pub struct AcceptTerms<'a> {
    /// Where the form goes.
    pub action: &'a str,
    /// The sealed state of the interaction.
    pub interaction: &'a str,
    /// Where the terms are.
    pub terms: &'a str,
    /// The value of the button that accepts them.
    pub decision: &'a str,
    /// Whether there is a client to go back to.
    pub can_cancel: bool,
    /// What went wrong.
    pub notice: Option<Notice>,
}

/// The page.
pub fn accept_terms(t: &Face, page: &AcceptTerms<'_>) -> Html {
    Frame {
        menu: Menu::Interaction(page.interaction),
        ..Frame::new(t, t.text("page-terms"))
    }
    .render(html! {
        h1 { (t.text("page-terms")) }
        p .soft { (t.text("sign-up-terms-missing")) }
        (notice(t, page.notice.as_ref()))
        form method="post" action=(page.action) {
            input type="hidden" name="interaction" value=(page.interaction);
            (terms_box(t, page.terms))
            button .main type="submit" name="decision" value=(page.decision) { (t.text("page-continue")) }
            button .text type="submit" name="decision" value="other" formnovalidate { (t.text("factors-step-other")) }
            @if page.can_cancel {
                button .text type="submit" name="decision" value="cancel" formnovalidate { (t.text("page-cancel")) }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_values_are_escaped_on_the_page_of_terms() {
        const HOSTILE: &str = "\"><img src=x onerror=alert(1)>";
        let page = AcceptTerms {
            action: HOSTILE,
            interaction: HOSTILE,
            terms: HOSTILE,
            decision: HOSTILE,
            can_cancel: true,
            notice: None,
        };
        let text = accept_terms(&Face::default(), &page).body;
        assert!(!text.contains("<img"), "{text}");
    }
}

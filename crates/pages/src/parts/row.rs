//! Rows of the account page: what something is, how it stands, and one thing that can be done.
//!
//! A form opens behind its row without a script (`<details>`). What cannot be undone is asked for
//! once more, in a dialog that names it; that opens without a script, too (`popover`). A browser
//! that knows neither shows both open.

use maud::{Markup, html};

use crate::parts::face::Face;

/// What every row has.
#[derive(Default)]
pub(crate) struct Row {
    /// A picture, or a letter.
    pub mark: Option<Markup>,
    /// What it is.
    pub name: Option<Markup>,
    /// How it stands.
    pub state: Option<Markup>,
}

impl Row {
    fn head(&self) -> Markup {
        html! {
            @if let Some(mark) = &self.mark { span .mark { (mark) } }
            span .what {
                @if let Some(name) = &self.name { span .name { (name) } }
                @if let Some(state) = &self.state { span .state { (state) } }
            }
        }
    }

    /// Nothing can be done.
    pub(crate) fn plain(&self) -> Markup {
        html! { li { div .row { (self.head()) } } }
    }

    /// With buttons, and what opens below them.
    pub(crate) fn with(&self, acts: &Markup) -> Markup {
        html! { li { div .row { (self.head()) div .acts { (acts) } } } }
    }

    /// Opens a form. `act`: what the row does, as its person reads it.
    pub(crate) fn form(&self, id: &str, act: &str, open: bool, form: &Markup) -> Markup {
        html! {
            li {
                details #(id) .edit open[open] {
                    summary .row { (self.head()) span .act { (act) } }
                    div .form { (form) }
                }
            }
        }
    }
}

/// Something that cannot be undone.
pub(crate) struct Danger<'a> {
    /// Names the dialog on its page.
    pub id: &'a str,
    /// The button's text, and that of the button in the dialog.
    pub act: &'a str,
    /// The dialog's title, and the button's name to who hears it: what is done to what.
    pub title: &'a str,
    /// The title with its times in the browser's zone; none: it has no times.
    pub heading: Option<Markup>,
    /// What follows.
    pub text: Option<Markup>,
    /// The button's value of `decision`.
    pub decision: &'a str,
    /// The hidden fields, and what else has to be filled in.
    pub fields: &'a Markup,
}

/// The button, and the dialog that it opens.
pub(crate) fn danger(t: &Face, danger: &Danger<'_>) -> Markup {
    let title = format!("{}-title", danger.id);
    html! {
        button .narrow .bad type="button" popovertarget=(danger.id) aria-label=(danger.title) { (danger.act) }
        div #(danger.id) .dialog popover role="dialog" aria-labelledby=(title) {
            h3 #(title) {
                @match &danger.heading {
                    Some(heading) => { (heading) }
                    None => { (danger.title) }
                }
            }
            @if let Some(text) = &danger.text { p .soft { (text) } }
            form .inline method="post" action="account" {
                (danger.fields)
                div .pair {
                    button type="button" popovertarget=(danger.id) popovertargetaction="hide" { (t.text("page-cancel")) }
                    button .main .bad type="submit" name="decision" value=(danger.decision) { (danger.act) }
                }
            }
        }
    }
}

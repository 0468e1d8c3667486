//! Passkeys: the buttons that ask a browser for one, and the pages around them.

use maud::{Markup, html};

use crate::parts::button::MethodButton;
use crate::parts::face::{Face, strong};
use crate::parts::icon::Icon;
use crate::parts::layout::{Frame, Html, Menu, Notice, notice};
use crate::parts::script::PASSKEY;

/// What a passkey button asks the browser for: JSON of WebAuthn section 5.1.
#[derive(Debug, Clone, Copy)]
enum Ask<'a> {
    Get { options: &'a str, autofill: bool },
    Create { options: &'a str },
}

/// A button whose script asks the browser, and what is said where that came to nothing.
fn button(t: &Face, ask: Ask<'_>, decision: &str, label: &'static str, main: bool) -> Markup {
    let (get, create, autofill, problem) = match ask {
        Ask::Get { options, autofill } => (Some(options), None, autofill, "passkey-problem"),
        Ask::Create { options } => (None, Some(options), false, "passkey-add-problem"),
    };
    html! {
        p #(problem) .notice .bad role="alert" hidden {
            (t.text(if create.is_some() { "passkey-add-problem" } else { "passkey-problem" }))
        }
        button .main[main] .other[!main] type="submit" name="decision" value=(decision) formnovalidate
            data-passkey-get=[get] data-passkey-create=[create] data-passkey-problem=(problem)
            data-passkey-autofill[autofill] { (Icon::Key.show()) " " (t.text(label)) }
    }
}

/// The login page's button. Browsers also offer passkeys in its name field.
pub(crate) fn login_button(t: &Face, options: &str) -> Markup {
    let ask = Ask::Get {
        options,
        autofill: true,
    };
    html! { div #with-passkey { (button(t, ask, "passkey", "passkey-use", false)) } }
}

/// What the page of a further step by passkey shows.
#[derive(Debug, Default)]
pub struct PasskeyStep<'a> {
    /// Where the form goes.
    pub action: &'a str,
    /// The sealed state of the interaction.
    pub interaction: &'a str,
    /// Whose step it is.
    pub username: &'a str,
    /// What the browser is asked for.
    pub options: &'a str,
    /// What may be shown in its place.
    pub others: &'a [MethodButton],
    /// Whether there is somebody to go back to.
    pub can_cancel: bool,
    /// What went wrong.
    pub notice: Option<Notice>,
}

/// A further step of a login: a passkey of the person who is on the way.
pub fn passkey_step(t: &Face, page: &PasskeyStep<'_>) -> Html {
    let ask = Ask::Get {
        options: page.options,
        autofill: false,
    };
    Frame {
        files: vec![&PASSKEY],
        menu: Menu::Interaction(page.interaction),
        ..Frame::new(t, t.text("passkey-step-title"))
    }
    .render(html! {
        h1 { (t.text("passkey-step-title")) }
        p .soft { (t.html("passkey-step-about", &[("name", strong(page.username))])) }
        (notice(t, page.notice.as_ref()))
        form method="post" action=(page.action) {
            input type="hidden" name="interaction" value=(page.interaction);
            (button(t, ask, "passkey", "passkey-use", true))
            @for other in page.others {
                button .text type="submit" name="decision" value=(other.decision) formnovalidate { (t.text(other.label)) }
            }
            @if page.can_cancel {
                button .text type="submit" name="decision" value="cancel" formnovalidate { (t.text("page-cancel")) }
            }
        }
    })
}

/// What the offer after a login shows.
#[derive(Debug, Default)]
pub struct PasskeyOffer<'a> {
    /// Where the form goes.
    pub action: &'a str,
    /// The sealed state of the interaction.
    pub interaction: &'a str,
    /// What the browser is asked for.
    pub options: &'a str,
    /// What went wrong.
    pub notice: Option<Notice>,
}

/// After a login by password: a passkey for the next time, or not.
pub fn passkey_offer(t: &Face, page: &PasskeyOffer<'_>) -> Html {
    let ask = Ask::Create {
        options: page.options,
    };
    Frame {
        files: vec![&PASSKEY],
        ..Frame::new(t, t.text("passkey-offer-title"))
    }
    .render(html! {
        h1 { (t.text("passkey-offer-title")) }
        p .soft { (t.text("passkey-offer-about")) }
        (notice(t, page.notice.as_ref()))
        form method="post" action=(page.action) {
            input type="hidden" name="interaction" value=(page.interaction);
            (button(t, ask, "passkey-add", "passkey-add", true))
            button .text type="submit" name="decision" value="later" formnovalidate { (t.text("passkey-offer-later")) }
        }
    })
}

/// The form of the account page that adds one. `options`: what the browser is asked for.
pub(crate) fn add_form(t: &Face, options: &str, hidden: &Markup) -> Markup {
    html! {
        form method="post" action="account" {
            (hidden)
            label for="passkey-label" { (t.text("passkey-label")) }
            input #passkey-label name="label" type="text" maxlength="64" autocomplete="off" aria-describedby="passkey-label-hint";
            p #passkey-label-hint .small .soft { (t.text("passkey-label-hint")) }
            (button(t, Ask::Create { options }, "passkey-add", "passkey-add", true))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_cannot_leave_their_attribute() {
        let hostile = "{\"name\":\"\\\"><script>alert(1)</script>\"}";
        let html = passkey_offer(
            &Face::default(),
            &PasskeyOffer {
                options: hostile,
                interaction: hostile,
                ..PasskeyOffer::default()
            },
        );
        assert_eq!(html.body.matches("<script").count(), 1);
        let policy = &html.headers()[0].1;
        assert!(policy.contains("script-src 'self'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(html.body.contains("integrity=\"sha256-"));
        assert!(html.body.contains("name=\"decision\" value=\"later\""));
    }
}

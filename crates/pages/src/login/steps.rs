//! Further steps of a login: a code of an app, a recovery code, the password, or the choice.

use maud::{Markup, html};

use crate::parts::button::MethodButton;
use crate::parts::face::{Face, strong};
use crate::parts::layout::{Frame, Html, Menu, Notice, notice};
use crate::parts::password_field::{self, PasswordField};
use crate::parts::script::PASSWORD;

/// What a further step shows.
#[derive(Debug, Default, Clone)]
pub struct StepPage<'a> {
    /// Where the form goes.
    pub action: &'a str,
    /// The sealed state of the interaction.
    pub interaction: &'a str,
    /// Whose login it is.
    pub username: &'a str,
    /// What may be shown in its place.
    pub others: &'a [MethodButton],
    /// Whether the browser may be remembered by it.
    pub can_remember: bool,
    /// For how long, in days.
    pub remember_days: u64,
    /// Whether there is somebody to go back to.
    pub can_cancel: bool,
    /// What went wrong, or what was done.
    pub notice: Option<Notice>,
}

impl StepPage<'_> {
    fn problem(&self) -> Option<&'static str> {
        matches!(self.notice, Some(Notice::Error(_))).then_some("problem")
    }

    fn frame<'a>(&'a self, t: &'a Face, title: &'static str) -> Frame<'a> {
        Frame {
            menu: Menu::Interaction(self.interaction),
            ..Frame::new(t, t.text(title))
        }
    }

    fn hidden(&self) -> Markup {
        html! { input type="hidden" name="interaction" value=(self.interaction); }
    }

    fn who(&self, t: &Face) -> Markup {
        html! { p .soft { (t.html("factors-step-who", &[("name", strong(self.username))])) } }
    }

    fn remember(&self, t: &Face) -> Markup {
        html! {
            @if self.can_remember {
                p .check {
                    input #remember name="remember" type="checkbox" value="yes";
                    label for="remember" { (t.with("factors-step-remember", &[("days", self.remember_days.into())])) }
                }
            }
        }
    }

    /// The ways around the step, each a button of the same form.
    fn ways(&self, t: &Face) -> Markup {
        html! {
            @for other in self.others {
                button .text type="submit" name="decision" value=(other.decision) formnovalidate { (t.text(other.label)) }
            }
            button .text type="submit" name="decision" value="other" formnovalidate { (t.text("factors-step-other")) }
            @if self.can_cancel {
                button .text type="submit" name="decision" value="cancel" formnovalidate { (t.text("page-cancel")) }
            }
        }
    }
}

/// A code of the app that the person set up.
pub fn totp_step(t: &Face, page: &StepPage<'_>) -> Html {
    let problem = page.problem();
    page.frame(t, "factors-totp-title").render(html! {
        h1 { (t.text("factors-totp-title")) }
        (page.who(t))
        (notice(t, page.notice.as_ref()))
        form method="post" action=(page.action) {
            (page.hidden())
            label for="totp" { (t.text("factors-totp-label")) }
            input #totp .code name="totp" type="text" required maxlength="12" inputmode="numeric" pattern="[0-9 ]*"
                autocomplete="one-time-code" autofocus aria-invalid=[problem.map(|_| "true")] aria-describedby=[problem];
            (page.remember(t))
            button .main type="submit" name="decision" value="allow" { (t.text("page-continue")) }
            (page.ways(t))
        }
    })
}

/// One of the codes that the person wrote down.
pub fn recovery_step(t: &Face, page: &StepPage<'_>) -> Html {
    let problem = page.problem();
    page.frame(t, "factors-recovery-title").render(html! {
        h1 { (t.text("factors-recovery-title")) }
        (page.who(t))
        (notice(t, page.notice.as_ref()))
        form method="post" action=(page.action) {
            (page.hidden())
            label for="recovery_code" { (t.text("factors-recovery-label")) }
            input #recovery_code name="recovery_code" type="text" required maxlength="64" autocomplete="off"
                autocapitalize="none" autocorrect="off" spellcheck="false" autofocus
                aria-invalid=[problem.map(|_| "true")] aria-describedby=(problem.unwrap_or("about"));
            p #about .small .soft { (t.text("factors-recovery-about")) }
            (page.remember(t))
            button .main type="submit" name="decision" value="allow" { (t.text("page-continue")) }
            (page.ways(t))
        }
    })
}

/// The password, of somebody who has shown something else.
pub fn password_step(t: &Face, page: &StepPage<'_>) -> Html {
    let problem = page.problem();
    Frame {
        password: true,
        files: vec![&PASSWORD],
        ..page.frame(t, "factors-password-title")
    }
    .render(html! {
        h1 { (t.text("factors-password-title")) }
        p .soft { (t.text("factors-password-about")) }
        (page.who(t))
        (notice(t, page.notice.as_ref()))
        form method="post" action=(page.action) {
            (page.hidden())
            input type="text" name="username" value=(page.username) autocomplete="username" hidden;
            label for="password" { (t.text("login-password")) }
            (password_field::current(t, &PasswordField { autofocus: true, problem }))
            button .main type="submit" name="decision" value="allow" { (t.text("page-continue")) }
            (page.ways(t))
        }
    })
}

/// Which way to show what is missing.
pub fn choose_step(t: &Face, page: &StepPage<'_>) -> Html {
    page.frame(t, "factors-choose-title").render(html! {
        h1 { (t.text("factors-choose-title")) }
        p .soft { (t.text("factors-choose-about")) }
        (page.who(t))
        (notice(t, page.notice.as_ref()))
        form method="post" action=(page.action) {
            (page.hidden())
            (page.ways(t))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_keep_the_contract_of_names() {
        let recovery = [MethodButton {
            decision: "recovery",
            label: "factors-recovery-button",
        }];
        let page = StepPage {
            others: &recovery,
            can_remember: true,
            ..StepPage::default()
        };
        let totp = totp_step(&Face::default(), &page).body;
        for part in [
            "name=\"totp\"",
            "name=\"remember\" type=\"checkbox\"",
            "name=\"decision\" value=\"recovery\"",
        ] {
            assert!(totp.contains(part), "{part}");
        }
        assert!(
            recovery_step(&Face::default(), &page)
                .body
                .contains("name=\"recovery_code\"")
        );
        assert!(
            password_step(&Face::default(), &page)
                .body
                .contains("name=\"password\"")
        );
    }
}

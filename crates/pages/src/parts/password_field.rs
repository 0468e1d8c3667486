//! Fields of passwords: with a button that shows what was typed, and, for a new one, with what it
//! lacks. Both are the script's: without it the fields are what they always were.

use maud::{Markup, html};

use crate::parts::face::Face;

/// The password that there is.
#[derive(Debug, Default)]
pub(crate) struct PasswordField {
    /// The page is about it.
    pub autofocus: bool,
    /// The id of what went wrong.
    pub problem: Option<&'static str>,
}

/// A password that is to be.
#[derive(Debug)]
pub(crate) struct NewPassword<'a> {
    /// In characters.
    pub shortest: usize,
    /// The page is about it.
    pub autofocus: bool,
    /// What its person logs in with: what stands before an `@` must not be in it.
    pub logins: &'a [&'a str],
    /// What its person is called: no word of it may be in it.
    pub name: &'a str,
}

/// The button beside a field; a script shows it.
fn show(t: &Face, field: &str) -> Markup {
    html! {
        button .show type="button" hidden data-password=(field) aria-controls=(field) aria-pressed="false"
            aria-label=(t.text("password-show")) title=(t.text("password-show")) {
            svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" {
                path d="M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z" {}
                circle cx="12" cy="12" r="3" {}
                path .slash d="M4 20 20 4" {}
            }
        }
    }
}

/// The field `password`, without its label.
pub(crate) fn current(t: &Face, field: &PasswordField) -> Markup {
    html! {
        div .field {
            input #password name="password" type="password" required maxlength="1024"
                autocomplete="current-password" autocapitalize="none" autocorrect="off" spellcheck="false"
                autofocus[field.autofocus]
                aria-invalid=[field.problem.map(|_| "true")] aria-describedby=[field.problem];
            (show(t, "password"))
        }
    }
}

/// The field `new_password`, with its label, its rule and what is lacking.
pub(crate) fn new(t: &Face, field: &NewPassword<'_>) -> Markup {
    let count = u64::try_from(field.shortest).unwrap_or(u64::MAX);
    let logins: Vec<&str> = field
        .logins
        .iter()
        .map(|login| login.split('@').next().unwrap_or("").trim())
        .collect();
    let names: Vec<&str> = field.name.split_whitespace().collect();
    html! {
        label for="new_password" { (t.text("account-password-new")) }
        div .field {
            input #new_password name="new_password" type="password" required minlength=(field.shortest) maxlength="1024"
                autocomplete="new-password" autocapitalize="none" autocorrect="off" spellcheck="false"
                autofocus[field.autofocus] aria-describedby="rule";
            (show(t, "new_password"))
        }
        meter #password-strength hidden min="0" low=(field.shortest) high=(field.shortest + 8) optimum=(field.shortest + 9)
            max=(field.shortest + 10) value="0" aria-label=(t.text("password-strength"))
            data-logins=(logins.join("\n")) data-names=(names.join("\n")) data-fits=(t.text("password-fits")) data-short=(t.text("password-short"))
            data-repeated=(t.text("password-repeated")) data-name=(t.text("password-name")) data-server=(t.text("password-server")) {}
        p #password-said .small .said role="status" {}
        p #rule .small .soft { (t.with("account-password-rule", &[("count", count.into())])) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_script_the_fields_are_plain_and_what_somebody_is_called_stays_text() {
        let hostile = "\"><script>alert(1)</script>";
        let new = NewPassword {
            shortest: 12,
            autofocus: true,
            logins: &["alice@example.com", hostile],
            name: hostile,
        };
        let html = new_html(&new);
        assert!(!html.contains("<script"), "{html}");
        assert!(html.contains("data-logins=\"alice\n"), "{html}");
        assert!(html.contains("minlength=\"12\""), "{html}");
        // What only the script can do is not there before it runs.
        assert_eq!(html.matches("type=\"button\" hidden").count(), 1, "{html}");
        assert!(html.contains("id=\"password-strength\" hidden"), "{html}");
    }

    fn new_html(field: &NewPassword<'_>) -> String {
        new(&Face::default(), field).into_string()
    }
}

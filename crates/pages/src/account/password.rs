//! The account page's row about the password.

use maud::{Markup, html};

use crate::account::AccountView;
use crate::parts::face::Face;
use crate::parts::layout::{Notice, notice};
use crate::parts::password_field::{self, NewPassword, PasswordField};
use crate::parts::row::Row;

/// The part. `refused`: what its form was refused for, the id of a text. `hidden`: the field that
/// every form carries.
pub(crate) fn password(
    t: &Face,
    view: &AccountView<'_>,
    refused: Option<&'static str>,
    hidden: &Markup,
) -> Markup {
    let row = Row {
        name: Some(html! { (t.text("account-password")) }),
        state: Some(state(t, view)),
        ..Row::default()
    };
    html! {
        h2 { (t.text("account-security")) }
        ul .rows {
            @if view.own_password {
                @let act = match view.has_password { true => "account-change", false => "account-password-set" };
                (row.form("change-password", &t.text(act), refused.is_some(), &form(t, view, refused, hidden)))
            } @else {
                (row.plain())
            }
        }
    }
}

fn state(t: &Face, view: &AccountView<'_>) -> Markup {
    if !view.own_password {
        return html! { (t.text("account-password-elsewhere")) };
    }
    match (view.has_password, view.password_changed_at) {
        (false, _) => html! { (t.text("page-not-set")) },
        (true, None) => html! { "••••••••" },
        (true, Some(at)) => t.html("account-password-since", &[("time", t.time(at).into())]),
    }
}

fn form(
    t: &Face,
    view: &AccountView<'_>,
    refused: Option<&'static str>,
    hidden: &Markup,
) -> Markup {
    let wrong = refused == Some("account-password-wrong");
    html! {
        form method="post" action="account" {
            (hidden)
            (notice(t, refused.map(Notice::Error).as_ref()))
            input type="text" name="username" value=(view.username) autocomplete="username" hidden;
            @if view.has_password {
                label for="password" { (t.text("account-password-current")) }
                (password_field::current(t, &PasswordField {
                    autofocus: wrong,
                    problem: wrong.then_some("problem"),
                }))
            }
            (password_field::new(t, &NewPassword {
                shortest: view.shortest_password,
                autofocus: refused.is_some() && !wrong,
                logins: &[view.username, view.email.unwrap_or("")],
                name: view.display_name,
            }))
            button .main type="submit" name="decision" value="password" { (t.text("account-password-save")) }
            p .small .soft { (t.text("account-password-ends")) }
        }
    }
}

//! Fields of a form.

use maud::{Markup, html};
use signet_pages::Face;
use signet_texts::Arg;

use crate::engine::fields::{Field, Input, Why, Wrong};

/// Longest text that stands in one line.
const LINE: usize = 120;

/// What is wrong with a field, in words.
pub(crate) fn why(t: &Face, why: &Why) -> String {
    match why {
        Why::NotANumber => t.text("console-not-a-number").into_owned(),
        Why::NotJson(line, column) => t.with(
            "console-not-json",
            &[
                ("line", Arg::Number(*line)),
                ("column", Arg::Number(*column)),
            ],
        ),
        Why::Said(said) => said.clone(),
    }
}

/// A field with its help and what is wrong with it. `prefix`: of its name in the form.
pub(crate) fn field(t: &Face, prefix: &str, field: &Field, value: &str, wrong: &[Wrong]) -> Markup {
    let name = format!("{prefix}{}", field.name);
    let id = format!("f-{}", name.replace(['.', ':'], "-"));
    let said = wrong
        .iter()
        .find(|one| one.field.as_deref() == Some(&*field.name));
    let (about_id, wrong_id) = (format!("{id}-about"), format!("{id}-wrong"));
    let described = match said {
        Some(_) => format!("{wrong_id} {about_id}"),
        None => about_id.clone(),
    };
    let invalid = said.map(|_| "true");
    let label = html! {
        bdi { (field.name) }
        @if field.required { span .required { (t.text("console-required")) } }
    };
    let hint = match &field.input {
        Input::Lines => Some("console-one-a-line"),
        Input::Json => Some("console-as-json"),
        Input::Text
        | Input::Secret
        | Input::Number
        | Input::Flag
        | Input::MaybeFlag
        | Input::Choice(_)
        | Input::Choices(_) => None,
    };
    let below = html! {
        @if let Some(said) = said { p #(wrong_id) .wrong { (why(t, &said.why)) } }
        p #(about_id) .about {
            @if let Some(hint) = hint { span .hint { (t.text(hint)) } " " }
            @for part in parts(&field.about) { (part) }
        }
    };
    let chosen: Vec<&str> = value.lines().collect();
    match &field.input {
        Input::Flag => html! {
            div .field .check {
                input #(id) type="checkbox" name=(name) value="true" checked[value == "true"] aria-describedby=(described) aria-invalid=[invalid];
                label for=(id) { (label) }
                (below)
            }
        },
        Input::Choices(names) => html! {
            fieldset .field aria-describedby=(described) {
                legend { (label) }
                div .choices {
                    @for choice in names {
                        @let id = format!("{id}-{choice}");
                        span {
                            input #(id) type="checkbox" name={ (name) ":" (choice) } value="1" checked[chosen.contains(&choice.as_str())];
                            label for=(id) { (choice) }
                        }
                    }
                }
                (below)
            }
        },
        other => html! {
            div .field {
                label for=(id) { (label) }
                @match other {
                    Input::Choice(names) => {
                        select #(id) name=(name) aria-describedby=(described) aria-invalid=[invalid] {
                            @if !field.required || value.is_empty() { option value="" { (t.text("console-unset")) } }
                            @for choice in names { option value=(choice) selected[value == choice] { (choice) } }
                        }
                    }
                    Input::MaybeFlag => {
                        select #(id) name=(name) aria-describedby=(described) aria-invalid=[invalid] {
                            option value="" { (t.text("console-unset")) }
                            option value="true" selected[value == "true"] { (t.text("console-yes")) }
                            option value="false" selected[value == "false"] { (t.text("console-no")) }
                        }
                    }
                    Input::Lines => {
                        textarea #(id) name=(name) rows=(chosen.len().clamp(2, 12)) spellcheck="false" aria-describedby=(described) aria-invalid=[invalid] { "\n" (value) }
                    }
                    Input::Json => {
                        textarea #(id) .json name=(name) rows=(chosen.len().clamp(3, 18)) spellcheck="false" autocapitalize="off" aria-describedby=(described) aria-invalid=[invalid] { "\n" (value) }
                    }
                    Input::Number => {
                        input #(id) type="text" inputmode="numeric" name=(name) value=(value) autocomplete="off" aria-describedby=(described) aria-invalid=[invalid];
                    }
                    Input::Secret => {
                        input #(id) type="password" name=(name) autocomplete="new-password" aria-describedby=(described) aria-invalid=[invalid];
                    }
                    _ => {
                        @if value.len() > LINE || value.contains('\n') {
                            textarea #(id) name=(name) rows="4" aria-describedby=(described) aria-invalid=[invalid] { "\n" (value) }
                        } @else {
                            input #(id) type="text" name=(name) value=(value) autocomplete="off" autocapitalize="off" spellcheck="false" required[field.required && !value.is_empty()] aria-describedby=(described) aria-invalid=[invalid];
                        }
                    }
                }
                (below)
            }
        },
    }
}

/// A description with its names of code set apart.
pub(crate) fn parts(about: &str) -> Vec<Markup> {
    let pieces = about.split('`').enumerate();
    pieces
        .map(|(index, piece)| match index % 2 {
            0 => html! { (piece) },
            _ => html! { code { (piece) } },
        })
        .collect()
}

//! The account page's part about the person: who they are to the server, what of it they may
//! change, and the realm's own attributes.

use maud::{Markup, html};
use signet_texts::{LANGUAGES, Language};

use crate::account::AccountView;
use crate::parts::face::Face;
use crate::parts::row::Row;

/// What the server keeps of who the person is.
#[derive(Debug, Default, Clone)]
pub struct ProfileView<'a> {
    /// Full name.
    pub name: &'a str,
    /// Given name or names.
    pub given_name: &'a str,
    /// Surname or surnames.
    pub family_name: &'a str,
    /// What they are written in.
    pub language: Option<Language>,
    /// They may change their names.
    pub names: bool,
    /// They may change the language.
    pub locale: bool,
}

/// An attribute as its person sees it.
#[derive(Debug, Clone, Default)]
pub struct AttributeView {
    /// Names it in the form.
    pub name: String,
    /// What the page calls it.
    pub label: String,
    /// What its value is.
    pub field: AttributeField,
    /// They may change it.
    pub editable: bool,
    /// Somebody has to vouch for the value, and nobody does yet.
    pub waits: bool,
}

/// The value of an attribute, and how it is typed in.
#[derive(Debug, Clone)]
pub enum AttributeField {
    /// One line; empty: none. The longest, in bytes.
    Line(String, usize),
    /// A whole number; none: none.
    Number(Option<i64>),
    /// Yes or no; none: neither was said.
    Choice(Option<bool>),
    /// Lines.
    Lines(Vec<String>),
}

impl Default for AttributeField {
    fn default() -> AttributeField {
        AttributeField::Line(String::new(), 0)
    }
}

impl AttributeField {
    /// The value as text, where it is only shown.
    fn text(&self, t: &Face) -> String {
        match self {
            AttributeField::Line(text, _) => text.clone(),
            AttributeField::Number(n) => n.map_or_else(String::new, |n| n.to_string()),
            AttributeField::Choice(choice) => match choice {
                None => String::new(),
                Some(true) => t.text("page-yes").into_owned(),
                Some(false) => t.text("page-no").into_owned(),
            },
            AttributeField::Lines(lines) => lines.join(", "),
        }
    }
}

/// Longest name that a field of the profile takes.
const MAX_NAME_BYTES: usize = 256;

/// The section. `hidden`: the field that every form carries.
pub(crate) fn profile(t: &Face, view: &AccountView<'_>, hidden: &Markup) -> Markup {
    let (profile, set) = (&view.profile, "page-not-set");
    let language = profile.language.map_or("", Language::name);
    let names = names(profile);
    html! {
        h2 #about { (t.text("account-about")) }
        ul .rows .facts aria-labelledby="about" {
            @if profile.names {
                @let row = fact(t, &t.text("account-full-name"), profile.name);
                (row.form("change-name", &t.text("account-change"), false, &names_form(t, &names, hidden)))
            } @else {
                @for (_, label, value, _) in names.iter().filter(|(_, _, value, _)| !value.is_empty()) {
                    (fact(t, &t.text(label), value).plain())
                }
            }
            (fact(t, &t.text("account-user-name"), view.username).plain())
            (fact(t, &t.text("sign-up-email"), view.email.unwrap_or("")).plain())
            @let row = fact(t, &t.text("page-language"), language);
            @if profile.locale {
                (row.form("change-language", &t.text("account-change"), false, &html! {
                    form method="post" action="account" {
                        (hidden)
                        // An empty choice is as if omitted: this says that it is in the form.
                        input type="hidden" name="languages" value="given";
                        label for="profile-locale" { (t.text("page-language")) }
                        select #profile-locale name="locale" autocomplete="off" aria-describedby="profile-locale-about" {
                            option value="" selected[profile.language.is_none()] { (t.text(set)) }
                            @for language in LANGUAGES {
                                option value=(language.tag()) lang=(language.tag()) selected[profile.language == Some(language)] { (language.name()) }
                            }
                        }
                        p #profile-locale-about .small .soft { (t.text("account-language-about")) }
                        button .main type="submit" name="decision" value="profile" { (t.text("account-save")) }
                    }
                }))
            } @else {
                (row.plain())
            }
            @for attribute in view.attributes { (self::attribute(t, attribute, hidden)) }
        }
    }
}

/// Field, label, value and what browsers fill it in with.
type NameField<'a> = (&'static str, &'static str, &'a str, &'static str);

fn names<'a>(profile: &ProfileView<'a>) -> [NameField<'a>; 3] {
    [
        ("name", "account-full-name", profile.name, "name"),
        (
            "given_name",
            "account-given-name",
            profile.given_name,
            "given-name",
        ),
        (
            "family_name",
            "account-family-name",
            profile.family_name,
            "family-name",
        ),
    ]
}

fn names_form(t: &Face, names: &[NameField<'_>], hidden: &Markup) -> Markup {
    html! {
        form method="post" action="account" {
            (hidden)
            // An empty field is as if omitted: this says that the names are in the form.
            input type="hidden" name="names" value="given";
            @for (field, label, value, autocomplete) in names {
                @let id = format!("profile-{field}");
                label for=(id) { (t.text(label)) }
                input id=(id) name=(field) type="text" value=(value) maxlength=(MAX_NAME_BYTES) autocomplete=(autocomplete);
            }
            button .main type="submit" name="decision" value="profile" { (t.text("account-save")) }
        }
    }
}

fn fact(t: &Face, label: &str, value: &str) -> Row {
    Row {
        name: Some(html! { bdi { (label) } }),
        state: Some(html! {
            @if value.is_empty() { (t.text("page-not-set")) } @else { bdi .value { (value) } }
        }),
        ..Row::default()
    }
}

/// What is kept of the person: what they may change is a form.
fn attribute(t: &Face, attribute: &AttributeView, hidden: &Markup) -> Markup {
    let row = fact(t, &attribute.label, &attribute.field.text(t));
    if !attribute.editable {
        return row.plain();
    }
    let id = format!("attribute-{}", attribute.name);
    let name = format!("attribute.{}", attribute.name);
    let waiting = attribute.waits.then(|| format!("{id}-waits"));
    row.form(
        &format!("change-{id}"),
        &t.text("account-change"),
        false,
        &html! {
            form method="post" action="account" {
                (hidden)
                // An empty field is as if omitted: this says which is in the form.
                input type="hidden" name="attributes" value=(attribute.name);
                label for=(id) { bdi { (attribute.label) } }
                @match &attribute.field {
                    AttributeField::Line(text, longest) => {
                        input id=(id) name=(name) type="text" value=(text) maxlength=(longest) aria-describedby=[&waiting];
                    }
                    AttributeField::Number(n) => {
                        input id=(id) name=(name) type="text" inputmode="numeric" value=[n] aria-describedby=[&waiting];
                    }
                    AttributeField::Choice(choice) => {
                        select id=(id) name=(name) aria-describedby=[&waiting] {
                            option value="" selected[choice.is_none()] { (t.text("page-not-set")) }
                            option value="true" selected[*choice == Some(true)] { (t.text("page-yes")) }
                            option value="false" selected[*choice == Some(false)] { (t.text("page-no")) }
                        }
                    }
                    AttributeField::Lines(lines) => {
                        textarea id=(id) name=(name) rows="3" aria-describedby=[&waiting] { (lines.join("\n")) }
                    }
                }
                @if let Some(waiting) = &waiting {
                    p id=(waiting) .small .soft { (t.text("account-waits")) }
                }
                button .main type="submit" name="decision" value="attributes" { (t.text("account-save")) }
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_that_may_be_changed_is_a_row_with_a_form_of_its_own() {
        let attributes = [
            AttributeView {
                name: "team".to_owned(),
                label: "Team <b>".to_owned(),
                field: AttributeField::Line("Blue <b>".to_owned(), 64),
                editable: true,
                waits: true,
            },
            AttributeView {
                name: "grade".to_owned(),
                label: "Grade".to_owned(),
                field: AttributeField::Number(Some(3)),
                editable: false,
                waits: false,
            },
        ];
        let view = AccountView {
            username: "alice",
            profile: ProfileView {
                name: "Alice",
                names: true,
                locale: true,
                ..ProfileView::default()
            },
            attributes: &attributes,
            ..AccountView::default()
        };
        let html = profile(&Face::default(), &view, &html! {}).into_string();
        assert!(!html.contains("<b>"), "{html}");
        assert_eq!(html.matches("<form").count(), 3, "{html}");
        let forms: Vec<&str> = html.split("<form").skip(1).collect();
        // A form says what is in it, so that it changes nothing else.
        for (form, own, others) in [
            (
                forms[0],
                "name=\"names\"",
                ["name=\"languages\"", "name=\"attributes\""],
            ),
            (
                forms[1],
                "name=\"languages\"",
                ["name=\"names\"", "name=\"attributes\""],
            ),
            (
                forms[2],
                "value=\"team\"",
                ["name=\"names\"", "name=\"languages\""],
            ),
        ] {
            let form = form.split("</form>").next().unwrap();
            assert!(form.contains(own), "{own}: {form}");
            for other in others {
                assert!(!form.contains(other), "{other}: {form}");
            }
        }
    }
}

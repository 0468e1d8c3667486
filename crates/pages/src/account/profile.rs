//! The account page's part about the person: who they are to the server, what of it they may
//! change, and the realm's own attributes.

use maud::{Markup, html};
use signet_texts::{LANGUAGES, Language};

use crate::parts::face::Face;

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
pub(crate) fn profile(
    t: &Face,
    profile: &ProfileView<'_>,
    (username, email): (&str, Option<&str>),
    hidden: &Markup,
) -> Markup {
    let names = [
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
    ];
    let language = profile.language.map_or("", Language::name);
    html! {
        h2 #about { (t.text("account-about")) }
        dl aria-labelledby="about" {
            (fact(t, "account-user-name", username))
            (fact(t, "sign-up-email", email.unwrap_or("")))
            @if !profile.names {
                @for (_, label, value, _) in names.iter().filter(|(_, _, value, _)| !value.is_empty()) {
                    (fact(t, label, value))
                }
            }
            @if !profile.locale { (fact(t, "page-language", language)) }
        }
        @if profile.names || profile.locale {
            form method="post" action="account" {
                (hidden)
                @if profile.names {
                    // An empty field is as if omitted: this says that the names are in the form.
                    input type="hidden" name="names" value="given";
                    @for (field, label, value, autocomplete) in names {
                        @let id = format!("profile-{field}");
                        label for=(id) { (t.text(label)) }
                        input id=(id) name=(field) type="text" value=(value) maxlength=(MAX_NAME_BYTES) autocomplete=(autocomplete);
                    }
                }
                @if profile.locale {
                    label for="profile-locale" { (t.text("page-language")) }
                    select #profile-locale name="locale" autocomplete="off" aria-describedby="profile-locale-about" {
                        option value="" selected[profile.language.is_none()] { (t.text("page-not-set")) }
                        @for language in LANGUAGES {
                            option value=(language.tag()) lang=(language.tag()) selected[profile.language == Some(language)] { (language.name()) }
                        }
                    }
                    p #profile-locale-about .small .soft { (t.text("account-language-about")) }
                }
                button .main type="submit" name="decision" value="profile" { (t.text("account-save")) }
            }
        }
    }
}

fn fact(t: &Face, label: &'static str, value: &str) -> Markup {
    html! {
        dt { (t.text(label)) }
        dd { @if value.is_empty() { span .soft { (t.text("page-not-set")) } } @else { bdi { (value) } } }
    }
}

/// What is kept of the person: what they may change is a form.
pub(crate) fn attributes(t: &Face, all: &[AttributeView], hidden: &Markup) -> Markup {
    let (own, shown): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.editable);
    html! {
        @if !shown.is_empty() {
            dl aria-labelledby="about" {
                @for attribute in &shown {
                    dt { bdi { (attribute.label) } }
                    dd {
                        @let text = attribute.field.text(t);
                        @if text.is_empty() { span .soft { (t.text("page-not-set")) } } @else { bdi { (text) } }
                    }
                }
            }
        }
        @if !own.is_empty() {
            form method="post" action="account" {
                (hidden)
                // An empty field is as if omitted: this says which are in the form.
                @let names: Vec<&str> = own.iter().map(|attribute| &*attribute.name).collect();
                input type="hidden" name="attributes" value=(names.join(" "));
                @for attribute in &own {
                    @let id = format!("attribute-{}", attribute.name);
                    @let name = format!("attribute.{}", attribute.name);
                    @let waiting = attribute.waits.then(|| format!("{id}-waits"));
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
                }
                button .main type="submit" name="decision" value="attributes" { (t.text("account-save")) }
            }
        }
    }
}

//! What a person's page has beside every record's: who they are at a glance, and what they may, and
//! why.

use maud::{Markup, html};
use serde_json::Value;
use signet_pages::Face;

use super::parts;
use crate::call::{self, Call};
use crate::engine::catalog::Catalog;
use crate::session::Session;
use crate::view::shell::{encoded, href};

const GROUP: &str = "showGroup";
/// Groups that are looked up for a page, with those that they are in.
const MAX_GROUPS: usize = 32;

/// Who they are, at a glance.
pub(super) fn card(t: &Face, user: &Value) -> Markup {
    let text = |name: &str| user[name].as_str().unwrap_or_default();
    let name = user["profile"]["name"].as_str().unwrap_or(text("username"));
    let initials: String = name
        .split_whitespace()
        .filter_map(|word| word.chars().next())
        .take(2)
        .flat_map(char::to_uppercase)
        .collect();
    html! {
        section .person-card {
            span .initials aria-hidden="true" { (initials) }
            div {
                p .name { strong { bdi { (name) } } @if name != text("username") { " " span .soft { bdi { (text("username")) } } } }
                p .soft { bdi { (text("email")) } }
                p {
                    @if user["enabled"] == true { span .state data-state="active" { (t.text("console-enabled")) } }
                    @else { span .state data-state="denied" { (t.text("console-disabled")) } }
                    @if user["admin"] == true { span .state data-state="standby" { (t.text("console-may-admin")) } }
                    @if user["invitation"].is_object() { span .state data-state="waiting" { (t.text("console-invited")) } }
                    @for group in user["groups"].as_array().into_iter().flatten().filter_map(Value::as_str) { (group_link(t, group)) }
                }
            }
        }
    }
}

fn group_link(t: &Face, name: &str) -> Markup {
    html! { a .chip href=(href(t, &format!("/groups/{}", encoded(name)))) { bdi { (name) } } }
}

/// A role, and the group that it comes from; None: it was given to the person.
#[derive(Debug, PartialEq, Eq)]
struct Held {
    role: String,
    by: Option<String>,
}

/// Every role that somebody holds, with where it comes from.
async fn held(session: &Session, user: &Value) -> Vec<Held> {
    let texts = |value: &Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let direct = texts(&user["roles"]).into_iter();
    let mut held: Vec<Held> = direct.map(|role| Held { role, by: None }).collect();
    let Some(row) = Catalog::house().operation(GROUP) else {
        return held;
    };
    let segment = crate::engine::catalog::names(row.facts().path)
        .first()
        .copied();
    let mut groups = texts(&user["groups"]);
    let mut at = 0;
    while let Some(name) = groups.get(at).filter(|_| at < MAX_GROUPS).cloned() {
        at += 1;
        let read = call::read(session, row, Call::of(segment, &name)).await;
        let Ok(group) = read else { continue };
        let by = Some(name);
        held.extend(texts(&group["roles"]).into_iter().map(|role| Held {
            role,
            by: by.clone(),
        }));
        // Whoever is in a group is in the one above it.
        if let Some(parent) = group["parent"].as_str()
            && !groups.iter().any(|known| known == parent)
        {
            groups.push(parent.to_owned());
        }
    }
    held
}

/// What they may, and why.
pub(super) async fn may(t: &Face, session: &Session, user: &Value) -> Markup {
    let held = held(session, user).await;
    let id = parts::text_of(&user["id"]).unwrap_or_default();
    html! {
        section .panel {
            h2 { (t.text("console-may")) }
            @if held.is_empty() && user["admin"] != true { p .empty { (t.text("console-none")) } }
            dl .members {
                @if user["admin"] == true {
                    div { dt { "admin" } dd { (t.text("console-may-admin")) " · " (t.text("console-may-direct")) } }
                }
                @for one in &held {
                    div {
                        dt { a href=(href(t, &format!("/roles/{}", encoded(&one.role)))) { bdi { (one.role) } } }
                        dd {
                            @match &one.by {
                                Some(name) => { (t.html("console-may-by-group", &[("name", group_link(t, name).into())])) }
                                None => { (t.text("console-may-direct")) }
                            }
                        }
                    }
                }
            }
            p { a href=(href(t, &format!("/explain?user={}", encoded(&id)))) { (t.text("console-explain")) } }
        }
    }
}

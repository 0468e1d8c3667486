//! Values of records, as people read them.

use maud::{Markup, html};
use serde_json::Value;
use signet_directory::session::browser_name;
use signet_pages::Face;

/// Longest text of a table's cell, in characters.
const MAX_CELL: usize = 90;
/// How deep objects are shown as lists of members.
const MAX_DEPTH: usize = 3;

/// Whether a member of this name is a time, Unix seconds.
pub(crate) fn is_time(name: &str) -> bool {
    ["_at", "_from", "_time", "_seen", "_until", "since"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// Whether a member of this name is a name that programs compare.
fn is_code(name: &str) -> bool {
    ["id", "kid", "sid", "jti", "alg", "scope", "address"].contains(&name)
        || name.ends_with("_id")
        || name.ends_with("_uri")
        || name.ends_with("_uris")
}

/// Yes or no.
pub(crate) fn flag(t: &Face, on: bool) -> Markup {
    match on {
        true => html! { span .flag .on { (t.text("console-yes")) } },
        false => html! { span .flag { (t.text("console-no")) } },
    }
}

fn number(t: &Face, name: &str, number: &serde_json::Number) -> Markup {
    let at = number.as_u64().filter(|at| *at > 0);
    match at {
        Some(at) if name.ends_with("at_ms") => t.time(at / 1000),
        // Nothing lasts so long: it is a moment.
        Some(at) if is_time(name) && at > 100_000_000 => t.time(at),
        _ => html! { span .number { (number) } },
    }
}

fn text(name: &str, text: &str) -> Markup {
    let states = [
        "active",
        "standby",
        "retired",
        "success",
        "failure",
        "allowed",
        "denied",
        "ready",
        "syncing",
        "unreachable",
        "delivered",
        "waiting",
        "failed",
        "given_up",
        "allow",
        "deny",
    ];
    if states.contains(&text) {
        return html! { span .state data-state=(text) { (text) } };
    }
    match is_code(name) {
        true => html! { code { bdi { (text) } } },
        false => html! { bdi { (text) } },
    }
}

/// In a cell of a table: short.
pub(crate) fn cell(t: &Face, name: &str, value: &Value) -> Markup {
    let short = |whole: &str| match whole.char_indices().nth(MAX_CELL) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole.to_owned(),
    };
    match value {
        Value::Null => html! { span .none { "–" } },
        Value::Bool(on) => flag(t, *on),
        Value::Number(one) => number(t, name, one),
        Value::String(whole) if whole.is_empty() => html! { span .none { "–" } },
        // The device, as people know it; what its browser says of itself is behind it.
        Value::String(whole) if name == "user_agent" => {
            html! { span title=(short(whole)) { bdi { (browser_name(whole)) } } }
        }
        Value::String(whole) => text(name, &short(whole)),
        Value::Array(items) => {
            let texts = items.iter().map(|item| match item {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            let joined = texts.collect::<Vec<_>>().join(", ");
            match joined.is_empty() {
                true => html! { span .none { "–" } },
                false => html! { bdi { (short(&joined)) } },
            }
        }
        Value::Object(_) => html! { code { (short(&value.to_string())) } },
    }
}

/// On a page of its own: whole.
pub(crate) fn whole(t: &Face, name: &str, value: &Value, depth: usize) -> Markup {
    match value {
        Value::Array(items) if items.is_empty() => html! { span .none { "–" } },
        Value::Array(items) => html! {
            ul .values { @for item in items { li { (whole(t, name, item, depth + 1)) } } }
        },
        Value::Object(members) if members.is_empty() => html! { span .none { "–" } },
        Value::Object(_) if depth < MAX_DEPTH => members(t, value, &[], depth + 1),
        Value::Object(_) => {
            html! { pre { (serde_json::to_string_pretty(value).unwrap_or_default()) } }
        }
        Value::String(whole) if whole.contains('\n') => html! { pre { (whole) } },
        Value::String(whole) if !whole.is_empty() => text(name, whole),
        other => cell(t, name, other),
    }
}

/// The members of a document, those of `first` before the others.
pub(crate) fn members(t: &Face, document: &Value, first: &[&str], depth: usize) -> Markup {
    let Some(all) = document.as_object() else {
        return whole(t, "", document, depth);
    };
    let place = |name: &str| {
        first
            .iter()
            .position(|one| *one == name)
            .unwrap_or(first.len())
    };
    let mut names: Vec<&String> = all.keys().collect();
    names.sort_by_key(|name| place(name));
    html! {
        dl .members {
            @for name in names {
                div { dt { (name) } dd { (whole(t, name, &all[name], depth)) } }
            }
        }
    }
}

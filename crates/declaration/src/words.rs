//! A plan in words, and in colours at a terminal.
use serde_json::Value;
use std::fmt::Write;
use std::io::IsTerminal;

/// Longest value that is shown whole, in characters
const MAX_SHOWN: usize = 200;

/// Whether answers go to a terminal that wants colours.
pub(crate) fn wants_colours() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !refused
}

fn clean(text: &str) -> String {
    let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}

fn value(of: Option<&Value>) -> String {
    let text = clean(&of.map(Value::to_string).unwrap_or_default());
    match text.chars().count() {
        0..=MAX_SHOWN => text,
        _ => text.chars().take(MAX_SHOWN).chain("...".chars()).collect(),
    }
}

fn list<'v>(of: &'v Value, member: &str) -> impl Iterator<Item = &'v Value> {
    of[member].as_array().into_iter().flatten()
}

/// The changes, what they end and what is left.
pub(crate) fn plan(plan: &Value, colours: bool) -> String {
    let mut out = String::new();
    for change in list(plan, "changes") {
        let act = change["act"].as_str().unwrap_or_default();
        let (sign, colour) = match act {
            "add" => ('+', "32"),
            "remove" => ('-', "31"),
            _ => ('~', "33"),
        };
        let (kind, name) = (&change["kind"], &change["name"]);
        let said = |text: &Value| clean(text.as_str().unwrap_or_default());
        let line = format!("{sign} {} {}", said(kind), said(name));
        let _ = match colours {
            true => writeln!(out, "\u{1b}[{colour}m{line}\u{1b}[0m"),
            false => writeln!(out, "{line}"),
        };
        if act == "remove" {
            continue;
        }
        let mut members = list(change, "members").peekable();
        if members.peek().is_none() {
            let _ = writeln!(out, "    is taken over as it is");
        }
        for member in members {
            let name = said(&member["name"]);
            // The line above has it.
            if act == "add" && member["after"] == change["name"] {
                continue;
            }
            let (before, after) = (member.get("before"), member.get("after"));
            let _ = match (before, after) {
                (None, None) => writeln!(out, "    {name}: (a secret, not shown)"),
                (None, after) => writeln!(out, "    {name}: {}", value(after)),
                (before, None) => writeln!(out, "    {name}: {} -> (default)", value(before)),
                _ => writeln!(out, "    {name}: {} -> {}", value(before), value(after)),
            };
        }
    }
    for line in endings(&plan["ends"]) {
        let _ = match colours {
            true => writeln!(out, "\u{1b}[31m! {line}\u{1b}[0m"),
            false => writeln!(out, "! {line}"),
        };
    }
    for left in list(plan, "left") {
        let text = |member: &str| clean(left[member].as_str().unwrap_or_default());
        let (kind, name) = (text("kind"), text("name"));
        let _ = writeln!(
            out,
            "  {kind} {name} is declared no more and stays; --prune removes it"
        );
    }
    out
}

/// "2 sessions, at least 10000 grants"; what has no number is left out.
fn numbers(ending: &Value, names: &[(&str, &str, &str)]) -> String {
    let said = names.iter().filter_map(|(member, one, many)| {
        let count = ending[member]["count"].as_u64()?;
        let least = match ending[member]["more"].as_bool() {
            Some(true) => "at least ",
            Some(false) | None => "",
        };
        let noun = if count == 1 { one } else { many };
        Some(format!("{least}{count} {noun}"))
    });
    said.collect::<Vec<_>>().join(", ")
}

const PEOPLE: (&str, &str, &str) = ("people", "person", "people");
const GRANTS: (&str, &str, &str) = ("grants", "grant", "grants");
const HELD: [(&str, &str, &str); 4] = [
    ("sessions", "session", "sessions"),
    GRANTS,
    ("consents", "consent", "consents"),
    ("agents", "agent", "agents"),
];

/// What a plan ends, a line for each object that something ends with.
fn endings(ends: &Value) -> Vec<String> {
    let mut lines: Vec<String> = list(ends, "counted").map(ending).collect();
    // An earlier server counts nothing.
    for (member, kind) in [("clients", "client"), ("users", "user")] {
        for name in list(ends, member).filter_map(Value::as_str) {
            let is_counted = |one: &Value| {
                let is_lost = one["why"] == "lost" || one["why"] == "cannot_refresh";
                one["kind"] == kind && one["name"] == name && !is_lost
            };
            if !list(ends, "counted").any(is_counted) {
                let name = clean(name);
                lines.push(format!(
                    "ends every session, grant and token of {kind} {name}"
                ));
            }
        }
    }
    lines
}

fn ending(one: &Value) -> String {
    let text = |member: &str| clean(one[member].as_str().unwrap_or_default());
    let (kind, name, why) = (text("kind"), text("name"), text("why"));
    let of = |what: String, people: String| match (what.is_empty(), people.is_empty()) {
        (true, _) => "no grants".to_owned(),
        (false, true) => what,
        (false, false) => format!("{what} of {people}"),
    };
    let grants = of(numbers(one, &[GRANTS]), numbers(one, &[PEOPLE]));
    match (&*kind, &*why) {
        ("client", "cannot_refresh") => {
            format!("refuses the refresh tokens of client {name}: {grants}")
        }
        ("client", _) => format!("ends every grant and token of client {name}: {grants}"),
        ("group", _) => format!("ends {grants}, in group {name} no more"),
        ("role", _) => format!("ends {grants}, without role {name}"),
        ("user", "lost") => {
            format!("ends {grants} of user {name}, who is in fewer groups or has fewer roles")
        }
        ("realm", _) => {
            let all = [&[PEOPLE], &HELD[..]].concat();
            let has = match numbers(one, &all) {
                has if has.is_empty() => "nothing that could be counted".to_owned(),
                has => has,
            };
            match &*why {
                "suspended" => format!("stops realm {name}, which keeps what it has: {has}"),
                _ => format!("ends realm {name}, which is deleted after a week: {has}"),
            }
        }
        _ => {
            let has = match numbers(one, &HELD) {
                has if has.is_empty() => "none".to_owned(),
                has => has,
            };
            format!("ends every session, grant and token of {kind} {name}: {has}")
        }
    }
}

fn counts(plan: &Value) -> [usize; 3] {
    ["add", "change", "remove"].map(|act| list(plan, "changes").filter(|c| c["act"] == act).count())
}

/// How many changes there are to make.
pub(crate) fn to_do(plan: &Value) -> String {
    let [add, change, remove] = counts(plan);
    format!("{add} to add, {change} to change, {remove} to remove")
}

/// How many changes were made.
pub(crate) fn done(plan: &Value) -> String {
    let [added, changed, removed] = counts(plan);
    format!("{added} added, {changed} changed, {removed} removed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_plan_ends_is_said_with_its_numbers() {
        let ends = json!({
            "clients": ["shop", "old"], "users": ["bob"],
            "counted": [
                { "kind": "client", "name": "shop", "why": "removed",
                  "people": { "count": 12 }, "grants": { "count": 41 } },
                { "kind": "client", "name": "quiet", "why": "disabled" },
                { "kind": "client", "name": "till", "why": "cannot_refresh",
                  "people": { "count": 9, "more": true }, "grants": { "count": 10000, "more": true } },
                { "kind": "user", "name": "bob", "why": "removed", "sessions": { "count": 2 },
                  "consents": { "count": 1 }, "agents": { "count": 1 } },
                { "kind": "user", "name": "eve", "why": "lost", "grants": { "count": 1 } },
                { "kind": "group", "name": "staff", "why": "lost",
                  "people": { "count": 1 }, "grants": { "count": 3 } },
                { "kind": "role", "name": "shop/till", "why": "lost",
                  "people": { "count": 2 }, "grants": { "count": 3 } },
                { "kind": "realm", "name": "acme", "why": "removed", "people": { "count": 3 } },
                { "kind": "realm", "name": "beta", "why": "suspended" },
            ],
        });
        assert_eq!(
            endings(&ends),
            [
                "ends every grant and token of client shop: 41 grants of 12 people",
                "ends every grant and token of client quiet: no grants",
                "refuses the refresh tokens of client till: at least 10000 grants of at least 9 people",
                "ends every session, grant and token of user bob: 2 sessions, 1 consent, 1 agent",
                "ends 1 grant of user eve, who is in fewer groups or has fewer roles",
                "ends 3 grants of 1 person, in group staff no more",
                "ends 3 grants of 2 people, without role shop/till",
                "ends realm acme, which is deleted after a week: 3 people",
                "stops realm beta, which keeps what it has: nothing that could be counted",
                "ends every session, grant and token of client old",
            ]
        );
    }
}

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
    for (member, what) in [("clients", "client"), ("users", "user")] {
        for name in list(&plan["ends"], member).filter_map(Value::as_str) {
            let name = clean(name);
            let _ = writeln!(
                out,
                "! ends every session, grant and token of {what} {name}"
            );
        }
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

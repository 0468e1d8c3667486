//! Lines of the audit trail as a timeline, and signing keys as one.

use maud::{Markup, html};
use serde_json::Value;
use signet_pages::Face;
use signet_texts::Arg;

use super::shell::{encoded, href};

/// Lines, the latest first.
pub(crate) fn lines(t: &Face, lines: &[Value]) -> Markup {
    if lines.is_empty() {
        return html! { p .empty { (t.text("console-none")) } };
    }
    html! {
        ol .timeline { @for line in lines { li data-outcome=(text(line, "outcome")) { (one(t, line)) } } }
    }
}

/// Lines as a table: one row a line.
pub(crate) fn table(t: &Face, lines: &[Value]) -> Markup {
    html! {
        div .scroll tabindex="0" role="region" aria-label=(t.text("console-audit")) {
            table .audit {
                caption .hidden { (t.text("console-audit")) }
                thead { tr {
                    th scope="col" { (t.text("console-time")) }
                    th scope="col" { (t.text("console-audit-action")) }
                    th scope="col" { (t.text("console-audit-outcome")) }
                    th scope="col" { (t.text("console-audit-who")) }
                    th scope="col" { (t.text("console-record")) }
                    th scope="col" { (t.text("console-audit-address")) }
                } }
                tbody { @for line in lines { (row(t, line)) } }
            }
            @if lines.is_empty() { p .empty { (t.text("console-none")) } }
        }
    }
}

fn row(t: &Face, line: &Value) -> Markup {
    let at = line["at_ms"].as_u64().unwrap_or_default() / 1000;
    let (subject, client) = (text(line, "subject"), text(line, "client_id"));
    let target = text(line, "target");
    let named = match text(line, "target_name") {
        "" => target,
        name => name,
    };
    html! {
        tr data-outcome=(text(line, "outcome")) {
            td data-index=(line["index"]) { (t.time(at)) }
            th scope="row" {
                (text(line, "action"))
                @for name in ["operation", "method"] {
                    @if !text(line, name).is_empty() { " " code .soft { (text(line, name)) } }
                }
            }
            td {
                span .state data-state=(text(line, "outcome")) { (text(line, "outcome")) }
                @if !text(line, "error").is_empty() { " " code { (text(line, "error")) } }
            }
            td {
                @for who in [subject, if client == subject { "" } else { client }] {
                    @if !who.is_empty() {
                        a href=(href(t, &format!("/audit?who={}", encoded(who)))) { code { bdi { (short(who)) } } } " "
                    }
                }
            }
            td { @if !named.is_empty() { bdi title=(target) { (named) } } }
            td { code { (text(line, "address")) } }
        }
    }
}

/// An id as far as eyes need it.
fn short(id: &str) -> String {
    const MOST: usize = 14;
    match id.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &id[..end]),
        None => id.to_owned(),
    }
}

fn text<'v>(line: &'v Value, name: &str) -> &'v str {
    line[name].as_str().unwrap_or_default()
}

fn one(t: &Face, line: &Value) -> Markup {
    let at = line["at_ms"].as_u64().unwrap_or_default() / 1000;
    let subject = text(line, "subject");
    let target = match text(line, "target_name") {
        "" => text(line, "target"),
        name => name,
    };
    html! {
        div .when { (t.time(at)) }
        div .what {
            strong { (text(line, "action")) @if !text(line, "operation").is_empty() { " · " (text(line, "operation")) } }
            @if !target.is_empty() { " " bdi { (target) } }
            span .state data-state=(text(line, "outcome")) { (text(line, "outcome")) }
            @if !text(line, "error").is_empty() { " " code { (text(line, "error")) } }
        }
        div .who {
            @if !subject.is_empty() {
                a href=(href(t, &format!("/audit?who={}", encoded(subject)))) { code { bdi { (subject) } } }
            }
            @for name in ["client_id", "method", "address"] {
                @let said = text(line, name);
                @if !said.is_empty() && said != subject { span title=(name) { code { bdi { (said) } } } }
            }
            span .soft { "#" (line["index"]) }
        }
    }
}

/// One key's life on a line of time.
struct Life<'v> {
    key: &'v Value,
    made: u64,
    signs: Option<u64>,
    retired: Option<u64>,
    ends: Option<u64>,
}

/// Signing keys by algorithm: when each was published, signs, and goes on being trusted. `now`:
/// Unix seconds.
pub(crate) fn keys(t: &Face, keys: &[Value], now: u64) -> Markup {
    const WIDTH: u64 = 1000;
    let lives: Vec<Life<'_>> = keys
        .iter()
        .map(|key| {
            let time = |name: &str| key[name].as_u64();
            Life {
                key,
                made: time("created_at").unwrap_or(now),
                signs: time("active_from").or_else(|| time("signs_from")),
                retired: time("retired_at"),
                ends: time("ends_at"),
            }
        })
        .collect();
    let from = lives
        .iter()
        .map(|life| life.made)
        .min()
        .unwrap_or(now)
        .min(now);
    let latest = lives
        .iter()
        .flat_map(|life| [life.ends, life.signs, life.retired]);
    let until = latest
        .flatten()
        .chain([now + 86_400])
        .max()
        .unwrap_or(now + 86_400);
    let until = until.saturating_add((until - from) / 12);
    let x = |at: u64| at.clamp(from, until).saturating_sub(from) * WIDTH / (until - from).max(1);
    html! {
        div .keys {
            @for life in &lives {
                @let (made, end) = (x(life.made), x(life.ends.unwrap_or(until)));
                @let signs = life.signs.map_or(end, x);
                @let retired = life.retired.map_or(end, x);
                @let phase = life.key["phase"].as_str().unwrap_or_default();
                div .key {
                    div .name {
                        strong { (life.key["alg"].as_str().unwrap_or_default()) }
                        span .state data-state=(phase) { (phase) }
                        code { bdi { (life.key["kid"].as_str().unwrap_or_default()) } }
                    }
                    svg viewBox="0 0 1000 26" preserveAspectRatio="none" aria-hidden="true" {
                        rect .published x=(made) y="9" width=(end.saturating_sub(made).max(3)) height="8" rx="4" {}
                        @if life.signs.is_some() {
                            rect .will x=(signs) y="5" width=(retired.saturating_sub(signs).max(3)) height="16" rx="4" {}
                            @let done = retired.min(x(now)).max(signs);
                            rect .signs x=(signs) y="5" width=(done.saturating_sub(signs).max(3)) height="16" rx="4" {}
                        }
                        line .now x1=(x(now)) x2=(x(now)) y1="0" y2="26" {}
                    }
                    p .soft {
                        (t.html("console-key-made", &[("time", t.time(life.made).into())]))
                        @if let Some(at) = life.signs { " " (t.html(if at <= now { "console-key-signs-since" } else { "console-key-signs-from" }, &[("time", t.time(at).into())])) }
                        @if let Some(at) = life.ends { " " (t.html("console-key-ends", &[("time", t.time(at).into())])) }
                        @if phase == "active" { " " (t.with("console-key-age", &[("days", Arg::Number(now.saturating_sub(life.signs.unwrap_or(life.made)) / 86_400))])) }
                    }
                }
            }
            p .legend {
                span .published {} (t.text("console-key-published")) " "
                span .signs {} (t.text("console-key-signing"))
            }
        }
    }
}

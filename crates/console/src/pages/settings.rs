//! `/console/settings`: every setting, its value, and where that comes from.

use maud::{Markup, html};
use serde_json::Value;
use signet_operation::problem::Problem;
use signet_pages::Face;
use signet_request::http::{Context, Response};
use std::collections::BTreeMap;

use super::parts;
use crate::call::{self, Call};
use crate::engine::catalog::Catalog;
use crate::session::Session;
use crate::view::fields;
use crate::view::shell::{Frame, href};

const SETTINGS: &str = "listSettings";
/// What a value may come from, in the API's words, and its text.
const SOURCES: &[(&str, &str)] = &[
    ("default", "console-source-default"),
    ("configuration", "console-source-configuration"),
    ("record", "console-source-record"),
];

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let (t, catalog) = (session.face(), Catalog::house());
    let title = t.text("console-settings");
    let Some(row) = catalog.operation(SETTINGS) else {
        return parts::not_found(session);
    };
    let document: Result<_, Problem> = call::read(&session, row, Call::default()).await;
    let settings = match document {
        Ok(document) => parts::items(&document),
        Err(problem) => return parts::refused(session, &title, "/settings", &problem),
    };
    let query = session.context.query_params().ok();
    let asked = |name: &str| {
        let value = query.as_ref().and_then(|query| query.get(name));
        value.map(str::trim).unwrap_or_default().to_lowercase()
    };
    let (words, source) = (asked("q"), asked("source"));
    let has = |setting: &Value| {
        let text = |name: &str| setting[name].as_str().unwrap_or_default().to_lowercase();
        let is_found = text("name").contains(&words) || text("documentation").contains(&words);
        is_found && (source.is_empty() || text("source") == source)
    };
    let mut groups: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for setting in settings.iter().filter(|setting| has(setting)) {
        let name = setting["name"].as_str().unwrap_or_default();
        let group = name.split_once('.').map_or("", |(group, _)| group);
        groups.entry(group.to_owned()).or_default().push(setting);
    }
    let frame = Frame::new(&t, title, "/settings");
    let content = html! {
        p .lead { (t.text("console-settings-about")) }
        form .filters method="get" action=(href(&t, "/settings")) role="search" aria-label=(t.text("console-filter")) data-live="" {
            div {
                label for="q" { (t.text("console-search")) }
                input #q type="search" name="q" value=(words) autocomplete="off" spellcheck="false";
            }
            div {
                label for="q-source" { (t.text("console-source")) }
                select #q-source name="source" {
                    option value="" { (t.text("console-any")) }
                    @for (name, text) in SOURCES {
                        option value=(name) selected[source == *name] { (t.language.find(text).unwrap_or_default()) }
                    }
                }
            }
            button type="submit" { (t.text("console-filter")) }
        }
        div #live aria-live="polite" {
            @if groups.is_empty() { div .scroll { table { tbody {} } p .empty { (t.text("console-none")) } } }
            @for (name, settings) in &groups {
                section .settings {
                    h2 { @if name.is_empty() { (t.text("console-settings-first")) } @else { code { (name) } } }
                    div .scroll tabindex="0" role="region" aria-label=(if name.is_empty() { "settings" } else { name.as_str() }) {
                        table {
                            thead .hidden { tr {
                                th scope="col" { (t.text("console-settings")) }
                                th scope="col" { (t.text("console-now")) }
                                th scope="col" { (t.text("console-source")) }
                            } }
                            tbody { @for setting in settings { (one(&t, setting)) } }
                        }
                    }
                }
            }
        }
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

/// A value as a configuration has it.
fn written(value: &Value) -> Markup {
    match value {
        Value::Null => html! { span .none { "–" } },
        Value::Array(_) | Value::Object(_) => {
            html! { pre { (serde_json::to_string_pretty(value).unwrap_or_default()) } }
        }
        other => html! { code { (other) } },
    }
}

fn one(t: &Face, setting: &Value) -> Markup {
    let text = |name: &str| setting[name].as_str().unwrap_or_default();
    let source = text("source");
    let label = SOURCES.iter().find(|(name, _)| *name == source);
    let label = label.and_then(|(_, label)| t.language.find(label));
    html! {
        tr .setting data-source=(source) {
            th scope="row" { code { (text("name")) } br; span .state data-state=(source) { (label.unwrap_or_default()) } }
            td .value {
                (written(&setting["value"]))
                @if setting["value"] != setting["default"] && !setting["default"].is_null() {
                    p .soft { (t.text("console-default")) " " code { (setting["default"]) } }
                }
            }
            td .about lang="en" {
                p { @for part in fields::parts(text("documentation")) { (part) } }
                p .soft { code { (text("type")) } " · " (text("owner")) " · " (text("takes_effect")) " · " (text("changed_in")) }
            }
        }
    }
}

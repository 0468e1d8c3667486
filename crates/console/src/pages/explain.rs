//! `/console/explain`: who may use which client, and which access rule says so.

use maud::{Markup, html};
use serde_json::Value;
use signet_operation::problem::Problem;
use signet_pages::Face;
use signet_request::http::{Context, Response};

use super::parts;
use crate::call::{self, Call};
use crate::engine::catalog::{Catalog, Reads};
use crate::session::Session;
use crate::view::shell::{Frame, encoded, href};

const EXPLAIN: &str = "explainAccess";
/// What a question is made of at first; what else there is, is behind a fold.
const FIRST: &[&str] = &["user", "client", "scope"];
/// Clients and scopes that are offered while somebody types.
const MAX_OFFERED: usize = 200;

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let (t, catalog) = (session.face(), Catalog::house());
    let Some(row) = catalog.operation(EXPLAIN) else {
        return parts::not_found(session);
    };
    let reads = Reads::of(row);
    let query = session.context.query_params().ok();
    let asked: Vec<(String, String, String)> = reads
        .query
        .iter()
        .map(|(name, about)| {
            let value = query.as_ref().and_then(|query| query.get(name));
            let value = value.map(str::trim).unwrap_or_default();
            (name.clone(), about.clone(), value.to_owned())
        })
        .collect();
    let filled = asked.iter().filter(|(_, _, value)| !value.is_empty());
    let called = filled.fold(Call::default(), |called, (name, _, value)| {
        called.asking(name, value)
    });
    let is_asked = asked
        .iter()
        .any(|(name, _, value)| name == "client" && !value.is_empty());
    let answer = match is_asked {
        true => Some(call::read(&session, row, called).await),
        false => None,
    };
    let registry = &session.realm().snapshot().registry;
    let clients = registry.clients.keys().take(MAX_OFFERED);
    let scopes = registry.scopes.iter().take(MAX_OFFERED);
    let frame = Frame::new(&t, t.text("console-explain"), "/explain");
    let (first, further): (Vec<_>, Vec<_>) = asked
        .iter()
        .partition(|(name, ..)| FIRST.contains(&name.as_str()));
    let is_open = further.iter().any(|(_, _, value)| !value.is_empty());
    let content = html! {
        p .lead { (t.text("console-explain-about")) }
        div .columns {
            form .sheet method="get" action=(href(&t, "/explain")) data-live="" {
                @for one in first { (field(one)) }
                details .more-fields open[is_open] {
                    summary { (t.with("console-more-fields", &[("count", signet_texts::Arg::Number(further.len() as u64))])) }
                    @for one in further { (field(one)) }
                }
                datalist #offer-client { @for id in clients { option value=(id) {} } }
                datalist #offer-scope { @for scope in scopes { option value=(scope.name) {} } }
                div .buttons { button .main type="submit" { (t.text("console-show")) } }
            }
            div #live aria-live="polite" { (answered(&t, answer.as_ref())) }
        }
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

fn field((name, about, value): &(String, String, String)) -> Markup {
    let offered = matches!(name.as_str(), "client" | "scope").then(|| format!("offer-{name}"));
    html! {
        div .field {
            label for={ "q-" (name) } { (name) }
            input id={ "q-" (name) } name=(name) value=(value) list=[offered] autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby={ "q-" (name) "-about" };
            p .about id={ "q-" (name) "-about" } lang="en" { (about) }
        }
    }
}

fn rule(t: &Face, name: &str) -> Markup {
    html! { a href=(href(t, &format!("/rules/{}", encoded(name)))) { code { bdi { (name) } } } }
}

fn answered(t: &Face, answer: Option<&Result<Value, Problem>>) -> Markup {
    let said = match answer {
        None => return html! {},
        Some(Err(problem)) => {
            return html! { div .notice .bad { (parts::problem(t, problem)) } };
        }
        Some(Ok(said)) => said,
    };
    let is_allowed = said["allowed"] == true;
    let mode = html! { code { (said["mode"].as_str().unwrap_or_default()) } };
    let holding = said["holding"].as_array().map_or(&[][..], Vec::as_slice);
    html! {
        section .panel .verdict data-state=(if is_allowed { "valid" } else { "revoked" }) {
            h2 { @if is_allowed { (t.text("console-allowed")) } @else { (t.text("console-denied")) } }
            p {
                @match said["rule"].as_str() {
                    Some(name) => { (t.html("console-by-rule", &[("name", rule(t, name).into())])) }
                    None => { (t.html("console-by-mode", &[("mode", mode.into())])) }
                }
            }
            @if !holding.is_empty() {
                h3 { (t.text("console-holding")) }
                ul { @for name in holding.iter().filter_map(Value::as_str) { li { (rule(t, name)) } } }
            }
        }
    }
}

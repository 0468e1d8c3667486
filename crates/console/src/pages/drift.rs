//! `/console/drift`: which directory declares what, and what differed from it.

use maud::html;
use serde_json::Value;
use signet_request::http::{Context, Response};
use std::collections::BTreeMap;

use super::parts;
use crate::call::{self, Call};
use crate::engine::catalog::Catalog;
use crate::session::Session;
use crate::view::shell::{Frame, href};

const EXPORT: &str = "exportDeclarations";
const ACTS: &[&str] = &[
    "planDeclarations",
    "applyDeclarations",
    "exportDeclarations",
    "showDeclaration",
];
/// Records of an owner that are named.
const NAMED: usize = 12;

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let (t, catalog) = (session.face(), Catalog::house());
    let title = t.text("console-drift");
    let Some(row) = catalog.operation(EXPORT) else {
        return parts::not_found(session);
    };
    let document = match call::read(&session, row, Call::default()).await {
        Ok(document) => document,
        Err(problem) => return parts::refused(session, &title, "/drift", &problem),
    };
    let objects = document["objects"].as_array().cloned().unwrap_or_default();
    let mut owners: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for object in &objects {
        let owner = object["owner"].as_str().unwrap_or_default();
        owners.entry(owner).or_default().push(object);
    }
    let realm = session.realm();
    let name = if realm.id().is_default() {
        ""
    } else {
        realm.id().as_str()
    };
    let watched = realm.host.metrics.directories.of_realm(name);
    let frame = Frame::new(&t, title, "/drift");
    let acts = ACTS.iter().filter_map(|id| catalog.operation(id));
    let content = html! {
        p .lead { (t.text("console-drift-about")) }
        @if !watched.is_empty() {
            div .scroll tabindex="0" role="region" aria-label=(t.text("console-directory")) {
                table {
                    thead { tr {
                        th scope="col" { (t.text("console-directory")) }
                        th scope="col" { (t.text("console-as-declared")) }
                        th scope="col" { (t.text("console-brought-back")) }
                    } }
                    tbody {
                        @for (directory, drift, at) in &watched {
                            tr {
                                th scope="row" { code { bdi { (directory) } } }
                                td { (t.time(*at)) }
                                td { @if *drift > 0 { span .state data-state="failure" { (drift) } } @else { span .number { "0" } } }
                            }
                        }
                    }
                }
            }
        }
        div .scroll tabindex="0" role="region" aria-label=(t.text("console-owner")) {
            table {
                thead { tr {
                    th scope="col" { (t.text("console-owner")) }
                    th scope="col" { (t.text("console-records")) }
                    th scope="col" { (t.text("console-record")) }
                } }
                tbody {
                    @for (owner, objects) in &owners {
                        tr {
                            th scope="row" lang="en" { (owner) }
                            td .number { (objects.len()) }
                            td {
                                @for object in objects.iter().take(NAMED) {
                                    span .chip { span .soft { (object["kind"].as_str().unwrap_or_default()) } " " bdi { (object["name"].as_str().unwrap_or_default()) } } " "
                                }
                                @if objects.len() > NAMED { span .soft { "…" } }
                            }
                        }
                    }
                }
            }
        }
        section .panel {
            h2 { (t.text("console-acts")) }
            ul .act-list { @for row in acts { li { (parts::act(&t, row, &[])) } } }
            p { a href=(href(&t, "/operations")) { (t.text("console-operations")) } }
        }
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

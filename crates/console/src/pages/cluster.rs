//! `/console/cluster`: the nodes of the installation, and the store that they share.

use maud::html;
use serde_json::Value;
use signet_request::http::{Context, Response};

use super::parts;
use crate::call::{self, Call};
use crate::engine::catalog::Catalog;
use crate::session::Session;
use crate::view::shell::{Frame, encoded, href};
use crate::view::table::Table;
use crate::view::values;

const NODES: &str = "listNodes";
const MOVES: &str = "getStoreMove";
/// What is done here beside a node's own page.
const ACTS: &[&str] = &[
    "inviteNode",
    "moveStore",
    "rotateSealingKey",
    "revokeEverywhere",
];

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let (t, catalog) = (session.face(), Catalog::house());
    let title = t.text("console-cluster");
    let Some(row) = catalog.operation(NODES) else {
        return parts::not_found(session);
    };
    let nodes = match call::read(&session, row, Call::default()).await {
        Ok(document) => parts::items(&document),
        Err(problem) => return parts::refused(session, &title, "/cluster", &problem),
    };
    let moved = match catalog.operation(MOVES) {
        Some(row) => call::read(&session, row, Call::default()).await.ok(),
        None => None,
    };
    let link = |row: &Value| {
        let name = row["name"].as_str()?;
        Some(href(&t, &format!("/nodes/{}", encoded(name))))
    };
    let acts = ACTS.iter().filter_map(|id| catalog.operation(id));
    let frame = Frame::new(&t, title.clone(), "/cluster");
    let content = html! {
        p .lead { (t.text("console-cluster-about")) }
        div #live data-refresh="5" {
            (Table {
                caption: &title,
                columns: &["name", "state", "role", "self", "zone", "lag_ms", "lag_deltas", "clock_skew_ms", "since", "url"],
                rows: &nodes,
                link: &link,
                acts: &|_| Vec::new(),
                select: None,
            }.render(&t))
        }
        @if let Some(moved) = &moved {
            section .panel { h2 { (t.text("console-database-size")) } (values::members(&t, moved, &[], 0)) }
        }
        section .panel {
            h2 { (t.text("console-acts")) }
            ul .act-list { @for row in acts { li { (parts::act(&t, row, &[])) } } }
        }
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

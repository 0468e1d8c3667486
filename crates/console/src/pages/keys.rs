//! `/console/keys`: signing keys on a line of time.

use maud::html;
use signet_operation::problem::Problem;
use signet_request::http::{Context, Response};

use super::{list, parts};
use crate::call::{self, Call};
use crate::engine::catalog::Catalog;
use crate::session::Session;
use crate::view::shell::Frame;
use crate::view::timeline;

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let (t, catalog) = (session.face(), Catalog::house());
    let kind = catalog.kind("keys");
    let listed = kind.and_then(|kind| Some((kind, kind.list()?)));
    let Some((kind, row)) = listed else {
        return parts::not_found(session);
    };
    let title = parts::kind_text(&t, &kind);
    let document: Result<_, Problem> = call::read(&session, row, Call::default()).await;
    let document = match document {
        Ok(document) => document,
        Err(problem) => return parts::refused(session, &title, "/keys", &problem),
    };
    let frame = Frame::new(&t, title, "/keys");
    let now = session.context.now();
    let content = html! {
        p .lead { (t.text("console-keys-about")) }
        section .panel { (timeline::keys(&t, &parts::items(&document), now)) }
        details open { summary { (t.text("console-as-table")) } (list::table(&t, &kind, &parts::items(&document), false)) }
        section .panel {
            h2 { (t.text("console-acts")) }
            ul .act-list { @for row in kind.beside() { li { (parts::act(&t, row, &[])) } } }
        }
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

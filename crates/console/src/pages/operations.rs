//! `/console/operations`: every operation of the admin API, each with its form.

use maud::html;
use signet_request::http::{Context, Response};

use super::parts;
use crate::engine::catalog::Catalog;
use crate::session::Session;
use crate::view::shell::{Frame, href};

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let (t, catalog) = (session.face(), Catalog::house());
    let frame = Frame::new(&t, t.text("console-operations"), "/operations");
    let content = html! {
        p .lead { (t.text("console-operations-about")) }
        div .scroll tabindex="0" role="region" aria-label=(t.text("console-operations")) {
            table {
                thead { tr {
                    th scope="col" { (t.text("console-operation")) }
                    th scope="col" { "API" }
                    th scope="col" { (t.text("console-right")) }
                } }
                tbody lang="en" {
                    @for row in catalog.operations() {
                        @let facts = row.facts();
                        tr {
                            th scope="row" { a href=(href(&t, &parts::operation_at(row, &[]))) { (facts.summary) } }
                            td { code { (facts.method.lower_case().to_uppercase()) " " (facts.path) } }
                            td {
                                span .state data-state=(facts.needs.name()) {
                                    (facts.needs.name())
                                }
                            }
                        }
                    }
                }
            }
        }
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

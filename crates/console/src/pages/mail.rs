//! `/console/mail`: mails that wait, and those that were sent or given up.

use maud::{Markup, html};
use serde_json::Value;
use signet_pages::Face;
use signet_request::http::{Context, Response};

use super::{audit, parts};
use crate::call::{self, Call};
use crate::engine::catalog::Catalog;
use crate::session::Session;
use crate::view::shell::{Frame, encoded, href};
use crate::view::table::Table;
use crate::view::timeline;

const WAITING: &str = "listMails";
/// Its action in the audit trail.
const SENT: &str = "mail.send";
/// Mails of a page.
const PAGE: usize = 50;

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let (t, catalog) = (session.face(), Catalog::house());
    let title = t.text("console-mail");
    let Some(row) = catalog.operation(WAITING) else {
        return parts::not_found(session);
    };
    let query = session.context.query_params().ok();
    let asked = |name: &str| {
        let value = query.as_ref().and_then(|query| query.get(name));
        value.map(str::trim).unwrap_or_default().to_owned()
    };
    let (words, after) = (asked("q").to_lowercase(), asked("after"));
    let mut called = Call::default().asking("limit", PAGE.to_string());
    if !after.is_empty() {
        called = called.asking("after", after);
    }
    let document = match call::read(&session, row, called).await {
        Ok(document) => document,
        Err(problem) => return parts::refused(session, &title, "/mail", &problem),
    };
    let has = |row: &Value| row.to_string().to_lowercase().contains(&words);
    let waiting: Vec<Value> = parts::items(&document).into_iter().filter(has).collect();
    let past = audit::of_action(&session, SENT, PAGE).await;
    let past: Vec<Value> = past.into_iter().filter(has).collect();
    let failed = past
        .iter()
        .filter(|line| line["outcome"] != "success")
        .count();
    let frame = Frame::new(&t, title, "/mail");
    let content = html! {
        p .lead { (t.text("console-mail-about")) }
        form .filters method="get" action=(href(&t, "/mail")) role="search" aria-label=(t.text("console-filter")) data-live="" {
            div {
                label for="q" { (t.text("console-search")) }
                input #q type="search" name="q" value=(words) autocomplete="off" spellcheck="false";
            }
            button type="submit" { (t.text("console-filter")) }
        }
        div #live aria-live="polite" {
            ul .tiles {
                li { div { strong { (waiting.len()) } span { (t.text("console-waiting")) } } }
                li { div { strong { (past.len() - failed) } span .state data-state="success" { "success" } } }
                li { div { strong { (failed) } span .state data-state="failure" { "failure" } } }
            }
            section { h2 { (t.text("console-waiting")) } (mails(&t, &waiting)) (next(&t, &document)) }
            section { h2 { (t.text("console-past")) } (timeline::table(&t, &past)) }
        }
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

fn mails(t: &Face, rows: &[Value]) -> Markup {
    let link = |row: &Value| {
        let user = parts::text_of(&row["user_id"])?;
        Some(href(t, &format!("/users/{}", encoded(&user))))
    };
    let caption = t.text("console-waiting");
    Table {
        caption: &caption,
        columns: &[
            "operation",
            "user_id",
            "made_at",
            "expires_at",
            "attempts",
            "last",
        ],
        rows,
        link: &link,
        acts: &|_| Vec::new(),
        select: None,
    }
    .render(t)
}

fn next(t: &Face, document: &Value) -> Markup {
    html! {
        @if let Some(next) = document["next"].as_str() {
            nav .pages aria-label=(t.text("console-pages")) {
                a .button rel="next" href=(href(t, &format!("/mail?after={}", encoded(next)))) { (t.text("console-next-page")) }
            }
        }
    }
}

//! `/console/{kind}`: a page of the records of a kind.

use maud::{Markup, html};
use serde_json::Value;
use signet_pages::Face;
use signet_request::http::{Context, Response};

use super::parts;
use crate::call::{self, Call};
use crate::engine::catalog::{Catalog, Kind, Reads};
use crate::session::Session;
use crate::view::shell::{Frame, encoded, href};
use crate::view::table::Table;

/// Records of a page.
const PAGE: usize = 50;

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let catalog = Catalog::house();
    let slug = session.context.param("kind").unwrap_or_default().to_owned();
    let kind = catalog.kind(&slug);
    let listed = kind.and_then(|kind| Some((kind, kind.list()?)));
    let Some((kind, list)) = listed else {
        return parts::not_found(session);
    };
    let t = session.face();
    let at = format!("/{slug}");
    let query = session.context.query_params().ok();
    let asked = |name: &str| {
        let value = query.as_ref().and_then(|query| query.get(name));
        value
            .map(str::trim)
            .filter(|value| !value.is_empty())
            .map(str::to_owned)
    };
    let reads = Reads::of(list);
    let filters: Vec<(String, String, String)> = reads
        .filters()
        .into_iter()
        .map(|(name, about)| (asked(&name).unwrap_or_default(), name, about))
        .map(|(value, name, about)| (name, about, value))
        .collect();
    let mut called = Call::default();
    if reads.query.iter().any(|(name, _)| name == "limit") {
        called = called.asking("limit", PAGE.to_string());
    }
    if let Some(after) = asked("after") {
        called = called.asking("after", after);
    }
    for (name, _, value) in filters.iter().filter(|(_, _, value)| !value.is_empty()) {
        called = called.asking(name, value.clone());
    }
    let title = parts::kind_text(&t, &kind);
    match call::read(&session, list, called).await {
        Ok(document) => {
            let mut frame = Frame::new(&t, title, &at);
            frame.notice = parts::done(&t, &catalog, asked("done").as_deref());
            frame.tools = html! {
                @if let Some(make) = kind.make() {
                    (parts::button(&t, &parts::operation_at(make, &[]), &t.text("console-add"), "main"))
                }
            };
            let content = html! {
                (filter_form(&t, &at, &filters))
                (table(&t, &kind, &document))
                (pages(&t, &at, &filters, asked("after").is_some(), document["next"].as_str()))
                (beside(&t, &kind))
            };
            let page = frame.render(&session.visitor(), &catalog, &content);
            session.finish(page)
        }
        Err(problem) => parts::refused(session, &title, &at, &problem),
    }
}

fn filter_form(t: &Face, at: &str, filters: &[(String, String, String)]) -> Markup {
    let is_used = filters.iter().any(|(_, _, value)| !value.is_empty());
    html! {
        @if !filters.is_empty() {
            form .filters method="get" action=(href(t, at)) role="search" aria-label=(t.text("console-filter")) {
                @for (name, about, value) in filters {
                    div {
                        label for={ "q-" (name) } { (name) }
                        input id={ "q-" (name) } name=(name) value=(value) type="search" autocomplete="off" spellcheck="false" aria-describedby={ "q-" (name) "-about" };
                        p .about id={ "q-" (name) "-about" } lang="en" { (about) }
                    }
                }
                button type="submit" { (t.text("console-filter")) }
                @if is_used { a .button href=(href(t, at)) { (t.text("console-all")) } }
            }
        }
    }
}

/// The table of a list's document: the kind's own columns.
pub(crate) fn table(t: &Face, kind: &Kind<'_>, document: &Value) -> Markup {
    let mut rows = parts::items(document);
    if let Some(by) = kind.noun.sorted_by {
        rows.sort_by_key(|row| parts::text_of(&row[by]).unwrap_or_default().to_lowercase());
    }
    let caption = parts::kind_text(t, kind);
    let id = kind.noun.id;
    let link = |row: &Value| {
        let named = parts::text_of(&row[id])?;
        match (kind.show(), kind.replace()) {
            (None, None) => {
                // What hangs on a person is on the person's page.
                let owner = parts::text_of(&row["user_id"])?;
                Some(href(t, &format!("/users/{}", encoded(&owner))))
            }
            _ => Some(href(t, &parts::record_at(kind, &named))),
        }
    };
    Table {
        caption: &caption,
        columns: kind.noun.columns,
        rows: &rows,
        link: &link,
        acts: &|_| Vec::new(),
    }
    .render(t)
}

fn pages(
    t: &Face,
    at: &str,
    filters: &[(String, String, String)],
    is_further: bool,
    next: Option<&str>,
) -> Markup {
    let mut query = String::from("?");
    for (name, _, value) in filters.iter().filter(|(_, _, value)| !value.is_empty()) {
        query.push_str(&format!("{}={}&", encoded(name), encoded(value)));
    }
    html! {
        @if is_further || next.is_some() {
            nav .pages aria-label=(t.text("console-pages")) {
                @if is_further { a .button href=(href(t, &format!("{at}{}", query.trim_end_matches(['&', '?'])))) { (t.text("console-first-page")) } }
                @if let Some(next) = next {
                    a .button rel="next" href=(href(t, &format!("{at}{query}after={}", encoded(next)))) { (t.text("console-next-page")) }
                }
            }
        }
    }
}

fn beside(t: &Face, kind: &Kind<'_>) -> Markup {
    let rows = kind.beside();
    html! {
        @if !rows.is_empty() {
            section .panel {
                h2 { (t.text("console-acts")) }
                ul .act-list { @for row in rows { li { (parts::act(t, row, &[])) } } }
            }
        }
    }
}

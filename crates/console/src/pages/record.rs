//! `/console/{kind}/{id}`: one record, what hangs on it, and what can be done with it.

use maud::{Markup, html};
use serde_json::Value;
use signet_operation::problem::Problem;
use signet_pages::Face;
use signet_request::http::{Context, Response};

use super::{audit, parts, person};
use crate::call::{self, Call};
use crate::engine::catalog::{Catalog, Kind, Operation, names};
use crate::session::Session;
use crate::view::shell::{Frame, encoded, href};
use crate::view::table::{Table, columns_of};
use crate::view::{timeline, values};

/// Entries of a part of the page; the rest is behind its own link.
const PART: usize = 20;

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let catalog = Catalog::house();
    let slug = session.context.param("kind").unwrap_or_default().to_owned();
    let id = session.context.param("id").unwrap_or_default().to_owned();
    let Some(kind) = catalog.kind(&slug).filter(|kind| kind.segment().is_some()) else {
        return parts::not_found(session);
    };
    let t = session.face();
    let document = match read(&session, &kind, &id).await {
        Ok(document) => document,
        Err(problem) => return parts::refused(session, &id, &format!("/{slug}"), &problem),
    };
    let mut found = Vec::new();
    for part in kind.parts() {
        let read = call::read(&session, part, Call::of(kind.segment(), &id)).await;
        found.push((part, read));
    }
    let trail = audit::about(&session, &[&id]).await;
    let at = format!("/{slug}/{}", encoded(&id));
    let mut frame = Frame::new(&t, parts::called(&document, &kind, &id), &at);
    frame.way = vec![(parts::kind_text(&t, &kind).into(), format!("/{slug}"))];
    let query = session.context.query_params().ok();
    let done = query.as_ref().and_then(|query| query.get("done"));
    frame.notice = parts::done(&t, &catalog, done);
    let segment = kind.segment().unwrap_or_default();
    let own = [(segment, id.as_str())];
    let is_person = slug == "users";
    let may = match is_person {
        true => person::may(&t, &session, &document).await,
        false => html! {},
    };
    frame.tools = html! {
        @if slug == "clients" {
            (parts::button(&t, &format!("/connection/{}", encoded(&id)), &t.text("console-connection"), ""))
        }
        @if let Some(replace) = kind.replace() {
            (parts::button(&t, &parts::operation_at(replace, &own), &t.text("console-change"), "main"))
        }
        @if let Some(remove) = kind.remove() {
            (parts::button(&t, &parts::operation_at(remove, &own), &t.text("console-remove"), "bad"))
        }
    };
    let content = html! {
        @if is_person { (person::card(&t, &document)) }
        div .columns {
            div {
                section .panel {
                    h2 { (t.text("console-record")) }
                    (values::members(&t, &document, kind.noun.columns, 0))
                }
                @for (part, read) in &found { (section(&t, &kind, *part, &id, read)) }
            }
            div {
                (may)
                @let acts = kind.acts();
                @if !acts.is_empty() {
                    section .panel {
                        h2 { (t.text("console-acts")) }
                        ul .act-list { @for row in acts { li { (parts::act(&t, row, &own)) } } }
                    }
                }
                section .panel {
                    h2 { (t.text("console-timeline")) }
                    p .soft { (t.text("console-timeline-about")) }
                    (timeline::lines(&t, &trail))
                    a .more href=(href(&t, &format!("/audit?who={}", encoded(&id)))) { (t.text("console-audit")) }
                }
            }
        }
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

/// The record; of a kind that shows none singly, as its list has it.
async fn read(session: &Session, kind: &Kind<'_>, id: &str) -> Result<Value, Problem> {
    if let Some(show) = kind.show() {
        return call::read(session, show, Call::of(kind.segment(), id)).await;
    }
    let list = kind.list().ok_or_else(Problem::not_found)?;
    let listed = call::read(session, list, Call::default()).await?;
    let is_it = |row: &Value| parts::text_of(&row[kind.noun.id]).as_deref() == Some(id);
    let found = parts::items(&listed).into_iter().find(is_it);
    found.ok_or_else(Problem::not_found)
}

/// What hangs on the record: a list, or a document.
fn section(
    t: &Face,
    kind: &Kind<'_>,
    part: Operation,
    id: &str,
    read: &Result<Value, Problem>,
) -> Markup {
    let facts = part.facts();
    let name = facts.path.rsplit('/').next().unwrap_or_default();
    let title = match kind_of_part(t, name) {
        Some(text) => text,
        None => name.replace('_', " "),
    };
    let below = kind.acts_of(facts);
    let segment = kind.segment().unwrap_or_default();
    let body = match read {
        Err(problem) => html! { p .empty { (parts::problem(t, problem)) } },
        Ok(document) if document["items"].is_array() => {
            let rows = parts::items(document);
            let shown = &rows[..rows.len().min(PART)];
            let columns = columns_of(shown);
            let acts = |row: &Value| {
                let of = below.iter().filter_map(|act| {
                    let mut segments = vec![(segment, id.to_owned())];
                    for name in names(act.facts().path).into_iter().skip(1) {
                        segments.push((name, named(row, name)?));
                    }
                    // One of the entry itself: what a whole group loses has a form of its own.
                    let is_entry = segments.len() > 1;
                    let named: Vec<(&str, &str)> = segments
                        .iter()
                        .map(|(name, value)| (*name, value.as_str()))
                        .collect();
                    is_entry.then(|| {
                        let target = href(t, &parts::operation_at(*act, &named));
                        (t.text("console-remove").into_owned(), target)
                    })
                });
                // The longest path is the entry's own.
                let mut all: Vec<(String, String)> = of.collect();
                all.sort_by_key(|(_, target)| target.matches("p.").count());
                all.pop().into_iter().collect()
            };
            let table = Table {
                caption: &title,
                columns: &columns,
                rows: shown,
                link: &|_| None,
                acts: &acts,
                select: None,
            };
            html! {
                (table.render(t))
                @if rows.len() > PART || document["next"].is_string() {
                    a .more href=(href(t, &parts::operation_at(part, &[(segment, id)]))) { (t.text("console-all")) }
                }
            }
        }
        Ok(document) => values::members(t, document, &[], 0),
    };
    html! { section .panel { h2 { (title) } (body) } }
}

/// The text of a part, where a kind has its name.
fn kind_of_part(t: &Face, name: &str) -> Option<String> {
    let known = t.language.find(&format!("console-kind-{name}"));
    known.map(std::borrow::Cow::into_owned)
}

/// The member of an entry that a segment names: `client_id`, or `id` for `credential_id`.
fn named(row: &Value, segment: &str) -> Option<String> {
    parts::text_of(&row[segment]).or_else(|| {
        let plain = segment.rsplit('_').next().unwrap_or(segment);
        parts::text_of(&row[plain])
    })
}

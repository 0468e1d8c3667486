//! What several pages have.

use http::StatusCode;
use maud::{Markup, html};
use serde_json::Value;
use signet_operation::problem::Problem;
use signet_pages::Face;
use signet_request::http::Response;

use crate::engine::catalog::{Catalog, Kind, Operation};
use crate::session::Session;
use crate::view::shell::{self, Frame, Notice, encoded, href};

/// A refusal, as people read it: the operation's own words, which are English.
pub(crate) fn problem(t: &Face, problem: &Problem) -> Markup {
    html! {
        strong { (t.text("console-refused")) } " "
        span lang="en" { (problem.detail()) } " " code { (problem.code()) }
    }
}

/// A page that shows nothing but a refusal.
pub(crate) fn refused(session: Session, title: &str, at: &str, refusal: &Problem) -> Response {
    let (t, catalog) = (session.face(), Catalog::house());
    let mut frame = Frame::new(&t, title, at);
    frame.status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST);
    frame.notice = Some(Notice::Bad(problem(&t, refusal)));
    let page = frame.render(&session.visitor(), &catalog, &html! {});
    session.finish(page)
}

/// A page that is not there.
pub(crate) fn not_found(session: Session) -> Response {
    refused(session, "404", "", &Problem::not_found())
}

/// The items of a list's document.
pub(crate) fn items(document: &Value) -> Vec<Value> {
    document["items"].as_array().cloned().unwrap_or_default()
}

/// A member as text, whatever it is.
pub(crate) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The address of an operation's form, with what its path names.
pub(crate) fn operation_at(row: Operation, segments: &[(&str, &str)]) -> String {
    let mut below = format!("/do/{}", row.facts().id);
    for (index, (name, value)) in segments.iter().enumerate() {
        below.push(if index == 0 { '?' } else { '&' });
        below.push_str(&format!("p.{name}={}", encoded(value)));
    }
    below
}

/// The address of a record's page.
pub(crate) fn record_at(kind: &Kind<'_>, id: &str) -> String {
    format!("/{}/{}", kind.slug(), encoded(id))
}

/// A link that looks like a button.
pub(crate) fn button(t: &Face, below: &str, text: &str, class: &str) -> Markup {
    html! { a class={ "button " (class) } href=(href(t, below)) { (text) } }
}

/// An operation as a link: what it does, in the tables' words.
pub(crate) fn act(t: &Face, row: Operation, segments: &[(&str, &str)]) -> Markup {
    let facts = row.facts();
    html! {
        a .act href=(href(t, &operation_at(row, segments))) data-final[facts.is_final()] lang="en" {
            (facts.summary)
        }
    }
}

/// What was done, by the `done` of an address: the name of an operation, and of nothing else.
pub(crate) fn done(t: &Face, catalog: &Catalog, query: Option<&str>) -> Option<Notice> {
    let row = catalog.operation(query?)?;
    Some(Notice::Done(html! {
        (t.text("console-done")) " " span lang="en" { (row.facts().summary) }
    }))
}

/// The name of a record on its page: what people call it.
pub(crate) fn called(document: &Value, kind: &Kind<'_>, id: &str) -> String {
    let own = ["username", "client_name", "name"].iter();
    let named = own.filter_map(|name| document[*name].as_str());
    let named = named.map(str::to_owned).find(|name| !name.is_empty());
    named
        .or_else(|| text_of(&document[kind.noun.id]))
        .unwrap_or_else(|| id.to_owned())
}

/// Text of a kind.
pub(crate) fn kind_text(t: &Face, kind: &Kind<'_>) -> String {
    shell::kind_text(t, &kind.slug()).into_owned()
}

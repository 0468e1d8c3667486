//! The page of an operation's form.

use http::StatusCode;
use maud::{Markup, html};
use serde_json::Value;
use signet_oauth::administration::MAX_REASON_BYTES;
use signet_operation::facts::Method;
use signet_operation::right::Right;
use signet_pages::Face;
use signet_request::http::Response;

use super::draft::{Draft, Sheet, subject};
use crate::engine::catalog::{Catalog, Operation, wants_fresh};
use crate::engine::conflict::Changed;
use crate::engine::fields::{Field, Fields};
use crate::pages::parts;
use crate::session::Session;
use crate::view::shell::{Frame, Notice, encoded, href, kind_text};
use crate::view::{fields, values};

/// Fields that are all shown at once.
const FEW: usize = 25;

pub(super) fn page(
    session: Session,
    catalog: &Catalog,
    sheet: &Sheet,
    draft: &Draft,
    result: Option<&Value>,
) -> Response {
    let t = session.face();
    let facts = sheet.facts();
    let kind = catalog.kind_of(facts);
    let at = match &kind {
        Some(kind) => format!("/{}", kind.slug()),
        None => format!("/do/{}", facts.id),
    };
    let mut frame = Frame::new(&t, facts.summary, &at);
    if let Some(kind) = &kind {
        frame.way.push((
            parts::kind_text(&t, kind).into(),
            format!("/{}", kind.slug()),
        ));
        let named = draft
            .segments
            .iter()
            .find(|(name, _)| Some(*name) == kind.segment());
        if let Some((_, id)) = named.filter(|(_, id)| !id.is_empty()) {
            frame
                .way
                .push((id.clone().into(), parts::record_at(kind, id)));
        }
    } else {
        frame
            .way
            .push((t.text("console-operations"), "/operations".to_owned()));
    }
    frame.status = draft.status;
    let first = kind.as_ref().map_or(&[][..], |kind| kind.noun.columns);
    let content = html! {
        (conflict_table(&t, &draft.changed))
        (form(&t, &session, sheet, draft, first))
        @if let Some(result) = result { (shown(&t, result)) }
    };
    // The frame borrows what the page says of itself.
    frame.notice = match &draft.notice {
        Some(Notice::Done(said)) => Some(Notice::Done(said.clone())),
        Some(Notice::Bad(said)) => Some(Notice::Bad(said.clone())),
        None => None,
    };
    let page = frame.render(&session.visitor(), catalog, &content);
    session.finish(page)
}

fn form(t: &Face, session: &Session, sheet: &Sheet, draft: &Draft, first: &[&str]) -> Markup {
    let facts = sheet.facts();
    let is_get = sheet.shows();
    if is_get && sheet.reads.segments.is_empty() && sheet.reads.query.is_empty() {
        return html! { p .soft { code { (facts.id) } } };
    }
    let must_confirm = wants_fresh(facts) && !session.is_fresh();
    let method = if is_get { "get" } else { "post" };
    html! {
        form .sheet method=(method) action=(href(t, &format!("/do/{}", facts.id))) {
            p .soft lang="en" {
                code { (facts.id) }
                @if facts.needs != Right::Read { " · " (t.text("console-recorded")) }
            }
            @if is_get { input type="hidden" name="go" value="1"; } @else {
                input type="hidden" name="form" value=(session.form_token());
            }
            @if !is_get && let Some((read, revision)) = &draft.read {
                @if facts.method == Method::Put {
                    input type="hidden" name="read" value=(read.to_string());
                }
                @if let Some(revision) = revision { input type="hidden" name="revision" value=(revision); }
            }
            (names(t, draft))
            (query(sheet, draft))
            @if let Some(made) = &sheet.fields { (body(t, made, draft, first)) }
            @if facts.needs != Right::Read {
                div .field {
                    label for="reason" { (t.text("console-reason")) }
                    input #reason name="reason" maxlength=(MAX_REASON_BYTES) autocomplete="off";
                }
            }
            @if facts.is_final() { (ends(t, sheet, draft, must_confirm)) }
            div .buttons {
                @if must_confirm {
                    a .button .main href=(href(t, &fresh_at(sheet.row, draft))) { (t.text("console-fresh-go")) }
                } @else {
                    button type="submit" class=(if facts.is_final() { "bad" } else { "main" }) {
                        @if is_get { (t.text("console-show")) } @else if facts.is_final() { (t.text("console-end")) } @else { (t.text("console-save")) }
                    }
                }
            }
            @if must_confirm && !facts.is_final() { p .about { (t.text("console-fresh-about")) } }
        }
    }
}

/// Back to this form once two factors were shown. What was typed is not in an address.
fn fresh_at(row: Operation, draft: &Draft) -> String {
    let segments = draft.segments.iter();
    let segments: Vec<(&str, &str)> = segments
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let below = parts::operation_at(row, &segments);
    format!("?confirm={}", encoded(&below))
}

/// What the path names: given with the address, or typed.
fn names(t: &Face, draft: &Draft) -> Markup {
    let is_new = draft.read.is_none();
    html! {
        @for (name, value) in &draft.segments {
            @if value.is_empty() || is_new && draft.status != StatusCode::OK {
                div .field {
                    label for={ "p-" (name) } { (name) span .required { (t.text("console-required")) } }
                    input id={ "p-" (name) } name={ "p." (name) } value=(value) required autocomplete="off" autocapitalize="off" spellcheck="false";
                }
            } @else {
                input type="hidden" name={ "p." (name) } value=(value);
            }
        }
    }
}

fn query(sheet: &Sheet, draft: &Draft) -> Markup {
    html! {
        @for ((name, value), (_, about)) in draft.query.iter().zip(&sheet.reads.query) {
            div .field {
                label for={ "q-" (name) } { (name) }
                input id={ "q-" (name) } name={ "q." (name) } value=(value) autocomplete="off" spellcheck="false" aria-describedby={ "q-" (name) "-about" };
                p .about id={ "q-" (name) "-about" } lang="en" { (about) }
            }
        }
    }
}

/// The fields: what must be there, what lists show, what is there, and the others behind a fold.
fn body(t: &Face, made: &Fields, draft: &Draft, first: &[&str]) -> Markup {
    let text = |name: &str| {
        let mut shown = draft.shown.iter();
        shown
            .find(|(known, _)| known == name)
            .map_or("", |(_, text)| text.as_str())
    };
    let is_wrong = |name: &str| draft.wrong.iter().any(|w| w.field.as_deref() == Some(name));
    let is_first = |field: &&Field| {
        let is_shown = first.contains(&field.name.as_str());
        field.required || is_shown || !text(&field.name).is_empty() || is_wrong(&field.name)
    };
    let (first, more): (Vec<_>, Vec<_>) = made.fields.iter().partition(is_first);
    let all = |fields: &[&Field]| {
        html! {
            div .fields { @for field in fields { (fields::field(t, "b.", field, text(&field.name), &draft.wrong)) } }
        }
    };
    html! {
        @if first.is_empty() && more.len() <= 12 {
            (all(&more))
        } @else {
            (all(&first))
            @if !more.is_empty() {
                details .more-fields open[first.is_empty() || made.fields.len() <= FEW] {
                    summary { (t.html("console-more-fields", &[("count", (more.len() as u64).into())])) }
                    (all(&more))
                }
            }
        }
    }
}

/// What is said before something ends, and the name that is to be typed.
fn ends(t: &Face, sheet: &Sheet, draft: &Draft, must_confirm: bool) -> Markup {
    let subject = subject(draft);
    let is_named = draft.segments.iter().all(|(_, value)| !value.is_empty());
    html! {
        div .ends {
            p { strong { (t.text("console-ends")) } " " span lang="en" { (sheet.facts().summary) "." } }
            @let held: Vec<_> = draft.ends.iter().filter(|(_, count, _)| *count > 0).collect();
            @if !held.is_empty() {
                ul {
                    @for (part, count, more) in held {
                        li { (kind_text(t, part)) ": " strong { (count) @if *more { "+" } } }
                    }
                }
            }
            @if let Some((read, _)) = draft.read.as_ref().filter(|_| sheet.facts().method != Method::Put) {
                details { summary { (t.text("console-record")) } (values::members(t, read, &[], 1)) }
            }
            @if must_confirm {
                p { (t.text("console-fresh-about")) }
            } @else {
                label for="confirm" {
                    @if is_named {
                        (t.html("console-type-name", &[("name", html! { code { bdi { (subject) } } }.into())]))
                    } @else {
                        (t.html("console-type-again", &[("names", html! { code { (sheet.names()) } }.into())]))
                    }
                }
                input #confirm name="confirm" autocomplete="off" autocapitalize="off" spellcheck="false" required;
            }
        }
    }
}

fn conflict_table(t: &Face, changed: &[Changed]) -> Markup {
    html! {
        @if !changed.is_empty() {
            section .panel .conflict {
                h2 { (t.text("console-changed-what")) }
                div .scroll tabindex="0" role="region" aria-label=(t.text("console-changed-what")) {
                    table {
                        thead { tr {
                            th scope="col" { (t.text("console-member")) }
                            th scope="col" { (t.text("console-before")) }
                            th scope="col" { (t.text("console-now")) }
                            th scope="col" { (t.text("console-yours")) }
                        } }
                        tbody {
                            @for one in changed {
                                tr {
                                    th scope="row" { (one.name) }
                                    td { (one.before) }
                                    td { mark { (one.now) } }
                                    td { @if let Some(typed) = &one.typed { (typed) } @else { span .none { "–" } } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What was asked for.
fn shown(t: &Face, result: &Value) -> Markup {
    let rows = parts::items(result);
    html! {
        section .panel {
            @if result["items"].is_array() {
                @let columns = crate::view::table::columns_of(&rows);
                (crate::view::table::Table { caption: &t.text("console-result"), columns: &columns, rows: &rows, link: &|_| None, acts: &|_| Vec::new(), select: None }.render(t))
            } @else {
                (values::members(t, result, &[], 0))
            }
        }
    }
}

//! `/console/do/{operation}`: the form of an operation, whichever it is.
//!
//! Its fields are what the operation reads: names of the path (`p.`), members of the query (`q.`)
//! and of the body (`b.`). What replaces a record is filled with it, names the revision that was
//! read, and settles with whoever was faster ([`conflict`]). What ends something shows what it
//! ends, wants the name typed, and asks for two factors of the last minutes.

use http::StatusCode;
use maud::{Markup, html};
use serde_json::Value;
use signet_operation::facts::{Facts, Method};
use signet_operation::output::Reply;
use signet_operation::problem::Problem;
use signet_operation::right::Right;
use signet_pages::Face;
use signet_request::http::{Context, Response};

use super::parts;
use crate::engine::call::{self, Call};
use crate::engine::catalog::{Catalog, Operation, Reads, wants_fresh};
use crate::engine::conflict::{self, Changed};
use crate::engine::fields::{Fields, Why, Wrong};
use crate::engine::form::Form;
use crate::session::Session;
use crate::view::shell::{Frame, Notice, encoded, href, kind_text};
use crate::view::{fields, values};

/// What a form says of itself beside its fields.
struct Draft {
    /// Of the path.
    segments: Vec<(&'static str, String)>,
    /// The query's members.
    query: Vec<(String, String)>,
    /// What replaces: the record as it was read, and its revision.
    read: Option<(Value, Option<u64>)>,
    /// What ends with it: a part of the record, how many, and whether there are more.
    ends: Vec<(String, usize, bool)>,
    /// What each field shows, by its name.
    shown: Vec<(String, String)>,
    wrong: Vec<Wrong>,
    changed: Vec<Changed>,
    notice: Option<Notice>,
    status: StatusCode,
}

/// An operation's form, and what of it does not change while it is filled in.
struct Sheet {
    row: Operation,
    reads: Reads,
    fields: Option<Fields>,
}

impl Sheet {
    fn of(catalog: &Catalog, id: &str) -> Option<Sheet> {
        let row = catalog.operation(id)?;
        let reads = Reads::of(row);
        // What the path says is not said again.
        let kind = catalog.kind_of(row.facts());
        let own: Vec<&str> = match kind {
            Some(kind) if reads.segments.last().copied() == kind.segment() => vec![kind.noun.id],
            _ => Vec::new(),
        };
        let fields = reads.body.as_ref();
        let fields = fields.map(|schema| Fields::of(schema, &reads.schemas, &own));
        Some(Sheet { row, reads, fields })
    }

    fn facts(&self) -> &'static Facts {
        self.row.facts()
    }

    /// Nothing is asked: what shows and has all names is shown at once.
    fn shows(&self) -> bool {
        self.facts().method == Method::Get
    }

    fn names(&self) -> String {
        self.reads.segments.join(", ")
    }
}

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let catalog = Catalog::house();
    let id = session
        .context
        .param("operation")
        .unwrap_or_default()
        .to_owned();
    let Some(sheet) = Sheet::of(&catalog, &id) else {
        return parts::not_found(session);
    };
    let asked = Form::parse(session.context.query().as_bytes()).unwrap_or_default();
    let draft = begin(&session, &catalog, &sheet, &asked).await;
    let mut draft = match draft {
        Ok(draft) => draft,
        Err(problem) => {
            return parts::refused(session, sheet.facts().summary, "/operations", &problem);
        }
    };
    let is_whole = draft.segments.iter().all(|(_, value)| !value.is_empty());
    let is_asked = sheet.reads.query.is_empty() || asked.get("go").is_some();
    let mut result = None;
    if sheet.shows() && is_whole && (is_asked || sheet.reads.filters().is_empty()) {
        let called = Call {
            segments: draft.segments.clone(),
            query: filled(&draft.query),
            ..Call::default()
        };
        match call::read(&session, sheet.row, called).await {
            Ok(document) => result = Some(document),
            Err(problem) => refuse(&session.face(), &sheet, &mut draft, &problem),
        }
    }
    page(session, &catalog, &sheet, &draft, result.as_ref())
}

fn filled(query: &[(String, String)]) -> Vec<(String, String)> {
    let filled = query.iter().filter(|(_, value)| !value.is_empty());
    filled.cloned().collect()
}

/// The form before anything was typed: with the record, where one is replaced.
async fn begin(
    session: &Session,
    catalog: &Catalog,
    sheet: &Sheet,
    asked: &Form,
) -> Result<Draft, Problem> {
    let segments: Vec<(&'static str, String)> = sheet
        .reads
        .segments
        .iter()
        .map(|name| {
            (
                *name,
                asked
                    .get(&format!("p.{name}"))
                    .unwrap_or_default()
                    .to_owned(),
            )
        })
        .collect();
    let query = sheet.reads.query.iter().map(|(name, _)| {
        let value = asked.get(&format!("q.{name}")).unwrap_or_default();
        (name.clone(), value.to_owned())
    });
    let mut draft = Draft {
        query: query.collect(),
        read: record(session, catalog, sheet, &segments).await?,
        segments,
        shown: Vec::new(),
        ends: Vec::new(),
        wrong: Vec::new(),
        changed: Vec::new(),
        notice: None,
        status: StatusCode::OK,
    };
    draft.ends = held(session, catalog, sheet, &draft.segments).await;
    let nothing = Value::Null;
    let document = draft
        .read
        .as_ref()
        .map_or(&nothing, |(document, _)| document);
    if let Some(fields) = &sheet.fields {
        for field in &fields.fields {
            let given = asked.get(&format!("b.{}", field.name)).map(str::to_owned);
            let text = given.unwrap_or_else(|| field.text(document));
            draft.shown.push((field.name.clone(), text));
        }
    }
    Ok(draft)
}

/// The record that a `PUT` replaces, or that the operation is about.
async fn record(
    session: &Session,
    catalog: &Catalog,
    sheet: &Sheet,
    segments: &[(&'static str, String)],
) -> Result<Option<(Value, Option<u64>)>, Problem> {
    let facts = sheet.facts();
    let is_named = segments.iter().all(|(_, value)| !value.is_empty());
    if facts.method == Method::Get || segments.is_empty() || !is_named {
        return Ok(None);
    }
    let own = catalog.shows(facts).map(|row| (row, segments.to_vec()));
    let of_kind = catalog.kind_of(facts).and_then(|kind| {
        let first = segments
            .iter()
            .find(|(name, _)| Some(*name) == kind.segment())?;
        Some((kind.show()?, vec![first.clone()]))
    });
    let is_part = own.as_ref().is_some_and(|(row, _)| is_list(*row));
    let Some((shows, named)) = own.filter(|_| !is_part).or(of_kind) else {
        return Ok(None);
    };
    let called = Call {
        segments: named,
        ..Call::default()
    };
    match call::perform(session, shows, called).await {
        Ok(reply) => Ok(Some((call::document(&reply), reply.shown_revision()))),
        // A new name: the record is to be made.
        Err(problem) if problem.code() == "not_found" && facts.method == Method::Put => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// What the record holds that an operation on the whole record ends with it.
async fn held(
    session: &Session,
    catalog: &Catalog,
    sheet: &Sheet,
    segments: &[(&'static str, String)],
) -> Vec<(String, usize, bool)> {
    let facts = sheet.facts();
    let (Some(kind), [(name, id)]) = (catalog.kind_of(facts), segments) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    if !facts.is_final() || Some(*name) != kind.segment() || id.is_empty() {
        return all;
    }
    for part in kind.parts().into_iter().filter(|part| is_list(*part)) {
        let read = call::read(session, part, Call::of(Some(name), id)).await;
        if let Ok(document) = read {
            let count = parts::items(&document).len();
            let path = part.facts().path.rsplit('/').next().unwrap_or_default();
            all.push((path.to_owned(), count, document["next"].is_string()));
        }
    }
    all
}

/// Whether what it answers is a list.
fn is_list(row: Operation) -> bool {
    row.facts().id.starts_with("list")
}

/// POST.
pub(crate) async fn submit(context: Context) -> Response {
    let (session, form) = match Session::of_form(context).await {
        Ok(found) => found,
        Err(answer) => return answer,
    };
    let catalog = Catalog::house();
    let id = session
        .context
        .param("operation")
        .unwrap_or_default()
        .to_owned();
    let Some(sheet) = Sheet::of(&catalog, &id).filter(|sheet| !sheet.shows()) else {
        return parts::not_found(session);
    };
    let mut draft = typed(&sheet, &form);
    let t = session.face();
    if wants_fresh(sheet.facts()) && !session.is_fresh() {
        draft.status = StatusCode::FORBIDDEN;
        draft.notice = Some(Notice::Bad(html! { (t.text("console-fresh-missing")) }));
        return page(session, &catalog, &sheet, &draft, None);
    }
    let subject = subject(&draft);
    if sheet.facts().is_final() && form.get("confirm").map(str::trim) != Some(&*subject) {
        draft.status = StatusCode::BAD_REQUEST;
        let name = html! { code { bdi { (subject) } } };
        draft.notice = Some(Notice::Bad(
            t.html("console-name-wrong", &[("name", name.into())]),
        ));
        return page(session, &catalog, &sheet, &draft, None);
    }
    let body = match &sheet.fields {
        None => None,
        Some(fields) => match fields.document(|name| form.get(&format!("b.{name}"))) {
            Ok(document) => Some(document),
            Err(wrong) => {
                draft.wrong = wrong;
                draft.status = StatusCode::BAD_REQUEST;
                draft.notice = Some(Notice::Bad(html! { (t.text("console-look-at-fields")) }));
                return page(session, &catalog, &sheet, &draft, None);
            }
        },
    };
    let revision = draft.read.as_ref().and_then(|(_, revision)| *revision);
    let called = Call {
        segments: draft.segments.clone(),
        query: filled(&draft.query),
        revision: revision.filter(|_| sheet.reads.revision.is_some()),
        body,
    };
    match call::perform(&session, sheet.row, called).await {
        Ok(reply) => after(session, &catalog, &sheet, &draft, &reply),
        Err(problem) if problem.code() == "changed_meanwhile" => {
            settle(session, &catalog, &sheet, draft, &form).await
        }
        Err(problem) => {
            refuse(&t, &sheet, &mut draft, &problem);
            page(session, &catalog, &sheet, &draft, None)
        }
    }
}

/// What was typed.
fn typed(sheet: &Sheet, form: &Form) -> Draft {
    let of = |prefix: &str, name: &str| {
        let value = form.get(&format!("{prefix}.{name}")).unwrap_or_default();
        value.trim().to_owned()
    };
    let read = form
        .get("read")
        .and_then(|text| serde_json::from_str(text).ok());
    let revision = form.get("revision").and_then(|text| text.parse().ok());
    let fields = sheet.fields.iter().flat_map(|fields| &fields.fields);
    Draft {
        segments: sheet
            .reads
            .segments
            .iter()
            .map(|name| (*name, of("p", name)))
            .collect(),
        query: sheet
            .reads
            .query
            .iter()
            .map(|(name, _)| (name.clone(), of("q", name)))
            .collect(),
        read: read.map(|read| (read, revision)),
        shown: fields
            .map(|field| {
                let text = field.typed(|name| form.get(&format!("b.{name}")));
                (field.name.clone(), text)
            })
            .collect(),
        ends: Vec::new(),
        wrong: Vec::new(),
        changed: Vec::new(),
        notice: None,
        status: StatusCode::OK,
    }
}

/// What is to be typed before something ends: what the path names last, or the operation's name.
fn subject(draft: &Draft) -> String {
    let named = draft.segments.last().map(|(_, value)| value.clone());
    named.unwrap_or_else(|| "yes".to_owned())
}

/// A refusal, at the field that it is about.
fn refuse(t: &Face, sheet: &Sheet, draft: &mut Draft, problem: &Problem) {
    draft.status = StatusCode::from_u16(problem.status()).unwrap_or(StatusCode::BAD_REQUEST);
    let fields = sheet.fields.as_ref();
    let field = fields.and_then(|fields| fields.about(problem.code(), problem.detail()));
    if let Some(field) = field {
        draft.wrong.push(Wrong {
            field: Some(field.name.clone()),
            why: Why::Said(problem.detail().to_owned()),
        });
    }
    draft.notice = Some(Notice::Bad(parts::problem(t, problem)));
}

/// Somebody else was faster: their changes are shown, and the form has both.
async fn settle(
    session: Session,
    catalog: &Catalog,
    sheet: &Sheet,
    mut draft: Draft,
    form: &Form,
) -> Response {
    let now = match record(&session, catalog, sheet, &draft.segments).await {
        Ok(Some(now)) => now,
        Ok(None) => return parts::not_found(session),
        Err(problem) => return parts::refused(session, sheet.facts().summary, "", &problem),
    };
    let read = draft.read.take().map_or(Value::Null, |(read, _)| read);
    draft.shown.clear();
    for field in sheet.fields.iter().flat_map(|fields| &fields.fields) {
        let text = field.typed(|name| form.get(&format!("b.{name}")));
        let (shown, changed) = conflict::settle(field, (&read, &now.0), &text);
        draft.shown.push((field.name.clone(), shown));
        draft.changed.extend(changed);
    }
    draft.read = Some(now);
    draft.status = StatusCode::CONFLICT;
    let t = session.face();
    draft.notice = Some(Notice::Bad(html! {
        strong { (t.text("console-changed")) } " " (t.text("console-changed-about"))
    }));
    page(session, catalog, sheet, &draft, None)
}

/// Done: on to the record, or, where something is shown once, a page that shows it.
fn after(
    session: Session,
    catalog: &Catalog,
    sheet: &Sheet,
    draft: &Draft,
    reply: &Reply,
) -> Response {
    let (facts, document) = (sheet.facts(), call::document(reply));
    let kind = catalog.kind_of(facts);
    let segment = kind.as_ref().and_then(|kind| kind.segment());
    let named = draft
        .segments
        .iter()
        .find(|(name, _)| Some(*name) == segment);
    let of_record = kind.as_ref().and_then(|kind| {
        let own = kind.remove().map(|row| row.facts().id) == Some(facts.id);
        match named {
            Some(_) if own => Some(format!("/{}", kind.slug())),
            Some((_, id)) => Some(parts::record_at(kind, id)),
            None => None,
        }
    });
    let is_shown_again = document.is_null()
        || kind.as_ref().is_some_and(|kind| {
            let shown = kind.show().map(|row| Reads::of(row).answer);
            shown.is_some_and(|shown| shown == sheet.reads.answer)
                && document["client_secret"].is_null()
        });
    let created = kind.as_ref().and_then(|kind| {
        let id = parts::text_of(&document[kind.noun.id])?;
        kind.show().map(|_| parts::record_at(kind, &id))
    });
    let target = of_record.or(created);
    if let Some(target) = target.as_ref().filter(|_| is_shown_again) {
        return session.redirect(&format!("{target}?done={}", facts.id));
    }
    let t = session.face();
    let mut frame = Frame::new(&t, facts.summary, "/operations");
    frame.notice = Some(Notice::Done(html! { (t.text("console-done")) }));
    let content = html! {
        @if !document.is_null() {
            section .panel .once {
                p { (t.text("console-once")) }
                (values::members(&t, &document, &["client_id", "client_secret", "token"], 0))
            }
        }
        p {
            @let on = target.unwrap_or_else(|| kind.map_or_else(|| "/operations".to_owned(), |kind| format!("/{}", kind.slug())));
            a .button .main href=(href(&t, &on)) { (t.text("console-go-on")) }
        }
    };
    let page = frame.render(&session, catalog, &content);
    session.finish(page)
}

fn page(
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
    let content = html! {
        (conflict_table(&t, &draft.changed))
        (form(&t, &session, sheet, draft))
        @if let Some(result) = result { (shown(&t, result)) }
    };
    // The frame borrows what the page says of itself.
    frame.notice = match &draft.notice {
        Some(Notice::Done(said)) => Some(Notice::Done(said.clone())),
        Some(Notice::Bad(said)) => Some(Notice::Bad(said.clone())),
        None => None,
    };
    let page = frame.render(&session, catalog, &content);
    session.finish(page)
}

fn form(t: &Face, session: &Session, sheet: &Sheet, draft: &Draft) -> Markup {
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
            @if let Some(made) = &sheet.fields { (body(t, made, draft)) }
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

/// The fields: what must be there or is, and the others behind a fold.
fn body(t: &Face, made: &Fields, draft: &Draft) -> Markup {
    let text = |name: &str| {
        let mut shown = draft.shown.iter();
        shown
            .find(|(known, _)| known == name)
            .map_or("", |(_, text)| text.as_str())
    };
    let is_wrong = |name: &str| draft.wrong.iter().any(|w| w.field.as_deref() == Some(name));
    let (first, more): (Vec<_>, Vec<_>) = made.fields.iter().partition(|field| {
        field.required || !text(&field.name).is_empty() || is_wrong(&field.name)
    });
    let all = |fields: &[&crate::engine::fields::Field]| {
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
                details .more-fields open[first.is_empty()] {
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
                (crate::view::table::Table { caption: &t.text("console-result"), columns: &columns, rows: &rows, link: &|_| None, acts: &|_| Vec::new() }.render(t))
            } @else {
                (values::members(t, result, &[], 0))
            }
        }
    }
}

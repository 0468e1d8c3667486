//! The form is shown, and sent.

use http::StatusCode;
use maud::html;
use serde_json::Value;
use signet_operation::output::Reply;
use signet_operation::problem::Problem;
use signet_pages::Face;
use signet_request::http::{Context, Response};

use super::draft::{Draft, Sheet, begin, filled, record, subject, typed};
use super::page::page;
use crate::call::{self, Call};
use crate::engine::catalog::{Catalog, Reads, wants_fresh};
use crate::engine::conflict;
use crate::engine::fields::{Why, Wrong};
use crate::engine::form::Form;
use crate::pages::parts;
use crate::session::Session;
use crate::view::shell::{Frame, Notice, href};
use crate::view::values;

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
    if let Err(problem) = may(&session, &sheet) {
        return parts::refused(session, sheet.facts().summary, "/operations", &problem);
    }
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
    if let Err(problem) = may(&session, &sheet) {
        return parts::refused(session, sheet.facts().summary, "/operations", &problem);
    }
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
        reason: form.get("reason").map(str::to_owned),
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

/// Whether the administrator's roles have the operation: no form is shown or read of one that they
/// have not.
fn may(session: &Session, sheet: &Sheet) -> Result<(), Problem> {
    session.acting()?.admin.expect_may(sheet.facts())
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
    let page = frame.render(&session.visitor(), catalog, &content);
    session.finish(page)
}

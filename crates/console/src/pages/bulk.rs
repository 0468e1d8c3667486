//! `/console/bulk/{kind}`: one operation for each of the records that were selected.
//!
//! Each is performed by itself, one after the other, as if its own form had been sent: with its own
//! right, its own record in the audit trail and its own result. Nothing is undone where a later one
//! is refused.

use http::StatusCode;
use maud::{Markup, html};
use serde_json::{Value, json};
use signet_operation::problem::Problem;
use signet_pages::Face;
use signet_request::http::{Context, Response};
use signet_texts::Arg;

use super::parts;
use crate::call::{self, Call};
use crate::engine::catalog::{Catalog, Kind, Operation, names, wants_fresh};
use crate::engine::form::Form;
use crate::session::Session;
use crate::view::shell::{Frame, Notice, encoded, href};

/// Most records of one act: those of a page, and of one that was read on.
pub(crate) const MAX_SELECTED: usize = 150;

/// A word that an act needs: its text, and the body that is made of it.
type Word = (&'static str, fn(&str) -> Value);

/// What can be done with several records of a kind.
pub(super) struct Act {
    kind: &'static str,
    operation: &'static str,
    /// What it needs beside the record.
    asks: Option<Word>,
}

const ACTS: &[Act] = &[
    Act {
        kind: "users",
        operation: "changeUserGroups",
        asks: Some(("console-group", |group| json!({ "add": [group] }))),
    },
    Act {
        kind: "users",
        operation: "enableUser",
        asks: None,
    },
    Act {
        kind: "users",
        operation: "revokeUser",
        asks: None,
    },
    Act {
        kind: "users",
        operation: "stopAgentsOfUser",
        asks: None,
    },
    Act {
        kind: "users",
        operation: "disableUser",
        asks: None,
    },
    Act {
        kind: "sessions",
        operation: "endSession",
        asks: None,
    },
    Act {
        kind: "agents",
        operation: "stopAgent",
        asks: None,
    },
];

/// Those of a kind, with their operations.
pub(super) fn acts_of(catalog: &Catalog, slug: &str) -> Vec<(&'static Act, Operation)> {
    let own = ACTS.iter().filter(|act| act.kind == slug);
    own.filter_map(|act| Some((act, catalog.operation(act.operation)?)))
        .collect()
}

/// The segments of the paths that name a record of this kind in such an act.
fn segments(kind: &Kind<'_>) -> Vec<&'static str> {
    match &*kind.slug() {
        "sessions" => vec!["user_id", "sid"],
        _ => kind.segment().into_iter().collect(),
    }
}

/// What names a record: its segments, with spaces between them.
pub(super) fn key(kind: &Kind<'_>, row: &Value) -> Option<String> {
    let values = segments(kind).into_iter().map(|name| {
        let own = parts::text_of(&row[name]);
        own.or_else(|| parts::text_of(&row[kind.noun.id]))
    });
    let values: Vec<String> = values.collect::<Option<_>>()?;
    (!values.is_empty()).then(|| values.join(" "))
}

/// What people call it.
pub(super) fn called(kind: &Kind<'_>, row: &Value) -> String {
    let id = parts::text_of(&row[kind.noun.id]).unwrap_or_default();
    parts::called(row, kind, &id)
}

/// The choice below a table.
pub(super) fn choice(t: &Face, acts: &[(&'static Act, Operation)]) -> Markup {
    let asks = acts.iter().find_map(|(act, _)| act.asks);
    html! {
        div .bulk {
            label for="act" { (t.text("console-selected")) }
            select #act name="act" lang="en" {
                @for (_, row) in acts { option value=(row.facts().id) { (row.facts().summary) } }
            }
            @if let Some((text, _)) = asks {
                label .hidden for="word" { (t.language.find(text).unwrap_or_default()) }
                input #word name="word" placeholder=(t.language.find(text).unwrap_or_default()) autocomplete="off" autocapitalize="off" spellcheck="false";
            }
            button type="submit" { (t.text("console-go-on")) }
        }
    }
}

/// What was selected: keys and names.
fn selected(form: &Form) -> Vec<(String, String)> {
    let all = form.all().filter_map(|(name, value)| {
        let key = name.strip_prefix("s:")?;
        Some((key.to_owned(), value.to_owned()))
    });
    all.take(MAX_SELECTED).collect()
}

/// POST: first what will be done, then it is done.
pub(crate) async fn submit(context: Context) -> Response {
    let (session, form) = match Session::of_form(context).await {
        Ok(found) => found,
        Err(answer) => return answer,
    };
    let catalog = Catalog::house();
    let slug = session.context.param("kind").unwrap_or_default().to_owned();
    let named = form.get("act").unwrap_or_default();
    let mut acts = acts_of(&catalog, &slug).into_iter();
    let found = acts.find(|(_, row)| row.facts().id == named);
    let Some((kind, (act, row))) = catalog.kind(&slug).zip(found) else {
        return parts::not_found(session);
    };
    let rows = selected(&form);
    let word = form.get("word").map(str::trim).unwrap_or_default();
    let t = session.face();
    let at = format!("/{slug}");
    let mut frame = Frame::new(&t, row.facts().summary, &at);
    frame.way = vec![(parts::kind_text(&t, &kind).into(), at.clone())];
    let lacks_word = act.asks.is_some() && word.is_empty();
    if rows.is_empty() || lacks_word {
        frame.status = StatusCode::BAD_REQUEST;
        let said = match (rows.is_empty(), act.asks) {
            (false, Some((text, _))) => {
                let asked = t.language.find(text).unwrap_or_default();
                html! { (asked) ": " (t.text("console-required")) }
            }
            _ => html! { (t.text("console-bulk-none")) },
        };
        frame.notice = Some(Notice::Bad(said));
        let back = html! { p { a .button href=(href(&t, &at)) { (t.text("console-go-on")) } } };
        let page = frame.render(&session.visitor(), &catalog, &back);
        return session.finish(page);
    }
    let count = rows.len().to_string();
    let is_final = row.facts().is_final();
    let must_show = wants_fresh(row.facts()) && !session.is_fresh();
    let confirm = form.get("confirm").map(str::trim);
    let is_meant = confirm.is_some() && (!is_final || confirm == Some(&*count));
    if !is_meant || must_show {
        if confirm.is_some() && !is_meant {
            frame.status = StatusCode::BAD_REQUEST;
            let name = html! { code { (count) } };
            frame.notice = Some(Notice::Bad(
                t.html("console-name-wrong", &[("name", name.into())]),
            ));
        }
        let content = question(&t, &session, &slug, row, &rows, word, must_show);
        let page = frame.render(&session.visitor(), &catalog, &content);
        return session.finish(page);
    }
    let mut results = Vec::with_capacity(rows.len());
    for (key, name) in &rows {
        let values = key.split(' ').map(str::to_owned);
        let called = Call {
            segments: names(row.facts().path).into_iter().zip(values).collect(),
            body: act.asks.map(|(_, body)| body(word)),
            ..Call::default()
        };
        let done = call::perform(&session, row, called).await;
        results.push((key.as_str(), name.as_str(), done.map(|_| ())));
    }
    let content = outcome(&t, &slug, &results);
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

fn question(
    t: &Face,
    session: &Session,
    slug: &str,
    row: Operation,
    rows: &[(String, String)],
    word: &str,
    must_show: bool,
) -> Markup {
    let facts = row.facts();
    let count = rows.len().to_string();
    html! {
        p .lead { (t.text("console-bulk-about")) }
        form .sheet method="post" action=(href(t, &format!("/bulk/{slug}"))) {
            input type="hidden" name="form" value=(session.form_token());
            input type="hidden" name="act" value=(facts.id);
            input type="hidden" name="word" value=(word);
            p .soft { code { (facts.id) } @if !word.is_empty() { " · " code { bdi { (word) } } } }
            ul .picked {
                @for (key, name) in rows {
                    li { bdi { (name) } input type="hidden" name={ "s:" (key) } value=(name); }
                }
            }
            @if facts.is_final() {
                div .ends {
                    p { strong { (t.text("console-ends")) } }
                    @if !must_show {
                        label for="confirm" { (t.html("console-type-name", &[("name", html! { code { (count) } }.into())])) }
                        input #confirm name="confirm" required inputmode="numeric" autocomplete="off";
                    }
                }
            } @else {
                input type="hidden" name="confirm" value="1";
            }
            div .buttons {
                @if must_show {
                    a .button .main href=(href(t, &format!("?confirm={}", encoded(&format!("/{slug}"))))) { (t.text("console-fresh-go")) }
                } @else {
                    button type="submit" class=(if facts.is_final() { "bad" } else { "main" }) {
                        @if facts.is_final() { (t.text("console-end")) } @else { (t.text("console-save")) }
                    }
                }
                a .button href=(href(t, &format!("/{slug}"))) { (t.text("console-all")) }
            }
            @if must_show { p .about { (t.text("console-fresh-about")) } }
        }
    }
}

fn outcome(t: &Face, slug: &str, results: &[(&str, &str, Result<(), Problem>)]) -> Markup {
    let done = results
        .iter()
        .filter(|(_, _, result)| result.is_ok())
        .count() as u64;
    let refused = results.len() as u64 - done;
    html! {
        div .notice role="status" {
            (t.with("console-bulk-done", &[("count", Arg::Number(done))]))
            @if refused > 0 { " · " (t.with("console-bulk-refused", &[("count", Arg::Number(refused))])) }
        }
        div .scroll tabindex="0" role="region" aria-label=(t.text("console-result")) {
            table {
                thead { tr { th scope="col" { (t.text("console-record")) } th scope="col" { (t.text("console-result")) } } }
                tbody {
                    @for (key, name, result) in results {
                        tr {
                            th scope="row" {
                                @let owner = key.split(' ').next().unwrap_or_default();
                                @let page = if slug == "sessions" { "users" } else { slug };
                                a href=(href(t, &format!("/{page}/{}", encoded(owner)))) { bdi { (name) } }
                            }
                            td {
                                @match result {
                                    Ok(()) => { span .state data-state="success" { "success" } }
                                    Err(problem) => { span .state data-state="failure" { (problem.code()) } " " span lang="en" { (problem.detail()) } }
                                }
                            }
                        }
                    }
                }
            }
        }
        p { a .button .main href=(href(t, &format!("/{slug}"))) { (t.text("console-go-on")) } }
    }
}

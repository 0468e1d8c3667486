//! `/console/wizard`: an application is connected by three answers.
//!
//! What they make is one operation of the admin API, whose record the kind fills
//! ([`signet_connect`]); its page then has the secret, once, and a program to paste.

use http::StatusCode;
use maud::{Markup, html};
use serde_json::{Map, Value, json};
use signet_connect::{Connection, KINDS, Kind, Makes};
use signet_operation::problem::Problem;
use signet_pages::Face;
use signet_request::http::{Context, Response};

use super::{parts, programs};
use crate::call::{self, Call};
use crate::engine::catalog::Catalog;
use crate::engine::form::Form;
use crate::session::Session;
use crate::view::shell::{Frame, Notice, encoded, href};

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let query = session.context.query_params().ok();
    let named = query.as_ref().and_then(|query| query.get("kind"));
    let kind = named.and_then(Kind::named);
    page(session, kind, &Form::default(), None)
}

/// POST.
pub(crate) async fn submit(context: Context) -> Response {
    let (session, form) = match Session::of_form(context).await {
        Ok(found) => found,
        Err(answer) => return answer,
    };
    let Some(kind) = form.get("kind").and_then(Kind::named) else {
        return page(session, None, &form, None);
    };
    let catalog = Catalog::house();
    let word = |name: &str| form.get(name).map(str::trim).unwrap_or_default();
    let (operation, called) = match kind.makes {
        Makes::Client => {
            let body = Some(Value::Object(record(kind, &form)));
            let called = Call {
                body,
                ..Call::default()
            };
            ("createClient", called)
        }
        Makes::Resource => {
            let mut called = Call::of(Some("identifier"), word("resource"));
            let mut body = Map::new();
            body.insert("name".into(), word("name").into());
            kind.fill(&mut body);
            called.body = Some(Value::Object(body));
            ("writeResource", called)
        }
    };
    let Some(row) = catalog.operation(operation) else {
        return parts::not_found(session);
    };
    match call::perform(&session, row, called).await {
        Ok(reply) => made(session, kind, &call::document(&reply)),
        Err(problem) => page(session, Some(kind), &form, Some(&problem)),
    }
}

/// The record that the answers come to.
fn record(kind: &Kind, form: &Form) -> Map<String, Value> {
    let word = |name: &str| form.get(name).map(str::trim).unwrap_or_default();
    let mut record = Map::new();
    record.insert("client_name".into(), word("name").into());
    let redirects = word("redirect_uris").lines().map(str::trim);
    let redirects: Vec<&str> = redirects.filter(|uri| !uri.is_empty()).collect();
    if !redirects.is_empty() {
        record.insert("redirect_uris".into(), json!(redirects));
    }
    if !word("scope").is_empty() {
        record.insert("scope".into(), word("scope").into());
    }
    kind.fill(&mut record);
    record
}

fn page(
    session: Session,
    kind: Option<&'static Kind>,
    form: &Form,
    problem: Option<&Problem>,
) -> Response {
    let (t, catalog) = (session.face(), Catalog::house());
    let mut frame = Frame::new(&t, t.text("console-wizard"), "/wizard");
    if let Some(problem) = problem {
        frame.status = StatusCode::from_u16(problem.status()).unwrap_or(StatusCode::BAD_REQUEST);
        frame.notice = Some(Notice::Bad(parts::problem(&t, problem)));
    }
    let content = match kind {
        None => kinds(&t),
        Some(kind) => answers(&t, &session, kind, form),
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

/// The first question.
fn kinds(t: &Face) -> Markup {
    html! {
        h2 { span .step { "1" } (t.text("console-wizard-kind")) }
        ul .kinds {
            @for kind in &KINDS {
                @let (name, about) = programs::texts(t, kind);
                li {
                    a href=(href(t, &format!("/wizard?kind={}", kind.name))) {
                        (icon(kind.name))
                        strong { (name) }
                        span { (about) }
                    }
                }
            }
        }
    }
}

/// A drawing for a kind.
fn icon(name: &str) -> Markup {
    let path = match name {
        "web" => "M3 5h18v14H3zM3 9h18M6 7h.01",
        "spa" => "M4 4h16v16H4zM9 9l-2 3 2 3M15 9l2 3-2 3",
        "native" => "M8 3h8v18H8zM11 18h2",
        "service" => "M4 5h16v5H4zM4 14h16v5H4zM7 7.5h.01M7 16.5h.01",
        "device" => "M3 5h18v11H3zM9 20h6M12 16v4",
        "mcp" => "M12 3v4M12 17v4M3 12h4M17 12h4M8 8h8v8H8z",
        _ => "M8 9h8v9H8zM12 5v4M10 13h.01M14 13h.01M5 12v3M19 12v3",
    };
    html! {
        svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" {
            path d=(path) {}
        }
    }
}

/// The second and the third.
fn answers(t: &Face, session: &Session, kind: &Kind, form: &Form) -> Markup {
    let (name, about) = programs::texts(t, kind);
    let typed = |field: &str| form.get(field).unwrap_or_default();
    let redirects = match form.get("redirect_uris") {
        Some(typed) => typed,
        None => kind.redirect.unwrap_or_default(),
    };
    html! {
        p .chosen { (icon(kind.name)) strong { (name) } " " span .soft { (about) } " " a href=(href(t, "/wizard")) { (t.text("console-change")) } }
        form .sheet method="post" action=(href(t, "/wizard")) {
            input type="hidden" name="form" value=(session.form_token());
            input type="hidden" name="kind" value=(kind.name);
            div .field {
                label for="name" { span .step { "2" } (t.text("console-wizard-name")) }
                input #name name="name" value=(typed("name")) required autocomplete="off" aria-describedby="name-about";
                p #name-about .about { (t.text("console-wizard-name-about")) }
            }
            @if kind.makes == Makes::Resource {
                div .field {
                    label for="resource" { span .step { "3" } (t.text("console-wizard-resource")) }
                    input #resource name="resource" value=(typed("resource")) type="url" required placeholder="https://tools.example.com/mcp" autocomplete="off" aria-describedby="resource-about";
                    p #resource-about .about { (t.text("console-wizard-resource-about")) }
                }
            } @else if kind.redirect.is_some() {
                div .field {
                    label for="redirect_uris" { span .step { "3" } (t.text("console-wizard-redirect")) }
                    textarea #redirect_uris name="redirect_uris" rows="2" required spellcheck="false" aria-describedby="redirect-about" { "\n" (redirects) }
                    p #redirect-about .about { (t.text("console-wizard-redirect-about")) }
                }
            } @else {
                div .field {
                    label for="scope" { span .step { "3" } (t.text("console-wizard-scope")) }
                    input #scope name="scope" value=(typed("scope")) autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="scope-about";
                    p #scope-about .about { (t.text("console-wizard-scope-about")) }
                }
            }
            div .buttons {
                button .main type="submit" { (t.text("console-wizard-make")) }
            }
        }
    }
}

/// What was made, with what is shown once.
fn made(session: Session, kind: &'static Kind, document: &Value) -> Response {
    let (t, catalog) = (session.face(), Catalog::house());
    let text = |name: &str| document[name].as_str();
    let (id, secret) = (text("client_id"), text("client_secret"));
    let resource = text("identifier");
    let title = text("client_name")
        .or_else(|| text("name"))
        .unwrap_or_default();
    let mut frame = Frame::new(&t, title.to_owned(), "/wizard");
    frame.notice = Some(Notice::Done(html! { (t.text("console-done")) }));
    frame.way = vec![(t.text("console-wizard"), "/wizard".to_owned())];
    let settings = &session.realm().snapshot().settings;
    let of = Connection {
        issuer: &settings.issuer,
        client_id: id.unwrap_or_default(),
        client_secret: secret,
        redirect_uri: document["redirect_uris"][0].as_str(),
        resource,
        authority: None,
    };
    let record = match (id, resource) {
        (Some(id), _) => format!("/clients/{}", encoded(id)),
        (None, Some(resource)) => format!("/resources/{}", encoded(resource)),
        (None, None) => "/clients".to_owned(),
    };
    let content = html! {
        @if let Some(id) = id {
            section .panel .once {
                @if secret.is_some() { p { (t.text("console-once")) } }
                dl .members {
                    div { dt { "client_id" } dd { code { bdi { (id) } } } }
                    @if let Some(secret) = secret { div { dt { "client_secret" } dd { code { bdi { (secret) } } } } }
                }
            }
        }
        (programs::pasted(&t, kind, &of))
        div .buttons {
            @if let Some(id) = id {
                (parts::button(&t, &format!("/connection/{}", encoded(id)), &t.text("console-test"), "main"))
            }
            (parts::button(&t, &record, &t.text("console-record"), ""))
        }
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_come_to_the_record_that_the_command_line_makes() {
        let form = Form::parse(b"name=Shop&redirect_uris=https%3A%2F%2Fshop.example%2Fcb%0D%0A%0D%0Ahttps%3A%2F%2Fb.example%2F").unwrap();
        let made = Value::Object(record(Kind::named("spa").unwrap(), &form));
        assert_eq!(
            made,
            json!({
                "client_name": "Shop",
                "redirect_uris": ["https://shop.example/cb", "https://b.example/"],
                "allowed_origins": ["https://shop.example", "https://b.example"],
                "grant_types": ["authorization_code", "refresh_token"],
                "scope": "openid profile email offline_access",
                "token_endpoint_auth_method": "none",
            })
        );
    }
}

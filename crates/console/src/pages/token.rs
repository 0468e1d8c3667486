//! `/console/token`: a token is pasted: what it is, whether it counts, and its end.
//!
//! The token is in the body of a form, and comes back in no page: whoever ends it pastes it again.

use http::StatusCode;
use maud::{Markup, html};
use serde_json::{Value, json};
use signet_operation::problem::Problem;
use signet_pages::Face;
use signet_request::http::{Context, Response};

use super::parts;
use crate::call::{self, Call};
use crate::engine::catalog::Catalog;
use crate::session::Session;
use crate::view::shell::{Frame, Notice, encoded, href};
use crate::view::values;

/// What is said of each state, in the operation's words.
const STATES: &[(&str, &str)] = &[
    ("valid", "console-token-valid"),
    ("expired", "console-token-expired"),
    ("revoked", "console-token-revoked"),
    ("consumed", "console-token-consumed"),
    ("unknown", "console-token-unknown"),
    ("foreign", "console-token-foreign"),
];

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    match Session::of(context).await {
        Ok(session) => page(session, None),
        Err(answer) => answer,
    }
}

/// POST.
pub(crate) async fn submit(context: Context) -> Response {
    let (session, form) = match Session::of_form(context).await {
        Ok(found) => found,
        Err(answer) => return answer,
    };
    let catalog = Catalog::house();
    let Some(row) = catalog.operation("lookAtToken") else {
        return parts::not_found(session);
    };
    let token = form.get("token").map(str::trim).unwrap_or_default();
    let called = Call {
        body: Some(json!({ "token": token })),
        ..Call::default()
    };
    let looked = call::read(&session, row, called).await;
    page(session, Some(looked))
}

fn page(session: Session, looked: Option<Result<Value, Problem>>) -> Response {
    let (t, catalog) = (session.face(), Catalog::house());
    let mut frame = Frame::new(&t, t.text("console-token"), "/token");
    if let Some(Err(problem)) = &looked {
        frame.status = StatusCode::from_u16(problem.status()).unwrap_or(StatusCode::BAD_REQUEST);
        frame.notice = Some(Notice::Bad(parts::problem(&t, problem)));
    }
    let revoke = catalog.operation("revokeToken");
    let content = html! {
        p .lead { (t.text("console-token-about")) }
        @if let Some(Ok(document)) = &looked { (found(&t, document)) }
        form .sheet method="post" action=(href(&t, "/token")) {
            input type="hidden" name="form" value=(session.form_token());
            div .field {
                label for="token" { (t.text("console-token-paste")) }
                textarea #token .json name="token" rows="5" required autocomplete="off" autocapitalize="off" spellcheck="false" {}
            }
            div .buttons { button .main type="submit" { (t.text("console-show")) } }
        }
        @if let Some(revoke) = revoke { p { (parts::act(&t, revoke, &[])) } }
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

fn found(t: &Face, document: &Value) -> Markup {
    let state = document["state"].as_str().unwrap_or_default();
    let said = STATES.iter().find(|(name, _)| *name == state);
    let said = said.and_then(|(_, text)| t.language.find(text));
    let text = |name: &str| document[name].as_str();
    html! {
        section .panel .verdict data-state=(state) {
            h2 { (said.unwrap_or_default()) }
            (values::members(t, document, &["kind", "sub", "client_id", "scope", "audience", "issued_at", "ends_at"], 0))
            p .links {
                @if let Some(sub) = text("sub").filter(|sub| Some(*sub) != text("client_id")) {
                    a href=(href(t, &format!("/users/{}", encoded(sub)))) { (t.text("console-the-person")) }
                }
                @if let Some(client) = text("client_id") {
                    a href=(href(t, &format!("/clients/{}", encoded(client)))) { (t.text("console-the-client")) }
                }
            }
        }
    }
}

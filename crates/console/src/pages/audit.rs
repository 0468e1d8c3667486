//! `/console/audit`: the audit trail, the latest lines first, filtered, verified, exported.
//!
//! The trail is a log: it is read backwards, at most [`MAX_READ`] lines for a page, and the page
//! says from where it goes on.

use http::{HeaderValue, StatusCode, header};
use maud::html;
use serde_json::Value;
use signet_operation::problem::Problem;
use signet_pages::Face;
use signet_request::http::{Context, Response, response};
use signet_texts::Arg;

use super::parts;
use crate::call::{self, Call};
use crate::engine::catalog::Catalog;
use crate::session::Session;
use crate::view::shell::{Frame, Notice, encoded, href};
use crate::view::timeline;

const LINES: &str = "listAuditLines";
const VERIFY: &str = "verifyAudit";
/// Lines that are read at once: the API's most.
const AT_ONCE: u64 = 500;
/// Most lines that are read for a page.
const MAX_READ: u64 = 5000;
/// Lines that a page shows.
const PAGE: usize = 100;
/// Lines about one record, on its page.
const ABOUT: usize = 15;

/// The members by which the trail is filtered, with how: one of these has the text in it; of none,
/// any member has.
const FILTERS: &[(&str, &str, &[&str])] = &[
    ("q", "console-search", &[]),
    (
        "who",
        "console-audit-who",
        &["subject", "client_id", "target", "target_name"],
    ),
    ("action", "console-audit-action", &["action", "operation"]),
    (
        "outcome",
        "console-audit-outcome",
        &["outcome", "decision", "error"],
    ),
    ("address", "console-audit-address", &["address"]),
    (
        "id",
        "console-audit-id",
        &["request_id", "sid", "grant_id", "jti", "id"],
    ),
];

/// Lines, and the index before which older ones begin.
struct Found {
    lines: Vec<Value>,
    older: Option<u64>,
}

/// Lines before an index (None: the last ones), the latest first, as far as `keeps` says.
async fn backwards(
    session: &Session,
    before: Option<u64>,
    most: usize,
    keeps: impl Fn(&Value) -> bool,
) -> Result<Found, Problem> {
    let catalog = Catalog::house();
    let row = catalog.operation(LINES).ok_or_else(Problem::not_found)?;
    let (mut lines, mut read) = (Vec::new(), 0);
    let mut end = before;
    loop {
        let from = end.map(|end| end.saturating_sub(AT_ONCE));
        let limit = match (end, from) {
            (Some(end), Some(from)) => end - from,
            _ => AT_ONCE,
        };
        if limit == 0 {
            return Ok(Found { lines, older: None });
        }
        let mut called = Call::default().asking("limit", limit.to_string());
        if let Some(from) = from {
            called = called.asking("from", from.to_string());
        }
        let items = parts::items(&call::read(session, row, called).await?);
        read += limit;
        let index = |line: &Value| line["index"].as_u64().unwrap_or_default();
        for line in items.iter().rev() {
            end = Some(index(line));
            if keeps(line) {
                lines.push(line.clone());
            }
            if lines.len() == most {
                let older = Some(index(line)).filter(|index| *index > 0);
                return Ok(Found { lines, older });
            }
        }
        if items.is_empty() || end == Some(0) {
            return Ok(Found { lines, older: None });
        }
        if read >= MAX_READ {
            return Ok(Found { lines, older: end });
        }
    }
}

/// The last lines about one of these: as who did it, or as what it was done to. Empty where there
/// is no trail.
pub(super) async fn about(session: &Session, ids: &[&str]) -> Vec<Value> {
    let is_about = |line: &Value| {
        let members = ["subject", "client_id", "target"];
        let text = |name: &&str| line[*name].as_str().map(str::to_owned);
        members.iter().filter_map(text).any(|value| {
            let mut parts = value.split('/');
            ids.contains(&value.as_str()) || parts.any(|part| ids.contains(&part))
        })
    };
    let found = backwards(session, None, ABOUT, is_about).await;
    found.map(|found| found.lines).unwrap_or_default()
}

/// The last lines about a client.
pub(super) async fn of_client(session: &Session, client_id: &str) -> Vec<Value> {
    let found = backwards(session, None, ABOUT, |line| line["client_id"] == client_id).await;
    found.map(|found| found.lines).unwrap_or_default()
}

/// The last lines of an action. Empty where there is no trail.
pub(super) async fn of_action(session: &Session, action: &str, most: usize) -> Vec<Value> {
    let found = backwards(session, None, most, |line| line["action"] == action).await;
    found.map(|found| found.lines).unwrap_or_default()
}

/// The last lines of administration. Empty where there is no trail.
pub(super) async fn administration(session: &Session, most: usize) -> Vec<Value> {
    of_action(session, "admin", most).await
}

/// Whether a line has what is asked for.
fn keeps(wanted: &[(&str, String, &[&str])], line: &Value) -> bool {
    let has = |value: &Value, text: &str| {
        let own = value.as_str();
        own.is_some_and(|own| own.to_lowercase().contains(&text.to_lowercase()))
    };
    wanted.iter().all(|(_, text, members)| {
        let any = || {
            line.as_object()
                .is_some_and(|all| all.values().any(|value| has(value, text)))
        };
        text.is_empty()
            || members.iter().any(|name| has(&line[*name], text))
            || members.is_empty() && any()
    })
}

/// What a request asks for.
struct Asked {
    wanted: Vec<(&'static str, String, &'static [&'static str])>,
    before: Option<u64>,
    /// The query of a page that asks for the same.
    kept: String,
    verifies: bool,
}

impl Asked {
    fn of(session: &Session) -> Asked {
        let query = session.context.query_params().ok();
        let asked = |name: &str| {
            let value = query.as_ref().and_then(|query| query.get(name));
            value.map(str::trim).unwrap_or_default().to_owned()
        };
        let wanted: Vec<_> = FILTERS
            .iter()
            .map(|(name, _, members)| (*name, asked(name), *members))
            .collect();
        let mut kept = String::new();
        for (name, text, _) in wanted.iter().filter(|(_, text, _)| !text.is_empty()) {
            kept.push_str(&format!("{name}={}&", encoded(text)));
        }
        Asked {
            wanted,
            before: asked("before").parse().ok(),
            kept,
            verifies: !asked("verify").is_empty(),
        }
    }
}

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let (t, catalog) = (session.face(), Catalog::house());
    let asked = Asked::of(&session);
    let title = t.text("console-audit");
    let found = backwards(&session, asked.before, PAGE, |line| {
        keeps(&asked.wanted, line)
    })
    .await;
    let (found, lacks) = match found {
        Ok(found) => (found, None),
        // A server without a trail has a page without lines, which says so.
        Err(problem) if problem.code() == "not_found" => {
            let nothing = Found {
                lines: Vec::new(),
                older: None,
            };
            (nothing, Some(Notice::Bad(parts::problem(&t, &problem))))
        }
        Err(problem) => return parts::refused(session, &title, "/audit", &problem),
    };
    let verified = match (asked.verifies, catalog.operation(VERIFY)) {
        (true, Some(row)) => Some(call::read(&session, row, Call::default()).await),
        (true | false, _) => None,
    };
    let kept = &asked.kept;
    let mut frame = Frame::new(&t, title, "/audit");
    frame.notice = verified.map(|verified| mark(&t, &verified)).or(lacks);
    frame.tools = html! {
        a .button href=(href(&t, &format!("/audit?{kept}verify=1"))) { (t.text("console-verify")) }
        a .button href=(href(&t, &format!("/audit/lines.ndjson?{}", kept.trim_end_matches('&')))) download="audit.ndjson" { (t.text("console-export")) }
    };
    let content = html! {
        form .filters method="get" action=(href(&t, "/audit")) role="search" aria-label=(t.text("console-filter")) data-live="" {
            @for ((name, text, _), (_, label, _)) in asked.wanted.iter().zip(FILTERS) {
                div .narrow[*name != "q"] {
                    @let id = if *name == "q" { "q".to_owned() } else { format!("q-{name}") };
                    label for=(id) { (t.language.find(label).unwrap_or_default()) }
                    input id=(id) type="search" name=(name) value=(text) autocomplete="off" spellcheck="false";
                }
            }
            button type="submit" { (t.text("console-filter")) }
            @if !kept.is_empty() { a .button href=(href(&t, "/audit")) { (t.text("console-all")) } }
        }
        div #live aria-live="polite" {
            (timeline::table(&t, &found.lines))
            @if let Some(older) = found.older {
                nav .pages aria-label=(t.text("console-pages")) {
                    a .button rel="next" href=(href(&t, &format!("/audit?{kept}before={older}"))) { (t.text("console-older")) }
                }
            }
        }
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

/// What the verification said.
fn mark(t: &Face, verified: &Result<Value, Problem>) -> Notice {
    match verified {
        Ok(said) if said["verified"] == true => {
            let number = |name: &str| said[name].as_u64().unwrap_or_default();
            let count = number("line").saturating_sub(number("first"));
            Notice::Done(html! { (t.with("console-verified", &[("count", Arg::Number(count))])) })
        }
        Ok(said) => {
            let line = said["line"].as_u64().unwrap_or_default();
            let reason = said["reason"].as_str().unwrap_or_default();
            let reason = html! { span lang="en" { (reason) } };
            let parts = [("line", line.into()), ("reason", reason.into())];
            Notice::Bad(t.html("console-not-verified", &parts))
        }
        Err(problem) => Notice::Bad(parts::problem(t, problem)),
    }
}

/// GET: the lines that the filters keep as a file, one JSON document a line, the latest first; as
/// many as a page reads at most.
pub(crate) async fn export(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let asked = Asked::of(&session);
    let most = usize::try_from(MAX_READ).unwrap_or(usize::MAX);
    let found = backwards(&session, asked.before, most, |line| {
        keeps(&asked.wanted, line)
    })
    .await;
    let found = match found {
        Ok(found) => found,
        Err(problem) => {
            let title = session.face().text("console-audit");
            return parts::refused(session, &title, "/audit", &problem);
        }
    };
    let lines: String = found.lines.iter().map(|line| format!("{line}\n")).collect();
    let mut answer = response::body(StatusCode::OK, "application/x-ndjson", lines);
    answer.headers_mut().insert(
        header::CONTENT_DISPOSITION,
        HeaderValue::from_static("attachment; filename=\"audit.ndjson\""),
    );
    session.finish(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_is_kept_by_its_members_or_by_any() {
        let line =
            json!({ "index": 7, "action": "login", "subject": "u1", "address": "192.0.2.7" });
        let wanted = |name: &'static str, text: &str| {
            let found = FILTERS.iter().find(|(known, ..)| *known == name).unwrap();
            [(name, text.to_owned(), found.2)]
        };
        assert!(keeps(&wanted("q", "192.0.2"), &line));
        assert!(keeps(&wanted("q", "LOGIN"), &line));
        assert!(keeps(&wanted("who", "u1"), &line));
        assert!(!keeps(&wanted("who", "login"), &line));
        assert!(!keeps(&wanted("q", "nobody"), &line));
    }
}

//! `/console/audit`: the audit trail, the latest lines first, filtered.
//!
//! The trail is a log: it is read backwards, at most [`MAX_READ`] lines for a page, and the page
//! says from where it goes on.

use maud::html;
use serde_json::Value;
use signet_operation::problem::Problem;
use signet_request::http::{Context, Response};

use super::parts;
use crate::call::{self, Call};
use crate::engine::catalog::Catalog;
use crate::session::Session;
use crate::view::shell::{Frame, encoded, href};
use crate::view::timeline;

const LINES: &str = "listAuditLines";
/// Lines that are read at once: the API's most.
const AT_ONCE: u64 = 500;
/// Most lines that are read for a page.
const MAX_READ: u64 = 5000;
/// Lines that a page shows.
const PAGE: usize = 100;
/// Lines about one record, on its page.
const ABOUT: usize = 15;

/// The members by which the trail is filtered, with how: one of these has the text in it.
const FILTERS: &[(&str, &str, &[&str])] = &[
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

/// The last lines of administration. Empty where there is no trail.
pub(super) async fn administration(session: &Session, most: usize) -> Vec<Value> {
    let found = backwards(session, None, most, |line| line["action"] == "admin").await;
    found.map(|found| found.lines).unwrap_or_default()
}

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let (t, catalog) = (session.face(), Catalog::house());
    let query = session.context.query_params().ok();
    let asked = |name: &str| {
        let value = query.as_ref().and_then(|query| query.get(name));
        value.map(str::trim).unwrap_or_default().to_owned()
    };
    let wanted: Vec<(&str, String, &[&str])> = FILTERS
        .iter()
        .map(|(name, _, members)| (*name, asked(name), *members))
        .collect();
    let keeps = |line: &Value| {
        wanted.iter().all(|(_, text, members)| {
            let has = |name: &&str| {
                line[*name]
                    .as_str()
                    .is_some_and(|value| value.contains(text.as_str()))
            };
            text.is_empty() || members.iter().any(has)
        })
    };
    let before = asked("before").parse().ok();
    let title = t.text("console-audit");
    let found = match backwards(&session, before, PAGE, keeps).await {
        Ok(found) => found,
        Err(problem) => return parts::refused(session, &title, "/audit", &problem),
    };
    let mut kept = String::new();
    for (name, text, _) in wanted.iter().filter(|(_, text, _)| !text.is_empty()) {
        kept.push_str(&format!("{name}={}&", encoded(text)));
    }
    let frame = Frame::new(&t, title, "/audit");
    let content = html! {
        form .filters method="get" action=(href(&t, "/audit")) role="search" aria-label=(t.text("console-filter")) {
            @for ((name, text, _), (_, label, _)) in wanted.iter().zip(FILTERS) {
                div {
                    label for={ "q-" (name) } { (t.language.find(label).unwrap_or_default()) }
                    input id={ "q-" (name) } type="search" name=(name) value=(text) autocomplete="off" spellcheck="false";
                }
            }
            button type="submit" { (t.text("console-filter")) }
            @if !kept.is_empty() { a .button href=(href(&t, "/audit")) { (t.text("console-all")) } }
        }
        (timeline::lines(&t, &found.lines))
        @if let Some(older) = found.older {
            nav .pages aria-label=(t.text("console-pages")) {
                a .button rel="next" href=(href(&t, &format!("/audit?{kept}before={older}"))) { (t.text("console-older")) }
            }
        }
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

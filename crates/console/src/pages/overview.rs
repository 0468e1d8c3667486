//! `/console`: what needs attention first, and how the installation is.

use maud::{Markup, html};
use serde_json::Value;
use signet_directory::CredentialKind;
use signet_login::passkeys::relying_party;
use signet_pages::Face;
use signet_request::browser_request::BrowserRequest;
use signet_request::http::{Context, Response};

use super::{audit, parts};
use crate::call::{self, Call};
use crate::engine::catalog::Catalog;
use crate::session::Session;
use crate::view::shell::{Frame, ROOT, href};
use crate::view::table::Table;
use crate::view::timeline;

/// A signing key that has signed for longer is worth a look, in days.
const OLD_KEY_DAYS: u64 = 180;
/// Lines of administration that are shown.
const LATEST: usize = 8;
/// A clock that differs by more is worth a look, in milliseconds.
const SKEW_MS: i64 = 1000;

/// GET with a slash at the end.
pub(crate) async fn without_slash(context: Context) -> Response {
    match BrowserRequest::begin(context).await {
        Ok(browser) => {
            let target = browser.url(ROOT);
            browser.redirect(&target)
        }
        Err(answer) => answer,
    }
}

/// What was read for the page; None: this administrator's realm does not show it.
struct Facts {
    nodes: Option<Vec<Value>>,
    keys: Option<Vec<Value>>,
    audit: Option<Value>,
    logouts: Option<Vec<Value>>,
    settings: Option<Vec<Value>>,
}

async fn facts(session: &Session, catalog: &Catalog) -> Facts {
    let document = async |id: &str| {
        let row = catalog.operation(id)?;
        call::read(session, row, Call::default()).await.ok()
    };
    let list = async |id: &str| document(id).await.map(|document| parts::items(&document));
    Facts {
        nodes: list("listNodes").await,
        keys: list("listKeys").await,
        audit: document("showAudit").await,
        logouts: list("listLogouts").await,
        settings: list("listSettings").await,
    }
}

/// Something that needs attention: what, and where to look.
struct Concern {
    text: Markup,
    /// Where to look, below the issuer.
    at: &'static str,
}

fn concerns(t: &Face, facts: &Facts, now: u64) -> Vec<Concern> {
    let mut all = Vec::new();
    for node in facts.nodes.iter().flatten() {
        let name = node["name"].as_str().unwrap_or_default();
        let state = node["state"].as_str().unwrap_or_default();
        let strong = || html! { strong { bdi { (name) } } }.into();
        if state != "ready" {
            all.push(Concern {
                text: t.html(
                    "console-node-state",
                    &[
                        ("name", strong()),
                        ("state", html! { code { (state) } }.into()),
                    ],
                ),
                at: "/console/nodes",
            });
        }
        if node["clock_skew_ms"]
            .as_f64()
            .is_some_and(|skew| skew.abs() > SKEW_MS as f64)
        {
            all.push(Concern {
                text: t.html("console-node-clock", &[("name", strong())]),
                at: "/console/nodes",
            });
        }
    }
    if facts
        .audit
        .as_ref()
        .is_some_and(|trail| trail["writing"] == false)
    {
        all.push(Concern {
            text: html! { (t.text("console-audit-stopped")) },
            at: "/console/audit",
        });
    }
    for key in facts.keys.iter().flatten() {
        let since = key["active_from"].as_u64().unwrap_or(now);
        let days = now.saturating_sub(since) / 86_400;
        if key["phase"] == "active" && days > OLD_KEY_DAYS {
            let alg = key["alg"].as_str().unwrap_or_default();
            all.push(Concern {
                text: t.html(
                    "console-key-old",
                    &[
                        ("alg", html! { code { (alg) } }.into()),
                        ("days", days.into()),
                    ],
                ),
                at: "/console/keys",
            });
        }
    }
    let failed = |logout: &&Value| {
        let state = logout["state"].as_str().unwrap_or_default();
        state == "given_up" || state == "failed"
    };
    let given_up = facts.logouts.iter().flatten().filter(failed).count() as u64;
    if given_up > 0 {
        all.push(Concern {
            text: t.html("console-logouts-failed", &[("count", given_up.into())]),
            at: "/console/do/listLogouts",
        });
    }
    all
}

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let query = session.context.query_params().ok();
    let asked = |name: &str| {
        let value = query.as_ref().and_then(|query| query.get(name));
        value.filter(|below| is_page(below)).map(str::to_owned)
    };
    // A page that wants two factors of the last minutes: the login's own pages are here.
    if let Some(below) = asked("confirm") {
        return match session.is_fresh() {
            true => session.redirect(&below),
            false => session.confirm(&below).await,
        };
    }
    // Where a login led here with a page in mind, that page is the answer.
    if let Some(below) = asked("to") {
        return session.redirect(&below);
    }
    let (t, catalog) = (session.face(), Catalog::house());
    let now = session.context.now();
    let facts = facts(&session, &catalog).await;
    let trail = audit::administration(&session, LATEST).await;
    let mut concerns = concerns(&t, &facts, now);
    let has_passkey = session.user().has(CredentialKind::Passkey);
    if !has_passkey && relying_party(&session.context.snapshot.settings).is_some() {
        concerns.push(Concern {
            text: html! { (t.text("console-no-passkey")) },
            at: "/account#security",
        });
    }
    let frame = Frame::new(&t, t.text("console-overview"), "");
    let content = html! {
        section .attention data-calm[concerns.is_empty()] {
            h2 { (t.text("console-attention")) }
            @if concerns.is_empty() {
                p { (t.text("console-all-well")) }
            } @else {
                ul { @for one in &concerns { li { a href={ (t.base) (one.at) } { (one.text) } } } }
            }
        }
        (tiles(&t, &session, &facts, now))
        div .columns {
            div {
                @if let Some(nodes) = &facts.nodes { (node_table(&t, nodes)) }
                @if let Some(keys) = &facts.keys {
                    section .panel {
                        h2 { a href=(href(&t, "/keys")) { (t.language.find("console-kind-keys").unwrap_or_default()) } }
                        @let active: Vec<Value> = keys.iter().filter(|key| key["phase"] == "active").cloned().collect();
                        div .brief { (timeline::keys(&t, &active, now)) }
                    }
                }
            }
            div {
                section .panel {
                    h2 { (t.text("console-latest")) }
                    (timeline::lines(&t, &trail))
                    a .more href=(href(&t, "/audit")) { (t.text("console-audit")) }
                }
            }
        }
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

fn is_page(below: &str) -> bool {
    below.starts_with('/') && !below.starts_with("//")
}

/// Numbers that cost nothing: what this node has in memory.
fn tiles(t: &Face, session: &Session, facts: &Facts, now: u64) -> Markup {
    let snapshot = session.realm().snapshot();
    let registry = &snapshot.registry;
    let tile = |below: &str, number: String, text: std::borrow::Cow<'_, str>| {
        html! { li { a href=(href(t, below)) { strong { (number) } span { (text) } } } }
    };
    let kind = |slug: &str| crate::view::shell::kind_text(t, slug);
    let active = facts
        .keys
        .iter()
        .flatten()
        .filter(|key| key["phase"] == "active");
    let oldest = active.filter_map(|key| key["active_from"].as_u64()).min();
    let changed = facts.settings.as_ref().map(|settings| {
        let own = settings
            .iter()
            .filter(|setting| setting["source"] != "default");
        own.count()
    });
    html! {
        ul .tiles {
            (tile("/clients", registry.clients.len().to_string(), kind("clients")))
            (tile("/resources", registry.resources.len().to_string(), kind("resources")))
            @if session.realm().id().is_default() { (tile("/realms", (registry.realms.len() + 1).to_string(), kind("realms"))) }
            @if let Some(nodes) = &facts.nodes { (tile("/nodes", nodes.len().max(1).to_string(), kind("nodes"))) }
            @if let Some(since) = oldest {
                (tile("/keys", (now.saturating_sub(since) / 86_400).to_string(), t.text("console-oldest-key")))
            }
            @if let Some(changed) = changed { (tile("/settings?source=configuration", changed.to_string(), t.text("console-settings-set"))) }
        }
    }
}

fn node_table(t: &Face, nodes: &[Value]) -> Markup {
    let caption = crate::view::shell::kind_text(t, "nodes");
    let table = Table {
        caption: &caption,
        columns: &["name", "state", "role", "lag_ms"],
        rows: nodes,
        link: &|_| Some(href(t, "/nodes")),
        acts: &|_| Vec::new(),
    };
    html! {
        section .panel {
            h2 { (caption) }
            (table.render(t))
        }
    }
}

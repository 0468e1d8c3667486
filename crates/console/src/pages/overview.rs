//! `/console`: what needs attention first, and how the installation is.
//!
//! What the process counts (charts, certificate, size of the database) is the installation's: the
//! administrators of a further realm do not see it.

use maud::{Markup, html};
use serde_json::Value;
use signet_directory::CredentialKind;
use signet_http::tls::Tls;
use signet_login::passkeys::relying_party;
use signet_pages::Face;
use signet_realm::activity::Counts;
use signet_request::browser_request::BrowserRequest;
use signet_request::http::{Context, Response};

use super::{audit, parts};
use crate::call::{self, Call};
use crate::engine::catalog::Catalog;
use crate::session::Session;
use crate::view::chart::{self, Series};
use crate::view::shell::{Frame, ROOT, href};
use crate::view::table::Table;
use crate::view::timeline;

/// A signing key that has signed for longer is worth a look, in days.
const OLD_KEY_DAYS: u64 = 180;
/// Lines of administration that are shown.
const LATEST: usize = 8;
/// A clock that differs by more is worth a look, in milliseconds.
const SKEW_MS: i64 = 1000;

/// A certificate that ends within so many days is worth a look.
const CERTIFICATE_DAYS: u64 = 21;
/// What the charts show: its name in the address, its text, how many spans, and minutes of each.
const SPANS: [(&str, &str, u64, u64); 2] = [
    ("hour", "console-last-hour", 60, 1),
    ("day", "console-last-day", 96, 15),
];

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
    agents: Option<Vec<Value>>,
    /// Bytes.
    database: Option<u64>,
    is_disk_full: bool,
    /// When the first certificate of a listener ends, Unix seconds.
    certificate: Option<u64>,
}

async fn facts(session: &Session, catalog: &Catalog) -> Facts {
    let document = async |id: &str| {
        let row = catalog.operation(id)?;
        call::read(session, row, Call::default()).await.ok()
    };
    let realm = session.realm();
    let is_whole = realm.id().is_default();
    let list = async |id: &str| document(id).await.map(|document| parts::items(&document));
    Facts {
        nodes: list("listNodes").await,
        keys: list("listKeys").await,
        audit: document("showAudit").await,
        logouts: list("listLogouts").await,
        settings: list("listSettings").await,
        agents: list("listAgents").await,
        database: match is_whole {
            true => realm.store.bytes().await.unwrap_or(None),
            false => None,
        },
        is_disk_full: realm.store.is_full(),
        certificate: realm
            .host
            .certificates
            .get()
            .filter(|_| is_whole)
            .and_then(|all| all.iter().filter_map(Tls::ends_at).min()),
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
                at: "/console/cluster",
            });
        }
        if node["clock_skew_ms"]
            .as_f64()
            .is_some_and(|skew| skew.abs() > SKEW_MS as f64)
        {
            all.push(Concern {
                text: t.html("console-node-clock", &[("name", strong())]),
                at: "/console/cluster",
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
    if facts.is_disk_full {
        all.push(Concern {
            text: html! { (t.text("console-disk-full")) },
            at: "/console/cluster",
        });
    }
    if let Some(days) = facts
        .certificate
        .map(|end| end.saturating_sub(now) / 86_400)
        && days <= CERTIFICATE_DAYS
    {
        all.push(Concern {
            text: t.html("console-certificate-soon", &[("days", days.into())]),
            at: "/console/settings?q=tls",
        });
    }
    let is_orphan = |agent: &&Value| agent["orphan"] == true && agent["stopped_at"].is_null();
    let orphans = facts.agents.iter().flatten().filter(is_orphan).count() as u64;
    if orphans > 0 {
        all.push(Concern {
            text: t.html("console-orphans", &[("count", orphans.into())]),
            at: "/console/agents",
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
    let span = query.as_ref().and_then(|query| query.get("span"));
    let span = span.unwrap_or_default().to_owned();
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
        @if session.realm().id().is_default() { (charts(&t, &session, &span)) }
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

/// What was counted here, over time.
fn charts(t: &Face, session: &Session, asked: &str) -> Markup {
    let host = &session.realm().host;
    let now = session.context.now();
    // The task looks every few seconds; what was counted since is there, too.
    host.metrics.activity.note(now, host.metrics.counts());
    let chosen = SPANS.iter().find(|(name, ..)| *name == asked);
    let (name, _, spans, minutes) = *chosen.unwrap_or(&SPANS[0]);
    let counted = host.metrics.activity.last(now, spans, minutes);
    let points = |of: fn(&Counts) -> u64| -> Vec<(u64, u64)> {
        let points = counted.iter();
        points
            .map(|(minute, counts)| (minute * 60, of(counts)))
            .collect()
    };
    let (logins, tokens, refusals) = (
        t.text("console-logins"),
        t.text("console-tokens"),
        t.text("console-refusals"),
    );
    let series = [
        Series {
            text: &logins,
            class: "logins",
            points: points(|counts| counts.logins),
        },
        Series {
            text: &tokens,
            class: "tokens",
            points: points(|counts| counts.tokens),
        },
        Series {
            text: &refusals,
            class: "refusals",
            points: points(|counts| counts.refusals),
        },
    ];
    html! {
        section .panel #live data-refresh="10" {
            div .panel-head {
                p .soft { (t.text("console-chart-about")) " " code { bdi { (host.node()) } } }
                nav .spans aria-label=(t.text("console-time")) {
                    @for (span, text, ..) in SPANS {
                        a href=(href(t, &format!("?span={span}"))) aria-current=[(span == name).then_some("true")] { (t.language.find(text).unwrap_or_default()) }
                    }
                }
            }
            div .charts { @for one in &series { (one.render()) } }
            (chart::table(t, &series))
        }
    }
}

/// A size as people say it.
fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..0x10_0000 => (1 << 10, "KiB"),
        0x10_0000..0x4000_0000 => (1 << 20, "MiB"),
        _ => (1 << 30, "GiB"),
    };
    let tenths = bytes.saturating_mul(10) / unit;
    match tenths {
        0..100 => format!("{}.{} {name}", tenths / 10, tenths % 10),
        _ => format!("{} {name}", tenths / 10),
    }
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
            @if let Some(bytes) = facts.database { (tile("/cluster", size(bytes), t.text("console-database-size"))) }
            @if let Some(end) = facts.certificate {
                (tile("/settings?q=tls", (end.saturating_sub(now) / 86_400).to_string(), t.text("console-certificate-days")))
            }
            @if let Some(nodes) = &facts.nodes { (tile("/cluster", nodes.len().max(1).to_string(), kind("nodes"))) }
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
        link: &|_| Some(href(t, "/cluster")),
        acts: &|_| Vec::new(),
        select: None,
    };
    html! {
        section .panel {
            h2 { (caption) }
            (table.render(t))
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_size_has_two_digits_at_least_and_its_unit() {
        for (bytes, text) in [
            (0, "0.0 KiB"),
            (8_192, "8.0 KiB"),
            (1_048_575, "1023 KiB"),
            (5_500_000, "5.2 MiB"),
            (3 << 30, "3.0 GiB"),
        ] {
            assert_eq!(super::size(bytes), text);
        }
    }
}

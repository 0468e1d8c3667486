//! The frame around every page of the console, and the policy that goes with it.

use http::{HeaderValue, StatusCode, header};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use signet_oauth::params::encode_into;
use signet_pages::Face;
use signet_request::browser_request::face_of as plain_face;
use signet_request::http::{Context, Response, response};
use std::borrow::Cow;

use crate::assets::{SCRIPT, STYLE};
use crate::engine::catalog::Catalog;

/// Where the console is, below the issuer.
pub(crate) const ROOT: &str = "/console";

/// How a page looks and speaks of whose sender nothing is known.
pub(crate) fn face_of(context: &Context) -> Face {
    plain_face(context)
}

/// As a part of an address.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    encode_into(text, &mut out);
    out
}

/// The address of a page of the console, below [`ROOT`].
pub(crate) fn href(t: &Face, below: &str) -> String {
    format!("{}{ROOT}{below}", t.base)
}

/// A group of the navigation: its text, and the kinds and pages in it.
struct Group {
    text: &'static str,
    entries: &'static [Entry],
}

enum Entry {
    /// A kind, by its name in an address.
    Kind(&'static str),
    /// A page: its address below [`ROOT`], and its text.
    Page(&'static str, &'static str),
}

use Entry::{Kind, Page};

/// The sections of the console, by the addresses of their links: programs that look at its pages
/// find them by these names (`data-section`), which stay.
pub(crate) const SECTIONS: [(&str, &str); 16] = [
    ("", "overview"),
    ("/users", "users"),
    ("/groups", "groups"),
    ("/rules", "rules"),
    ("/clients", "clients"),
    ("/resources", "resources"),
    ("/providers", "providers"),
    ("/realms", "realms"),
    ("/keys", "keys"),
    ("/sessions", "sessions"),
    ("/agents", "agents"),
    ("/audit", "audit"),
    ("/mail", "mail"),
    ("/brand", "brand"),
    ("/settings", "settings"),
    ("/cluster", "cluster"),
];

/// The navigation. A kind that is in no group stands in the last one.
const GROUPS: &[Group] = &[
    Group {
        text: "console-people",
        entries: &[
            Kind("users"),
            Kind("groups"),
            Kind("roles"),
            Kind("attributes"),
            Kind("rules"),
            Page("/explain", "console-explain"),
        ],
    },
    Group {
        text: "console-applications",
        entries: &[
            Kind("clients"),
            Page("/wizard", "console-wizard"),
            Kind("resources"),
            Kind("scopes"),
            Kind("providers"),
        ],
    },
    Group {
        text: "console-live",
        entries: &[
            Kind("sessions"),
            Kind("grants"),
            Kind("agents"),
            Page("/token", "console-token"),
            Page("/mail", "console-mail"),
        ],
    },
    Group {
        text: "console-server",
        entries: &[
            Page("/audit", "console-audit"),
            Kind("keys"),
            Page("/cluster", "console-cluster"),
            Kind("realms"),
            Page("/brand", "console-brand"),
            Page("/settings", "console-settings"),
            Page("/drift", "console-drift"),
            Page("/operations", "console-operations"),
        ],
    },
];

/// Kinds that a page of another name shows.
const SHOWN_ELSEWHERE: &[&str] = &["nodes"];

/// What a kind is called; one that has no text yet, by its name in the tables.
pub(crate) fn kind_text(t: &Face, slug: &str) -> Cow<'static, str> {
    let known = t.language.find(&format!("console-kind-{slug}"));
    known.unwrap_or_else(|| {
        let mut words = slug.replace(['-', '_'], " ");
        if let Some(first) = words.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        Cow::Owned(words)
    })
}

pub(crate) fn navigation(t: &Face, catalog: &Catalog, at: &str) -> Markup {
    let listed: Vec<String> = catalog
        .kinds()
        .filter(|kind| kind.list().is_some())
        .map(|kind| kind.slug())
        .collect();
    let is_grouped = |slug: &str| {
        let mut entries = GROUPS.iter().flat_map(|group| group.entries);
        entries.any(|entry| matches!(entry, Kind(known) if *known == slug))
            || SHOWN_ELSEWHERE.contains(&slug)
    };
    let others: Vec<&String> = listed.iter().filter(|slug| !is_grouped(slug)).collect();
    let link = |below: &str, text: Cow<'static, str>| {
        let is_here = match below {
            "" => at.is_empty(),
            below => {
                at == below
                    || at
                        .strip_prefix(below)
                        .is_some_and(|rest| rest.starts_with('/'))
            }
        };
        let section = SECTIONS.iter().find(|(at, _)| *at == below);
        let section = section.map(|(_, name)| *name);
        html! {
            li { a href=(href(t, below)) data-section=[section] aria-current=[is_here.then_some("page")] { (text) } }
        }
    };
    html! {
        ul { (link("", t.text("console-overview"))) }
        @for group in GROUPS {
            h2 { (t.text(group.text)) }
            ul {
                @for entry in group.entries {
                    @match entry {
                        Kind(slug) => {
                            @if listed.iter().any(|known| known == slug) {
                                (link(&format!("/{slug}"), kind_text(t, slug)))
                            }
                        }
                        Page(below, text) => { (link(below, t.text(text))) }
                    }
                }
                @if group.text == "console-server" {
                    @for slug in &others { (link(&format!("/{slug}"), kind_text(t, slug))) }
                }
            }
        }
    }
}

/// A page.
pub(crate) struct Frame<'a> {
    pub(crate) t: &'a Face,
    pub(crate) title: Cow<'a, str>,
    /// Its address below [`ROOT`].
    pub(crate) at: &'a str,
    /// The way up: texts and addresses below [`ROOT`].
    pub(crate) way: Vec<(Cow<'a, str>, String)>,
    /// What stands beside the title.
    pub(crate) tools: Markup,
    /// Something to say above the page.
    pub(crate) notice: Option<Notice>,
    pub(crate) status: StatusCode,
}

/// Whose page it is.
pub(crate) struct Visitor {
    /// What they are called.
    pub(crate) name: String,
    /// What a form of theirs shows.
    pub(crate) token: String,
    /// The realm that they administer, where it is a further one.
    pub(crate) realm: Option<String>,
}

/// See [`Frame::notice`].
pub(crate) enum Notice {
    /// What was done.
    Done(Markup),
    /// What was not, and why.
    Bad(Markup),
}

impl<'a> Frame<'a> {
    pub(crate) fn new(t: &'a Face, title: impl Into<Cow<'a, str>>, at: &'a str) -> Frame<'a> {
        Frame {
            t,
            title: title.into(),
            at,
            way: Vec::new(),
            tools: html! {},
            notice: None,
            status: StatusCode::OK,
        }
    }

    /// The page of an administrator.
    pub(crate) fn render(self, visitor: &Visitor, catalog: &Catalog, content: &Markup) -> Response {
        let t = self.t;
        let (name, token) = (&visitor.name, &visitor.token);
        let here = html! {
            a .skip href="#console" { (t.text("console-skip")) }
            header .top {
                a .mark href=(href(t, "")) {
                    (mark(t))
                    span { (t.brand.name()) }
                }
                @if let Some(realm) = &visitor.realm { span .realm { (t.text("console-realm")) " " bdi { (realm) } } }
                form .find method="get" action=(href(t, "/users")) role="search" aria-label=(t.text("console-find")) {
                    label .hidden for="find" { (t.text("console-find")) }
                    input #find type="search" name="q" placeholder=(t.text("console-find")) autocomplete="off" spellcheck="false";
                }
                details .me {
                    summary { bdi { (name) } }
                    div .card {
                        p .soft { (t.text("console-session-about")) }
                        a href={ (t.base) "/account" } { (t.text("console-account")) }
                        form method="post" action=(href(t, "/leave")) {
                            input type="hidden" name="form" value=(token);
                            button .plain type="submit" { (t.text("console-leave")) }
                        }
                    }
                }
            }
            div .frame {
                details .menu open {
                    summary { (t.text("console-menu")) }
                    nav aria-label=(t.text("console-menu")) { (navigation(t, catalog, self.at)) }
                }
                main #console tabindex="-1" {
                    @if !self.way.is_empty() {
                        nav .way aria-label=(t.text("console-way")) {
                            ol {
                                @for (text, below) in &self.way {
                                    li { a href=(href(t, below)) { bdi { (text) } } }
                                }
                            }
                        }
                    }
                    div .title {
                        h1 { bdi { (self.title) } }
                        div .tools { (self.tools) }
                    }
                    @match &self.notice {
                        Some(Notice::Done(said)) => { div .notice role="status" { (said) } }
                        Some(Notice::Bad(said)) => { div #problem .notice .bad role="alert" tabindex="-1" { (said) } }
                        None => {}
                    }
                    (content)
                }
            }
        };
        document(t, &self.title, self.status, &here)
    }
}

pub(crate) fn mark(t: &Face) -> Markup {
    html! {
        @if t.brand.logo().is_some() {
            img src={ (t.base) "/brand/logo" } alt="";
        } @else {
            svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" aria-hidden="true" {
                circle cx="12" cy="12" r="9.2" {}
                path d="M15.6 8.7c-.7-1-2-1.6-3.6-1.6-2 0-3.6 1-3.6 2.5 0 3.6 7.4 1.4 7.4 4.9 0 1.5-1.7 2.5-3.8 2.5-1.7 0-3.1-.7-3.8-1.8" {}
            }
        }
    }
}

/// A page for somebody who is in no session of the console.
pub(crate) fn outside(t: &Face, status: StatusCode, title: &str, content: &Markup) -> Response {
    let here = html! {
        main #main .alone {
            div .mark { (mark(t)) span { (t.brand.name()) } }
            h1 { (title) }
            (content)
        }
    };
    document(t, title, status, &here)
}

/// A form that is not read.
pub(crate) fn refused(t: &Face, status: StatusCode, text: &'static str) -> Response {
    let said = t.text(text);
    let content = html! {
        p { (said) }
        p { a href=(href(t, "")) { (t.text("console-overview")) } }
    };
    outside(t, status, &t.text("console-refused"), &content)
}

/// For somebody who is logged in and may not administer.
pub(crate) fn not_allowed(t: &Face, name: &str) -> Response {
    let content = html! {
        p { (t.html("console-not-allowed", &[("name", html! { strong { bdi { (name) } } }.into())])) }
        p { a href={ (t.base) "/account" } { (t.text("console-account")) } }
    };
    outside(t, StatusCode::FORBIDDEN, &t.text("console-title"), &content)
}

fn document(t: &Face, title: &str, status: StatusCode, here: &Markup) -> Response {
    let (colors, colors_hash) = t.brand.colors();
    let page = html! {
        (DOCTYPE)
        html lang=(t.language.tag()) dir=(t.language.dir()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex, nofollow";
                meta name="color-scheme" content="light dark";
                title { (title) " · " (t.text("console-title")) " · " (t.brand.name()) }
                link rel="icon" href={ (t.base) "/favicon.ico" };
                link rel="stylesheet" href=(href(t, &STYLE.path)) integrity=(STYLE.integrity);
                // Custom properties of the brand: text that the configuration was checked for.
                @if !colors.is_empty() { style { (PreEscaped(colors)) } }
                script src=(href(t, &SCRIPT.path)) integrity=(SCRIPT.integrity) defer {}
            }
            body { (here) }
        }
    };
    let mut answer = response::html(status, page.into_string());
    let brand = match colors.is_empty() {
        true => String::new(),
        false => format!(" 'sha256-{colors_hash}'"),
    };
    let policy = format!(
        "default-src 'none'; style-src 'self'{brand}; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    );
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy.as_str()),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        // Constants and a hash: always header values.
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    answer
}

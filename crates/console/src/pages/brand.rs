//! `/console/brand`: what the pages of this realm look like, and what they would look like.
//!
//! The brand is changed where settings are. Here colours are tried: the page itself takes them, by
//! a style sheet that its policy names, and what could not be read is refused as the configuration
//! refuses it.

use http::StatusCode;
use maud::{Markup, html};
use signet_operation::problem::Problem;
use signet_pages::{Brand, BrandParts, Face};
use signet_request::http::{Context, Response};
use std::sync::Arc;

use super::parts;
use crate::call::{self, Call};
use crate::engine::catalog::Catalog;
use crate::session::Session;
use crate::view::shell::{self, Frame, href};

/// What is tried: members of `[brand]`.
const TRIED: [&str; 4] = ["name", "accent", "accent_dark", "background"];

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let catalog = Catalog::house();
    let mut t = session.face();
    let title = t.text("console-brand");
    let Some(row) = catalog.operation("listSettings") else {
        return parts::not_found(session);
    };
    let settings: Result<_, Problem> = call::read(&session, row, Call::default()).await;
    let settings = match settings {
        Ok(document) => parts::items(&document),
        Err(problem) => return parts::refused(session, &title, "/brand", &problem),
    };
    let query = session.context.query_params().ok();
    // An empty member is as if it were not there (RFC 6749 section 3.1).
    let tries = |member: &&str| {
        query
            .as_ref()
            .is_some_and(|query| query.get(member).is_some())
    };
    let is_tried = TRIED.iter().any(tries);
    let values = TRIED.map(|member| {
        let path = format!("brand.{member}");
        let setting = settings.iter().find(|setting| setting["name"] == *path);
        let set = setting.and_then(|setting| setting["value"].as_str());
        let tried = query.as_ref().and_then(|query| query.get(member));
        let value = if is_tried { tried } else { set };
        (member, value.map(str::trim).unwrap_or_default().to_owned())
    });
    let value = |member: &str| {
        let found = values.iter().find(|(name, _)| *name == member);
        found
            .map(|(_, value)| value.clone())
            .filter(|value| !value.is_empty())
    };
    let made = Brand::new(BrandParts {
        name: value("name"),
        accent: value("accent"),
        accent_dark: value("accent_dark"),
        background: value("background"),
        logo: t.brand.logo().cloned(),
        ..BrandParts::default()
    });
    let wrong = match made {
        Ok(brand) => {
            // The whole page is the preview.
            if is_tried {
                t.brand = Arc::new(brand);
            }
            None
        }
        Err(wrong) => Some(wrong),
    };
    let mut frame = Frame::new(&t, title, "/brand");
    if wrong.is_some() {
        frame.status = StatusCode::BAD_REQUEST;
    }
    let (colors, _) = t.brand.colors();
    let content = html! {
        p .lead { (t.text("console-brand-about")) }
        div .columns {
            form .sheet method="get" action=(href(&t, "/brand")) data-live="" {
                @for (member, value) in &values { (field(member, value, wrong.as_ref())) }
                div .buttons {
                    button .main type="submit" { (t.text("console-preview")) }
                    a .button href=(href(&t, "/brand")) { (t.text("console-unset")) }
                }
            }
            div #live aria-live="polite" data-colors=(colors) {
                @if let Some((_, said)) = &wrong { p .wrong lang="en" { (said) } }
                (mock(&t))
                section .panel {
                    h2 { (t.text("console-brand-lines")) }
                    pre { code { (lines(&values)) } }
                    p { a href=(href(&t, "/settings?q=brand")) { (t.text("console-settings")) } }
                }
            }
        }
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

fn field(member: &str, value: &str, wrong: Option<&(&'static str, String)>) -> Markup {
    let said = wrong
        .filter(|(name, _)| *name == member)
        .map(|(_, said)| said);
    html! {
        div .field {
            label for={ "q-" (member) } { code { "brand." (member) } }
            input id={ "q-" (member) } name=(member) value=(value) autocomplete="off" autocapitalize="off" spellcheck="false" aria-invalid=[said.map(|_| "true")] placeholder=[(member != "name").then_some("#rrggbb")];
            @if let Some(said) = said { p .wrong lang="en" { (said) } }
        }
    }
}

/// A login page, small.
fn mock(t: &Face) -> Markup {
    html! {
        section .mock aria-label=(t.text("console-preview")) {
            div .mock-card {
                div .mark { (shell::mark(t)) span { (t.brand.name()) } }
                h2 { (t.text("login-title")) }
                p .mock-label { (t.text("login-username")) }
                div .mock-input {}
                p .mock-label { (t.text("login-password")) }
                div .mock-input {}
                div .mock-button { (t.text("login-submit")) }
                p .mock-link { (t.text("login-forgotten")) }
            }
        }
    }
}

/// As a configuration has them.
fn lines(values: &[(&str, String)]) -> String {
    let mut lines = String::from("[brand]\n");
    for (member, value) in values.iter().filter(|(_, value)| !value.is_empty()) {
        let quoted = serde_json::Value::from(value.as_str());
        lines.push_str(&format!("{member} = {quoted}\n"));
    }
    lines
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_lines_are_those_of_a_configuration() {
        let values = [
            ("name", "A \"quoted\" name".to_owned()),
            ("accent", "#1a5fb4".to_owned()),
            ("background", String::new()),
        ];
        assert_eq!(
            super::lines(&values),
            "[brand]\nname = \"A \\\"quoted\\\" name\"\naccent = \"#1a5fb4\"\n"
        );
    }
}

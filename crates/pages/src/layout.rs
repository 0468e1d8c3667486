//! The frame around every page, its style sheet, and the headers that go with it.

use std::sync::LazyLock;

use http::{HeaderValue, StatusCode};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use signet_crypto::hash::sha256;
use signet_jose::base64url;

use signet_http::{Response, response};

/// Newlines are cut, so that the page carries little; the hash is of the text as it is sent.
static STYLE: LazyLock<String> = LazyLock::new(|| include_str!("style.css").replace('\n', ""));
static STYLE_HASH: LazyLock<String> = LazyLock::new(|| csp_hash(STYLE.as_bytes()));

/// A finished page: its text and the policy that allows exactly what is in it.
#[derive(Debug)]
pub struct Html {
    /// The document.
    pub body: String,
    /// Whether the one script of `form_post` is in it.
    script: Option<&'static str>,
    forms: Forms,
}

/// Where the page's forms may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Forms {
    /// To this server only.
    Own,
    /// On to the client at the end. No `form-action` then: browsers apply it to every redirect that
    /// follows a form, also those that the client makes after ours, which no list here could know.
    Client,
}

impl Html {
    /// The headers that every page carries, beside its content type.
    ///
    /// `Referrer-Policy` is `same-origin`, not `no-referrer`: with the latter browsers send
    /// `Origin: null` with our own forms.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let mut policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'",
            *STYLE_HASH
        );
        if let Some(script) = self.script {
            policy.push_str("; script-src 'sha256-");
            policy.push_str(&csp_hash(script.as_bytes()));
            policy.push('\'');
        }
        if self.forms == Forms::Own {
            policy.push_str("; form-action 'self'");
        }
        vec![
            ("content-security-policy", policy),
            ("x-frame-options", "DENY".into()),
            ("x-content-type-options", "nosniff".into()),
            ("referrer-policy", "same-origin".into()),
            ("cache-control", "no-store".into()),
        ]
    }
}

impl Html {
    /// The page as an answer.
    pub fn respond(self, status: StatusCode) -> Response {
        let headers = self.headers();
        let mut response = response::html(status, self.body);
        for (name, value) in headers {
            // The values are fixed texts and hashes: always header values.
            if let Ok(value) = HeaderValue::from_str(&value) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

/// Base64 with its own alphabet and padding, as Content Security Policy compares it.
fn csp_hash(text: &[u8]) -> String {
    let mut hash = base64url::encode(&sha256(text))
        .replace('-', "+")
        .replace('_', "/");
    // 32 bytes are 43 characters, and one of padding.
    hash.push('=');
    hash
}

/// Something to tell the person above a form. Errors are announced by screen readers at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// What went wrong, and what to do.
    Error(&'static str),
    /// What was done.
    Done(&'static str),
}

pub(super) fn notice(notice: Option<&Notice>) -> Markup {
    html! {
        @match notice {
            Some(Notice::Error(text)) => { p #problem .notice .bad role="alert" { (text) } }
            Some(Notice::Done(text)) => { p .notice role="status" { (text) } }
            None => {}
        }
    }
}

/// What differs between the pages' frames.
pub(super) struct Frame<'a> {
    pub title: &'a str,
    /// Scripts find error and signed-out pages by it.
    pub main_id: &'static str,
    pub error_code: Option<&'a str>,
    pub wide: bool,
    pub forms: Forms,
    pub script: Option<&'static str>,
}

impl<'a> Frame<'a> {
    pub(super) fn new(title: &'a str) -> Self {
        Frame {
            title,
            main_id: "main",
            error_code: None,
            wide: false,
            forms: Forms::Client,
            script: None,
        }
    }

    pub(super) fn own(title: &'a str) -> Self {
        Frame {
            forms: Forms::Own,
            ..Frame::new(title)
        }
    }

    pub(super) fn render(self, content: Markup) -> Html {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="robots" content="noindex, nofollow";
                    title { (self.title) }
                    style { (PreEscaped(STYLE.as_str())) }
                }
                body {
                    div .brand {
                        svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" aria-hidden="true" {
                            circle cx="12" cy="12" r="9.2" {}
                            path d="M15.6 8.7c-.7-1-2-1.6-3.6-1.6-2 0-3.6 1-3.6 2.5 0 3.6 7.4 1.4 7.4 4.9 0 1.5-1.7 2.5-3.8 2.5-1.7 0-3.1-.7-3.8-1.8" {}
                        }
                        span { "Signet" }
                    }
                    main id=(self.main_id) data-error=[self.error_code] class=[self.wide.then_some("wide")] {
                        (content)
                    }
                    footer { "Check the address bar before you type a password." }
                    @if let Some(script) = self.script {
                        script { (PreEscaped(script)) }
                    }
                }
            }
        };
        Html {
            body: page.into_string(),
            script: self.script,
            forms: self.forms,
        }
    }
}

/// A day and time in words that need no script: `21 Nov 2026, 04:00 UTC`. `seconds`: Unix time.
pub(super) fn time_text(seconds: u64) -> String {
    let days = (seconds / 86_400) as i64;
    // Days to a civil date: shift the year to begin in March, so that leap days come last in
    // 400-year eras.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let year = year_of_era + era * 400 + i64::from(month_from_march >= 10);
    const MONTHS: [&str; 12] = [
        "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb",
    ];
    let month = MONTHS[month_from_march as usize % 12];
    let (hour, minute) = (seconds / 3_600 % 24, seconds / 60 % 60);
    format!("{day} {month} {year}, {hour:02}:{minute:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_forbids_framing_and_foreign_content() {
        let html = Frame::own("Test").render(html! { p { "text" } });
        let headers = html.headers();
        let policy = &headers[0].1;
        assert!(policy.contains("default-src 'none'"));
        assert!(policy.contains("frame-ancestors 'none'"));
        assert!(policy.contains("form-action 'self'"));
        assert!(!policy.contains("unsafe-inline"));
        assert!(!policy.contains("script-src"));
        assert!(headers.contains(&("x-frame-options", "DENY".into())));
        assert!(headers.contains(&("cache-control", "no-store".into())));
    }

    #[test]
    fn the_style_sheet_is_sent_as_it_was_hashed() {
        let html = Frame::own("Test").render(html! {});
        let start = html.body.find("<style>").unwrap() + "<style>".len();
        let end = html.body.find("</style>").unwrap();
        let hash = csp_hash(&html.body.as_bytes()[start..end]);
        assert!(html.headers()[0].1.contains(&hash));
    }

    #[test]
    fn titles_and_content_are_escaped() {
        let hostile = "</title><script>alert(1)</script>";
        let html = Frame::own(hostile).render(html! { p { (hostile) } });
        assert!(!html.body.contains("<script"));
    }

    #[test]
    fn times_are_calendar_dates() {
        assert_eq!(time_text(0), "1 Jan 1970, 00:00 UTC");
        assert_eq!(time_text(951_782_400), "29 Feb 2000, 00:00 UTC");
        assert_eq!(time_text(1_795_233_644), "21 Nov 2026, 04:00 UTC");
        assert_eq!(time_text(4_102_444_799), "31 Dec 2099, 23:59 UTC");
    }
}

//! The few pages that the gate shows. Plain HTML, no script; every value is escaped.

use http::{HeaderName, HeaderValue, StatusCode, header};
use signet_crypto::hash::sha256;
use signet_encoding::base64url;
use signet_http::{Response, response};
use std::sync::OnceLock;

const STYLE: &str = "body{font:1rem/1.5 system-ui,sans-serif;margin:0;color:#1b1b1f;background:#fff}\
main{max-width:32rem;margin:15vh auto 0;padding:0 1.5rem}h1{font-size:1.5rem}code{color:#5b5b66}\
a{color:#0b57d0}button{font:inherit;padding:.5rem 1.25rem;cursor:pointer}\
@media(prefers-color-scheme:dark){body{color:#e6e6ea;background:#16161a}a{color:#8ab4f8}code{color:#a0a0ab}}";

/// A page.
pub(crate) struct Page {
    status: StatusCode,
    /// as attributes of `main`
    main: String,
    title: &'static str,
    content: String,
    cookies: Vec<HeaderValue>,
}

impl Page {
    /// A page that shows an error code.
    pub(crate) fn error(status: StatusCode, code: &str) -> Page {
        let mut escaped = String::new();
        escape(code, &mut escaped);
        let title = match status {
            StatusCode::FORBIDDEN => "You may not go there",
            _ => "The login did not work",
        };
        Page {
            status,
            main: format!("id=\"error\" data-error=\"{escaped}\""),
            title,
            content: format!("<p><code>{escaped}</code></p>"),
            cookies: Vec::new(),
        }
    }

    /// Any other page. `id`: of `main`.
    pub(crate) fn new(id: &'static str, title: &'static str) -> Page {
        Page {
            status: StatusCode::OK,
            main: format!("id=\"{id}\""),
            title,
            content: String::new(),
            cookies: Vec::new(),
        }
    }

    /// A paragraph.
    pub(crate) fn say(mut self, text: &str) -> Page {
        self.content.push_str("<p>");
        escape(text, &mut self.content);
        self.content.push_str("</p>");
        self
    }

    /// A link. `href`: of this application, or of a configured place.
    pub(crate) fn link(mut self, text: &str, href: &str) -> Page {
        self.content.push_str("<p><a href=\"");
        escape(href, &mut self.content);
        self.content.push_str("\">");
        escape(text, &mut self.content);
        self.content.push_str("</a></p>");
        self
    }

    /// A button that posts nothing but itself to a path of ours.
    pub(crate) fn button(mut self, text: &str, action: &'static str) -> Page {
        self.content.push_str("<form method=\"post\" action=\"");
        self.content.push_str(action);
        self.content
            .push_str("\"><button name=\"decision\" value=\"allow\">");
        escape(text, &mut self.content);
        self.content.push_str("</button></form>");
        self
    }

    /// With a `Set-Cookie`.
    pub(crate) fn cookie(mut self, cookie: Option<HeaderValue>) -> Page {
        self.cookies.extend(cookie);
        self
    }

    /// `issuer`: to whom a form may lead on.
    pub(crate) fn respond(self, issuer: &str) -> Response {
        let html = format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{title}</title><style>{STYLE}</style></head><body><main {main}><h1>{title}</h1>{content}</main></body></html>\n",
            title = self.title,
            main = self.main,
            content = self.content,
        );
        let mut response = response::html(self.status, html);
        let headers = response.headers_mut();
        // A logout's answer to the form leads to the issuer, and browsers hold that to form-action.
        let policy = format!(
            "default-src 'none'; style-src '{}'; form-action 'self' {}; frame-ancestors 'none'; base-uri 'none'",
            style_hash(),
            signet_jose::dpop::origin(issuer).unwrap_or_default(),
        );
        if let Ok(policy) = HeaderValue::from_str(&policy) {
            headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        for cookie in self.cookies {
            headers.append(header::SET_COOKIE, cookie);
        }
        guard(&mut response);
        response
    }
}

/// What every answer of the login says to browsers.
pub(crate) fn guard(response: &mut Response) {
    let fields: [(HeaderName, &str); 3] = [
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in fields {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
}

/// 303 to a place, with cookies.
pub(crate) fn redirect(to: &str, cookies: impl IntoIterator<Item = HeaderValue>) -> Response {
    let mut response = response::redirect(to);
    for cookie in cookies {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    guard(&mut response);
    response
}

fn style_hash() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| {
        let mut text = b"sha256-".to_vec();
        base64url::encode_standard_into(&sha256(STYLE.as_bytes()), &mut text);
        String::from_utf8(text).unwrap_or_default()
    })
}

fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_value_stays_text() {
        let page = Page::error(StatusCode::BAD_REQUEST, "\"><script>x</script>")
            .say("a & b")
            .link("<b>", "/x?\"'");
        assert!(!page.main.contains("<script>") && !page.content.contains("<script>"));
        assert!(page.content.contains("a &amp; b") && page.content.contains("&lt;b&gt;"));
        assert!(page.content.contains("/x?&quot;&#39;"));
    }
}

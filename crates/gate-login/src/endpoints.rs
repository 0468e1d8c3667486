//! The table of the login's endpoints.

use crate::{
    Application, callback,
    login::{Asked, Login},
    logout,
    page::Page,
    start,
};
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, header, request};
use signet_crypto::Clock;
use signet_http::Response;

/// What answers at a path under [`PREFIX`].
#[derive(Clone, Copy)]
enum Endpoint {
    Start,
    Logout,
    SignedOut,
    Denied,
    BackChannel,
}

const ENDPOINTS: [(&str, Endpoint); 5] = [
    ("/.signet/login", Endpoint::Start),
    ("/.signet/logout", Endpoint::Logout),
    ("/.signet/signed-out", Endpoint::SignedOut),
    ("/.signet/denied", Endpoint::Denied),
    ("/.signet/backchannel-logout", Endpoint::BackChannel),
];

impl Login {
    /// Answers a path of the login. `by_proxy`: whether a proxy asked, whose word about the host is
    /// taken; browsers are answered through one only.
    pub async fn respond(
        &self,
        head: &request::Parts,
        body: Bytes,
        by_proxy: bool,
        clock: &dyn Clock,
    ) -> Response {
        let now = clock.now();
        let path = head.uri.path();
        let found = ENDPOINTS.iter().find(|(known, _)| *known == path);
        let is_callback = path == self.settings.redirect_path;
        let endpoint = match found {
            Some((_, Endpoint::BackChannel)) => {
                return match head.method == Method::POST {
                    // The token says whose word it is.
                    true => logout::back_channel(self, &body, now),
                    false => not_for_here("POST"),
                };
            }
            Some((_, endpoint)) => Some(*endpoint),
            None if is_callback => None,
            None => return signet_http::response::text(StatusCode::NOT_FOUND, "not found\n"),
        };
        if !by_proxy {
            let text = "the caller is not a proxy of this service\n";
            return signet_http::response::text(StatusCode::FORBIDDEN, text);
        }
        let Some(application) = self.application_of(&head.headers) else {
            return Page::error(StatusCode::NOT_FOUND, "unknown_application")
                .say("Nobody is logged in for this host.")
                .respond(&self.settings.issuer);
        };
        let asked = Asked {
            application,
            headers: &head.headers,
            query: head.uri.query().unwrap_or(""),
            now,
        };
        match (endpoint, &head.method) {
            (None, &Method::GET) => callback::respond(self, &asked).await,
            (Some(Endpoint::Start), &Method::GET) => start::respond(self, &asked).await,
            (Some(Endpoint::Logout), &Method::GET) => logout::ask(self, &asked),
            (Some(Endpoint::Logout), &Method::POST) => logout::perform(self, &asked).await,
            (Some(Endpoint::SignedOut), &Method::GET) => logout::signed_out(self),
            (Some(Endpoint::Denied), _) => self.denied("access_denied"),
            (Some(Endpoint::Logout), _) => not_for_here("GET, POST"),
            (None | Some(_), _) => not_for_here("GET"),
        }
    }

    /// The application that a proxy handed a request on for: `X-Forwarded-Host` where it says so,
    /// else `Host`.
    fn application_of(&self, headers: &HeaderMap) -> Option<&Application> {
        let single = |name: &str| {
            let mut values = headers.get_all(name).iter();
            match (values.next(), values.next()) {
                (Some(value), None) => value.to_str().ok(),
                (None, _) | (Some(_), Some(_)) => None,
            }
        };
        let host = match headers.contains_key("x-forwarded-host") {
            true => single("x-forwarded-host")?,
            false => single(header::HOST.as_str())?,
        };
        self.application(&["https://", host].concat())
    }
}

fn not_for_here(allow: &'static str) -> Response {
    let text = "method not allowed\n";
    let mut response = signet_http::response::text(StatusCode::METHOD_NOT_ALLOWED, text);
    let allow = http::HeaderValue::from_static(allow);
    response.headers_mut().insert(header::ALLOW, allow);
    response
}

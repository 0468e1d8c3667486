//! How a session ends: by its person (RP-Initiated Logout 1.0), or because the issuer says so
//! (Back-Channel Logout 1.0).

use crate::{
    client::Form,
    cookie,
    login::{Asked, Login, count},
    page::{self, Page},
    provider::with_query,
};
use http::{HeaderMap, StatusCode, header};
use signet_http::{Response, response};
use signet_oauth::params::Params;
use signet_verify::{Answer, Presented, Refusal, Subject};

/// A link may come from anywhere, so it only asks.
pub(crate) fn ask(login: &Login, asked: &Asked<'_>) -> Response {
    if login
        .session(asked.application, asked.headers, asked.now)
        .is_none()
    {
        return signed_out(login);
    }
    Page::new("logout", "Log out?")
        .say("Your session with this application ends, and you are led on to the login's server.")
        .button("Log out", "/.signet/logout")
        .link("Stay logged in", "/")
        .respond(&login.settings.issuer)
}

/// Ends the session here, and leads to where the issuer ends its own.
pub(crate) async fn perform(login: &Login, asked: &Asked<'_>) -> Response {
    if !is_own(asked) {
        return Page::error(StatusCode::FORBIDDEN, "cross_site")
            .say("Another site cannot log you out.")
            .link("Log out", "/.signet/logout")
            .respond(&login.settings.issuer);
    }
    if let Some(session) = login.session(asked.application, asked.headers, asked.now)
        && let Some(jti) = session.claims().jti()
    {
        // Also a copy of the cookie is worth nothing from now on.
        let end = session.claims().exp().unwrap_or(asked.now);
        login.ended.end(Subject::Jti(jti), asked.now, end);
        count(&login.counts.ended);
    }
    let settings = &login.settings;
    let metadata = login
        .provider
        .metadata(&settings.issuer, &login.outbound, asked.now);
    let endpoint = match metadata.await {
        Ok(metadata) => metadata.end_session_endpoint.clone(),
        Err(why) => {
            tracing::warn!(why, "failed to lead a logout on to the issuer");
            None
        }
    };
    let gone = cookie::remove(cookie::SESSION);
    let after = settings.after_logout.as_deref();
    let to = match (endpoint, after) {
        (Some(endpoint), after) => {
            let mut query = Form::of([("client_id", settings.client_id.as_str())]);
            if let Some(path) = after {
                query.add("post_logout_redirect_uri", &asked.application.url(path));
            }
            with_query(&endpoint, &query.0)
        }
        (None, Some(path)) => asked.application.url(path),
        (None, None) => asked.application.url("/.signet/signed-out"),
    };
    page::redirect(&to, gone)
}

pub(crate) fn signed_out(login: &Login) -> Response {
    Page::new("signed-out", "You are logged out")
        .say("You have no session with this application.")
        .link("Log in", "/")
        .respond(&login.settings.issuer)
}

/// Whether the request was made by a page of the application itself. The session's cookie does not
/// come with a form of another site (SameSite), so this is the second lock.
fn is_own(asked: &Asked<'_>) -> bool {
    let said = |name: &str| text(asked.headers, name);
    match (said("sec-fetch-site"), said(header::ORIGIN.as_str())) {
        (Some(site), _) => site == "same-origin",
        (None, Some(origin)) => origin == asked.application.origin(),
        (None, None) => false,
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// The issuer ends a session, or all of a person's.
pub(crate) fn back_channel(login: &Login, body: &[u8], now: u64) -> Response {
    let params = match Params::parse(body) {
        Ok(params) => params,
        Err(_) => return refused(StatusCode::BAD_REQUEST, "the form cannot be read"),
    };
    let Some(token) = params.get("logout_token") else {
        return refused(StatusCode::BAD_REQUEST, "there is no logout_token");
    };
    let presented = Presented::token(token);
    let verified = match login
        .verifier
        .verify_under(login.logout_token, &presented, now)
    {
        Ok(verified) => verified,
        // It is in effect: the issuer sends it again until it hears so.
        Err(Refusal::Replayed) => return done(),
        Err(refusal) => {
            tracing::info!(%refusal, "refused a logout token");
            let status = match refusal.answer() {
                Answer::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
                _ => StatusCode::BAD_REQUEST,
            };
            return refused(status, refusal.describe());
        }
    };
    let claims = verified.claims();
    let until = now.saturating_add(login.settings.absolute);
    match (claims.sid(), claims.sub()) {
        (Some(sid), _) => login.ended.end(Subject::Session(sid), now, until),
        (None, Some(sub)) => {
            // The token says the second alone: whatever was issued within it is over.
            let second = claims.iat().unwrap_or(now);
            let moment = second.saturating_mul(1000).saturating_add(999);
            login.ended.end(Subject::User(sub, moment), now, until);
        }
        // The verifier demands one of them.
        (None, None) => return refused(StatusCode::BAD_REQUEST, "neither sub nor sid"),
    }
    count(&login.counts.ended);
    done()
}

fn done() -> Response {
    let mut response = response::empty(StatusCode::OK);
    page::guard(&mut response);
    response
}

/// Back-Channel Logout section 2.8.
fn refused(status: StatusCode, why: &str) -> Response {
    let mut body = Vec::new();
    signet_encoding::json::Writer::new(&mut body).object(|w| {
        w.member("error").string("invalid_request");
        w.member("error_description").string(why);
    });
    let mut response = response::json(status, body);
    page::guard(&mut response);
    response
}

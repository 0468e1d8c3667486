//! Forward-auth for a browser: its session instead of a token.
use crate::{
    asked::{Asked, scopes},
    gate::Gate,
    setup::Setup,
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use signet_gate_login::{Judged, Login, Refused};
use signet_http::{Response, response};
use signet_verify::{Claims, Refusal};

/// The answer about a request without a token. None where nothing but a token would do.
///
/// # Errors
/// A refusal that is answered as that of a token is.
pub(crate) fn answer(
    gate: &Gate,
    setup: &Setup,
    login: &Login,
    headers: &HeaderMap,
    asked: &Asked<'_>,
) -> Result<Option<Response>, Refusal> {
    let (true, Some(url)) = (asked.by_proxy, &asked.url) else {
        return Ok(None);
    };
    let now = gate.clock.now();
    let hold = |claims: &Claims| {
        setup.verifier.hold(asked.policy, claims, now)?;
        match scopes(asked.scope.unwrap_or("")).all(|scope| claims.has_scope(scope)) {
            true => Ok(()),
            false => Err(Refusal::Scope),
        }
    };
    match login.judge(asked.method, url, headers, now, hold) {
        Judged::Elsewhere => {
            if gate.notices.unknown_application.is_due(now) {
                tracing::warn!(
                    "offered no login: the request's host is none of [login] applications"
                );
            }
            Ok(None)
        }
        Judged::Open => {
            let mut response = response::empty(StatusCode::OK);
            setup.identity.write_nobody(response.headers_mut());
            Ok(Some(response))
        }
        Judged::Session { session, renewed } => {
            let mut response = response::empty(StatusCode::OK);
            let headers = response.headers_mut();
            setup.identity.write(session.claims(), headers);
            if let Some(cookie) = renewed {
                headers.insert(header::SET_COOKIE, cookie);
            }
            Ok(Some(response))
        }
        Judged::Refused(Refused::Login(None)) => Ok(None),
        Judged::Refused(Refused::Login(Some(to))) => {
            let Ok(to) = HeaderValue::from_str(&to) else {
                return Ok(None);
            };
            let mut response = response::empty(StatusCode::FOUND);
            response.headers_mut().insert(header::LOCATION, to);
            Ok(Some(response))
        }
        Judged::Refused(Refused::Forbidden(refusal, page)) => {
            tracing::info!(%refusal, "refused a request of a session");
            setup.verifier.counters().refuse(refusal);
            Ok(Some(match page {
                Some(page) => *page,
                None => response::text(StatusCode::FORBIDDEN, "forbidden\n"),
            }))
        }
        Judged::Refused(Refused::Unknown) => Err(Refusal::RevocationUnknown),
    }
}

//! `/.signet/login`: begins a login, and leads to the issuer.

use crate::{
    attempt::{self, Attempt},
    cookie,
    login::{Asked, Login, rounds},
    page,
    provider::Failure,
};
use http::StatusCode;
use signet_http::Response;
use signet_oauth::params::Params;

/// Logins of one browser, one right after the other, that may leave no session: more is a loop.
const MAX_ROUNDS: u32 = 3;

pub(crate) async fn respond(login: &Login, asked: &Asked<'_>) -> Response {
    let params = Params::parse(asked.query.as_bytes()).unwrap_or_default();
    let to = attempt::return_path(params.get("return").unwrap_or("/"));
    let mode = asked.headers.get("sec-fetch-mode");
    if mode.is_some_and(|mode| mode.as_bytes() != b"navigate") {
        // A script, or a picture: nobody would see the login.
        return login
            .failed(StatusCode::BAD_REQUEST, "no_navigation", to)
            .say("A login is begun by going to it.")
            .respond(&login.settings.issuer);
    }
    let has_session = login
        .session(asked.application, asked.headers, asked.now)
        .is_some();
    if !has_session && rounds(asked.headers) >= MAX_ROUNDS {
        tracing::warn!(
            application = asked.application.origin(),
            "stopped a login that goes round: its sessions do not last"
        );
        return login
            .failed(StatusCode::BAD_REQUEST, "login_loop", to)
            .say("You logged in several times, and each time the session was gone at once. Does this browser keep cookies of this site? Was your access revoked?")
            .cookie(cookie::remove(cookie::ROUNDS))
            .respond(&login.settings.issuer);
    }
    match begin(login, asked, to).await {
        Ok(response) => response,
        Err(failure) => unavailable(login, failure, to),
    }
}

async fn begin(login: &Login, asked: &Asked<'_>, to: &str) -> Result<Response, Failure> {
    let (settings, now) = (&login.settings, asked.now);
    let metadata = login
        .provider
        .metadata(&settings.issuer, &login.outbound, now);
    let metadata = metadata.await.map_err(Failure::Unavailable)?;
    let attempt = Attempt::new(to.to_owned(), now);
    let redirect_uri = asked.application.url(&settings.redirect_path);
    let url = login.authorization_url(&metadata, &attempt, &redirect_uri, now);
    let url = url.await?;
    let sealed = attempt.seal(&login.keys, asked.application);
    let sealed = sealed.ok_or_else(|| Failure::Unavailable("nothing could be sealed".into()))?;
    let (keys, application) = (&login.keys, asked.application);
    let mut cookies = attempt::make_room(keys, application, asked.headers, sealed.len(), now);
    let life = Some(attempt::MAX_ATTEMPT_SECONDS);
    cookies.extend(cookie::set(&attempt.cookie(), &sealed, life));
    Ok(page::redirect(&url, cookies))
}

/// The issuer was asked, and gave nothing.
pub(crate) fn unavailable(login: &Login, failure: Failure, to: &str) -> Response {
    match failure {
        Failure::Unavailable(why) => {
            tracing::warn!(why, "failed to ask the issuer for a login");
            login
                .failed(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "temporarily_unavailable",
                    to,
                )
                .say("The login cannot be reached at the moment.")
                .respond(&login.settings.issuer)
        }
        Failure::Refused { error, description } => {
            tracing::warn!(
                error,
                description,
                "failed to have a login's request accepted by the issuer"
            );
            login
                .failed(StatusCode::BAD_GATEWAY, &error, to)
                .say("The login's server refused the request of this application.")
                .respond(&login.settings.issuer)
        }
    }
}

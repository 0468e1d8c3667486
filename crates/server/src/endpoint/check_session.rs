//! `/check-session`: the page of OpenID Connect Session Management 1.0 section 3.2
//! (`check_session_iframe`).

use http::{HeaderValue, StatusCode, header};

use signet_realm::state::Claim;
use signet_request::cookie::Cookie;
use signet_request::http::context::path_of;
use signet_request::http::{Context, Response, response};

/// GET.
pub(super) async fn show(context: Context) -> Response {
    // The page says `unchanged` by what the browser holds: not where nobody could say otherwise.
    if let Err(mute) = context.realm.may_speak(Claim::NotRevoked) {
        return response::text(StatusCode::SERVICE_UNAVAILABLE, format!("{}\n", mute.why()));
    }
    let base = path_of(&context.snapshot.settings.issuer);
    let cookie = Cookie::State.name(context.realm.id());
    let mut response = response::html(StatusCode::OK, signet_pages::check_session(base, &cookie));
    let headers = response.headers_mut();
    let policy = HeaderValue::from_static(signet_pages::CHECK_SESSION_POLICY);
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    // For pages that load nothing of other sites but what says that it may be.
    headers.insert(
        "cross-origin-resource-policy",
        HeaderValue::from_static("cross-origin"),
    );
    response
}

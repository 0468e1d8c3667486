//! What browsers and password managers look for at fixed paths, and the scripts of the pages.

use http::{HeaderValue, StatusCode, header};
use signet_encoding::json::Writer;

use signet_login::passkeys::relying_party;
use signet_request::http::context::path_of;
use signet_request::http::{Context, Response, Router, response};

/// Adds `/.well-known/webauthn`, `/.well-known/passkey-endpoints`, `/.well-known/change-password`
/// and `/assets/...`.
pub fn routes(router: &mut Router) {
    router
        .get("/.well-known/webauthn", related_origins)
        .get("/.well-known/passkey-endpoints", passkey_endpoints)
        .get("/.well-known/change-password", change_password)
        .get("/assets/{name}", script);
}

fn json(members: impl FnOnce(&mut Writer<'_>)) -> Response {
    let mut out = Vec::new();
    Writer::new(&mut out).object(members);
    response::json(StatusCode::OK, out)
}

fn nothing() -> Response {
    response::text(StatusCode::NOT_FOUND, "not found\n")
}

/// WebAuthn Level 3 section 5.11: the origins whose pages may use this domain's passkeys.
async fn related_origins(context: Context) -> Response {
    match relying_party(&context.snapshot.settings) {
        Some(party) => json(|w| w.member("origins").strings(party.origins())),
        None => nothing(),
    }
}

/// A Well-Known URL for Relying Party Passkey Endpoints (W3C): where passkeys are added and
/// managed.
async fn passkey_endpoints(context: Context) -> Response {
    let settings = &context.snapshot.settings;
    if relying_party(settings).is_none() {
        return nothing();
    }
    let account = format!("{}/account", settings.issuer);
    json(|w| {
        w.member("enroll").string(&account);
        w.member("manage").string(&account);
    })
}

/// A Well-Known URL for Changing Passwords (W3C): a redirect to the page that does it.
async fn change_password(context: Context) -> Response {
    let path = path_of(&context.snapshot.settings.issuer);
    response::redirect(&format!("{path}/account#password"))
}

/// A script, for ever the same under its name.
async fn script(context: Context) -> Response {
    let found = context
        .param("name")
        .and_then(|name| signet_pages::script(&format!("assets/{name}")));
    let Some(script) = found else {
        return nothing();
    };
    let mut response = response::body(StatusCode::OK, "text/javascript", script.text);
    let headers = response.headers_mut();
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=31536000, immutable"),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}

//! What is around the endpoints: the bare address, a slash too many, the icon, and paths that
//! nothing has.
//!
//! A person who opens the issuer in a browser is on the way to the account page; who mistypes a
//! path meets a page that says so, in a form that fits what asked.
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use signet_pages::Brand;
use signet_request::browser_request::face_of;
use signet_request::http::context::path_of;
use signet_request::http::{Context, Response, Router, response};
use std::sync::Arc;

/// Adds `/`, pages with a slash at their end, `/favicon.ico`, and what answers every other path.
pub fn routes(router: &mut Router) {
    router
        .get("/", account)
        .get("/account/", without_slash)
        .get("/account/recover/", without_slash)
        .get("/sign-up/", without_slash)
        .get("/device/", without_slash)
        .get("/favicon.ico", icon)
        .get("/brand/logo", logo)
        .otherwise(not_found);
}

/// The path of a page of this issuer. Not the issuer's URL: a browser stays at the name that it
/// asked.
fn path(context: &Context, below: &str) -> String {
    [path_of(&context.snapshot.settings.issuer), below].concat()
}

async fn account(context: Context) -> Response {
    response::redirect(&path(&context, "/account"))
}

async fn without_slash(context: Context) -> Response {
    let page = context.route().trim_end_matches('/');
    let target = match context.query() {
        "" => path(&context, page),
        query => [&path(&context, page), "?", query].concat(),
    };
    response::redirect(&target)
}

/// The brand that an address of a picture names.
fn brand(context: &Context) -> Arc<Brand> {
    let query = context.query_params().ok();
    let client_id = query.as_ref().and_then(|query| query.get("client_id"));
    context.realm.people.brands.of(client_id).clone()
}

async fn icon(context: Context) -> Response {
    match brand(&context).favicon() {
        Some(icon) => picture(icon.media_type, icon.bytes.clone()),
        None => picture("image/x-icon", signet_pages::FAVICON),
    }
}

async fn logo(context: Context) -> Response {
    match brand(&context).logo() {
        Some(logo) => picture(logo.media_type, logo.bytes.clone()),
        None => not_found(context).await,
    }
}

pub(crate) fn picture(media_type: &'static str, bytes: impl Into<Bytes>) -> Response {
    let mut response = response::body(StatusCode::OK, media_type, bytes);
    // An SVG that is opened by itself is a document of this origin: it may do nothing.
    response.headers_mut().insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox"),
    );
    response.headers_mut().insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=86400"),
    );
    response
}

/// A page for browsers, JSON for those who ask for it, a line of text for everybody else.
pub(crate) async fn not_found(context: Context) -> Response {
    let accept = context.header(header::ACCEPT).unwrap_or("");
    if accept.contains("text/html") {
        let account = path(&context, "/account");
        return signet_pages::not_found(&face_of(&context), &account)
            .respond(StatusCode::NOT_FOUND);
    }
    if accept.contains("application/json") {
        return response::json(
            StatusCode::NOT_FOUND,
            r#"{"error":"not_found","error_description":"not found"}"#,
        );
    }
    response::text(StatusCode::NOT_FOUND, "not found\n")
}

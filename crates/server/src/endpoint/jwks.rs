//! `/jwks`: the public keys (RFC 7517). Keys are listed well before their first use, so that a copy
//! five minutes old is good.
use http::{HeaderValue, StatusCode, header};
use signet_request::http::{Context, Response, response};

pub(super) async fn show(context: Context) -> Response {
    let mut answer = response::body(
        StatusCode::OK,
        "application/jwk-set+json",
        context.snapshot.documents.jwks.clone(),
    );
    answer.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=300"),
    );
    answer
}

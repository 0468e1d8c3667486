//! `/jwks`: the public keys (RFC 7517). Keys are listed well before their first use, so that a copy
//! five minutes old is good.
use crate::http::{Context, Response, response};
use http::{HeaderValue, StatusCode, header};

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

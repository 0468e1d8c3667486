//! The two metadata documents (RFC 8414, OpenID Connect Discovery), rendered once per snapshot.
use http::{HeaderValue, StatusCode, header};
use signet_request::http::{Context, Response, response};

pub(super) async fn show(context: Context) -> Response {
    let mut answer = response::json(StatusCode::OK, context.snapshot.documents.metadata.clone());
    answer.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=300"),
    );
    answer
}

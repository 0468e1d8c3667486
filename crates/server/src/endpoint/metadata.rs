//! The two metadata documents (RFC 8414, OpenID Connect Discovery), rendered once per snapshot.
use crate::http::{Context, Response, response};
use http::{HeaderValue, StatusCode, header};

pub(super) async fn show(context: Context) -> Response {
    let mut answer = response::json(StatusCode::OK, context.snapshot.documents.metadata.clone());
    answer.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=300"),
    );
    answer
}

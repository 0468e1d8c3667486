//! `/compact-keys`: the public keys of compact access tokens. As with the JWKS, keys are listed
//! well before their first use. They stand in a document of their own because a key serves one
//! format: no JOSE library may find them.
use http::{HeaderValue, StatusCode, header};
use signet_request::http::{Context, Response, response};

pub(super) async fn show(context: Context) -> Response {
    let mut answer = response::json(
        StatusCode::OK,
        context.snapshot.keys.compact_keys_document().clone(),
    );
    answer.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=300"),
    );
    answer
}

//! Style sheet and script: files of their own, named by what is in them, and held to it by their
//! hash. No page of the console has either in it.

use http::{HeaderValue, StatusCode, header};
use signet_crypto::hash::sha256;
use signet_encoding::base64url;
use signet_request::http::{Context, Response, response};
use std::sync::LazyLock;

/// One file.
pub(crate) struct Asset {
    /// Below the console: the same text has the same name for ever.
    pub(crate) path: String,
    /// What `integrity` says of it.
    pub(crate) integrity: String,
    media_type: &'static str,
    text: &'static str,
}

impl Asset {
    fn new(name: &str, ending: &str, media_type: &'static str, text: &'static str) -> Asset {
        let hash = sha256(text.as_bytes());
        let short = base64url::encode(&hash[..9]);
        let long = base64url::encode(&hash).replace('-', "+").replace('_', "/");
        Asset {
            path: format!("/assets/{name}-{short}.{ending}"),
            // 32 bytes are 43 characters, and one of padding.
            integrity: format!("sha256-{long}="),
            media_type,
            text,
        }
    }
}

/// How pages look.
pub(crate) static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../assets/console.css");
    Asset::new("console", "css", "text/css; charset=utf-8", text)
});

/// What helps where scripts run.
pub(crate) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../assets/console.js");
    Asset::new("console", "js", "text/javascript; charset=utf-8", text)
});

/// GET: one of them. Nobody needs a session for what is in every copy of the program.
pub(crate) async fn send(context: Context) -> Response {
    let file = context.param("file").unwrap_or_default();
    let asked = format!("/assets/{file}");
    let found = [&*STYLE, &*SCRIPT]
        .into_iter()
        .find(|one| one.path == asked);
    let Some(found) = found else {
        return response::text(StatusCode::NOT_FOUND, "not found\n");
    };
    let mut answer = response::body(StatusCode::OK, found.media_type, found.text);
    answer.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=31536000, immutable"),
    );
    answer
}

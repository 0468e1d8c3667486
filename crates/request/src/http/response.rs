//! The answers of the protocol, beside the shapes that any HTTP service gives.
use super::context::FormError;
use http::{HeaderValue, StatusCode, header};
use signet_http::body::BodyError;
use signet_oauth::error::{ErrorCode, OAuthError};

pub use signet_http::response::*;

/// The JSON error of RFC 6749 section 5.2, with the challenge that belongs to it. The hint stays in
/// the server.
pub fn error(error: &OAuthError) -> Response {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::BAD_REQUEST);
    let mut encoded = Vec::with_capacity(128);
    error.write_body(&mut encoded);
    let mut response = json(status, encoded);
    if let Some(challenge) = error.www_authenticate()
        && let Ok(challenge) = HeaderValue::from_str(&challenge)
    {
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, challenge);
    }
    // RFC 9110 section 15.6.4, RFC 6585 section 4: it is worth while to ask again.
    let seconds = match error.retry_after {
        Some(seconds) => Some(HeaderValue::from(seconds)),
        None if status == StatusCode::SERVICE_UNAVAILABLE => Some(HeaderValue::from_static("2")),
        None => None,
    };
    if let Some(seconds) = seconds {
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    response
}

/// A body that could not be had, with the status that says why.
pub fn body_error(failure: BodyError) -> Response {
    let mut response = error(&OAuthError::invalid_request(failure.description()));
    *response.status_mut() = failure.status();
    response
}

/// A form that could not be read.
pub fn form_error(failure: &FormError) -> Response {
    match failure {
        FormError::Body(failure) => body_error(*failure),
        FormError::Params(failure) => error(failure),
    }
}

/// The server's own fault, or that of a part it needs: 500 or 503, and no detail.
pub fn unavailable() -> Response {
    error(&OAuthError::new(
        ErrorCode::TemporarilyUnavailable,
        "temporarily unavailable, try again later",
    ))
}

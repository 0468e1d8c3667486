//! Answers: the few shapes that the server gives.
use super::{
    answer::Answer,
    context::{BodyError, FormError},
};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use signet_oauth::error::{ErrorCode, OAuthError};

/// What a handler gives back. Nearly always the whole body is in memory, so that head and body leave in one write.
pub type Response = http::Response<Answer>;

/// Any body with a content type.
pub fn body(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Response {
    let mut response = http::Response::new(Answer::whole(body.into()));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// A body that goes on while somebody writes into the channel.
pub fn stream(content_type: &'static str, chunks: tokio::sync::mpsc::Receiver<Bytes>) -> Response {
    let mut response = http::Response::new(Answer::stream(chunks));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// Encoded JSON.
pub fn json(status: StatusCode, encoded: impl Into<Bytes>) -> Response {
    body(status, "application/json", encoded)
}

/// A page.
pub fn html(status: StatusCode, page: String) -> Response {
    body(status, "text/html; charset=utf-8", page)
}

/// Plain text.
pub fn text(status: StatusCode, text: impl Into<Bytes>) -> Response {
    body(status, "text/plain; charset=utf-8", text)
}

/// No body.
pub fn empty(status: StatusCode) -> Response {
    let mut response = http::Response::new(Answer::whole(Bytes::new()));
    *response.status_mut() = status;
    response
}

/// 303 See Other: the browser goes on with GET (RFC 9700 section 4.12). A location that is no header value gives 500.
pub fn redirect(location: &str) -> Response {
    let Ok(location) = HeaderValue::from_str(location) else {
        return empty(StatusCode::INTERNAL_SERVER_ERROR);
    };
    let mut response = empty(StatusCode::SEE_OTHER);
    response.headers_mut().insert(header::LOCATION, location);
    response
}

/// The JSON error of RFC 6749 section 5.2, with the challenge that belongs to it. The hint stays in the server.
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
    response
}

/// A body that could not be had, with the status that says why.
pub fn body_error(failure: BodyError) -> Response {
    let mut response = error(&failure.into());
    *response.status_mut() = match failure {
        BodyError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        BodyError::TimedOut => StatusCode::REQUEST_TIMEOUT,
        BodyError::Broken => StatusCode::BAD_REQUEST,
        BodyError::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
    };
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
    let mut response = error(&OAuthError::new(
        ErrorCode::TemporarilyUnavailable,
        "the server cannot do this at the moment",
    ));
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, HeaderValue::from_static("2"));
    response
}

//! Answers: the few shapes that a service gives.
use crate::answer::Answer;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};

/// What a handler gives back. Nearly always the whole body is in memory, so that head and body
/// leave in one write.
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

/// A body that is streamed while a writer fills the channel.
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

/// 303 See Other: the browser continues with GET (RFC 9700 section 4.12). A location that is no
/// header value gives 500.
pub fn redirect(location: &str) -> Response {
    let Ok(location) = HeaderValue::from_str(location) else {
        return empty(StatusCode::INTERNAL_SERVER_ERROR);
    };
    let mut response = empty(StatusCode::SEE_OTHER);
    response.headers_mut().insert(header::LOCATION, location);
    response
}

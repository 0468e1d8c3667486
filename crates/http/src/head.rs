//! Heads that two readers could read differently.
//!
//! A proxy in front, a log beside and this server must see one request: by whose name it is asked,
//! and where its body ends. What leaves that open is refused before anybody answers it.

use crate::response::{self, Response};
use http::{HeaderMap, HeaderValue, Request, StatusCode, Version, header};

/// The answer to a head that is not clear; `None`: it is.
pub(crate) fn refusal<B>(request: &Request<B>) -> Option<Response> {
    let version = request.version();
    let target = request.uri().authority().map(|a| a.as_str());
    let (status, text) = host_is_wrong(version, target, request.headers())
        .or_else(|| coding_is_wrong(request.headers()))?;
    let mut refused = response::text(status, text);
    // Where the next request of this connection would begin is not clear either.
    if version < Version::HTTP_2 {
        let close = HeaderValue::from_static("close");
        refused.headers_mut().insert(header::CONNECTION, close);
    }
    Some(refused)
}

type Wrong = (StatusCode, &'static str);

/// RFC 9112 section 3.2: a request of HTTP/1.1 has one `Host`, of the one form. HTTP/1.0 may have
/// none. The target's authority, where there is one, is the same (RFC 9112 section 3.2.2, RFC 9113
/// section 8.3.1).
fn host_is_wrong(version: Version, target: Option<&str>, headers: &HeaderMap) -> Option<Wrong> {
    let wrong = |text| Some((StatusCode::BAD_REQUEST, text));
    let mut hosts = headers.get_all(header::HOST).iter();
    let Some(host) = hosts.next() else {
        return match version == Version::HTTP_11 {
            true => wrong("a request of HTTP/1.1 needs the field Host\n"),
            false => None,
        };
    };
    if hosts.next().is_some() {
        return wrong("the request has more than one field Host\n");
    }
    let host = host.as_bytes();
    let is_odd = |byte: &u8| !byte.is_ascii_graphic() || b",@/\\?#".contains(byte);
    if host.iter().any(is_odd) {
        return wrong("the field Host is malformed\n");
    }
    match target.is_some_and(|target| !target.as_bytes().eq_ignore_ascii_case(host)) {
        true => wrong("the field Host is not the host of the request's target\n"),
        false => None,
    }
}

/// RFC 9112 section 6.1: `chunked` is applied once, and a coding that is not understood is not
/// implemented.
fn coding_is_wrong(headers: &HeaderMap) -> Option<Wrong> {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    let first = codings.next()?.as_bytes();
    if codings.next().is_none() && first.eq_ignore_ascii_case(b"chunked") {
        return None;
    }
    let all = headers.get_all(header::TRANSFER_ENCODING).iter();
    let mut all = all.flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    match all.all(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"chunked")) {
        true => Some((StatusCode::BAD_REQUEST, "chunked more than once\n")),
        false => Some((
            StatusCode::NOT_IMPLEMENTED,
            "no transfer coding but chunked is implemented\n",
        )),
    }
}

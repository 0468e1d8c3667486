//! A request's body: read once, within the limits of length and time.
use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::time::Duration;

/// A request body, not yet read.
pub struct Body(Source);

enum Source {
    Wire(Incoming),
    /// Already in memory (tests, requests that were replayed).
    Memory(Bytes),
}

impl From<Incoming> for Body {
    fn from(incoming: Incoming) -> Body {
        Body(Source::Wire(incoming))
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Body {
        Body(Source::Memory(bytes))
    }
}

impl Default for Body {
    fn default() -> Body {
        Body::from(Bytes::new())
    }
}

impl Body {
    /// All of it: at most `limit` bytes, within `timeout`.
    ///
    /// # Errors
    /// The caller's: too much, too slow, or cut off.
    pub async fn read(self, limit: usize, timeout: Duration) -> Result<Bytes, BodyError> {
        match self.0 {
            Source::Memory(bytes) if bytes.len() > limit => Err(BodyError::TooLarge),
            Source::Memory(bytes) => Ok(bytes),
            Source::Wire(incoming) => read_wire(incoming, limit, timeout).await,
        }
    }
}

/// Why a body could not be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BodyError {
    /// The caller sent more than the limit (413).
    #[error("the body is too large")]
    TooLarge,
    /// The caller was too slow (408).
    #[error("the body did not arrive in time")]
    TimedOut,
    /// The connection broke (nobody to answer).
    #[error("the body was cut off")]
    Broken,
    /// The content type is not the one this endpoint reads (415).
    #[error("unexpected content type")]
    MediaType,
}

impl BodyError {
    /// The status that tells the caller.
    pub fn status(self) -> StatusCode {
        match self {
            BodyError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            BodyError::TimedOut => StatusCode::REQUEST_TIMEOUT,
            BodyError::Broken => StatusCode::BAD_REQUEST,
            BodyError::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        }
    }

    /// What the caller is told.
    pub fn description(self) -> &'static str {
        match self {
            BodyError::TooLarge => "the request body is too large",
            BodyError::TimedOut => "the request body did not arrive in time",
            BodyError::Broken => "the request body was cut off",
            BodyError::MediaType => "the content type is not the one that is read here",
        }
    }
}

async fn read_wire(
    mut incoming: Incoming,
    limit: usize,
    timeout: Duration,
) -> Result<Bytes, BodyError> {
    use hyper::body::Body as _;
    // A caller that is still writing would see a broken connection and not the answer: a little more is read and dropped.
    let most = limit.saturating_mul(4);
    let announced = incoming.size_hint().exact();
    if announced.is_some_and(|n| n > most as u64) {
        return Err(BodyError::TooLarge);
    }
    if incoming.is_end_stream() {
        return Ok(Bytes::new());
    }
    let read = async {
        let mut first: Option<Bytes> = None;
        let mut rest = BytesMut::new();
        let mut dropped = 0;
        while let Some(frame) = incoming.frame().await {
            let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else {
                continue; // trailers
            };
            let have = first.as_ref().map_or(0, Bytes::len) + rest.len();
            if dropped > 0 || have + data.len() > limit {
                dropped += data.len();
                if have + dropped > most {
                    return Err(BodyError::TooLarge);
                }
                continue;
            }
            // Nearly every body is one frame: it is handed on without a copy.
            match &first {
                None => first = Some(data),
                Some(_) => rest.extend_from_slice(&data),
            }
        }
        if dropped > 0 {
            return Err(BodyError::TooLarge);
        }
        Ok(match first {
            None => Bytes::new(),
            Some(first) if rest.is_empty() => first,
            Some(first) => [&first[..], &rest[..]].concat().into(),
        })
    };
    tokio::time::timeout(timeout, read)
        .await
        .unwrap_or(Err(BodyError::TimedOut))
}

//! A request's body: read once, within the limits of length and time.
use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// A request body, not yet read.
pub struct Body {
    source: Source,
    unread: Option<Unread>,
}

enum Source {
    Wire(Incoming),
    /// Already in memory (tests, requests that were replayed).
    Memory(Bytes),
}

impl Default for Source {
    fn default() -> Source {
        Source::Memory(Bytes::new())
    }
}

impl From<Incoming> for Body {
    fn from(incoming: Incoming) -> Body {
        Body {
            source: Source::Wire(incoming),
            unread: None,
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Body {
        Body {
            source: Source::Memory(bytes),
            unread: None,
        }
    }
}

impl Default for Body {
    fn default() -> Body {
        Body::from(Bytes::new())
    }
}

impl Drop for Body {
    /// What nobody read goes back to the connection, which knows what to do with it.
    fn drop(&mut self) {
        if let (Some(unread), Source::Wire(incoming)) =
            (self.unread.take(), std::mem::take(&mut self.source))
        {
            *unread.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(incoming);
        }
    }
}

/// How long a refusal waits for the rest of a body that it does not need.
const DRAIN: Duration = Duration::from_secs(2);

/// Where a body lies after an answer was made without it.
#[derive(Clone, Default)]
pub(crate) struct Unread(Arc<Mutex<Option<Incoming>>>);

impl Unread {
    /// Reads what was left, and drops it: at most `limit` bytes, for [`DRAIN`] at most.
    ///
    /// A stream whose answer is complete while its body is still on the way is reset (RFC 9113
    /// section 8.1), and some clients, curl 7.88 among them, then show the reset instead of the
    /// answer that they have. On HTTP/1.1 the connection is closed under a client that still
    /// writes, with the same effect.
    pub(crate) async fn drain(&self, limit: usize) {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut incoming) = left else { return };
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        if incoming.size_hint().lower() > limit {
            return;
        }
        let rest = async {
            let mut seen = 0;
            while let Some(Ok(frame)) = incoming.frame().await {
                seen += frame.data_ref().map_or(0, |data| data.len() as u64);
                if seen > limit {
                    break;
                }
            }
        };
        // What does not come in time is given up: the answer leaves all the same.
        let _ = tokio::time::timeout(DRAIN, rest).await;
    }
}

impl Body {
    /// A body whose unread rest is handed back.
    pub(crate) fn watched(incoming: Incoming) -> (Body, Unread) {
        let unread = Unread::default();
        let body = Body {
            source: Source::Wire(incoming),
            unread: Some(unread.clone()),
        };
        (body, unread)
    }

    /// All of it: at most `limit` bytes, within `timeout`.
    ///
    /// # Errors
    /// The caller's: too much, too slow, or cut off.
    pub async fn read(mut self, limit: usize, timeout: Duration) -> Result<Bytes, BodyError> {
        match std::mem::take(&mut self.source) {
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

    /// What the caller receives.
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
    // A caller that is still writing would see a broken connection and not the answer: a little
    // more is read and dropped.
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

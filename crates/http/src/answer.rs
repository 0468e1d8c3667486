//! The body of an answer: whole, or a stream.
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};
use tokio::sync::mpsc;

/// See the module.
pub struct Answer(Kind);

enum Kind {
    Whole(Full<Bytes>),
    Stream {
        chunks: mpsc::Receiver<Bytes>,
        /// dropped with the body
        held: Option<Box<dyn Send + Sync>>,
    },
}

impl Answer {
    /// All of it.
    pub fn whole(bytes: Bytes) -> Answer {
        Answer(Kind::Whole(Full::new(bytes)))
    }

    /// What comes out of the channel, until its other end is dropped. The channel's bound is the
    /// answer's: a reader that is slow holds up the writer, and nobody else.
    pub fn stream(chunks: mpsc::Receiver<Bytes>) -> Answer {
        Answer(Kind::Stream { chunks, held: None })
    }

    /// Keeps something as long as a streamed body does. Whole bodies leave at once and keep
    /// nothing.
    pub(crate) fn hold(&mut self, thing: impl Send + Sync + 'static) {
        if let Kind::Stream { held, .. } = &mut self.0 {
            *held = Some(Box::new(thing));
        }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            Kind::Whole(whole) => Pin::new(whole).poll_frame(cx),
            Kind::Stream { chunks, .. } => chunks
                .poll_recv(cx)
                .map(|chunk| chunk.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Whole(whole) => whole.is_end_stream(),
            Kind::Stream { .. } => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(whole) => whole.size_hint(),
            Kind::Stream { .. } => SizeHint::default(),
        }
    }
}

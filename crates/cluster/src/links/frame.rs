//! Frames on a connection: what is sent is cut into fragments, so that what is short and urgent
//! passes between the pieces of what is long.
//!
//! A fragment is one byte of channel, one byte that says whether it ends its message, two bytes of
//! length (big-endian) and that many bytes. Fragments of one channel follow each other; those of
//! different channels mix. A message is as long as its channel allows, and no longer.

use crate::transport::{MAX_CALL_BYTES, MAX_FRAME_BYTES};

/// Longest fragment, in bytes: with its head it fits one TLS record (RFC 8446 section 5.1).
pub const MAX_FRAGMENT_BYTES: usize = 16_380;

/// Bytes before each fragment.
pub(crate) const HEAD: usize = 4;

/// What is in front of a call's message within its frame.
pub(crate) const CALL_HEAD: usize = 14;

/// What a message is for; the number on the wire, and the order in which they are sent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Channel {
    /// Greetings and heartbeats.
    Control,
    /// Frames of [`Transport`](crate::transport::Transport).
    Gossip,
    /// Failure detection.
    Membership,
    /// Calls of [`Urgency::Consensus`](crate::transport::Urgency).
    Consensus,
    /// Calls of [`Urgency::Call`](crate::transport::Urgency).
    Call,
    /// Calls of [`Urgency::Bulk`](crate::transport::Urgency).
    Bulk,
}

impl Channel {
    /// All of them, the most urgent first.
    pub const ALL: [Channel; 6] = [
        Channel::Control,
        Channel::Gossip,
        Channel::Membership,
        Channel::Consensus,
        Channel::Call,
        Channel::Bulk,
    ];

    /// The number on the wire.
    pub const fn number(self) -> u8 {
        match self {
            Channel::Control => 0,
            Channel::Gossip => 1,
            Channel::Membership => 2,
            Channel::Consensus => 3,
            Channel::Call => 4,
            Channel::Bulk => 5,
        }
    }

    /// Longest message, in bytes.
    pub const fn most(self) -> usize {
        match self {
            Channel::Control => 1024,
            Channel::Gossip => MAX_FRAME_BYTES,
            Channel::Membership => 8 * 1024,
            Channel::Consensus | Channel::Call | Channel::Bulk => MAX_CALL_BYTES + CALL_HEAD,
        }
    }

    /// Most bytes that wait to be sent to one node.
    pub(crate) const fn queue(self) -> usize {
        match self {
            Channel::Control | Channel::Membership => 64 * 1024,
            Channel::Gossip => 8 * MAX_FRAME_BYTES,
            Channel::Consensus | Channel::Call | Channel::Bulk => 2 * MAX_CALL_BYTES,
        }
    }
}

/// A member sent what is no frame. Its connection ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FrameError {
    /// There is no such channel.
    #[error("a frame of the unknown channel {0}")]
    Channel(u8),
    /// The head of the fragment says what no sender says.
    #[error("a malformed fragment")]
    Fragment,
    /// The message is longer than its channel allows.
    #[error("a message longer than its channel allows")]
    TooLong,
}

/// Appends a fragment.
pub fn write_fragment(channel: Channel, last: bool, bytes: &[u8], out: &mut Vec<u8>) {
    debug_assert!(bytes.len() <= MAX_FRAGMENT_BYTES);
    let len = (bytes.len() as u16).to_be_bytes();
    out.extend_from_slice(&[channel.number(), u8::from(last), len[0], len[1]]);
    out.extend_from_slice(bytes);
}

/// Reads messages from a stream of bytes, however it is cut.
#[derive(Default)]
pub struct Frames {
    /// What was read and is not yet looked at, from `at` on.
    input: Vec<u8>,
    at: usize,
    /// Messages of which the end is missing.
    begun: [Vec<u8>; Channel::ALL.len()],
}

impl Frames {
    /// At the beginning of a connection.
    pub fn new() -> Frames {
        Frames::default()
    }

    /// Takes what was read.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.at > 0 {
            self.input.drain(..self.at);
            self.at = 0;
        }
        self.input.extend_from_slice(bytes);
    }

    /// The next whole message; `None`: more must be read.
    ///
    /// # Errors
    /// [`FrameError`]; then the stream makes no sense any more.
    pub fn message(&mut self) -> Result<Option<(Channel, Vec<u8>)>, FrameError> {
        while let Some((head, rest)) = self.input[self.at..].split_first_chunk::<HEAD>() {
            let [number, last, high, low] = *head;
            let channel = Channel::ALL.get(usize::from(number));
            let channel = *channel.ok_or(FrameError::Channel(number))?;
            let len = usize::from(u16::from_be_bytes([high, low]));
            // An empty fragment in the middle would let a message go on without end.
            if last > 1 || len > MAX_FRAGMENT_BYTES || (len == 0 && last == 0) {
                return Err(FrameError::Fragment);
            }
            let begun = &mut self.begun[usize::from(number)];
            if begun.len() + len > channel.most() {
                return Err(FrameError::TooLong);
            }
            let Some(bytes) = rest.get(..len) else {
                return Ok(None);
            };
            begun.extend_from_slice(bytes);
            self.at += HEAD + len;
            if last == 1 {
                return Ok(Some((channel, std::mem::take(begun))));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(frames: &mut Frames) -> Vec<(Channel, Vec<u8>)> {
        std::iter::from_fn(|| frames.message().expect("frames")).collect()
    }

    #[test]
    fn messages_come_out_however_the_stream_is_cut() {
        let mut stream = Vec::new();
        write_fragment(Channel::Bulk, false, &[1; 100], &mut stream);
        write_fragment(Channel::Gossip, true, b"between", &mut stream);
        write_fragment(Channel::Bulk, true, &[], &mut stream);
        write_fragment(Channel::Control, true, b"", &mut stream);
        let expected = vec![
            (Channel::Gossip, b"between".to_vec()),
            (Channel::Bulk, vec![1; 100]),
            (Channel::Control, Vec::new()),
        ];
        for piece in [1, 2, 3, 5, 50, 1000] {
            let mut frames = Frames::new();
            let mut read = Vec::new();
            for bytes in stream.chunks(piece) {
                frames.feed(bytes);
                read.extend(all(&mut frames));
            }
            assert_eq!(read, expected, "{piece}");
        }
    }

    #[test]
    fn every_channel_has_its_number_and_its_bound() {
        for (at, channel) in Channel::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(channel.number()), at);
            let mut frames = Frames::new();
            let piece = vec![0; MAX_FRAGMENT_BYTES];
            let mut sent = 0;
            let refused = loop {
                let mut bytes = Vec::new();
                write_fragment(channel, false, &piece, &mut bytes);
                frames.feed(&bytes);
                sent += piece.len();
                match frames.message() {
                    Ok(message) => assert_eq!(message, None),
                    Err(error) => break error,
                }
                assert!(sent <= channel.most(), "{channel:?}");
            };
            assert_eq!(refused, FrameError::TooLong);
            assert!(sent > channel.most());
        }
    }

    #[test]
    fn what_no_sender_sends_is_refused() {
        for (bytes, error) in [
            ([6, 1, 0, 0], FrameError::Channel(6)),
            ([255, 1, 0, 0], FrameError::Channel(255)),
            ([1, 2, 0, 0], FrameError::Fragment),
            ([1, 0, 0, 0], FrameError::Fragment),
            ([1, 0, 0xff, 0xff], FrameError::Fragment),
        ] {
            let mut frames = Frames::new();
            frames.feed(&bytes);
            assert_eq!(frames.message(), Err(error));
        }
    }
}

//! What comes over a connection between nodes, cut into pieces by the network. Rule: the messages
//! of a stream do not depend on how it is cut, none is longer than its channel allows, and what
//! they are written as is read back as the same.

use signet_cluster::links::frame::{Channel, Frames, MAX_FRAGMENT_BYTES, write_fragment};

type Messages = (Vec<(Channel, Vec<u8>)>, bool);

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Messages {
    let (mut frames, mut messages) = (Frames::new(), Vec::new());
    for piece in pieces {
        frames.feed(piece);
        loop {
            match frames.message() {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(_) => return (messages, false),
            }
        }
    }
    (messages, true)
}

/// One input: the first byte says how the rest is cut.
pub fn run(data: &[u8]) {
    let Some((cut, stream)) = data.split_first() else {
        return;
    };
    let whole = read(std::iter::once(stream));
    let pieces = read(stream.chunks(usize::from(*cut).max(1)));
    assert_eq!(pieces, whole, "however it is cut");
    let mut again = Vec::new();
    for (channel, message) in &whole.0 {
        assert!(
            message.len() <= channel.most(),
            "within the channel's bound"
        );
        let mut pieces = message.chunks(MAX_FRAGMENT_BYTES).peekable();
        if pieces.peek().is_none() {
            write_fragment(*channel, true, &[], &mut again);
        }
        while let Some(piece) = pieces.next() {
            write_fragment(*channel, pieces.peek().is_none(), piece, &mut again);
        }
    }
    let read_again = read(std::iter::once(again.as_slice()));
    assert_eq!(read_again, (whole.0, true), "as it was written");
}

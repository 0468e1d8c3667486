//! What a peer may send, whatever it is.
use proptest::prelude::*;
use signet_cluster::{
    join::Token,
    links::frame::{Channel, FrameError, Frames, MAX_FRAGMENT_BYTES, write_fragment},
    member::Known,
};

type Messages = (Vec<(Channel, Vec<u8>)>, Option<FrameError>);

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Messages {
    let (mut frames, mut messages) = (Frames::new(), Vec::new());
    for piece in pieces {
        frames.feed(piece);
        loop {
            match frames.message() {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(error) => return (messages, Some(error)),
            }
        }
    }
    (messages, None)
}

/// Fragments that make sense, and some that do not.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let fragment = (0_u8..7, 0_u8..3, 0_u16..40, any::<u8>());
    prop::collection::vec(fragment, 0..30).prop_map(|fragments| {
        let mut out = Vec::new();
        for (channel, last, len, byte) in fragments {
            out.extend_from_slice(&[channel, last]);
            out.extend_from_slice(&len.to_be_bytes());
            out.resize(out.len() + usize::from(len), byte);
        }
        out
    })
}

proptest! {
    #[test]
    fn a_stream_gives_the_same_messages_however_it_is_cut(
        bytes in prop_oneof![stream(), prop::collection::vec(any::<u8>(), 0..300)],
        cut in 1_usize..50,
    ) {
        let whole = read(std::iter::once(bytes.as_slice()));
        prop_assert_eq!(&read(bytes.chunks(cut)), &whole);
        let mut again = Vec::new();
        for (channel, message) in &whole.0 {
            prop_assert!(message.len() <= channel.most());
            let mut pieces = message.chunks(MAX_FRAGMENT_BYTES).peekable();
            if pieces.peek().is_none() {
                write_fragment(*channel, true, &[], &mut again);
            }
            while let Some(piece) = pieces.next() {
                write_fragment(*channel, pieces.peek().is_none(), piece, &mut again);
            }
        }
        prop_assert_eq!(read(again.chunks(cut)), (whole.0, None));
    }

    #[test]
    fn what_is_no_member_and_no_token_is_refused_without_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        if let Ok(known) = Known::from_bytes(&bytes) {
            prop_assert_eq!(known.to_bytes(), bytes.clone());
        }
        let text = format!("signet-join-{}", String::from_utf8_lossy(&bytes));
        prop_assert!(Token::parse(&text).is_err());
    }
}

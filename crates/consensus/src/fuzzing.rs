//! What a fuzzer calls: everything that another node or the disk may hand in.
use crate::{
    codec::{Malformed, Reader},
    proposal::{Applied, FORMAT, Proposal, Session},
    types::{read, written},
    wire::{self, Envelope, Reply},
};

/// Reads bytes as each thing that they may be. Panics where what was read is not read the same
/// again from the bytes that it is written as.
pub fn read_all(bytes: &[u8]) {
    again(bytes, |b| {
        Envelope::from_bytes(b).map(|read| read.to_bytes())
    });
    again(bytes, |b| Reply::from_bytes(b).map(|read| read.to_bytes()));
    again(bytes, |b| {
        Applied::from_bytes(b).map(|read| read.to_bytes())
    });
    again(bytes, |b| Session::from_bytes(b).map(Session::to_bytes));
    again(bytes, |b| {
        read(b, Reader::entry).map(|entry| written(|to| to.entry(&entry)))
    });
    again(bytes, |b| {
        read(b, Reader::snapshot_meta).map(|meta| written(|to| to.snapshot_meta(&meta)))
    });
    again(bytes, |b| {
        read(b, Reader::member).map(|member| written(|to| to.member(&member)))
    });
    again(bytes, |b| {
        wire::read_append_answer(b).map(|answer| wire::append_answer(&answer))
    });
    again(bytes, |b| {
        wire::read_vote_answer(b).map(|answer| wire::vote_answer(&answer))
    });
    again(bytes, |b| {
        let (index, applied) = wire::read_proposed_answer(b)?;
        Ok(wire::proposed_answer(index, applied.as_deref()))
    });
    // A proposal is kept as the bytes that it came in.
    if let Ok(proposal) = Proposal::from_bytes(bytes, FORMAT) {
        assert_eq!(Proposal::from_bytes(bytes, FORMAT), Ok(proposal));
    }
}

fn again(bytes: &[u8], rewrite: impl Fn(&[u8]) -> Result<Vec<u8>, Malformed>) {
    if let Ok(once) = rewrite(bytes) {
        assert_eq!(rewrite(&once), Ok(once.clone()), "one thing, one encoding");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Member, NodeId, wire::Request};

    /// Every short change of messages that are right: a byte that is another one, one that is
    /// missing, and one more.
    #[test]
    fn nothing_that_comes_over_the_wire_makes_it_panic() {
        let member = Member::new(7, NodeId::parse("n7").expect("a name"), Some("a".into()));
        let requests = [
            Request::Add(member),
            Request::Propose(Proposal::open(FORMAT, 1, 2).into()),
            Request::Begin { transfer: 9 },
            Request::Space,
            Request::Hears,
        ];
        for request in requests {
            let envelope = Envelope {
                generation: 1,
                from: 2,
                request,
            };
            let bytes = envelope.to_bytes();
            read_all(&bytes);
            for at in 0..bytes.len() {
                read_all(&bytes[..at]);
                read_all(&bytes[at..]);
                for byte in 0..=255 {
                    let mut other = bytes.clone();
                    other[at] = byte;
                    read_all(&other);
                }
            }
            read_all(&[&*bytes, b"x"].concat());
        }
    }
}

//! What other nodes tell: records, signed batches, frames. Rule: one encoding each; merging what
//! was read is idempotent and commutes.

use signet_cluster::{batch::Signed, gossip::Frame};
use signet_merge::crdt::Record;

/// One input.
pub fn run(data: &[u8]) {
    if let Ok(record) = Record::from_bytes(data) {
        assert_eq!(record.to_bytes(), data, "one record, one encoding");
        let mut again = record.clone();
        assert!(!again.merge(&record), "merging twice changes nothing");
        let corpus = include_bytes!("../../corpus/gossip/record");
        let known = Record::from_bytes(corpus).expect("the corpus has a record");
        let (mut one, mut other) = (record.clone(), known.clone());
        one.merge(&known);
        other.merge(&record);
        assert_eq!(one, other, "in any order");
        let mut from_difference = known.clone();
        from_difference.merge(&one.difference(&known));
        assert_eq!(from_difference, one, "a fragment carries the whole change");
    }
    if let Ok(signed) = Signed::from_bytes(data) {
        assert_eq!(&**signed.bytes(), data, "a batch is kept as it came");
    }
    if let Ok(frame) = Frame::from_bytes(data) {
        assert_eq!(frame.to_bytes(), data, "one frame, one encoding");
    }
}

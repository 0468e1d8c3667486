//! Checkpoints and COSE receipts of logs, and grants' texts. Rule: one form each; proofs of any shape are refused, not panicked at.

use std::str::FromStr;

use signet_agent::capability::Capability;
use signet_agent::log::{Checkpoint, ConsistencyProof, InclusionProof};
use signet_agent::network::Network;
use signet_agent::{AgentId, Hash};

/// One input.
pub fn run(data: &[u8]) {
    if let Ok(checkpoint) = Checkpoint::parse(data) {
        assert_eq!(checkpoint.to_bytes(), data, "one checkpoint, one encoding");
    }
    if let Ok((checkpoint, proof)) = Checkpoint::from_inclusion_receipt(data, b"entry") {
        assert_eq!(
            checkpoint.inclusion_receipt(&proof),
            data,
            "one receipt, one encoding"
        );
    }
    if let Ok(proof) = InclusionProof::parse(data) {
        assert_eq!(proof.to_bytes(), data);
        let _ = proof.root(b"entry");
    }
    if let Ok(proof) = ConsistencyProof::parse(data) {
        assert_eq!(proof.to_bytes(), data);
        assert!(
            proof.verify(&Hash([0; 32]), &Hash([1; 32])).is_err(),
            "no proof of made-up roots"
        );
    }
    if let Ok(text) = std::str::from_utf8(data) {
        same::<Capability>(text);
        same::<AgentId>(text);
        same::<Hash>(text);
        if let Ok(network) = text.parse::<Network>() {
            assert_eq!(network.to_string().parse(), Ok(network));
        }
    }
}

fn same<T: FromStr + ToString>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        assert_eq!(value.to_string(), text, "one value, one text");
    }
}

//! Checkpoints and COSE receipts of logs, and grants' texts. Rule: one form each; proofs of any
//! shape are refused, not panicked at.

use std::str::FromStr;
use std::sync::OnceLock;

use signet_agent::capability::Capability;
use signet_agent::log::{Checkpoint, ConsistencyProof, InclusionProof};
use signet_agent::network::Network;
use signet_agent::{AgentId, Hash};

/// The checkpoint of the corpus, as one that a verifier has kept.
fn kept() -> Option<&'static Checkpoint> {
    static KEPT: OnceLock<Option<Checkpoint>> = OnceLock::new();
    let read = || Checkpoint::parse(include_bytes!("../../corpus/agent_log/checkpoint")).ok();
    KEPT.get_or_init(read).as_ref()
}

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
    // No older state of another log, and no proof of a root that was made up.
    if let Ok(old) = Checkpoint::parse(data) {
        assert!(Checkpoint::from_consistency_receipt(data, &old, Hash([1; 32])).is_err());
    } else if let Some(old) = kept() {
        let newer = Checkpoint::from_consistency_receipt(data, old, Hash([1; 32]));
        assert!(newer.is_err(), "no proof of a root that was made up");
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

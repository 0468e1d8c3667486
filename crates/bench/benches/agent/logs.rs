//! Logs of receipts.

use std::hint::black_box;

use signet_agent::log::{Checkpoint, InclusionProof, Tree};
use signet_agent::object::Object;
use signet_agent::receipt::Receipt;
use signet_crypto::hash::sha256;

use crate::{Aim, Bench, CONTENT, Cast, NOW};

/// A thousand receipts under one signature, and a proof.
pub(crate) fn run(bench: &mut Bench, cast: &Cast) {
    let mut buffer = Vec::new();
    let signer = cast.alice.document.signer(&cast.alice.keys);
    let mut whole = Tree::default();
    bench.pair_of(
        "log/receipt_of_a_thousand",
        1_000,
        "three hashes a receipt (content, leaf, node) and one bare signature",
        Some(Aim::Microseconds(2.0)),
        |n| {
            for _ in 0..1_000 {
                black_box(sha256(CONTENT));
                black_box(sha256(&cast.payload));
                black_box(sha256(&[1; 65]));
            }
            black_box(cast.sign_bare(n, &mut buffer));
        },
        |n| {
            let mut tree = Tree::default();
            for i in 0..1_000 {
                let body =
                    Receipt::new(cast.alice.document.by(), "decision", n + i).with_content(CONTENT);
                tree.append(&body.payload());
            }
            black_box(Checkpoint::sign(&tree, &signer, NOW).expect("signed"));
            whole = tree;
        },
    );
    if whole.is_empty() {
        (0..1_000_u64).for_each(|n| whole.append(&n.to_be_bytes()));
    }
    bench.pair(
        "log/inclusion_proof",
        "one bare signature check",
        None,
        |n| cast.verify_bare(n),
        |n| {
            black_box(InclusionProof::of(&whole, n % 1_000, 1_000).expect("in range"));
        },
    );
}

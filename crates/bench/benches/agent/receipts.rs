//! Receipts, alone and chained.

use std::hint::black_box;

use agentic_identity::identity::IdentityAnchor;
use agentic_identity::receipt::action::{ActionContent, ActionType};
use agentic_identity::receipt::receipt::ReceiptBuilder;
use agentic_identity::receipt::verify::verify_receipt;
use signet_agent::anchor::Anchors;
use signet_agent::object::Signed;
use signet_agent::receipt::Receipt;

use crate::{Bench, CONTENT, Cast, NOW, agent, receipt};

/// Signing and verifying, and ten in a chain.
pub(crate) fn run(bench: &mut Bench, cast: &Cast) {
    let mut buffer = Vec::new();
    let signer = cast.alice.document.signer(&cast.alice.keys);
    bench.pair(
        "receipt/sign",
        "bare signature",
        Some(1.15),
        |n| {
            black_box(cast.sign_bare(n, &mut buffer));
        },
        |n| {
            black_box(receipt(&cast.alice, n));
        },
    );
    let peer_receipt = |n: u64| {
        let text = format!("{} {n}", String::from_utf8_lossy(CONTENT));
        ReceiptBuilder::new(
            cast.peer.id(),
            ActionType::Decision,
            ActionContent::new(text),
        )
        .sign(cast.peer.signing_key())
        .expect("signed")
    };
    bench.pair(
        "receipt/sign/peer",
        "agentic-identity",
        Some(0.5),
        |n| {
            black_box(peer_receipt(n));
        },
        |n| {
            black_box(receipt(&cast.alice, n));
        },
    );
    let receipts: Vec<_> = (0..64)
        .map(|n| receipt(&cast.alice, n).as_bytes().to_vec())
        .collect();
    let peer_receipts: Vec<_> = (0..64).map(peer_receipt).collect();
    let verify_receipt_of = |n: u64| {
        let receipt =
            Signed::<Receipt>::parse(receipts[(n % 64) as usize].clone()).expect("a receipt");
        receipt
            .verify_by(&cast.alice.document, &Anchors::none())
            .expect("holds");
        receipt.body().check_content(CONTENT).expect("its content");
    };
    bench.pair(
        "receipt/verify",
        "bare signature check",
        Some(1.1),
        |n| cast.verify_bare(n),
        verify_receipt_of,
    );
    bench.pair(
        "receipt/verify/peer",
        "agentic-identity",
        Some(0.5),
        |n| {
            black_box(verify_receipt(&peer_receipts[(n % 64) as usize]).expect("holds"));
        },
        verify_receipt_of,
    );

    bench.pair(
        "receipts/ten_chained",
        "ten bare signatures",
        Some(1.15),
        |n| {
            (0..10).for_each(|i| {
                black_box(cast.sign_bare(10 * n + i, &mut buffer));
            })
        },
        |n| {
            let mut last = receipt(&cast.alice, n);
            for i in 1..10 {
                let body = Receipt::new(cast.alice.document.by(), "decision", NOW * 1_000 + n + i)
                    .with_content(CONTENT)
                    .after(&last);
                last = Signed::sign(&body, &signer).expect("signed");
            }
            black_box(last);
        },
    );
    bench.pair(
        "receipts/ten_chained_with_identity/peer",
        "agentic-identity, whose identity has no document and no next key",
        None,
        |n| {
            let peer = IdentityAnchor::new(Some("alice".to_owned()));
            let mut last: Option<agentic_identity::receipt::receipt::ReceiptId> = None;
            for i in 0..10 {
                let text = format!("{} {}", String::from_utf8_lossy(CONTENT), 10 * n + i);
                let receipt =
                    ReceiptBuilder::new(peer.id(), ActionType::Decision, ActionContent::new(text));
                let receipt = match last.take() {
                    Some(previous) => receipt.chain_to(previous),
                    None => receipt,
                };
                last = Some(receipt.sign(peer.signing_key()).expect("signed").id);
            }
            black_box(last);
        },
        |n| {
            let alice = agent("alice");
            let mut last = receipt(&alice, n);
            for i in 1..10 {
                let body = Receipt::new(alice.document.by(), "decision", NOW * 1_000 + n + i)
                    .with_content(CONTENT)
                    .after(&last);
                last = Signed::sign(&body, &alice.document.signer(&alice.keys)).expect("signed");
            }
            black_box(last);
        },
    );
}

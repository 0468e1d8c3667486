//! Receipts, their chains and their hashes.

use signet_agent::anchor::Anchors;
use signet_agent::log::{self, Checkpoint, Tree};
use signet_agent::object::{Object, Signed};
use signet_agent::receipt::{Disclosure, KnownEnd, Receipt, check_chain};
use signet_agent::{Hash, Refusal};

use super::scene::chain;
use crate::common::{NOW, agent, edit, sign};

#[test]
fn g01_a_receipts_content_text_actor_time_and_link_are_checked() {
    let (alice, mallory) = (agent("alice"), agent("mallory"));
    let receipt = chain(&alice, 2).remove(1);
    let verify = |receipt: &Signed<Receipt>| receipt.verify_by(&alice.document, &Anchors::none());
    assert_eq!(verify(&receipt), Ok(()));
    assert_eq!(receipt.body().check_content(b"content 1"), Ok(()));
    assert_eq!(
        receipt.body().check_content(b"content 2"),
        Err(Refusal::ContentMismatch)
    );
    let rewritten: [fn(&mut Receipt); 4] = [
        |r| r.action = "another".into(),
        |r| r.content = Some(Hash::of(b"content 2")),
        |r| r.at_ms += 1,
        |r| r.previous = Some(Hash::of(b"another")),
    ];
    for change in rewritten {
        assert_eq!(
            verify(&edit(&receipt, change)),
            Err(Refusal::SignatureInvalid)
        );
    }
    let other = edit(&receipt, |r| r.by = mallory.document.by());
    assert_eq!(verify(&other), Err(Refusal::WrongSigner));
    assert_eq!(
        other.verify_by(&mallory.document, &Anchors::none()),
        Err(Refusal::SignatureInvalid)
    );
}

#[test]
fn g09_a_chain_shows_what_was_rewritten_cut_out_and_dropped() {
    let alice = agent("alice");
    let all = chain(&alice, 5);
    let end = KnownEnd {
        head: all.last().map(Signed::id),
        count: Some(5),
    };
    assert_eq!(check_chain(&all, &end), Ok(()));
    let mut first = all.clone();
    first[0] = sign(
        &alice,
        &Receipt::new(alice.document.by(), "another", NOW * 1_000),
    );
    assert_eq!(check_chain(&first, &end), Err((1, Refusal::ChainBroken)));
    let mut middle = all.clone();
    middle.remove(2);
    assert_eq!(check_chain(&middle, &end), Err((2, Refusal::ChainBroken)));
    assert_eq!(
        check_chain(&all[..4], &end),
        Err((3, Refusal::ChainEndMissing))
    );
    assert_eq!(
        check_chain(&all[1..], &end),
        Err((0, Refusal::ChainStartMissing))
    );
    // The same in a log, against the checkpoint that somebody has kept.
    let tree_of = |receipts: &[Signed<Receipt>]| {
        let mut tree = Tree::default();
        receipts
            .iter()
            .for_each(|receipt| tree.append(receipt.as_bytes()));
        tree
    };
    let kept =
        Checkpoint::sign(&tree_of(&all), &alice.document.signer(&alice.keys), NOW).expect("signed");
    let logged = |receipts: &[Signed<Receipt>]| {
        let entries = receipts.iter().map(Signed::as_bytes);
        log::verify(entries, &[], Some(&kept), &alice.document, &Anchors::none()).map(|_| ())
    };
    assert_eq!(logged(&all), Ok(()));
    assert_eq!(logged(&first), Err(Refusal::RootMismatch));
    assert_eq!(logged(&middle), Err(Refusal::LogTruncated));
    assert_eq!(logged(&all[..4]), Err(Refusal::LogTruncated));
}

#[test]
fn g10_hash_inputs_are_unambiguous() {
    // Joined with ":" these pairs would be the same; in CBOR every part has its length.
    let digest = |name: &str, value: &str| {
        let disclosure = Disclosure {
            salt: [7; 16],
            name: name.into(),
            value: value.into(),
        };
        disclosure.digest()
    };
    assert_ne!(digest("a:b", "c"), digest("a", "b:c"));
    assert_ne!(digest("", "abc"), digest("abc", ""));
    let alice = agent("alice");
    let receipt = |action: &str, policy: &str| {
        let mut body = Receipt::new(alice.document.by(), action, NOW);
        body.policy = policy.into();
        sign(&alice, &body).id()
    };
    assert_ne!(receipt("a:b", "c"), receipt("a", "b:c"));
    assert_ne!(receipt("ab", ""), receipt("a", "b"));
    // The second of two forms of one value is refused: a head of two bytes where one is enough.
    let payload = Receipt::new(alice.document.by(), "a", NOW).payload();
    assert_eq!(payload[1..3], [0x00, 0x04], "the type, a receipt's");
    let longer = [&payload[..2], &[0x18, 0x04], &payload[3..]].concat();
    assert_eq!(Receipt::from_payload(&longer), Err(Refusal::NotCanonical));
}

//! What several keys sign: rotations of a history, births of a line; and one signer's two
//! algorithms.

use signet_agent::anchor::Anchors;
use signet_agent::cose::{self, Message};
use signet_agent::identity::{Created, Document, VerifiedDocument, create};
use signet_agent::lineage::{Birth, VerifiedLineage};
use signet_agent::object::{Object, Signed};
use signet_agent::receipt::Receipt;
use signet_agent::{Alg, Refusal, Result, SigningKeys, Suite};

use super::objects::{cast, document};

fn signatures(message: &[u8]) -> Vec<(Alg, Vec<u8>)> {
    let message = Message::parse(message).expect("parsed");
    message
        .signatures()
        .iter()
        .map(|(alg, bytes)| (*alg, bytes.to_vec()))
        .collect()
}

/// The same payload under these signatures.
fn under<T: Object>(object: &Signed<T>, signatures: &[(Alg, Vec<u8>)]) -> Signed<T> {
    Signed::parse(cose::assemble(object.payload(), signatures).expect("assembled"))
        .expect("well-formed")
}

/// Each message that differs from this one in one signature: changed, left out, doubled, moved.
fn each_change<T: Object>(object: &Signed<T>) -> Vec<(Signed<T>, Refusal)> {
    let own = signatures(object.as_bytes());
    let mut all = Vec::new();
    for i in 0..own.len() {
        let mut changed = own.clone();
        changed[i].1[7] ^= 1;
        all.push((under(object, &changed), Refusal::SignatureInvalid));
        let mut without = own.clone();
        without.remove(i);
        all.push((under(object, &without), Refusal::WrongAlgorithm));
        let mut doubled = own.clone();
        doubled.insert(i, own[i].clone());
        all.push((under(object, &doubled), Refusal::WrongAlgorithm));
        for j in 0..i {
            let mut moved = own.clone();
            moved.swap(i, j);
            let same = own[i].0 == own[j].0;
            let reason = if same {
                Refusal::SignatureInvalid
            } else {
                Refusal::WrongAlgorithm
            };
            all.push((under(object, &moved), reason));
        }
    }
    all
}

fn resigned(body: &Document, keys: &SigningKeys) -> Result<VerifiedDocument> {
    let message = cose::sign(&body.payload(), &[keys]).expect("signed");
    VerifiedDocument::new(Signed::parse(message).expect("well-formed"))
}

#[test]
fn a_step_of_a_history_needs_both_signatures_in_their_order() {
    let cast = cast();
    let second = cast
        .alice
        .document
        .rotate(
            &cast.alice.keys,
            &cast.alice.next,
            super::objects::keys().commitment(),
            "first",
            false,
            2_000,
        )
        .expect("rotated");
    let step = &second.body().rotations[0];
    for (changed, reason) in each_change(step) {
        let mut body = second.body().clone();
        body.rotations[0] = changed;
        assert_eq!(resigned(&body, &cast.alice.next).err(), Some(reason));
    }
}

#[test]
fn the_steps_of_a_history_are_neither_moved_nor_taken_from_another() {
    let cast = cast();
    let (own, swapped) = (document(&cast), cast.bob.document.clone());
    // The current key of the document that `document` makes is not at hand: what is checked comes
    // before its signature.
    let refused = |change: fn(&mut Document)| {
        let mut body = own.body().clone();
        change(&mut body);
        resigned(&body, &cast.bob.keys).err()
    };
    assert_eq!(
        refused(|body| body.rotations.swap(0, 1)),
        Some(Refusal::HistoryBroken)
    );
    assert_eq!(
        refused(|body| drop(body.rotations.remove(0))),
        Some(Refusal::HistoryBroken)
    );
    assert_eq!(
        refused(|body| drop(body.rotations.pop())),
        Some(Refusal::HistoryBroken)
    );
    assert_eq!(
        refused(|body| body.rotations.push(body.rotations[1].clone())),
        Some(Refusal::HistoryBroken)
    );
    assert_eq!(refused(|_| ()), Some(Refusal::SignatureInvalid));
    // Alice's history under Bob's inception.
    let mut body = own.body().clone();
    body.inception = swapped.body().inception.clone();
    assert_eq!(
        resigned(&body, &cast.bob.keys).err(),
        Some(Refusal::IdMismatch)
    );
}

#[test]
fn a_birth_needs_both_signatures_in_their_order() {
    let cast = cast();
    let birth = Birth {
        by: cast.alice.document.by(),
        child: cast.bob.document.by(),
        parent_birth: None,
        authority: vec!["read:a".parse().expect("capability")],
        purpose: String::new(),
        at: 2_000,
    };
    let birth = Signed::sign_birth(&birth, &cast.alice.keys, &cast.bob.keys).expect("signed");
    let documents = [cast.alice.document.clone(), cast.bob.document.clone()];
    let verify = |birth: Signed<Birth>| {
        VerifiedLineage::verify(&[birth], &documents, &Anchors::none()).map(|_| ())
    };
    assert_eq!(verify(birth.clone()), Ok(()));
    for (changed, reason) in each_change(&birth) {
        assert_eq!(verify(changed), Err(reason));
    }
}

#[test]
fn two_algorithms_together_are_both_required_in_their_order() {
    for suite in [Suite::Ed25519MlDsa44, Suite::Ed25519MlDsa65] {
        let agent: Created = create("agent", suite, 1_000).expect("created");
        let body = Receipt::new(agent.document.by(), "action", 2_000);
        let receipt = Signed::sign(&body, &agent.document.signer(&agent.keys)).expect("signed");
        assert_eq!(receipt.verify_by(&agent.document, &Anchors::none()), Ok(()));
        for (changed, reason) in each_change(&receipt) {
            let refused = changed.verify_by(&agent.document, &Anchors::none());
            // What is left of two is a message of one algorithm, whose signature is over another
            // structure.
            assert_eq!(refused, Err(reason), "{suite:?}");
        }
    }
}

//! Histories that are changed, cut or invented.

use super::*;

fn fresh() -> SigningKeys {
    SigningKeys::generate(Suite::Ed25519).expect("generated")
}

/// An identity after `rotations`, with the keys of every epoch and the one after.
fn rotated(rotations: usize, compromised: bool) -> (VerifiedDocument, Vec<SigningKeys>) {
    let created = create("alice", Suite::Ed25519, 1_000).expect("created");
    let (mut document, mut keys) = (created.document, vec![created.keys, created.next]);
    for n in 0..rotations {
        let following = fresh();
        let at = 2_000 + n as u64;
        document = document
            .rotate(
                &keys[n],
                &keys[n + 1],
                following.set().commitment(),
                "yearly",
                compromised,
                at,
            )
            .expect("rotated");
        keys.push(following);
    }
    (document, keys)
}

fn resigned(body: &Document, keys: &SigningKeys) -> Result<VerifiedDocument> {
    VerifiedDocument::new(Signed::sign_with(body, &[keys])?)
}

// Known fault G8: the id changed at rotation; a history could be cut or forged.
#[test]
fn the_id_stays_the_same_through_rotation() {
    let (first, _) = rotated(0, false);
    let (third, keys) = rotated(3, false);
    assert_eq!(third.body().rotations.len(), 3);
    assert_eq!(third.by().key, 3);
    assert_eq!(third.current().set(), keys[3].set());
    assert_ne!(first.id(), third.id());
    let again = VerifiedDocument::parse(third.signed().as_bytes().to_vec()).expect("verified");
    assert_eq!(
        again.id(),
        AgentId::commit(keys[0].set(), &keys[1].set().commitment())
    );
}

#[test]
fn a_history_that_is_cut_reordered_or_mixed_is_refused() {
    let (document, keys) = rotated(3, false);
    let (other, _) = rotated(3, false);
    // The thief of the third key signs whatever he likes with it.
    for drop in 0..3 {
        let mut body = document.body().clone();
        body.rotations.remove(drop);
        body.by.key = 2;
        assert!(resigned(&body, &keys[3]).is_err(), "{drop}");
    }
    let mut body = document.body().clone();
    body.rotations.swap(0, 1);
    assert_eq!(
        resigned(&body, &keys[3]).err(),
        Some(Refusal::HistoryBroken)
    );
    let mut body = document.body().clone();
    body.rotations[1] = other.body().rotations[1].clone();
    assert_eq!(
        resigned(&body, &keys[3]).err(),
        Some(Refusal::HistoryBroken)
    );
    let mut body = document.body().clone();
    body.rotations.push(body.rotations[2].clone());
    body.by.key = 4;
    assert_eq!(
        resigned(&body, &keys[3]).err(),
        Some(Refusal::HistoryBroken)
    );
    // A key number that the history does not give.
    for key in [0, 2, 4, u64::MAX - 1] {
        let mut body = document.body().clone();
        body.by.key = key;
        assert_eq!(
            resigned(&body, &keys[3]).err(),
            Some(Refusal::HistoryBroken),
            "{key}"
        );
    }
}

#[test]
fn another_inception_is_another_id() {
    let (document, keys) = rotated(0, false);
    let stranger = fresh();
    let mut body = document.body().clone();
    body.inception = stranger.set().clone();
    assert_eq!(resigned(&body, &stranger).err(), Some(Refusal::IdMismatch));
    let mut body = document.body().clone();
    body.next = stranger.set().commitment();
    assert_eq!(resigned(&body, &keys[0]).err(), Some(Refusal::IdMismatch));
    // The document of Alice signed by Mallory.
    assert_eq!(
        resigned(document.body(), &stranger).err(),
        Some(Refusal::SignatureInvalid)
    );
}

#[test]
fn the_current_key_alone_cannot_rotate() {
    let (document, keys) = rotated(1, false);
    let thief = fresh();
    let refused = document.rotate(&keys[1], &thief, thief.set().commitment(), "", false, 9_000);
    assert_eq!(refused.err(), Some(Refusal::NextKeyMismatch));
    // By hand: a rotation to a key that was never committed to.
    let rotation = Rotation {
        by: document.by(),
        previous: document.head,
        keys: thief.set().clone(),
        next: thief.set().commitment(),
        reason: String::new(),
        compromised: false,
        at: 9_000,
    };
    let mut body = document.body().clone();
    body.rotations
        .push(Signed::sign_with(&rotation, &[&keys[1], &thief]).expect("signed"));
    body.by.key = 2;
    assert_eq!(
        resigned(&body, &thief).err(),
        Some(Refusal::NextKeyMismatch)
    );
}

#[test]
fn a_step_needs_both_signatures() {
    let (document, keys) = rotated(0, false);
    let following = fresh();
    let rotation = Rotation {
        by: document.by(),
        previous: document.head,
        keys: keys[1].set().clone(),
        next: following.set().commitment(),
        reason: String::new(),
        compromised: false,
        at: 2_000,
    };
    let attempt = |signers: &[&SigningKeys]| {
        let mut body = document.body().clone();
        body.rotations
            .push(Signed::sign_with(&rotation, signers).expect("signed"));
        body.by.key = 1;
        resigned(&body, &keys[1]).map(|_| ())
    };
    assert_eq!(attempt(&[&keys[0], &keys[1]]), Ok(()));
    assert_eq!(
        attempt(&[&keys[1], &keys[0]]),
        Err(Refusal::SignatureInvalid)
    );
    assert_eq!(attempt(&[&keys[0]]), Err(Refusal::WrongAlgorithm));
    assert_eq!(attempt(&[&keys[1]]), Err(Refusal::WrongAlgorithm));
    assert_eq!(
        attempt(&[&following, &keys[1]]),
        Err(Refusal::SignatureInvalid)
    );
    assert_eq!(
        attempt(&[&keys[0], &following]),
        Err(Refusal::SignatureInvalid)
    );
}

#[test]
fn a_compromised_key_counts_only_for_what_a_log_had_taken_in_before() {
    let (document, _) = rotated(1, true);
    let object = Hash([7; 32]);
    let key = |anchors: &Anchors| document.key_for(0, &object, anchors).map(|_| ());
    assert_eq!(key(&Anchors::none()), Err(Refusal::KeyCompromised));
    let mut anchors = Anchors::none();
    anchors.add(object, 2_000);
    assert_eq!(key(&anchors), Err(Refusal::KeyCompromised), "not before");
    anchors.add(object, 1_999);
    assert_eq!(key(&anchors), Ok(()));
    assert!(document.key_for(1, &object, &Anchors::none()).is_ok());
    assert_eq!(
        document.key_for(2, &object, &anchors).err(),
        Some(Refusal::UnknownKey)
    );
    let (ordinary, _) = rotated(1, false);
    assert!(ordinary.key_for(0, &object, &Anchors::none()).is_ok());
}

#[test]
fn an_identity_may_rotate_to_another_algorithm() {
    for suite in Suite::ALL {
        let old = fresh();
        let next = SigningKeys::generate(suite).expect("generated");
        let created = create_from("alice", old, next, 0).expect("created");
        let after = fresh().set().commitment();
        let rotated =
            created
                .document
                .rotate(&created.keys, &created.next, after, "stronger", false, 5);
        assert_eq!(rotated.expect("rotated").current().set().suite(), suite);
    }
}

#[test]
fn a_later_document_continues_the_earlier_one() {
    let created = create("alice", Suite::Ed25519, 1).expect("created");
    let after = fresh().set().commitment();
    let later = created
        .document
        .rotate(&created.keys, &created.next, after, "", false, 5)
        .expect("rotated");
    let fork = created
        .document
        .rotate(&created.keys, &created.next, after, "x", false, 5)
        .expect("rotated");
    assert!(created.document.is_continued_by(&later));
    assert!(!later.is_continued_by(&created.document));
    assert!(!later.is_continued_by(&fork));
}

#[test]
fn names_and_reasons_are_bounded_and_printable() {
    for name in ["", "a\nb", "\u{1b}[31m", &"x".repeat(MAX_NAME + 1)] {
        assert_eq!(
            create(name, Suite::Ed25519, 0).err(),
            Some(Refusal::InvalidValue)
        );
    }
}

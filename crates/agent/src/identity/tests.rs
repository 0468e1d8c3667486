//! Histories that are changed, cut or invented.

use super::*;
use crate::anchor::Anchors;
use signet_crypto::Secret;

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
        compromised_keys: Vec::new(),
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
        compromised_keys: Vec::new(),
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
    let key = |anchors: &Anchors| {
        document
            .key_for(0, &object, Some(1_500), anchors)
            .map(|_| ())
    };
    assert_eq!(key(&Anchors::none()), Err(Refusal::KeyCompromised));
    let mut anchors = Anchors::none();
    anchors.add(object, 2_000);
    assert_eq!(key(&anchors), Err(Refusal::KeyCompromised), "not before");
    anchors.add(object, 1_999);
    assert_eq!(key(&anchors), Ok(()));
    let none = Anchors::none();
    assert!(document.key_for(1, &object, Some(1_500), &none).is_ok());
    assert_eq!(
        document.key_for(2, &object, Some(1_500), &anchors).err(),
        Some(Refusal::UnknownKey)
    );
}

#[test]
fn a_retired_key_speaks_only_for_what_was_issued_while_it_was_current() {
    let (document, _) = rotated(1, false);
    let object = Hash([7; 32]);
    let key = |number, issued, anchors: &Anchors| {
        document
            .key_for(number, &object, issued, anchors)
            .map(|_| ())
    };
    let none = Anchors::none();
    assert_eq!(key(0, Some(2_000), &none), Ok(()));
    assert_eq!(key(0, Some(2_001), &none), Err(Refusal::RetiredKey));
    assert_eq!(key(0, None, &none), Err(Refusal::RetiredKey), "about now");
    assert_eq!(key(1, None, &none), Ok(()));
    assert_eq!(key(1, Some(9_000), &none), Ok(()));
    // A log's word is worth more than the signer's date, and a verifier may want it.
    let mut anchors = Anchors::none();
    anchors.add(object, 1_999);
    assert_eq!(key(0, Some(2_001), &anchors), Ok(()));
    assert_eq!(key(0, None, &anchors), Ok(()));
    let mut demanded = Anchors::demanded();
    assert_eq!(key(0, Some(1_500), &demanded), Err(Refusal::RetiredKey));
    assert_eq!(key(1, Some(1_500), &demanded), Ok(()), "the current key");
    demanded.add(object, 1_999);
    assert_eq!(key(0, Some(1_500), &demanded), Ok(()));
}

fn give_up(
    document: &VerifiedDocument,
    keys: &[SigningKeys],
    compromised_keys: &[CompromisedKey],
) -> Result<VerifiedDocument> {
    let notice = RotationNotice {
        reason: "found stolen",
        compromised: false,
        compromised_keys,
    };
    document.rotate_with(
        &keys[keys.len() - 2],
        &keys[keys.len() - 1],
        fresh().set().commitment(),
        notice,
        9_000,
    )
}

#[test]
fn a_later_rotation_gives_up_earlier_keys_from_a_time_on() {
    let (document, keys) = rotated(2, false);
    let since = |key, since| CompromisedKey { key, since };
    let later = give_up(&document, &keys, &[since(0, 1_700)]).expect("rotated");
    let object = Hash([7; 32]);
    let key = |number, anchors: &Anchors| {
        later
            .key_for(number, &object, Some(1_500), anchors)
            .map(|_| ())
    };
    let mut anchors = Anchors::none();
    assert_eq!(key(0, &anchors), Err(Refusal::KeyCompromised));
    assert_eq!(key(1, &anchors), Ok(()), "the good key stays good");
    anchors.add(object, 1_700);
    assert_eq!(key(0, &anchors), Err(Refusal::KeyCompromised));
    anchors.add(object, 1_699);
    assert_eq!(key(0, &anchors), Ok(()));
    let states = later.key_states();
    assert_eq!(
        states[0],
        KeyState {
            number: 0,
            from: 1_000,
            retired: Some(2_000),
            compromised: Some(1_700)
        }
    );
    assert_eq!((states[3].from, states[3].retired), (9_000, None));
    // It is read back, and a key given up twice is given up since the earlier time.
    let again = VerifiedDocument::parse(later.signed().as_bytes().to_vec()).expect("verified");
    assert_eq!(again.key_states(), states);
    for (wrong, reason) in [
        (vec![since(3, 1)], Refusal::InvalidValue),
        (vec![since(0, 9_001)], Refusal::InvalidValue),
        (vec![since(1, 1), since(0, 1)], Refusal::NotCanonical),
        (vec![since(0, 1), since(0, 2)], Refusal::NotCanonical),
    ] {
        assert_eq!(give_up(&document, &keys, &wrong).err(), Some(reason));
    }
}

#[test]
fn the_next_key_is_none_that_was_used_before() {
    let own = fresh();
    let same = |keys: &SigningKeys| {
        let seeds = keys.seeds().iter().map(|seed| Secret::new(*seed.expose()));
        SigningKeys::from_seeds(keys.set().suite(), seeds.collect()).expect("keys")
    };
    let refused = create_from("alice", same(&own), same(&own), 1);
    assert_eq!(refused.err(), Some(Refusal::KeyReused));
    let (document, keys) = rotated(2, false);
    for used in &keys[..3] {
        let refused = document.rotate(
            &keys[2],
            &keys[3],
            used.set().commitment(),
            "",
            false,
            9_000,
        );
        assert_eq!(refused.err(), Some(Refusal::KeyReused));
    }
    // Half of a suite is a used key, too.
    let seed = |keys: &SigningKeys| Secret::new(*keys.seeds()[0].expose());
    let half = SigningKeys::from_seeds(
        Suite::Ed25519MlDsa44,
        vec![seed(&own), Secret::new([7; 32])],
    )
    .expect("keys");
    let created = create_from("alice", same(&own), half, 1).expect("the commitment is a hash");
    let refused = created.document.rotate(
        &created.keys,
        &created.next,
        fresh().set().commitment(),
        "",
        false,
        2,
    );
    assert_eq!(refused.err(), Some(Refusal::KeyReused));
}

#[test]
fn a_step_of_the_future_is_not_taken_yet() {
    let (document, _) = rotated(1, false);
    assert_eq!(document.check_time(1_989, 10), Err(Refusal::NotYetValid));
    assert_eq!(document.check_time(1_990, 10), Ok(()));
    let (bricked, keys) = rotated(0, false);
    let bricked = bricked
        .rotate(
            &keys[0],
            &keys[1],
            fresh().set().commitment(),
            "",
            false,
            u64::MAX,
        )
        .expect("rotated");
    assert_eq!(
        bricked.check_time(2_000, u64::MAX - 2_001),
        Err(Refusal::NotYetValid)
    );
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
    for name in [
        "",
        "a\nb",
        "\u{1b}[31m",
        "a\u{202e}txt.live",
        "\u{200b}",
        "x\u{2028}y",
        &"x".repeat(MAX_NAME + 1),
    ] {
        assert_eq!(
            create(name, Suite::Ed25519, 0).err(),
            Some(Refusal::InvalidValue)
        );
    }
}

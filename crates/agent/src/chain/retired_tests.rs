//! What a key may still say after a rotation.

use super::tests::{NOW, Scene, outcome};
use super::*;
use crate::identity::{CompromisedKey, Created, RotationNotice};
use crate::keys::{SigningKeys, Suite};
use crate::lineage::Birth;
use crate::log::{Checkpoint, Tree};
use crate::object::Signer;
use crate::revocation::{Revocation, Target};

const AUDIENCE: &str = "https://api.example";

/// When the rotations of these tests were made.
const ROTATED: u64 = NOW - 100;

fn fresh() -> SigningKeys {
    SigningKeys::generate(Suite::Ed25519).expect("generated")
}

fn rotated(who: &Created, at: u64) -> VerifiedDocument {
    who.document
        .rotate(
            &who.keys,
            &who.next,
            fresh().set().commitment(),
            "the laptop was sold",
            false,
            at,
        )
        .expect("rotated")
}

/// A grant of the scene's kind, by the key that `keys` is.
fn granted(
    (from, keys): (KeyRef, &SigningKeys),
    to: &VerifiedDocument,
    issued: u64,
    parent: Option<&Signed<Grant>>,
) -> Signed<Grant> {
    let what = "read:files/a".parse().expect("a capability");
    let mut body = Grant::new(from, to, vec![what], issued, 3_600);
    body.max_depth = if parent.is_some() { 0 } else { 2 };
    if let Some(parent) = parent {
        body = body.under(parent).expect("narrower");
    }
    Signed::sign(&body, &Signer { by: from, keys }).expect("signed")
}

#[test]
fn a_retired_key_grants_nothing_after_its_rotation() {
    let scene = Scene::new();
    let root = rotated(&scene.alice, ROTATED);
    let (old, new) = (scene.alice.document.by(), root.by());
    let mut check = scene.check();
    check.root = &root;
    for (by, keys, issued, expected) in [
        (old, &scene.alice.keys, ROTATED, Ok(())),
        (
            old,
            &scene.alice.keys,
            ROTATED + 1,
            Err((0, Refusal::RetiredKey)),
        ),
        (new, &scene.alice.next, NOW, Ok(())),
    ] {
        let links = [granted((by, keys), &scene.bob.document, issued, None)];
        assert_eq!(outcome(&check, &links), expected, "{by:?} at {issued}");
    }
    // That a date is before the rotation is the signer's word. A verifier may want a log's.
    let links = [granted(
        (old, &scene.alice.keys),
        &scene.bob.document,
        ROTATED,
        None,
    )];
    let demanded = Anchors::demanded();
    check.anchors = &demanded;
    assert_eq!(outcome(&check, &links), Err((0, Refusal::RetiredKey)));
    let mut anchors = Anchors::demanded();
    anchors.add(links[0].id(), ROTATED - 1);
    check.anchors = &anchors;
    assert_eq!(outcome(&check, &links), Ok(()));
}

#[test]
fn a_retired_key_delegates_nothing_that_was_granted_to_its_successor() {
    let scene = Scene::new();
    let documents = [rotated(&scene.bob, ROTATED)];
    let root = (scene.alice.document.by(), &scene.alice.keys);
    let first = granted(root, &documents[0], ROTATED, None);
    let old = (scene.bob.document.by(), &scene.bob.keys);
    let new = (documents[0].by(), &scene.bob.next);
    let mut check = scene.check();
    check.documents = &documents;
    for (by, expected) in [(old, Err((1, Refusal::RetiredKey))), (new, Ok(()))] {
        let links = [
            first.clone(),
            granted(by, &scene.carol.document, ROTATED, Some(&first)),
        ];
        assert_eq!(outcome(&check, &links), expected);
    }
}

#[test]
fn a_retired_key_proves_no_possession() {
    let scene = Scene::new();
    let documents = [rotated(&scene.bob, ROTATED)];
    let root = (scene.alice.document.by(), &scene.alice.keys);
    let prove = |grant: &Signed<Grant>, by: KeyRef, keys: &SigningKeys| {
        let body = Proof {
            by,
            grant: grant.id(),
            audience: AUDIENCE.into(),
            // Dated before the rotation: possession is about now, so the date helps nothing.
            at: ROTATED,
            nonce: Vec::new(),
            method: None,
        };
        Signed::sign(&body, &Signer { by, keys }).expect("signed")
    };
    let expected = Expected {
        audience: AUDIENCE,
        nonce: None,
        max_age: 3_600,
    };
    for pinned in [&scene.bob.document, &documents[0]] {
        let links = [granted(root, pinned, ROTATED, None)];
        for (by, keys, answer) in [
            (
                scene.bob.document.by(),
                &scene.bob.keys,
                Err((1, Refusal::RetiredKey)),
            ),
            (documents[0].by(), &scene.bob.next, Ok(())),
        ] {
            let proof = prove(&links[0], by, keys);
            let mut check = scene.check();
            check.documents = &documents;
            check.proof = Some((&proof, expected));
            assert_eq!(outcome(&check, &links), answer);
        }
    }
}

#[test]
fn a_retired_key_revokes_nothing_unless_a_log_had_it() {
    let scene = Scene::new();
    let newest = rotated(&scene.alice, ROTATED);
    let body = Revocation {
        by: scene.alice.document.by(),
        target: Target::Agent(scene.alice.document.id()),
        reason: String::new(),
        at: ROTATED - 10,
    };
    let signer = scene.alice.document.signer(&scene.alice.keys);
    let signed = Signed::sign(&body, &signer).expect("signed");
    let mut revocations = Revocations::as_of(NOW);
    let add = |revocations: &mut Revocations, anchors: &Anchors| {
        revocations.add(signed.as_bytes(), &newest, anchors)
    };
    assert_eq!(
        add(&mut revocations, &Anchors::none()),
        Err(Refusal::RetiredKey)
    );
    let mut anchors = Anchors::none();
    anchors.add(signed.id(), ROTATED - 1);
    assert_eq!(add(&mut Revocations::as_of(NOW), &anchors), Ok(()));
}

#[test]
fn a_declaration_outlives_its_key_where_it_was_verified_before_and_nowhere_else() {
    let scene = Scene::new();
    let links = scene.links();
    let body = Declaration {
        by: scene.bob.document.by(),
        capabilities: vec!["read:files/a".parse().expect("a capability")],
        reason: String::new(),
        from: 1,
        until: None,
    };
    let signer = scene.bob.document.signer(&scene.bob.keys);
    let declared = [Signed::sign(&body, &signer).expect("signed")];
    let documents = [rotated(&scene.bob, ROTATED)];
    // Bob's links of the scene are by his first key, dated after its end: these are by the second.
    let links = [
        links[0].clone(),
        granted(
            (documents[0].by(), &scene.bob.next),
            &scene.carol.document,
            NOW,
            Some(&links[0]),
        ),
    ];
    let mut check = scene.check();
    check.documents = &documents;
    assert_eq!(outcome(&check, &links), Ok(()));
    check.declarations = &declared;
    assert_eq!(outcome(&check, &links), Err((0, Refusal::RetiredKey)));
    check.declarations = &[];
    check.kept_declarations = &declared;
    assert_eq!(outcome(&check, &links), Err((0, Refusal::DeclaredRefusal)));
}

#[test]
fn a_key_that_was_found_stolen_after_its_rotation_is_given_up_by_a_later_one() {
    let scene = Scene::new();
    let links = scene.links();
    let (second, third) = (&scene.alice.next, fresh());
    let once = scene
        .alice
        .document
        .rotate(
            &scene.alice.keys,
            second,
            third.set().commitment(),
            "yearly",
            false,
            NOW,
        )
        .expect("rotated");
    let by_second = [granted((once.by(), second), &scene.bob.document, NOW, None)];
    let stolen = [CompromisedKey {
        key: 0,
        since: NOW - 500,
    }];
    let notice = RotationNotice {
        reason: "the old laptop was read",
        compromised: false,
        compromised_keys: &stolen,
    };
    let twice = once
        .rotate_with(second, &third, fresh().set().commitment(), notice, NOW)
        .expect("rotated");
    let mut check = scene.check();
    check.root = &once;
    assert_eq!(outcome(&check, &links), Ok(()));
    check.root = &twice;
    assert_eq!(outcome(&check, &links), Err((0, Refusal::KeyCompromised)));
    assert_eq!(outcome(&check, &by_second), Ok(()), "the good key stays");
    let mut anchors = Anchors::none();
    anchors.add(links[0].id(), NOW - 501);
    check.anchors = &anchors;
    assert_eq!(outcome(&check, &links), Ok(()), "a log had it before");
}

#[test]
fn the_newest_of_several_documents_counts_in_whatever_order_they_stand() {
    let scene = Scene::new();
    let lost = |who: &Created| {
        who.document
            .rotate(
                &who.keys,
                &who.next,
                fresh().set().commitment(),
                "stolen",
                true,
                ROTATED,
            )
            .expect("rotated")
    };
    let birth = Birth {
        by: scene.alice.document.by(),
        child: scene.bob.document.by(),
        parent_birth: None,
        authority: vec!["read:*".parse().expect("a capability")],
        purpose: String::new(),
        at: ROTATED - 1,
    };
    let births = [Signed::sign_birth(&birth, &scene.alice.keys, &scene.bob.keys).expect("signed")];
    let (stale, newest) = (scene.alice.document.clone(), lost(&scene.alice));
    let bob = scene.bob.document.clone();
    for documents in [
        [stale.clone(), newest.clone(), bob.clone()],
        [newest, stale, bob],
    ] {
        let refused = VerifiedLineage::verify(&births, &documents, &Anchors::none());
        assert_eq!(refused.err(), Some(Refusal::KeyCompromised));
    }
}

#[test]
fn a_rotation_of_the_future_counts_for_nobody() {
    let scene = Scene::new();
    let root = rotated(&scene.alice, u64::MAX);
    let mut check = scene.check();
    check.root = &root;
    // Otherwise the first key would speak on until then.
    assert_eq!(
        outcome(&check, &scene.links()),
        Err((0, Refusal::NotYetValid))
    );
    let root = rotated(&scene.alice, NOW + 10);
    check.root = &root;
    check.leeway = 10;
    assert_eq!(outcome(&check, &scene.links()), Ok(()));
}

#[test]
fn a_logs_last_checkpoint_is_by_its_current_key() {
    let scene = Scene::new();
    let log = &scene.alice;
    let newest = rotated(log, ROTATED);
    let (old, new) = (log.document.signer(&log.keys), newest.signer(&log.next));
    let mut tree = Tree::default();
    tree.append(b"first");
    let first = Checkpoint::sign(&tree, &old, ROTATED - 1).expect("signed");
    let none = Anchors::none();
    assert_eq!(first.verify(&log.document, &none), Ok(()));
    assert_eq!(first.verify(&newest, &none), Err(Refusal::RetiredKey));
    let verify = |entries: &[&[u8]], checkpoints: &[Checkpoint]| {
        let entries = entries.iter().copied();
        crate::log::verify(entries, checkpoints, None, &newest, &none).map(|_| ())
    };
    assert_eq!(
        verify(&[b"first"], std::slice::from_ref(&first)),
        Err(Refusal::RetiredKey)
    );
    tree.append(b"second");
    let by = |signer: &Signer<'_>, at| Checkpoint::sign(&tree, signer, at).expect("signed");
    let entries: [&[u8]; 2] = [b"first", b"second"];
    assert_eq!(verify(&entries, &[first.clone(), by(&new, NOW)]), Ok(()));
    assert_eq!(
        verify(&entries, &[first.clone(), by(&old, ROTATED)]),
        Err(Refusal::RetiredKey)
    );
    let later = by(&old, ROTATED + 1);
    assert_eq!(
        verify(&entries, &[first, later, by(&new, NOW)]),
        Err(Refusal::RetiredKey),
        "a checkpoint of the old key, made after its end"
    );
}

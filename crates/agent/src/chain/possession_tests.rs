//! Proofs of possession by certified keys.

use super::tests::{NOW, Scene, outcome};
use super::*;
use crate::identity::Created;
use crate::keys::{SigningKeys, Suite};
use crate::method::{Method, Purpose};

const AUDIENCE: &str = "https://api.example";

fn keys() -> SigningKeys {
    SigningKeys::generate(Suite::Ed25519).expect("generated")
}

fn certificate(holder: &Created, purpose: Purpose, name: &str, of: &SigningKeys) -> Method {
    Method {
        by: holder.document.by(),
        purpose,
        name: name.into(),
        keys: of.set().clone(),
        not_before: NOW - 60,
        not_after: NOW + 60,
    }
}

fn certify(holder: &Created, method: &Method) -> Signed<Method> {
    Signed::sign(method, &holder.document.signer(&holder.keys)).expect("certified")
}

/// A proof by the further key, with its certificate.
fn prove(
    holder: &Created,
    grant: &Signed<Grant>,
    method: Signed<Method>,
    by: &SigningKeys,
) -> Signed<Proof> {
    let body = Proof {
        by: holder.document.by(),
        grant: grant.id(),
        audience: AUDIENCE.into(),
        at: NOW,
        nonce: Vec::new(),
        method: Some(method),
    };
    Signed::sign_with(&body, &[by]).expect("signed")
}

fn answer(
    check: &Check<'_>,
    links: &[Signed<Grant>],
    proof: &Signed<Proof>,
) -> std::result::Result<(), (usize, Refusal)> {
    let expected = Expected {
        audience: AUDIENCE,
        nonce: None,
        max_age: 60,
    };
    let mut check = *check;
    check.proof = Some((proof, expected));
    outcome(&check, links)
}

#[test]
fn a_certified_key_proves_possession_for_its_purpose_until_its_end() {
    let scene = Scene::new();
    let (links, further) = (scene.links(), keys());
    let carol = &scene.carol;
    let by = |method: &Method| {
        let proof = prove(carol, &links[1], certify(carol, method), &further);
        answer(&scene.check(), &links, &proof)
    };
    let of = |purpose, name| certificate(carol, purpose, name, &further);
    for good in [
        of(Purpose::Session, "laptop"),
        of(Purpose::Device, "phone"),
        of(Purpose::Capability, "read:files/*"),
        of(Purpose::Capability, "read:files/a"),
    ] {
        assert_eq!(by(&good), Ok(()), "{good:?}");
    }
    for (purpose, name) in [
        (Purpose::Capability, "write:files/a"),
        (Purpose::Capability, "read:files/b"),
        (Purpose::Capability, "no capability"),
    ] {
        assert_eq!(
            by(&of(purpose, name)),
            Err((2, Refusal::MethodRefused)),
            "{name}"
        );
    }
    let mut late = of(Purpose::Session, "laptop");
    late.not_after = NOW - 1;
    assert_eq!(by(&late), Err((2, Refusal::Expired)));
    let mut early = of(Purpose::Session, "laptop");
    early.not_before = NOW + 1;
    assert_eq!(by(&early), Err((2, Refusal::NotYetValid)));
}

#[test]
fn the_certificate_bounds_how_long_the_answer_counts() {
    let scene = Scene::new();
    let (links, further) = (scene.links(), keys());
    let method = certificate(&scene.carol, Purpose::Session, "laptop", &further);
    let proof = prove(
        &scene.carol,
        &links[1],
        certify(&scene.carol, &method),
        &further,
    );
    let mut check = scene.check();
    check.proof = Some((
        &proof,
        Expected {
            audience: AUDIENCE,
            nonce: None,
            max_age: 60,
        },
    ));
    let accepted = check.run(&links).expect("accepted");
    assert_eq!(accepted.not_after, NOW + 60);
    assert_eq!(accepted.holder, scene.carol.document.by());
    // A certificate is remembered, a proof is not.
    let mut cache = Cache::default();
    check.run_cached(&links, &mut cache).expect("accepted");
    assert_eq!(cache.len(), links.len() + 1);
}

#[test]
fn a_certificate_that_the_holder_did_not_sign_is_refused() {
    let scene = Scene::new();
    let (links, further) = (scene.links(), keys());
    let check = scene.check();
    let method = certificate(&scene.carol, Purpose::Session, "laptop", &further);
    let good = certify(&scene.carol, &method);
    assert_eq!(
        answer(
            &check,
            &links,
            &prove(&scene.carol, &links[1], good.clone(), &further)
        ),
        Ok(())
    );
    // Signed by somebody else in Carol's name.
    let forged = Signed::sign_with(&method, &[&scene.mallory.keys]).expect("signed");
    let proof = prove(&scene.carol, &links[1], forged, &further);
    assert_eq!(
        answer(&check, &links, &proof),
        Err((2, Refusal::SignatureInvalid))
    );
    // Mallory's own certificate, in Carol's proof.
    let others = certify(
        &scene.mallory,
        &certificate(&scene.mallory, Purpose::Session, "laptop", &further),
    );
    let proof = prove(&scene.carol, &links[1], others, &further);
    assert_eq!(
        answer(&check, &links, &proof),
        Err((2, Refusal::WrongSigner))
    );
    // Carol's certificate, and a proof by another key than the one it names.
    let proof = prove(&scene.carol, &links[1], good.clone(), &scene.mallory.keys);
    assert_eq!(
        answer(&check, &links, &proof),
        Err((2, Refusal::SignatureInvalid))
    );
    // The further key without its certificate is nobody's.
    let mut body = prove(&scene.carol, &links[1], good, &further)
        .body()
        .clone();
    body.method = None;
    let bare = Signed::sign_with(&body, &[&further]).expect("signed");
    assert_eq!(
        answer(&check, &links, &bare),
        Err((2, Refusal::SignatureInvalid))
    );
}

#[test]
fn a_further_key_grants_nothing() {
    let scene = Scene::new();
    let (links, further) = (scene.links(), keys());
    let forged = Signed::sign_with(links[0].body(), &[&further]).expect("signed");
    assert_eq!(
        scene.outcome(&[forged]),
        Err((0, Refusal::SignatureInvalid))
    );
}

#[test]
fn a_certificate_ends_with_its_key_unless_the_new_document_lists_it() {
    let scene = Scene::new();
    let (links, further) = (scene.links(), keys());
    let method = certificate(&scene.carol, Purpose::Device, "phone", &further);
    let proof = prove(
        &scene.carol,
        &links[1],
        certify(&scene.carol, &method),
        &further,
    );
    let carol: &Created = &scene.carol;
    let rotated = |compromised| {
        carol
            .document
            .rotate(
                &carol.keys,
                &carol.next,
                keys().set().commitment(),
                "",
                compromised,
                NOW,
            )
            .expect("rotated")
    };
    // A thief of the first key could certify keys of his own after the rotation: the date in a
    // certificate is his word.
    for (compromised, expected) in [
        (false, Err((2, Refusal::RetiredKey))),
        (true, Err((2, Refusal::KeyCompromised))),
    ] {
        let documents = [rotated(compromised)];
        let mut check = scene.check();
        check.documents = &documents;
        assert_eq!(answer(&check, &links, &proof), expected);
    }
    let listed = carol
        .document
        .amend(&carol.keys, |document| {
            let certificate = proof.body().method.clone();
            document.methods.extend(certificate);
        })
        .expect("amended");
    let documents = [listed
        .rotate(
            &carol.keys,
            &carol.next,
            keys().set().commitment(),
            "",
            false,
            NOW,
        )
        .expect("rotated")];
    let mut check = scene.check();
    check.documents = &documents;
    assert_eq!(answer(&check, &links, &proof), Ok(()));
}

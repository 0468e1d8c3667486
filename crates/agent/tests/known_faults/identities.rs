//! Identities, their files and their ids.

use signet_agent::anchor::Anchors;
use signet_agent::file::{IdentityFile, Kind};
use signet_agent::identity::{Created, VerifiedDocument};
use signet_agent::object::{Object, Signed};
use signet_agent::receipt::Receipt;
use signet_agent::{AgentId, Hash, Refusal, cose};

use super::scene::Verifier;
use crate::common::{NOW, agent, forge, fresh, grant};

#[test]
fn g03_an_object_that_names_alice_and_is_signed_by_mallory_is_refused() {
    let (alice, bob, mallory) = (agent("alice"), agent("bob"), agent("mallory"));
    let receipt = Receipt::new(alice.document.by(), "decision", NOW);
    let forged = forge(&receipt, &mallory.keys);
    assert_eq!(
        forged.verify_by(&alice.document, &Anchors::none()),
        Err(Refusal::SignatureInvalid)
    );
    assert_eq!(
        forged.verify_by(&mallory.document, &Anchors::none()),
        Err(Refusal::WrongSigner)
    );
    let forged = forge(&grant(&alice, &bob, "read:files/*", 0), &mallory.keys);
    assert_eq!(
        Verifier::of(&alice).grants(&[forged]),
        Err(Refusal::SignatureInvalid)
    );
    // A document with Alice's id and Mallory's key: the id is recomputed.
    let mut body = alice.document.body().clone();
    body.inception = mallory.keys.set().clone();
    let forged = VerifiedDocument::new(forge(&body, &mallory.keys));
    assert_eq!(forged.err(), Some(Refusal::IdMismatch));
}

#[test]
fn g08_the_id_stays_and_no_history_can_be_cut_or_forged() {
    let alice = agent("alice");
    let (third, mallory) = (fresh(), fresh());
    let second = alice
        .document
        .rotate(
            &alice.keys,
            &alice.next,
            third.set().commitment(),
            "",
            false,
            NOW,
        )
        .expect("rotated");
    assert_eq!(second.id(), alice.document.id());
    assert_ne!(second.current().set(), alice.document.current().set());
    // Cut: the document without its history is signed by a key that the inception does not know.
    let mut body = second.body().clone();
    body.rotations.clear();
    let cut = VerifiedDocument::new(forge(&body, &alice.next));
    assert_eq!(cut.err(), Some(Refusal::HistoryBroken));
    body.by.key = 0;
    let cut = VerifiedDocument::new(forge(&body, &alice.next));
    assert_eq!(cut.err(), Some(Refusal::SignatureInvalid));
    // Forged: the thief of the current key rotates to one that it never committed to.
    let mut step = second.body().rotations[0].body().clone();
    step.keys = mallory.set().clone();
    let message = cose::sign(&step.payload(), &[&alice.keys, &mallory]).expect("signed");
    let mut body = second.body().clone();
    body.rotations = vec![Signed::parse(message).expect("well-formed")];
    let forged = VerifiedDocument::new(forge(&body, &mallory));
    assert_eq!(forged.err(), Some(Refusal::NextKeyMismatch));
}

#[test]
fn g13_there_is_no_built_in_passphrase_and_neither_half_can_be_swapped() {
    let seal = |created: &Created, passphrase: &[u8]| {
        IdentityFile::seal_cheaply(Kind::Current, &created.document, &created.keys, passphrase)
    };
    let (alice, mallory) = (agent("alice"), agent("mallory"));
    assert_eq!(seal(&alice, b"").err(), Some(Refusal::PassphraseRefused));
    let file = seal(&alice, b"correct").expect("sealed");
    assert!(file.open(b"correct").is_ok());
    for guess in [
        "",
        "password",
        "default",
        "agentic-identity",
        "signet",
        "changeme",
    ] {
        assert!(file.open(guess.as_bytes()).is_err(), "{guess}");
    }
    // Two files under one passphrase share no salt, so neither opens the other.
    let (whole, others) = (
        file.to_bytes(),
        seal(&mallory, b"correct").expect("sealed").to_bytes(),
    );
    let public = alice.document.signed().as_bytes();
    let foreign = mallory.document.signed().as_bytes();
    let at = whole
        .windows(public.len())
        .position(|window| window == public)
        .expect("the public half");
    let start = others
        .windows(foreign.len())
        .position(|window| window == foreign)
        .expect("the public half");
    let halves =
        |data: &[u8], at: usize, len: usize| (data[..at + len].to_vec(), data[at + len..].to_vec());
    let (public_half, sealed_half) = (
        halves(&whole, at, public.len()).0,
        halves(&others, start, foreign.len()).1,
    );
    let mixed = IdentityFile::parse(&[public_half, sealed_half].concat()).expect("well-formed");
    assert_eq!(
        mixed.open(b"correct").err(),
        Some(Refusal::FileNotAuthentic)
    );
}

#[test]
fn g14_an_id_as_a_file_name_stays_in_its_folder() {
    let store = std::path::Path::new("/store");
    for created in (0..64).map(|n| agent(&format!("../{n}"))) {
        let id = created.document.id().to_string();
        let path = store.join(&id);
        assert_eq!(path.parent(), Some(store), "{id}");
        assert_eq!(
            path.file_name().and_then(|name| name.to_str()),
            Some(id.as_str())
        );
        let hash = created.document.signed().id().to_string();
        assert_eq!(store.join(&hash).parent(), Some(store), "{hash}");
    }
    for bad in [
        "agent:../../etc/passwd",
        "agent:..",
        "../agent:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "agent:/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "agent:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/AA",
        "agent:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\0",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ] {
        assert!(bad.parse::<AgentId>().is_err(), "{bad:?}");
    }
    assert!(
        "../../../../../../../../../../../../etc/passwd"
            .parse::<Hash>()
            .is_err()
    );
}

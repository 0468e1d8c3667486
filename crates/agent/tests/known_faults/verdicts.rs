//! What is answered, and who may say what ends.

use signet_agent::anchor::Anchors;
use signet_agent::declaration::Declaration;
use signet_agent::identity::Created;
use signet_agent::lineage::{Birth, VerifiedLineage};
use signet_agent::log::{Checkpoint, ConsistencyProof, InclusionProof, Tree};
use signet_agent::method::{Method, Purpose};
use signet_agent::object::Signed;
use signet_agent::receipt::Receipt;
use signet_agent::revocation::{Revocation, Target};
use signet_agent::{Hash, Refusal, VerifyingKeys};

use super::scene::Verifier;
use crate::common::{NOW, agent, capability, edit, forge, grant, key_set, sign};

#[test]
fn g06_only_those_who_may_revoke_and_an_unreadable_revocation_refuses() {
    let (alice, bob, mallory) = (agent("alice"), agent("bob"), agent("mallory"));
    let links = [sign(&alice, &grant(&alice, &bob, "read:files/*", 0))];
    let revocation = |by: &Created| Revocation {
        by: by.document.by(),
        target: Target::Grant(links[0].id()),
        reason: String::new(),
        at: NOW,
    };
    let mut verifier = Verifier::of(&alice);
    let good = sign(&alice, &revocation(&alice));
    verifier
        .revocations
        .add(good.as_bytes(), &alice.document, &Anchors::none())
        .expect("Alice's");
    assert_eq!(verifier.grants(&links), Err(Refusal::Revoked));
    // Anyone else's does nothing.
    let mut verifier = Verifier::of(&alice);
    let others = sign(&mallory, &revocation(&mallory));
    verifier
        .revocations
        .add(others.as_bytes(), &mallory.document, &Anchors::none())
        .expect("Mallory's own");
    assert_eq!(verifier.grants(&links), Ok(()));
    // In Alice's name with another signature; and bytes that are no revocation: there is no answer
    // then.
    let forged = forge(&revocation(&alice), &mallory.keys);
    for (data, reason) in [
        (forged.as_bytes().to_vec(), Refusal::SignatureInvalid),
        (b"unreadable".to_vec(), Refusal::Malformed),
    ] {
        let mut verifier = Verifier::of(&alice);
        assert_eq!(
            verifier
                .revocations
                .add(&data, &alice.document, &Anchors::none()),
            Err(reason)
        );
        assert_eq!(verifier.grants(&links), Err(Refusal::RevocationUnreadable));
    }
}

#[test]
fn g11_a_childs_authority_needs_its_parents_signature_and_lines_of_descent_end() {
    let (a, b, c) = (agent("a"), agent("b"), agent("c"));
    let documents = [&a, &b, &c].map(|created| created.document.clone());
    let birth = |parent: &Created, child: &Created, before: Option<Hash>, what: &str| Birth {
        by: parent.document.by(),
        child: child.document.by(),
        parent_birth: before,
        authority: vec![capability(what)],
        purpose: String::new(),
        at: NOW,
    };
    let sign = |body: &Birth, parent: &Created, child: &Created| {
        Signed::sign_birth(body, &parent.keys, &child.keys).expect("signed")
    };
    let verify = |births: &[Signed<Birth>]| {
        VerifiedLineage::verify(births, &documents, &Anchors::none())
            .map(|line| line.allows(&capability("read:files/a")))
    };
    let first = sign(&birth(&a, &b, None, "read:files/*"), &a, &b);
    assert_eq!(verify(std::slice::from_ref(&first)), Ok(true));
    // Rewritten to everything: under the old signatures, and with the child's in place of the
    // parent's.
    let rewritten = edit(&first, |birth| birth.authority = vec![capability("*:*")]);
    assert_eq!(verify(&[rewritten]), Err(Refusal::SignatureInvalid));
    let garbage = sign(&birth(&a, &b, None, "*:*"), &b, &b);
    assert_eq!(verify(&[garbage]), Err(Refusal::SignatureInvalid));
    let wider = sign(&birth(&b, &c, Some(first.id()), "*:*"), &b, &c);
    assert_eq!(
        verify(&[first.clone(), wider]),
        Err(Refusal::AuthorityWidened)
    );
    // A child that becomes its parent's parent.
    let back = sign(&birth(&b, &a, Some(first.id()), "read:files/*"), &b, &a);
    assert_eq!(verify(&[first, back]), Err(Refusal::LineageCycle));
}

#[test]
fn g12_no_verdict_is_a_constant_and_nothing_claims_a_proof_that_it_is_not() {
    // Every function that answers yes or no gives both answers, and the difference is one thing.
    let (alice, bob, mallory) = (agent("alice"), agent("bob"), agent("mallory"));
    let none = Anchors::none();
    let receipt = sign(
        &alice,
        &Receipt::new(alice.document.by(), "a", NOW).with_content(b"x"),
    );
    let forged = forge(receipt.body(), &mallory.keys);
    let keys = VerifyingKeys::new(alice.keys.set()).expect("keys");
    let mut log = Tree::default();
    [b"1", b"2", b"3"]
        .iter()
        .for_each(|entry| log.append(*entry));
    let checkpoint =
        Checkpoint::sign(&log, &alice.document.signer(&alice.keys), NOW).expect("signed");
    let inclusion = InclusionProof::of(&log, 1, 3).expect("in range");
    let consistency = ConsistencyProof::of(&log, 2, 3).expect("in range");
    let method = sign(
        &alice,
        &Method {
            by: alice.document.by(),
            purpose: Purpose::Session,
            name: "s".into(),
            keys: key_set(),
            not_before: NOW,
            not_after: NOW,
        },
    );
    let declaration = Declaration {
        by: alice.document.by(),
        capabilities: vec![capability("read:a")],
        reason: String::new(),
        from: NOW,
        until: Some(NOW),
    };
    let links = [sign(&alice, &grant(&alice, &bob, "read:files/*", 0))];
    let verifier = Verifier::of(&alice);
    let verdicts: [(&str, bool, bool); 13] = [
        (
            "Signed::verify",
            receipt.verify(&keys).is_ok(),
            forged.verify(&keys).is_ok(),
        ),
        (
            "Signed::verify_by",
            receipt.verify_by(&alice.document, &none).is_ok(),
            forged.verify_by(&alice.document, &none).is_ok(),
        ),
        (
            "Receipt::check_content",
            receipt.body().check_content(b"x").is_ok(),
            receipt.body().check_content(b"y").is_ok(),
        ),
        (
            "Checkpoint::verify",
            checkpoint.verify(&alice.document, &none).is_ok(),
            checkpoint.verify(&mallory.document, &none).is_ok(),
        ),
        (
            "InclusionProof::root",
            inclusion.root(b"2") == Ok(log.root()),
            inclusion.root(b"1") == Ok(log.root()),
        ),
        (
            "ConsistencyProof::verify",
            consistency.verify(&log.root_at(2), &log.root()).is_ok(),
            consistency.verify(&log.root_at(1), &log.root()).is_ok(),
        ),
        (
            "Method::keys_for",
            method
                .keys_for(Purpose::Session, &alice.document, NOW)
                .is_ok(),
            method
                .keys_for(Purpose::Device, &alice.document, NOW)
                .is_ok(),
        ),
        (
            "Declaration::forbids",
            declaration.forbids(&capability("read:a"), NOW),
            declaration.forbids(&capability("read:b"), NOW),
        ),
        (
            "Grant::allows",
            links[0].body().allows(&capability("read:files/a")),
            links[0].body().allows(&capability("write:files/a")),
        ),
        (
            "Check::run",
            verifier.grants(&links).is_ok(),
            Verifier::of(&bob).grants(&links).is_ok(),
        ),
        (
            "Anchors::before",
            {
                let mut a = Anchors::none();
                a.add(receipt.id(), 1);
                a.before(&receipt.id(), 2)
            },
            none.before(&receipt.id(), 2),
        ),
        (
            "Capability::covers",
            capability("read:*").covers(&capability("read:a")),
            capability("read:a").covers(&capability("read:*")),
        ),
        (
            "VerifiedDocument::is_continued_by",
            alice.document.is_continued_by(&alice.document),
            alice.document.is_continued_by(&bob.document),
        ),
    ];
    for (name, good, bad) in verdicts {
        assert!(good && !bad, "{name}: {good} and {bad}");
    }
    // The crate proves nothing in zero knowledge, and says so nowhere: a hash is called a hash.
    fn sources(folder: &std::path::Path, all: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                sources(&path, all)
            } else {
                all.push(path)
            }
        }
    }
    let mut all = Vec::new();
    sources(
        &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut all,
    );
    assert!(all.len() > 20);
    for path in all {
        let text = std::fs::read_to_string(&path)
            .expect("text")
            .to_lowercase()
            .replace('-', " ");
        assert!(!text.contains("zero knowledge"), "{}", path.display());
    }
}

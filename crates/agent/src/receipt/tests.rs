//! Receipts that are rewritten, cut out, moved, or made smaller than they may be.

use super::*;
use crate::anchor::Anchors;
use crate::identity::{Created, create};
use crate::keys::Suite;
use crate::receipt::witness::{Witness, check_witnesses};

fn agent(name: &str) -> Created {
    create(name, Suite::Ed25519, 0).expect("created")
}

fn sign(agent: &Created, body: &Receipt) -> Signed<Receipt> {
    Signed::sign(body, &agent.document.signer(&agent.keys)).expect("signed")
}

fn chain(agent: &Created, len: u64) -> Vec<Signed<Receipt>> {
    let mut all: Vec<Signed<Receipt>> = Vec::new();
    for i in 0..len {
        let mut body =
            Receipt::new(agent.document.by(), "decision", 1_000 + i).with_content(b"what was done");
        if let Some(last) = all.last() {
            body = body.after(last);
        }
        all.push(sign(agent, &body));
    }
    all
}

// Known fault G1: the stored hash was checked, the content never.
#[test]
fn content_text_actor_time_and_link_are_all_signed() {
    let (alice, mallory) = (agent("alice"), agent("mallory"));
    let good = &chain(&alice, 2)[1];
    assert_eq!(good.verify_by(&alice.document, &Anchors::none()), Ok(()));
    assert_eq!(good.body().check_content(b"what was done"), Ok(()));
    assert_eq!(
        good.body().check_content(b"what was not done"),
        Err(Refusal::ContentMismatch)
    );
    let changes: [fn(&mut Receipt); 6] = [
        |r| r.action = "other".into(),
        |r| r.at_ms += 1,
        |r| r.content = Some(Hash([1; 32])),
        |r| r.previous = Some(Hash([1; 32])),
        |r| r.index += 1,
        |r| r.decision = Decision::Approved,
    ];
    let message = good.message().expect("parsed");
    let signatures: Vec<_> = message
        .signatures()
        .iter()
        .map(|(a, s)| (*a, s.to_vec()))
        .collect();
    for change in changes {
        let mut body = good.body().clone();
        change(&mut body);
        let forged = crate::cose::assemble(&body.payload(), &signatures).expect("assembled");
        let forged = Signed::<Receipt>::parse(forged).expect("well-formed");
        assert_eq!(
            forged.verify_by(&alice.document, &Anchors::none()),
            Err(Refusal::SignatureInvalid)
        );
    }
    // Known fault G3: it names Alice and is signed by Mallory.
    let forged = Signed::sign_with(good.body(), &[&mallory.keys]).expect("signed");
    assert_eq!(
        forged.verify_by(&alice.document, &Anchors::none()),
        Err(Refusal::SignatureInvalid)
    );
    assert_eq!(
        forged.verify_by(&mallory.document, &Anchors::none()),
        Err(Refusal::WrongSigner)
    );
    let refused = Signed::sign(good.body(), &mallory.document.signer(&mallory.keys));
    assert_eq!(refused.err(), Some(Refusal::WrongSigner));
}

// Known fault G9.
#[test]
fn a_receipt_cut_out_moved_or_put_in_breaks_the_chain() {
    let alice = agent("alice");
    let all = chain(&alice, 4);
    let end = KnownEnd {
        head: Some(all[3].id()),
        count: Some(4),
    };
    assert_eq!(check_chain(&all, &end), Ok(()));
    assert_eq!(
        check_chain(&all[1..], &KnownEnd::default()),
        Err((0, Refusal::ChainStartMissing))
    );
    assert_eq!(check_links(&all[1..]), Ok(()));
    for cut in 1..3 {
        let mut some = all.clone();
        some.remove(cut);
        assert_eq!(
            check_chain(&some, &KnownEnd::default()),
            Err((cut, Refusal::ChainBroken))
        );
    }
    assert_eq!(
        check_chain(&all[..3], &end),
        Err((2, Refusal::ChainEndMissing))
    );
    assert_eq!(check_chain(&[], &end), Err((0, Refusal::ChainEndMissing)));
    let mut swapped = all.clone();
    swapped.swap(1, 2);
    assert!(check_chain(&swapped, &KnownEnd::default()).is_err());
    let mut doubled = all.clone();
    doubled.insert(1, all[1].clone());
    assert!(check_chain(&doubled, &KnownEnd::default()).is_err());
    // The first one rewritten by the agent itself: the second still names the old one.
    let mut rewritten = all.clone();
    rewritten[0] = sign(
        &alice,
        &Receipt::new(alice.document.by(), "something else", 1_000),
    );
    assert_eq!(
        check_chain(&rewritten, &KnownEnd::default()),
        Err((1, Refusal::ChainBroken))
    );
    // A receipt of somebody else in between.
    let other = agent("other");
    let mut mixed = all.clone();
    mixed[1] = sign(
        &other,
        &Receipt::new(other.document.by(), "decision", 1_001).after(&all[0]),
    );
    assert_eq!(
        check_chain(&mixed, &KnownEnd::default()),
        Err((1, Refusal::ChainBroken))
    );
}

#[test]
fn sealed_fields_are_disclosed_one_by_one() {
    let alice = agent("alice");
    let mut body = Receipt::new(alice.document.by(), "payment", 5);
    let amount = body.seal_field("amount", "100").expect("sealed");
    let payee = body.seal_field("payee", "bob").expect("sealed");
    let receipt = sign(&alice, &body);
    assert_eq!(receipt.body().check_disclosure(&amount), Ok(()));
    assert_eq!(receipt.body().check_disclosure(&payee), Ok(()));
    for changed in [
        Disclosure {
            value: "1000".into(),
            ..amount.clone()
        },
        Disclosure {
            name: "fee".into(),
            ..amount.clone()
        },
        Disclosure {
            salt: [0; 16],
            ..amount.clone()
        },
        Disclosure {
            name: "amoun".into(),
            value: "t100".into(),
            ..amount
        },
    ] {
        assert_eq!(
            receipt.body().check_disclosure(&changed),
            Err(Refusal::DisclosureMismatch)
        );
    }
}

#[test]
fn every_named_witness_has_to_have_signed() {
    let (alice, bob, carol) = (agent("alice"), agent("bob"), agent("carol"));
    let mut body = Receipt::new(alice.document.by(), "payment", 5);
    body.witnesses = vec![bob.document.id(), carol.document.id()];
    body.witnesses.sort_unstable();
    let receipt = sign(&alice, &body);
    let statement = |who: &Created, subject: Hash| {
        let body = Witness {
            by: who.document.by(),
            subject,
            at_ms: 6,
        };
        Signed::sign(&body, &who.document.signer(&who.keys)).expect("signed")
    };
    let documents = [bob.document.clone(), carol.document.clone()];
    let check = |statements: &[Signed<Witness>]| {
        check_witnesses(
            &receipt.id(),
            &receipt.body().witnesses,
            statements,
            &documents,
            &Anchors::none(),
        )
    };
    let (by_bob, by_carol) = (
        statement(&bob, receipt.id()),
        statement(&carol, receipt.id()),
    );
    assert_eq!(check(&[by_bob.clone(), by_carol]), Ok(2));
    assert_eq!(
        check(std::slice::from_ref(&by_bob)),
        Err(Refusal::WitnessMissing)
    );
    let elsewhere = statement(&carol, Hash([9; 32]));
    assert_eq!(
        check(&[by_bob.clone(), elsewhere]),
        Err(Refusal::WitnessMissing)
    );
    let body = Witness {
        by: carol.document.by(),
        subject: receipt.id(),
        at_ms: 6,
    };
    let forged = Signed::sign_with(&body, &[&bob.keys]).expect("signed");
    assert_eq!(
        check(&[by_bob.clone(), forged]),
        Err(Refusal::SignatureInvalid)
    );
    // Named twice, and signed twice: one witness.
    let twice = [bob.document.id(), bob.document.id()];
    let statements = [by_bob.clone(), by_bob];
    let counted = check_witnesses(
        &receipt.id(),
        &twice,
        &statements,
        &documents,
        &Anchors::none(),
    );
    assert_eq!(counted, Ok(1));
}

#[test]
fn a_witness_is_checked_with_its_newest_document() {
    let (alice, bob) = (agent("alice"), agent("bob"));
    let receipt = sign(&alice, &Receipt::new(alice.document.by(), "payment", 5));
    let body = Witness {
        by: bob.document.by(),
        subject: receipt.id(),
        at_ms: 6,
    };
    let statement = [Signed::sign(&body, &bob.document.signer(&bob.keys)).expect("signed")];
    let following = agent("spare").keys.set().commitment();
    let newest = bob
        .document
        .rotate(&bob.keys, &bob.next, following, "stolen", true, 7)
        .expect("rotated");
    let stale = bob.document.clone();
    for documents in [[stale.clone(), newest.clone()], [newest, stale]] {
        let refused = check_witnesses(
            &receipt.id(),
            &[bob.document.id()],
            &statement,
            &documents,
            &Anchors::none(),
        );
        assert_eq!(refused, Err(Refusal::KeyCompromised));
    }
}

#[test]
fn a_track_record_counts_a_receipt_once() {
    use crate::receipt::competence::TrackRecord;
    let alice = agent("alice");
    let mut body = Receipt::new(alice.document.by(), "payment", 5);
    body.outcome = Outcome::Success;
    let receipt = sign(&alice, &body);
    let compute = |receipts: &[Signed<Receipt>]| {
        let (by, subject) = (alice.document.by(), alice.document.id());
        TrackRecord::compute(by, subject, "payment", 0, 10, receipts).expect("computed")
    };
    let once = compute(std::slice::from_ref(&receipt));
    assert_eq!((once.attempts, once.successes), (1, 1));
    let repeated = vec![receipt; 1000];
    assert_eq!(compute(&repeated), once);
    assert_eq!(once.check(&repeated), Ok(()));
    let boasted = TrackRecord {
        attempts: 1000,
        successes: 1000,
        ..once
    };
    assert_eq!(boasted.check(&repeated), Err(Refusal::RecordMismatch));
}

#[test]
fn a_receipt_is_under_240_bytes() {
    let alice = agent("alice");
    let first = chain(&alice, 1).remove(0);
    let at = 1_790_000_000_000;
    let plain = Receipt::new(alice.document.by(), "decision", at)
        .with_content(b"approved the quarterly budget increase of 5%");
    assert!(sign(&alice, &plain).as_bytes().len() < 240);
    let chained = sign(&alice, &plain.after(&first));
    assert!(
        chained.as_bytes().len() < 240,
        "{}",
        chained.as_bytes().len()
    );
}

#[test]
fn a_track_record_can_be_computed_again() {
    use crate::receipt::competence::TrackRecord;
    let alice = agent("alice");
    let all: Vec<_> = (0..10)
        .map(|i| {
            let mut body = Receipt::new(
                alice.document.by(),
                if i % 5 == 4 { "other" } else { "review" },
                i,
            );
            body.outcome = if i % 2 == 0 {
                Outcome::Success
            } else {
                Outcome::Failure
            };
            sign(&alice, &body)
        })
        .collect();
    let record = TrackRecord::compute(
        alice.document.by(),
        alice.document.id(),
        "review",
        0,
        8,
        &all,
    )
    .expect("computed");
    assert_eq!(
        (record.attempts, record.successes, record.failures),
        (8, 4, 4)
    );
    let signed = Signed::sign(&record, &alice.document.signer(&alice.keys)).expect("signed");
    assert_eq!(signed.body().check(&all), Ok(()));
    assert_eq!(signed.body().check(&all[1..]), Err(Refusal::RecordMismatch));
    let mut better = record;
    better.successes += 1;
    better.attempts += 1;
    assert_eq!(better.check(&all), Err(Refusal::RecordMismatch));
}

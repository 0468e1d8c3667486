//! Grants and chains of them.

use signet_agent::constraint::Budget;
use signet_agent::grant::Grant;
use signet_agent::identity::Created;
use signet_agent::object::Signed;
use signet_agent::proof::{Expected, Proof};
use signet_agent::receipt::{KnownEnd, check_chain};
use signet_agent::text_map::TextMap;
use signet_agent::{Hash, Refusal};

use super::scene::{AUDIENCE, Verifier, chain};
use crate::common::{NOW, agent, capability, edit, forge, grant, sign};

#[test]
fn g02_an_edited_grant_is_refused() {
    let (alice, bob, mallory) = (agent("alice"), agent("bob"), agent("mallory"));
    let verifier = Verifier::of(&alice);
    let good = sign(&alice, &grant(&alice, &bob, "read:files/*", 0));
    assert_eq!(verifier.grants(std::slice::from_ref(&good)), Ok(()));
    let edited = [
        edit(&good, |g| g.capabilities = vec![capability("*:*")]),
        edit(&good, |g| g.not_after = u64::MAX),
        edit(&good, |g| {
            (g.to, g.to_keys) = (mallory.document.by(), mallory.keys.set().clone())
        }),
        edit(&good, |g| g.max_depth = u64::MAX),
    ];
    for grant in edited {
        assert_eq!(verifier.grants(&[grant]), Err(Refusal::SignatureInvalid));
    }
}

#[test]
fn g04_a_chain_begins_at_the_named_root_and_each_key_is_the_grantees() {
    let (alice, bob, carol, mallory) = (
        agent("alice"),
        agent("bob"),
        agent("carol"),
        agent("mallory"),
    );
    let verifier = Verifier::of(&alice);
    let first = sign(&alice, &grant(&alice, &bob, "read:files/*", 1));
    let under = |from: &Created, parent: &Signed<Grant>| {
        let mut body = grant(from, &carol, "read:files/a", 0);
        body.parent = Some(parent.id());
        body
    };
    let second = sign(&bob, &under(&bob, &first));
    assert_eq!(verifier.grants(&[first.clone(), second.clone()]), Ok(()));
    assert_eq!(verifier.grants(&[]), Err(Refusal::EmptyChain));
    assert_eq!(verifier.grants(&[second]), Err(Refusal::WrongRoot));
    let own = sign(&mallory, &grant(&mallory, &bob, "read:files/*", 1));
    assert_eq!(verifier.grants(&[own]), Err(Refusal::WrongRoot));
    // The second link in Bob's name, with Mallory's key; and by Mallory in his own name.
    let forged = forge(&under(&bob, &first), &mallory.keys);
    assert_eq!(
        verifier.grants(&[first.clone(), forged]),
        Err(Refusal::SignatureInvalid)
    );
    let foreign = sign(&mallory, &under(&mallory, &first));
    assert_eq!(
        verifier.grants(&[first, foreign]),
        Err(Refusal::GrantorMismatch)
    );
}

#[test]
fn g05_depth_is_bounded_by_the_parent_and_not_by_the_delegate() {
    let (alice, bob, carol) = (agent("alice"), agent("bob"), agent("carol"));
    let verifier = Verifier::of(&alice);
    for (allowed, taken, expected) in [
        (0, 0, Err(Refusal::DepthExceeded)),
        (1, 0, Ok(())),
        (1, 1, Err(Refusal::DepthExceeded)),
        (2, 1, Ok(())),
        (2, u64::MAX, Err(Refusal::DepthExceeded)),
    ] {
        let first = sign(&alice, &grant(&alice, &bob, "read:files/*", allowed));
        let mut body = grant(&bob, &carol, "read:files/a", taken);
        body.parent = Some(first.id());
        assert_eq!(
            verifier.grants(&[first, sign(&bob, &body)]),
            expected,
            "{allowed} {taken}"
        );
    }
}

#[test]
fn g07_every_constraint_is_evaluated_and_refuses_where_it_cannot_be() {
    let (alice, bob) = (agent("alice"), agent("bob"));
    let with = |change: fn(&mut Grant)| {
        let mut body = grant(&alice, &bob, "read:files/*", 0);
        change(&mut body);
        [sign(&alice, &body)]
    };
    let mut verifier = Verifier::of(&alice);
    let network = with(|g| g.constraints.networks = vec!["10.0.0.0/8".parse().expect("network")]);
    assert_eq!(verifier.grants(&network), Err(Refusal::ContextMissing));
    verifier.from = Some([11, 0, 0, 1].into());
    assert_eq!(verifier.grants(&network), Err(Refusal::NetworkRefused));
    verifier.from = Some([10, 0, 0, 1].into());
    assert_eq!(verifier.grants(&network), Ok(()));
    let uses = with(|g| g.constraints.max_uses = Some(2));
    for (counted, expected) in [
        (None, Err(Refusal::ContextMissing)),
        (Some(2), Ok(())),
        (Some(3), Err(Refusal::UsesExhausted)),
    ] {
        verifier.ledger.uses = counted;
        assert_eq!(verifier.grants(&uses), expected);
    }
    let budget = with(|g| {
        g.constraints.budget = Some(Budget {
            amount: 5,
            unit: "eur".into(),
        });
    });
    for (spent, expected) in [
        (None, Err(Refusal::ContextMissing)),
        (Some(5), Ok(())),
        (Some(6), Err(Refusal::BudgetExhausted)),
    ] {
        verifier.ledger.spent = spent;
        assert_eq!(verifier.grants(&budget), expected);
    }
    let region = with(|g| {
        g.constraints.custom = TextMap::new(vec![("x-region".into(), "eu".into())]).expect("map")
    });
    for (known, expected) in [
        (None, Err(Refusal::CustomUnknown)),
        (Some("eu"), Ok(())),
        (Some("us"), Err(Refusal::CustomRefused)),
    ] {
        verifier.ledger.region = known;
        assert_eq!(verifier.grants(&region), expected);
    }
    let moon = with(|g| {
        g.constraints.custom = TextMap::new(vec![("x-moon".into(), "full".into())]).expect("map")
    });
    assert_eq!(verifier.grants(&moon), Err(Refusal::CustomUnknown));
}

#[test]
fn g15_a_chain_is_presented_for_one_audience_moment_and_nonce_by_its_holder() {
    let (alice, bob, mallory) = (agent("alice"), agent("bob"), agent("mallory"));
    let verifier = Verifier::of(&alice);
    let links = [sign(&alice, &grant(&alice, &bob, "read:files/*", 0))];
    let proof = |by: &Created, change: fn(&mut Proof)| {
        let mut body = Proof {
            by: by.document.by(),
            grant: links[0].id(),
            audience: AUDIENCE.into(),
            at: NOW,
            nonce: b"asked".to_vec(),
            method: None,
        };
        change(&mut body);
        sign(by, &body)
    };
    let present = |proof: &Signed<Proof>, nonce: &[u8]| {
        let expected = Expected {
            audience: AUDIENCE,
            nonce: Some(nonce),
            max_age: 60,
        };
        verifier.check(&links, Some((proof, expected)))
    };
    let good = proof(&bob, |_| ());
    assert_eq!(present(&good, b"asked"), Ok(()));
    assert_eq!(
        present(&good, b"asked again"),
        Err(Refusal::ProofNonceMismatch),
        "replayed"
    );
    let elsewhere = proof(&bob, |p| p.audience = "https://other.example".into());
    assert_eq!(
        present(&elsewhere, b"asked"),
        Err(Refusal::ProofAudienceMismatch)
    );
    let old = proof(&bob, |p| p.at -= 61);
    assert_eq!(present(&old, b"asked"), Err(Refusal::ProofTimeMismatch));
    assert_eq!(
        present(&proof(&mallory, |_| ()), b"asked"),
        Err(Refusal::WrongSigner)
    );
    let other = proof(&bob, |p| p.grant = Hash::of(b"another grant"));
    assert_eq!(present(&other, b"asked"), Err(Refusal::ProofGrantMismatch));
    // A receipt that is presented a second time has the place of the first.
    let receipts = chain(&bob, 2);
    let replayed = [
        receipts[0].clone(),
        receipts[1].clone(),
        receipts[1].clone(),
    ];
    assert_eq!(
        check_chain(&replayed, &KnownEnd::default()),
        Err((2, Refusal::ChainBroken))
    );
}

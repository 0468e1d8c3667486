//! Chains that are spliced, widened, replayed, revoked.

use super::*;
use crate::chain::constraint::{Budget, Custom, Ledger, Nothing};
use crate::id::Hash;
use crate::identity::{Created, create};
use crate::keys::{SigningKeys, Suite};
use crate::lineage::Birth;
use crate::object::Object;
use crate::revocation::{Revocation, Target};
use crate::text_map::TextMap;

pub(super) const NOW: u64 = 10_000;

fn agent(name: &str) -> Created {
    create(name, Suite::Ed25519, 1).expect("created")
}

fn capability(text: &str) -> Capability {
    text.parse().expect(text)
}

fn grant(from: &Created, to: &Created, what: &str, depth: u64) -> Grant {
    let mut grant = Grant::new(
        from.document.by(),
        &to.document,
        vec![capability(what)],
        NOW,
        3_600,
    );
    grant.max_depth = depth;
    grant
}

fn sign(by: &Created, grant: &Grant) -> Signed<Grant> {
    Signed::sign(grant, &by.document.signer(&by.keys)).expect("signed")
}

fn prove(
    holder: &Created,
    grant: &Signed<Grant>,
    audience: &str,
    at: u64,
    nonce: &[u8],
) -> Signed<Proof> {
    let body = Proof {
        by: holder.document.by(),
        grant: grant.id(),
        audience: audience.into(),
        at,
        nonce: nonce.to_vec(),
        method: None,
    };
    Signed::sign(&body, &holder.document.signer(&holder.keys)).expect("signed")
}

/// Alice grants Bob, Bob grants Carol.
pub(super) struct Scene {
    pub(super) alice: Created,
    pub(super) bob: Created,
    pub(super) carol: Created,
    pub(super) mallory: Created,
    asked: Capability,
    revocations: Revocations,
    anchors: Anchors,
}

impl Scene {
    pub(super) fn new() -> Scene {
        Scene {
            alice: agent("alice"),
            bob: agent("bob"),
            carol: agent("carol"),
            mallory: agent("mallory"),
            asked: capability("read:files/a"),
            revocations: Revocations::as_of(NOW),
            anchors: Anchors::none(),
        }
    }

    pub(super) fn check(&self) -> Check<'_> {
        Check {
            root: &self.alice.document,
            documents: &[],
            capability: &self.asked,
            context: Context::default(),
            now: NOW,
            leeway: 0,
            revocations: &self.revocations,
            max_staleness: None,
            declarations: &[],
            kept_declarations: &[],
            lineages: &[],
            anchors: &self.anchors,
            proof: None,
        }
    }

    pub(super) fn links(&self) -> Vec<Signed<Grant>> {
        let first = sign(
            &self.alice,
            &grant(&self.alice, &self.bob, "read:files/*", 2),
        );
        let second = grant(&self.bob, &self.carol, "read:files/a", 1)
            .under(&first)
            .expect("narrower");
        vec![first, sign(&self.bob, &second)]
    }

    pub(super) fn outcome(
        &self,
        links: &[Signed<Grant>],
    ) -> std::result::Result<(), (usize, Refusal)> {
        outcome(&self.check(), links)
    }
}

pub(super) fn outcome(
    check: &Check<'_>,
    links: &[Signed<Grant>],
) -> std::result::Result<(), (usize, Refusal)> {
    check
        .run(links)
        .map(|_| ())
        .map_err(|refusal| (refusal.link, refusal.reason))
}

#[test]
fn a_chain_from_the_named_root_is_accepted() {
    let scene = Scene::new();
    let links = scene.links();
    let accepted = scene.check().run(&links).expect("accepted");
    assert_eq!(accepted.holder, scene.carol.document.by());
    assert_eq!(
        accepted.agents,
        [&scene.alice, &scene.bob, &scene.carol].map(|c| c.document.id())
    );
    assert!(!accepted.possession_proven);
    assert_eq!(scene.outcome(&links[..1]), Ok(()));
}

// Known fault G2: a grant edited to `*`, without end, with another grantee and unlimited
// delegation, still valid.
#[test]
fn an_edited_grant_is_refused() {
    let scene = Scene::new();
    let links = scene.links();
    let message = links[0].message().expect("parsed");
    let signatures: Vec<_> = message
        .signatures()
        .iter()
        .map(|(a, s)| (*a, s.to_vec()))
        .collect();
    let mallory = scene.mallory.document.by();
    type Edit = Box<dyn Fn(&mut Grant)>;
    let edits: Vec<Edit> = vec![
        Box::new(|g| g.capabilities = vec![capability("*:*")]),
        Box::new(|g| g.not_after = u64::MAX),
        Box::new(move |g| g.to = mallory),
        Box::new(|g| g.max_depth = u64::MAX),
        Box::new(|g| g.serial[0] ^= 1),
        Box::new(|g| g.issued -= 1),
    ];
    for (i, edit) in edits.iter().enumerate() {
        let mut body = links[0].body().clone();
        edit(&mut body);
        let edited = crate::cose::assemble(&body.payload(), &signatures).expect("assembled");
        let edited = Signed::parse(edited).expect("well-formed");
        assert_eq!(
            scene.outcome(&[edited]),
            Err((0, Refusal::SignatureInvalid)),
            "{i}"
        );
    }
}

// Known fault G4: a chain needs no root, and its links' keys are not compared.
#[test]
fn a_chain_needs_the_root_that_the_verifier_names() {
    let scene = Scene::new();
    let own = sign(
        &scene.mallory,
        &grant(&scene.mallory, &scene.carol, "*:*", 0),
    );
    assert_eq!(scene.outcome(&[own]), Err((0, Refusal::WrongRoot)));
    assert_eq!(scene.outcome(&[]), Err((0, Refusal::EmptyChain)));
    let links = scene.links();
    assert_eq!(scene.outcome(&links[1..]), Err((0, Refusal::WrongRoot)));
    let reversed: Vec<_> = links.iter().rev().cloned().collect();
    assert_eq!(scene.outcome(&reversed), Err((0, Refusal::WrongRoot)));
    let doubled = [links[0].clone(), links[0].clone()];
    assert_eq!(scene.outcome(&doubled), Err((1, Refusal::ParentMismatch)));
    // Known fault G3: names Alice, signed by Mallory.
    let forged = Signed::sign_with(links[0].body(), &[&scene.mallory.keys]).expect("signed");
    assert_eq!(
        scene.outcome(&[forged]),
        Err((0, Refusal::SignatureInvalid))
    );
    // Mallory signs the second link with a key of her own, in Bob's name.
    let forged = Signed::sign_with(links[1].body(), &[&scene.mallory.keys]).expect("signed");
    assert_eq!(
        scene.outcome(&[links[0].clone(), forged]),
        Err((1, Refusal::SignatureInvalid))
    );
    // A link from one who was granted nothing.
    let mut stranger = grant(&scene.mallory, &scene.carol, "read:files/a", 0);
    stranger.parent = Some(links[0].id());
    let stranger = sign(&scene.mallory, &stranger);
    assert_eq!(
        scene.outcome(&[links[0].clone(), stranger]),
        Err((1, Refusal::GrantorMismatch))
    );
}

#[test]
fn a_link_of_another_chain_does_not_fit() {
    let scene = Scene::new();
    let (one, other) = (scene.links(), scene.links());
    assert_eq!(
        scene.outcome(&[one[0].clone(), other[1].clone()]),
        Err((1, Refusal::ParentMismatch))
    );
}

// Known fault G5: delegation depth is a field that the delegate fills in.
#[test]
fn depth_only_shrinks() {
    let scene = Scene::new();
    let first = sign(&scene.alice, &grant(&scene.alice, &scene.bob, "read:*", 1));
    for (depth, expected) in [
        (0, Ok(())),
        (1, Err((1, Refusal::DepthExceeded))),
        (u64::MAX, Err((1, Refusal::DepthExceeded))),
    ] {
        let mut second = grant(&scene.bob, &scene.carol, "read:*", depth);
        second.parent = Some(first.id());
        assert_eq!(
            scene.outcome(&[first.clone(), sign(&scene.bob, &second)]),
            expected
        );
    }
    let last = sign(&scene.alice, &grant(&scene.alice, &scene.bob, "read:*", 0));
    let mut second = grant(&scene.bob, &scene.carol, "read:*", 0);
    second.parent = Some(last.id());
    assert_eq!(
        scene.outcome(&[last, sign(&scene.bob, &second)]),
        Err((1, Refusal::DepthExceeded))
    );
}

#[test]
fn each_link_is_a_subset_in_every_dimension() {
    let scene = Scene::new();
    let mut first = grant(&scene.alice, &scene.bob, "read:files/*", 5);
    first.not_before = NOW;
    first.constraints.audience = vec!["a".into(), "b".into()];
    first.constraints.max_uses = Some(5);
    first.constraints.budget = Some(Budget {
        amount: 100,
        unit: "eur".into(),
    });
    first.constraints.networks = vec!["10.0.0.0/8".parse().expect("network")];
    first.constraints.custom = TextMap::new(vec![("x-region".into(), "eu".into())]).expect("map");
    first.revocation.delegates = vec![scene.mallory.document.id()];
    first.revocation.max_staleness = Some(60);
    let first = sign(&scene.alice, &first);
    let narrow = grant(&scene.bob, &scene.carol, "read:files/a", 0)
        .under(&first)
        .expect("narrower");
    assert_eq!(first.body().check_narrows(first.id(), &narrow), Ok(()));
    type Edit = (fn(&mut Grant), Refusal);
    let edits: [Edit; 17] = [
        (
            |g| g.capabilities = vec![capability("read:*")],
            Refusal::CapabilityWidened,
        ),
        (
            |g| g.capabilities = vec![capability("*:files/a")],
            Refusal::CapabilityWidened,
        ),
        (|g| g.not_after += 1, Refusal::TimeWidened),
        (|g| g.not_before = NOW - 1, Refusal::TimeWidened),
        (|g| g.constraints.audience.clear(), Refusal::AudienceWidened),
        (
            |g| g.constraints.audience = vec!["c".into()],
            Refusal::AudienceWidened,
        ),
        (|g| g.constraints.max_uses = None, Refusal::UsesWidened),
        (|g| g.constraints.max_uses = Some(6), Refusal::UsesWidened),
        (|g| g.constraints.budget = None, Refusal::BudgetWidened),
        (
            |g| {
                g.constraints.budget = Some(Budget {
                    amount: 101,
                    unit: "eur".into(),
                })
            },
            Refusal::BudgetWidened,
        ),
        (
            |g| {
                g.constraints.budget = Some(Budget {
                    amount: 1,
                    unit: "usd".into(),
                })
            },
            Refusal::BudgetWidened,
        ),
        (|g| g.constraints.networks.clear(), Refusal::NetworkWidened),
        (
            |g| g.constraints.networks = vec!["0.0.0.0/0".parse().expect("network")],
            Refusal::NetworkWidened,
        ),
        (
            |g| g.constraints.custom = TextMap::default(),
            Refusal::CustomWidened,
        ),
        (
            |g| g.revocation.delegates.clear(),
            Refusal::RevocationWidened,
        ),
        (
            |g| g.revocation.max_staleness = None,
            Refusal::RevocationWidened,
        ),
        (|g| g.parent = None, Refusal::ParentMismatch),
    ];
    for (i, (edit, expected)) in edits.into_iter().enumerate() {
        let mut wide = narrow.clone();
        edit(&mut wide);
        let links = [first.clone(), sign(&scene.bob, &wide)];
        assert_eq!(
            first.body().check_narrows(first.id(), &wide),
            Err(expected),
            "{i}"
        );
        let revocations = Revocations::as_of(NOW);
        let known = Known { uses: 1, spent: 1 };
        let mut check = scene.check();
        check.revocations = &revocations;
        check.context = known.context("a", "10.1.2.3");
        assert_eq!(outcome(&check, &links), Err((1, expected)), "{i}");
    }
    // What is left out is inherited.
    assert_eq!(narrow.constraints, first.body().constraints);
    assert_eq!(narrow.not_after, first.body().not_after);
}

struct Known {
    uses: u64,
    spent: u64,
}

impl Known {
    fn context<'a>(&'a self, audience: &'a str, network: &str) -> Context<'a> {
        Context {
            audience: Some(audience),
            network: Some(network.parse().expect("address")),
            ledger: self,
            custom: self,
        }
    }
}

impl Ledger for Known {
    fn uses(&self, _: &Hash) -> Option<u64> {
        Some(self.uses)
    }

    fn spent(&self, _: &Hash, unit: &str) -> Option<u64> {
        (unit == "eur").then_some(self.spent)
    }
}

impl Custom for Known {
    fn fulfilled(&self, name: &str, value: &str) -> Option<bool> {
        (name == "x-region").then_some(value == "eu")
    }
}

// Known fault G7: network, use-count and custom constraints are stored and never evaluated.
#[test]
fn every_constraint_is_evaluated_and_fails_closed() {
    let scene = Scene::new();
    let known = Known {
        uses: 5,
        spent: 100,
    };
    let good = known.context("api", "10.0.0.1");
    let over = Known {
        uses: 6,
        spent: 101,
    };
    type Case = (fn(&mut Grant), Refusal, Refusal);
    let cases: [Case; 5] = [
        (
            |g| g.constraints.audience = vec!["api".into()],
            Refusal::ContextMissing,
            Refusal::AudienceRefused,
        ),
        (
            |g| g.constraints.max_uses = Some(5),
            Refusal::ContextMissing,
            Refusal::UsesExhausted,
        ),
        (
            |g| {
                g.constraints.budget = Some(Budget {
                    amount: 100,
                    unit: "eur".into(),
                })
            },
            Refusal::ContextMissing,
            Refusal::BudgetExhausted,
        ),
        (
            |g| g.constraints.networks = vec!["10.0.0.0/8".parse().expect("network")],
            Refusal::ContextMissing,
            Refusal::NetworkRefused,
        ),
        (
            |g| {
                g.constraints.custom =
                    TextMap::new(vec![("x-region".into(), "eu".into())]).expect("map")
            },
            Refusal::CustomUnknown,
            Refusal::CustomUnknown,
        ),
    ];
    for (i, (edit, missing, refused)) in cases.into_iter().enumerate() {
        let mut body = grant(&scene.alice, &scene.bob, "read:*", 0);
        edit(&mut body);
        let links = [sign(&scene.alice, &body)];
        let attempt = |context| {
            let mut check = scene.check();
            check.context = context;
            outcome(&check, &links)
        };
        assert_eq!(attempt(good), Ok(()), "{i}");
        assert_eq!(attempt(Context::default()), Err((0, missing)), "{i}");
        let mut other = over.context("other", "11.0.0.1");
        other.custom = &Nothing;
        assert_eq!(attempt(other), Err((0, refused)), "{i}");
    }
    for (name, value, expected) in [
        ("x-region", "us", Err((0, Refusal::CustomRefused))),
        ("x-unknown", "eu", Err((0, Refusal::CustomUnknown))),
    ] {
        let mut body = grant(&scene.alice, &scene.bob, "read:*", 0);
        body.constraints.custom = TextMap::new(vec![(name.into(), value.into())]).expect("map");
        let mut check = scene.check();
        check.context = good;
        assert_eq!(outcome(&check, &[sign(&scene.alice, &body)]), expected);
    }
    // A budget in a unit that is not counted.
    let mut body = grant(&scene.alice, &scene.bob, "read:*", 0);
    body.constraints.budget = Some(Budget {
        amount: 100,
        unit: "usd".into(),
    });
    let mut check = scene.check();
    check.context = good;
    assert_eq!(
        outcome(&check, &[sign(&scene.alice, &body)]),
        Err((0, Refusal::ContextMissing))
    );
}

#[test]
fn a_grant_counts_from_its_beginning_to_its_end() {
    let scene = Scene::new();
    let mut body = grant(&scene.alice, &scene.bob, "read:*", 0);
    body.not_before = NOW + 10;
    let links = [sign(&scene.alice, &body)];
    let at = |now, leeway| {
        let mut check = scene.check();
        (check.now, check.leeway) = (now, leeway);
        outcome(&check, &links)
    };
    assert_eq!(at(NOW + 9, 0), Err((0, Refusal::NotYetValid)));
    assert_eq!(at(NOW + 9, 1), Ok(()));
    assert_eq!(at(NOW + 10, 0), Ok(()));
    assert_eq!(at(NOW + 3_600, 0), Ok(()));
    assert_eq!(
        at(NOW + 3_601, 60),
        Err((0, Refusal::Expired)),
        "skew prolongs nothing"
    );
}

#[test]
fn what_is_not_granted_is_refused() {
    let mut scene = Scene::new();
    let links = scene.links();
    scene.asked = capability("read:files/b");
    assert_eq!(
        scene.outcome(&links),
        Err((1, Refusal::CapabilityNotGranted))
    );
    scene.asked = capability("write:files/a");
    assert_eq!(
        scene.outcome(&links),
        Err((0, Refusal::CapabilityNotGranted))
    );
}

// Known fault G15: grants are replayable: no audience, no nonce, no proof of possession.
#[test]
fn a_proof_counts_for_its_grant_audience_moment_nonce_and_holder() {
    let scene = Scene::new();
    let links = scene.links();
    let expected = Expected {
        audience: "https://api",
        nonce: Some(b"nonce"),
        max_age: 60,
    };
    let attempt = |proof: &Signed<Proof>, expected| {
        let mut check = scene.check();
        check.proof = Some((proof, expected));
        outcome(&check, &links)
    };
    let good = prove(&scene.carol, &links[1], "https://api", NOW, b"nonce");
    assert_eq!(attempt(&good, expected), Ok(()));
    let mut check = scene.check();
    check.proof = Some((&good, expected));
    assert!(check.run(&links).expect("accepted").possession_proven);
    for (proof, reason) in [
        (
            prove(&scene.carol, &links[0], "https://api", NOW, b"nonce"),
            Refusal::ProofGrantMismatch,
        ),
        (
            prove(&scene.carol, &links[1], "https://other", NOW, b"nonce"),
            Refusal::ProofAudienceMismatch,
        ),
        (
            prove(&scene.carol, &links[1], "https://api", NOW - 61, b"nonce"),
            Refusal::ProofTimeMismatch,
        ),
        (
            prove(&scene.carol, &links[1], "https://api", NOW + 1, b"nonce"),
            Refusal::ProofTimeMismatch,
        ),
        (
            prove(&scene.carol, &links[1], "https://api", NOW, b"once"),
            Refusal::ProofNonceMismatch,
        ),
        (
            prove(&scene.carol, &links[1], "https://api", NOW, b""),
            Refusal::ProofNonceMismatch,
        ),
        (
            prove(&scene.bob, &links[1], "https://api", NOW, b"nonce"),
            Refusal::WrongSigner,
        ),
    ] {
        assert_eq!(attempt(&proof, expected), Err((2, reason)));
    }
    let forged = Signed::sign_with(good.body(), &[&scene.mallory.keys]).expect("signed");
    assert_eq!(
        attempt(&forged, expected),
        Err((2, Refusal::SignatureInvalid))
    );
}

fn revoke(by: &Created, target: Target) -> (Vec<u8>, &VerifiedDocument) {
    let body = Revocation {
        by: by.document.by(),
        target,
        reason: "stolen".into(),
        at: NOW,
    };
    let signed = Signed::sign(&body, &by.document.signer(&by.keys)).expect("signed");
    (signed.as_bytes().to_vec(), &by.document)
}

// Known fault G6: anyone's revocation, with any signature, revokes; an unreadable revocation counts
// as none.
#[test]
fn a_revocation_counts_from_those_who_may() {
    let scene = Scene::new();
    let links = scene.links();
    let with = |all: &[(Vec<u8>, &VerifiedDocument)]| {
        let mut revocations = Revocations::as_of(NOW);
        for (data, document) in all {
            revocations
                .add(data, document, &Anchors::none())
                .expect("readable");
        }
        let mut check = scene.check();
        check.revocations = &revocations;
        outcome(&check, &links)
    };
    let (first, second) = (links[0].id(), links[1].id());
    let (alice, bob, carol) = (&scene.alice, &scene.bob, &scene.carol);
    let refused = |link, reason| Err((link, reason));
    for (by, target, expected) in [
        (alice, Target::Grant(first), refused(0, Refusal::Revoked)),
        (alice, Target::Grant(second), refused(1, Refusal::Revoked)),
        (bob, Target::Grant(second), refused(1, Refusal::Revoked)),
        (bob, Target::Grant(first), Ok(())),
        (carol, Target::Grant(second), Ok(())),
        (&scene.mallory, Target::Grant(first), Ok(())),
        (alice, Target::Subtree(first), refused(1, Refusal::Revoked)),
        (bob, Target::Subtree(first), Ok(())),
        (alice, Target::Subtree(second), Ok(())),
        (
            alice,
            Target::Agent(bob.document.id()),
            refused(0, Refusal::AgentRevoked),
        ),
        (
            bob,
            Target::Agent(bob.document.id()),
            refused(0, Refusal::AgentRevoked),
        ),
        (
            bob,
            Target::Agent(carol.document.id()),
            refused(1, Refusal::AgentRevoked),
        ),
        (
            carol,
            Target::Agent(carol.document.id()),
            refused(1, Refusal::AgentRevoked),
        ),
        (carol, Target::Agent(bob.document.id()), Ok(())),
        (&scene.mallory, Target::Agent(alice.document.id()), Ok(())),
        (
            alice,
            Target::Agent(alice.document.id()),
            refused(0, Refusal::AgentRevoked),
        ),
        (
            bob,
            Target::Everything(bob.document.id()),
            refused(1, Refusal::AgentRevoked),
        ),
        (
            alice,
            Target::Everything(bob.document.id()),
            refused(1, Refusal::AgentRevoked),
        ),
        (carol, Target::Everything(bob.document.id()), Ok(())),
        (
            alice,
            Target::Everything(alice.document.id()),
            refused(0, Refusal::AgentRevoked),
        ),
    ] {
        assert_eq!(
            with(&[revoke(by, target)]),
            expected,
            "{} {target:?}",
            by.document.body().name
        );
    }
    // What was delegated below stays for the grantee himself.
    assert_eq!(scene.outcome(&links[..1]), Ok(()));
}

#[test]
fn a_named_delegate_may_revoke() {
    let scene = Scene::new();
    let mut body = grant(&scene.alice, &scene.bob, "read:*", 0);
    body.revocation.delegates = vec![scene.mallory.document.id()];
    let links = [sign(&scene.alice, &body)];
    let mut revocations = Revocations::as_of(NOW);
    let (data, document) = revoke(&scene.mallory, Target::Grant(links[0].id()));
    revocations
        .add(&data, document, &Anchors::none())
        .expect("readable");
    let mut check = scene.check();
    check.revocations = &revocations;
    assert_eq!(outcome(&check, &links), Err((0, Refusal::Revoked)));
}

#[test]
fn a_revocation_that_cannot_be_verified_refuses_the_answer() {
    let scene = Scene::new();
    let links = scene.links();
    let (good, document) = revoke(&scene.alice, Target::Grant(Hash([1; 32])));
    let mut broken = good.clone();
    let last = broken.len() - 1;
    broken[last] ^= 1;
    for (data, document) in [
        (broken, document),
        (good, &scene.mallory.document),
        (b"junk".to_vec(), document),
    ] {
        let mut revocations = Revocations::as_of(NOW);
        assert!(revocations.add(&data, document, &Anchors::none()).is_err());
        let mut check = scene.check();
        check.revocations = &revocations;
        assert_eq!(
            outcome(&check, &links),
            Err((0, Refusal::RevocationUnreadable))
        );
    }
}

#[test]
fn a_verifier_or_a_grant_can_demand_fresh_revocations() {
    let scene = Scene::new();
    let links = scene.links();
    let stale = Revocations::as_of(NOW - 61);
    let mut check = scene.check();
    check.revocations = &stale;
    assert_eq!(outcome(&check, &links), Ok(()));
    check.max_staleness = Some(60);
    assert_eq!(outcome(&check, &links), Err((0, Refusal::RevocationsStale)));
    check.max_staleness = Some(61);
    assert_eq!(outcome(&check, &links), Ok(()));
    let mut body = grant(&scene.alice, &scene.bob, "read:*", 0);
    body.revocation.max_staleness = Some(30);
    assert_eq!(
        outcome(&check, &[sign(&scene.alice, &body)]),
        Err((0, Refusal::RevocationsStale))
    );
}

#[test]
fn an_agent_is_held_to_its_declaration() {
    let scene = Scene::new();
    let links = scene.links();
    let declare = |by: &Created, what: &str, signer: &SigningKeys| {
        let body = Declaration {
            by: by.document.by(),
            capabilities: vec![capability(what)],
            reason: "not my business".into(),
            from: NOW,
            until: None,
        };
        Signed::sign_with(&body, &[signer]).expect("signed")
    };
    let with = |declarations: &[Signed<Declaration>]| {
        let mut check = scene.check();
        check.declarations = declarations;
        outcome(&check, &links)
    };
    let (bob, carol) = (&scene.bob, &scene.carol);
    assert_eq!(
        with(&[declare(carol, "read:files/*", &carol.keys)]),
        Err((1, Refusal::DeclaredRefusal))
    );
    assert_eq!(
        with(&[declare(bob, "*:files/a", &bob.keys)]),
        Err((0, Refusal::DeclaredRefusal))
    );
    assert_eq!(with(&[declare(carol, "write:*", &carol.keys)]), Ok(()));
    assert_eq!(
        with(&[declare(&scene.mallory, "*:*", &scene.mallory.keys)]),
        Ok(())
    );
    // In Carol's name, by Mallory: not believed, and not passed over either.
    assert_eq!(
        with(&[declare(carol, "write:*", &scene.mallory.keys)]),
        Err((1, Refusal::SignatureInvalid))
    );
}

#[test]
fn descent_bounds_authority_and_an_ancestors_end_ends_it() {
    let scene = Scene::new();
    let (maker, links) = (agent("maker"), scene.links());
    let birth = |authority: &str| {
        let body = Birth {
            by: maker.document.by(),
            child: scene.carol.document.by(),
            parent_birth: None,
            authority: vec![capability(authority)],
            purpose: String::new(),
            at: 2,
        };
        let birth = Signed::sign_birth(&body, &maker.keys, &scene.carol.keys).expect("signed");
        let documents = [maker.document.clone(), scene.carol.document.clone()];
        [VerifiedLineage::verify(&[birth], &documents, &Anchors::none()).expect("verified")]
    };
    let (enough, less) = (birth("read:*"), birth("read:other/*"));
    let mut check = scene.check();
    check.lineages = &enough;
    assert_eq!(outcome(&check, &links), Ok(()));
    let mut revocations = Revocations::as_of(NOW);
    let (data, document) = revoke(&maker, Target::Agent(maker.document.id()));
    revocations
        .add(&data, document, &Anchors::none())
        .expect("readable");
    check.revocations = &revocations;
    assert_eq!(outcome(&check, &links), Err((1, Refusal::AgentRevoked)));
    let mut check = scene.check();
    check.lineages = &less;
    assert_eq!(outcome(&check, &links), Err((1, Refusal::AuthorityWidened)));
}

#[test]
fn rotation_keeps_grants_and_compromise_ends_them() {
    let scene = Scene::new();
    let links = scene.links();
    let following = SigningKeys::generate(Suite::Ed25519)
        .expect("generated")
        .set()
        .commitment();
    let rotate = |who: &Created, compromised| {
        who.document
            .rotate(&who.keys, &who.next, following, "", compromised, NOW)
            .expect("rotated")
    };
    let root = rotate(&scene.alice, false);
    let mut check = scene.check();
    check.root = &root;
    assert_eq!(
        outcome(&check, &links),
        Ok(()),
        "made before an ordinary rotation"
    );
    let root = rotate(&scene.alice, true);
    let mut check = scene.check();
    check.root = &root;
    assert_eq!(outcome(&check, &links), Err((0, Refusal::KeyCompromised)));
    let mut anchors = Anchors::none();
    anchors.add(links[0].id(), NOW - 1);
    check.anchors = &anchors;
    assert_eq!(
        outcome(&check, &links),
        Ok(()),
        "a log had taken it in before"
    );
    // The same for a delegate whose document is known.
    let documents = [rotate(&scene.bob, true)];
    let mut check = scene.check();
    check.documents = &documents;
    assert_eq!(outcome(&check, &links), Err((1, Refusal::KeyCompromised)));
    // Bob signs with his second key: his document is needed to believe it.
    let documents = [rotate(&scene.bob, false)];
    let mut body = links[1].body().clone();
    body.by = documents[0].by();
    let renewed = Signed::sign(&body, &documents[0].signer(&scene.bob.next)).expect("signed");
    let renewed = [links[0].clone(), renewed];
    assert_eq!(scene.outcome(&renewed), Err((1, Refusal::DocumentMissing)));
    let mut check = scene.check();
    check.documents = &documents;
    assert_eq!(outcome(&check, &renewed), Ok(()));
}

#[test]
fn the_key_in_a_grant_has_to_be_the_grantees() {
    let scene = Scene::new();
    let mut body = grant(&scene.alice, &scene.bob, "read:*", 1);
    body.to_keys = scene.mallory.keys.set().clone();
    let first = sign(&scene.alice, &body);
    let mut second = grant(&scene.bob, &scene.carol, "read:*", 0);
    second.parent = Some(first.id());
    let documents = [scene.bob.document.clone()];
    let mut check = scene.check();
    check.documents = &documents;
    let links = [first, sign(&scene.bob, &second)];
    assert_eq!(outcome(&check, &links), Err((1, Refusal::KeyMismatch)));
}

#[test]
fn chains_of_every_suite_and_of_mixed_ones_are_checked() {
    for suite in Suite::ALL {
        let mut scene = Scene::new();
        scene.bob = create("bob", suite, 1).expect("created");
        let links = scene.links();
        assert_eq!(scene.outcome(&links), Ok(()));
        let forged = Signed::sign_with(links[1].body(), &[&scene.carol.keys]).expect("signed");
        let expected = if suite == Suite::Ed25519 {
            Refusal::SignatureInvalid
        } else {
            Refusal::WrongAlgorithm
        };
        assert_eq!(
            scene.outcome(&[links[0].clone(), forged]),
            Err((1, expected))
        );
    }
}

#[test]
fn a_known_prefix_is_not_verified_again_and_nothing_else_is_believed() {
    let scene = Scene::new();
    let links = scene.links();
    let mut cache = Cache::default();
    assert!(scene.check().run_cached(&links, &mut cache).is_ok());
    assert_eq!(cache.len(), 2);
    assert!(scene.check().run_cached(&links, &mut cache).is_ok());
    // The same grant with another signature is another message.
    let forged = Signed::sign_with(links[0].body(), &[&scene.mallory.keys]).expect("signed");
    let refused = scene
        .check()
        .run_cached(&[forged], &mut cache)
        .expect_err("forged");
    assert_eq!(refused.reason, Refusal::SignatureInvalid);
    // What depends on the moment is asked each time.
    let mut later = scene.check();
    later.now = NOW + 100_000;
    assert_eq!(
        later
            .run_cached(&links, &mut cache)
            .expect_err("ended")
            .reason,
        Refusal::Expired
    );
}

#[test]
fn an_explanation_ends_with_the_rule_that_refused() {
    let mut scene = Scene::new();
    let links = scene.links();
    let (steps, outcome) = scene.check().explain(&links);
    assert!(outcome.is_ok() && steps.iter().all(|step| step.refused.is_none()));
    scene.asked = capability("read:files/b");
    let (steps, outcome) = scene.check().explain(&links);
    let last = steps.last().expect("steps");
    assert_eq!(
        (last.link, last.refused),
        (1, Some(Refusal::CapabilityNotGranted))
    );
    assert_eq!(outcome.expect_err("refused").link, 1);
}

#[test]
fn a_grant_is_under_300_bytes() {
    let scene = Scene::new();
    let mut body = grant(&scene.alice, &scene.bob, "read:calendar", 0);
    body.issued = 1_790_000_000;
    body.not_after = 1_790_003_600;
    let plain = sign(&scene.alice, &body);
    assert!(plain.as_bytes().len() < 300, "{}", plain.as_bytes().len());
    body.parent = Some(Hash([7; 32]));
    body.max_depth = 3;
    let child = sign(&scene.alice, &body);
    assert!(child.as_bytes().len() < 300, "{}", child.as_bytes().len());
}

#[test]
fn every_changed_byte_of_a_grant_is_refused() {
    let scene = Scene::new();
    let links = scene.links();
    let data = links[0].as_bytes();
    for at in 0..data.len() {
        for flip in [1, 0x80, 0xff] {
            let mut changed = data.to_vec();
            changed[at] ^= flip;
            let refused = Signed::parse(changed)
                .map_err(|reason| (0, reason))
                .and_then(|g| scene.outcome(&[g]));
            assert!(refused.is_err(), "byte {at}");
        }
    }
}

//! What other implementations of agents' identities, grants and receipts got wrong, one test a fault: each tries it.

mod common;

use std::net::IpAddr;

use common::{NOW, agent, capability, edit, forge, fresh, grant, sign};
use signet_agent::anchor::Anchors;
use signet_agent::chain::Check;
use signet_agent::constraint::{Budget, Context, Custom, Ledger};
use signet_agent::declaration::Declaration;
use signet_agent::file::{IdentityFile, Kind};
use signet_agent::grant::Grant;
use signet_agent::identity::{Created, VerifiedDocument};
use signet_agent::lineage::{Birth, VerifiedLineage};
use signet_agent::log::{self, Checkpoint, ConsistencyProof, InclusionProof, Tree};
use signet_agent::method::{Method, Purpose};
use signet_agent::object::{Object, Signed};
use signet_agent::proof::{Expected, Proof};
use signet_agent::receipt::{Disclosure, KnownEnd, Receipt, check_chain};
use signet_agent::revocation::{Revocation, Revocations, Target};
use signet_agent::text_map::TextMap;
use signet_agent::{AgentId, Hash, Refusal, VerifyingKeys, cose};
use signet_crypto::password::Cost;

const AUDIENCE: &str = "https://api.example";

/// What a verifier knows, with Alice for the root.
struct Verifier {
    root: VerifiedDocument,
    revocations: Revocations,
    anchors: Anchors,
    ledger: Counted,
    from: Option<IpAddr>,
    asked: &'static str,
}

/// Counts and constraints that this verifier knows.
#[derive(Default)]
struct Counted {
    uses: Option<u64>,
    spent: Option<u64>,
    region: Option<&'static str>,
}

impl Ledger for Counted {
    fn uses(&self, _: &Hash) -> Option<u64> {
        self.uses
    }

    fn spent(&self, _: &Hash, _: &str) -> Option<u64> {
        self.spent
    }
}

impl Custom for Counted {
    fn fulfilled(&self, name: &str, value: &str) -> Option<bool> {
        (name == "x-region").then_some(self.region? == value)
    }
}

type Answer = std::result::Result<(), Refusal>;

impl Verifier {
    fn of(root: &Created) -> Verifier {
        Verifier {
            root: root.document.clone(),
            revocations: Revocations::as_of(NOW),
            anchors: Anchors::none(),
            ledger: Counted::default(),
            from: None,
            asked: "read:files/a",
        }
    }

    fn check(
        &self,
        links: &[Signed<Grant>],
        proof: Option<(&Signed<Proof>, Expected<'_>)>,
    ) -> Answer {
        let asked = capability(self.asked);
        let check = Check {
            root: &self.root,
            documents: &[],
            capability: &asked,
            context: Context {
                audience: Some(AUDIENCE),
                network: self.from,
                ledger: &self.ledger,
                custom: &self.ledger,
            },
            now: NOW,
            leeway: 0,
            revocations: &self.revocations,
            max_staleness: None,
            declarations: &[],
            lineages: &[],
            anchors: &self.anchors,
            proof,
        };
        check
            .run(links)
            .map(|_| ())
            .map_err(|refused| refused.reason)
    }

    fn grants(&self, links: &[Signed<Grant>]) -> Answer {
        self.check(links, None)
    }
}

fn chain(agent: &Created, len: u64) -> Vec<Signed<Receipt>> {
    let mut all: Vec<Signed<Receipt>> = Vec::new();
    for n in 0..len {
        let mut body = Receipt::new(agent.document.by(), "decision", NOW * 1_000 + n)
            .with_content(format!("content {n}").as_bytes());
        if let Some(last) = all.last() {
            body = body.after(last);
        }
        all.push(sign(agent, &body));
    }
    all
}

#[test]
fn g01_a_receipts_content_text_actor_time_and_link_are_checked() {
    let (alice, mallory) = (agent("alice"), agent("mallory"));
    let receipt = chain(&alice, 2).remove(1);
    let verify = |receipt: &Signed<Receipt>| receipt.verify_by(&alice.document, &Anchors::none());
    assert_eq!(verify(&receipt), Ok(()));
    assert_eq!(receipt.body().check_content(b"content 1"), Ok(()));
    assert_eq!(
        receipt.body().check_content(b"content 2"),
        Err(Refusal::ContentMismatch)
    );
    let rewritten: [fn(&mut Receipt); 4] = [
        |r| r.action = "another".into(),
        |r| r.content = Some(Hash::of(b"content 2")),
        |r| r.at_ms += 1,
        |r| r.previous = Some(Hash::of(b"another")),
    ];
    for change in rewritten {
        assert_eq!(
            verify(&edit(&receipt, change)),
            Err(Refusal::SignatureInvalid)
        );
    }
    let other = edit(&receipt, |r| r.by = mallory.document.by());
    assert_eq!(verify(&other), Err(Refusal::WrongSigner));
    assert_eq!(
        other.verify_by(&mallory.document, &Anchors::none()),
        Err(Refusal::SignatureInvalid)
    );
}

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
    // In Alice's name with another signature; and bytes that are no revocation: there is no answer then.
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
fn g09_a_chain_shows_what_was_rewritten_cut_out_and_dropped() {
    let alice = agent("alice");
    let all = chain(&alice, 5);
    let end = KnownEnd {
        head: all.last().map(Signed::id),
        count: Some(5),
    };
    assert_eq!(check_chain(&all, &end), Ok(()));
    let mut first = all.clone();
    first[0] = sign(
        &alice,
        &Receipt::new(alice.document.by(), "another", NOW * 1_000),
    );
    assert_eq!(check_chain(&first, &end), Err((1, Refusal::ChainBroken)));
    let mut middle = all.clone();
    middle.remove(2);
    assert_eq!(check_chain(&middle, &end), Err((2, Refusal::ChainBroken)));
    assert_eq!(
        check_chain(&all[..4], &end),
        Err((3, Refusal::ChainEndMissing))
    );
    assert_eq!(
        check_chain(&all[1..], &end),
        Err((0, Refusal::ChainStartMissing))
    );
    // The same in a log, against the checkpoint that somebody has kept.
    let tree_of = |receipts: &[Signed<Receipt>]| {
        let mut tree = Tree::default();
        receipts
            .iter()
            .for_each(|receipt| tree.append(receipt.as_bytes()));
        tree
    };
    let kept =
        Checkpoint::sign(&tree_of(&all), &alice.document.signer(&alice.keys), NOW).expect("signed");
    let logged = |receipts: &[Signed<Receipt>]| {
        let entries = receipts.iter().map(Signed::as_bytes);
        log::verify(entries, &[], Some(&kept), &alice.document, &Anchors::none()).map(|_| ())
    };
    assert_eq!(logged(&all), Ok(()));
    assert_eq!(logged(&first), Err(Refusal::RootMismatch));
    assert_eq!(logged(&middle), Err(Refusal::LogTruncated));
    assert_eq!(logged(&all[..4]), Err(Refusal::LogTruncated));
}

#[test]
fn g10_hash_inputs_are_unambiguous() {
    // Joined with ":" these pairs would be the same; in CBOR every part has its length.
    let digest = |name: &str, value: &str| {
        let disclosure = Disclosure {
            salt: [7; 16],
            name: name.into(),
            value: value.into(),
        };
        disclosure.digest()
    };
    assert_ne!(digest("a:b", "c"), digest("a", "b:c"));
    assert_ne!(digest("", "abc"), digest("abc", ""));
    let alice = agent("alice");
    let receipt = |action: &str, policy: &str| {
        let mut body = Receipt::new(alice.document.by(), action, NOW);
        body.policy = policy.into();
        sign(&alice, &body).id()
    };
    assert_ne!(receipt("a:b", "c"), receipt("a", "b:c"));
    assert_ne!(receipt("ab", ""), receipt("a", "b"));
    // The second of two forms of one value is refused: a head of two bytes where one is enough.
    let payload = Receipt::new(alice.document.by(), "a", NOW).payload();
    assert_eq!(payload[1..3], [0x00, 0x04], "the type, a receipt's");
    let longer = [&payload[..2], &[0x18, 0x04], &payload[3..]].concat();
    assert_eq!(Receipt::from_payload(&longer), Err(Refusal::NotCanonical));
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
    // Rewritten to everything: under the old signatures, and with the child's in place of the parent's.
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
            keys: common::key_set(),
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

#[test]
fn g13_there_is_no_built_in_passphrase_and_neither_half_can_be_swapped() {
    const CHEAP: Cost = Cost {
        memory_kib: 8,
        passes: 1,
        lanes: 1,
    };
    let seal = |created: &Created, passphrase: &[u8]| {
        IdentityFile::seal(
            Kind::Current,
            &created.document,
            &created.keys,
            passphrase,
            CHEAP,
        )
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

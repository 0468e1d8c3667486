//! One object of every type, with every field that it can have.

use signet_agent::anchor::Anchors;
use signet_agent::attestation::Attestation;
use signet_agent::competence::TrackRecord;
use signet_agent::constraint::{Budget, Constraints};
use signet_agent::continuity::Heartbeat;
use signet_agent::declaration::Declaration;
use signet_agent::grant::{Grant, RevocationRules};
use signet_agent::identity::{
    CompromisedKey, Created, Document, Rotation, VerifiedDocument, create,
};
use signet_agent::json::File;
use signet_agent::lineage::Birth;
use signet_agent::method::{Method, Purpose};
use signet_agent::object::{KeyRef, Object, Signed, Type};
use signet_agent::proof::Proof;
use signet_agent::receipt::{Decision, Outcome, Receipt};
use signet_agent::revocation::{Revocation, Target};
use signet_agent::text_map::TextMap;
use signet_agent::witness::Witness;
use signet_agent::{AgentId, Hash, KeySet, Result, SigningKeys, Suite};

pub struct Cast {
    pub alice: Created,
    pub bob: Created,
}

pub fn cast() -> Cast {
    let new = |name| create(name, Suite::Ed25519, 1_000).expect("created");
    Cast {
        alice: new("alice"),
        bob: new("bob"),
    }
}

pub fn keys() -> KeySet {
    SigningKeys::generate(Suite::Ed25519)
        .expect("generated")
        .set()
        .clone()
}

fn certificate(by: KeyRef, at: u64) -> Method {
    Method {
        by,
        purpose: Purpose::Session,
        name: "laptop".into(),
        keys: keys(),
        not_before: at,
        not_after: at + 9,
    }
}

/// An object of every type but the identity, signed by Alice, with as many fields as it can have.
pub fn objects(cast: &Cast, variant: u8) -> Vec<File> {
    let (by, signer) = (
        cast.alice.document.by(),
        cast.alice.document.signer(&cast.alice.keys),
    );
    // Two variants of an object agree in its type and its signer, and in nothing else.
    let bob = match variant {
        1 => cast.bob.document.id(),
        _ => AgentId([variant; 32]),
    };
    let hash = Hash([variant; 32]);
    let number = u64::from(variant);
    let at = 2_000 + number;
    let text = |base: &str| format!("{base} {variant}");
    let capabilities = vec![
        format!("read:a{variant}/*").parse().expect("capability"),
        format!("write:b{variant}").parse().expect("capability"),
    ];
    let map = || {
        TextMap::new(vec![
            ("x-a".into(), text("value")),
            ("x-longer".into(), "b".into()),
        ])
        .expect("map")
    };
    fn file<T: Object>(signed: Result<Signed<T>>) -> File {
        File::of(&signed.expect("signed"))
    }
    let mut grant = Grant::new(by, &cast.bob.document, capabilities.clone(), at, 60);
    grant.not_before = at;
    grant.max_depth = 2 + number;
    (grant.to.agent, grant.to.key, grant.to_keys) = (bob, number + 1, keys());
    grant.parent = Some(hash);
    grant.constraints = Constraints {
        audience: vec!["a".into(), text("b")],
        max_uses: Some(3 + number),
        budget: Some(Budget {
            amount: 5 + number,
            unit: "eur".into(),
        }),
        networks: vec![
            format!("10.{variant}.0.0/16").parse().expect("network"),
            "2001:db8::/32".parse().expect("network"),
        ],
        custom: map(),
    };
    grant.revocation = RevocationRules {
        delegates: vec![bob],
        status: text("https://a"),
        max_staleness: Some(60 + number),
    };
    let mut receipt = Receipt::new(by, &text("action"), at).with_content(&[variant]);
    receipt.input = Some(hash);
    receipt.grant = Some(hash);
    receipt.decision = match variant {
        1 => Decision::Approved,
        _ => Decision::Denied,
    };
    receipt.policy = text("policy");
    receipt.previous = Some(hash);
    receipt.index = 4 + number;
    receipt.witnesses = vec![bob];
    receipt.seal_field("amount", "5").expect("sealed");
    receipt.seal_field("payee", "bob").expect("sealed");
    receipt.outcome = match variant {
        1 => Outcome::Failure,
        _ => Outcome::Success,
    };
    let rotation = Rotation {
        by,
        previous: hash,
        keys: keys(),
        next: hash,
        reason: text("why"),
        compromised: variant == 1,
        at,
        compromised_keys: vec![CompromisedKey {
            key: 0,
            since: 1 + number,
        }],
    };
    vec![
        file(Signed::sign(&grant, &signer)),
        file(Signed::sign(&receipt, &signer)),
        file(Signed::sign(&rotation, &signer)),
        file(Signed::sign(
            &Proof {
                by,
                grant: hash,
                audience: text("a"),
                at,
                nonce: vec![1, variant],
                method: Some(Signed::sign(&certificate(by, at), &signer).expect("signed")),
            },
            &signer,
        )),
        file(Signed::sign(
            &Revocation {
                by,
                target: match variant {
                    1 => Target::Subtree(hash),
                    _ => Target::Grant(hash),
                },
                reason: text("why"),
                at,
            },
            &signer,
        )),
        file(Signed::sign(
            &Method {
                by,
                purpose: match variant {
                    1 => Purpose::Device,
                    _ => Purpose::Session,
                },
                name: text("phone"),
                keys: keys(),
                not_before: at,
                not_after: at + 9,
            },
            &signer,
        )),
        file(Signed::sign(
            &Attestation {
                by,
                subject: bob,
                claims: map(),
                issued: at,
                not_after: at + 9,
            },
            &signer,
        )),
        file(Signed::sign(
            &Witness {
                by,
                subject: hash,
                at_ms: at,
            },
            &signer,
        )),
        file(Signed::sign(
            &Birth {
                by,
                child: KeyRef {
                    agent: bob,
                    key: number + 1,
                },
                parent_birth: Some(hash),
                authority: capabilities.clone(),
                purpose: text("help"),
                at,
            },
            &signer,
        )),
        file(Signed::sign(
            &Heartbeat {
                by,
                index: 3 + number,
                previous: Some(hash),
                experience: Some(hash),
                at,
                interval: 60 + number,
            },
            &signer,
        )),
        file(Signed::sign(
            &TrackRecord {
                by,
                subject: bob,
                action: text("review"),
                from_ms: number,
                until_ms: at,
                attempts: 5 + number,
                successes: 2 + number,
                failures: number,
                root: hash,
            },
            &signer,
        )),
        file(Signed::sign(
            &Declaration {
                by,
                capabilities: vec![format!("read:c{variant}").parse().expect("capability")],
                reason: text("no"),
                from: at,
                until: Some(at + 9),
            },
            &signer,
        )),
    ]
}

/// Verifies an object of any type as Alice's.
pub fn verify(kind: Type, message: &[u8], alice: &VerifiedDocument) -> Result<()> {
    fn by<T: Object>(message: &[u8], alice: &VerifiedDocument) -> Result<()> {
        Signed::<T>::parse(message.to_vec())?.verify_by(alice, &Anchors::none())
    }
    match kind {
        Type::Identity => VerifiedDocument::parse(message.to_vec()).map(|_| ()),
        Type::Grant => by::<Grant>(message, alice),
        Type::Rotation => by::<Rotation>(message, alice),
        Type::Receipt => by::<Receipt>(message, alice),
        Type::Proof => by::<Proof>(message, alice),
        Type::Revocation => by::<Revocation>(message, alice),
        Type::Method => by::<Method>(message, alice),
        Type::Attestation => by::<Attestation>(message, alice),
        Type::Witness => by::<Witness>(message, alice),
        Type::Birth => by::<Birth>(message, alice),
        Type::Heartbeat => by::<Heartbeat>(message, alice),
        Type::TrackRecord => by::<TrackRecord>(message, alice),
        Type::Declaration => by::<Declaration>(message, alice),
    }
}

pub fn document(cast: &Cast) -> VerifiedDocument {
    let keys = |n: u8| {
        SigningKeys::from_seeds(Suite::Ed25519, vec![signet_crypto::Secret::new([n; 32])])
            .expect("keys")
    };
    let by = cast.alice.document.by();
    let with = cast.alice.document.amend(&cast.alice.keys, |document| {
        let method = Method {
            by,
            purpose: Purpose::Session,
            name: "s".into(),
            keys: keys(9).set().clone(),
            not_before: 0,
            not_after: 9,
        };
        let attestation = Attestation {
            by: cast.bob.document.by(),
            subject: by.agent,
            claims: TextMap::new(vec![("role".into(), "friend".into())]).expect("map"),
            issued: 0,
            not_after: 9,
        };
        document.methods.push(
            Signed::sign(&method, &cast.alice.document.signer(&cast.alice.keys)).expect("signed"),
        );
        document.attestations.push(
            Signed::sign(&attestation, &cast.bob.document.signer(&cast.bob.keys)).expect("signed"),
        );
    });
    let with = with.expect("amended");
    let second = with
        .rotate(
            &cast.alice.keys,
            &cast.alice.next,
            keys(2).set().commitment(),
            "first",
            false,
            2_000,
        )
        .expect("rotated");
    second
        .rotate(
            &cast.alice.next,
            &keys(2),
            keys(3).set().commitment(),
            "second",
            false,
            3_000,
        )
        .expect("rotated")
}

pub fn all(cast: &Cast) -> Vec<File> {
    let mut all = objects(cast, 1);
    all.push(File::of::<Document>(document(cast).signed()));
    all
}

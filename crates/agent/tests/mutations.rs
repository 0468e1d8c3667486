//! Every object against every small change: each single field, each single byte, each order, each part of another object.

use serde_json::Value;
use signet_agent::anchor::Anchors;
use signet_agent::attestation::Attestation;
use signet_agent::competence::TrackRecord;
use signet_agent::constraint::{Budget, Constraints};
use signet_agent::continuity::Heartbeat;
use signet_agent::declaration::Declaration;
use signet_agent::grant::{Grant, RevocationRules};
use signet_agent::identity::{Created, Document, Rotation, VerifiedDocument, create};
use signet_agent::json::File;
use signet_agent::lineage::Birth;
use signet_agent::method::{Method, Purpose};
use signet_agent::object::{Object, Signed, Type};
use signet_agent::proof::Proof;
use signet_agent::receipt::{Decision, Outcome, Receipt};
use signet_agent::revocation::{Revocation, Target};
use signet_agent::text_map::TextMap;
use signet_agent::witness::Witness;
use signet_agent::{Hash, KeySet, Refusal, Result, SigningKeys, Suite};

struct Cast {
    alice: Created,
    bob: Created,
}

fn cast() -> Cast {
    let new = |name| create(name, Suite::Ed25519, 1_000).expect("created");
    Cast {
        alice: new("alice"),
        bob: new("bob"),
    }
}

fn keys() -> KeySet {
    SigningKeys::generate(Suite::Ed25519)
        .expect("generated")
        .set()
        .clone()
}

/// An object of every type but the identity, signed by Alice, with as many fields as it can have.
fn objects(cast: &Cast, variant: u8) -> Vec<File> {
    let (by, signer) = (
        cast.alice.document.by(),
        cast.alice.document.signer(&cast.alice.keys),
    );
    let bob = cast.bob.document.id();
    let hash = Hash([variant; 32]);
    let at = 2_000 + u64::from(variant);
    let text = |base: &str| format!("{base} {variant}");
    let capabilities = vec![
        "read:a/*".parse().expect("capability"),
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
    grant.max_depth = 2;
    grant.parent = Some(hash);
    grant.constraints = Constraints {
        audience: vec!["a".into(), text("b")],
        max_uses: Some(3),
        budget: Some(Budget {
            amount: 5,
            unit: "eur".into(),
        }),
        networks: vec![
            "10.0.0.0/8".parse().expect("network"),
            "2001:db8::/32".parse().expect("network"),
        ],
        custom: map(),
    };
    grant.revocation = RevocationRules {
        delegates: vec![bob],
        status: text("https://a"),
        max_staleness: Some(60),
    };
    let mut receipt = Receipt::new(by, &text("action"), at).with_content(&[variant]);
    receipt.input = Some(hash);
    receipt.grant = Some(hash);
    receipt.decision = Decision::Approved;
    receipt.policy = text("policy");
    receipt.previous = Some(hash);
    receipt.index = 4;
    receipt.witnesses = vec![bob];
    receipt.seal_field("amount", "5").expect("sealed");
    receipt.seal_field("payee", "bob").expect("sealed");
    receipt.outcome = Outcome::Success;
    let rotation = Rotation {
        by,
        previous: hash,
        keys: keys(),
        next: hash,
        reason: text("why"),
        compromised: true,
        at,
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
                method: None,
            },
            &signer,
        )),
        file(Signed::sign(
            &Revocation {
                by,
                target: Target::Grant(hash),
                reason: text("why"),
                at,
            },
            &signer,
        )),
        file(Signed::sign(
            &Method {
                by,
                purpose: Purpose::Device,
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
                child: cast.bob.document.by(),
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
                index: 3,
                previous: Some(hash),
                experience: Some(hash),
                at,
                interval: 60,
            },
            &signer,
        )),
        file(Signed::sign(
            &TrackRecord {
                by,
                subject: bob,
                action: text("review"),
                from_ms: 1,
                until_ms: at,
                attempts: 5,
                successes: 3,
                failures: 1,
                root: hash,
            },
            &signer,
        )),
        file(Signed::sign(
            &Declaration {
                by,
                capabilities,
                reason: text("no"),
                from: at,
                until: Some(at + 9),
            },
            &signer,
        )),
    ]
}

/// Verifies an object of any type as Alice's.
fn verify(kind: Type, message: &[u8], alice: &VerifiedDocument) -> Result<()> {
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

/// Reads JSON, as a file is read, and verifies.
fn verify_json(value: &Value, alice: &VerifiedDocument) -> Result<()> {
    let file = File::read(value.to_string().as_bytes())?;
    verify(file.kind, &file.message, alice)
}

fn document(cast: &Cast) -> VerifiedDocument {
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

fn all(cast: &Cast) -> Vec<File> {
    let mut all = objects(cast, 1);
    all.push(File::of::<Document>(document(cast).signed()));
    all
}

#[test]
fn every_object_reads_back_from_json_as_the_same_bytes() {
    let cast = cast();
    for file in all(&cast) {
        let text = file.write().expect("written");
        let read = File::read(text.as_bytes()).expect("its own JSON");
        assert_eq!(read.message, file.message, "{text}");
        assert_eq!(
            verify(file.kind, &file.message, &cast.alice.document),
            Ok(())
        );
    }
}

#[test]
fn every_changed_byte_of_every_object_is_refused() {
    let cast = cast();
    for file in all(&cast) {
        for at in 0..file.message.len() {
            for flip in [0x01, 0x80] {
                let mut changed = file.message.clone();
                changed[at] ^= flip;
                let refused = verify(file.kind, &changed, &cast.alice.document);
                assert!(refused.is_err(), "{:?} byte {at}", file.kind);
            }
        }
        for len in 0..file.message.len() {
            assert!(verify(file.kind, &file.message[..len], &cast.alice.document).is_err());
        }
        let longer = [file.message.as_slice(), &[0]].concat();
        assert_eq!(
            verify(file.kind, &longer, &cast.alice.document),
            Err(Refusal::Malformed)
        );
    }
}

/// Every JSON value that differs from `value` in one place.
fn changes(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![Value::Bool(true)],
        Value::Bool(b) => vec![Value::Bool(!b), Value::Null],
        Value::Number(n) => {
            let n = n.as_u64().expect("unsigned");
            vec![
                (n + 1).into(),
                n.saturating_sub(1).into(),
                u64::MAX.into(),
                n.to_string().into(),
                Value::Null,
            ]
            .into_iter()
            .filter(|changed| changed != value)
            .collect()
        }
        Value::String(s) => {
            let mut out: Vec<Value> = vec![
                format!("{s}x").into(),
                "".into(),
                "*".into(),
                "*:*".into(),
                0.into(),
            ];
            for at in 0..s.len().min(60) {
                let mut bytes = s.clone().into_bytes();
                bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
                out.push(String::from_utf8(bytes).expect("ASCII").into());
            }
            out.retain(|changed| changed != value);
            out
        }
        Value::Array(items) => {
            let mut out = Vec::new();
            for i in 0..items.len() {
                for changed in changes(&items[i]) {
                    let mut all = items.clone();
                    all[i] = changed;
                    out.push(all.into());
                }
                let mut all = items.clone();
                all.remove(i);
                out.push(all.into());
                let mut all = items.clone();
                all.insert(i, items[i].clone());
                out.push(all.into());
                for j in 0..i {
                    let mut all = items.clone();
                    all.swap(i, j);
                    out.push(all.into());
                }
            }
            out
        }
        Value::Object(members) => {
            let mut out = Vec::new();
            for (name, member) in members {
                for changed in changes(member) {
                    let mut all = members.clone();
                    all[name] = changed;
                    out.push(all.into());
                }
                // An id may be left out: it is recomputed.
                if name != "id" || members["type"] == "identity" {
                    let mut all = members.clone();
                    all.remove(name);
                    out.push(all.into());
                }
            }
            let mut all = members.clone();
            all.insert("unknown".into(), 1.into());
            out.push(all.into());
            out
        }
    }
}

#[test]
fn every_changed_member_of_every_json_file_is_refused() {
    let cast = cast();
    for file in all(&cast) {
        let text = file
            .with_signer(&cast.alice.document)
            .write()
            .expect("written");
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(verify_json(&value, &cast.alice.document), Ok(()));
        let mut own = value.clone();
        let signer = own
            .as_object_mut()
            .and_then(|members| members.remove("signer"));
        let mut count = 0;
        for changed in changes(&own) {
            assert!(
                verify_json(&changed, &cast.alice.document).is_err(),
                "{changed}"
            );
            count += 1;
        }
        assert!(count > 100, "{count}");
        // The companion is checked too.
        for changed in changes(&signer.expect("signer")) {
            let mut whole = value.clone();
            whole["signer"] = changed;
            assert!(
                verify_json(&whole, &cast.alice.document).is_err(),
                "{whole}"
            );
        }
    }
}

#[test]
fn every_part_of_another_valid_object_is_refused() {
    let cast = cast();
    for (one, other) in objects(&cast, 1).iter().zip(&objects(&cast, 2)) {
        let read = |file: &File| -> Value {
            serde_json::from_str(&file.write().expect("written")).expect("JSON")
        };
        let (one, other) = (read(one), read(other));
        for (name, value) in other.as_object().expect("object") {
            if one[name] == *value {
                continue;
            }
            let mut mixed = one.clone();
            mixed[name] = value.clone();
            let refused = verify_json(&mixed, &cast.alice.document).expect_err(name);
            let named = [Refusal::DerivedMismatch, Refusal::SignatureInvalid];
            assert!(named.contains(&refused), "{name}: {refused:?}");
            // Also where the id is left out to be recomputed: then only the signature speaks.
            if name != "id" {
                mixed.as_object_mut().expect("object").remove("id");
                assert_eq!(
                    verify_json(&mixed, &cast.alice.document),
                    Err(Refusal::SignatureInvalid),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn an_object_is_none_of_another_type() {
    let cast = cast();
    for file in all(&cast) {
        for kind in Type::ALL {
            if kind != file.kind {
                assert_eq!(
                    verify(kind, &file.message, &cast.alice.document),
                    Err(Refusal::WrongType)
                );
            }
        }
    }
}

#[test]
fn an_object_in_alices_name_by_another_is_refused() {
    let cast = cast();
    let other = Cast {
        alice: create("alice", Suite::Ed25519, 1_000).expect("created"),
        bob: cast.bob,
    };
    let alice = create("alice", Suite::Ed25519, 1_000).expect("created");
    for file in objects(&other, 1) {
        assert_eq!(
            verify(file.kind, &file.message, &alice.document),
            Err(Refusal::WrongSigner)
        );
    }
}

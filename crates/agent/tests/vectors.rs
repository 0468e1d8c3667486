//! The published vectors are what this crate makes and how it answers.

use serde_json::{Value, json};
use signet_agent::anchor::Anchors;
use signet_agent::constraint::{Budget, Constraints};
use signet_agent::grant::{Grant, RevocationRules};
use signet_agent::identity::{
    CompromisedKey, Document, RotationNotice, VerifiedDocument, create_from,
};
use signet_agent::json::to_json;
use signet_agent::object::{Object, Signed, Type};
use signet_agent::proof::Proof;
use signet_agent::receipt::Receipt;
use signet_agent::revocation::{Revocation, Target};
use signet_agent::text_map::TextMap;
use signet_agent::{Hash, SigningKeys, Suite, base64url};
use signet_crypto::Secret;

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../vectors/agent/objects.json"
);

fn keys(n: u8) -> SigningKeys {
    SigningKeys::from_seeds(Suite::Ed25519, vec![Secret::new([n; 32])]).expect("keys")
}

/// The keys of the file, each with the byte that its seed repeats.
const KEYS: [(&str, u8); 4] = [
    ("alice", 1),
    ("alice's second", 2),
    ("alice's third", 5),
    ("bob", 3),
];

/// One that is answered with the signer's newest document at hand.
fn with_document(mut vector: Value, document: &VerifiedDocument) -> Value {
    vector["document"] = base64url::encode(document.signed().as_bytes()).into();
    vector
}

fn vector(name: &str, message: &[u8], key: &str, answer: &str) -> Value {
    let parsed = signet_agent::cose::Message::parse(message).ok();
    let kind = parsed
        .as_ref()
        .and_then(|m| Type::of_payload(m.payload()).ok());
    json!({
        "name": name,
        "type": kind.map_or("", Type::name),
        "message": base64url::encode(message),
        "id": parsed.map(|m| Hash::of(m.payload()).to_string()),
        "key": key,
        "json": to_json(message).ok(),
        "answer": answer,
    })
}

fn vectors() -> Value {
    let alice = create_from("alice", keys(1), keys(2), 1_790_000_000).expect("created");
    let bob = create_from("bob", keys(3), keys(4), 1_790_000_000).expect("created");
    let (by, signer) = (alice.document.by(), alice.document.signer(&alice.keys));
    let rotated = alice
        .document
        .rotate(
            &alice.keys,
            &alice.next,
            keys(5).set().commitment(),
            "yearly",
            false,
            1_790_000_100,
        )
        .expect("rotated");
    let given_up = RotationNotice {
        reason: "the first key was found stolen",
        compromised: false,
        compromised_keys: &[CompromisedKey {
            key: 0,
            since: 1_789_999_999,
        }],
    };
    let again = rotated
        .rotate_with(
            &alice.next,
            &keys(5),
            keys(6).set().commitment(),
            given_up,
            1_790_000_200,
        )
        .expect("rotated");
    let mut body = Grant::new(
        by,
        &bob.document,
        vec!["read:calendar".parse().expect("capability")],
        1_790_000_000,
        3_600,
    );
    body.serial = [7; 8];
    let plain = Signed::sign(&body, &signer).expect("signed");
    let late = Grant {
        issued: 1_790_000_101,
        ..body.clone()
    };
    let late = Signed::sign(&late, &signer).expect("signed");
    body.max_depth = 2;
    body.constraints = Constraints {
        audience: vec!["https://api.example.com".into()],
        max_uses: Some(3),
        budget: Some(Budget {
            amount: 500,
            unit: "eur".into(),
        }),
        networks: vec!["10.0.0.0/8".parse().expect("network")],
        custom: TextMap::new(vec![("x-region".into(), "eu".into())]).expect("map"),
    };
    body.revocation = RevocationRules {
        delegates: vec![bob.document.id()],
        status: String::new(),
        max_staleness: Some(60),
    };
    let full = Signed::sign(&body, &signer).expect("signed");
    let first = Receipt::new(by, "decision", 1_790_000_000_000)
        .with_content(b"approved the quarterly budget increase of 5%");
    let first = Signed::sign(&first, &signer).expect("signed");
    let second = Receipt::new(by, "decision", 1_790_000_001_000)
        .with_content(b"told everybody")
        .after(&first);
    let second = Signed::sign(&second, &signer).expect("signed");
    let proof = Proof {
        by: bob.document.by(),
        grant: plain.id(),
        audience: "https://api.example.com".into(),
        at: 1_790_000_010,
        nonce: b"nonce".to_vec(),
        method: None,
    };
    let proof = Signed::sign(&proof, &bob.document.signer(&bob.keys)).expect("signed");
    let revocation = Revocation {
        by,
        target: Target::Grant(plain.id()),
        reason: "over".into(),
        at: 1_790_000_020,
    };
    let revocation = Signed::sign(&revocation, &signer).expect("signed");
    let changed = |message: &[u8], from_end: usize| {
        let mut message = message.to_vec();
        let at = message.len() - from_end;
        message[at] ^= 1;
        message
    };
    let mallory = {
        let message = signet_agent::cose::sign(first.payload(), &[&keys(9)]).expect("signed");
        vector(
            "a receipt in alice's name by another key",
            &message,
            "alice",
            "signature_invalid",
        )
    };
    let mut long_head = first.as_bytes().to_vec();
    // The tag 18 in two bytes in place of one.
    long_head.splice(0..1, [0xd8, 18]);
    let all_keys: Vec<Value> = KEYS
        .into_iter()
        .map(|(name, n)| {
            let set = keys(n).set().clone();
            let public: String = set.iter().map(|(_, key)| base64url::encode(key)).collect();
            json!({ "name": name, "seed": base64url::encode(&[n; 32]), "public": public })
        })
        .collect();
    json!({
        "about": "COSE_Sign1 messages of signet-agent with Ed25519; crates/agent/agent.cddl describes them",
        "keys": all_keys,
        "vectors": [
            vector("a document", alice.document.signed().as_bytes(), "alice", "accept"),
            vector("a document after a rotation", rotated.signed().as_bytes(), "alice's second", "accept"),
            vector("a grant", plain.as_bytes(), "alice", "accept"),
            vector("a grant with every constraint", full.as_bytes(), "alice", "accept"),
            vector("a receipt", first.as_bytes(), "alice", "accept"),
            vector("the receipt after it", second.as_bytes(), "alice", "accept"),
            vector("a proof of possession", proof.as_bytes(), "bob", "accept"),
            vector("a revocation", revocation.as_bytes(), "alice", "accept"),
            vector("a document that gives an earlier key up", again.signed().as_bytes(), "alice's third", "accept"),
            with_document(vector("a grant of before its key was retired", plain.as_bytes(), "alice", "accept"), &rotated),
            with_document(vector("a grant of after its key was retired", late.as_bytes(), "alice", "retired_key"), &rotated),
            with_document(vector("a revocation by a retired key", revocation.as_bytes(), "alice", "retired_key"), &rotated),
            with_document(vector("a grant by a key that was given up later", plain.as_bytes(), "alice", "key_compromised"), &again),
            vector("a receipt with another time", &changed(first.as_bytes(), 66 + 36), "alice", "signature_invalid"),
            vector("a receipt with a changed signature", &changed(first.as_bytes(), 40), "alice", "signature_invalid"),
            mallory,
            vector("a receipt with a long head", &long_head, "alice", "not_canonical"),
            vector("a receipt with a byte after it", &[first.as_bytes(), &[0]].concat(), "alice", "malformed"),
        ],
    })
}

/// What this crate answers of a vector.
fn answer(
    kind: &str,
    message: Vec<u8>,
    key: &SigningKeys,
    document: Option<&VerifiedDocument>,
) -> &'static str {
    fn verify<T: Object>(
        message: Vec<u8>,
        key: &SigningKeys,
        document: Option<&VerifiedDocument>,
    ) -> signet_agent::Result<()> {
        let keys = signet_agent::VerifyingKeys::new(key.set())?;
        let signed = Signed::<T>::parse(message)?;
        signed.verify(&keys)?;
        match document {
            // Whether the key might, once it is clear that it did.
            Some(document) => signed.verify_by(document, &Anchors::none()),
            None => Ok(()),
        }
    }
    let outcome = match kind {
        "identity" => Signed::<Document>::parse(message.clone())
            .and_then(VerifiedDocument::new)
            .and_then(|document| document.signed().verify_by(&document, &Anchors::none()))
            .and_then(|()| verify::<Document>(message, key, None)),
        "grant" => verify::<Grant>(message, key, document),
        "proof" => verify::<Proof>(message, key, document),
        "revocation" => verify::<Revocation>(message, key, document),
        _ => verify::<Receipt>(message, key, document),
    };
    outcome.map_or_else(|reason| reason.name(), |()| "accept")
}

#[test]
fn the_vector_file_is_current() {
    let made = serde_json::to_string_pretty(&vectors()).expect("JSON") + "\n";
    if std::env::var_os("SIGNET_WRITE_VECTORS").is_some() {
        std::fs::write(FILE, &made).expect("written");
    }
    assert_eq!(std::fs::read_to_string(FILE).expect("the vectors"), made);
}

#[test]
fn every_vector_is_answered_as_it_says() {
    let file: Value =
        serde_json::from_str(&std::fs::read_to_string(FILE).expect("the vectors")).expect("JSON");
    for vector in file["vectors"].as_array().expect("vectors") {
        let text = |name: &str| vector[name].as_str().expect(name);
        let mut named = KEYS.into_iter().filter(|(name, _)| *name == text("key"));
        let (_, seed) = named.next().expect("a key");
        let message = base64url::decode(text("message")).expect("base64url");
        let document = vector["document"].as_str().map(|text| {
            let message = base64url::decode(text).expect("base64url");
            VerifiedDocument::parse(message).expect("a document")
        });
        assert_eq!(
            answer(text("type"), message, &keys(seed), document.as_ref()),
            text("answer"),
            "{}",
            text("name")
        );
    }
}

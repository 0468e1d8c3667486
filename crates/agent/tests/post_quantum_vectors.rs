//! The published vectors with ML-DSA, alone and together with Ed25519. ML-DSA signatures are random
//! (FIPS 204 section 3.4), so the file is compared by what is signed, and its signatures are
//! verified.

use serde_json::{Value, json};
use signet_agent::cose::{self, Message};
use signet_agent::grant::Grant;
use signet_agent::identity::{Document, VerifiedDocument, create_from};
use signet_agent::object::{Object, Signed, Type};
use signet_agent::receipt::Receipt;
use signet_agent::{Alg, Hash, Result, SigningKeys, Suite, VerifyingKeys, base64url};
use signet_crypto::Secret;

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../vectors/agent/post-quantum.json"
);

const SUITES: [Suite; 4] = [
    Suite::MlDsa44,
    Suite::MlDsa65,
    Suite::Ed25519MlDsa44,
    Suite::Ed25519MlDsa65,
];

/// The seeds are 32 bytes of one value each: `first`, then the next.
fn keys(suite: Suite, first: u8) -> SigningKeys {
    let seeds = (first..)
        .zip(suite.algorithms())
        .map(|(n, _)| Secret::new([n; 32]));
    SigningKeys::from_seeds(suite, seeds.collect()).expect("keys")
}

fn vector(name: &str, message: &[u8], answer: &str) -> Value {
    let parsed = Message::parse(message).expect("parsed");
    let kind = Type::of_payload(parsed.payload()).expect("an object");
    json!({
        "name": name,
        "type": kind.name(),
        "message": base64url::encode(message),
        "id": Hash::of(parsed.payload()).to_string(),
        "answer": answer,
    })
}

type Signatures = Vec<(Alg, Vec<u8>)>;

fn group(suite: Suite) -> Value {
    let agent =
        create_from("agent", keys(suite, 1), keys(suite, 3), 1_790_000_000).expect("created");
    let signer = agent.document.signer(&agent.keys);
    let body = Receipt::new(agent.document.by(), "decision", 1_790_000_000_000)
        .with_content(b"approved the quarterly budget increase of 5%");
    let receipt = Signed::sign(&body, &signer).expect("signed");
    let mut grant = Grant::new(
        agent.document.by(),
        &agent.document,
        vec!["read:calendar".parse().expect("capability")],
        1_790_000_000,
        3_600,
    );
    grant.serial = [7; 8];
    let grant = Signed::sign(&grant, &signer).expect("signed");
    let own: Signatures = Message::parse(receipt.as_bytes())
        .expect("parsed")
        .signatures()
        .iter()
        .map(|(alg, bytes)| (*alg, bytes.to_vec()))
        .collect();
    let under = |signatures: &[(Alg, Vec<u8>)]| {
        cose::assemble(receipt.payload(), signatures).expect("assembled")
    };
    let mut vectors = vec![
        vector("a document", agent.document.signed().as_bytes(), "accept"),
        vector("a receipt", receipt.as_bytes(), "accept"),
        vector("a grant", grant.as_bytes(), "accept"),
    ];
    for (i, (alg, _)) in own.iter().enumerate() {
        let mut changed = own.clone();
        changed[i].1[9] ^= 1;
        let name = format!("a receipt with a changed {} signature", alg.name());
        vectors.push(vector(&name, &under(&changed), "signature_invalid"));
        if own.len() > 1 {
            let name = format!("a receipt with its {} signature alone", alg.name());
            vectors.push(vector(&name, &under(&own[i..=i]), "wrong_algorithm"));
        }
    }
    if own.len() > 1 {
        let reversed: Signatures = own.iter().rev().cloned().collect();
        vectors.push(vector(
            "a receipt with its signatures in another order",
            &under(&reversed),
            "wrong_algorithm",
        ));
    }
    let set = agent.keys.set().clone();
    let public = set.iter().zip(agent.keys.seeds()).map(|((alg, key), seed)| {
        json!({ "alg": alg.name(), "seed": base64url::encode(seed.expose()), "public": base64url::encode(key) })
    });
    json!({ "suite": suite.name(), "keys": public.collect::<Value>(), "vectors": vectors })
}

fn made() -> Value {
    json!({
        "about": "messages of signet-agent with ML-DSA (FIPS 204): COSE_Sign1, and COSE_Sign where Ed25519 signs too",
        "suites": SUITES.map(group),
    })
}

fn read() -> Value {
    serde_json::from_str(&std::fs::read_to_string(FILE).expect("the vectors")).expect("JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name]
        .as_str()
        .unwrap_or_else(|| panic!("{name} of {value}"))
}

#[test]
fn what_is_signed_in_the_file_is_what_this_crate_makes() {
    let made = made();
    if std::env::var_os("SIGNET_WRITE_VECTORS").is_some() {
        let written = serde_json::to_string_pretty(&made).expect("JSON") + "\n";
        std::fs::write(FILE, written).expect("written");
    }
    let file = read();
    assert_eq!(list(&file["suites"]).len(), SUITES.len());
    for (of_file, own) in list(&file["suites"]).iter().zip(list(&made["suites"])) {
        assert_eq!(of_file["suite"], own["suite"]);
        assert_eq!(of_file["keys"], own["keys"]);
        for (of_file, own) in list(&of_file["vectors"]).iter().zip(list(&own["vectors"])) {
            for member in ["name", "type", "id", "answer"] {
                // A document's id is that of its payload, which holds no signature of this one's.
                assert_eq!(of_file[member], own[member]);
            }
        }
        assert_eq!(list(&of_file["vectors"]).len(), list(&own["vectors"]).len());
    }
}

fn answer(kind: &str, message: Vec<u8>, keys: &VerifyingKeys) -> &'static str {
    fn verify<T: Object>(message: Vec<u8>, keys: &VerifyingKeys) -> Result<()> {
        Signed::<T>::parse(message)?.verify(keys)
    }
    let outcome = match kind {
        "identity" => {
            VerifiedDocument::parse(message.clone()).and_then(|_| verify::<Document>(message, keys))
        }
        "grant" => verify::<Grant>(message, keys),
        _ => verify::<Receipt>(message, keys),
    };
    outcome.map_or_else(|reason| reason.name(), |()| "accept")
}

#[test]
fn every_vector_is_answered_as_it_says() {
    let file = read();
    for (group, suite) in list(&file["suites"]).iter().zip(SUITES) {
        assert_eq!(text(group, "suite"), suite.name());
        let keys = VerifyingKeys::new(keys(suite, 1).set()).expect("keys");
        for vector in list(&group["vectors"]) {
            let message = base64url::decode(text(vector, "message")).expect("base64url");
            let found = answer(text(vector, "type"), message, &keys);
            assert_eq!(
                found,
                text(vector, "answer"),
                "{} {}",
                suite.name(),
                text(vector, "name")
            );
        }
    }
}

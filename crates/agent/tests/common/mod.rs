//! What the tests of this folder share: agents, and forgers.
#![allow(dead_code, reason = "each test uses its own part")]

use signet_agent::capability::Capability;
use signet_agent::cose::{self, Message};
use signet_agent::grant::Grant;
use signet_agent::identity::{Created, create};
use signet_agent::object::{Object, Signed};
use signet_agent::{KeySet, SigningKeys, Suite};

pub const NOW: u64 = 1_790_000_000;

pub fn agent(name: &str) -> Created {
    create(name, Suite::Ed25519, NOW).expect("created")
}

pub fn fresh() -> SigningKeys {
    SigningKeys::generate(Suite::Ed25519).expect("generated")
}

pub fn key_set() -> KeySet {
    fresh().set().clone()
}

pub fn capability(text: &str) -> Capability {
    text.parse().expect(text)
}

pub fn sign<T: Object>(by: &Created, body: &T) -> Signed<T> {
    Signed::sign(body, &by.document.signer(&by.keys)).expect("signed")
}

pub fn grant(from: &Created, to: &Created, what: &str, depth: u64) -> Grant {
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

/// An object that names one signer and is signed with the keys of another.
pub fn forge<T: Object>(body: &T, keys: &SigningKeys) -> Signed<T> {
    Signed::parse(cose::sign(&body.payload(), &[keys]).expect("signed")).expect("well-formed")
}

/// Another body under the signatures of this one.
pub fn edit<T: Object + Clone>(signed: &Signed<T>, change: impl FnOnce(&mut T)) -> Signed<T> {
    let mut body = signed.body().clone();
    change(&mut body);
    let message = Message::parse(signed.as_bytes()).expect("parsed");
    let signatures: Vec<_> = message
        .signatures()
        .iter()
        .map(|(alg, signature)| (*alg, signature.to_vec()))
        .collect();
    let data = cose::assemble(&body.payload(), &signatures).expect("assembled");
    Signed::parse(data).expect("well-formed")
}

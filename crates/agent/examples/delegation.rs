//! Who lets whom do what, from the first key to the verified chain:
//! `cargo run -p signet-agent --example delegation`.
//!
//! Alice lets Bob read her files, Bob passes a part of that on to Carol, and Carol shows both
//! grants to a server together with a proof that she is the one. The server knows Alice and nobody
//! else.

#![allow(clippy::print_stdout, reason = "a program that says what it did")]

use signet_agent::{
    Refusal, Suite,
    anchor::Anchors,
    capability::Capability,
    chain::{Accepted, ChainRefusal, Check},
    constraint::Context,
    grant::Grant,
    identity::{Created, VerifiedDocument, create},
    object::Signed,
    presentation::Presentation,
    proof::{Expected, Proof},
    revocation::Revocations,
};
use std::{error::Error, time::UNIX_EPOCH};

const SERVER: &str = "https://files.example.com";
const HOUR: u64 = 3_600;

/// A grant from one agent to another, which may be handed on `further` times.
fn grant(
    from: &Created,
    to: &VerifiedDocument,
    what: &str,
    further: u64,
    now: u64,
) -> Result<Grant, Refusal> {
    let mut grant = Grant::new(from.document.by(), to, vec![what.parse()?], now, HOUR);
    grant.max_depth = further;
    grant.constraints.audience = vec![SERVER.to_owned()];
    Ok(grant)
}

/// The server's side: it has the root's document from elsewhere, and gave out `nonce`.
fn check(
    presented: &str,
    root: &VerifiedDocument,
    asked: &Capability,
    nonce: &[u8],
    now: u64,
) -> Result<Result<Accepted, ChainRefusal>, Refusal> {
    let presentation = Presentation::from_text(presented)?;
    let expected = Expected {
        audience: SERVER,
        nonce: Some(nonce),
        max_age: 60,
    };
    let check = Check {
        root,
        documents: &presentation.documents,
        capability: asked,
        context: Context {
            audience: Some(SERVER),
            ..Context::default()
        },
        now,
        leeway: 30,
        revocations: &Revocations::as_of(now),
        max_staleness: None,
        declarations: &presentation.declarations,
        kept_declarations: &[],
        lineages: &[],
        anchors: &Anchors::none(),
        proof: Some((&presentation.proof, expected)),
    };
    Ok(check.run(&presentation.grants))
}

/// The whole story.
pub fn main() -> Result<(), Box<dyn Error>> {
    let now = UNIX_EPOCH.elapsed()?.as_secs();
    // Ed25519 here; `Suite` has the post-quantum ones, and nothing else changes.
    let alice = create("alice", Suite::Ed25519, now)?;
    let bob = create("bob", Suite::Ed25519, now)?;
    let carol = create("carol", Suite::Ed25519, now)?;

    let to_bob = grant(&alice, &bob.document, "read:files/*", 1, now)?;
    let to_bob = Signed::sign(&to_bob, &alice.document.signer(&alice.keys))?;
    // A grant only narrows: `under` refuses one that is wider than its parent.
    let to_carol = grant(&bob, &carol.document, "read:files/report", 0, now)?.under(&to_bob)?;
    let to_carol = Signed::sign(&to_carol, &bob.document.signer(&bob.keys))?;
    let wider = grant(&bob, &carol.document, "write:files/report", 0, now)?.under(&to_bob);
    assert_eq!(wider.err(), Some(Refusal::CapabilityWidened));

    let nonce = b"what the server gave out";
    let proof = Proof {
        by: carol.document.by(),
        grant: to_carol.id(),
        audience: SERVER.to_owned(),
        at: now,
        nonce: nonce.to_vec(),
        method: None,
    };
    let shown = Presentation {
        grants: vec![to_bob, to_carol],
        proof: Signed::sign(&proof, &carol.document.signer(&carol.keys))?,
        documents: vec![bob.document, carol.document.clone()],
        declarations: Vec::new(),
        births: Vec::new(),
    }
    .to_text();

    let report = "read:files/report".parse()?;
    let accepted = check(&shown, &alice.document, &report, nonce, now)??;
    assert_eq!(accepted.holder.agent, carol.document.id());
    assert!(accepted.possession_proven);
    println!("Carol may act until {}", accepted.not_after);

    let diary = "read:files/diary".parse()?;
    for (root, asked, nonce, reason) in [
        (
            &alice.document,
            &diary,
            &nonce[..],
            Refusal::CapabilityNotGranted,
        ),
        (
            &alice.document,
            &report,
            b"yesterday's",
            Refusal::ProofNonceMismatch,
        ),
        (&carol.document, &report, &nonce[..], Refusal::WrongRoot),
    ] {
        let refused = check(&shown, root, asked, nonce, now)?;
        let refusal = refused.err().ok_or("accepted what must be refused")?;
        assert_eq!(refusal.reason, reason);
        println!("refused: {refusal}");
    }
    Ok(())
}

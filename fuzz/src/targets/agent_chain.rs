//! Chains of grants, each after its length in two bytes. Rule: the quick answer, the explained one
//! and the one with what was verified before are the same, and what is accepted begins at the root.

use std::sync::OnceLock;

use signet_agent::anchor::Anchors;
use signet_agent::capability::Capability;
use signet_agent::chain::{Cache, Check};
use signet_agent::constraint::Context;
use signet_agent::grant::Grant;
use signet_agent::identity::{VerifiedDocument, create_from};
use signet_agent::object::Signed;
use signet_agent::revocation::Revocations;
use signet_agent::{SigningKeys, Suite};
use signet_crypto::Secret;

const NOW: u64 = 1_790_000_010;

/// Alice of vectors/agent, and what is asked.
fn scene() -> &'static (VerifiedDocument, Capability) {
    static SCENE: OnceLock<(VerifiedDocument, Capability)> = OnceLock::new();
    SCENE.get_or_init(|| {
        let keys =
            |n| SigningKeys::from_seeds(Suite::Ed25519, vec![Secret::new([n; 32])]).expect("keys");
        let alice = create_from("alice", keys(1), keys(2), 1_790_000_000).expect("created");
        let asked = "read:calendar".parse().expect("a capability");
        (alice.document, asked)
    })
}

fn links(mut data: &[u8]) -> Vec<Signed<Grant>> {
    let mut links = Vec::new();
    while let Some((len, rest)) = data.split_first_chunk::<2>() {
        let len = usize::from(u16::from_be_bytes(*len)).min(rest.len());
        let (message, after) = rest.split_at(len);
        if let Ok(grant) = Signed::parse(message.to_vec()) {
            links.push(grant);
        }
        data = after;
    }
    links
}

/// One input.
pub fn run(data: &[u8]) {
    let links = links(data);
    let (root, capability) = scene();
    let (revocations, anchors) = (Revocations::as_of(NOW), Anchors::none());
    let check = Check {
        root,
        documents: &[],
        capability,
        context: Context::default(),
        now: NOW,
        leeway: 0,
        revocations: &revocations,
        max_staleness: None,
        declarations: &[],
        kept_declarations: &[],
        lineages: &[],
        anchors: &anchors,
        proof: None,
    };
    let quick = check.run(&links);
    let (steps, explained) = check.explain(&links);
    assert_eq!(quick, explained);
    assert_eq!(
        quick.as_ref().err().map(|refused| Some(refused.reason)),
        steps
            .last()
            .filter(|_| quick.is_err())
            .map(|step| step.refused),
        "an explanation ends with the reason"
    );
    let mut cache = Cache::default();
    for _ in 0..2 {
        assert_eq!(check.run_cached(&links, &mut cache), quick);
    }
    if let Ok(accepted) = quick {
        assert_eq!(accepted.agents.first(), Some(&root.id()));
        assert_eq!(accepted.grants.len(), links.len());
    }
}

//! Chains of grants, checked again and with a known prefix.

use std::hint::black_box;

use agentic_identity::identity::IdentityAnchor;
use agentic_identity::trust::capability::Capability as PeerCapability;
use agentic_identity::trust::chain::verify_trust_chain;
use agentic_identity::trust::grant::{TrustGrant, TrustGrantBuilder};
use signet_agent::anchor::Anchors;
use signet_agent::chain::{Cache, Check};
use signet_agent::constraint::Context;
use signet_agent::grant::Grant;
use signet_agent::object::Signed;
use signet_agent::revocation::Revocations;

use crate::{Bench, Cast, NOW, agent, grant};

/// Chains of two and of ten.
pub(crate) fn run(bench: &mut Bench, cast: &Cast) {
    let capability = "read:calendar".parse().expect("a capability");
    let (revocations, anchors) = (Revocations::as_of(NOW), Anchors::none());
    let check = Check {
        root: &cast.alice.document,
        documents: &[],
        capability: &capability,
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
    for (depth, aim) in [(2_u64, Some(1.9)), (10, None)] {
        let agents: Vec<_> = (0..depth).map(|n| agent(&format!("agent {n}"))).collect();
        let mut links: Vec<Signed<Grant>> = Vec::new();
        for (n, to) in agents.iter().enumerate() {
            let from = if n == 0 { &cast.alice } else { &agents[n - 1] };
            links.push(grant(from, &to.document, depth - n as u64, links.last()));
        }
        bench.pair(
            &format!("chain/{depth}/unknown_agents"),
            "one bare signature check, its key prepared",
            None,
            |n| cast.verify_bare(n),
            |_| {
                black_box(check.run(&links).expect("accepted"));
            },
        );
        // The verifier has the agents' documents, as it has the root's: every key was prepared
        // once.
        let documents: Vec<_> = agents.iter().map(|agent| agent.document.clone()).collect();
        let check = Check {
            documents: &documents,
            ..check
        };
        bench.pair(
            &format!("chain/{depth}"),
            "one bare signature check, its key prepared",
            aim,
            |n| cast.verify_bare(n),
            |_| {
                black_box(check.run(&links).expect("accepted"));
            },
        );
        let peers: Vec<_> = (0..=depth)
            .map(|n| IdentityAnchor::new(Some(format!("agent {n}"))))
            .collect();
        let mut peer_links: Vec<TrustGrant> = Vec::new();
        for (n, pair) in (1_u32..).zip(peers.windows(2)) {
            let to = &pair[1];
            let grant = TrustGrantBuilder::new(pair[0].id(), to.id(), to.public_key_base64())
                .capability(PeerCapability::new("read:calendar"))
                .allow_delegation(32);
            let grant = match peer_links.last() {
                Some(parent) => grant.delegated_from(parent.id.clone(), n - 1),
                None => grant,
            };
            peer_links.push(grant.sign(pair[0].signing_key()).expect("signed"));
        }
        bench.pair(
            &format!("chain/{depth}/peer"),
            "agentic-identity",
            Some(0.5),
            |_| {
                let verified = verify_trust_chain(&peer_links, "read:calendar", &[]);
                assert!(verified.expect("an answer").is_valid);
            },
            |_| {
                black_box(check.run(&links).expect("accepted"));
            },
        );
        let mut cache = Cache::default();
        bench.pair(
            &format!("chain/{depth}/known"),
            "one bare signature check",
            None,
            |n| cast.verify_bare(n),
            |_| {
                black_box(check.run_cached(&links, &mut cache).expect("accepted"));
            },
        );
    }
}

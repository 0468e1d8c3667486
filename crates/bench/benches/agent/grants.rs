//! Grants.

use std::hint::black_box;

use agentic_identity::identity::IdentityAnchor;
use agentic_identity::trust::capability::Capability as PeerCapability;
use agentic_identity::trust::grant::TrustGrantBuilder;
use agentic_identity::trust::verify::verify_trust_grant;
use signet_agent::anchor::Anchors;
use signet_agent::grant::Grant;
use signet_agent::object::Signed;

use crate::{Bench, Cast, grant};

/// Signing and verifying.
pub(crate) fn run(bench: &mut Bench, cast: &Cast) {
    let mut buffer = Vec::new();
    // As many bytes as a grant has, so that the floor hashes as much.
    let grant_payload = grant(&cast.alice, &cast.bob.document, 0, None)
        .payload()
        .to_vec();
    let sign_bare_grant = |n: u64, buffer: &mut Vec<u8>| {
        let mut message = grant_payload.clone();
        message.extend_from_slice(&n.to_be_bytes());
        buffer.clear();
        cast.bare.sign_into(&message, buffer).expect("signed");
    };
    bench.pair(
        "grant/sign",
        "bare signature of as many bytes",
        Some(1.15),
        |n| sign_bare_grant(n, &mut buffer),
        |_| {
            black_box(grant(&cast.alice, &cast.bob.document, 0, None));
        },
    );
    let peer_bob = IdentityAnchor::new(Some("bob".to_owned()));
    bench.pair(
        "grant/sign/peer",
        "agentic-identity",
        Some(0.5),
        |_| {
            let grant =
                TrustGrantBuilder::new(cast.peer.id(), peer_bob.id(), peer_bob.public_key_base64());
            black_box(
                grant
                    .capability(PeerCapability::new("read:calendar"))
                    .sign(cast.peer.signing_key())
                    .expect("signed"),
            );
        },
        |_| {
            black_box(grant(&cast.alice, &cast.bob.document, 0, None));
        },
    );
    let grants: Vec<_> = (0..64)
        .map(|_| {
            grant(&cast.alice, &cast.bob.document, 0, None)
                .as_bytes()
                .to_vec()
        })
        .collect();
    bench.pair(
        "grant/verify",
        "bare signature check",
        Some(1.1),
        |n| cast.verify_bare(n),
        |n| {
            let grant = Signed::<Grant>::parse(grants[(n % 64) as usize].clone()).expect("a grant");
            grant
                .verify_by(&cast.alice.document, &Anchors::none())
                .expect("holds");
        },
    );

    let peer_grant = |from: &IdentityAnchor, to: &IdentityAnchor, depth: u32| {
        let grant = TrustGrantBuilder::new(from.id(), to.id(), to.public_key_base64());
        let grant = grant.capability(PeerCapability::new("read:calendar"));
        let grant = if depth > 0 {
            grant.allow_delegation(depth)
        } else {
            grant
        };
        grant.sign(from.signing_key()).expect("signed")
    };
    let peer_grants: Vec<_> = (0..64)
        .map(|_| peer_grant(&cast.peer, &peer_bob, 0))
        .collect();
    bench.pair(
        "grant/verify/peer",
        "agentic-identity",
        Some(0.5),
        |n| {
            let verified =
                verify_trust_grant(&peer_grants[(n % 64) as usize], "read:calendar", 0, &[]);
            assert!(verified.expect("an answer").is_valid);
        },
        |n| {
            let grant = Signed::<Grant>::parse(grants[(n % 64) as usize].clone()).expect("a grant");
            grant
                .verify_by(&cast.alice.document, &Anchors::none())
                .expect("holds");
        },
    );
}

//! Keys, signatures, HKDF and identities beside the peer.

use std::hint::black_box;

use agentic_identity::identity::IdentityAnchor;
use signet_agent::method::Purpose;
use signet_agent::{SigningKeys, Suite};
use signet_crypto::{Algorithm, SigningKey};

use crate::{Bench, Cast, agent};

/// Key generation, signature, check, HKDF, a new identity, a derived key.
pub(crate) fn run(bench: &mut Bench, cast: &Cast) {
    let mut buffer = Vec::new();
    let signer = cast.alice.document.signer(&cast.alice.keys);
    bench.pair(
        "key_generation",
        "bare key generation",
        None,
        |_| {
            black_box(SigningKey::generate(Algorithm::EdDsa).expect("generated"));
        },
        |_| {
            black_box(SigningKeys::generate(Suite::Ed25519).expect("generated"));
        },
    );
    bench.pair(
        "key_generation/peer",
        "agentic-identity",
        Some(0.5),
        |_| {
            black_box(agentic_identity::crypto::keys::Ed25519KeyPair::generate());
        },
        |_| {
            black_box(SigningKeys::generate(Suite::Ed25519).expect("generated"));
        },
    );
    let peer_key = agentic_identity::crypto::keys::Ed25519KeyPair::generate();
    let peer_signed: Vec<_> = cast
        .signed
        .iter()
        .map(|(message, _)| {
            agentic_identity::crypto::signing::sign(peer_key.signing_key(), message)
        })
        .collect();
    bench.pair(
        "sign/peer",
        "agentic-identity",
        Some(0.5),
        |n| {
            let message = [cast.payload.as_slice(), &n.to_be_bytes()].concat();
            black_box(agentic_identity::crypto::signing::sign(
                peer_key.signing_key(),
                &message,
            ));
        },
        |n| {
            black_box(cast.sign_bare(n, &mut buffer));
        },
    );
    bench.pair(
        "verify/peer",
        "agentic-identity",
        Some(0.5),
        |n| {
            let at = (n % 64) as usize;
            let held = agentic_identity::crypto::signing::verify(
                peer_key.verifying_key(),
                &cast.signed[at].0,
                &peer_signed[at],
            );
            held.expect("holds");
        },
        |n| cast.verify_bare(n),
    );
    let seed = [7; 32];
    bench.pair(
        "hkdf_sha256/peer",
        "agentic-identity",
        None,
        |n| {
            black_box(
                agentic_identity::crypto::derivation::derive_key(&seed, &n.to_string())
                    .expect("derived"),
            );
        },
        |n| {
            let derived: signet_crypto::Secret<[u8; 32]> =
                signet_crypto::kdf::hkdf_sha256(b"salt", &seed, n.to_string().as_bytes());
            black_box(derived);
        },
    );
    bench.pair(
        "identity_creation",
        "agentic-identity, which has no document and no next key",
        None,
        |_| {
            black_box(IdentityAnchor::new(Some("alice".to_owned())));
        },
        |_| {
            black_box(agent("alice"));
        },
    );
    bench.pair(
        "derive/peer",
        "agentic-identity",
        None,
        |n| {
            black_box(
                cast.peer
                    .derive_session_key(&n.to_string())
                    .expect("derived"),
            );
        },
        |n| {
            black_box(
                signet_agent::derive::derive(
                    &signer,
                    Purpose::Session,
                    &n.to_string(),
                    Suite::Ed25519,
                )
                .expect("derived"),
            );
        },
    );
}

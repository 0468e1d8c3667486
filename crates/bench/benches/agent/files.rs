//! Identity files.

use std::hint::black_box;

use agentic_identity::storage::{load_identity, save_identity};
use signet_agent::file::{IdentityFile, Kind};
use signet_crypto::password::{Cost, derive_key};

use crate::{Bench, Cast};

/// Opening a file.
pub(crate) fn run(bench: &mut Bench, cast: &Cast) {
    // What an identity file costs is what its Argon2id costs, on purpose: the parameters of `signet
    // agent create`.
    let cost = Cost {
        memory_kib: 64 * 1024,
        passes: 3,
        lanes: 1,
    };
    let file = IdentityFile::seal(
        Kind::Current,
        &cast.alice.document,
        &cast.alice.keys,
        b"correct",
        cost,
    )
    .expect("sealed")
    .to_bytes();
    bench.pair(
        "aid/open",
        "bare Argon2id with the same parameters",
        Some(1.1),
        |n| {
            let mut salt = [0; 16];
            salt[..8].copy_from_slice(&n.to_be_bytes());
            black_box(derive_key(b"correct", &salt, cost).expect("derived"));
        },
        |_| {
            let file = IdentityFile::parse(&file).expect("a file");
            black_box(file.open(b"correct").expect("opened"));
        },
    );
    let folder = tempfile::tempdir().expect("a folder");
    let peer_file = folder.path().join("peer.aid");
    save_identity(&cast.peer, &peer_file, "correct").expect("saved");
    bench.pair(
        "aid/open/peer",
        "agentic-identity, on four lanes",
        None,
        |_| {
            black_box(load_identity(&peer_file, "correct").expect("opened"));
        },
        |_| {
            let file = IdentityFile::parse(&file).expect("a file");
            black_box(file.open(b"correct").expect("opened"));
        },
    );
}

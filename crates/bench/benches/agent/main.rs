//! Agents' objects beside the bare operation that they cannot be faster than, and beside the crate `agentic-identity` 0.3.0,
//! all in one run. Content is really hashed; every message is another one.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use agentic_identity::identity::IdentityAnchor;
use agentic_identity::receipt::action::{ActionContent, ActionType};
use agentic_identity::receipt::receipt::ReceiptBuilder;
use agentic_identity::receipt::verify::verify_receipt;
use agentic_identity::storage::{load_identity, save_identity};
use agentic_identity::trust::capability::Capability as PeerCapability;
use agentic_identity::trust::chain::verify_trust_chain;
use agentic_identity::trust::grant::{TrustGrant, TrustGrantBuilder};
use agentic_identity::trust::verify::verify_trust_grant;
use criterion::Criterion;
use signet_agent::anchor::Anchors;
use signet_agent::chain::{Cache, Check};
use signet_agent::constraint::Context;
use signet_agent::file::{IdentityFile, Kind};
use signet_agent::grant::Grant;
use signet_agent::identity::{Created, VerifiedDocument, create};
use signet_agent::log::{Checkpoint, InclusionProof, Tree};
use signet_agent::method::Purpose;
use signet_agent::object::{Object, Signed};
use signet_agent::receipt::Receipt;
use signet_agent::revocation::Revocations;
use signet_agent::{SigningKeys, Suite};
use signet_bench::report::{Line, Report};
use signet_crypto::hash::sha256;
use signet_crypto::password::{Cost, derive_key};
use signet_crypto::{Algorithm, SigningKey};

const CONTENT: &[u8] = b"approved the quarterly budget increase of 5%";
const NOW: u64 = 1_790_000_000;

/// What a figure should not exceed.
enum Aim {
    /// So many times its floor.
    Ratio(f64),
    /// So many microseconds.
    Microseconds(f64),
}

/// Runs two things in turns and reports the first beside the second.
struct Bench {
    criterion: Criterion,
    report: Report,
}

impl Bench {
    /// Both are one operation.
    fn pair(
        &mut self,
        name: &str,
        floor_name: &str,
        aim: Option<f64>,
        floor: impl FnMut(u64),
        value: impl FnMut(u64),
    ) {
        self.pair_of(name, 1, floor_name, aim.map(Aim::Ratio), floor, value);
    }

    /// Both are `count` operations; the figures are those of one.
    fn pair_of(
        &mut self,
        name: &str,
        count: u32,
        floor_name: &str,
        aim: Option<Aim>,
        mut floor: impl FnMut(u64),
        mut value: impl FnMut(u64),
    ) {
        let (mut floors, mut values, mut n) = (Vec::new(), Vec::new(), 0_u64);
        self.criterion.bench_function(name, |b| {
            b.iter_custom(|iterations| {
                let (mut floor_time, mut value_time) = (Duration::ZERO, Duration::ZERO);
                for _ in 0..iterations {
                    n += 1;
                    let start = Instant::now();
                    floor(n);
                    let middle = Instant::now();
                    value(n);
                    value_time += middle.elapsed();
                    floor_time += middle - start;
                }
                floors.push(floor_time.as_secs_f64() / iterations as f64);
                values.push(value_time.as_secs_f64() / iterations as f64);
                value_time
            });
        });
        if values.is_empty() {
            return; // filtered out on the command line
        }
        let of_one = |times: &mut [f64]| median(times) * 1e6 / f64::from(count);
        let floor_us = of_one(&mut floors);
        self.report.add(Line {
            name: name.to_owned(),
            value_us: of_one(&mut values),
            floor_us,
            floor: floor_name.to_owned(),
            cpu: None,
            aim: aim.map(|aim| match aim {
                Aim::Ratio(ratio) => ratio,
                Aim::Microseconds(most) => most / floor_us,
            }),
        });
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn agent(name: &str) -> Created {
    create(name, Suite::Ed25519, NOW).expect("created")
}

fn receipt(agent: &Created, n: u64) -> Signed<Receipt> {
    let body = Receipt::new(agent.document.by(), "decision", NOW * 1_000 + n).with_content(CONTENT);
    Signed::sign(&body, &agent.document.signer(&agent.keys)).expect("signed")
}

fn grant(
    from: &Created,
    to: &VerifiedDocument,
    depth: u64,
    parent: Option<&Signed<Grant>>,
) -> Signed<Grant> {
    let what = "read:calendar".parse().expect("a capability");
    let mut body = Grant::new(from.document.by(), to, vec![what], NOW, 3_600);
    body.max_depth = depth;
    if let Some(parent) = parent {
        body = body.under(parent).expect("narrower");
    }
    Signed::sign(&body, &from.document.signer(&from.keys)).expect("signed")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut bench = Bench {
        criterion: Criterion::default().configure_from_args(),
        report: Report::default(),
    };
    let (alice, bob) = (agent("alice"), agent("bob"));
    let peer = IdentityAnchor::new(Some("alice".to_owned()));
    let bare = SigningKey::generate(Algorithm::EdDsa)?;
    let bare_verifying = bare.verifying_key()?;
    let payload = receipt(&alice, 0).payload().to_vec();
    let mut buffer = Vec::new();
    let sign_bare = |n: u64, buffer: &mut Vec<u8>| {
        let mut message = payload.clone();
        message.extend_from_slice(&n.to_be_bytes());
        buffer.clear();
        bare.sign_into(&message, buffer).expect("signed");
        message
    };
    let signed: Vec<_> = (0..64)
        .map(|n| {
            let mut signature = Vec::new();
            (sign_bare(n, &mut signature), signature)
        })
        .collect();
    let verify_bare = |n: u64| {
        let (message, signature) = &signed[(n % 64) as usize];
        bare_verifying.verify(message, signature).expect("holds");
    };

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
    let peer_signed: Vec<_> = signed
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
            let message = [payload.as_slice(), &n.to_be_bytes()].concat();
            black_box(agentic_identity::crypto::signing::sign(
                peer_key.signing_key(),
                &message,
            ));
        },
        |n| {
            black_box(sign_bare(n, &mut buffer));
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
                &signed[at].0,
                &peer_signed[at],
            );
            held.expect("holds");
        },
        verify_bare,
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
    let signer = alice.document.signer(&alice.keys);
    bench.pair(
        "derive/peer",
        "agentic-identity",
        None,
        |n| {
            black_box(peer.derive_session_key(&n.to_string()).expect("derived"));
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

    bench.pair(
        "receipt/sign",
        "bare signature",
        Some(1.15),
        |n| {
            black_box(sign_bare(n, &mut buffer));
        },
        |n| {
            black_box(receipt(&alice, n));
        },
    );
    let peer_receipt = |n: u64| {
        let text = format!("{} {n}", String::from_utf8_lossy(CONTENT));
        ReceiptBuilder::new(peer.id(), ActionType::Decision, ActionContent::new(text))
            .sign(peer.signing_key())
            .expect("signed")
    };
    bench.pair(
        "receipt/sign/peer",
        "agentic-identity",
        Some(0.5),
        |n| {
            black_box(peer_receipt(n));
        },
        |n| {
            black_box(receipt(&alice, n));
        },
    );
    let receipts: Vec<_> = (0..64)
        .map(|n| receipt(&alice, n).as_bytes().to_vec())
        .collect();
    let peer_receipts: Vec<_> = (0..64).map(peer_receipt).collect();
    let verify_receipt_of = |n: u64| {
        let receipt =
            Signed::<Receipt>::parse(receipts[(n % 64) as usize].clone()).expect("a receipt");
        receipt
            .verify_by(&alice.document, &Anchors::none())
            .expect("holds");
        receipt.body().check_content(CONTENT).expect("its content");
    };
    bench.pair(
        "receipt/verify",
        "bare signature check",
        Some(1.1),
        verify_bare,
        verify_receipt_of,
    );
    bench.pair(
        "receipt/verify/peer",
        "agentic-identity",
        Some(0.5),
        |n| {
            black_box(verify_receipt(&peer_receipts[(n % 64) as usize]).expect("holds"));
        },
        verify_receipt_of,
    );

    // As many bytes as a grant has, so that the floor hashes as much.
    let grant_payload = grant(&alice, &bob.document, 0, None).payload().to_vec();
    let sign_bare_grant = |n: u64, buffer: &mut Vec<u8>| {
        let mut message = grant_payload.clone();
        message.extend_from_slice(&n.to_be_bytes());
        buffer.clear();
        bare.sign_into(&message, buffer).expect("signed");
    };
    bench.pair(
        "grant/sign",
        "bare signature of as many bytes",
        Some(1.15),
        |n| sign_bare_grant(n, &mut buffer),
        |_| {
            black_box(grant(&alice, &bob.document, 0, None));
        },
    );
    let peer_bob = IdentityAnchor::new(Some("bob".to_owned()));
    bench.pair(
        "grant/sign/peer",
        "agentic-identity",
        Some(0.5),
        |_| {
            let grant =
                TrustGrantBuilder::new(peer.id(), peer_bob.id(), peer_bob.public_key_base64());
            black_box(
                grant
                    .capability(PeerCapability::new("read:calendar"))
                    .sign(peer.signing_key())
                    .expect("signed"),
            );
        },
        |_| {
            black_box(grant(&alice, &bob.document, 0, None));
        },
    );
    let grants: Vec<_> = (0..64)
        .map(|_| grant(&alice, &bob.document, 0, None).as_bytes().to_vec())
        .collect();
    bench.pair(
        "grant/verify",
        "bare signature check",
        Some(1.1),
        verify_bare,
        |n| {
            let grant = Signed::<Grant>::parse(grants[(n % 64) as usize].clone()).expect("a grant");
            grant
                .verify_by(&alice.document, &Anchors::none())
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
    let peer_grants: Vec<_> = (0..64).map(|_| peer_grant(&peer, &peer_bob, 0)).collect();
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
                .verify_by(&alice.document, &Anchors::none())
                .expect("holds");
        },
    );

    let capability = "read:calendar".parse().expect("a capability");
    let (revocations, anchors) = (Revocations::as_of(NOW), Anchors::none());
    let check = Check {
        root: &alice.document,
        documents: &[],
        capability: &capability,
        context: Context::default(),
        now: NOW,
        leeway: 0,
        revocations: &revocations,
        max_staleness: None,
        declarations: &[],
        lineages: &[],
        anchors: &anchors,
        proof: None,
    };
    for (depth, aim) in [(2_u64, Some(1.9)), (10, None)] {
        let agents: Vec<_> = (0..depth).map(|n| agent(&format!("agent {n}"))).collect();
        let mut links: Vec<Signed<Grant>> = Vec::new();
        for (n, to) in agents.iter().enumerate() {
            let from = if n == 0 { &alice } else { &agents[n - 1] };
            links.push(grant(from, &to.document, depth - n as u64, links.last()));
        }
        bench.pair(
            &format!("chain/{depth}"),
            "one bare signature check",
            aim,
            verify_bare,
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
            verify_bare,
            |_| {
                black_box(check.run_cached(&links, &mut cache).expect("accepted"));
            },
        );
    }

    bench.pair(
        "receipts/ten_chained",
        "ten bare signatures",
        Some(1.15),
        |n| {
            (0..10).for_each(|i| {
                black_box(sign_bare(10 * n + i, &mut buffer));
            })
        },
        |n| {
            let mut last = receipt(&alice, n);
            for i in 1..10 {
                let body = Receipt::new(alice.document.by(), "decision", NOW * 1_000 + n + i)
                    .with_content(CONTENT)
                    .after(&last);
                last = Signed::sign(&body, &signer).expect("signed");
            }
            black_box(last);
        },
    );
    bench.pair(
        "receipts/ten_chained_with_identity/peer",
        "agentic-identity",
        Some(0.5),
        |n| {
            let peer = IdentityAnchor::new(Some("alice".to_owned()));
            let mut last: Option<agentic_identity::receipt::receipt::ReceiptId> = None;
            for i in 0..10 {
                let text = format!("{} {}", String::from_utf8_lossy(CONTENT), 10 * n + i);
                let receipt =
                    ReceiptBuilder::new(peer.id(), ActionType::Decision, ActionContent::new(text));
                let receipt = match last.take() {
                    Some(previous) => receipt.chain_to(previous),
                    None => receipt,
                };
                last = Some(receipt.sign(peer.signing_key()).expect("signed").id);
            }
            black_box(last);
        },
        |n| {
            let alice = agent("alice");
            let mut last = receipt(&alice, n);
            for i in 1..10 {
                let body = Receipt::new(alice.document.by(), "decision", NOW * 1_000 + n + i)
                    .with_content(CONTENT)
                    .after(&last);
                last = Signed::sign(&body, &alice.document.signer(&alice.keys)).expect("signed");
            }
            black_box(last);
        },
    );
    let mut whole = Tree::default();
    bench.pair_of(
        "log/receipt_of_a_thousand",
        1_000,
        "three hashes a receipt (content, leaf, node) and one bare signature",
        Some(Aim::Microseconds(2.0)),
        |n| {
            for _ in 0..1_000 {
                black_box(sha256(CONTENT));
                black_box(sha256(&payload));
                black_box(sha256(&[1; 65]));
            }
            black_box(sign_bare(n, &mut buffer));
        },
        |n| {
            let mut tree = Tree::default();
            for i in 0..1_000 {
                let body =
                    Receipt::new(alice.document.by(), "decision", n + i).with_content(CONTENT);
                tree.append(&body.payload());
            }
            black_box(Checkpoint::sign(&tree, &signer, NOW).expect("signed"));
            whole = tree;
        },
    );
    if whole.is_empty() {
        (0..1_000_u64).for_each(|n| whole.append(&n.to_be_bytes()));
    }
    bench.pair(
        "log/inclusion_proof",
        "one bare signature check",
        None,
        verify_bare,
        |n| {
            black_box(InclusionProof::of(&whole, n % 1_000, 1_000).expect("in range"));
        },
    );

    // What an identity file costs is what its Argon2id costs, on purpose: the parameters of `signet agent create`.
    let cost = Cost {
        memory_kib: 64 * 1024,
        passes: 3,
        lanes: 1,
    };
    let file = IdentityFile::seal(
        Kind::Current,
        &alice.document,
        &alice.keys,
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
    let folder = tempfile::tempdir()?;
    let peer_file = folder.path().join("peer.aid");
    save_identity(&peer, &peer_file, "correct")?;
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

    bench.criterion.final_summary();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    bench.report.write(&folder, "agent")?;
    Ok(())
}

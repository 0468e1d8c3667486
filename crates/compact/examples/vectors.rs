//! Writes `vectors/compact/*.json`, one file for each algorithm, with fresh keys: `cargo run -p
//! signet-compact --example vectors`.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use signet_compact::{
    Algorithm, Claim, Claims, Confirmation, KeyIdType, Payload, Policy, Refusal, Scopes,
    SigningKey, VerifyingKey, Version,
};
use signet_encoding::base64url;
use signet_zk::{Parameters, Prover};

const NOW: u64 = 2_000_000;
const AUDIENCE: &str = "api.example.com";

fn payload() -> Payload<'static> {
    Payload {
        subject: "user:alice",
        audience: AUDIENCE,
        // Ascending.
        scopes: Scopes::new(&["read", "write"]).expect("in order"),
        issued_at: 1_000_000,
        expires_at: u64::MAX,
        ..Payload::default()
    }
}

fn sign(key: &SigningKey, version: Version, payload: &Payload<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    key.sign_into(version, payload, &mut out)
        .expect("within the limits");
    out
}

fn write(algorithm: Algorithm, directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let prover = algorithm
        .statement()
        .map(|statement| Arc::new(Prover::new(&Parameters::development(statement))));
    let generate = || match &prover {
        Some(prover) => SigningKey::generate_for_proofs(algorithm)?.with_prover(prover.clone()),
        None => SigningKey::generate(algorithm),
    };
    let (key, other) = (generate()?, generate()?);
    let verifying = key.verifying_key()?;
    let good = sign(&key, Version::V0, &payload());
    let foreign = sign(&other, Version::V0, &payload());
    let bare = payload();
    let claims = [Claim {
        name: "client_id",
        json: "\"service\"",
    }];
    let full = Payload {
        issuer: "https://login.example.com",
        token_id: Some(b"0123456789abcdef"),
        claims: Claims::new(&claims)?,
        not_before: NOW,
        ..bare
    };
    let changed = |at: usize, value: u8| {
        let mut token = good.clone();
        token[at] = value;
        token
    };
    let last = good.len() - 1;
    let length = good[1];
    // The first field of the payload is the algorithm, 08 01 the version that is not there.
    let spliced = |at: usize, bytes: &[u8]| {
        let mut token = good.clone();
        token.splice(at..at, bytes.iter().copied());
        token[1] = length + bytes.len() as u8;
        token
    };
    let unknown_algorithm = changed(3, 9);
    let mut cases = vec![
        ("version 0, the published claims", good.clone()),
        ("version 1", sign(&key, Version::V1, &full)),
        (
            "only an end",
            sign(
                &key,
                Version::V0,
                &Payload {
                    expires_at: NOW,
                    audience: AUDIENCE,
                    ..Payload::default()
                },
            ),
        ),
        ("the last byte changed", changed(last, good[last] ^ 1)),
        (
            "a byte of the claims changed",
            changed(last.min(50), good[last.min(50)] ^ 1),
        ),
        ("cut by one byte", good[..last].to_vec()),
        ("a byte behind", [&good[..], &[0]].concat()),
        ("an empty proof behind", [&good[..], &[0x22, 0]].concat()),
        ("another key's token", foreign.clone()),
        ("an unknown algorithm", unknown_algorithm),
        ("no signature", good[..2 + usize::from(length)].to_vec()),
        ("empty", Vec::new()),
        (
            "for another audience",
            sign(
                &key,
                Version::V0,
                &Payload {
                    audience: "other.example.com",
                    ..bare
                },
            ),
        ),
        (
            "for no audience",
            sign(
                &key,
                Version::V0,
                &Payload {
                    audience: "",
                    ..bare
                },
            ),
        ),
        (
            "expired a second ago",
            sign(
                &key,
                Version::V0,
                &Payload {
                    expires_at: NOW - 1,
                    ..bare
                },
            ),
        ),
        (
            "valid from the next second",
            sign(
                &key,
                Version::V0,
                &Payload {
                    not_before: NOW + 1,
                    ..bare
                },
            ),
        ),
        (
            "bound to a key that nobody proved",
            sign(
                &key,
                Version::V1,
                &Payload {
                    confirmation: Some(Confirmation::Jkt(&[7; 32])),
                    ..bare
                },
            ),
        ),
    ];
    // Lengths of one byte only: ML-DSA's payload is short as well.
    if length < 120 {
        cases.push(("an explicit default: version 0", spliced(2, &[0x08, 0])));
        cases.push(("version 1 on a version 0 signature", spliced(2, &[0x08, 1])));
        let signature_at = 2 + usize::from(length);
        let mut moved = good.clone();
        moved[signature_at] ^= 0x12 ^ 0x1a;
        cases.push(("signature and proof exchanged", moved));
        let mut claimed = foreign;
        // version 0: algorithm, key id type, key id.
        let id = 8..8 + usize::from(good[7]);
        claimed[id.clone()].copy_from_slice(&good[id]);
        cases.push(("another key's token under this key's id", claimed));
        cases.push((
            "both signature and proof",
            if algorithm.is_zero_knowledge() {
                let mut both = good.clone();
                both.splice(signature_at..signature_at, [0x12, 1, 7]);
                both
            } else {
                [&good[..], &[0x1a, 1, 7]].concat()
            },
        ));
    }
    if !algorithm.is_symmetric() {
        let named = SigningKey::from_bytes(key.to_bytes()?.expose())?
            .with_key_id_type(KeyIdType::PublicKey)?;
        cases.push(("named by its public key", sign(&named, Version::V0, &bare)));
    }
    let policy = Policy::for_audience(AUDIENCE, NOW);
    let vectors: Vec<_> = cases
        .iter()
        .map(|(about, token)| {
            let result = match verifying.verify(token, &policy) {
                Ok(_) => "accept".to_owned(),
                Err(refusal) => name(refusal),
            };
            json!({ "about": about, "token": base64url::encode(token), "result": result })
        })
        .collect();
    let key_file = key
        .public_bytes()
        .unwrap_or(key.to_bytes()?.expose().clone());
    // What was written as a verifier's file is one.
    if !matches!(algorithm, Algorithm::HmacSha256) {
        let pins: Vec<[u8; 32]> = VerifyingKey::parameters_hash(&key_file)?
            .into_iter()
            .collect();
        VerifyingKey::from_bytes_pinned(&key_file, &pins, |_| None)?;
    }
    let file = json!({
        "about": "Each token is verified at `now` for `audience`, by `key`: a VerifyingKey message, or the shared SigningKey of hmac-sha256.",
        "algorithm": algorithm.name(),
        "key": base64url::encode(&key_file),
        "now": NOW,
        "audience": AUDIENCE,
        "vectors": vectors,
    });
    std::fs::write(
        directory.join(format!("{}.json", algorithm.name())),
        serde_json::to_string_pretty(&file)? + "\n",
    )?;
    Ok(())
}

fn name(refusal: Refusal) -> String {
    format!("{refusal:?}")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/compact");
    std::fs::create_dir_all(&directory)?;
    for algorithm in Algorithm::ALL {
        write(algorithm, &directory)?;
    }
    Ok(())
}

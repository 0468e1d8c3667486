//! Writes the seeds of the fuzz targets of compact tokens, keys and certificates: `cargo run -p
//! signet-compact --example fuzz_corpus`.
//!
//! Tokens are signed with the keys that the targets know: HMAC, Ed25519 and ML-DSA keys whose
//! secret is 32 bytes of 7.

use std::path::Path;
use std::sync::Arc;

use signet_compact::{
    Algorithm, Claim, Claims, Confirmation, KeyIdType, Payload, Scopes, SigningKey, Validity,
    Version,
};
use signet_zk::{Parameters, Prover, Statement};

fn key(algorithm: Algorithm) -> Result<SigningKey, Box<dyn std::error::Error>> {
    let number = algorithm.number() as u8;
    let mut file = vec![0x08, number, 0x12, 32];
    file.extend([7; 32]);
    let jose = match algorithm {
        Algorithm::Ed25519 => signet_crypto::SigningKey::ed25519_from_seed(&[7; 32])?,
        Algorithm::MlDsa44 => {
            signet_crypto::SigningKey::from_private(signet_crypto::Algorithm::MlDsa44, &[7; 32])?
        }
        _ => return Ok(SigningKey::from_bytes(&file)?),
    };
    match jose.public() {
        Some(signet_crypto::PublicKey::Ed25519 { x }) => {
            file.extend([0x1a, 32]);
            file.extend(x);
        }
        Some(signet_crypto::PublicKey::MlDsa { public, .. }) => {
            // 1312, as a varint.
            file.extend([0x1a, 0xa0, 0x0a]);
            file.extend(public);
        }
        _ => return Err("a key with a public half".into()),
    }
    Ok(SigningKey::from_bytes(&file)?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let write = |folder: &str, name: &str, bytes: &[u8]| -> std::io::Result<()> {
        let folder = fuzz.join(folder);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(name), bytes)
    };
    let claims = [Claim {
        name: "client_id",
        json: "\"service\"",
    }];
    let small = Payload {
        subject: "user:alice",
        audience: "api.example.com",
        scopes: Scopes::new(&["read", "write"])?,
        issued_at: 1_000_000,
        expires_at: u64::MAX,
        ..Payload::default()
    };
    let full = Payload {
        issuer: "https://login.example.com",
        token_id: Some(b"0123456789abcdef"),
        confirmation: Some(Confirmation::Jkt(&[7; 32])),
        claims: Claims::new(&claims)?,
        not_before: 999_999,
        ..small
    };
    for algorithm in [
        Algorithm::HmacSha256,
        Algorithm::Ed25519,
        Algorithm::MlDsa44,
    ] {
        let name = algorithm.name();
        for (version, payload) in [(Version::V0, &small), (Version::V1, &full)] {
            let mut token = Vec::new();
            key(algorithm)?.sign_into(version, payload, &mut token)?;
            let name = format!("{name}-{}", version as u8);
            write("corpus/compact_token", &name, &token)?;
        }
        if !algorithm.is_symmetric() {
            let mut token = Vec::new();
            let named = key(algorithm)?.with_key_id_type(KeyIdType::PublicKey)?;
            named.sign_into(Version::V0, &small, &mut token)?;
            write("corpus/compact_token", &format!("{name}-named"), &token)?;
        }
        let key = key(algorithm)?;
        write("corpus/compact_key", name, key.to_bytes()?.expose())?;
        if let Some(public) = key.public_bytes() {
            write("corpus/compact_key", &format!("{name}-public"), &public)?;
        }
    }

    let prover = Arc::new(Prover::new(&Parameters::development(Statement::Poseidon)));
    let holder =
        SigningKey::generate_for_proofs(Algorithm::Groth16Poseidon)?.with_prover(prover)?;
    let public = holder.public_bytes().ok_or("a key with a prover")?;
    write("corpus/compact_key", "groth16-poseidon-public", &public)?;
    write("data", "certificate-issuer.public", &public)?;
    for algorithm in [Algorithm::Ed25519, Algorithm::MlDsa44] {
        let validity = Validity {
            not_before: 1_000_000,
            expires_at: 3_000_000,
        };
        let subject = key(algorithm)?.verifying_key()?;
        let certificate = holder.certify(&subject, validity)?;
        write("corpus/compact_certificate", algorithm.name(), &certificate)?;
    }
    Ok(())
}

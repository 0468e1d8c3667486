//! `signet compact certificate`: prove once, sign many.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use signet_compact::{KeyCertificate, Validity, VerifyingKey};
use signet_encoding::base64url;

use super::compact_keys::{DataDir, read_key, signing_key, write_new};
use super::parameters::{self, Trust};
use super::{Failure, Output, output};

/// `signet compact certificate ...`
#[derive(Debug, Subcommand)]
pub enum Certificate {
    /// Prove that a public key belongs to the holder of a zero-knowledge key. It does not prove
    /// that its private half is held: tokens do.
    #[command(
        after_help = "Example:\n  signet compact certificate issue --key holder.key --public-key verifying.key --expires-at 1900000000 --out key.certificate"
    )]
    Issue(Issue),
    /// Verify a certificate and print what it says. Exit 0: it verified; 1: it did not.
    #[command(
        after_help = "Example:\n  signet compact certificate verify --key holder.public key.certificate"
    )]
    Verify(Verify),
}

/// `signet compact certificate issue`
#[derive(Debug, Args)]
pub struct Issue {
    /// The zero-knowledge signing key.
    #[arg(long)]
    key: PathBuf,
    /// The verifying key (Ed25519 or ML-DSA-44) that the certificate is about.
    #[arg(long)]
    public_key: PathBuf,
    /// Unix seconds: the last second in which it is valid.
    #[arg(long)]
    expires_at: u64,
    /// Unix seconds: the first second in which it is valid.
    #[arg(long, default_value_t = 0)]
    not_before: u64,
    /// Where it goes.
    #[arg(long)]
    out: PathBuf,
    #[command(flatten)]
    data: DataDir,
}

/// `signet compact certificate verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// The zero-knowledge verifying key that is expected to vouch.
    #[arg(long)]
    key: PathBuf,
    /// Unix seconds to check the times at, in place of the clock.
    #[arg(long)]
    now: Option<u64>,
    #[command(flatten)]
    trust: Trust,
    #[command(flatten)]
    data: DataDir,
    /// The certificate's file.
    certificate: PathBuf,
}

/// Does the command.
pub fn run(command: Certificate, output: &Output) -> Result<(), Failure> {
    match command {
        Certificate::Issue(arguments) => issue(&arguments, output),
        Certificate::Verify(arguments) => verify(&arguments, output),
    }
}

fn issue(arguments: &Issue, output: &Output) -> Result<(), Failure> {
    let data_dir = &arguments.data.data_dir;
    let key = signing_key(&arguments.key, data_dir)?;
    let kinds = || {
        Failure::unusable("--key is a zero-knowledge key, --public-key an ed25519 or ml-dsa-44 one")
    };
    let subject = read_key(&arguments.public_key)?;
    let subject = VerifyingKey::from_bytes(subject.expose()).map_err(|_| kinds())?;
    let used = parameters::own(data_dir, &key)?.ok_or_else(kinds)?;
    let validity = Validity {
        not_before: arguments.not_before,
        expires_at: arguments.expires_at,
    };
    let certificate = key
        .certify(&subject, validity)
        .map_err(|e| Failure::unusable(e.to_string()))?;
    write_new(&arguments.out, &base64url::encode(&certificate), 0o644)?;
    let mut answer = Map::new();
    answer.insert("certificate".into(), json!(arguments.out));
    answer.insert("bytes".into(), certificate.len().into());
    used.put(&mut answer);
    used.note();
    output.print(&Value::Object(answer), || {
        format!("certificate: {}", arguments.out.display())
    })
}

fn verify(arguments: &Verify, output: &Output) -> Result<(), Failure> {
    let (key, used) = arguments
        .trust
        .verifying_key(&arguments.key, &arguments.data.data_dir)?;
    let bytes = read_key(&arguments.certificate)?;
    let refused = |why: &dyn std::fmt::Display| {
        Failure::no("invalid_certificate", why.to_string()).with(json!({ "verified": false }))
    };
    let now = arguments.now.unwrap_or_else(|| {
        SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |d| d.as_secs())
    });
    key.accept_certificate(bytes.expose(), now)
        .map_err(|e| refused(&e))?;
    let certificate = KeyCertificate::parse(bytes.expose()).map_err(|e| refused(&e))?;
    let (algorithm, public_key) = certificate.subject();
    let (proof, key_hash) = certificate.issuer();
    let mut answer = Map::new();
    answer.insert("id".into(), base64url::encode(&certificate.id()).into());
    answer.insert("proof_algorithm".into(), proof.name().into());
    answer.insert("key_hash".into(), base64url::encode(key_hash).into());
    answer.insert("algorithm".into(), algorithm.name().into());
    answer.insert("public_key".into(), base64url::encode(public_key).into());
    answer.insert(
        "not_before".into(),
        certificate.validity().not_before.into(),
    );
    answer.insert(
        "expires_at".into(),
        certificate.validity().expires_at.into(),
    );
    if let Some(used) = used {
        used.put(&mut answer);
        used.note();
    }
    answer.insert("verified".into(), true.into());
    output.print(&Value::Object(answer.clone()), || {
        output::pretty(&Value::Object(answer.clone()))
    })
}

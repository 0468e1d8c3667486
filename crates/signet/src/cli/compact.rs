//! `signet compact`: keys and tokens of the compact format, without a server.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use signet_compact::{
    Algorithm, Claim, Claims, Confirmation, KeyIdType, Payload, Policy, Scopes, SigningKey,
    VerifiedToken, VerifyingKey, Version,
};
use signet_crypto::Secret;
use signet_jose::{base64url, json as strict};

use super::{Failure, Output, ceremony, certificate, output};
use crate::{input, proof_parameters};

/// `signet compact ...`
#[derive(Debug, Subcommand)]
pub enum Compact {
    /// Make a key. The secret file is readable by its owner only; an existing file is not overwritten.
    #[command(
        after_help = "Example:\n  signet compact keygen --alg ed25519 --out signing.key --public-out verifying.key"
    )]
    Keygen(Keygen),
    /// Sign a token and print it as base64url.
    #[command(
        after_help = "Example:\n  signet compact sign --key signing.key --subject user:alice --audience api.example.com --scope read --expires-at 1900000000"
    )]
    Sign(Box<Sign>),
    /// Verify a token and print its claims. Exit 0: it verified; 1: it did not.
    #[command(
        after_help = "Example:\n  signet compact verify --key verifying.key --audience api.example.com \"$TOKEN\""
    )]
    Verify(Verify),
    /// Proving parameters that nobody knows the secrets of: several parties contribute, anybody checks.
    #[command(
        subcommand,
        after_help = "Example:\n  signet compact ceremony verify 4.transcript"
    )]
    Ceremony(ceremony::Ceremony),
    /// Prove once that a signing key belongs to the holder of a zero-knowledge key.
    #[command(
        subcommand,
        after_help = "Example:\n  signet compact certificate verify --key holder.public key.certificate"
    )]
    Certificate(certificate::Certificate),
}

/// Where proving parameters are.
#[derive(Debug, Args)]
pub struct DataDir {
    /// The directory with the proving parameters of the zero-knowledge algorithms.
    #[arg(long = "data-dir", default_value = ".signet")]
    pub data_dir: PathBuf,
}

/// `signet compact keygen`
#[derive(Debug, Args)]
pub struct Keygen {
    /// hmac-sha256, ed25519, ml-dsa-44, groth16-poseidon or groth16-hybrid.
    #[arg(long, value_parser = algorithm)]
    alg: Algorithm,
    /// Where the key goes (mode 0600).
    #[arg(long)]
    out: PathBuf,
    /// Where the verifying key goes; a shared key has none.
    #[arg(long)]
    public_out: Option<PathBuf>,
    #[command(flatten)]
    data: DataDir,
}

/// `signet compact sign`
#[derive(Debug, Args)]
pub struct Sign {
    /// The signing key's file.
    #[arg(long)]
    key: PathBuf,
    /// Whom the token is about.
    #[arg(long)]
    subject: String,
    /// Whom the token is for.
    #[arg(long, default_value = "")]
    audience: String,
    /// What it allows; may be repeated. Sorted, and doubles dropped.
    #[arg(long = "scope")]
    scopes: Vec<String>,
    /// Unix seconds: the last second in which the token is valid.
    #[arg(long)]
    expires_at: u64,
    /// Unix seconds: the first second in which it is valid.
    #[arg(long, default_value_t = 0)]
    not_before: u64,
    /// Unix seconds: when it was issued.
    #[arg(long, default_value_t = 0)]
    issued_at: u64,
    /// Who issued it (version 1).
    #[arg(long)]
    issuer: Option<String>,
    /// 16 bytes that name the token, base64url (version 1).
    #[arg(long)]
    token_id: Option<String>,
    /// Thumbprint of the JWK that the token is bound to, base64url (version 1).
    #[arg(long, conflicts_with = "confirmation_x5t_s256")]
    confirmation_jkt: Option<String>,
    /// SHA-256 of the certificate that the token is bound to, base64url (version 1).
    #[arg(long)]
    confirmation_x5t_s256: Option<String>,
    /// A further claim, NAME=JSON; may be repeated (version 1).
    #[arg(long = "claim")]
    claims: Vec<String>,
    /// How the token names its key: 1 the short hash, 2 the public key, 3 the whole hash. Default: 1, and 3 for zero-knowledge keys.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=3))]
    key_id_type: Option<u32>,
    /// The certificate of the signing key, which the token then names (version 1).
    #[arg(long)]
    certificate: Option<PathBuf>,
    #[command(flatten)]
    data: DataDir,
}

/// `signet compact verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// The verifying key's file, or the shared key's.
    #[arg(long)]
    key: PathBuf,
    /// The audience that the token must name. Without it, none is checked.
    #[arg(long)]
    audience: Option<String>,
    /// The issuer that the token must name (version 1).
    #[arg(long)]
    issuer: Option<String>,
    /// A scope that the token must have; may be repeated.
    #[arg(long = "scope")]
    scopes: Vec<String>,
    /// Unix seconds to check the times at, in place of the clock.
    #[arg(long)]
    now: Option<u64>,
    /// The certificate of the key that signed the token; `--key` is then the zero-knowledge key that vouches for it.
    #[arg(long)]
    certificate: Option<PathBuf>,
    #[command(flatten)]
    data: DataDir,
    /// The token; `-` reads it from standard input.
    #[arg(allow_hyphen_values = true)]
    token: String,
}

pub(super) fn algorithm(name: &str) -> Result<Algorithm, String> {
    Algorithm::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Algorithm::ALL.iter().map(|a| a.name()).collect();
        format!("one of {}", names.join(", "))
    })
}

/// Does the command.
pub fn run(command: Compact, output: &Output) -> Result<(), Failure> {
    match command {
        Compact::Keygen(arguments) => keygen(&arguments, output),
        Compact::Sign(arguments) => sign(&arguments, output),
        Compact::Verify(arguments) => verify(&arguments, output),
        Compact::Ceremony(command) => ceremony::run(command, output),
        Compact::Certificate(command) => certificate::run(command, output),
    }
}

fn keygen(arguments: &Keygen, output: &Output) -> Result<(), Failure> {
    let unusable = |e: signet_compact::KeyError| Failure::unusable(e.to_string());
    let key = if arguments.alg.is_zero_knowledge() {
        let prover = proof_parameters::prover(&arguments.data.data_dir, arguments.alg)?;
        SigningKey::generate_for_proofs(arguments.alg).and_then(|key| key.with_prover(prover))
    } else {
        SigningKey::generate(arguments.alg)
    }
    .map_err(unusable)?;
    let public = key.public_bytes();
    if arguments.public_out.is_some() && public.is_none() {
        return Err(Failure::unusable(
            "a shared key has no public half: leave --public-out out",
        ));
    }
    let bytes = key
        .to_bytes()
        .map_err(|e| Failure::unusable(e.to_string()))?;
    let text = Secret::new(base64url::encode(bytes.expose()));
    write_new(&arguments.out, text.expose(), 0o600)?;
    if let (Some(path), Some(public)) = (&arguments.public_out, public) {
        write_new(path, &base64url::encode(&public), 0o644)?;
    }
    let mut answer = json!({
        "algorithm": arguments.alg.name(),
        "key": arguments.out,
        "public_key": arguments.public_out,
    });
    if arguments.alg.is_zero_knowledge() {
        // `development`: one process knew their secrets.
        answer["parameters"] =
            proof_parameters::origin(&arguments.data.data_dir, arguments.alg)?.into();
    }
    output.print(&answer, || {
        format!("{} key: {}", arguments.alg.name(), arguments.out.display())
    })
}

/// A file that must not be there yet: a key that is overwritten is a key that is lost.
pub(super) fn write_new(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    let failed =
        |e: std::io::Error| Failure::unusable(format!("cannot write {}: {e}", path.display()));
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .map_err(failed)?;
    writeln!(file, "{text}")
        .and_then(|()| file.sync_all())
        .map_err(failed)
}

pub(super) fn read_key(path: &Path) -> Result<Secret<Vec<u8>>, Failure> {
    let failed = |why: String| Failure::unusable(format!("{}: {why}", path.display()));
    let text = std::fs::read_to_string(path)
        .map(Secret::new)
        .map_err(|e| failed(e.to_string()))?;
    base64url::decode(text.expose().trim().as_bytes())
        .map(Secret::new)
        .map_err(|e| failed(format!("not a key file: {e}")))
}

/// A signing key, with its prover where it makes proofs.
pub(super) fn signing_key(path: &Path, data_dir: &Path) -> Result<SigningKey, Failure> {
    let unusable =
        |e: signet_compact::KeyError| Failure::unusable(format!("{}: {e}", path.display()));
    let key = SigningKey::from_bytes(read_key(path)?.expose()).map_err(unusable)?;
    if !key.algorithm().is_zero_knowledge() {
        return Ok(key);
    }
    let prover = proof_parameters::prover(data_dir, key.algorithm())?;
    key.with_prover(prover).map_err(unusable)
}

/// A `VerifyingKey`, or a symmetric `SigningKey`. Zero-knowledge keys name the verifying key of the proof system, or have it with them; a signing
/// key of theirs is checked with the installed one.
pub(super) fn verifying_key(path: &Path, data_dir: &Path) -> Result<VerifyingKey, Failure> {
    let failed = |why: String| Failure::unusable(format!("{}: {why}", path.display()));
    let bytes = read_key(path)?;
    let symmetric = SigningKey::from_bytes(bytes.expose())
        .ok()
        .filter(|key| key.algorithm().is_symmetric());
    if let Some(key) = symmetric {
        if !key.algorithm().is_zero_knowledge() {
            return key.verifying_key().map_err(|e| failed(e.to_string()));
        }
        let installed = proof_parameters::verifying_key(data_dir, key.algorithm())?
            .ok_or_else(|| failed("no proving parameters are installed".into()))?;
        return VerifyingKey::of_proofs(key.algorithm(), key.key_hash(), &installed)
            .map_err(|e| failed(e.to_string()));
    }
    VerifyingKey::from_bytes_pinned(bytes.expose(), |pin| {
        [Algorithm::Groth16Poseidon, Algorithm::Groth16Hybrid]
            .into_iter()
            .filter_map(|algorithm| proof_parameters::verifying_key(data_dir, algorithm).ok()?)
            .find(|key| key.hash() == *pin)
    })
    .map_err(|why| failed(format!("neither a verifying key nor a shared key: {why}")))
}

fn fixed<const N: usize>(text: &str, what: &str) -> Result<[u8; N], Failure> {
    base64url::decode(text.as_bytes())
        .ok()
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| Failure::unusable(format!("{what} is base64url of {N} bytes")))
}

fn sign(arguments: &Sign, output: &Output) -> Result<(), Failure> {
    let unusable = |e: &dyn std::fmt::Display| Failure::unusable(e.to_string());
    let mut scopes: Vec<&str> = arguments.scopes.iter().map(String::as_str).collect();
    scopes.sort_unstable();
    scopes.dedup();
    let mut claims = Vec::new();
    for claim in &arguments.claims {
        let (name, json) = claim
            .split_once('=')
            .ok_or_else(|| Failure::unusable("a claim is written NAME=JSON"))?;
        strict::parse(json.as_bytes(), &strict::Limits::default())
            .map_err(|e| Failure::unusable(format!("the claim {name} is not JSON: {e}")))?;
        claims.push(Claim { name, json });
    }
    claims.sort_unstable_by_key(|claim| claim.name);
    let token_id = arguments
        .token_id
        .as_deref()
        .map(|id| fixed::<16>(id, "--token-id"))
        .transpose()?;
    let jkt = arguments.confirmation_jkt.as_deref();
    let jkt = jkt
        .map(|text| fixed::<32>(text, "--confirmation-jkt"))
        .transpose()?;
    let x5t = arguments.confirmation_x5t_s256.as_deref();
    let x5t = x5t
        .map(|text| fixed::<32>(text, "--confirmation-x5t-s256"))
        .transpose()?;
    let payload = Payload {
        expires_at: arguments.expires_at,
        not_before: arguments.not_before,
        issued_at: arguments.issued_at,
        subject: &arguments.subject,
        audience: &arguments.audience,
        scopes: Scopes::new(&scopes).map_err(|e| unusable(&e))?,
        issuer: arguments.issuer.as_deref().unwrap_or_default(),
        token_id: token_id.as_ref(),
        confirmation: match (&jkt, &x5t) {
            (Some(jkt), _) => Some(Confirmation::Jkt(jkt)),
            (None, Some(x5t)) => Some(Confirmation::X5tS256(x5t)),
            (None, None) => None,
        },
        claims: Claims::new(&claims).map_err(|e| unusable(&e))?,
        certificate: None,
    };
    let later = !payload.issuer.is_empty()
        || payload.token_id.is_some()
        || payload.confirmation.is_some()
        || !payload.claims.is_empty()
        || arguments.certificate.is_some();
    let version = if later { Version::V1 } else { Version::V0 };
    let mut key = signing_key(&arguments.key, &arguments.data.data_dir)?;
    if let Some(kind) = arguments.key_id_type.and_then(KeyIdType::from_number) {
        key = key.with_key_id_type(kind).map_err(|e| unusable(&e))?;
    }
    if let Some(path) = &arguments.certificate {
        key = key
            .with_certificate(read_key(path)?.expose())
            .map_err(|e| unusable(&e))?;
    }
    let mut token = Vec::new();
    key.sign_into(version, &payload, &mut token)
        .map_err(|e| unusable(&e))?;
    let text = base64url::encode(&token);
    output.print(&json!({ "token": text, "bytes": token.len() }), || {
        text.clone()
    })
}

fn verify(arguments: &Verify, output: &Output) -> Result<(), Failure> {
    let key = verifying_key(&arguments.key, &arguments.data.data_dir)?;
    let text = input::token(&arguments.token)?;
    let refused = |why: &dyn std::fmt::Display| {
        Failure::no("invalid_token", why.to_string()).with(json!({ "verified": false }))
    };
    let token = base64url::decode(text.as_bytes()).map_err(|e| refused(&e))?;
    let now = arguments.now.unwrap_or_else(|| {
        SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |d| d.as_secs())
    });
    let key = match &arguments.certificate {
        None => key,
        Some(path) => key
            .accept_certificate(read_key(path)?.expose(), now)
            .map_err(|e| refused(&format!("the certificate: {e}")))?,
    };
    let scopes: Vec<&str> = arguments.scopes.iter().map(String::as_str).collect();
    let bound = signet_compact::Token::parse(&token).map_err(|e| refused(&e))?;
    let policy = Policy {
        now,
        leeway: 0,
        audience: arguments.audience.as_deref(),
        issuer: arguments.issuer.as_deref(),
        scopes: &scopes,
        min_version: Version::V0,
        // Possession is for whoever serves the request; this command says that it was not checked.
        confirmation: bound.unverified_payload().confirmation,
    };
    let verified = key.verify(&token, &policy).map_err(|e| refused(&e))?;
    let claims = claims_of(&verified)?;
    let mut unchecked = Vec::new();
    if arguments.audience.is_none() {
        unchecked.push("audience");
        output::note("the audience was not checked: --audience names the one that must be there");
    }
    if policy.confirmation.is_some() {
        unchecked.push("cnf");
        output::note(
            "the token is bound to a key (cnf): whoever presents it must still prove possession",
        );
    }
    let mut answer = claims.clone();
    answer.insert("verified".into(), true.into());
    answer.insert("not_checked".into(), json!(unchecked));
    output.print(&Value::Object(answer), || {
        output::pretty(&Value::Object(claims.clone()))
    })
}

/// The claims by the names of the format; times that are unset are left out.
fn claims_of(verified: &VerifiedToken<'_>) -> Result<Map<String, Value>, Failure> {
    let (token, payload) = (verified.token(), verified.payload());
    let (kind, key_id) = token.key_id();
    let mut claims = Map::new();
    let mut put = |name: &str, value: Value| claims.insert(name.into(), value);
    put("version", u32::from(token.version() == Version::V1).into());
    put("algorithm", token.algorithm().name().into());
    put("key_id_type", kind.number().into());
    put("key_id", base64url::encode(key_id).into());
    put("expires_at", payload.expires_at.into());
    if payload.not_before != 0 {
        put("not_before", payload.not_before.into());
    }
    if payload.issued_at != 0 {
        put("issued_at", payload.issued_at.into());
    }
    put("subject", payload.subject.into());
    put("audience", payload.audience.into());
    put("scope", payload.scopes.iter().collect::<Vec<_>>().into());
    if !payload.issuer.is_empty() {
        put("issuer", payload.issuer.into());
    }
    if let Some(id) = payload.token_id {
        put("token_id", base64url::encode(id).into());
    }
    match payload.confirmation {
        Some(Confirmation::Jkt(jkt)) => {
            put("confirmation", json!({ "jkt": base64url::encode(jkt) }))
        }
        Some(Confirmation::X5tS256(x5t)) => put(
            "confirmation",
            json!({ "x5t#S256": base64url::encode(x5t) }),
        ),
        None => None,
    };
    if let Some(id) = payload.certificate {
        put("certificate", base64url::encode(id).into());
    }
    if !payload.claims.is_empty() {
        let mut named = Map::new();
        for claim in payload.claims.iter() {
            let value = serde_json::from_str(claim.json).map_err(|e| {
                Failure::no(
                    "invalid_token",
                    format!("the claim {} is not JSON: {e}", claim.name),
                )
            })?;
            named.insert(claim.name.into(), value);
        }
        put("claims", Value::Object(named));
    }
    Ok(claims)
}

//! `signet compact`: keys and tokens of the compact format, without a server.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use signet_compact::{
    Algorithm, Claim, Claims, Confirmation, KeyIdType, Payload, Policy, Scopes, SigningKey, Version,
};
use signet_crypto::Secret;
use signet_encoding::{base64url, json as strict};

use super::compact_keys::{DataDir, algorithm, read_key, signing_key, write_new};
use super::parameters::{self, Trust};
use super::{Failure, Output, ceremony, certificate, compact_claims, output};
use signet_config::duration::Duration;
use signet_terminal::input;

/// `signet compact ...`
#[derive(Debug, Subcommand)]
pub enum Compact {
    /// Make a key. The secret file is readable by its owner only; an existing file is not
    /// overwritten.
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
    /// Print what a token says, without believing it: no key is asked for.
    #[command(after_help = "Example:\n  signet compact inspect \"$TOKEN\"")]
    Inspect {
        /// The token; `-` reads it from standard input.
        #[arg(allow_hyphen_values = true)]
        token: String,
    },
    /// Print the public half of a signing key: what its verifiers need.
    #[command(
        after_help = "Example:\n  signet compact public --key signing.key --out verifying.key"
    )]
    Public(Public),
    /// Proving parameters that nobody knows the secrets of: several parties contribute, anybody
    /// checks.
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

/// `signet compact public`
#[derive(Debug, Args)]
pub struct Public {
    /// The signing key's file. A shared key has no public half.
    #[arg(long)]
    key: PathBuf,
    /// Where the verifying key goes; standard output without it.
    #[arg(long)]
    out: Option<PathBuf>,
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
    #[arg(long, required_unless_present = "expires_in")]
    expires_at: Option<u64>,
    /// The same, from now on: "90s", "10m", "8h", "30d".
    #[arg(long, value_name = "DURATION", value_parser = Duration::parse, conflicts_with = "expires_at")]
    expires_in: Option<Duration>,
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
    /// How the token names its key: 1 the short hash, 2 the public key, 3 the whole hash. Default:
    /// 1, and 3 for zero-knowledge keys.
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
    /// The certificate of the key that signed the token; `--key` is then the zero-knowledge key
    /// that vouches for it.
    #[arg(long)]
    certificate: Option<PathBuf>,
    #[command(flatten)]
    trust: Trust,
    #[command(flatten)]
    data: DataDir,
    /// The token; `-` reads it from standard input.
    #[arg(allow_hyphen_values = true)]
    token: String,
}

/// Does the command.
pub fn run(command: Compact, output: &Output) -> Result<(), Failure> {
    match command {
        Compact::Keygen(arguments) => keygen(&arguments, output),
        Compact::Sign(arguments) => sign(&arguments, output),
        Compact::Verify(arguments) => verify(&arguments, output),
        Compact::Inspect { token } => compact_claims::inspect(&input::token(&token)?, output),
        Compact::Public(arguments) => public(&arguments, output),
        Compact::Ceremony(command) => ceremony::run(command, output),
        Compact::Certificate(command) => certificate::run(command, output),
    }
}

fn keygen(arguments: &Keygen, output: &Output) -> Result<(), Failure> {
    let unusable = |e: signet_compact::KeyError| Failure::unusable(e.to_string());
    let key = if arguments.alg.is_zero_knowledge() {
        let prover = signet_parameters::prover(&arguments.data.data_dir, arguments.alg)?;
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
    let mut answer = Map::new();
    answer.insert("algorithm".into(), arguments.alg.name().into());
    answer.insert("key".into(), json!(arguments.out));
    answer.insert("public_key".into(), json!(arguments.public_out));
    if let Some(used) = parameters::own(&arguments.data.data_dir, &key)? {
        used.put(&mut answer);
        used.note();
    }
    output.print(&Value::Object(answer), || {
        format!("{} key: {}", arguments.alg.name(), arguments.out.display())
    })
}

fn public(arguments: &Public, output: &Output) -> Result<(), Failure> {
    let data_dir = &arguments.data.data_dir;
    let key = signing_key(&arguments.key, data_dir)?;
    let public = key
        .public_bytes()
        .ok_or_else(|| Failure::unusable("a shared key has no public half"))?;
    let text = base64url::encode(&public);
    if let Some(path) = &arguments.out {
        write_new(path, &text, 0o644)?;
    }
    let mut answer = Map::new();
    answer.insert("algorithm".into(), key.algorithm().name().into());
    answer.insert("public_key".into(), text.clone().into());
    if let Some(used) = parameters::own(data_dir, &key)? {
        used.put(&mut answer);
        used.note();
    }
    output.print(&Value::Object(answer), || match &arguments.out {
        Some(path) => format!("verifying key: {}", path.display()),
        None => text.clone(),
    })
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
    let ends = arguments
        .expires_in
        .map(|life| now().saturating_add(life.0));
    let payload = Payload {
        // clap has one of them.
        expires_at: arguments.expires_at.or(ends).unwrap_or_default(),
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
    let mut answer = Map::new();
    answer.insert("token".into(), text.clone().into());
    answer.insert("bytes".into(), token.len().into());
    if let Some(used) = parameters::own(&arguments.data.data_dir, &key)? {
        used.put(&mut answer);
        used.note();
    }
    output.print(&Value::Object(answer), || text.clone())
}

/// Unix seconds.
fn now() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |d| d.as_secs())
}

fn verify(arguments: &Verify, output: &Output) -> Result<(), Failure> {
    let (key, used) = arguments
        .trust
        .verifying_key(&arguments.key, &arguments.data.data_dir)?;
    let text = input::token(&arguments.token)?;
    let refused = |why: &dyn std::fmt::Display| {
        Failure::no("invalid_token", why.to_string()).with(json!({ "verified": false }))
    };
    let token = base64url::decode(text.as_bytes()).map_err(|e| refused(&e))?;
    let now = arguments.now.unwrap_or_else(now);
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
    let claims = compact_claims::claims_of(verified.token())?;
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
    if let Some(used) = used {
        used.put(&mut answer);
        used.note();
    }
    answer.insert("verified".into(), true.into());
    answer.insert("not_checked".into(), json!(unchecked));
    output.print(&Value::Object(answer), || {
        output::pretty(&Value::Object(claims.clone()))
    })
}

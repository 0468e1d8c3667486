//! `signet token`: what a token says, and whether it is true.

use std::{path::PathBuf, time::SystemTime};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use signet_encoding::{base64url, json as strict};
use signet_jose::{jwk::JwkSet, jws};

use super::{Failure, Output, block_on, compact_claims, output};
use crate::verify::{self, Expectation, Kind, MAX_TOKEN};
use signet_admin_client::http_client::{Answer, HttpClient};
use signet_terminal::input;

/// `signet token ...`
#[derive(Debug, Subcommand)]
pub enum Token {
    /// Print what a token says, without believing it.
    #[command(after_help = "Example:\n  signet token inspect --json \"$TOKEN\"")]
    Inspect {
        /// The token; `-` reads it from standard input.
        #[arg(value_parser = token_argument, allow_hyphen_values = true)]
        token: String,
    },
    /// Verify a token: signature, type, issuer, times, audience. Exit 0: it verified; 1: it did
    /// not.
    #[command(
        after_help = "Example:\n  signet token verify --issuer https://localhost:8443 --ca-cert .signet/ca.pem \"$TOKEN\""
    )]
    Verify(Verify),
}

/// `signet token verify ...`
#[derive(Debug, Args)]
pub struct Verify {
    /// The issuer. Its keys are found through its metadata, unless --jwks gives them.
    #[arg(long)]
    issuer: String,
    /// The audience that must be among the token's. Without it, none is checked.
    #[arg(long)]
    audience: Option<String>,
    /// PEM file of the authority that the issuer's certificate comes from.
    #[arg(long)]
    ca_cert: Option<PathBuf>,
    /// File of the issuer's keys (a JWK Set): nothing is fetched.
    #[arg(long, conflicts_with = "ca_cert")]
    jwks: Option<PathBuf>,
    /// What the token is expected to be.
    #[arg(long = "type", value_enum, default_value = "access")]
    kind: Kind,
    /// The token; `-` reads it from standard input.
    #[arg(value_parser = token_argument, allow_hyphen_values = true)]
    token: String,
}

/// A token may begin with a hyphen (base64url has it); a misspelt option is still a misspelt
/// option.
fn token_argument(text: &str) -> Result<String, String> {
    if text.starts_with("--") {
        return Err("no such option".into());
    }
    Ok(text.to_owned())
}

/// Does the command.
pub fn run(command: Token, output: &Output) -> Result<(), Failure> {
    match command {
        Token::Inspect { token } => inspect(&input::token(&token)?, output),
        Token::Verify(arguments) => verify(&arguments, output),
    }
}

fn inspect(token: &str, output: &Output) -> Result<(), Failure> {
    if compact_claims::is_compact(token) {
        return compact_claims::inspect(token, output);
    }
    let refused = |why: String| Failure::no("invalid_token", why);
    let parts = jws::split(token.as_bytes(), MAX_TOKEN).map_err(|e| {
        refused(format!(
            "neither a JWT nor a compact token: {e}; codes and refresh tokens are sealed and say nothing"
        ))
    })?;
    let header = base64url::decode(parts.header).map_err(|e| refused(e.to_string()))?;
    let payload = parts
        .unverified_payload()
        .map_err(|e| refused(e.to_string()))?;
    let header =
        readable(&header).map_err(|e| refused(format!("the header is not strict JSON: {e}")))?;
    let claims =
        readable(&payload).map_err(|e| refused(format!("the claims are not strict JSON: {e}")))?;
    if !output.json {
        output::note("not verified: anybody can write this");
    }
    let answer = json!({ "verified": false, "header": header, "claims": claims });
    output.print(&answer, || {
        let mut text = output::pretty(&json!({ "header": header, "claims": claims }));
        for (name, label) in [("iat", "issued"), ("nbf", "valid from"), ("exp", "expires")] {
            if let Some(at) = claims[name].as_u64() {
                text.push_str(&format!("\n{label}: {}", when(at)));
            }
        }
        text
    })
}

/// Strict parsing first; the tree is only for printing.
fn readable(json: &[u8]) -> Result<Value, String> {
    strict::parse_object(json, &strict::Limits::default()).map_err(|e| e.to_string())?;
    serde_json::from_slice(json).map_err(|e| e.to_string())
}

fn verify(arguments: &Verify, output: &Output) -> Result<(), Failure> {
    let token = input::token(&arguments.token)?;
    let keys = match &arguments.jwks {
        Some(file) => {
            let text = std::fs::read(file)
                .map_err(|e| Failure::unusable(format!("cannot read {}: {e}", file.display())))?;
            JwkSet::parse(&text)
                .map_err(|e| Failure::unusable(format!("{}: {e}", file.display())))?
        }
        None => block_on(discover(&arguments.issuer, arguments.ca_cert.as_ref()))?
            .map_err(Failure::unusable)?,
    };
    let want = Expectation {
        issuer: &arguments.issuer,
        audience: arguments.audience.as_deref(),
        kind: arguments.kind,
        now: now(),
    };
    let verified = verify::verify(&token, &keys, &want).map_err(|why| {
        let why = match (why.contains("another audience"), audience_of(&token)) {
            (true, Some(audience)) => format!("{why}: {audience}"),
            (true, None) | (false, _) => why,
        };
        Failure::no("invalid_token", why).with(json!({ "verified": false }))
    })?;
    let claims = readable(&verified.payload).map_err(|e| Failure::no("invalid_token", e))?;
    let mut unchecked = Vec::new();
    if arguments.audience.is_none() {
        unchecked.push("audience");
        output::note("the audience was not checked: --audience names the one that must be there");
    }
    if claims.get("cnf").is_some() {
        unchecked.push("cnf");
        output::note(
            "the token is bound to a key (cnf): whoever presents it must still prove possession",
        );
    }
    let header = json!({ "alg": verified.header.alg.name(), "typ": verified.header.typ, "kid": verified.header.kid });
    let answer =
        json!({ "verified": true, "header": header, "claims": claims, "not_checked": unchecked });
    output.print(&answer, || output::pretty(&claims))
}

/// The issuer's keys, by way of its metadata (RFC 8414 section 3, OpenID Connect Discovery section
/// 4).
async fn discover(issuer: &str, ca_cert: Option<&PathBuf>) -> Result<JwkSet, String> {
    let trust: Vec<PathBuf> = ca_cert.into_iter().cloned().collect();
    let client = HttpClient::new(&trust)?;
    let url = format!(
        "{}/.well-known/openid-configuration",
        issuer.trim_end_matches('/')
    );
    let answer = client.get(&url, &[]).await?;
    let metadata = object(&answer, &url)?;
    // RFC 8414 section 3.3: another issuer's metadata must not be used.
    match metadata["issuer"].as_str() {
        Some(named) if named == issuer => {}
        Some(named) => {
            return Err(format!(
                "{url} is the metadata of another issuer: of {}, and not of {issuer}; --issuer takes it exactly as it is",
                clean(named)
            ));
        }
        None => return Err(format!("{url} names no issuer")),
    }
    let jwks_uri = metadata["jwks_uri"]
        .as_str()
        .ok_or("the metadata names no jwks_uri")?;
    let answer = client.get(jwks_uri, &[]).await?;
    object(&answer, jwks_uri)?;
    let published = JwkSet::parse_published(&answer.body);
    let published = published.map_err(|e| format!("{jwks_uri}: {e}"))?;
    for entry in &published.left_out {
        output::note(&format!("{jwks_uri}: not used: {entry}"));
    }
    Ok(published.set)
}

fn object(answer: &Answer, url: &str) -> Result<Value, String> {
    if answer.status != http::StatusCode::OK {
        // A TLS port that is asked in plain HTTP says so there.
        let said = String::from_utf8_lossy(&answer.body);
        let said = clean(said.lines().next().unwrap_or_default());
        let said = match said.as_str() {
            "" => String::new(),
            said if said.starts_with(['<', '{']) => String::new(),
            said => format!(": {said}"),
        };
        return Err(format!("{url} answered {}{said}", answer.status));
    }
    readable(&answer.body).map_err(|e| format!("{url}: {e}"))
}

/// What somebody else wrote, fit for a terminal.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

/// The audience of a token, as it says itself.
fn audience_of(token: &str) -> Option<String> {
    let parts = jws::split(token.as_bytes(), MAX_TOKEN).ok()?;
    let claims = readable(&parts.unverified_payload().ok()?).ok()?;
    match &claims["aud"] {
        Value::String(one) => Some(clean(one)),
        Value::Array(several) => {
            let names: Vec<&str> = several.iter().filter_map(Value::as_str).collect();
            Some(clean(&names.join(", ")))
        }
        _ => None,
    }
}

/// Unix seconds.
fn now() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |d| d.as_secs())
}

/// Unix seconds as people read them, with the distance from now.
fn when(at: u64) -> String {
    let (distance, word) = match at.checked_sub(now()) {
        Some(ahead) => (ahead, "from now"),
        None => (now() - at, "ago"),
    };
    let (count, unit) = match distance {
        0..120 => (distance, "seconds"),
        120..7_200 => (distance / 60, "minutes"),
        7_200..172_800 => (distance / 3_600, "hours"),
        _ => (distance / 86_400, "days"),
    };
    format!("{} ({count} {unit} {word})", output::date(at))
}

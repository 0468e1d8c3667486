//! `exchange`: a chain of grants for an access token. `publish`: a signed revocation or declaration
//! for a server.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use clap::Args;
use http::Method;
use serde_json::{Value, json};
use signet_agent::{
    capability::Capability,
    grant::Grant,
    identity::VerifiedDocument,
    object::{Signed, Type},
    presentation::Presentation,
    proof::Proof,
};
use signet_oauth::issued::agent_grants::{CHAIN_TYPE, DETAILS_TYPE, NONCE_RANDOM_BYTES};

use super::files::{self, refused};
use super::grant::capability;
use super::session_key::SessionKey;
use super::{Identity, now};
use crate::cli::{Failure, Output, block_on};
use signet_admin_client::http_client::{Answer, HttpClient, form, percent_encode};

/// The grant type of RFC 8693.
const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";

/// Which server, and whom it is believed by.
#[derive(Debug, Args)]
pub struct At {
    /// The server's issuer identifier.
    #[arg(long, value_name = "URL")]
    issuer: String,
    /// A PEM file of authorities to trust in place of the machine's. May be repeated.
    #[arg(long = "ca-cert", value_name = "FILE")]
    ca_certs: Vec<PathBuf>,
}

/// `signet agent exchange`
#[derive(Debug, Args)]
pub struct Exchange {
    #[command(flatten)]
    identity: Identity,
    #[command(flatten)]
    at: At,
    /// The client that exchanges; its secret comes from SIGNET_CLIENT_SECRET or
    /// --client-secret-file.
    #[arg(long)]
    client_id: String,
    /// A file with the client's secret.
    #[arg(long)]
    client_secret_file: Option<PathBuf>,
    /// The session's key, which the token is bound to; made where the file does not exist.
    #[arg(long, default_value = "session.jwk")]
    key: PathBuf,
    /// Where the token is to be used (RFC 8707). May be repeated.
    #[arg(long)]
    resource: Vec<String>,
    /// A scope; the chain needs the capability `scope:NAME`. May be repeated.
    #[arg(long)]
    scope: Vec<String>,
    /// What the token is for; everything that the chain grants unless given. May be repeated.
    #[arg(long = "capability", value_parser = capability)]
    capabilities: Vec<Capability>,
    /// What is to be spent with the token: N or N:UNIT.
    #[arg(long, requires = "capabilities")]
    spend: Option<String>,
    /// The document of an agent of the chain that has rotated its key. May be repeated.
    #[arg(long = "document")]
    documents: Vec<PathBuf>,
    /// The grants, the root's first; declarations and births may stand among them.
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// `signet agent publish`
#[derive(Debug, Args)]
pub struct Publish {
    #[command(flatten)]
    at: At,
    /// The revocation or declaration, with its signer's document, as `signet agent revoke` writes
    /// it.
    file: PathBuf,
}

/// A server's metadata (OpenID Connect Discovery section 4).
struct Server {
    client: HttpClient,
    metadata: Value,
}

impl Server {
    async fn discover(at: &At) -> Result<Server, Failure> {
        let client = HttpClient::new(&at.ca_certs).map_err(Failure::unusable)?;
        let issuer = at.issuer.trim_end_matches('/');
        let url = format!("{issuer}/.well-known/openid-configuration");
        let answer = client.get(&url, &[]).await.map_err(Failure::unusable)?;
        let metadata = value(&answer)?;
        // Section 4.3: the issuer of the document is the one that was asked for.
        if metadata["issuer"] != issuer {
            return Err(Failure::unusable(format!(
                "the metadata at {url} is of another issuer"
            )));
        }
        Ok(Server { client, metadata })
    }

    fn endpoint(&self, name: &str) -> Result<&str, Failure> {
        self.metadata[name]
            .as_str()
            .ok_or_else(|| Failure::unusable(format!("the server offers no {name}")))
    }
}

fn value(answer: &Answer) -> Result<Value, Failure> {
    serde_json::from_slice(&answer.body).map_err(|_| {
        Failure::unusable(format!(
            "the server's answer ({}) is no JSON",
            answer.status
        ))
    })
}

/// The answer, or the server's "no".
fn accepted(answer: &Answer) -> Result<Value, Failure> {
    let value = value(answer)?;
    if answer.status.is_success() {
        return Ok(value);
    }
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let (error, description) = (text("error"), text("error_description"));
    if error.is_empty() {
        return Err(Failure::unusable(format!(
            "the server answered {}",
            answer.status
        )));
    }
    Err(Failure::no(&error, description))
}

fn secret(file: Option<&Path>) -> Result<signet_crypto::Secret<String>, Failure> {
    let text = match file {
        Some(file) => std::fs::read_to_string(file)
            .map_err(|e| Failure::unusable(format!("cannot read {}: {e}", file.display())))?,
        None => std::env::var("SIGNET_CLIENT_SECRET").map_err(|_| {
            Failure::unusable(
                "a client secret is needed: SIGNET_CLIENT_SECRET or --client-secret-file",
            )
        })?,
    };
    Ok(signet_crypto::Secret::new(text.trim_end().to_owned()))
}

/// Grants and what goes with them, from files.
fn presentation(
    arguments: &Exchange,
    document: &VerifiedDocument,
    keys: &signet_agent::SigningKeys,
    thumbprint: &[u8; 32],
) -> Result<Presentation, Failure> {
    let (mut grants, mut declarations, mut births) = (Vec::new(), Vec::new(), Vec::new());
    for path in &arguments.files {
        let file = files::object(path)?;
        let failed = |reason| refused(reason, &path.display().to_string());
        match file.kind {
            Type::Declaration => declarations.push(file.object().map_err(failed)?),
            Type::Birth => births.push(file.object().map_err(failed)?),
            Type::Identity
            | Type::Grant
            | Type::Rotation
            | Type::Receipt
            | Type::Proof
            | Type::Revocation
            | Type::Method
            | Type::Attestation
            | Type::Witness
            | Type::Heartbeat
            | Type::TrackRecord => grants.push(file.object::<Grant>().map_err(failed)?),
        }
    }
    let last = grants
        .last()
        .ok_or_else(|| Failure::unusable("there is no grant among the files"))?;
    if last.body().to.agent != document.id() {
        return Err(refused(
            signet_agent::Refusal::WrongSigner,
            "the last grant is to another agent",
        ));
    }
    let mut documents = Vec::new();
    for path in &arguments.documents {
        documents.push(files::document(path)?);
    }
    // Needed once the key is another than the one that the grant names.
    if !documents.iter().any(|known| known.id() == document.id()) {
        documents.push(document.clone());
    }
    let mut nonce = signet_crypto::random::bytes::<NONCE_RANDOM_BYTES>().to_vec();
    nonce.extend_from_slice(thumbprint);
    let proof = Proof {
        by: document.by(),
        grant: last.id(),
        audience: arguments.at.issuer.trim_end_matches('/').to_owned(),
        at: now(),
        nonce,
        method: None,
    };
    let proof = Signed::sign(&proof, &document.signer(keys))
        .map_err(|reason| Failure::unusable(format!("the proof cannot be signed: {reason}")))?;
    Ok(Presentation {
        grants,
        proof,
        documents,
        declarations,
        births,
    })
}

/// `authorization_details` of what was asked for.
fn details(arguments: &Exchange) -> Result<Option<String>, Failure> {
    if arguments.capabilities.is_empty() {
        return Ok(None);
    }
    let mut objects: Vec<Value> = arguments
        .capabilities
        .iter()
        .map(|capability| {
            json!({
                "type": DETAILS_TYPE,
                "actions": [capability.action()],
                "resources": [capability.resource()],
            })
        })
        .collect();
    if let Some(spend) = &arguments.spend {
        let budget = super::grant::amount(spend)
            .ok_or_else(|| Failure::unusable("--spend is N or N:UNIT"))?;
        objects[0]["constraints"] =
            json!({ "budget": { "amount": budget.amount, "unit": budget.unit } });
    }
    Ok(Some(Value::Array(objects).to_string()))
}

/// `signet agent exchange`
pub fn exchange(arguments: &Exchange, output: &Output) -> Result<(), Failure> {
    let secret = secret(arguments.client_secret_file.as_deref())?;
    let key = SessionKey::open_or_make(&arguments.key)?;
    let (document, keys) = files::unlock(&arguments.identity.identity)?;
    let shown = presentation(arguments, &document, &keys, key.thumbprint())?.to_text();
    let details = details(arguments)?;
    let scope = arguments.scope.join(" ");
    let mut fields = vec![
        ("grant_type", EXCHANGE),
        ("subject_token_type", CHAIN_TYPE),
        ("subject_token", shown.as_str()),
    ];
    if !scope.is_empty() {
        fields.push(("scope", &scope));
    }
    fields.extend(arguments.resource.iter().map(|r| ("resource", r.as_str())));
    if let Some(details) = &details {
        fields.push(("authorization_details", details));
    }
    let body = Bytes::from(form(&fields));
    let authorization = basic(&arguments.client_id, &secret);
    let answer = block_on(async {
        let server = Server::discover(&arguments.at).await?;
        let url = server.endpoint("token_endpoint")?;
        let mut nonce: Option<String> = None;
        // RFC 9449 section 8: once more with the server's nonce, where it asks for one.
        loop {
            let proof = key.proof("POST", url, nonce.as_deref(), None)?;
            let headers = [
                ("content-type", "application/x-www-form-urlencoded"),
                ("authorization", authorization.expose().as_str()),
                ("dpop", proof.as_str()),
            ];
            let answer = server
                .client
                .send(Method::POST, url, &headers, body.clone())
                .await
                .map_err(Failure::unusable)?;
            let asked = answer.header("dpop-nonce").map(str::to_owned);
            let wants = value(&answer).is_ok_and(|value| value["error"] == "use_dpop_nonce");
            if nonce.is_none() && wants && asked.is_some() {
                nonce = asked;
                continue;
            }
            return accepted(&answer);
        }
    })??;
    output.print(&answer, || {
        answer["access_token"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    })
}

/// RFC 6749 section 2.3.1.
fn basic(id: &str, secret: &signet_crypto::Secret<String>) -> signet_crypto::Secret<String> {
    let pair = format!("{}:{}", percent_encode(id), percent_encode(secret.expose()));
    let mut text: String = signet_encoding::base64url::encode(pair.as_bytes())
        .replace('-', "+")
        .replace('_', "/");
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    signet_crypto::Secret::new(format!("Basic {text}"))
}

/// `signet agent publish`
pub fn publish(arguments: &Publish, output: &Output) -> Result<(), Failure> {
    let file = files::object(&arguments.file)?;
    if file.signer.is_none() {
        output_note_without_signer();
    }
    let text = file
        .write()
        .map_err(|reason| refused(reason, &arguments.file.display().to_string()))?;
    let answer = block_on(async {
        let server = Server::discover(&arguments.at).await?;
        let url = server.endpoint("signet_agent_statements_endpoint")?;
        let headers = [("content-type", "application/json")];
        let answer = server
            .client
            .send(Method::POST, url, &headers, Bytes::from(text))
            .await
            .map_err(Failure::unusable)?;
        accepted(&answer)
    })??;
    output.print(&answer, || match answer["grants_ended"].as_u64() {
        Some(ended) => format!("accepted; {ended} grants that the server knew have ended"),
        None => "accepted".to_owned(),
    })
}

fn output_note_without_signer() {
    crate::cli::note("the object brings no signer's document: the server has to know it");
}

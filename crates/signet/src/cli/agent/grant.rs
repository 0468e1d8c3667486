//! `grant`, `prove`, `revoke`.

use std::path::PathBuf;

use clap::Args;
use signet_agent::anchor::Anchors;
use signet_agent::capability::Capability;
use signet_agent::constraint::{Budget, Constraints};
use signet_agent::grant::Grant;
use signet_agent::json::File;
use signet_agent::object::Signed;
use signet_agent::proof::Proof;
use signet_agent::revocation::{Revocation, Target};
use signet_agent::text_map::TextMap;
use signet_agent::{AgentId, Hash, Refusal};
use signet_oauth::issued::agent_grants::NONCE_RANDOM_BYTES;

use super::files::{self, refused};
use super::{Failure, Identity, Out, Output, now};
use signet_config::duration::Duration;

/// `signet agent grant`
#[derive(Debug, Args)]
pub struct GrantArguments {
    #[command(flatten)]
    identity: Identity,
    /// The public document of the grantee.
    #[arg(long)]
    to: PathBuf,
    /// What is granted, `action:resource`; `*` alone or after a last `/` stands for all. May be
    /// repeated.
    #[arg(long = "capability", required = true, num_args = 1.., value_parser = capability)]
    capabilities: Vec<Capability>,
    /// audience=A, not-before=UNIX, max-uses=N, budget=N[:UNIT], network=CIDR or x-NAME=VALUE. May
    /// be repeated.
    #[arg(long = "constraint", num_args = 1..)]
    constraints: Vec<String>,
    /// How long it counts: 90s, 10m, 8h, 30d.
    #[arg(long, value_parser = Duration::parse)]
    expires_in: Duration,
    /// How many further delegations it allows.
    #[arg(long, default_value_t = 0)]
    max_depth: u64,
    /// The grant that is delegated.
    #[arg(long)]
    parent: Option<PathBuf>,
    /// The document of an agent that may revoke it too. May be repeated.
    #[arg(long = "revoker")]
    revokers: Vec<PathBuf>,
    #[command(flatten)]
    out: Out,
}

/// `signet agent prove`
#[derive(Debug, Args)]
pub struct Prove {
    #[command(flatten)]
    identity: Identity,
    /// The last grant of the chain.
    #[arg(long, required_unless_present = "challenge")]
    grant: Option<PathBuf>,
    /// For whom: an API's identifier, or a server's issuer.
    #[arg(long)]
    audience: String,
    /// What the verifier asked to be answered.
    #[arg(long, allow_hyphen_values = true)]
    nonce: Option<String>,
    /// In place of a grant: the challenge of a server's account page, where the identity is to be
    /// bound.
    #[arg(
        long,
        conflicts_with_all = ["grant", "nonce", "thumbprint"],
        allow_hyphen_values = true
    )]
    challenge: Option<String>,
    /// For an exchange at a server: the base64url thumbprint of the key (`jkt`) or certificate that
    /// the token is to be bound to.
    #[arg(long, conflicts_with = "nonce", allow_hyphen_values = true)]
    thumbprint: Option<Hash>,
    #[command(flatten)]
    out: Out,
}

/// `signet agent revoke`
#[derive(Debug, Args)]
pub struct Revoke {
    #[command(flatten)]
    identity: Identity,
    #[command(flatten)]
    target: RevokeTarget,
    /// Why.
    #[arg(long)]
    reason: String,
    #[command(flatten)]
    out: Out,
}

/// What is revoked.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct RevokeTarget {
    /// A grant, and all that was delegated under it.
    #[arg(long)]
    grant: Option<PathBuf>,
    /// What was delegated under a grant; the grant itself stays.
    #[arg(long)]
    subtree: Option<PathBuf>,
    /// An agent's id: every grant to it and from it.
    #[arg(long)]
    agent: Option<AgentId>,
    /// An agent's id: every grant from it.
    #[arg(long)]
    everything: Option<AgentId>,
}

/// For clap, which takes a message for an error.
pub fn capability(text: &str) -> Result<Capability, String> {
    text.parse().map_err(|_| {
        "a capability is action:resource, where * stands alone or after the last /".to_owned()
    })
}

/// An amount with an optional unit: `500`, `500:eur`.
pub fn amount(text: &str) -> Option<Budget> {
    let (number, unit) = text.split_once(':').unwrap_or((text, ""));
    Some(Budget {
        amount: number.parse().ok()?,
        unit: unit.to_owned(),
    })
}

/// The constraints, and the beginning.
pub fn constraints(all: &[String]) -> Result<(Constraints, u64), Failure> {
    let (mut constraints, mut not_before, mut custom) = (Constraints::default(), 0, Vec::new());
    for constraint in all {
        let wrong = || {
            Failure::unusable(format!(
                "the constraint {constraint} cannot be read: see --help"
            ))
        };
        let (name, value) = constraint.split_once('=').ok_or_else(wrong)?;
        match name {
            "audience" => constraints.audience.push(value.to_owned()),
            "not-before" => not_before = value.parse().map_err(|_| wrong())?,
            "max-uses" => constraints.max_uses = Some(value.parse().map_err(|_| wrong())?),
            "budget" => constraints.budget = Some(amount(value).ok_or_else(wrong)?),
            "network" => constraints
                .networks
                .push(value.parse().map_err(|_| wrong())?),
            _ if name.starts_with("x-") => custom.push((name.to_owned(), value.to_owned())),
            _ => return Err(wrong()),
        }
    }
    constraints.audience.sort_unstable();
    constraints.audience.dedup();
    constraints.networks.sort_unstable();
    constraints.networks.dedup();
    constraints.custom = TextMap::new(custom)
        .map_err(|_| Failure::unusable("a custom constraint is given twice"))?;
    Ok((constraints, not_before))
}

pub fn grant(arguments: &GrantArguments, output: &Output) -> Result<(), Failure> {
    let to = files::document(&arguments.to)?;
    let (constraints, not_before) = constraints(&arguments.constraints)?;
    let parent = arguments
        .parent
        .as_deref()
        .map(files::typed::<Grant>)
        .transpose()?;
    let revokers = arguments
        .revokers
        .iter()
        .map(|path| files::document(path).map(|d| d.id()));
    let mut delegates = revokers.collect::<Result<Vec<_>, _>>()?;
    delegates.sort_unstable();
    delegates.dedup();
    let (document, keys) = files::unlock(&arguments.identity.identity)?;
    let mut body = Grant::new(
        document.by(),
        &to,
        arguments.capabilities.clone(),
        now(),
        arguments.expires_in.0,
    );
    body.max_depth = arguments.max_depth;
    body.constraints = constraints;
    body.not_before = not_before;
    body.revocation.delegates = delegates;
    if let Some((parent, file)) = &parent {
        if let Some(signer) = &file.signer {
            parent
                .verify_by(signer, &Anchors::none())
                .map_err(|reason| refused(reason, "the parent"))?;
        }
        // No verifier would accept more than the parent has: it is not signed either.
        body = body
            .under(parent)
            .map_err(|reason| refused(reason, "the grant"))?;
    }
    let signed = Signed::sign(&body, &document.signer(&keys))
        .map_err(|reason| Failure::unusable(format!("the grant cannot be signed: {reason}")))?;
    files::write(
        &File::of(&signed).with_signer(&document),
        arguments.out.out.as_deref(),
        output,
    )
}

pub fn prove(arguments: &Prove, output: &Output) -> Result<(), Failure> {
    let grant = arguments.grant.as_deref().map(files::typed::<Grant>);
    let (document, keys) = files::unlock(&arguments.identity.identity)?;
    let proven = match grant.transpose()? {
        Some((grant, _)) if grant.body().to.agent != document.id() => {
            return Err(refused(
                Refusal::WrongSigner,
                "the grant is to another agent",
            ));
        }
        Some((grant, _)) => grant.id(),
        // A challenge: what is proven is the document.
        None => document.signed().id(),
    };
    let nonce = match (&arguments.thumbprint, &arguments.challenge) {
        (Some(thumbprint), _) => {
            let mut nonce = signet_crypto::random::bytes::<NONCE_RANDOM_BYTES>().to_vec();
            nonce.extend_from_slice(&thumbprint.0);
            nonce
        }
        (None, Some(challenge)) => challenge.clone().into_bytes(),
        (None, None) => arguments.nonce.clone().unwrap_or_default().into_bytes(),
    };
    let body = Proof {
        by: document.by(),
        grant: proven,
        audience: arguments.audience.clone(),
        at: now(),
        nonce,
        method: None,
    };
    let signed = Signed::sign(&body, &document.signer(&keys))
        .map_err(|reason| Failure::unusable(format!("the proof cannot be signed: {reason}")))?;
    files::write(
        &File::of(&signed).with_signer(&document),
        arguments.out.out.as_deref(),
        output,
    )
}

pub fn revoke(arguments: &Revoke, output: &Output) -> Result<(), Failure> {
    let asked = &arguments.target;
    let id = |path: &PathBuf| files::typed::<Grant>(path).map(|(grant, _)| grant.id());
    let target = match (&asked.grant, &asked.subtree, asked.agent, asked.everything) {
        (Some(path), ..) => Target::Grant(id(path)?),
        (_, Some(path), ..) => Target::Subtree(id(path)?),
        (_, _, Some(agent), _) => Target::Agent(agent),
        (.., Some(agent)) => Target::Everything(agent),
        (None, None, None, None) => {
            return Err(Failure::unusable("say what is revoked: --grant GRANT, say"));
        }
    };
    let (document, keys) = files::unlock(&arguments.identity.identity)?;
    let body = Revocation {
        by: document.by(),
        target,
        reason: arguments.reason.clone(),
        at: now(),
    };
    let signed = Signed::sign(&body, &document.signer(&keys)).map_err(|reason| {
        Failure::unusable(format!("the revocation cannot be signed: {reason}"))
    })?;
    files::write(
        &File::of(&signed).with_signer(&document),
        arguments.out.out.as_deref(),
        output,
    )
}

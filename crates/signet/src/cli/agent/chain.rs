//! `chain verify` and `explain`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use signet_agent::anchor::Anchors;
use signet_agent::capability::Capability;
use signet_agent::chain::{Accepted, ChainRefusal, Check, Step};
use signet_agent::constraint::{Budget, Context, Custom, Ledger};
use signet_agent::declaration::Declaration;
use signet_agent::grant::Grant;
use signet_agent::identity::VerifiedDocument;
use signet_agent::json::File;
use signet_agent::lineage::{Birth, VerifiedLineage};
use signet_agent::object::{Signed, Type};
use signet_agent::proof::{Expected, Proof};
use signet_agent::revocation::Revocations;
use signet_agent::text_map::TextMap;
use signet_agent::{Hash, Refusal};

use super::anchors::Anchoring;
use super::files::{self, refused};
use super::grant::{amount, capability};
use super::{Failure, Output, now};
use signet_terminal::output;

/// Seconds of clock skew, and the age of a proof.
const LEEWAY: u64 = 10;
const PROOF_AGE: u64 = 300;

/// `signet agent chain verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// The document of the one from whom the authority has to come.
    #[arg(long)]
    root: PathBuf,
    /// What is to be done.
    #[arg(long, value_parser = capability)]
    capability: Capability,
    /// What constraints are about: audience=A, network=IP, max-uses=N and budget=N[:UNIT] (the
    /// totals, this use included), x-NAME=VALUE, nonce=N. May be repeated.
    #[arg(long)]
    context: Vec<String>,
    /// The holder's proof of possession.
    #[arg(long)]
    proof: Option<PathBuf>,
    /// Unix seconds to check at, in place of the clock.
    #[arg(long)]
    now: Option<u64>,
    /// A revocation. May be repeated.
    #[arg(long = "revocation")]
    revocations: Vec<PathBuf>,
    /// Unix seconds up to which these are all revocations.
    #[arg(long)]
    revocations_as_of: Option<u64>,
    /// How old, in seconds, what is known of revocations may be.
    #[arg(long)]
    max_staleness: Option<u64>,
    /// A declaration of refusal, to which its agent is held. May be repeated.
    #[arg(long = "declaration")]
    declarations: Vec<PathBuf>,
    #[command(flatten)]
    anchoring: Anchoring,
    /// The document of an agent of the chain, as new as it can be had. May be repeated.
    #[arg(long = "document")]
    documents: Vec<PathBuf>,
    /// The grants, the root's first; revocations, documents, declarations and births may stand
    /// among them.
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// What the files said.
struct Material {
    root: VerifiedDocument,
    documents: Vec<VerifiedDocument>,
    grants: Vec<Signed<Grant>>,
    revocations: Revocations,
    declarations: Vec<Signed<Declaration>>,
    lineages: Vec<VerifiedLineage>,
    proof: Option<Signed<Proof>>,
    anchors: Anchors,
    context: Given,
}

/// What `--context` said.
#[derive(Default)]
struct Given {
    audience: Option<String>,
    network: Option<IpAddr>,
    uses: Option<u64>,
    spent: Option<Budget>,
    custom: TextMap,
    nonce: Option<String>,
}

impl Ledger for Given {
    fn uses(&self, _: &Hash) -> Option<u64> {
        self.uses
    }

    fn spent(&self, _: &Hash, unit: &str) -> Option<u64> {
        self.spent
            .as_ref()
            .filter(|spent| spent.unit == unit)
            .map(|spent| spent.amount)
    }
}

impl Custom for Given {
    /// Whoever gives a value for a constraint knows it, and says that it has to be this one.
    fn fulfilled(&self, name: &str, value: &str) -> Option<bool> {
        self.custom.get(name).map(|given| given == value)
    }
}

impl Given {
    fn read(all: &[String]) -> Result<Given, Failure> {
        let (mut given, mut custom) = (Given::default(), Vec::new());
        for context in all {
            let wrong =
                || Failure::unusable(format!("the context {context} cannot be read: see --help"));
            let (name, value) = context.split_once('=').ok_or_else(wrong)?;
            match name {
                "audience" => given.audience = Some(value.to_owned()),
                "network" => given.network = Some(value.parse().map_err(|_| wrong())?),
                "max-uses" | "uses" => given.uses = Some(value.parse().map_err(|_| wrong())?),
                "budget" => given.spent = Some(amount(value).ok_or_else(wrong)?),
                "nonce" => given.nonce = Some(value.to_owned()),
                _ if name.starts_with("x-") => custom.push((name.to_owned(), value.to_owned())),
                _ => return Err(wrong()),
            }
        }
        given.custom =
            TextMap::new(custom).map_err(|_| Failure::unusable("a context is given twice"))?;
        Ok(given)
    }
}

/// What was read, and not yet put together.
struct Parts {
    root: VerifiedDocument,
    documents: Vec<VerifiedDocument>,
    grants: Vec<Signed<Grant>>,
    declarations: Vec<Signed<Declaration>>,
    births: Vec<Signed<Birth>>,
    /// With what each is called in messages.
    revocations: Vec<(File, String)>,
    /// Up to when these are all.
    revocations_as_of: u64,
    proof: Option<Signed<Proof>>,
    anchors: Anchors,
    context: Given,
}

impl Parts {
    fn new(root: VerifiedDocument, context: &[String]) -> Result<Parts, Failure> {
        Ok(Parts {
            root,
            documents: Vec::new(),
            grants: Vec::new(),
            declarations: Vec::new(),
            births: Vec::new(),
            revocations: Vec::new(),
            revocations_as_of: 0,
            proof: None,
            anchors: Anchors::none(),
            context: Given::read(context)?,
        })
    }

    /// An object of any kind that a chain may need.
    fn add(&mut self, file: File, about: &str) -> Result<(), Failure> {
        let failed = |reason| refused(reason, about);
        match file.kind {
            Type::Identity => self.documents.push(
                file.object()
                    .and_then(VerifiedDocument::new)
                    .map_err(failed)?,
            ),
            Type::Declaration => self.declarations.push(file.object().map_err(failed)?),
            Type::Birth => self.births.push(file.object::<Birth>().map_err(failed)?),
            Type::Revocation => self.revocations.push((file.clone(), about.to_owned())),
            Type::Grant
            | Type::Rotation
            | Type::Receipt
            | Type::Proof
            | Type::Method
            | Type::Attestation
            | Type::Witness
            | Type::Heartbeat
            | Type::TrackRecord => self.grants.push(file.object::<Grant>().map_err(failed)?),
        }
        self.documents.extend(file.signer);
        Ok(())
    }
}

/// What a chain is checked for.
struct Question<'a> {
    capability: &'a Capability,
    now: u64,
    max_staleness: Option<u64>,
    /// Somebody said up to when these are all revocations.
    revocations_known: bool,
}

impl Verify {
    fn question(&self) -> Question<'_> {
        Question {
            capability: &self.capability,
            now: self.now.unwrap_or_else(now),
            max_staleness: self.max_staleness,
            revocations_known: self.revocations_as_of.is_some() || self.max_staleness.is_some(),
        }
    }
}

impl Material {
    fn read(arguments: &Verify) -> Result<Material, Failure> {
        let mut parts = Parts::new(files::document(&arguments.root)?, &arguments.context)?;
        for path in &arguments.documents {
            parts.documents.push(files::document(path)?);
        }
        for path in &arguments.declarations {
            let (declaration, file) = files::typed::<Declaration>(path)?;
            parts.declarations.push(declaration);
            parts.documents.extend(file.signer);
        }
        for path in &arguments.revocations {
            let about = path.display().to_string();
            let unreadable = |_| refused(Refusal::RevocationUnreadable, &about);
            let file = File::read(&files::read(path)?).map_err(unreadable)?;
            parts.revocations.push((file, about));
        }
        for path in &arguments.files {
            parts.add(files::object(path)?, &path.display().to_string())?;
        }
        if let Some(path) = &arguments.proof {
            let (proof, file) = files::typed::<Proof>(path)?;
            parts.documents.extend(file.signer);
            parts.proof = Some(proof);
        }
        parts.anchors = arguments.anchoring.read()?;
        parts.revocations_as_of = arguments.revocations_as_of.unwrap_or(0);
        Material::of(parts)
    }

    fn of(parts: Parts) -> Result<Material, Failure> {
        let Parts {
            root: named,
            mut documents,
            grants,
            declarations,
            births,
            revocations: files_of_revocations,
            revocations_as_of,
            proof,
            anchors,
            context,
        } = parts;
        let mut revocations = Revocations::as_of(revocations_as_of);
        for (file, about) in &files_of_revocations {
            let unreadable = |_| refused(Refusal::RevocationUnreadable, about);
            files::add_read_revocation(file, &mut revocations, &documents, &anchors)
                .map_err(unreadable)?;
        }
        let root = files::newest(&named, documents.iter()).clone();
        // Documents that fork from the named root's history are not a later state of it.
        documents.retain(|document| document.id() != root.id());
        let mut lineages = Vec::new();
        if !births.is_empty() {
            let mut known = documents.clone();
            known.push(root.clone());
            known.sort_by_key(|document| std::cmp::Reverse(document.by().key));
            let lineage = VerifiedLineage::verify(&births, &known, &anchors);
            lineages.push(lineage.map_err(|reason| refused(reason, "the births"))?);
        }
        Ok(Material {
            root,
            documents,
            grants,
            revocations,
            declarations,
            lineages,
            proof,
            anchors,
            context,
        })
    }

    fn check<R>(
        &self,
        question: &Question<'_>,
        run: impl FnOnce(&Check<'_>, &[Signed<Grant>]) -> R,
    ) -> Result<R, Failure> {
        let proof = match &self.proof {
            None => None,
            Some(proof) => {
                let missing = || {
                    refused(
                        Refusal::ContextMissing,
                        "a proof is for an audience: --context audience=A",
                    )
                };
                let audience = self.context.audience.as_deref().ok_or_else(missing)?;
                let nonce = self.context.nonce.as_deref().map(str::as_bytes);
                Some((
                    proof,
                    Expected {
                        audience,
                        nonce,
                        max_age: PROOF_AGE,
                    },
                ))
            }
        };
        let check = Check {
            root: &self.root,
            documents: &self.documents,
            capability: question.capability,
            context: Context {
                audience: self.context.audience.as_deref(),
                network: self.context.network,
                ledger: &self.context,
                custom: &self.context,
            },
            now: question.now,
            leeway: LEEWAY,
            revocations: &self.revocations,
            max_staleness: question.max_staleness,
            declarations: &self.declarations,
            kept_declarations: &[],
            lineages: &self.lineages,
            anchors: &self.anchors,
            proof,
        };
        Ok(run(&check, &self.grants))
    }
}

fn not_accepted(refusal: ChainRefusal) -> Failure {
    let description = format!("link {}: {}", refusal.link, refusal.reason);
    Failure::no(refusal.reason.name(), description)
        .with(json!({ "verified": false, "link": refusal.link }))
}

fn not_checked(question: &Question<'_>, accepted: &Accepted) -> Vec<&'static str> {
    let mut not_checked = Vec::new();
    if !accepted.possession_proven {
        not_checked.push("possession");
    }
    if !question.revocations_known {
        not_checked.push("revocation_freshness");
    }
    not_checked
}

fn answer(question: &Question<'_>, accepted: &Accepted) -> serde_json::Value {
    if !accepted.possession_proven {
        output::note(
            "only the grants were checked: without --proof anybody could be presenting them",
        );
    }
    json!({
        "verified": true,
        "capability": question.capability.as_str(),
        "holder": accepted.holder.agent.to_string(),
        "agents": accepted.agents.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "grants": accepted.grants.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "not_after": accepted.not_after,
        "possession_proven": accepted.possession_proven,
        "not_checked": not_checked(question, accepted),
    })
}

fn listed(steps: &[Step]) -> Vec<serde_json::Value> {
    steps
        .iter()
        .map(|s| json!({ "link": s.link, "rule": s.rule, "holds": s.refused.is_none(), "refused": s.refused.map(Refusal::name) }))
        .collect()
}

/// Checks a chain of objects that came in one message, with nothing from files: the answer, yes or
/// no, link by link.
pub fn check_given(
    root: VerifiedDocument,
    capability: &Capability,
    files: Vec<File>,
    proof: Option<File>,
    context: &[String],
) -> Result<serde_json::Value, Failure> {
    let mut parts = Parts::new(root, context)?;
    for file in files {
        parts.add(file, "a grant")?;
    }
    if let Some(file) = proof {
        let proof = file.object::<Proof>();
        parts.proof = Some(proof.map_err(|reason| refused(reason, "the proof"))?);
        parts.documents.extend(file.signer);
    }
    let material = Material::of(parts)?;
    let question = Question {
        capability,
        now: now(),
        max_staleness: None,
        revocations_known: false,
    };
    let (steps, outcome) = material.check(&question, |check, grants| check.explain(grants))?;
    Ok(match outcome {
        Ok(accepted) => json!({
            "accepted": true,
            "holder": accepted.holder.agent.to_string(),
            "not_after": accepted.not_after,
            "possession_proven": accepted.possession_proven,
            "not_checked": not_checked(&question, &accepted),
            "steps": listed(&steps),
        }),
        Err(refusal) => json!({
            "accepted": false,
            "reason": refusal.reason.name(),
            "description": refusal.reason.to_string(),
            "link": refusal.link,
            "not_checked": [],
            "steps": listed(&steps),
        }),
    })
}

pub fn verify(arguments: &Verify, output: &Output) -> Result<(), Failure> {
    let material = Material::read(arguments)?;
    let accepted = material
        .check(&arguments.question(), |check, grants| check.run(grants))?
        .map_err(not_accepted)?;
    output.print(&answer(&arguments.question(), &accepted), || {
        let proven = if accepted.possession_proven {
            ""
        } else {
            " (possession not checked)"
        };
        format!(
            "accepted: {} may {}{proven}",
            accepted.holder.agent, arguments.capability
        )
    })
}

pub fn explain(arguments: &Verify, output: &Output) -> Result<(), Failure> {
    let material = Material::read(arguments)?;
    let (steps, outcome) =
        material.check(&arguments.question(), |check, grants| check.explain(grants))?;
    let said = |step: &Step| step.refused.map_or("holds", Refusal::name);
    let rows: Vec<_> = steps
        .iter()
        .map(|s| vec![s.link.to_string(), s.rule.to_owned(), said(s).to_owned()])
        .collect();
    let listed = listed(&steps);
    match outcome {
        Ok(accepted) => {
            let mut answer = answer(&arguments.question(), &accepted);
            answer["steps"] = listed.into();
            output.print(&answer, || {
                output::table(&["link", "rule", "answer"], &rows)
            })
        }
        Err(refusal) => {
            if !output.json {
                output.print(&json!({}), || {
                    output::table(&["link", "rule", "answer"], &rows)
                })?;
            }
            let members = json!({ "verified": false, "link": refusal.link, "steps": listed });
            Err(not_accepted(refusal).with(members))
        }
    }
}

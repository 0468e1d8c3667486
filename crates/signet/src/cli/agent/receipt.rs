//! `receipt sign` and `receipt verify`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use signet_agent::Hash;
use signet_agent::anchor::Anchors;
use signet_agent::grant::Grant;
use signet_agent::json::File;
use signet_agent::object::Signed;
use signet_agent::receipt::{KnownEnd, Outcome, Receipt, check_chain, check_links};

use super::anchors::Anchoring;
use super::files::{self, refused};
use super::{Failure, Identity, Out, Output, now_ms};
use signet_terminal::output;

/// `signet agent receipt ...`
#[derive(Debug, Subcommand)]
pub enum ReceiptCommand {
    /// Sign a receipt of an action.
    #[command(
        after_help = "Example:\n  signet agent receipt sign --identity alice.aid --action decision --content minutes.txt --out receipt.json"
    )]
    Sign(Box<Sign>),
    /// Verify receipts, in order where they are a chain. Exit 0: they verified; 1: they did not.
    #[command(
        after_help = "Example:\n  signet agent receipt verify --identity alice.json first.json second.json"
    )]
    Verify(Box<Verify>),
}

/// How an action ended.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Ended {
    /// It did what it was for.
    Success,
    /// It did not.
    Failure,
}

/// `signet agent receipt sign`
#[derive(Debug, Args)]
pub struct Sign {
    #[command(flatten)]
    identity: Identity,
    /// The type of action.
    #[arg(long)]
    action: String,
    /// What the receipt is about; its hash is signed.
    #[arg(long)]
    content: PathBuf,
    /// What went in; its hash is signed.
    #[arg(long)]
    input: Option<PathBuf>,
    /// Put the content itself into the file, beside the receipt.
    #[arg(long)]
    include_content: bool,
    /// The receipt before this one.
    #[arg(long)]
    previous: Option<PathBuf>,
    /// The grant it was done under.
    #[arg(long)]
    grant: Option<PathBuf>,
    /// How the action ended.
    #[arg(long)]
    outcome: Option<Ended>,
    #[command(flatten)]
    out: Out,
}

/// `signet agent receipt verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// The document of the one who has to have signed.
    #[arg(long)]
    identity: Option<PathBuf>,
    /// The content that the (only) receipt has to be about.
    #[arg(long)]
    content: Option<PathBuf>,
    /// The id of the last receipt, if it is known.
    #[arg(long, allow_hyphen_values = true)]
    head: Option<Hash>,
    /// How many receipts the chain has, if it is known.
    #[arg(long)]
    count: Option<u64>,
    /// The receipts are a part of a chain: its beginning may be missing.
    #[arg(long)]
    partial: bool,
    #[command(flatten)]
    anchoring: Anchoring,
    /// The receipts.
    #[arg(required = true)]
    receipts: Vec<PathBuf>,
}

pub fn run(command: &ReceiptCommand, output: &Output) -> Result<(), Failure> {
    match command {
        ReceiptCommand::Sign(arguments) => sign(arguments, output),
        ReceiptCommand::Verify(arguments) => verify(arguments, output),
    }
}

fn sign(arguments: &Sign, output: &Output) -> Result<(), Failure> {
    let content = files::read(&arguments.content)?;
    let input = arguments.input.as_deref().map(files::read).transpose()?;
    let previous = arguments
        .previous
        .as_deref()
        .map(files::typed::<Receipt>)
        .transpose()?;
    let grant = arguments
        .grant
        .as_deref()
        .map(files::typed::<Grant>)
        .transpose()?;
    let (document, keys) = files::unlock(&arguments.identity.identity)?;
    let mut body = Receipt::new(document.by(), &arguments.action, now_ms()).with_content(&content);
    body.input = input.map(|input| Hash::of(&input));
    body.grant = grant.map(|(grant, _)| grant.id());
    body.outcome = match arguments.outcome {
        None => Outcome::Unknown,
        Some(Ended::Success) => Outcome::Success,
        Some(Ended::Failure) => Outcome::Failure,
    };
    if let Some((previous, _)) = &previous {
        // A receipt that follows what one did not sign would follow a forgery.
        previous
            .verify_by(&document, &Anchors::none())
            .map_err(|reason| refused(reason, "the previous receipt"))?;
        body = body.after(previous);
        body.at_ms = body.at_ms.max(previous.body().at_ms);
    }
    let signed = Signed::sign(&body, &document.signer(&keys))
        .map_err(|reason| Failure::unusable(format!("the receipt cannot be signed: {reason}")))?;
    let mut file = File::of(&signed).with_signer(&document);
    file.content = arguments.include_content.then_some(content);
    files::write(&file, arguments.out.out.as_deref(), output)
}

fn verify(arguments: &Verify, output: &Output) -> Result<(), Failure> {
    let named = arguments
        .identity
        .as_deref()
        .map(files::document)
        .transpose()?;
    let content = arguments.content.as_deref().map(files::read).transpose()?;
    if content.is_some() && arguments.receipts.len() != 1 {
        return Err(Failure::unusable("--content goes with one receipt"));
    }
    let anchors = arguments.anchoring.read()?;
    let mut not_checked = Vec::new();
    let mut receipts = Vec::new();
    for path in &arguments.receipts {
        let (receipt, file) = files::typed::<Receipt>(path)?;
        let failed = |reason| refused(reason, &path.display().to_string());
        let document = match (&named, &file.signer) {
            (Some(named), signer) => files::newest(named, signer.iter()),
            (None, Some(signer)) => signer,
            (None, None) => return Err(failed(signet_agent::Refusal::DocumentMissing)),
        };
        receipt.verify_by(document, &anchors).map_err(failed)?;
        let known = file.content.as_ref().or(content.as_ref());
        match (known, receipt.body().content) {
            (Some(_), _) => {
                for content in file.content.iter().chain(&content) {
                    receipt.body().check_content(content).map_err(failed)?;
                }
            }
            (None, Some(_)) if !not_checked.contains(&"content") => not_checked.push("content"),
            (None, _) => {}
        }
        for disclosure in &file.disclosures {
            receipt
                .body()
                .check_disclosure(disclosure)
                .map_err(failed)?;
        }
        if !receipt.body().witnesses.is_empty() && !not_checked.contains(&"witnesses") {
            not_checked.push("witnesses");
        }
        receipts.push(receipt);
    }
    let end = KnownEnd {
        head: arguments.head,
        count: arguments.count,
    };
    let chained = receipts.iter().any(|receipt| receipt.body().index > 0)
        || end.head.is_some()
        || end.count.is_some();
    let alone = receipts.len() == 1 && end.head.is_none() && end.count.is_none();
    let outcome = match (chained, alone || arguments.partial) {
        (false, _) => Ok(()),
        (true, true) => check_links(&receipts),
        (true, false) => check_chain(&receipts, &end),
    };
    outcome.map_err(|(i, reason)| refused(reason, &arguments.receipts[i].display().to_string()))?;
    if named.is_none() {
        not_checked.push("identity");
        output::note(
            "each receipt is consistent with the id that is printed, no more: --identity names whose it has to be",
        );
    }
    if chained && receipts[0].body().index > 0 {
        not_checked.push("beginning");
        output::note("the chain's beginning was not given");
    }
    let answers = receipts.iter().map(|receipt| {
        let body = receipt.body();
        json!({
            "id": receipt.id().to_string(),
            "actor": body.by.agent.to_string(),
            "action": body.action,
            "at_ms": body.at_ms,
            "index": body.index,
        })
    });
    let answer = json!({ "verified": true, "not_checked": not_checked, "receipts": answers.collect::<Vec<_>>() });
    output.print(&answer, || {
        let lines = receipts
            .iter()
            .map(|r| format!("verified {} by {}", r.id(), r.body().by.agent));
        lines.collect::<Vec<_>>().join("\n")
    })
}

//! `signet compact ceremony`: proving parameters made by more than one party.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;
use signet_compact::Algorithm;
use signet_zk::Ceremony as Transcript;

use super::compact_keys::{DataDir, algorithm};
use super::{Failure, Output, Progress};
use signet_crypto::private_file;
use signet_parameters::{self, Origin, hex};

/// `signet compact ceremony ...`
#[derive(Debug, Subcommand)]
pub enum Ceremony {
    /// Contribute secrets of your own, which are forgotten at once. Phase 1 makes the powers, phase
    /// 2 the circuit's parameters; each wants two contributors or more, and is sound if one of them
    /// was honest. Keep the hash that is printed.
    #[command(
        after_help = "Example:\n  signet compact ceremony contribute --alg groth16-poseidon --out 1.transcript\n  signet compact ceremony contribute --in 1.transcript --out 2.transcript\n  signet compact ceremony contribute --in 2.transcript --phase 2 --out 3.transcript"
    )]
    Contribute(Contribute),
    /// Verify a transcript and print the contributions' hashes. Exit 0: it holds; 1: it does not.
    #[command(
        after_help = "Example:\n  signet compact ceremony verify 4.transcript --install --data-dir .signet"
    )]
    Verify(Verify),
}

/// `signet compact ceremony contribute`
#[derive(Debug, Args)]
pub struct Contribute {
    /// groth16-poseidon or groth16-hybrid; begins a ceremony.
    #[arg(long, value_parser = algorithm, required_unless_present = "input", conflicts_with = "input")]
    alg: Option<Algorithm>,
    /// The transcript so far.
    #[arg(long = "in")]
    input: Option<PathBuf>,
    /// Where the transcript with the contribution goes.
    #[arg(long)]
    out: PathBuf,
    /// The phase to contribute to, the one that the transcript is in unless given; 2 ends phase 1.
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=2))]
    phase: Option<u8>,
}

/// `signet compact ceremony verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// The transcript.
    transcript: PathBuf,
    /// Puts the parameters in the data directory, in place of those that are there.
    #[arg(long)]
    install: bool,
    #[command(flatten)]
    data: DataDir,
}

/// Does the command.
pub fn run(command: Ceremony, output: &Output) -> Result<(), Failure> {
    match command {
        Ceremony::Contribute(arguments) => contribute(&arguments, output),
        Ceremony::Verify(arguments) => verify(&arguments, output),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|e| Failure::unusable(format!("{}: {e}", path.display())))
}

fn contribute(arguments: &Contribute, output: &Output) -> Result<(), Failure> {
    let unusable = |e: signet_zk::Error| Failure::unusable(e.to_string());
    let mut ceremony = match (&arguments.input, arguments.alg) {
        (Some(path), _) => Transcript::from_bytes(&read(path)?).map_err(unusable)?,
        (None, algorithm) => Transcript::new(
            algorithm
                .and_then(Algorithm::statement)
                .ok_or_else(|| Failure::unusable("--alg is groth16-poseidon or groth16-hybrid"))?,
        ),
    };
    if arguments.phase == Some(2) && ceremony.phase() == 1 {
        let _progress = Progress::of("ending phase 1");
        ceremony.specialise().map_err(unusable)?;
    } else if arguments.phase == Some(1) && ceremony.phase() == 2 {
        return Err(Failure::unusable("the first phase has ended"));
    }
    if arguments.out.exists() {
        return Err(Failure::unusable(format!(
            "{} exists already",
            arguments.out.display()
        )));
    }
    let hash = {
        let progress = Progress::of("contributing");
        hex(&ceremony.contribute_watched(&mut |done, total| progress.at(done, total)))
    };
    private_file::write(&arguments.out, &ceremony.to_bytes())
        .map_err(|e| Failure::unusable(format!("{}: {e}", arguments.out.display())))?;
    let answer =
        json!({ "phase": ceremony.phase(), "contribution": hash, "transcript": arguments.out });
    output.print(&answer, || {
        format!("contribution to phase {}: {hash}", ceremony.phase())
    })
}

fn verify(arguments: &Verify, output: &Output) -> Result<(), Failure> {
    let refused = |e: signet_zk::Error| {
        Failure::no("invalid_transcript", e.to_string()).with(json!({ "verified": false }))
    };
    let progress = Progress::of("checking the transcript");
    let ceremony = Transcript::from_bytes(&read(&arguments.transcript)?).map_err(refused)?;
    let parameters = ceremony.verify().map_err(refused)?;
    drop(progress);
    let algorithm = Algorithm::ALL
        .into_iter()
        .find(|algorithm| algorithm.statement() == Some(ceremony.statement()))
        .ok_or_else(|| Failure::unusable("no algorithm has this statement"))?;
    if arguments.install {
        let data_dir = &arguments.data.data_dir;
        signet_parameters::install(data_dir, algorithm, &parameters, Origin::Ceremony, true)?;
    }
    let hashes = ceremony.hashes();
    let list = |hashes: &[[u8; 32]]| hashes.iter().map(|hash| hex(hash)).collect::<Vec<_>>();
    let (first, second) = (list(&hashes.first), list(&hashes.second));
    let key = hex(&parameters.verifying_key().hash());
    let answer = json!({
        "verified": true,
        "algorithm": algorithm.name(),
        "phase_1": first,
        "phase_2": second,
        "verifying_key_sha256": key,
        "installed": arguments.install,
    });
    output.print(&answer, || {
        format!(
            "{}: the transcript holds\nphase 1:\n  {}\nphase 2:\n  {}\nverifying key: {key}",
            algorithm.name(),
            first.join("\n  "),
            second.join("\n  "),
        )
    })
}

//! Runs every target on stable Rust: first its corpus as it is, then deterministic mutations of it.
//!
//! `smoke [--seconds N] [--seed N] [--target NAME]`: N seconds for each target (5), another
//! sequence of mutations, one target alone. An input that makes a target panic is written to
//! `fuzz/artifacts/NAME/` and the exit status is 1; run `smoke --target NAME FILE` to see it again.
#![forbid(unsafe_code)]

use std::{
    fs,
    panic::catch_unwind,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use signet_fuzz::{
    mutate::{Chooser, mutate},
    targets::{TARGETS, Target},
};

struct Options {
    seconds: u64,
    seed: u64,
    target: Option<String>,
    file: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\nusage: smoke [--seconds N] [--seed N] [--target NAME [FILE]]");
            return ExitCode::from(2);
        }
    };
    let wanted = |target: &&Target| {
        options
            .target
            .as_deref()
            .is_none_or(|name| name == target.name)
    };
    let mut failed = false;
    for target in TARGETS.iter().filter(wanted) {
        if let Err(message) = run(target, &options) {
            eprintln!("{}: {message}", target.name);
            failed = true;
        }
    }
    ExitCode::from(u8::from(failed))
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        seconds: 5,
        seed: 0,
        target: None,
        file: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("{text} is no number"));
        match argument.as_str() {
            "--seconds" => options.seconds = number(value()?)?,
            "--seed" => options.seed = number(value()?)?,
            "--target" => options.target = Some(value()?),
            file if !file.starts_with('-') => options.file = Some(file.into()),
            other => return Err(format!("unknown option {other}")),
        }
    }
    if let Some(name) = &options.target
        && !TARGETS.iter().any(|target| target.name == name)
    {
        return Err(format!("no target is called {name}"));
    }
    match (&options.file, &options.target) {
        (Some(_), None) => Err("a file needs --target".to_owned()),
        _ => Ok(options),
    }
}

fn run(target: &Target, options: &Options) -> Result<(), String> {
    if let Some(file) = &options.file {
        let data = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        return attempt(target, &data);
    }
    let corpus = corpus(target)?;
    for data in &corpus {
        attempt(target, data)?;
    }
    let mut chooser = Chooser::new(options.seed);
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let mut inputs = corpus.len();
    while Instant::now() < end {
        // The clock is asked once for many inputs.
        for _ in 0..64 {
            attempt(target, &mutate(&mut chooser, &corpus, target.dictionary))?;
        }
        inputs += 64;
    }
    println!("{:<22} {inputs:>9} inputs", target.name);
    Ok(())
}

fn corpus(target: &Target) -> Result<Vec<Vec<u8>>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target.name);
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = fs::read_dir(&folder)
        .map_err(failed)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(failed)?;
    // Folders are read in any order; the sequence of inputs must not depend on it.
    files.sort();
    let corpus: Vec<_> = files
        .iter()
        .map(fs::read)
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    match corpus.is_empty() {
        true => Err("the corpus is empty".to_owned()),
        false => Ok(corpus),
    }
}

fn attempt(target: &Target, data: &[u8]) -> Result<(), String> {
    catch_unwind(|| (target.run)(data)).map_err(|_| match keep(target, data) {
        Ok(file) => format!("panicked; the input is {}", file.display()),
        Err(error) => format!("panicked; the input could not be kept: {error}"),
    })
}

fn keep(target: &Target, data: &[u8]) -> std::io::Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("artifacts")
        .join(target.name);
    fs::create_dir_all(&folder)?;
    let hash = signet_crypto::hash::sha256(data);
    let name: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let file = folder.join(format!("panic-{name}"));
    fs::write(&file, data)?;
    Ok(file)
}

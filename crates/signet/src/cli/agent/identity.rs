//! `create`, `show`, `rotate`, `passphrase`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use signet_agent::file::{IdentityFile, Kind};
use signet_agent::identity::{CompromisedKey, RotationNotice, VerifiedDocument};
use signet_agent::json::File;
use signet_agent::keys::KeySet;
use signet_agent::{Refusal, SigningKeys, Suite, base64url};
use signet_crypto::Secret;
use signet_crypto::password::Cost;

use super::files::{self, refused};
use super::{Failure, Output, now};
use signet_terminal::input;
use signet_terminal::output;

/// 64 MiB and 3 passes: RFC 9106's second recommendation, on one lane.
const COST: Cost = Cost {
    memory_kib: 64 * 1024,
    passes: 3,
    lanes: 1,
};

/// `signet agent create`
#[derive(Debug, Args)]
pub struct Create {
    /// What people call the agent.
    #[arg(long)]
    name: String,
    /// The identity file (mode 0600). An existing one is not overwritten.
    #[arg(long)]
    out: PathBuf,
    /// ed25519, ml-dsa-44, ml-dsa-65, ed25519+ml-dsa-44 or ed25519+ml-dsa-65.
    #[arg(long, default_value = "ed25519", value_parser = suite)]
    alg: Suite,
}

/// `signet agent show`
#[derive(Debug, Args)]
pub struct Show {
    /// An identity file, or a public document.
    file: PathBuf,
    /// Print the public identity document.
    #[arg(long)]
    document: bool,
}

/// `signet agent rotate`
#[derive(Debug, Args)]
pub struct Rotate {
    /// The identity file.
    file: PathBuf,
    /// Why; everybody can read it in the document.
    #[arg(long)]
    reason: String,
    /// Where the next key is; FILE.next otherwise.
    #[arg(long)]
    next: Option<PathBuf>,
    /// The current key is not to be trusted any more.
    #[arg(long)]
    compromised: bool,
    /// An earlier key is not to be trusted any more either, since this Unix second, or since it
    /// began. Its number is that of `signet agent show`. What a log had taken in before still
    /// counts. May be repeated.
    #[arg(long = "compromised-key", value_name = "NUMBER[@SINCE]", value_parser = earlier_key)]
    compromised_keys: Vec<(u64, Option<u64>)>,
}

fn earlier_key(text: &str) -> Result<(u64, Option<u64>), String> {
    let number = |text: &str| {
        text.parse::<u64>()
            .map_err(|_| "NUMBER or NUMBER@UNIXSECOND".to_owned())
    };
    match text.split_once('@') {
        Some((key, since)) => Ok((number(key)?, Some(number(since)?))),
        None => Ok((number(text)?, None)),
    }
}

/// `signet agent passphrase`
#[derive(Debug, Args)]
pub struct Passphrase {
    /// The identity file, or a file with a next key.
    file: PathBuf,
}

fn suite(name: &str) -> Result<Suite, String> {
    Suite::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Suite::ALL.iter().map(|suite| suite.name()).collect();
        format!("one of {}", names.join(", "))
    })
}

/// `path` with a further extension.
fn beside(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(extension);
    name.into()
}

fn seal(
    kind: Kind,
    document: &VerifiedDocument,
    keys: &SigningKeys,
    passphrase: &Secret<String>,
) -> Result<IdentityFile, Failure> {
    IdentityFile::seal(kind, document, keys, passphrase.expose().as_bytes(), COST)
        .map_err(|reason| Failure::unusable(reason.to_string()))
}

fn write(file: &IdentityFile, path: &Path, replace: bool) -> Result<(), Failure> {
    file.write(path, replace)
        .map_err(|e| Failure::unusable(format!("cannot write {}: {e}", path.display())))
}

pub fn create(arguments: &Create, output: &Output) -> Result<(), Failure> {
    let next_path = beside(&arguments.out, ".next");
    for path in [&arguments.out, &next_path] {
        if fs::symlink_metadata(path).is_ok() {
            return Err(Failure::unusable(format!(
                "{} is there already",
                path.display()
            )));
        }
    }
    let created = signet_agent::identity::create(&arguments.name, arguments.alg, now())
        .map_err(|reason| Failure::unusable(format!("--name: {reason}")))?;
    let passphrase = input::passphrase("SIGNET_PASSPHRASE", "Passphrase", true)?;
    let next = seal(Kind::Next, &created.document, &created.next, &passphrase)?;
    let current = seal(Kind::Current, &created.document, &created.keys, &passphrase)?;
    write(&next, &next_path, false)?;
    write(&current, &arguments.out, false)?;
    output::note(&format!(
        "keep {} elsewhere: it protects what the current key cannot",
        next_path.display()
    ));
    let mut answer = describe(&created.document);
    answer["file"] = json!(arguments.out);
    answer["next_file"] = json!(next_path);
    output.print(&answer, || created.document.id().to_string())
}

fn public_keys(keys: &KeySet) -> Value {
    let all = keys
        .iter()
        .map(|(alg, key)| json!({ "alg": alg.name(), "public_key": base64url::encode(key) }));
    all.collect()
}

fn describe(document: &VerifiedDocument) -> Value {
    let body = document.body();
    let rotations = body.rotations.iter().map(|rotation| {
        let step = rotation.body();
        json!({
            "at": step.at,
            "reason": step.reason,
            "compromised": step.compromised,
            "compromised_keys": step.compromised_keys.iter()
                .map(|key| json!({ "key": key.key, "since": key.since })).collect::<Vec<_>>(),
            "public_keys": public_keys(&step.keys),
        })
    });
    let keys = document.key_states().into_iter().map(|state| {
        json!({
            "key": state.number,
            "from": state.from,
            "retired": state.retired,
            "compromised_since": state.compromised,
            "public_keys": document.key(state.number).map(|key| public_keys(key.set())),
        })
    });
    let current = document.current().set();
    let first = current.iter().next().map(|(_, key)| base64url::encode(key));
    json!({
        "id": document.id().to_string(),
        "name": body.name,
        "public_key": first,
        "public_keys": public_keys(current),
        "key": body.by.key,
        "created": body.created,
        "next": document.next().to_string(),
        "rotations": rotations.collect::<Vec<_>>(),
        "keys": keys.collect::<Vec<_>>(),
    })
}

pub fn show(arguments: &Show, output: &Output) -> Result<(), Failure> {
    let document = files::document(&arguments.file)?;
    if arguments.document {
        return files::write(&File::of(document.signed()), None, output);
    }
    let answer = describe(&document);
    output.print(&answer, || {
        let mut lines = vec![
            format!("id         {}", document.id()),
            format!("name       {}", document.body().name),
        ];
        for (alg, key) in document.current().set().iter() {
            lines.push(format!(
                "public key {} ({})",
                base64url::encode(key),
                alg.name()
            ));
        }
        for (number, rotation) in (1..).zip(&document.body().rotations) {
            let step = rotation.body();
            lines.push(format!(
                "rotation   {number} at {}: {}",
                output::date(step.at),
                step.reason
            ));
        }
        for state in document.key_states() {
            let speaks = match (state.compromised, state.retired) {
                (Some(since), _) => format!(
                    "compromised since {}: speaks for nothing but what a log had before",
                    output::date(since)
                ),
                (None, Some(retired)) => format!(
                    "retired at {}: speaks for what was issued until then",
                    output::date(retired)
                ),
                (None, None) => "current".to_owned(),
            };
            let from = output::date(state.from);
            lines.push(format!("key        {} from {from}, {speaks}", state.number));
        }
        lines.join("\n")
    })
}

/// The next key: where it was said to be, or in what an interrupted rotation has left.
fn next_key(
    named: &Path,
    following: &Path,
    document: &VerifiedDocument,
) -> Result<IdentityFile, Failure> {
    let fits = |file: &IdentityFile| {
        file.kind() == Kind::Next
            && file.document().id() == document.id()
            && file.document().next() == document.next()
    };
    for path in [named, following] {
        if let Ok(file) = IdentityFile::read(path)
            && fits(&file)
        {
            return Ok(file);
        }
    }
    let file = files::identity_file(named)?;
    match file.document().id() == document.id() {
        false => Err(refused(Refusal::WrongSigner, &named.display().to_string())),
        true => Err(refused(
            Refusal::NextKeyMismatch,
            &named.display().to_string(),
        )),
    }
}

/// The keys that `--compromised-key` names, in their order, each since when.
fn earlier_keys(
    document: &VerifiedDocument,
    named: &[(u64, Option<u64>)],
) -> Result<Vec<CompromisedKey>, Failure> {
    let states = document.key_states();
    let mut keys = Vec::new();
    for (key, since) in named {
        let state = states.iter().find(|state| state.number == *key);
        let state = state.ok_or_else(|| {
            Failure::unusable(format!(
                "--compromised-key {key}: the identity has the keys 0 to {}",
                document.by().key
            ))
        })?;
        keys.push(CompromisedKey {
            key: *key,
            since: since.unwrap_or(state.from),
        });
    }
    keys.sort_unstable_by_key(|key| key.key);
    Ok(keys)
}

pub fn rotate(arguments: &Rotate, output: &Output) -> Result<(), Failure> {
    let path = &arguments.file;
    let current = files::identity_file(path)?;
    let next_path = beside(path, ".next");
    let following_path = beside(path, ".next.new");
    let named = arguments.next.as_deref().unwrap_or(&next_path);
    let next = next_key(named, &following_path, current.document())?;
    let passphrase = input::passphrase("SIGNET_PASSPHRASE", "Passphrase", false)?;
    let open = |file: &IdentityFile, path: &Path| {
        file.open(passphrase.expose().as_bytes())
            .map_err(|reason| refused(reason, &path.display().to_string()))
    };
    let (keys, next_keys) = (open(&current, path)?, open(&next, named)?);
    let suite = next_keys.set().suite();
    let following =
        SigningKeys::generate(suite).map_err(|reason| Failure::unusable(reason.to_string()))?;
    let earlier = earlier_keys(current.document(), &arguments.compromised_keys)?;
    let document = current
        .document()
        .rotate_with(
            &keys,
            &next_keys,
            following.set().commitment(),
            RotationNotice {
                reason: &arguments.reason,
                compromised: arguments.compromised,
                compromised_keys: &earlier,
            },
            now(),
        )
        .map_err(|reason| refused(reason, "the rotation"))?;
    // In this order the right next key is on the disk at every moment: beside, before the identity
    // commits to it; in its place once the identity has.
    write(
        &seal(Kind::Next, &document, &following, &passphrase)?,
        &following_path,
        true,
    )?;
    write(
        &seal(Kind::Current, &document, &next_keys, &passphrase)?,
        path,
        true,
    )?;
    signet_crypto::private_file::rename(&following_path, &next_path)
        .map_err(|e| Failure::unusable(format!("cannot write {}: {e}", next_path.display())))?;
    if named != next_path {
        output::note(&format!(
            "{} is the current key now, and no longer needed",
            named.display()
        ));
    }
    let mut answer = describe(&document);
    answer["next_file"] = json!(next_path);
    output.print(&answer, || {
        format!(
            "{} now has its key number {}",
            document.id(),
            document.by().key
        )
    })
}

pub fn passphrase(arguments: &Passphrase, output: &Output) -> Result<(), Failure> {
    let path = &arguments.file;
    let file = files::identity_file(path)?;
    let old = input::passphrase("SIGNET_PASSPHRASE", "Passphrase", false)?;
    let new = input::passphrase("SIGNET_NEW_PASSPHRASE", "New passphrase", true)?;
    let changed = file
        .with_passphrase(old.expose().as_bytes(), new.expose().as_bytes(), COST)
        .map_err(|reason| refused(reason, &path.display().to_string()))?;
    write(&changed, path, true)?;
    output.print(
        &json!({ "id": file.document().id().to_string(), "file": path }),
        || "changed".to_owned(),
    )
}

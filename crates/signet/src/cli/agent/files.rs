//! Reading and writing what the commands pass around.

use std::io::Read;
use std::path::Path;

use serde_json::Value;
use signet_agent::anchor::Anchors;
use signet_agent::attestation::Attestation;
use signet_agent::cbor::MAX_BYTES;
use signet_agent::competence::TrackRecord;
use signet_agent::continuity::Heartbeat;
use signet_agent::declaration::Declaration;
use signet_agent::file::{FileError, IdentityFile};
use signet_agent::grant::Grant;
use signet_agent::identity::{Rotation, VerifiedDocument};
use signet_agent::json::File;
use signet_agent::lineage::Birth;
use signet_agent::method::Method;
use signet_agent::object::{Object, Signed, Type};
use signet_agent::proof::Proof;
use signet_agent::receipt::Receipt;
use signet_agent::revocation::{Revocation, Revocations};
use signet_agent::witness::Witness;
use signet_agent::{Refusal, SigningKeys};

use super::super::{Failure, Output};
use super::now;
use signet_terminal::input;
use signet_terminal::output;

/// Seconds by which another machine's clock may be ahead where it dated a rotation.
const LEEWAY: u64 = 60;

/// The answer "no", by name of the reason.
pub fn refused(reason: Refusal, about: &str) -> Failure {
    Failure::no(reason.name(), format!("{about}: {reason}"))
        .with(serde_json::json!({ "verified": false }))
}

/// A file of at most twice the largest object: JSON is longer than CBOR.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed =
        |e: std::io::Error| Failure::unusable(format!("cannot read {}: {e}", path.display()));
    let mut data = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(4 * MAX_BYTES as u64)
        .read_to_end(&mut data)
        .map_err(failed)?;
    Ok(data)
}

/// An object with its companions; what it claims is not verified yet.
pub fn object(path: &Path) -> Result<File, Failure> {
    File::read(&read(path)?).map_err(|reason| refused(reason, &path.display().to_string()))
}

/// An object of one type.
pub fn typed<T: Object>(path: &Path) -> Result<(Signed<T>, File), Failure> {
    let file = object(path)?;
    let signed = file
        .object()
        .map_err(|reason| refused(reason, &path.display().to_string()))?;
    Ok((signed, file))
}

/// Whether an object can be read and, where its signer's document is beside it, was signed by him.
pub fn check(file: &File) -> Result<(), Refusal> {
    fn signed<T: Object>(file: &File) -> Result<(), Refusal> {
        let object = file.object::<T>()?;
        match &file.signer {
            Some(signer) => object.verify_by(signer, &Anchors::none()),
            None => Ok(()),
        }
    }
    match file.kind {
        Type::Identity => VerifiedDocument::parse(file.message.clone()).map(|_| ()),
        Type::Grant => signed::<Grant>(file),
        Type::Receipt => signed::<Receipt>(file),
        Type::Revocation => signed::<Revocation>(file),
        Type::Method => signed::<Method>(file),
        Type::Attestation => signed::<Attestation>(file),
        Type::Witness => signed::<Witness>(file),
        Type::Heartbeat => signed::<Heartbeat>(file),
        Type::TrackRecord => signed::<TrackRecord>(file),
        Type::Declaration => signed::<Declaration>(file),
        // More than the signer's identity key signs these, or another key does.
        Type::Rotation => file.object::<Rotation>().map(|_| ()),
        Type::Birth => file.object::<Birth>().map(|_| ()),
        Type::Proof => file.object::<Proof>().map(|_| ()),
    }
}

/// A revocation: one that cannot be read may concern what is asked, so there is no answer without
/// it.
pub fn add_revocation(
    path: &Path,
    revocations: &mut Revocations,
    documents: &[VerifiedDocument],
    anchors: &Anchors,
) -> Result<(), Failure> {
    let unreadable = |_| refused(Refusal::RevocationUnreadable, &path.display().to_string());
    let file = File::read(&read(path)?).map_err(unreadable)?;
    add_read_revocation(&file, revocations, documents, anchors).map_err(unreadable)
}

/// The same of one that was read.
pub fn add_read_revocation(
    file: &File,
    revocations: &mut Revocations,
    documents: &[VerifiedDocument],
    anchors: &Anchors,
) -> Result<(), Refusal> {
    let signed = file.object::<Revocation>()?;
    let by = signed.body().by.agent;
    let known = file
        .signer
        .iter()
        .chain(documents)
        .filter(|document| document.id() == by);
    // The newest document knows best which key is not to be believed.
    let document = known.max_by_key(|document| document.by().key);
    let document = document.ok_or(Refusal::DocumentMissing)?;
    revocations.add(signed.as_bytes(), document, anchors)
}

/// A public document: its JSON, or the public half of an identity file.
pub fn document(path: &Path) -> Result<VerifiedDocument, Failure> {
    let data = read(path)?;
    let about = path.display().to_string();
    // An identity file is a CBOR array of seven; JSON never begins so.
    let document = if data.first() == Some(&0x87) {
        IdentityFile::parse(&data).map(|file| file.document().clone())
    } else {
        File::read(&data).and_then(|file| VerifiedDocument::new(file.object()?))
    };
    document
        .and_then(|document| document.check_time(now(), LEEWAY).map(|()| document))
        .map_err(|reason| refused(reason, &about))
}

/// An identity file, read.
pub fn identity_file(path: &Path) -> Result<IdentityFile, Failure> {
    IdentityFile::read(path).map_err(|error| match error {
        FileError::Refused(reason) => refused(reason, &path.display().to_string()),
        error => Failure::unusable(format!("cannot read {}: {error}", path.display())),
    })
}

/// Document and private keys of an identity file.
pub fn unlock(path: &Path) -> Result<(VerifiedDocument, SigningKeys), Failure> {
    let file = identity_file(path)?;
    if file.kind() != signet_agent::file::Kind::Current {
        return Err(Failure::unusable(format!(
            "{} holds a next key, which signs nothing yet",
            path.display()
        )));
    }
    if file.is_cheap() {
        output::note(&format!(
            "{} is cheap to guess the passphrase of: `signet agent passphrase` seals it again",
            path.display()
        ));
    }
    let passphrase = input::passphrase("SIGNET_PASSPHRASE", "Passphrase", false)?;
    let keys = file
        .open(passphrase.expose().as_bytes())
        .map_err(|reason| refused(reason, &path.display().to_string()))?;
    Ok((file.document().clone(), keys))
}

/// The document to believe: the one that was named, or a later one of the same agent that continues
/// it.
pub fn newest<'a>(
    named: &'a VerifiedDocument,
    others: impl Iterator<Item = &'a VerifiedDocument>,
) -> &'a VerifiedDocument {
    others
        .filter(|other| named.is_continued_by(other))
        .fold(named, |best, other| {
            if best.is_continued_by(other) {
                other
            } else {
                best
            }
        })
}

/// Writes an object to a file, or prints it.
pub fn write(file: &File, out: Option<&Path>, output: &Output) -> Result<(), Failure> {
    let text = file
        .write()
        .map_err(|reason| Failure::unusable(reason.to_string()))?;
    match out {
        None => {
            let value: Value =
                serde_json::from_str(&text).map_err(|e| Failure::unusable(e.to_string()))?;
            output.print(&value, || text.trim_end().to_owned())
        }
        Some(path) => {
            write_text(path, &text)?;
            let value: Value =
                serde_json::from_str(&text).map_err(|e| Failure::unusable(e.to_string()))?;
            let answer =
                serde_json::json!({ "id": value["id"], "type": value["type"], "file": path });
            output.print(&answer, || {
                format!(
                    "{} {}: {}",
                    file.kind.name(),
                    value["id"].as_str().unwrap_or_default(),
                    path.display()
                )
            })
        }
    }
}

/// Writes text to a file that everybody may read.
pub fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|e| Failure::unusable(format!("cannot write {}: {e}", path.display())))
}

//! Proving parameters in the data directory: one set for each zero-knowledge algorithm, found by a
//! manifest that pins its hash, and the tables that a prover has prepared from them.

mod manifest;
mod mapped;
mod tables;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use signet_compact::Algorithm;
use signet_zk::{Parameters, Prover, VerifyingKey};

use self::manifest::{DIRECTORY, Manifest, unusable};
pub use self::manifest::{Origin, hash, hex};
use signet_crypto::private_file;
use signet_terminal::output::{Failure, note};
use signet_terminal::progress::Progress;

/// The manifest of the parameters that are installed, if any are, and their hash.
fn installed(
    data_dir: &Path,
    algorithm: Algorithm,
) -> Result<Option<(Manifest, [u8; 32])>, Failure> {
    let path = manifest::path(data_dir, algorithm);
    let Some(known) = manifest::read::<Manifest>(&path)? else {
        return Ok(None);
    };
    let hash = manifest::stated(&path, &known.sha256)?;
    Ok(Some((known, hash)))
}

/// The parameters that a manifest names; their file is mapped while they are read.
fn load(
    data_dir: &Path,
    algorithm: Algorithm,
    (known, hash): &(Manifest, [u8; 32]),
) -> Result<Parameters, Failure> {
    let file = manifest::beside(&manifest::path(data_dir, algorithm), &known.parameters)?;
    let bytes = mapped::map(&file).map_err(|e| unusable(&file, &e))?;
    let parameters =
        Parameters::from_bytes(bytes.as_ref(), hash).map_err(|e| unusable(&file, &e))?;
    if algorithm.statement() == Some(parameters.statement()) {
        Ok(parameters)
    } else {
        Err(unusable(&file, &"parameters of another algorithm"))
    }
}

/// Puts parameters in place. Existing ones are replaced only if `replace`; otherwise whoever came
/// first wins, and nothing is said.
pub fn install(
    data_dir: &Path,
    algorithm: Algorithm,
    parameters: &Parameters,
    origin: Origin,
    replace: bool,
) -> Result<(), Failure> {
    let directory = data_dir.join(DIRECTORY);
    private_file::directory(&directory).map_err(|e| unusable(&directory, &e))?;
    let bytes = parameters.to_bytes();
    let sha256 = hex(&signet_crypto::hash::sha256(&bytes));
    let name = format!("{}-{}.parameters", algorithm.name(), &sha256[..16]);
    let file = directory.join(&name);
    private_file::write(&file, &bytes).map_err(|e| unusable(&file, &e))?;
    let manifest = Manifest {
        algorithm: algorithm.name().into(),
        parameters: name,
        sha256: sha256.clone(),
        verifying_key_sha256: hex(&parameters.verifying_key().hash()),
        origin,
    };
    let path = manifest::path(data_dir, algorithm);
    let text = serde_json::to_vec_pretty(&manifest).map_err(|e| unusable(&path, &e))?;
    if replace {
        return private_file::write(&path, &text).map_err(|e| unusable(&path, &e));
    }
    let first = directory.join(format!("{}-{}.json", algorithm.name(), &sha256[..16]));
    private_file::write(&first, &text).map_err(|e| unusable(&first, &e))?;
    // A link is made only where nothing is: two first uses at one moment end with one set.
    let linked = fs::hard_link(&first, &path);
    fs::remove_file(&first).map_err(|e| unusable(&first, &e))?;
    match linked {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(unusable(&path, &e)),
        _ => Ok(()),
    }
}

/// Makes development parameters, and says so.
fn install_development(data_dir: &Path, algorithm: Algorithm) -> Result<(), Failure> {
    let statement = algorithm
        .statement()
        .ok_or_else(|| Failure::unusable(format!("{} makes no proofs", algorithm.name())))?;
    note(&format!(
        "made proving parameters for {} in {}, FOR DEVELOPMENT ONLY: one process knew their secrets; `signet compact ceremony` makes ones that nobody knows",
        algorithm.name(),
        data_dir.join(DIRECTORY).display(),
    ));
    let made = {
        let _progress = Progress::of("making proving parameters");
        Parameters::development(statement)
    };
    install(data_dir, algorithm, &made, Origin::Development, false)
}

/// A prover with the installed parameters; the first use makes development ones, and says so.
pub fn prover(data_dir: &Path, algorithm: Algorithm) -> Result<Arc<Prover>, Failure> {
    let found = match installed(data_dir, algorithm)? {
        Some(found) => found,
        None => {
            install_development(data_dir, algorithm)?;
            installed(data_dir, algorithm)?.ok_or_else(|| {
                unusable(&manifest::path(data_dir, algorithm), &"it was taken away")
            })?
        }
    };
    if let Some(prover) = tables::kept(data_dir, algorithm, &found.1) {
        return Ok(prover);
    }
    let parameters = load(data_dir, algorithm, &found)?;
    let _progress = Progress::of("preparing the prover's tables");
    tables::prepare(data_dir, algorithm, &parameters, &found.1)
}

/// SHA-256 of the installed parameters' verifying key, and where they come from; `None` where none
/// are.
pub fn installed_key(
    data_dir: &Path,
    algorithm: Algorithm,
) -> Result<Option<([u8; 32], Origin)>, Failure> {
    let Some((known, _)) = installed(data_dir, algorithm)? else {
        return Ok(None);
    };
    let path = manifest::path(data_dir, algorithm);
    let hash = manifest::stated(&path, &known.verifying_key_sha256)?;
    Ok(Some((hash, known.origin)))
}

/// Where the verifying key of this hash comes from, if it is one of the installed parameters.
pub fn origin_of(data_dir: &Path, verifying_key: &[u8; 32]) -> Result<Option<Origin>, Failure> {
    for algorithm in ALGORITHMS {
        match installed_key(data_dir, algorithm)? {
            Some((hash, origin)) if hash == *verifying_key => return Ok(Some(origin)),
            _ => {}
        }
    }
    Ok(None)
}

/// The installed verifying key of this hash.
pub fn verifying_key_of(data_dir: &Path, hash: &[u8; 32]) -> Option<VerifyingKey> {
    ALGORITHMS
        .into_iter()
        .filter_map(|algorithm| verifying_key(data_dir, algorithm).ok()?)
        .find(|key| key.hash() == *hash)
}

/// The algorithms whose tokens are proofs.
const ALGORITHMS: [Algorithm; 2] = [Algorithm::Groth16Poseidon, Algorithm::Groth16Hybrid];

/// The installed verifying key; none is made where none is.
pub fn verifying_key(
    data_dir: &Path,
    algorithm: Algorithm,
) -> Result<Option<VerifyingKey>, Failure> {
    match installed(data_dir, algorithm)? {
        None => Ok(None),
        Some(found) => Ok(Some(load(data_dir, algorithm, &found)?.verifying_key())),
    }
}

#[cfg(test)]
mod tests;

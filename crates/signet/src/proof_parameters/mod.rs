//! Proving parameters in the data directory: one set for each zero-knowledge algorithm, found by a manifest that pins its hash.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use signet_compact::Algorithm;
use signet_zk::{Parameters, Prover, VerifyingKey};

use crate::cli::{Failure, note};
use crate::private_file;

/// Where they are, below the data directory.
const DIRECTORY: &str = "proofs";

/// What is known of a set: `groth16-poseidon.json`, beside the file it names.
#[derive(Serialize, Deserialize)]
struct Manifest {
    algorithm: String,
    /// File name of the parameters.
    parameters: String,
    /// SHA-256 of that file, hexadecimal: checked each time before it is read.
    sha256: String,
    /// SHA-256 of the verifying key, hexadecimal: what a key file may pin.
    verifying_key_sha256: String,
    /// `development`, or `ceremony`.
    origin: String,
}

fn manifest_path(data_dir: &Path, algorithm: Algorithm) -> PathBuf {
    data_dir
        .join(DIRECTORY)
        .join(format!("{}.json", algorithm.name()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unusable(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::unusable(format!("{}: {why}", path.display()))
}

/// The parameters that are installed, if any are.
fn installed(data_dir: &Path, algorithm: Algorithm) -> Result<Option<Parameters>, Failure> {
    let path = manifest_path(data_dir, algorithm);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(unusable(&path, &e)),
    };
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|e| unusable(&path, &e))?;
    let name = Path::new(&manifest.parameters);
    if name.file_name() != Some(name.as_os_str()) {
        return Err(unusable(
            &path,
            &"the parameters are no file of this directory",
        ));
    }
    let mut hash = [0; 32];
    for (i, byte) in hash.iter_mut().enumerate() {
        *byte = manifest
            .sha256
            .get(2 * i..2 * i + 2)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
            .ok_or_else(|| unusable(&path, &"sha256 is no hash"))?;
    }
    let file = data_dir.join(DIRECTORY).join(name);
    let bytes = fs::read(&file).map_err(|e| unusable(&file, &e))?;
    let parameters = Parameters::from_bytes(&bytes, &hash).map_err(|e| unusable(&file, &e))?;
    if algorithm.statement() != Some(parameters.statement()) {
        return Err(unusable(&file, &"parameters of another algorithm"));
    }
    Ok(Some(parameters))
}

/// Puts parameters in place. Existing ones are replaced only if `replace`; otherwise whoever came first wins, and nothing is said.
pub fn install(
    data_dir: &Path,
    algorithm: Algorithm,
    parameters: &Parameters,
    origin: &str,
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
        origin: origin.into(),
    };
    let path = manifest_path(data_dir, algorithm);
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

/// The installed parameters; the first use makes development ones, and says so.
pub fn parameters(data_dir: &Path, algorithm: Algorithm) -> Result<Parameters, Failure> {
    if let Some(parameters) = installed(data_dir, algorithm)? {
        return Ok(parameters);
    }
    let statement = algorithm
        .statement()
        .ok_or_else(|| Failure::unusable(format!("{} makes no proofs", algorithm.name())))?;
    note(&format!(
        "made proving parameters for {} in {}, FOR DEVELOPMENT ONLY: one process knew their secrets; `signet compact ceremony` makes ones that nobody knows",
        algorithm.name(),
        data_dir.join(DIRECTORY).display(),
    ));
    let made = Parameters::development(statement);
    install(data_dir, algorithm, &made, "development", false)?;
    // Another process may have been first.
    Ok(installed(data_dir, algorithm)?.unwrap_or(made))
}

/// A prover with the installed parameters.
pub fn prover(data_dir: &Path, algorithm: Algorithm) -> Result<Arc<Prover>, Failure> {
    parameters(data_dir, algorithm).map(|parameters| Arc::new(Prover::new(&parameters)))
}

/// The installed verifying key; none is made where none is.
pub fn verifying_key(
    data_dir: &Path,
    algorithm: Algorithm,
) -> Result<Option<VerifyingKey>, Failure> {
    Ok(installed(data_dir, algorithm)?.map(|parameters| parameters.verifying_key()))
}

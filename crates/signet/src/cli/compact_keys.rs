//! Key files of the compact format, as `signet compact` and its relatives read and write them.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::Args;
use signet_compact::{Algorithm, SigningKey, VerifyingKey};
use signet_crypto::Secret;
use signet_encoding::base64url;

use super::Failure;

/// Where proving parameters are.
#[derive(Debug, Args)]
pub struct DataDir {
    /// The directory with the proving parameters of the zero-knowledge algorithms.
    #[arg(long = "data-dir", default_value = ".signet")]
    pub data_dir: PathBuf,
}

pub(super) fn algorithm(name: &str) -> Result<Algorithm, String> {
    Algorithm::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Algorithm::ALL.iter().map(|a| a.name()).collect();
        format!("one of {}", names.join(", "))
    })
}

/// A file that must not be there yet: a key that is overwritten is a key that is lost.
pub(super) fn write_new(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    let failed =
        |e: std::io::Error| Failure::unusable(format!("cannot write {}: {e}", path.display()));
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .map_err(failed)?;
    writeln!(file, "{text}")
        .and_then(|()| file.sync_all())
        .map_err(failed)
}

pub(super) fn read_key(path: &Path) -> Result<Secret<Vec<u8>>, Failure> {
    let failed = |why: String| Failure::unusable(format!("{}: {why}", path.display()));
    let text = std::fs::read_to_string(path)
        .map(Secret::new)
        .map_err(|e| failed(e.to_string()))?;
    base64url::decode(text.expose().trim().as_bytes())
        .map(Secret::new)
        .map_err(|e| failed(format!("not a key file: {e}")))
}

/// A signing key, with its prover where it makes proofs.
pub(super) fn signing_key(path: &Path, data_dir: &Path) -> Result<SigningKey, Failure> {
    let unusable =
        |e: signet_compact::KeyError| Failure::unusable(format!("{}: {e}", path.display()));
    let bytes = read_key(path)?;
    let key = SigningKey::from_bytes(bytes.expose()).map_err(|why| {
        // A zero-knowledge key's public file names parameters; the others' is a verifying key.
        let public = VerifyingKey::from_bytes(bytes.expose()).is_ok()
            || matches!(VerifyingKey::parameters_hash(bytes.expose()), Ok(Some(_)));
        if public {
            let path = path.display();
            Failure::unusable(format!(
                "{path}: a public key, which verifies; --key wants the signing key"
            ))
        } else {
            unusable(why)
        }
    })?;
    if !key.algorithm().is_zero_knowledge() {
        return Ok(key);
    }
    let prover = signet_parameters::prover(data_dir, key.algorithm())?;
    key.with_prover(prover).map_err(unusable)
}

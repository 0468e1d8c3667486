//! What the data directory says of its parameters: a file of JSON beside each file of points, which
//! pins its hash.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use signet_compact::Algorithm;

use signet_terminal::output::Failure;

/// Where they are, below the data directory.
pub(super) const DIRECTORY: &str = "proofs";

/// Where parameters come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// One process made them, and knew their secrets for a moment.
    Development,
    /// A ceremony, whose transcript was verified here.
    Ceremony,
}

impl Origin {
    /// As manifests and answers write it.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Development => "development",
            Origin::Ceremony => "ceremony",
        }
    }
}

/// What is known of a set of parameters: `groth16-poseidon.json`, beside the file it names.
#[derive(Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) algorithm: String,
    /// File name of the parameters.
    pub(super) parameters: String,
    /// SHA-256 of that file, hexadecimal: checked by each process before it is read.
    pub(super) sha256: String,
    /// SHA-256 of the verifying key, hexadecimal: what a key file may pin.
    pub(super) verifying_key_sha256: String,
    pub(super) origin: Origin,
}

/// What is known of the tables that were prepared from a set: `groth16-poseidon.tables.json`.
#[derive(Serialize, Deserialize)]
pub(super) struct TablesManifest {
    /// SHA-256 of the parameters that they were prepared from: those of another set are stale.
    pub(super) parameters_sha256: String,
    /// File name of the tables.
    pub(super) tables: String,
    /// SHA-256 of that file, hexadecimal: checked by each process before it is read.
    pub(super) sha256: String,
}

pub(super) fn path(data_dir: &Path, algorithm: Algorithm) -> PathBuf {
    data_dir
        .join(DIRECTORY)
        .join(format!("{}.json", algorithm.name()))
}

pub(super) fn tables_path(data_dir: &Path, algorithm: Algorithm) -> PathBuf {
    data_dir
        .join(DIRECTORY)
        .join(format!("{}.tables.json", algorithm.name()))
}

/// Reads one of them, if it is there.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Failure> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(unusable(path, &e)),
    };
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|e| unusable(path, &e))
}

/// The file that one of them names: it is in the same directory.
pub(super) fn beside(manifest: &Path, name: &str) -> Result<PathBuf, Failure> {
    let file = Path::new(name);
    if file.file_name() == Some(file.as_os_str()) {
        Ok(manifest.with_file_name(file))
    } else {
        Err(unusable(manifest, &"it names no file of this directory"))
    }
}

/// A hash that one of them states.
pub(super) fn stated(manifest: &Path, text: &str) -> Result<[u8; 32], Failure> {
    hash(text).ok_or_else(|| unusable(manifest, &"sha256 is no hash"))
}

/// 32 bytes in hexadecimal.
pub fn hash(text: &str) -> Option<[u8; 32]> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let mut hash = [0; 32];
    let text = text.as_bytes();
    if text.len() != 64 {
        return None;
    }
    for (byte, digits) in hash.iter_mut().zip(text.chunks_exact(2)) {
        *byte = (digit(digits[0])? << 4 | digit(digits[1])?) as u8;
    }
    Some(hash)
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn unusable(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::unusable(format!("{}: {why}", path.display()))
}

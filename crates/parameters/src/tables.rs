//! A prover's tables, kept beside the parameters that they were prepared from: preparing those of
//! SHA-256 takes seconds, mapping them none.

use std::fmt::Display;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use signet_compact::Algorithm;
use signet_crypto::hash::sha256;
use signet_zk::{Parameters, Prover};

use super::manifest::{self, TablesManifest, hex};
use crate::mapped;
use signet_crypto::private_file;
use signet_terminal::output::{Failure, note};

/// A prover on kept tables, if there are some of these parameters. What is stale or damaged is not
/// used: it will be prepared again, from parameters whose own hash is checked.
pub(super) fn kept(
    data_dir: &Path,
    algorithm: Algorithm,
    parameters: &[u8; 32],
) -> Option<Arc<Prover>> {
    let path = manifest::tables_path(data_dir, algorithm);
    let anew = |file: &Path, why: &dyn Display| {
        note(&format!(
            "{}: {why}; the tables are prepared again",
            file.display()
        ));
        None
    };
    let known: TablesManifest = match manifest::read(&path) {
        Ok(known) => known?,
        Err(_) => return anew(&path, &"not readable"),
    };
    if known.parameters_sha256 != hex(parameters) {
        return None;
    }
    let (Ok(file), Ok(hash)) = (
        manifest::beside(&path, &known.tables),
        manifest::stated(&path, &known.sha256),
    ) else {
        return anew(&path, &"it names no file, or states no hash");
    };
    let mapped = match mapped::map(&file) {
        Ok(mapped) => mapped,
        Err(why) => return anew(&file, &why),
    };
    // Once in this process: what is read later is what was hashed here.
    match Prover::from_prepared(mapped, &hash, parameters) {
        Ok(prover) => Some(Arc::new(prover)),
        Err(why) => anew(&file, &why),
    }
}

/// Prepares tables and keeps them. A directory that cannot be written to only costs the next
/// process the time.
pub(super) fn prepare(
    data_dir: &Path,
    algorithm: Algorithm,
    parameters: &Parameters,
    parameters_hash: &[u8; 32],
) -> Result<Arc<Prover>, Failure> {
    let tables = Prover::prepare(parameters);
    let hash = sha256(&tables);
    if let Err(why) = keep(data_dir, algorithm, &tables, &hash, parameters_hash) {
        note(&format!("the prover's tables are not kept: {why}"));
    }
    Prover::from_prepared(tables, &hash, parameters_hash)
        .map(Arc::new)
        .map_err(|e| Failure::unusable(e.to_string()))
}

fn keep(
    data_dir: &Path,
    algorithm: Algorithm,
    tables: &[u8],
    hash: &[u8; 32],
    parameters_hash: &[u8; 32],
) -> std::io::Result<()> {
    let path = manifest::tables_path(data_dir, algorithm);
    let before = manifest::read::<TablesManifest>(&path).ok().flatten();
    let name = format!("{}-{}.tables", algorithm.name(), hex(&hash[..8]));
    // Two processes may prepare the same tables at one moment: each writes a file of its own.
    let aside = |of: &Path| of.with_extension(format!("{}.new", std::process::id()));
    let put = |of: &Path, content: &[u8]| {
        let aside = aside(of);
        private_file::write(&aside, content)?;
        private_file::rename(&aside, of)
    };
    put(&path.with_file_name(&name), tables)?;
    let manifest = TablesManifest {
        parameters_sha256: hex(parameters_hash),
        tables: name.clone(),
        sha256: hex(hash),
    };
    put(&path, &serde_json::to_vec_pretty(&manifest)?)?;
    // Those of other parameters; whoever has them mapped keeps them.
    let stale = before.filter(|before| before.tables != name);
    if let Some(file) = stale.and_then(|before| manifest::beside(&path, &before.tables).ok()) {
        match fs::remove_file(&file) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                note(&format!("{}: {e}", file.display()));
            }
            _ => {}
        }
    }
    Ok(())
}

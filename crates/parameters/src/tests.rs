//! Parameters and tables are used under their hash only; what is stale or damaged is made again.

use std::path::PathBuf;

use signet_zk::{Statement, Verifier};

use super::manifest::TablesManifest;
use super::*;

const ALGORITHM: Algorithm = Algorithm::Groth16Poseidon;

struct Kept {
    directory: tempfile::TempDir,
}

impl Kept {
    fn new() -> Kept {
        let directory = tempfile::tempdir().unwrap();
        prover(directory.path(), ALGORITHM).unwrap();
        Kept { directory }
    }

    fn tables(&self) -> (TablesManifest, PathBuf) {
        let path = manifest::tables_path(self.directory.path(), ALGORITHM);
        let known: TablesManifest = manifest::read(&path).unwrap().unwrap();
        let file = manifest::beside(&path, &known.tables).unwrap();
        (known, file)
    }

    fn is_kept(&self) -> bool {
        let (_, hash) = installed(self.directory.path(), ALGORITHM)
            .unwrap()
            .unwrap();
        tables::kept(self.directory.path(), ALGORITHM, &hash).is_some()
    }

    fn proves(&self) {
        let data_dir = self.directory.path();
        let prover = prover(data_dir, ALGORITHM).unwrap();
        let verifying = verifying_key(data_dir, ALGORITHM).unwrap().unwrap();
        let verifier = Verifier::new(&verifying, &Statement::Poseidon.key_hash(&[7; 32])).unwrap();
        verifier
            .verify(&prover.prove(&[7; 32], &[8; 32]).unwrap(), &[8; 32])
            .unwrap();
    }
}

#[test]
fn tables_are_kept_and_prove() {
    let kept = Kept::new();
    assert!(kept.is_kept());
    assert!(!signet_crypto::private_file::is_open_to_others(&kept.tables().1).unwrap());
    kept.proves();
}

#[test]
fn damaged_tables_are_prepared_anew() {
    let kept = Kept::new();
    let (_, file) = kept.tables();
    let whole = fs::read(&file).unwrap();
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    for damaged in [&changed[..], &whole[..100], &[]] {
        private_file::write(&file, damaged).unwrap();
        assert!(!kept.is_kept());
        kept.proves();
        assert!(kept.is_kept());
        assert_eq!(fs::read(&file).unwrap(), whole);
    }
    fs::remove_file(&file).unwrap();
    kept.proves();
    assert!(kept.is_kept());
    let path = manifest::tables_path(kept.directory.path(), ALGORITHM);
    private_file::write(&path, b"{").unwrap();
    kept.proves();
    assert!(kept.is_kept());
}

#[test]
fn tables_of_other_parameters_are_stale_and_go() {
    let kept = Kept::new();
    let (before, file) = kept.tables();
    let parameters = Parameters::development(Statement::Poseidon);
    install(
        kept.directory.path(),
        ALGORITHM,
        &parameters,
        Origin::Ceremony,
        true,
    )
    .unwrap();
    assert!(!kept.is_kept());
    kept.proves();
    let (after, _) = kept.tables();
    assert_ne!(before.parameters_sha256, after.parameters_sha256);
    assert!(!file.exists());
    // Old tables under the new parameters' name: the tables themselves say what they are of.
    let data_dir = kept.directory.path();
    let own = Prover::prepare(&Parameters::development(Statement::Poseidon));
    let (mut known, file) = kept.tables();
    private_file::write(&file, &own).unwrap();
    known.sha256 = hex(&signet_crypto::hash::sha256(&own));
    let text = serde_json::to_vec(&known).unwrap();
    private_file::write(&manifest::tables_path(data_dir, ALGORITHM), &text).unwrap();
    assert!(!kept.is_kept());
}

#[test]
fn parameters_that_are_not_the_pinned_ones_are_refused() {
    let kept = Kept::new();
    let data_dir = kept.directory.path();
    let (known, _) = installed(data_dir, ALGORITHM).unwrap().unwrap();
    let file = data_dir.join(DIRECTORY).join(&known.parameters);
    let mut bytes = fs::read(&file).unwrap();
    bytes[100] ^= 1;
    private_file::write(&file, &bytes).unwrap();
    assert!(verifying_key(data_dir, ALGORITHM).is_err());
    // Without tables a prover needs them.
    fs::remove_file(manifest::tables_path(data_dir, ALGORITHM)).unwrap();
    assert!(prover(data_dir, ALGORITHM).is_err());
    // A manifest names files of its own directory, and hashes.
    let path = manifest::path(data_dir, ALGORITHM);
    for (field, value) in [("parameters", "../other"), ("sha256", "+1"), ("sha256", "")] {
        let mut text: serde_json::Value =
            serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let honest = text.to_string();
        text[field] = value.into();
        private_file::write(&path, text.to_string().as_bytes()).unwrap();
        assert!(prover(data_dir, ALGORITHM).is_err(), "{field}");
        private_file::write(&path, honest.as_bytes()).unwrap();
    }
}

//! Proofs, verifying keys, parameters, tables and ceremonies' transcripts. Rule: one form each, and
//! nothing that a file claims of itself is a panic.

use std::sync::LazyLock;

use signet_crypto::hash::sha256;
use signet_zk::{Ceremony, Parameters, Proof, Prover, Statement, VerifyingKey};

/// Whole files of each kind, to be changed in a few places: they are too long to be met by chance.
static FILES: LazyLock<[Vec<u8>; 4]> = LazyLock::new(|| {
    let mut ceremony = Ceremony::new(Statement::Poseidon);
    ceremony.contribute();
    let first = ceremony.to_bytes();
    // The phase has not ended before; an error here would be the target's own.
    let _ = ceremony.specialise();
    ceremony.contribute();
    let parameters = Parameters::development(Statement::Poseidon);
    [
        first,
        ceremony.to_bytes(),
        parameters.to_bytes(),
        Prover::prepare(&parameters),
    ]
});

/// One input: read as each kind, and as changes of a whole file (which, and then a place and a byte
/// each time).
pub fn run(data: &[u8]) {
    read(data);
    let Some((which, changes)) = data.split_first() else {
        return;
    };
    let mut file = FILES[usize::from(which % 4)].clone();
    for change in changes.chunks_exact(4).take(16) {
        let at = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize;
        // Half of the changes go to the head, where counts are.
        let within = if at % 2 == 0 { 256 } else { file.len() };
        file[at / 2 % within] ^= change[3];
    }
    if changes.len() % 4 == 1 {
        file.truncate(file.len() / 2);
    }
    read(&file);
}

fn read(data: &[u8]) {
    if let Ok(proof) = Proof::from_bytes(data) {
        assert_eq!(proof.to_bytes(), data, "one proof, one encoding");
    }
    if let Ok(key) = VerifyingKey::from_bytes(data) {
        assert_eq!(key.to_bytes(), data, "one key, one encoding");
    }
    if let Ok(ceremony) = Ceremony::from_bytes(data) {
        assert_eq!(ceremony.to_bytes(), data, "one transcript, one encoding");
    }
    let hash = sha256(data);
    if let Ok(parameters) = Parameters::from_bytes(data, &hash) {
        assert_eq!(parameters.to_bytes(), data, "one set, one encoding");
    }
    let mut other = hash;
    other[0] ^= 1;
    assert!(Parameters::from_bytes(data, &other).is_err());
    // Tables state the hash of their parameters behind a head of 25 bytes.
    let mut of = [0; 32];
    if let Some(stated) = data.get(25..57) {
        of.copy_from_slice(stated);
    }
    let _ = Prover::from_prepared(data.to_vec(), &hash, &of);
    assert!(Prover::from_prepared(data.to_vec(), &other, &of).is_err());
}

//! What can go wrong, sorted by whose fault it is.

/// Why a proof, key, parameter file or transcript was not accepted, or a proof not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The proof does not hold for the statement that the verifier expects.
    #[error("the proof is not valid")]
    Proof,
    /// Bytes that are not the one encoding of a proof, key or file.
    #[error("not a canonical encoding: {0}")]
    Encoding(&'static str),
    /// A file's hash is not the pinned one.
    #[error("the file's hash is not the expected one")]
    Hash,
    /// A parameter file or verifying key of another circuit.
    #[error("the parameters belong to another circuit")]
    Circuit,
    /// A verifying key whose points are equal, opposite or at infinity where an honest setup has
    /// no such key: anybody could make proofs under it.
    #[error("the verifying key is degenerate: anybody could make proofs under it")]
    Degenerate,
    /// A proof that was just made does not hold: the prover's tables or its arithmetic are damaged.
    /// It is not given to anybody, because which proofs fail tells of the key.
    #[error("the prover made a proof that does not hold: its tables are damaged")]
    Prover,
    /// A contribution does not follow from the state before it.
    #[error("the ceremony's transcript does not hold: {0}")]
    Transcript(&'static str),
}

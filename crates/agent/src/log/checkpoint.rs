//! Checkpoints: signed roots; and the COSE receipts (RFC 9942) made of them.
//!
//! The protected header is `{1: alg, 15: {1: log, 6: time}, 395: 1, -65537: size, -65538: key}`:
//! the issuer and time as CWT claims (RFC 9597), the verifiable data structure RFC9162_SHA256, and
//! two of our own. The payload is the root. Where two algorithms sign together, the body's
//! protected header has all but the algorithm.

use crate::anchor::Anchors;
use crate::cbor::{Decoder, Encoder};
use crate::error::{Refusal, Result, ensure};
use crate::id::Hash;
use crate::identity::VerifiedDocument;
use crate::keys::{Alg, VerifyingKeys};
use crate::object::{KeyRef, Signer, read_hash};

use super::proof::{ConsistencyProof, InclusionProof};
use super::tree::Tree;

const SIZE: i64 = -65_537;
const KEY: i64 = -65_538;
const STRUCTURE: u64 = 395;
const PROOFS: u64 = 396;
const RFC9162_SHA256: u64 = 1;
const INCLUSION: i64 = -1;
const CONSISTENCY: i64 = -2;

/// A signed root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The log: whose it is, and with which key.
    pub by: KeyRef,
    /// Entries.
    pub size: u64,
    /// When, in Unix seconds.
    pub at: u64,
    /// The root over the entries.
    pub root: Hash,
    signatures: Vec<(Alg, Vec<u8>)>,
}

fn header(alg: Option<Alg>, by: &KeyRef, size: u64, at: u64) -> Vec<u8> {
    let mut out = Encoder::new();
    out.map(4 + usize::from(alg.is_some()));
    if let Some(alg) = alg {
        out.uint(1).int(alg.number());
    }
    out.uint(15)
        .map(2)
        .uint(1)
        .text(&by.agent.to_string())
        .uint(6)
        .uint(at);
    out.uint(STRUCTURE).uint(RFC9162_SHA256);
    out.int(SIZE).uint(size).int(KEY).uint(by.key);
    out.finish()
}

fn read_header(data: &[u8]) -> Result<(Option<Alg>, KeyRef, u64, u64)> {
    Decoder::whole(data, |d| {
        d.map(|map| {
            let alg = map.optional(1, Decoder::int)?;
            let alg = alg
                .map(|n| Alg::from_number(n).ok_or(Refusal::WrongAlgorithm))
                .transpose()?;
            let (agent, at) = map.required(15, |d| {
                d.map(|claims| {
                    Ok::<_, Refusal>((
                        claims.required(1, Decoder::text)?.parse()?,
                        claims.required(6, Decoder::uint)?,
                    ))
                })
            })?;
            ensure(
                map.required(STRUCTURE, Decoder::uint)? == RFC9162_SHA256,
                Refusal::InvalidValue,
            )?;
            ensure(map.key(Decoder::int)? == SIZE, Refusal::Malformed)?;
            let size = map.value().uint()?;
            ensure(map.key(Decoder::int)? == KEY, Refusal::Malformed)?;
            let key = map.value().uint()?;
            Ok((alg, KeyRef { agent, key }, size, at))
        })
    })
}

fn signer_header(alg: Alg) -> Vec<u8> {
    let mut out = Encoder::with_capacity(4);
    out.map(1).uint(1).int(alg.number());
    out.finish()
}

impl Checkpoint {
    /// Signs the root of a tree as it is.
    ///
    /// # Errors
    /// [`Refusal::Library`].
    pub fn sign(tree: &Tree, signer: &Signer<'_>, at: u64) -> Result<Checkpoint> {
        Self::sign_root(tree.len(), tree.root(), signer, at)
    }

    /// Signs a root that the caller has computed, over so many entries.
    ///
    /// # Errors
    /// [`Refusal::Library`].
    pub fn sign_root(size: u64, root: Hash, signer: &Signer<'_>, at: u64) -> Result<Checkpoint> {
        let mut checkpoint = Checkpoint {
            by: signer.by,
            size,
            at,
            root,
            signatures: Vec::new(),
        };
        let count = signer.keys.set().suite().algorithms().len();
        for (alg, key) in signer.keys.keys() {
            let mut signature = Vec::with_capacity(alg.signature_len());
            key.sign_into(&checkpoint.structure(count, alg), &mut signature)
                .map_err(|_| Refusal::Library)?;
            checkpoint.signatures.push((alg, signature));
        }
        Ok(checkpoint)
    }

    fn header(&self, alg: Option<Alg>) -> Vec<u8> {
        header(alg, &self.by, self.size, self.at)
    }

    /// RFC 9052 section 4.4.
    fn structure(&self, count: usize, alg: Alg) -> Vec<u8> {
        let mut out = Encoder::new();
        if count == 1 {
            out.array(4)
                .text("Signature1")
                .bytes(&self.header(Some(alg)));
        } else {
            out.array(5)
                .text("Signature")
                .bytes(&self.header(None))
                .bytes(&signer_header(alg));
        }
        out.bytes(b"").bytes(&self.root.0);
        out.finish()
    }

    /// SHA-256 over header and root: what a witness names.
    pub fn id(&self) -> Hash {
        let mut out = Encoder::new();
        out.array(2).bytes(&self.header(None)).bytes(&self.root.0);
        Hash::of(&out.finish())
    }

    /// Checks the signature with the log's document. What a checkpoint says of a log, it says now:
    /// the log's current key has to have signed it, or another log had taken it in before the key
    /// was retired.
    ///
    /// # Errors
    /// [`Refusal::WrongSigner`], [`Refusal::UnknownKey`], [`Refusal::RetiredKey`],
    /// [`Refusal::KeyCompromised`], [`Refusal::WrongAlgorithm`], [`Refusal::SignatureInvalid`].
    pub fn verify(&self, document: &VerifiedDocument, anchors: &Anchors) -> Result<()> {
        self.verify_at(None, document, anchors)
    }

    /// The same of one that a later checkpoint continues, or that the caller has kept since: a key
    /// that was retired after its date may have signed it.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn verify_earlier(&self, document: &VerifiedDocument, anchors: &Anchors) -> Result<()> {
        self.verify_at(Some(self.at), document, anchors)
    }

    fn verify_at(
        &self,
        issued: Option<u64>,
        document: &VerifiedDocument,
        anchors: &Anchors,
    ) -> Result<()> {
        ensure(self.by.agent == document.id(), Refusal::WrongSigner)?;
        self.verify_with(document.key_for(self.by.key, &self.id(), issued, anchors)?)
    }

    fn verify_with(&self, keys: &VerifyingKeys) -> Result<()> {
        let algorithms = keys.set().suite().algorithms();
        let fits = self.signatures.iter().map(|(alg, _)| alg).eq(algorithms);
        ensure(fits, Refusal::WrongAlgorithm)?;
        for ((_, signature), (alg, key)) in self.signatures.iter().zip(keys.keys()) {
            key.verify(&self.structure(algorithms.len(), alg), signature)
                .map_err(|_| Refusal::SignatureInvalid)?;
        }
        Ok(())
    }

    /// The COSE message: with the root, or, where `proof` is given, with the proof in its place.
    fn message(&self, proof: Option<(i64, Vec<u8>)>) -> Vec<u8> {
        let mut out = Encoder::new();
        let single = self.signatures.len() == 1;
        out.tag(if single { 18 } else { 98 }).array(4);
        out.bytes(
            &self.header(
                self.signatures
                    .first()
                    .map(|(alg, _)| *alg)
                    .filter(|_| single),
            ),
        );
        match proof {
            None => out.map(0).bytes(&self.root.0),
            Some((kind, proof)) => out
                .map(1)
                .uint(PROOFS)
                .map(1)
                .int(kind)
                .array(1)
                .bytes(&proof)
                .null(),
        };
        if let [(_, signature)] = self.signatures.as_slice() {
            out.bytes(signature);
        } else {
            out.array(self.signatures.len());
            for (alg, signature) in &self.signatures {
                out.array(3)
                    .bytes(&signer_header(*alg))
                    .map(0)
                    .bytes(signature);
            }
        }
        out.finish()
    }

    /// The checkpoint as a COSE message.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.message(None)
    }

    /// A COSE receipt of one entry.
    pub fn inclusion_receipt(&self, proof: &InclusionProof) -> Vec<u8> {
        self.message(Some((INCLUSION, proof.to_bytes())))
    }

    /// A COSE receipt of an older state of the log.
    pub fn consistency_receipt(&self, proof: &ConsistencyProof) -> Vec<u8> {
        self.message(Some((CONSISTENCY, proof.to_bytes())))
    }

    /// Reads a checkpoint. Nothing has been verified yet.
    ///
    /// # Errors
    /// As the decoder; [`Refusal::WrongType`] for a COSE receipt.
    pub fn parse(data: &[u8]) -> Result<Checkpoint> {
        let (checkpoint, proof) = read(data)?;
        ensure(proof.is_none(), Refusal::WrongType)?;
        Ok(checkpoint)
    }

    /// Reads a COSE receipt of an entry: the checkpoint that the log must have signed if the entry
    /// is in it, and the proof. Verify the checkpoint, and the entry is in the log.
    ///
    /// # Errors
    /// As the decoder; [`Refusal::WrongType`] for another message; [`Refusal::ProofOfLogInvalid`].
    pub fn from_inclusion_receipt(
        data: &[u8],
        entry: &[u8],
    ) -> Result<(Checkpoint, InclusionProof)> {
        let (mut checkpoint, proof) = read(data)?;
        let Some((INCLUSION, proof)) = proof else {
            return Err(Refusal::WrongType);
        };
        let proof = InclusionProof::parse(proof)?;
        ensure(proof.size == checkpoint.size, Refusal::ProofOfLogInvalid)?;
        checkpoint.root = proof.root(entry)?;
        Ok((checkpoint, proof))
    }

    /// Reads a COSE receipt of an older state, of which `old` is the checkpoint. The newer root is
    /// not in the message and is handed in. Verify the checkpoint, and the log continues `old`.
    ///
    /// # Errors
    /// As [`from_inclusion_receipt`](Self::from_inclusion_receipt).
    pub fn from_consistency_receipt(
        data: &[u8],
        old: &Checkpoint,
        root: Hash,
    ) -> Result<Checkpoint> {
        let (mut checkpoint, proof) = read(data)?;
        let Some((CONSISTENCY, proof)) = proof else {
            return Err(Refusal::WrongType);
        };
        let proof = ConsistencyProof::parse(proof)?;
        let fits = proof.new == checkpoint.size
            && proof.old == old.size
            && checkpoint.by.agent == old.by.agent;
        ensure(fits, Refusal::ProofOfLogInvalid)?;
        proof.verify(&old.root, &root)?;
        checkpoint.root = root;
        Ok(checkpoint)
    }
}

type ProofPart<'a> = Option<(i64, &'a [u8])>;

/// A message with its root, or with a proof and no root yet.
fn read(data: &[u8]) -> Result<(Checkpoint, ProofPart<'_>)> {
    Decoder::whole(data, |d| {
        let single = match d.tag()? {
            18 => true,
            98 => false,
            _ => return Err(Refusal::WrongType),
        };
        d.tuple(4, |d| {
            let (alg, by, size, at) = read_header(d.bytes()?)?;
            let proof = d.map(|map| {
                map.optional(PROOFS, |d| {
                    d.map(|kinds| {
                        let kind = kinds.key(Decoder::int)?;
                        let proof = kinds.value().tuple(1, |d| d.bytes())?;
                        Ok::<_, Refusal>((kind, proof))
                    })
                })
            })?;
            let root = if proof.is_none() {
                read_hash(d)?
            } else {
                d.null()?;
                Hash([0; 32])
            };
            let signatures = match (single, alg) {
                (true, Some(alg)) => vec![(alg, d.bytes()?.to_vec())],
                (false, None) => d.list(2, |d| {
                    d.tuple(3, |d| {
                        let alg = Decoder::whole(d.bytes()?, |d| {
                            d.map(|map| map.required(1, Decoder::int))
                        })?;
                        let alg = Alg::from_number(alg).ok_or(Refusal::WrongAlgorithm)?;
                        d.map(|_| Ok::<_, Refusal>(()))?;
                        Ok::<_, Refusal>((alg, d.bytes()?.to_vec()))
                    })
                })?,
                _ => return Err(Refusal::WrongAlgorithm),
            };
            ensure(single || signatures.len() == 2, Refusal::WrongAlgorithm)?;
            Ok((
                Checkpoint {
                    by,
                    size,
                    at,
                    root,
                    signatures,
                },
                proof,
            ))
        })
    })
}

//! Keys of an identity: one algorithm, or Ed25519 and ML-DSA together.
//!
//! A [`Suite`] says which algorithms sign; where there are two, both are required, always and in
//! this order. Nothing that is verified can choose its algorithm: the signer's key does.

use std::fmt;

pub use signet_cbor::cose::Alg;
use signet_crypto::hash::sha256;
use signet_crypto::{PublicKey, Secret, SigningKey, VerifyingKey};

use crate::base64url;
use crate::cbor::{Decoder, Encoder};
use crate::error::{Refusal, Result, ensure};
use crate::id::{AgentId, Hash};

/// The algorithms that sign together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Suite {
    /// Ed25519.
    #[default]
    Ed25519,
    /// ML-DSA-44.
    MlDsa44,
    /// ML-DSA-65.
    MlDsa65,
    /// Ed25519 and ML-DSA-44, both required.
    Ed25519MlDsa44,
    /// Ed25519 and ML-DSA-65, both required.
    Ed25519MlDsa65,
}

impl Suite {
    /// All of them.
    pub const ALL: [Suite; 5] = [
        Suite::Ed25519,
        Suite::MlDsa44,
        Suite::MlDsa65,
        Suite::Ed25519MlDsa44,
        Suite::Ed25519MlDsa65,
    ];

    /// Its algorithms, in the order of their keys and signatures.
    pub const fn algorithms(self) -> &'static [Alg] {
        match self {
            Suite::Ed25519 => &[Alg::Ed25519],
            Suite::MlDsa44 => &[Alg::MlDsa44],
            Suite::MlDsa65 => &[Alg::MlDsa65],
            Suite::Ed25519MlDsa44 => &[Alg::Ed25519, Alg::MlDsa44],
            Suite::Ed25519MlDsa65 => &[Alg::Ed25519, Alg::MlDsa65],
        }
    }

    /// "ed25519", "ml-dsa-44", "ed25519+ml-dsa-65" and so on.
    pub const fn name(self) -> &'static str {
        match self {
            Suite::Ed25519 => "ed25519",
            Suite::MlDsa44 => "ml-dsa-44",
            Suite::MlDsa65 => "ml-dsa-65",
            Suite::Ed25519MlDsa44 => "ed25519+ml-dsa-44",
            Suite::Ed25519MlDsa65 => "ed25519+ml-dsa-65",
        }
    }

    /// The suite of a name.
    pub fn from_name(name: &str) -> Option<Suite> {
        Self::ALL.into_iter().find(|suite| suite.name() == name)
    }
}

/// The public keys of a suite, as bytes: `[alg, key, alg, key]` in CBOR. Lengths are right; whether
/// they are usable keys shows when [`VerifyingKeys`] are made of them.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct KeySet {
    suite: Suite,
    /// One key after the other.
    material: Vec<u8>,
}

impl KeySet {
    /// The keys of a suite, in its order.
    ///
    /// # Errors
    /// [`Refusal::InvalidKey`] for a wrong number or length.
    pub fn new(suite: Suite, keys: &[&[u8]]) -> Result<KeySet> {
        let algorithms = suite.algorithms();
        let fits = keys.len() == algorithms.len()
            && algorithms
                .iter()
                .zip(keys)
                .all(|(alg, key)| key.len() == alg.public_len());
        ensure(fits, Refusal::InvalidKey)?;
        Ok(KeySet {
            suite,
            material: keys.concat(),
        })
    }

    /// Its suite.
    pub fn suite(&self) -> Suite {
        self.suite
    }

    /// Each algorithm with its key.
    pub fn iter(&self) -> impl Iterator<Item = (Alg, &[u8])> {
        let mut rest = self.material.as_slice();
        self.suite.algorithms().iter().map(move |alg| {
            // The constructor made the material as long as the suite's keys together.
            let (key, after) = rest.split_at(alg.public_len());
            rest = after;
            (*alg, key)
        })
    }

    pub(crate) fn write(&self, out: &mut Encoder) {
        out.array(2 * self.suite.algorithms().len());
        for (alg, key) in self.iter() {
            out.int(alg.number()).bytes(key);
        }
    }

    pub(crate) fn read(d: &mut Decoder<'_>) -> Result<KeySet> {
        let len = d.array()?;
        ensure(len == 2 || len == 4, Refusal::InvalidKey)?;
        d.nested(|d| {
            let (mut algorithms, mut keys) = (Vec::with_capacity(2), Vec::with_capacity(2));
            for _ in 0..len / 2 {
                algorithms.push(Alg::from_number(d.int()?).ok_or(Refusal::InvalidKey)?);
                keys.push(d.bytes()?);
            }
            let suite = Suite::ALL
                .into_iter()
                .find(|suite| suite.algorithms() == algorithms)
                .ok_or(Refusal::InvalidKey)?;
            KeySet::new(suite, &keys)
        })
    }

    /// What an identity commits to before it uses the key: `SHA-256(["signet-agent-next", keys])`.
    pub fn commitment(&self) -> Hash {
        let mut out = Encoder::new();
        out.array(2).text("signet-agent-next");
        self.write(&mut out);
        Hash::of(&out.finish())
    }
}

impl AgentId {
    /// The id that belongs to this inception: `SHA-256(["signet-agent", keys, next])` in CBOR.
    pub fn commit(inception: &KeySet, next: &Hash) -> AgentId {
        let mut out = Encoder::new();
        out.array(3).text("signet-agent");
        inception.write(&mut out);
        out.bytes(&next.0);
        AgentId(sha256(&out.finish()))
    }
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self
            .iter()
            .map(|(alg, key)| (alg.name(), base64url::encode(key)));
        f.debug_map().entries(keys).finish()
    }
}

/// Public keys, checked and prepared for verification.
#[derive(Clone, Debug)]
pub struct VerifyingKeys {
    set: KeySet,
    keys: Vec<VerifyingKey>,
}

impl VerifyingKeys {
    /// Prepares the keys.
    ///
    /// # Errors
    /// [`Refusal::InvalidKey`] for what is no key, or is weak (Ed25519 of small order).
    pub fn new(set: &KeySet) -> Result<VerifyingKeys> {
        let keys = set.iter().map(|(alg, key)| {
            let algorithm = alg.algorithm();
            let public = match alg {
                Alg::Ed25519 => PublicKey::Ed25519 {
                    x: key.try_into().map_err(|_| Refusal::InvalidKey)?,
                },
                Alg::MlDsa44 | Alg::MlDsa65 => PublicKey::MlDsa {
                    algorithm,
                    public: key.to_vec(),
                },
            };
            VerifyingKey::new(algorithm, &public).map_err(|_| Refusal::InvalidKey)
        });
        Ok(VerifyingKeys {
            keys: keys.collect::<Result<_>>()?,
            set: set.clone(),
        })
    }

    /// The keys as bytes.
    pub fn set(&self) -> &KeySet {
        &self.set
    }

    /// Each algorithm with its key, in the order of their signatures.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (Alg, &VerifyingKey)> + Clone {
        self.set.suite.algorithms().iter().copied().zip(&self.keys)
    }
}

/// Length of a private key's seed in bytes, of every algorithm.
pub const SEED_LEN: usize = 32;

/// Private keys of a suite. They do not print.
pub struct SigningKeys {
    set: KeySet,
    keys: Vec<SigningKey>,
    seeds: Vec<Secret<[u8; SEED_LEN]>>,
}

impl SigningKeys {
    /// New random keys.
    ///
    /// # Errors
    /// [`Refusal::Library`] if the library fails.
    pub fn generate(suite: Suite) -> Result<SigningKeys> {
        let seeds = suite.algorithms().iter().map(|_| Secret::random());
        Self::from_seeds(suite, seeds.collect())
    }

    /// The keys of these seeds, one for each algorithm (RFC 8032 section 5.1.5, FIPS 204 algorithm
    /// 6).
    ///
    /// # Errors
    /// [`Refusal::InvalidKey`] for another number of seeds.
    pub fn from_seeds(suite: Suite, seeds: Vec<Secret<[u8; SEED_LEN]>>) -> Result<SigningKeys> {
        let algorithms = suite.algorithms();
        ensure(algorithms.len() == seeds.len(), Refusal::InvalidKey)?;
        let keys = algorithms
            .iter()
            .zip(&seeds)
            .map(|(alg, seed)| match alg {
                Alg::Ed25519 => SigningKey::ed25519_from_seed(seed.expose()),
                Alg::MlDsa44 | Alg::MlDsa65 => {
                    SigningKey::from_private(alg.algorithm(), seed.expose())
                }
            })
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|_| Refusal::Library)?;
        let public: Vec<&[u8]> = keys
            .iter()
            .filter_map(|key| match key.public()? {
                PublicKey::Ed25519 { x } => Some(x.as_slice()),
                PublicKey::MlDsa { public, .. } => Some(public.as_slice()),
                PublicKey::P256 { .. }
                | PublicKey::P384 { .. }
                | PublicKey::P521 { .. }
                | PublicKey::Rsa { .. } => None,
            })
            .collect();
        Ok(SigningKeys {
            set: KeySet::new(suite, &public)?,
            keys,
            seeds,
        })
    }

    /// The public half.
    pub fn set(&self) -> &KeySet {
        &self.set
    }

    /// The seeds, for the identity file and for derivation.
    pub fn seeds(&self) -> &[Secret<[u8; SEED_LEN]>] {
        &self.seeds
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = (Alg, &SigningKey)> + Clone {
        self.set.suite.algorithms().iter().copied().zip(&self.keys)
    }
}

impl fmt::Debug for SigningKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKeys")
            .field("set", &self.set)
            .finish_non_exhaustive()
    }
}

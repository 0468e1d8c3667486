//! Verification: three Miller loops and a final exponentiation, under a key that has done its work
//! once.

use ark_bn254::{Bn254, Fr, G1Affine, G1Projective, G2Affine};
use ark_ec::pairing::{MillerLoopOutput, Pairing, PairingOutput};
use ark_ec::{AffineRepr, CurveGroup, VariableBaseMSM};
use ark_ff::Zero;

use crate::Error;
use crate::field::halves;
use crate::proof::Proof;
use crate::verifying_key::VerifyingKey;

type PreparedPoint = <Bn254 as Pairing>::G2Prepared;

/// A verifying key that has done its work once, whatever key hash proofs are about.
pub(crate) struct Prepared {
    key: VerifyingKey,
    /// e(alpha, beta).
    target: PairingOutput<Bn254>,
    minus_beta: PreparedPoint,
    minus_gamma: PreparedPoint,
    minus_delta: PreparedPoint,
    /// Multiples 1 to 15 of each 16-power of the two inputs' points that the message multiplies.
    message: [Vec<[G1Affine; 15]>; 2],
}

/// Checks proofs about one key: the verifier's choice of parameters and of the key hash, prepared.
pub struct Verifier {
    prepared: Prepared,
    /// The inputs' sum as far as the key hash makes it.
    fixed: G1Affine,
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Verifier(..)")
    }
}

impl Verifier {
    /// Expects proofs about the key whose hash is `key_hash`, which must come from the verifier and
    /// not from a token.
    ///
    /// # Errors
    /// [`Error::Encoding`] where `key_hash` is no hash of this statement.
    pub fn new(key: &VerifyingKey, key_hash: &[u8; 32]) -> Result<Verifier, Error> {
        let known = key.statement.key_inputs(key_hash)?;
        let prepared = Prepared::new(key);
        Ok(Verifier {
            fixed: prepared.fixed(&known),
            prepared,
        })
    }

    /// Checks that the proof is about this verifier's key and the message whose SHA-256 is
    /// `message`.
    ///
    /// # Errors
    /// [`Error::Proof`].
    pub fn verify(&self, proof: &Proof, message: &[u8; 32]) -> Result<(), Error> {
        self.prepared.verify(self.fixed, proof, message)
    }

    /// Checks many proofs at once: random weights, one final exponentiation. A batch that fails has
    /// a bad proof in it, and does not say which.
    ///
    /// # Errors
    /// [`Error::Proof`]. A false proof passes with a probability of 2^-128.
    pub fn verify_batch(&self, proofs: &[(Proof, [u8; 32])]) -> Result<(), Error> {
        if proofs.is_empty() {
            return Ok(());
        }
        let prepared = &self.prepared;
        let weights: Vec<Fr> = proofs
            .iter()
            .map(|_| Fr::from(u128::from_le_bytes(signet_crypto::random::bytes())))
            .collect();
        let mut weighted: Vec<G1Projective> = proofs
            .iter()
            .zip(&weights)
            .map(|((proof, _), weight)| short_multiple(proof.a, weight))
            .collect();
        let inputs: Vec<G1Affine> = G1Projective::normalize_batch(
            &proofs
                .iter()
                .map(|(_, message)| prepared.inputs(self.fixed, message))
                .collect::<Vec<_>>(),
        );
        let cs: Vec<G1Affine> = proofs.iter().map(|(proof, _)| proof.c).collect();
        weighted.push(sum(&inputs, &weights));
        weighted.push(sum(&cs, &weights));
        weighted.push(prepared.key.alpha * weights.iter().sum::<Fr>());
        let points = G1Projective::normalize_batch(&weighted);
        let seconds = proofs
            .iter()
            .map(|(proof, _)| PreparedPoint::from(proof.b))
            .chain([
                prepared.minus_gamma.clone(),
                prepared.minus_delta.clone(),
                prepared.minus_beta.clone(),
            ]);
        let loops: MillerLoopOutput<Bn254> = Bn254::multi_miller_loop(points, seconds);
        match Bn254::final_exponentiation(loops) {
            Some(value) if value.is_zero() => Ok(()),
            _ => Err(Error::Proof),
        }
    }
}

impl Prepared {
    pub(crate) fn new(key: &VerifyingKey) -> Prepared {
        // Keys have as many inputs as their statement, the message's two last.
        let first = key.inputs.len() - 2;
        Prepared {
            target: Bn254::pairing(key.alpha, key.beta),
            minus_beta: PreparedPoint::from(-key.beta),
            minus_gamma: PreparedPoint::from(-G2Affine::generator()),
            minus_delta: PreparedPoint::from(-key.delta),
            message: [
                multiples(key.inputs[first]),
                multiples(key.inputs[first + 1]),
            ],
            key: key.clone(),
        }
    }

    /// The inputs' sum as far as `known`, the key hash as inputs, makes it.
    pub(crate) fn fixed(&self, known: &[Fr]) -> G1Affine {
        let mut fixed = self.key.inputs[0].into_group();
        for (point, value) in self.key.inputs[1..].iter().zip(known) {
            fixed += *point * value;
        }
        fixed.into_affine()
    }

    /// Checks a proof about the key that made `fixed`, and a message.
    ///
    /// # Errors
    /// [`Error::Proof`].
    pub(crate) fn verify(
        &self,
        fixed: G1Affine,
        proof: &Proof,
        message: &[u8; 32],
    ) -> Result<(), Error> {
        let loops = Bn254::multi_miller_loop(
            [proof.a, self.inputs(fixed, message).into_affine(), proof.c],
            [
                PreparedPoint::from(proof.b),
                self.minus_gamma.clone(),
                self.minus_delta.clone(),
            ],
        );
        match Bn254::final_exponentiation(loops) {
            Some(value) if value == self.target => Ok(()),
            _ => Err(Error::Proof),
        }
    }

    /// The inputs' points, summed with their values.
    fn inputs(&self, fixed: G1Affine, message: &[u8; 32]) -> G1Projective {
        let mut out = fixed.into_group();
        for (half, table) in message.chunks_exact(16).zip(&self.message) {
            let digits = half.iter().rev().flat_map(|byte| [byte & 15, byte >> 4]);
            for (digit, multiples) in digits.zip(table) {
                if digit > 0 {
                    out += multiples[usize::from(digit) - 1];
                }
            }
        }
        debug_assert_eq!(halves(message).len(), self.message.len());
        out
    }
}

/// A sum of multiples; the lengths agree.
fn sum(points: &[G1Affine], factors: &[Fr]) -> G1Projective {
    G1Projective::msm(points, factors).unwrap_or_default()
}

/// `weight` times a point, for a weight of 128 bits: digits of four bits.
fn short_multiple(point: G1Affine, weight: &Fr) -> G1Projective {
    use ark_ff::{AdditiveGroup, PrimeField};
    let mut multiples = [G1Projective::zero(); 16];
    for i in 1..16 {
        multiples[i] = multiples[i - 1] + point;
    }
    let limbs = weight.into_bigint().0;
    let mut out = G1Projective::zero();
    for place in (0..32).rev() {
        (0..4).for_each(|_| {
            out.double_in_place();
        });
        out += multiples[(limbs[place / 16] >> (4 * (place % 16)) & 15) as usize];
    }
    out
}

fn multiples(point: G1Affine) -> Vec<[G1Affine; 15]> {
    let mut all = Vec::with_capacity(32 * 15);
    let mut base = point.into_group();
    for _ in 0..32 {
        let mut multiple = base;
        for _ in 0..15 {
            all.push(multiple);
            multiple += base;
        }
        base = multiple;
    }
    G1Projective::normalize_batch(&all)
        .chunks_exact(15)
        .map(|chunk| std::array::from_fn(|i| chunk[i]))
        .collect()
}

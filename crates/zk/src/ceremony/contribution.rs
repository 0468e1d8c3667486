//! One contribution: what it made, a proof that its maker knew the factor, and its place in the
//! chain.

use ark_bn254::{Fr, G1Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::PrimeField;
use signet_crypto::hash::{Sha256, sha512};

use crate::Error;
use crate::field::{random, to_bytes};
use crate::points::{Reader, checked, put_one};

/// A point was multiplied by a number that its maker knew: the product, and a Schnorr proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) made: G1Affine,
    commitment: G1Affine,
    pub(super) answer: Fr,
}

/// One contribution: steps of tau, alpha and beta, or the one of delta.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Contribution {
    pub(super) steps: Vec<Step>,
}

impl Step {
    /// Multiplies `base` by `secret`.
    fn make(base: G1Affine, secret: Fr, place: &[u8; 32], index: u8) -> Step {
        let made = (base * secret).into_affine();
        let nonce = random();
        let commitment = (base * nonce).into_affine();
        let challenge = challenge(place, index, [base, made, commitment]);
        Step {
            made,
            commitment,
            answer: nonce + challenge * secret,
        }
    }

    fn holds(&self, base: G1Affine, place: &[u8; 32], index: u8) -> bool {
        let challenge = challenge(place, index, [base, self.made, self.commitment]);
        // A factor of 0, 1 or -1 is no secret: the product is at infinity, or has the base's x.
        self.made.x().is_some_and(|x| base.x() != Some(x))
            && base * self.answer == self.made * challenge + self.commitment
    }
}

/// 512 bits of hash, reduced: uniform.
fn challenge(place: &[u8; 32], index: u8, points: [G1Affine; 3]) -> Fr {
    let mut message = b"signet ceremony step\n".to_vec();
    message.extend_from_slice(place);
    message.push(index);
    points.iter().for_each(|point| put_one(&mut message, point));
    Fr::from_be_bytes_mod_order(&sha512(&message))
}

impl Contribution {
    /// Multiplies each of `bases` by its secret.
    pub(super) fn make(bases: &[G1Affine], secrets: &[Fr], place: &[u8; 32]) -> Contribution {
        let steps = (0..).zip(bases.iter().zip(secrets));
        Contribution {
            steps: steps
                .map(|(index, (base, secret))| Step::make(*base, *secret, place, index))
                .collect(),
        }
    }

    pub(super) fn holds(&self, bases: &[G1Affine], place: &[u8; 32]) -> bool {
        self.steps.len() == bases.len()
            && (0..)
                .zip(self.steps.iter().zip(bases))
                .all(|(index, (step, base))| step.holds(*base, place, index))
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        for step in &self.steps {
            put_one(out, &step.made);
            put_one(out, &step.commitment);
            out.extend_from_slice(&to_bytes(step.answer));
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>, steps: usize) -> Result<Contribution, Error> {
        let step = |reader: &mut Reader<'_>| {
            let (made, commitment) = (checked(reader.one()?)?, checked(reader.one()?)?);
            let mut answer = [0; 32];
            answer.copy_from_slice(reader.take(32)?);
            Ok(Step {
                made,
                commitment,
                answer: crate::field::from_bytes(&answer).ok_or(Error::Encoding("transcript"))?,
            })
        };
        Ok(Contribution {
            steps: (0..steps).map(|_| step(reader)).collect::<Result<_, _>>()?,
        })
    }

    /// The hash of this contribution and all before it.
    pub(super) fn hash(&self, phase: u8, before: &[u8; 32]) -> [u8; 32] {
        let mut bytes = Vec::new();
        self.put(&mut bytes);
        let mut hash = Sha256::new();
        hash.update(b"signet ceremony contribution\n");
        hash.update(before);
        hash.update(&[phase]);
        hash.update(&bytes);
        hash.finish()
    }

    pub(super) fn made(&self) -> Vec<G1Affine> {
        self.steps.iter().map(|step| step.made).collect()
    }
}

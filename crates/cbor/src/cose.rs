//! COSE messages (RFC 9052): COSE_Sign1 where one algorithm signs, COSE_Sign where two sign
//! together.
//!
//! The protected header holds the algorithm and nothing else, the unprotected header is empty: a
//! message has one form. What the payload is, its first field says; it is signed like every other.
//!
//! - one algorithm: `18([<<{1: alg}>>, {}, payload, signature])`
//! - more: `98([h'', {}, payload, [[<<{1: alg}>>, {}, signature], ...]])`, all of them required, in
//!   the order of the keys.

use std::ops::Range;

use signet_crypto::{Algorithm, BatchItem, SigningKey, VerifyingKey, verify_ed25519_batch};

use crate::error::{Error, Result, ensure};
use crate::{Decoder, Encoder};

/// One signature algorithm, by its number of the COSE registry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Alg {
    /// EdDSA over Ed25519, -8 (RFC 9053 section 2.2).
    Ed25519,
    /// ML-DSA-44, -48 (FIPS 204).
    MlDsa44,
    /// ML-DSA-65, -49.
    MlDsa65,
}

impl Alg {
    /// All of them.
    pub const ALL: [Alg; 3] = [Alg::Ed25519, Alg::MlDsa44, Alg::MlDsa65];

    const fn row(self) -> (i64, &'static str, Algorithm, usize, usize) {
        match self {
            Alg::Ed25519 => (-8, "EdDSA", Algorithm::EdDsa, 32, 64),
            Alg::MlDsa44 => (-48, "ML-DSA-44", Algorithm::MlDsa44, 1312, 2420),
            Alg::MlDsa65 => (-49, "ML-DSA-65", Algorithm::MlDsa65, 1952, 3309),
        }
    }

    /// The algorithm as the cryptography crate names it.
    pub const fn algorithm(self) -> Algorithm {
        self.row().2
    }

    /// The number of the COSE registry.
    pub const fn number(self) -> i64 {
        self.row().0
    }

    /// The registered name.
    pub const fn name(self) -> &'static str {
        self.row().1
    }

    /// Length of a public key in bytes.
    pub const fn public_len(self) -> usize {
        self.row().3
    }

    /// Length of a signature in bytes.
    pub const fn signature_len(self) -> usize {
        self.row().4
    }

    /// The algorithm of a COSE number.
    pub fn from_number(number: i64) -> Option<Alg> {
        Self::ALL.into_iter().find(|alg| alg.number() == number)
    }

    /// The algorithm of a registered name.
    pub fn from_name(name: &str) -> Option<Alg> {
        Self::ALL.into_iter().find(|alg| alg.name() == name)
    }
}

const SIGN1: u64 = 18;
const SIGN: u64 = 98;

/// Two key sets of two algorithms each sign a rotation; nothing has more.
const MAX_SIGNATURES: usize = 4;

/// The protected header `{1: alg}`, which has one encoding for each algorithm.
const fn protected(alg: Alg) -> &'static [u8] {
    match alg {
        Alg::Ed25519 => &[0xa1, 0x01, 0x27],
        Alg::MlDsa44 => &[0xa1, 0x01, 0x38, 0x2f],
        Alg::MlDsa65 => &[0xa1, 0x01, 0x38, 0x30],
    }
}

fn read_protected(data: &[u8]) -> Result<Alg> {
    if let Some(alg) = Alg::ALL.into_iter().find(|alg| protected(*alg) == data) {
        return Ok(alg);
    }
    // Another one: the decoder knows what is wrong with it.
    Decoder::whole(data, |d| d.map(|map| map.required(1, Decoder::int)))?;
    Err(Error::WrongAlgorithm)
}

/// What is signed: by one algorithm a `Signature1`, by each of several a `Signature` (RFC 9052
/// section 4.4).
fn structure(count: usize, alg: Alg, payload: &[u8]) -> Vec<u8> {
    let mut out = Encoder::with_capacity(payload.len() + 32);
    if count == 1 {
        out.array(4).text("Signature1");
    } else {
        out.array(5).text("Signature").bytes(b"");
    }
    out.bytes(protected(alg)).bytes(b"").bytes(payload);
    out.finish()
}

/// A message that was made, and where in it the payload is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The whole message.
    pub message: Vec<u8>,
    /// The payload's place.
    pub payload: Range<usize>,
}

/// Signs with every one of these keys, in their order.
///
/// # Errors
/// [`Error::WrongAlgorithm`] for no key, or more than a message has; [`Error::Library`].
pub fn sign<'k>(
    payload: &[u8],
    keys: impl Iterator<Item = (Alg, &'k SigningKey)> + Clone,
) -> Result<Made> {
    let count = keys.clone().count();
    ensure((1..=MAX_SIGNATURES).contains(&count), Error::WrongAlgorithm)?;
    let room: usize = keys.clone().map(|(alg, _)| alg.signature_len() + 12).sum();
    write(payload, count, room, keys, |out, (alg, key)| {
        out.bytes_by(alg.signature_len(), |out| {
            key.sign_into(&structure(count, alg, payload), out)
                .map_err(|_| Error::Library)
        })?;
        Ok(())
    })
}

/// Writes a message; `signature` appends the byte string of each signature.
fn write<T>(
    payload: &[u8],
    count: usize,
    room: usize,
    signers: impl Iterator<Item = (Alg, T)>,
    mut signature: impl FnMut(&mut Encoder, (Alg, T)) -> Result<()>,
) -> Result<Made> {
    let mut out = Encoder::with_capacity(payload.len() + room + 16);
    let mut start = 0;
    for (i, (alg, key)) in signers.enumerate() {
        if i == 0 {
            out.tag(if count == 1 { SIGN1 } else { SIGN }).array(4);
            out.bytes(if count == 1 { protected(alg) } else { b"" });
            out.map(0).bytes(payload);
            start = out.len() - payload.len();
            if count > 1 {
                out.array(count);
            }
        }
        if count > 1 {
            out.array(3).bytes(protected(alg)).map(0);
        }
        signature(&mut out, (alg, key))?;
    }
    Ok(Made {
        message: out.finish(),
        payload: start..start + payload.len(),
    })
}

/// The message of signatures that exist already. It is not verified.
///
/// # Errors
/// [`Error::WrongAlgorithm`] for a number of signatures, or lengths, that no message has.
pub fn assemble(payload: &[u8], signatures: &[(Alg, Vec<u8>)]) -> Result<Vec<u8>> {
    let fits = (1..=MAX_SIGNATURES).contains(&signatures.len())
        && signatures
            .iter()
            .all(|(alg, signature)| signature.len() == alg.signature_len());
    ensure(fits, Error::WrongAlgorithm)?;
    let room: usize = signatures
        .iter()
        .map(|(_, signature)| signature.len() + 12)
        .sum();
    let signers = signatures.iter().map(|(alg, bytes)| (*alg, bytes));
    let made = write(
        payload,
        signatures.len(),
        room,
        signers,
        |out, (_, bytes)| {
            out.bytes(bytes);
            Ok(())
        },
    )?;
    Ok(made.message)
}

/// A key, what it has to have signed, and the signature.
type Equation<'k, 'a> = (&'k VerifyingKey, Vec<u8>, &'a [u8]);

/// A message, read and not verified.
#[derive(Debug, Clone)]
pub struct Message<'a> {
    payload: &'a [u8],
    all: [(Alg, &'a [u8]); MAX_SIGNATURES],
    count: usize,
}

impl<'a> Message<'a> {
    /// Reads a message.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::NotCanonical`], [`Error::TooLarge`] as the decoder;
    /// [`Error::WrongAlgorithm`] for an algorithm that is not used here, or a signature of the
    /// wrong length.
    pub fn parse(data: &'a [u8]) -> Result<Message<'a>> {
        let mut all: [(Alg, &[u8]); MAX_SIGNATURES] = [(Alg::Ed25519, &[]); MAX_SIGNATURES];
        let (payload, count) = Decoder::whole(data, |d| match d.tag()? {
            SIGN1 => d.tuple(4, |d| {
                let alg = read_protected(d.bytes()?)?;
                d.map(|_| Ok::<_, Error>(()))?;
                let payload = d.bytes()?;
                all[0] = (alg, d.bytes()?);
                Ok((payload, 1))
            }),
            SIGN => d.tuple(4, |d| {
                ensure(d.bytes()?.is_empty(), Error::Malformed)?;
                d.map(|_| Ok::<_, Error>(()))?;
                let payload = d.bytes()?;
                let count = d.array()?;
                ensure(count <= MAX_SIGNATURES, Error::TooLarge)?;
                ensure(count > 1, Error::NotCanonical)?;
                d.nested(|d| {
                    for signature in &mut all[..count] {
                        *signature = d.tuple(3, |d| {
                            let alg = read_protected(d.bytes()?)?;
                            d.map(|_| Ok::<_, Error>(()))?;
                            Ok::<_, Error>((alg, d.bytes()?))
                        })?;
                    }
                    Ok((payload, count))
                })
            }),
            _ => Err(Error::WrongType),
        })?;
        let message = Message {
            payload,
            all,
            count,
        };
        let lengths = message
            .signatures()
            .iter()
            .all(|(alg, s)| s.len() == alg.signature_len());
        ensure(lengths, Error::WrongAlgorithm)?;
        Ok(message)
    }

    /// What is signed.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The algorithm and bytes of each signature.
    pub fn signatures(&self) -> &[(Alg, &'a [u8])] {
        &self.all[..self.count]
    }

    /// Checks that exactly these keys signed, in their order.
    ///
    /// # Errors
    /// [`Error::WrongAlgorithm`] if number or algorithms differ from the keys';
    /// [`Error::SignatureInvalid`].
    pub fn verify<'k>(
        &self,
        keys: impl Iterator<Item = (Alg, &'k VerifyingKey)> + Clone,
    ) -> Result<()> {
        self.each_equation(keys, |(key, structure, signature)| {
            key.verify(&structure, signature)
                .map_err(|_| Error::SignatureInvalid)
        })
    }

    /// Each key with what it has to have signed, once it is clear that exactly these keys'
    /// algorithms signed.
    fn each_equation<'k>(
        &self,
        keys: impl Iterator<Item = (Alg, &'k VerifyingKey)> + Clone,
        mut check: impl FnMut(Equation<'k, 'a>) -> Result<()>,
    ) -> Result<()> {
        let expected = keys.clone().map(|(alg, _)| alg);
        let found = self.signatures().iter().map(|(alg, _)| *alg);
        ensure(found.eq(expected), Error::WrongAlgorithm)?;
        for ((alg, key), (_, signature)) in keys.zip(self.signatures()) {
            check((key, structure(self.count, alg, self.payload), *signature))?;
        }
        Ok(())
    }
}

/// Many messages checked at once: the Ed25519 signatures by one equation, the others one by one.
/// The answer is that of [`Message::verify`] for all of them.
///
/// # Errors
/// The position of a message that does not hold, with what [`Message::verify`] says of it.
pub fn verify_batch<'k, K>(messages: &[(Message<'_>, K)]) -> std::result::Result<(), (usize, Error)>
where
    K: Iterator<Item = (Alg, &'k VerifyingKey)> + Clone,
{
    if let [(message, keys)] = messages {
        return message.verify(keys.clone()).map_err(|reason| (0, reason));
    }
    let mut equations = Vec::with_capacity(messages.len());
    for (i, (message, keys)) in messages.iter().enumerate() {
        message
            .each_equation(keys.clone(), |equation| {
                equations.push(equation);
                Ok(())
            })
            .map_err(|reason| (i, reason))?;
    }
    let items = equations
        .iter()
        .map(|(key, structure, signature)| BatchItem {
            key,
            context: &[],
            message: structure,
            signature,
        });
    // No other algorithm's signatures have this length.
    let (batch, singles): (Vec<_>, Vec<_>) =
        items.partition(|item| item.signature.len() == Alg::Ed25519.signature_len());
    let holds = verify_ed25519_batch(&batch).is_ok()
        && singles
            .iter()
            .all(|item| item.key.verify(item.message, item.signature).is_ok());
    if holds {
        return Ok(());
    }
    for (i, (message, keys)) in messages.iter().enumerate() {
        message.verify(keys.clone()).map_err(|reason| (i, reason))?;
    }
    // One did not hold together with the others and holds alone: refused, for the batch's answer is
    // never the weaker one.
    Err((0, Error::SignatureInvalid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protected_headers_are_what_the_encoder_writes() {
        for alg in Alg::ALL {
            let mut out = Encoder::new();
            out.map(1).uint(1).int(alg.number());
            assert_eq!(protected(alg), out.finish());
        }
    }

    #[test]
    fn a_message_verifies_by_the_keys_that_signed_it_in_their_order() {
        let made = |alg: Alg| {
            let key = SigningKey::generate(alg.algorithm()).expect("generated");
            let public = key.public().expect("a public half").clone();
            let public = VerifyingKey::new(alg.algorithm(), &public).expect("its own key");
            (alg, key, public)
        };
        let (first, second) = (made(Alg::Ed25519), made(Alg::MlDsa44));
        let keys = [(first.0, &first.1), (second.0, &second.1)];
        let made = sign(b"payload", keys.into_iter()).expect("signed");
        assert_eq!(&made.message[made.payload.clone()], b"payload");
        let message = Message::parse(&made.message).expect("its own encoding");
        let verify = |keys: &[(Alg, &VerifyingKey)]| message.verify(keys.iter().copied());
        let (one, two) = ((first.0, &first.2), (second.0, &second.2));
        assert_eq!(verify(&[one, two]), Ok(()));
        for wrong in [&[two, one][..], &[one], &[two], &[one, two, one], &[]] {
            assert_eq!(verify(wrong), Err(Error::WrongAlgorithm));
        }
        assert_eq!(
            sign(b"payload", std::iter::empty()).err(),
            Some(Error::WrongAlgorithm)
        );
    }
}

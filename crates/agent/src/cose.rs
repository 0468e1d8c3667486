//! COSE messages (RFC 9052): COSE_Sign1 where one algorithm signs, COSE_Sign where two sign together.
//!
//! The protected header holds the algorithm and nothing else, the unprotected header is empty: a message has one form. What
//! the payload is, its first field says; it is signed like every other.
//!
//! - one algorithm: `18([<<{1: alg}>>, {}, payload, signature])`
//! - more: `98([h'', {}, payload, [[<<{1: alg}>>, {}, signature], ...]])`, all of them required, in the order of the keys.

use signet_crypto::{BatchItem, verify_ed25519_batch};

use crate::cbor::{Decoder, Encoder};
use crate::error::{Refusal, Result, ensure};
use crate::keys::{Alg, SigningKeys, VerifyingKeys};

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
    Err(Refusal::WrongAlgorithm)
}

/// What is signed: by one algorithm a `Signature1`, by each of several a `Signature` (RFC 9052 section 4.4).
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

/// Signs with every key of every set.
///
/// # Errors
/// [`Refusal::Library`] if the library fails.
pub fn sign(payload: &[u8], signers: &[&SigningKeys]) -> Result<Vec<u8>> {
    Ok(sign_and_place(payload, signers)?.0)
}

/// The message, and where in it the payload begins.
pub(crate) fn sign_and_place(payload: &[u8], signers: &[&SigningKeys]) -> Result<(Vec<u8>, usize)> {
    let keys = || signers.iter().flat_map(|keys| keys.keys());
    let count = keys().count();
    ensure(
        (1..=MAX_SIGNATURES).contains(&count),
        Refusal::WrongAlgorithm,
    )?;
    let room: usize = keys().map(|(alg, _)| alg.signature_len() + 12).sum();
    write(payload, count, room, keys(), |out, (alg, key)| {
        out.bytes_by(alg.signature_len(), |out| {
            key.sign_into(&structure(count, alg, payload), out)
                .map_err(|_| Refusal::Library)
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
) -> Result<(Vec<u8>, usize)> {
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
    Ok((out.finish(), start))
}

/// The message of signatures that exist already. It is not verified.
///
/// # Errors
/// [`Refusal::WrongAlgorithm`] for a number of signatures, or lengths, that no message has.
pub fn assemble(payload: &[u8], signatures: &[(Alg, Vec<u8>)]) -> Result<Vec<u8>> {
    let fits = (1..=MAX_SIGNATURES).contains(&signatures.len())
        && signatures
            .iter()
            .all(|(alg, signature)| signature.len() == alg.signature_len());
    ensure(fits, Refusal::WrongAlgorithm)?;
    let room: usize = signatures
        .iter()
        .map(|(_, signature)| signature.len() + 12)
        .sum();
    let signers = signatures.iter().map(|(alg, bytes)| (*alg, bytes));
    let (data, _) = write(
        payload,
        signatures.len(),
        room,
        signers,
        |out, (_, bytes)| {
            out.bytes(bytes);
            Ok(())
        },
    )?;
    Ok(data)
}

/// A key, what it has to have signed, and the signature.
type Equation<'k, 'a> = (&'k signet_crypto::VerifyingKey, Vec<u8>, &'a [u8]);

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
    /// [`Refusal::Malformed`], [`Refusal::NotCanonical`], [`Refusal::TooLarge`] as the decoder;
    /// [`Refusal::WrongAlgorithm`] for an algorithm that is not used here, or a signature of the wrong length.
    pub fn parse(data: &'a [u8]) -> Result<Message<'a>> {
        let mut all: [(Alg, &[u8]); MAX_SIGNATURES] = [(Alg::Ed25519, &[]); MAX_SIGNATURES];
        let (payload, count) = Decoder::whole(data, |d| match d.tag()? {
            SIGN1 => d.tuple(4, |d| {
                let alg = read_protected(d.bytes()?)?;
                d.map(|_| Ok(()))?;
                let payload = d.bytes()?;
                all[0] = (alg, d.bytes()?);
                Ok((payload, 1))
            }),
            SIGN => d.tuple(4, |d| {
                ensure(d.bytes()?.is_empty(), Refusal::Malformed)?;
                d.map(|_| Ok(()))?;
                let payload = d.bytes()?;
                let count = d.array()?;
                ensure(count <= MAX_SIGNATURES, Refusal::TooLarge)?;
                ensure(count > 1, Refusal::NotCanonical)?;
                d.nested(|d| {
                    for signature in &mut all[..count] {
                        *signature = d.tuple(3, |d| {
                            let alg = read_protected(d.bytes()?)?;
                            d.map(|_| Ok(()))?;
                            Ok((alg, d.bytes()?))
                        })?;
                    }
                    Ok((payload, count))
                })
            }),
            _ => Err(Refusal::WrongType),
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
        ensure(lengths, Refusal::WrongAlgorithm)?;
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

    /// Checks that exactly these key sets signed, all keys of each.
    ///
    /// # Errors
    /// [`Refusal::WrongAlgorithm`] if number or algorithms differ from the keys'; [`Refusal::SignatureInvalid`].
    pub fn verify(&self, signers: &[&VerifyingKeys]) -> Result<()> {
        self.each_equation(signers, |(key, structure, signature)| {
            key.verify(&structure, signature)
                .map_err(|_| Refusal::SignatureInvalid)
        })
    }

    /// Each key with what it has to have signed, once it is clear that exactly these keys' algorithms signed.
    fn each_equation<'k>(
        &self,
        signers: &[&'k VerifyingKeys],
        mut check: impl FnMut(Equation<'k, 'a>) -> Result<()>,
    ) -> Result<()> {
        let keys = || signers.iter().flat_map(|keys| keys.keys());
        let expected = keys().map(|(alg, _)| alg);
        let found = self.signatures().iter().map(|(alg, _)| *alg);
        ensure(found.eq(expected), Refusal::WrongAlgorithm)?;
        for ((alg, key), (_, signature)) in keys().zip(self.signatures()) {
            check((key, structure(self.count, alg, self.payload), *signature))?;
        }
        Ok(())
    }
}

/// Many messages checked at once: the Ed25519 signatures by one equation, the others one by one. The answer is that of
/// [`Message::verify`] for all of them.
///
/// # Errors
/// The position of a message that does not hold, with what [`Message::verify`] says of it.
pub fn verify_batch(
    messages: &[(Message<'_>, &VerifyingKeys)],
) -> std::result::Result<(), (usize, Refusal)> {
    if let [(message, keys)] = messages {
        return message.verify(&[keys]).map_err(|reason| (0, reason));
    }
    let mut equations = Vec::with_capacity(messages.len());
    for (i, (message, keys)) in messages.iter().enumerate() {
        message
            .each_equation(&[keys], |equation| {
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
        message.verify(&[keys]).map_err(|reason| (i, reason))?;
    }
    // One did not hold together with the others and holds alone: refused, for the batch's answer is never the weaker one.
    Err((0, Refusal::SignatureInvalid))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Suite;

    fn keys(suite: Suite) -> (SigningKeys, VerifyingKeys) {
        let keys = SigningKeys::generate(suite).expect("generated");
        let verifying = VerifyingKeys::new(keys.set()).expect("its own keys");
        (keys, verifying)
    }

    #[test]
    fn the_protected_headers_are_what_the_encoder_writes() {
        for alg in Alg::ALL {
            let mut out = Encoder::new();
            out.map(1).uint(1).int(alg.number());
            assert_eq!(protected(alg), out.finish());
        }
    }

    #[test]
    fn a_message_verifies_by_its_own_keys_only() {
        let all: Vec<_> = Suite::ALL.into_iter().map(keys).collect();
        let (_, stranger) = keys(Suite::Ed25519);
        for (signer, own) in &all {
            let message = sign(b"payload", &[signer]).expect("signed");
            let message = Message::parse(&message).expect("its own encoding");
            assert_eq!(message.payload(), b"payload");
            for (_, verifier) in &all {
                let expected = if verifier.set() == own.set() {
                    Ok(())
                } else {
                    Err(Refusal::WrongAlgorithm)
                };
                assert_eq!(message.verify(&[verifier]), expected);
            }
            if own.set().suite() == Suite::Ed25519 {
                assert_eq!(message.verify(&[&stranger]), Err(Refusal::SignatureInvalid));
            }
        }
    }

    #[test]
    fn every_changed_byte_and_every_cut_is_refused() {
        for suite in [Suite::Ed25519, Suite::Ed25519MlDsa44] {
            let (signer, verifier) = keys(suite);
            let good = sign(b"some payload", &[&signer]).expect("signed");
            let refused = |data: &[u8]| {
                Message::parse(data)
                    .and_then(|message| message.verify(&[&verifier]))
                    .is_err()
            };
            assert!(!refused(&good));
            // Every byte of what is small, a sample of the long signature.
            for at in (0..good.len()).filter(|at| *at < 160 || at % 97 == 0) {
                for flip in [1, 0x80] {
                    let mut changed = good.clone();
                    changed[at] ^= flip;
                    assert!(refused(&changed), "{suite:?} byte {at}");
                }
            }
            for len in (0..good.len()).step_by(7) {
                assert!(refused(&good[..len]), "{len}");
            }
        }
    }

    #[test]
    fn both_algorithms_are_required_where_two_sign_together() {
        let (signer, verifier) = keys(Suite::Ed25519MlDsa44);
        let message = sign(b"payload", &[&signer]).expect("signed");
        let message = Message::parse(&message).expect("parsed");
        let all: Vec<_> = message
            .signatures()
            .iter()
            .map(|(a, s)| (*a, s.to_vec()))
            .collect();
        let check = |signatures: &[(Alg, Vec<u8>)]| {
            let data = assemble(b"payload", signatures).expect("assembled");
            Message::parse(&data).and_then(|m| m.verify(&[&verifier]))
        };
        assert_eq!(check(&all), Ok(()));
        assert_eq!(check(&all[..1]), Err(Refusal::WrongAlgorithm));
        assert_eq!(check(&all[1..]), Err(Refusal::WrongAlgorithm));
        let reversed: Vec<_> = all.iter().rev().cloned().collect();
        assert_eq!(check(&reversed), Err(Refusal::WrongAlgorithm));
        for bad in 0..2 {
            let mut changed = all.clone();
            changed[bad].1[40] ^= 1;
            assert_eq!(check(&changed), Err(Refusal::SignatureInvalid));
        }
    }

    #[test]
    fn a_signature_of_one_structure_is_none_of_the_other() {
        // The Ed25519 half of a COSE_Sign is not a COSE_Sign1 of the same key and payload.
        let both = SigningKeys::generate(Suite::Ed25519MlDsa44).expect("generated");
        let alone =
            SigningKeys::from_seeds(Suite::Ed25519, vec![both.seeds()[0].clone()]).expect("key");
        let verifier = VerifyingKeys::new(alone.set()).expect("key");
        let message = sign(b"payload", &[&both]).expect("signed");
        let message = Message::parse(&message).expect("parsed");
        let half = vec![(Alg::Ed25519, message.signatures()[0].1.to_vec())];
        let data = assemble(b"payload", &half).expect("assembled");
        let half = Message::parse(&data).expect("parsed");
        assert_eq!(half.verify(&[&verifier]), Err(Refusal::SignatureInvalid));
    }

    #[test]
    fn headers_of_other_forms_are_refused() {
        let mut unprotected = Encoder::new();
        unprotected
            .tag(18)
            .array(4)
            .bytes(&[0xa1, 1, 0x27])
            .map(1)
            .uint(4)
            .bytes(b"kid");
        unprotected.bytes(b"p").bytes(&[0; 64]);
        assert!(Message::parse(&unprotected.finish()).is_err());
        let mut critical = Encoder::new();
        critical
            .tag(18)
            .array(4)
            .bytes(&[0xa2, 1, 0x27, 2, 0x81, 1])
            .map(0)
            .bytes(b"p")
            .bytes(&[0; 64]);
        assert!(Message::parse(&critical.finish()).is_err());
        let mut untagged = Encoder::new();
        untagged
            .array(4)
            .bytes(&[0xa1, 1, 0x27])
            .map(0)
            .bytes(b"p")
            .bytes(&[0; 64]);
        assert!(Message::parse(&untagged.finish()).is_err());
        let mut es256 = Encoder::new();
        es256
            .tag(18)
            .array(4)
            .bytes(&[0xa1, 1, 0x26])
            .map(0)
            .bytes(b"p")
            .bytes(&[0; 64]);
        assert_eq!(
            Message::parse(&es256.finish()).err(),
            Some(Refusal::WrongAlgorithm)
        );
    }

    #[test]
    fn a_batch_names_the_message_that_does_not_hold() {
        let all: Vec<_> = [
            Suite::Ed25519,
            Suite::Ed25519MlDsa44,
            Suite::Ed25519,
            Suite::MlDsa44,
        ]
        .into_iter()
        .map(keys)
        .collect();
        let signed: Vec<_> = all
            .iter()
            .map(|(s, _)| sign(b"payload", &[s]).expect("signed"))
            .collect();
        let items = |signed: &[Vec<u8>]| -> std::result::Result<(), (usize, Refusal)> {
            let items: Vec<_> = signed
                .iter()
                .zip(&all)
                .map(|(data, (_, v))| (Message::parse(data).expect("parsed"), v))
                .collect();
            verify_batch(&items)
        };
        assert_eq!(items(&signed), Ok(()));
        assert_eq!(verify_batch(&[]), Ok(()));
        for bad in 0..signed.len() {
            let mut changed = signed.clone();
            let last = changed[bad].len() - 1;
            changed[bad][last - 40] ^= 1;
            assert_eq!(items(&changed), Err((bad, Refusal::SignatureInvalid)));
        }
    }
}

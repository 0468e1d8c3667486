//! The COSE messages of this crate's objects: signed by sets of keys, all of which are required, in
//! their order.
//!
//! The form itself is signet-cbor's ([`signet_cbor::cose`]).

use signet_cbor::cose::{self, Made};
pub use signet_cbor::cose::{Message, assemble};

use crate::error::{Refusal, Result};
use crate::keys::{SigningKeys, VerifyingKeys};

/// Signs with every key of every set.
///
/// # Errors
/// [`Refusal::Library`] if the library fails.
pub fn sign(payload: &[u8], signers: &[&SigningKeys]) -> Result<Vec<u8>> {
    Ok(make(payload, signers)?.message)
}

/// The same, with the place of the payload.
pub(crate) fn make(payload: &[u8], signers: &[&SigningKeys]) -> Result<Made> {
    let keys = signers.iter().flat_map(|keys| keys.keys());
    Ok(cose::sign(payload, keys)?)
}

/// Checks that exactly these sets of keys signed, all keys of each.
///
/// # Errors
/// [`Refusal::WrongAlgorithm`] if number or algorithms differ from the keys';
/// [`Refusal::SignatureInvalid`].
pub fn verify(message: &Message<'_>, signers: &[&VerifyingKeys]) -> Result<()> {
    Ok(message.verify(signers.iter().flat_map(|keys| keys.keys()))?)
}

/// Many messages checked at once. The answer is that of [`verify`] for all of them.
///
/// # Errors
/// The position of a message that does not hold, with what [`verify`] says of it.
pub fn verify_batch(
    messages: Vec<(Message<'_>, &VerifyingKeys)>,
) -> std::result::Result<(), (usize, Refusal)> {
    let messages: Vec<_> = messages
        .into_iter()
        .map(|(message, keys)| (message, keys.keys()))
        .collect();
    cose::verify_batch(&messages).map_err(|(at, error)| (at, error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cbor::{Encoder, Error};
    use crate::keys::{Alg, Suite};

    fn keys(suite: Suite) -> (SigningKeys, VerifyingKeys) {
        let keys = SigningKeys::generate(suite).expect("generated");
        let verifying = VerifyingKeys::new(keys.set()).expect("its own keys");
        (keys, verifying)
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
                assert_eq!(verify(&message, &[verifier]), expected);
            }
            if own.set().suite() == Suite::Ed25519 {
                assert_eq!(
                    verify(&message, &[&stranger]),
                    Err(Refusal::SignatureInvalid)
                );
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
                    .map_err(Refusal::from)
                    .and_then(|message| verify(&message, &[&verifier]))
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
            verify(&Message::parse(&data)?, &[&verifier])
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
        assert_eq!(verify(&half, &[&verifier]), Err(Refusal::SignatureInvalid));
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
            Some(Error::WrongAlgorithm)
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
            verify_batch(items)
        };
        assert_eq!(items(&signed), Ok(()));
        assert_eq!(verify_batch(Vec::new()), Ok(()));
        for bad in 0..signed.len() {
            let mut changed = signed.clone();
            let last = changed[bad].len() - 1;
            changed[bad][last - 40] ^= 1;
            assert_eq!(items(&changed), Err((bad, Refusal::SignatureInvalid)));
        }
    }
}

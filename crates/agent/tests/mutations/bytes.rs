//! The binary form: each byte changed, each cut, something after the end, the signatures of another
//! object.

use signet_agent::cose::{self, Message};
use signet_agent::object::Type;
use signet_agent::{Alg, Refusal};

use super::named;
use super::objects::{all, cast, verify};

/// Bytes of an Ed25519 signature, with which a message of one signer ends.
const SIGNATURE: usize = 64;

#[test]
fn every_changed_byte_of_every_object_is_refused() {
    let cast = cast();
    for file in all(&cast) {
        let whole = &file.message;
        for at in 0..whole.len() {
            for flip in [0x01, 0x80] {
                let mut changed = whole.clone();
                changed[at] ^= flip;
                let refused =
                    verify(file.kind, &changed, &cast.alice.document).expect_err("changed");
                assert!(
                    named(file.kind, refused),
                    "{:?} byte {at}: {refused:?}",
                    file.kind
                );
                if at >= whole.len() - SIGNATURE {
                    assert_eq!(
                        refused,
                        Refusal::SignatureInvalid,
                        "{:?} byte {at}",
                        file.kind
                    );
                }
            }
        }
    }
}

#[test]
fn every_cut_of_every_object_and_a_byte_more_are_refused() {
    let cast = cast();
    for file in all(&cast) {
        for len in 0..file.message.len() {
            let cut = verify(file.kind, &file.message[..len], &cast.alice.document);
            assert_eq!(cut, Err(Refusal::Malformed), "{:?} {len}", file.kind);
        }
        let longer = [file.message.as_slice(), &[0]].concat();
        assert_eq!(
            verify(file.kind, &longer, &cast.alice.document),
            Err(Refusal::Malformed)
        );
    }
}

#[test]
fn the_signature_of_another_object_is_refused() {
    let cast = cast();
    let all = all(&cast);
    let parts = |message: &[u8]| -> (Vec<u8>, Vec<(Alg, Vec<u8>)>) {
        let message = Message::parse(message).expect("parsed");
        let signatures = message
            .signatures()
            .iter()
            .map(|(alg, bytes)| (*alg, bytes.to_vec()));
        (message.payload().to_vec(), signatures.collect())
    };
    for one in &all {
        for other in all.iter().filter(|other| other.message != one.message) {
            let swapped = cose::assemble(&parts(&one.message).0, &parts(&other.message).1)
                .expect("assembled");
            let refused = verify(one.kind, &swapped, &cast.alice.document);
            assert_eq!(
                refused,
                Err(Refusal::SignatureInvalid),
                "{:?} {:?}",
                one.kind,
                other.kind
            );
        }
    }
}

#[test]
fn an_object_is_none_of_another_type() {
    let cast = cast();
    for file in all(&cast) {
        for kind in Type::ALL {
            if kind != file.kind {
                let refused = verify(kind, &file.message, &cast.alice.document);
                assert_eq!(refused, Err(Refusal::WrongType));
            }
        }
    }
}

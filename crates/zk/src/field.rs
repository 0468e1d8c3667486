//! Bytes and field elements: one spelling for one value.

use ark_bn254::Fr;
use ark_ff::{BigInteger, PrimeField};

/// The two 128-bit halves of 32 bytes, the first half first, each a big-endian number: injective,
/// without a reduction.
pub(crate) fn halves(bytes: &[u8; 32]) -> [Fr; 2] {
    let value = u256(bytes);
    [Fr::from(value[0]), Fr::from(value[1])]
}

fn u256(bytes: &[u8; 32]) -> [u128; 2] {
    let half = |at: usize| {
        let mut out = [0; 16];
        out.copy_from_slice(&bytes[at..at + 16]);
        u128::from_be_bytes(out)
    };
    [half(0), half(16)]
}

/// A field element as 32 bytes, big-endian.
pub(crate) fn to_bytes(value: Fr) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(&value.into_bigint().to_bytes_be());
    out
}

/// The element of 32 big-endian bytes; `None` for a number that is not below the order, which would
/// be a second spelling.
pub(crate) fn from_bytes(bytes: &[u8; 32]) -> Option<Fr> {
    let value = Fr::from_be_bytes_mod_order(bytes);
    (to_bytes(value) == *bytes).then_some(value)
}

/// A uniform element, from the system's generator.
pub(crate) fn random() -> Fr {
    let mut bytes = [0; 48];
    signet_crypto::random::fill_system(&mut bytes);
    Fr::from_be_bytes_mod_order(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_above_the_order_is_no_element() {
        let order = Fr::MODULUS.to_bytes_be();
        let mut bytes: [u8; 32] = order.try_into().unwrap();
        assert!(from_bytes(&bytes).is_none());
        bytes[31] -= 1;
        assert_eq!(to_bytes(from_bytes(&bytes).unwrap()), bytes);
        assert!(from_bytes(&[0xff; 32]).is_none());
    }

    #[test]
    fn halves_are_injective() {
        let mut bytes = [0; 32];
        bytes[15] = 1;
        assert_eq!(halves(&bytes), [Fr::from(1), Fr::from(0)]);
        bytes[31] = 2;
        assert_eq!(halves(&bytes), [Fr::from(1), Fr::from(2)]);
        assert_ne!(halves(&[0xff; 32]), halves(&[0xfe; 32]));
    }
}

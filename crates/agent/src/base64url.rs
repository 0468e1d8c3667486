//! Base64url without padding (RFC 4648 section 5): the text form of ids, hashes, keys and
//! signatures.
//!
//! Strict: one value has one text. What is wrong with another one, this crate's refusals say.

use crate::error::{Refusal, Result};
use signet_encoding::base64url;

pub use signet_encoding::base64url::encode;

/// The data of `text`.
///
/// # Errors
/// [`Refusal::Malformed`] for other characters, padding, impossible lengths;
/// [`Refusal::NotCanonical`] for unused bits that are not zero.
pub fn decode(text: &str) -> Result<Vec<u8>> {
    let text = text.as_bytes();
    base64url::decode(text).map_err(|_| match base64url::is_well_formed(text) {
        true => Refusal::NotCanonical,
        false => Refusal::Malformed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_reads_back() {
        for len in 0..70_u8 {
            let data: Vec<u8> = (0..len).map(|i| i.wrapping_mul(37)).collect();
            assert_eq!(decode(&encode(&data)), Ok(data));
        }
        assert_eq!(encode(&[0xfb, 0xff, 0xfe]), "-__-");
    }

    #[test]
    fn one_value_has_one_text() {
        for bad in [
            "A", "AAAAA", "AB", "AAB", "AA==", "A+AA", "A/AA", "AA AA", "\u{e9}A",
        ] {
            assert!(decode(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_refusal_says_what_is_wrong() {
        for bad in ["AB", "AAB", "AAAAAB"] {
            assert_eq!(decode(bad), Err(Refusal::NotCanonical), "{bad}");
        }
        for bad in ["A", "AAAAA", "AA==", "A+AA", "AB=", "*AB", "\u{e9}A"] {
            assert_eq!(decode(bad), Err(Refusal::Malformed), "{bad}");
        }
    }
}

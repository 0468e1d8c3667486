//! Base64url without padding (RFC 4648 section 5): the text form of ids, hashes, keys and
//! signatures.
//!
//! Strict: one value has one text. The JOSE crate has its own; this one stands alone on the same
//! floor.

use crate::error::{Refusal, Result};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The text of `data`.
pub fn encode(data: &[u8]) -> String {
    let mut out = String::with_capacity(data.len().div_ceil(3) * 4);
    for chunk in data.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..=chunk.len() {
            // Six bits: within the alphabet.
            out.push(char::from(ALPHABET[(group >> (18 - 6 * i) & 63) as usize]));
        }
    }
    out
}

/// The data of `text`.
///
/// # Errors
/// [`Refusal::Malformed`] for other characters, padding, impossible lengths;
/// [`Refusal::NotCanonical`] for unused bits that are not zero.
pub fn decode(text: &str) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for chunk in text.as_bytes().chunks(4) {
        let mut group = 0_u32;
        for byte in chunk {
            let six = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'-' => 62,
                b'_' => 63,
                _ => return Err(Refusal::Malformed),
            };
            group = group << 6 | u32::from(six);
        }
        group <<= 6 * (4 - chunk.len());
        let [_, a, b, c] = group.to_be_bytes();
        match chunk.len() {
            4 => out.extend_from_slice(&[a, b, c]),
            3 if c == 0 => out.extend_from_slice(&[a, b]),
            2 if b == 0 && c == 0 => out.push(a),
            1 => return Err(Refusal::Malformed),
            _ => return Err(Refusal::NotCanonical),
        }
    }
    Ok(out)
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
}

//! RFC 4648 section 5 without padding: the one canonical encoding.
//!
//! Two texts never decode to the same bytes: padding, white space, the `+/` alphabet and set trailing bits are all
//! refused. That is what makes a token's text an identity (known faults V6: a deny list by token string must not be
//! by-passed by another spelling of the signature).
//!
//! Decoding uses a lookup table and is not constant-time; it is meant for values that the peer knows already.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const ALPHABET_STANDARD: &[u8; 64] =
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// What a character is worth; 0xff where it is not in the alphabet. A valid value is below 64, so that the
/// bitwise or of many values has its top bit set exactly when one of them is invalid.
const fn values(alphabet: &[u8; 64]) -> [u8; 256] {
    let mut table = [0xff; 256];
    let mut i = 0;
    while i < 64 {
        table[alphabet[i] as usize] = i as u8;
        i += 1;
    }
    table
}
static VALUES: [u8; 256] = values(ALPHABET);
static VALUES_STANDARD: [u8; 256] = values(ALPHABET_STANDARD);

/// The text is not the canonical encoding of any bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not canonical base64url")]
pub struct NotCanonical;

/// Characters that `bytes` bytes take.
pub const fn encoded_len(bytes: usize) -> usize {
    bytes / 3 * 4 + [0, 2, 3][bytes % 3]
}

/// Bytes that `characters` characters give; None where no encoding has that length.
pub const fn decoded_len(characters: usize) -> Option<usize> {
    match characters % 4 {
        0 => Some(characters / 4 * 3),
        2 => Some(characters / 4 * 3 + 1),
        3 => Some(characters / 4 * 3 + 2),
        _ => None,
    }
}

/// The encoding of `data`.
pub fn encode(data: &[u8]) -> String {
    let mut out = Vec::with_capacity(encoded_len(data.len()));
    encode_into(data, &mut out);
    // Invariant: only characters of ALPHABET were written.
    String::from_utf8(out).expect("the alphabet is ASCII")
}

/// Appends the encoding of `data` to `out`.
pub fn encode_into(data: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + encoded_len(data.len()), 0);
    let target = &mut out[start..];

    let (sixes, rest) = data.as_chunks::<6>();
    let (eights, tail) = target.split_at_mut(sixes.len() * 8);
    for (six, eight) in sixes.iter().zip(eights.as_chunks_mut::<8>().0) {
        *eight = encode_six(six);
    }

    let mut group = [0; 6];
    group[..rest.len()].copy_from_slice(rest);
    tail.copy_from_slice(&encode_six(&group)[..tail.len()]);
}

/// Six bytes to eight characters in one register, no table: eight lanes of a `u64`, one character each.
#[inline]
fn encode_six(six: &[u8; 6]) -> [u8; 8] {
    const LANES: u64 = 0x0101_0101_0101_0101;
    let [a, b, c, d, e, f] = *six;
    let x = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
    // 48 bits -> 2 x 24 -> 4 x 12 -> 8 x 6, each in the low bits of its lane.
    let x = (x & 0x0000_ffff_ff00_0000) << 8 | (x & 0x0000_0000_00ff_ffff);
    let x = (x & 0x00ff_f000_00ff_f000) << 4 | (x & 0x0000_0fff_0000_0fff);
    let x = (x & 0x0fc0_0fc0_0fc0_0fc0) << 2 | (x & 0x003f_003f_003f_003f);
    // 1 in every lane whose value is at least `bound`: values are below 64, so the sum carries into bit 7 only.
    let at_least = |bound: u64| ((x + LANES * (128 - bound)) >> 7) & LANES;
    // 'A' + v, and the distance to the next run of the alphabet at each of its four borders.
    let up = x + LANES * 65 + at_least(26) * 6;
    let down = at_least(52) * 75 + at_least(62) * 13;
    (up - down + at_least(63) * 49).to_be_bytes()
}

/// The bytes that `text` encodes.
pub fn decode(text: &[u8]) -> Result<Vec<u8>, NotCanonical> {
    let mut out = Vec::new();
    decode_into(text, &mut out)?;
    Ok(out)
}

/// Appends the bytes that `text` encodes to `out`, which is left as it was on an error.
pub fn decode_into(text: &[u8], out: &mut Vec<u8>) -> Result<(), NotCanonical> {
    let length = decoded_len(text.len()).ok_or(NotCanonical)?;
    let start = out.len();
    out.resize(start + length, 0);
    let decoded = decode_exactly(&VALUES, text, &mut out[start..]);
    if decoded.is_err() {
        out.truncate(start);
    }
    decoded
}

/// Decodes a value whose length is fixed: coordinates, hashes, identifiers.
pub fn decode_array<const N: usize>(text: &[u8]) -> Result<[u8; N], NotCanonical> {
    let mut out = [0; N];
    if decoded_len(text.len()) != Some(N) {
        return Err(NotCanonical);
    }
    decode_exactly(&VALUES, text, &mut out)?;
    Ok(out)
}

/// Canonical base64 of RFC 4648 section 4, with padding: JOSE uses it in `x5c` alone (RFC 7517 section 4.7).
pub fn decode_standard(text: &[u8]) -> Result<Vec<u8>, NotCanonical> {
    if !text.len().is_multiple_of(4) {
        return Err(NotCanonical);
    }
    let text = match text {
        [head @ .., b'=', b'='] | [head @ .., b'='] => head,
        all => all,
    };
    let mut out = vec![0; decoded_len(text.len()).ok_or(NotCanonical)?];
    decode_exactly(&VALUES_STANDARD, text, &mut out)?;
    Ok(out)
}

/// Appends base64 of RFC 4648 section 4, with padding.
pub fn encode_standard_into(data: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    encode_into(data, out);
    for character in &mut out[start..] {
        match character {
            b'-' => *character = b'+',
            b'_' => *character = b'/',
            _ => {}
        }
    }
    while !(out.len() - start).is_multiple_of(4) {
        out.push(b'=');
    }
}

/// `out` has the decoded length of `text`.
fn decode_exactly(values: &[u8; 256], text: &[u8], out: &mut [u8]) -> Result<(), NotCanonical> {
    let (fours, rest) = text.as_chunks::<4>();
    let (threes, tail) = out.split_at_mut(fours.len() * 3);
    let mut seen = 0;
    for (four, three) in fours.iter().zip(threes.as_chunks_mut::<3>().0) {
        let [a, b, c, d] = four.map(|character| values[character as usize]);
        seen |= a | b | c | d;
        *three = [a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d];
    }
    let spare = match (rest, tail) {
        ([], []) => 0,
        (&[a, b], [first]) => {
            let [a, b] = [a, b].map(|character| values[character as usize]);
            seen |= a | b;
            *first = a << 2 | b >> 4;
            b & 0x0f
        }
        (&[a, b, c], [first, second]) => {
            let [a, b, c] = [a, b, c].map(|character| values[character as usize]);
            seen |= a | b | c;
            *first = a << 2 | b >> 4;
            *second = b << 4 | c >> 2;
            c & 0x03
        }
        _ => return Err(NotCanonical),
    };
    // RFC 4648 section 3.5: bits that no byte uses are zero, or the text is one of several for the same bytes.
    if seen & 0x80 != 0 || spare != 0 {
        return Err(NotCanonical);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_4648_section_10_examples_without_padding() {
        for (data, text) in [
            ("", ""),
            ("f", "Zg"),
            ("fo", "Zm8"),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg"),
            ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(data.as_bytes()), text);
            assert_eq!(decode(text.as_bytes()).unwrap(), data.as_bytes());
        }
    }

    #[test]
    fn every_value_maps_to_its_character() {
        for value in 0..64u8 {
            let text = encode(&[value << 2, 0, 0]);
            assert_eq!(text.as_bytes()[0], ALPHABET[value as usize]);
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(encode(&all).as_bytes()).unwrap(), all);
    }

    #[test]
    fn only_one_text_decodes_to_given_bytes() {
        for text in [
            "Zg=", "Zg==", "Zh", "Zm9=", "Zm9", "Z", "Zm9vY", " Zg", "Zg\n", "Zg.", "+_8", "/_8",
            "Zm 9", "Zg\0", "\u{e9}A",
        ] {
            assert_eq!(decode(text.as_bytes()), Err(NotCanonical), "{text:?}");
        }
        // Of the 4096 two-character texts, exactly 256 are encodings: one for each byte.
        let mut accepted = 0;
        for a in ALPHABET {
            for b in ALPHABET {
                accepted += usize::from(decode(&[*a, *b]).is_ok());
            }
        }
        assert_eq!(accepted, 256);
    }

    #[test]
    fn a_refused_text_leaves_the_buffer_as_it_was() {
        let mut out = b"before".to_vec();
        assert!(decode_into(b"AAA*", &mut out).is_err());
        assert_eq!(out, b"before");
    }

    #[test]
    fn a_fixed_length_is_exact() {
        assert_eq!(decode_array::<3>(b"Zm9v"), Ok(*b"foo"));
        assert_eq!(decode_array::<2>(b"Zm9v"), Err(NotCanonical));
        assert_eq!(decode_array::<4>(b"Zm9v"), Err(NotCanonical));
    }

    #[test]
    fn standard_base64_is_padded_and_canonical() {
        assert_eq!(decode_standard(b"Zg==").unwrap(), b"f");
        assert_eq!(decode_standard(b"+/8=").unwrap(), [0xfb, 0xff]);
        for text in ["Zg", "Zg=", "Zh==", "Z===", "====", "Zm9v=", "-_8="] {
            assert!(decode_standard(text.as_bytes()).is_err(), "{text:?}");
        }
        let mut out = Vec::new();
        encode_standard_into(&[0xfb, 0xff], &mut out);
        assert_eq!(out, b"+/8=");
    }
}

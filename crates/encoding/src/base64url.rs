//! RFC 4648 section 5 without padding: the one canonical encoding.
//!
//! Two texts never decode to the same bytes: padding, white space, the `+/` alphabet and set
//! trailing bits are all refused. That is what makes a token's text an identity (known faults V6: a
//! deny list by token string must not be by-passed by another spelling of the signature).
//!
//! Decoding uses a lookup table and is not constant-time; it is meant for values that the peer
//! knows already.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const ALPHABET_STANDARD: &[u8; 64] =
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// What a character is worth; 0xff where it is not in the alphabet. A valid value is below 64, so
/// that the bitwise or of many values has its top bit set exactly when one of them is invalid.
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

    let (blocks, rest) = data.as_chunks::<24>();
    let (characters, tail) = target.split_at_mut(blocks.len() * 32);
    for (block, characters) in blocks.iter().zip(characters.as_chunks_mut::<32>().0) {
        *characters = encode_block(block);
    }
    let mut block = [0; 24];
    block[..rest.len()].copy_from_slice(rest);
    tail.copy_from_slice(&encode_block(&block)[..tail.len()]);
}

/// 24 bytes to 32 characters: each 6 bytes spread over the lanes of a register, then every lane
/// mapped to the alphabet by arithmetic alone, which the compiler turns into vector instructions.
/// No table.
#[inline]
fn encode_block(block: &[u8; 24]) -> [u8; 32] {
    let mut lanes = [0; 32];
    for (six, eight) in block
        .as_chunks::<6>()
        .0
        .iter()
        .zip(lanes.as_chunks_mut::<8>().0)
    {
        let [a, b, c, d, e, f] = *six;
        let x = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        // 48 bits -> 2 x 24 -> 4 x 12 -> 8 x 6, each in the low bits of its lane.
        let x = (x & 0x0000_ffff_ff00_0000) << 8 | (x & 0x0000_0000_00ff_ffff);
        let x = (x & 0x00ff_f000_00ff_f000) << 4 | (x & 0x0000_0fff_0000_0fff);
        let x = (x & 0x0fc0_0fc0_0fc0_0fc0) << 2 | (x & 0x003f_003f_003f_003f);
        *eight = x.to_be_bytes();
    }
    for lane in &mut lanes {
        // 'A' plus the value, and the distance to the next run of the alphabet at each of its four
        // borders.
        let value = *lane;
        let at_least = |border: u8, distance: u8| if value >= border { distance } else { 0 };
        *lane = (value + b'A' + at_least(26, 6))
            .wrapping_sub(at_least(52, 75))
            .wrapping_sub(at_least(62, 13))
            .wrapping_add(at_least(63, 49));
    }
    lanes
}

/// Whether `text` is only characters of the alphabet, and as many as an encoding has: one that is
/// refused all the same has trailing bits that are set (RFC 4648 section 3.5).
pub fn is_well_formed(text: &[u8]) -> bool {
    let values = text.iter().map(|byte| VALUES[usize::from(*byte)]);
    decoded_len(text.len()).is_some() && values.fold(0, |seen, value| seen | value) & 0x80 == 0
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
    let decoded = decode_url(text, &mut out[start..]);
    if decoded.is_err() {
        out.truncate(start);
    }
    decoded
}

/// Decodes to the front of `out` and gives that part: for buffers on the stack. A text that does
/// not fit is refused.
pub fn decode_in<'o>(text: &[u8], out: &'o mut [u8]) -> Result<&'o [u8], NotCanonical> {
    let length = decoded_len(text.len()).ok_or(NotCanonical)?;
    let out = out.get_mut(..length).ok_or(NotCanonical)?;
    decode_url(text, out)?;
    Ok(out)
}

/// Decodes a value whose length is fixed: coordinates, hashes, identifiers.
pub fn decode_array<const N: usize>(text: &[u8]) -> Result<[u8; N], NotCanonical> {
    let mut out = [0; N];
    if decoded_len(text.len()) != Some(N) {
        return Err(NotCanonical);
    }
    decode_url(text, &mut out)?;
    Ok(out)
}

/// Canonical base64 of RFC 4648 section 4, with padding: JOSE uses it in `x5c` alone (RFC 7517
/// section 4.7).
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
fn decode_url(text: &[u8], out: &mut [u8]) -> Result<(), NotCanonical> {
    let (blocks, rest) = text.as_chunks::<32>();
    let (bytes, tail) = out.split_at_mut(blocks.len() * 24);
    let mut seen = 0;
    for (block, bytes) in blocks.iter().zip(bytes.as_chunks_mut::<24>().0) {
        seen |= decode_block(block, bytes);
    }
    if seen & 0x80 != 0 {
        return Err(NotCanonical);
    }
    decode_exactly(&VALUES, rest, tail)
}

/// 32 characters to 24 bytes, the other way round. Gives the bitwise or of the values: its top bit
/// is set exactly when a character was not in the alphabet.
#[inline]
fn decode_block(block: &[u8; 32], bytes: &mut [u8; 24]) -> u8 {
    let mut lanes = *block;
    let mut seen = 0;
    for lane in &mut lanes {
        let character = *lane;
        let run = |first: u8, length: u8| character.wrapping_sub(first) < length;
        let mut value = 0xff;
        value = if run(b'A', 26) {
            character.wrapping_sub(b'A')
        } else {
            value
        };
        value = if run(b'a', 26) {
            character.wrapping_sub(b'a' - 26)
        } else {
            value
        };
        value = if run(b'0', 10) {
            character.wrapping_add(52 - b'0')
        } else {
            value
        };
        value = if character == b'-' { 62 } else { value };
        value = if character == b'_' { 63 } else { value };
        *lane = value;
        seen |= value;
    }
    for (eight, six) in lanes
        .as_chunks::<8>()
        .0
        .iter()
        .zip(bytes.as_chunks_mut::<6>().0)
    {
        // 8 x 6 -> 4 x 12 -> 2 x 24 -> 48 bits. Invalid lanes give rubbish, which is never used.
        let x = u64::from_be_bytes(*eight);
        let x = (x >> 2 & 0x0fc0_0fc0_0fc0_0fc0) | (x & 0x003f_003f_003f_003f);
        let x = (x >> 4 & 0x00ff_f000_00ff_f000) | (x & 0x0000_0fff_0000_0fff);
        let x = (x >> 8 & 0x0000_ffff_ff00_0000) | (x & 0x0000_0000_00ff_ffff);
        six.copy_from_slice(&x.to_be_bytes()[2..]);
    }
    seen
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
    // RFC 4648 section 3.5: bits that no byte uses are zero, or the text is one of several for the
    // same bytes.
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
    fn what_is_well_formed_and_refused_has_trailing_bits_set() {
        for text in ["Zh", "Zm9", "AAAAZh"] {
            assert!(is_well_formed(text.as_bytes()), "{text}");
            assert_eq!(decode(text.as_bytes()), Err(NotCanonical), "{text}");
        }
        for text in ["Zg=", "Zg==", "Z", "Zm9vY", " Zg", "+_8", "Zm 9", "\u{e9}A"] {
            assert!(!is_well_formed(text.as_bytes()), "{text}");
        }
        assert!(is_well_formed(b"") && is_well_formed(b"Zm9v"));
    }

    #[test]
    fn a_character_outside_the_alphabet_is_refused_wherever_it_stands() {
        let text = [b'A'; 72];
        for at in 0..text.len() {
            for byte in 0..=255 {
                let mut text = text;
                text[at] = byte;
                assert_eq!(
                    decode(&text).is_ok(),
                    ALPHABET.contains(&byte),
                    "{byte} at {at}"
                );
            }
        }
    }

    #[test]
    fn blocks_and_tails_agree() {
        let data: Vec<u8> = (0..200u8).map(|byte| byte.wrapping_mul(151)).collect();
        for length in 0..data.len() {
            let text = encode(&data[..length]);
            let by_table: String = (0..text.len())
                .map(|at| {
                    let bit = at * 6;
                    let two =
                        |index: usize| u16::from(data[..length].get(index).copied().unwrap_or(0));
                    let pair = two(bit / 8) << 8 | two(bit / 8 + 1);
                    char::from(ALPHABET[usize::from(pair >> (10 - bit % 8) & 63)])
                })
                .collect();
            assert_eq!(text, by_table);
            assert_eq!(decode(text.as_bytes()).unwrap(), &data[..length]);
        }
    }

    #[test]
    fn a_refused_text_leaves_the_buffer_as_it_was() {
        let mut out = b"before".to_vec();
        assert!(decode_into(b"AAA*", &mut out).is_err());
        assert_eq!(out, b"before");
    }

    #[test]
    fn a_buffer_takes_what_fits() {
        let mut out = [0; 4];
        assert_eq!(decode_in(b"Zm9v", &mut out), Ok(&b"foo"[..]));
        assert_eq!(decode_in(b"Zm9vYmFy", &mut out), Err(NotCanonical));
        assert_eq!(decode_in(b"Zh", &mut out), Err(NotCanonical));
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

//! The inside of strings: where they end, what their escapes mean, how they are written.

use super::error::JsonError;
use std::borrow::Cow;

const LANES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;

/// True for a byte that cannot stand in a string as it is.
#[inline]
pub(super) fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// How many bytes at the front of `text` are none of `"`, `\` and the control characters. Eight at
/// a time.
#[inline]
pub fn plain_prefix(text: &[u8]) -> usize {
    let (words, rest) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let quote = word ^ (LANES * b'"' as u64);
        let backslash = word ^ (LANES * b'\\' as u64);
        // Bit 7 of the lowest lane that matches is right; a borrow may only disturb lanes above it.
        let special = (quote.wrapping_sub(LANES) & !quote)
            | (backslash.wrapping_sub(LANES) & !backslash)
            | (word.wrapping_sub(LANES * 0x20) & !word);
        let special = special & TOPS;
        if special != 0 {
            return index * 8 + (special.trailing_zeros() / 8) as usize;
        }
    }
    let start = words.len() * 8;
    start
        + rest
            .iter()
            .position(|byte| is_special(*byte))
            .unwrap_or(rest.len())
}

/// Reads a string whose opening quote is at `start - 1`; gives it and the offset behind its closing
/// quote. Borrowed unless an escape occurs.
pub(super) fn read(text: &str, start: usize) -> Result<(Cow<'_, str>, usize), JsonError> {
    let bytes = text.as_bytes();
    let end = start + plain_prefix(&bytes[start..]);
    match bytes.get(end) {
        // Invariant: a quote is one ASCII byte, so both ends are character boundaries.
        Some(b'"') => Ok((Cow::Borrowed(&text[start..end]), end + 1)),
        Some(b'\\') => read_escaped(text, start, end),
        _ => Err(JsonError::Malformed(end)),
    }
}

#[cold]
fn read_escaped(
    text: &str,
    start: usize,
    mut at: usize,
) -> Result<(Cow<'_, str>, usize), JsonError> {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(at - start + 16);
    let mut copied = start;
    loop {
        out.push_str(&text[copied..at]);
        match bytes.get(at) {
            Some(b'"') => return Ok((Cow::Owned(out), at + 1)),
            Some(b'\\') => {}
            _ => return Err(JsonError::Malformed(at)),
        }
        let (character, length) = escape(&bytes[at..]).ok_or(JsonError::Malformed(at))?;
        out.push(character);
        copied = at + length;
        at = copied + plain_prefix(&bytes[copied..]);
    }
}

/// The character of the escape at the front of `bytes`, and its length. None for a lone surrogate
/// (RFC 8259 section 8.2 leaves their meaning open; RFC 7493 section 2.1 forbids them).
fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    let character = match bytes.get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let first = hex4(bytes.get(2..6)?)?;
            return match first {
                0xd800..=0xdbff => {
                    let second = match bytes.get(6..8)? {
                        b"\\u" => hex4(bytes.get(8..12)?)?,
                        _ => return None,
                    };
                    let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                    Some((
                        char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + low)?,
                        12,
                    ))
                }
                _ => Some((char::from_u32(first)?, 6)),
            };
        }
        _ => return None,
    };
    Some((character, 2))
}

fn hex4(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |sum, digit| {
        Some(sum << 4 | char::from(*digit).to_digit(16)?)
    })
}

/// Appends `value` as a string literal. Only what must be escaped is.
pub(super) fn write(value: &str, out: &mut Vec<u8>) {
    let bytes = value.as_bytes();
    out.push(b'"');
    let mut start = 0;
    loop {
        let end = start + plain_prefix(&bytes[start..]);
        out.extend_from_slice(&bytes[start..end]);
        let Some(byte) = bytes.get(end) else { break };
        let short = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            0x08 => b'b',
            0x0c => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            _ => 0,
        };
        if short == 0 {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        } else {
            out.extend_from_slice(&[b'\\', short]);
        }
        start = end + 1;
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_prefix_ends_at_the_first_special_byte_wherever_it_is() {
        for special in [b'"', b'\\', 0, 0x1f, b'\n'] {
            for length in 0..40 {
                // 0x20, 0x7f and bytes above 0x7f are plain; they sit beside the borders that the
                // lanes compare.
                let mut text: Vec<u8> =
                    [0x20, 0x7f, 0x80, 0xff, b'!', b'#', b'[', b']', 0xa2, 0xdc]
                        .into_iter()
                        .cycle()
                        .take(length)
                        .collect();
                assert_eq!(plain_prefix(&text), length);
                text.push(special);
                text.extend_from_slice(b"\"\\\0 tail of the text");
                assert_eq!(plain_prefix(&text), length, "{special}");
            }
        }
    }
}

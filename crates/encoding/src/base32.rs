//! Base32 (RFC 4648 section 6) without padding: how secrets of code apps are written.

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The text of some bytes.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity((bytes.len() * 8).div_ceil(5));
    let (mut bits, mut held) = (0u32, 0u32);
    for byte in bytes {
        bits = (bits << 8) | u32::from(*byte);
        held += 8;
        while held >= 5 {
            held -= 5;
            text.push(char::from(ALPHABET[(bits >> held) as usize & 31]));
        }
    }
    if held > 0 {
        text.push(char::from(ALPHABET[(bits << (5 - held)) as usize & 31]));
    }
    text
}

/// The bytes of a text as people and other servers write it: in either case, with spaces and
/// hyphens between groups, padded or not. None: it is no base32.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end().trim_end_matches('=');
    let mut out = Vec::with_capacity(text.len() * 5 / 8);
    let (mut bits, mut held) = (0u32, 0u32);
    for c in text.bytes().filter(|c| !matches!(c, b' ' | b'-')) {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a',
            b'2'..=b'7' => c - b'2' + 26,
            _ => return None,
        };
        bits = (bits << 5) | u32::from(value);
        held += 5;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    // A rest of five bits or more is a letter too many; what is left over is nothing.
    (held < 5 && bits == 0).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_the_rfc_without_their_padding() {
        for (bytes, text) in [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
    }

    #[test]
    fn case_spaces_and_padding_say_nothing_and_other_characters_are_refused() {
        assert_eq!(
            decode("mzxw 6ytb-oi======").as_deref(),
            Some(&b"foobar"[..])
        );
        for bad in ["MZXW6YTB0I", "M", "MZ", "MZXW6YTBOI1", "ü"] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }
}

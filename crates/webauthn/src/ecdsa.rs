//! An ECDSA signature of P-256: authenticators write DER (RFC 3279 section 2.2.3), JOSE two numbers
//! of fixed length.

/// Both numbers, 32 bytes each. None: not DER, a second way to write a number, or one that is zero,
/// negative or too long.
pub(crate) fn from_der(der: &[u8]) -> Option<[u8; 64]> {
    // Two numbers of at most 33 bytes and their heads: every length is one byte.
    let (head, body) = der.split_first_chunk::<2>()?;
    if head[0] != 0x30 || usize::from(head[1]) != body.len() || head[1] >= 0x80 {
        return None;
    }
    let (r, rest) = number(body)?;
    let (s, rest) = number(rest)?;
    if !rest.is_empty() {
        return None;
    }
    let mut fixed = [0; 64];
    fixed[32 - r.len()..32].copy_from_slice(r);
    fixed[64 - s.len()..].copy_from_slice(s);
    Some(fixed)
}

/// An INTEGER above zero, of 32 bytes at most.
fn number(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (head, rest) = data.split_first_chunk::<2>()?;
    if head[0] != 0x02 || head[1] >= 0x80 {
        return None;
    }
    let (value, rest) = rest.split_at_checked(usize::from(head[1]))?;
    let value = match value {
        // A zero in front only where the number would be negative without it (X.690 section 8.3.2).
        [0, tail @ ..] if tail.first().is_some_and(|first| *first >= 0x80) => tail,
        [first, ..] if (1..0x80).contains(first) => value,
        _ => return None,
    };
    (value.len() <= 32).then_some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_numbers_are_padded_to_their_places() {
        let fixed = from_der(&[0x30, 7, 2, 1, 5, 2, 2, 0, 0x80]).expect("DER");
        assert_eq!((fixed[31], fixed[63]), (5, 0x80));
        assert_eq!(fixed.iter().filter(|byte| **byte != 0).count(), 2);
    }

    #[test]
    fn other_writings_are_refused() {
        let hostile: [&[u8]; 10] = [
            &[],
            &[0x30, 0],
            &[0x31, 6, 2, 1, 5, 2, 1, 5],
            // Bytes after the end, outside and inside.
            &[0x30, 6, 2, 1, 5, 2, 1, 5, 0],
            &[0x30, 7, 2, 1, 5, 2, 1, 5, 0],
            // A long length.
            &[0x30, 0x81, 6, 2, 1, 5, 2, 1, 5],
            // Zero, negative, and a zero too many.
            &[0x30, 6, 2, 1, 0, 2, 1, 5],
            &[0x30, 6, 2, 1, 0x80, 2, 1, 5],
            &[0x30, 7, 2, 2, 0, 5, 2, 1, 5],
            &[0x30, 5, 2, 0, 2, 1, 5],
        ];
        for der in hostile {
            assert_eq!(from_der(der), None, "{der:?}");
        }
        let mut long = vec![0x30, 38, 2, 33];
        long.extend([1; 33]);
        long.extend([2, 1, 5]);
        assert_eq!(from_der(&long), None);
    }
}

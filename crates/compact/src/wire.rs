//! Canonical proto3: the part of the protobuf wire format that these messages need, with one spelling for each value.

use crate::Refusal;

/// Wire types; groups and fixed-width fields do not occur.
const VARINT: u64 = 0;
const LENGTH: u64 = 2;

/// Reads fields in ascending order from borrowed bytes.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    last: u32,
}

/// A field's value.
#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader {
            rest: bytes,
            last: 0,
        }
    }

    /// The next field: its number never falls, and repeats only where the caller's message has it `repeated`.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<(u32, Value<'a>)>, Refusal> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let field = u32::try_from(tag >> 3).map_err(|_| Refusal::NotCanonical)?;
        if field == 0 || field < self.last {
            return Err(Refusal::NotCanonical);
        }
        self.last = field;
        let value = match tag & 7 {
            VARINT => {
                let number = self.varint()?;
                // proto3: a default value is not written.
                if number == 0 {
                    return Err(Refusal::NotCanonical);
                }
                Value::Number(number)
            }
            LENGTH => {
                let length = usize::try_from(self.varint()?).map_err(|_| Refusal::NotCanonical)?;
                if length > self.rest.len() {
                    return Err(Refusal::NotCanonical);
                }
                let (value, rest) = self.rest.split_at(length);
                self.rest = rest;
                Value::Bytes(value)
            }
            _ => return Err(Refusal::NotCanonical),
        };
        Ok(Some((field, value)))
    }

    /// What has not been read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, Refusal> {
        let mut value = 0_u64;
        for (i, &byte) in self.rest.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte & 0x80 == 0 {
                // A last byte of zero is a longer spelling; the tenth byte holds one bit of a u64.
                if (byte == 0 && i > 0) || (i == 9 && byte > 1) {
                    return Err(Refusal::NotCanonical);
                }
                self.rest = &self.rest[i + 1..];
                return Ok(value);
            }
        }
        Err(Refusal::NotCanonical)
    }
}

impl<'a> Value<'a> {
    pub(crate) fn number(self) -> Result<u64, Refusal> {
        match self {
            Value::Number(number) => Ok(number),
            Value::Bytes(_) => Err(Refusal::NotCanonical),
        }
    }

    pub(crate) fn small(self) -> Result<u32, Refusal> {
        u32::try_from(self.number()?).map_err(|_| Refusal::NotCanonical)
    }

    /// Never empty: an empty field is not written, and no repeated field here may hold an empty element.
    pub(crate) fn bytes(self) -> Result<&'a [u8], Refusal> {
        match self {
            Value::Bytes(bytes) if !bytes.is_empty() => Ok(bytes),
            _ => Err(Refusal::NotCanonical),
        }
    }

    pub(crate) fn text(self, max: usize) -> Result<&'a str, Refusal> {
        let bytes = self.bytes()?;
        if bytes.len() > max {
            return Err(Refusal::Bounds);
        }
        std::str::from_utf8(bytes).map_err(|_| Refusal::NotCanonical)
    }
}

/// Bytes that `value` takes as a varint.
#[inline]
pub(crate) fn varint_len(value: u64) -> usize {
    ((64 - (value | 1).leading_zeros()) as usize).div_ceil(7)
}

#[inline]
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value as u8) | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Bytes that a number field takes; nothing for the default. Field numbers are below 16: one byte of tag.
#[inline]
pub(crate) fn number_len(value: u64) -> usize {
    if value == 0 { 0 } else { 1 + varint_len(value) }
}

/// Bytes that a length-delimited field takes; nothing for the default.
#[inline]
pub(crate) fn bytes_len(length: usize) -> usize {
    if length == 0 {
        0
    } else {
        1 + varint_len(length as u64) + length
    }
}

#[inline]
pub(crate) fn put_number(out: &mut Vec<u8>, field: u8, value: u64) {
    if value != 0 {
        out.push(field << 3);
        put_varint(out, value);
    }
}

#[inline]
pub(crate) fn put_bytes(out: &mut Vec<u8>, field: u8, value: &[u8]) {
    if !value.is_empty() {
        put_head(out, field, value.len());
        out.extend_from_slice(value);
    }
}

/// Tag and length of a field whose `length` bytes follow.
#[inline]
pub(crate) fn put_head(out: &mut Vec<u8>, field: u8, length: usize) {
    out.push((field << 3) | LENGTH as u8);
    put_varint(out, length as u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_have_one_spelling() {
        for value in [
            1,
            127,
            128,
            300,
            16_383,
            16_384,
            u64::from(u32::MAX),
            u64::MAX - 1,
            u64::MAX,
        ] {
            let mut out = Vec::new();
            put_number(&mut out, 5, value);
            assert_eq!(out.len(), number_len(value));
            let mut reader = Reader::new(&out);
            let (field, read) = reader.next().unwrap().unwrap();
            assert_eq!((field, read.number().unwrap()), (5, value));
            assert!(reader.next().unwrap().is_none());
            // The same value with one more, empty group of bits.
            let last = out.len() - 1;
            let mut longer = out.clone();
            longer[last] |= 0x80;
            longer.push(0);
            assert!(Reader::new(&longer).next().is_err());
        }
        // Eleven bytes, and ten whose last overflows.
        assert!(
            Reader::new(&[
                0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02
            ])
            .next()
            .is_err()
        );
        assert!(
            Reader::new(&[
                0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01
            ])
            .next()
            .is_err()
        );
    }

    #[test]
    fn defaults_groups_fixed_fields_and_overlong_lengths_are_refused() {
        for bytes in [
            &[0x28, 0x00][..],                     // an explicit zero
            &[0x2b],                               // a group
            &[0x2d, 1, 2, 3, 4],                   // fixed 32
            &[0x29, 1, 2, 3, 4, 5, 6, 7, 8],       // fixed 64
            &[0x00, 0x01],                         // field 0
            &[0x42, 0x05, b'a'],                   // longer than what is there
            &[0x42, 0xff, 0xff, 0xff, 0xff, 0x0f], // much longer
            &[0x80],                               // cut in the tag
        ] {
            assert!(Reader::new(bytes).next().is_err(), "{bytes:02x?}");
        }
    }
}

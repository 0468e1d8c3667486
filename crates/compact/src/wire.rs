//! Canonical proto3: the part of the protobuf wire format that these messages need, with one
//! spelling for each value.

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

    /// The next field: its number never falls, and repeats only where the caller's message has it
    /// `repeated`.
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

    #[inline]
    fn varint(&mut self) -> Result<u64, Refusal> {
        varint(&mut self.rest)
    }
}

/// Takes a varint from the front of `rest`.
#[inline(always)]
fn varint(rest: &mut &[u8]) -> Result<u64, Refusal> {
    match *rest {
        [byte @ 0..=0x7f, behind @ ..] => {
            *rest = behind;
            Ok(u64::from(*byte))
        }
        _ => long_varint(rest),
    }
}

fn long_varint(rest: &mut &[u8]) -> Result<u64, Refusal> {
    let mut value = 0_u64;
    for (i, &byte) in rest.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            // A last byte of zero is a longer spelling; the tenth byte holds one bit of a u64.
            if (byte == 0 && i > 0) || (i == 9 && byte > 1) {
                return Err(Refusal::NotCanonical);
            }
            *rest = &rest[i + 1..];
            return Ok(value);
        }
    }
    Err(Refusal::NotCanonical)
}

/// Takes the fields of a message that its reader asks for one by one, in ascending order: what is
/// not there is its default, and what is repeated, out of order, unknown or of another type is left
/// over at the end. Field numbers are below 16: one byte of tag.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Fields(bytes)
    }

    /// What was not asked for.
    #[inline(always)]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// A number, 0 where the field is not there: and nowhere else, since a default is not written.
    #[inline(always)]
    pub(crate) fn number(&mut self, field: u8) -> Result<u64, Refusal> {
        match self.0 {
            [tag, rest @ ..] if *tag == field << 3 => {
                self.0 = rest;
                match varint(&mut self.0)? {
                    0 => Err(Refusal::NotCanonical),
                    number => Ok(number),
                }
            }
            _ => Ok(0),
        }
    }

    /// A number of 32 bits.
    #[inline(always)]
    pub(crate) fn small(&mut self, field: u8) -> Result<u32, Refusal> {
        u32::try_from(self.number(field)?).map_err(|_| Refusal::NotCanonical)
    }

    /// Bytes; `None` where the field is not there, never empty.
    #[inline(always)]
    pub(crate) fn bytes(&mut self, field: u8) -> Result<Option<&'a [u8]>, Refusal> {
        match self.0 {
            [tag, rest @ ..] if *tag == (field << 3) | LENGTH as u8 => {
                self.0 = rest;
                let length = varint(&mut self.0)?;
                let length = usize::try_from(length).map_err(|_| Refusal::NotCanonical)?;
                let (value, rest) = self
                    .0
                    .split_at_checked(length)
                    .ok_or(Refusal::NotCanonical)?;
                self.0 = rest;
                if value.is_empty() {
                    return Err(Refusal::NotCanonical);
                }
                Ok(Some(value))
            }
            _ => Ok(None),
        }
    }

    /// Text of at most `max` bytes; empty where the field is not there.
    #[inline(always)]
    pub(crate) fn text(&mut self, field: u8, max: usize) -> Result<&'a str, Refusal> {
        match self.bytes(field)? {
            None => Ok(""),
            Some(bytes) => text(bytes, max),
        }
    }
}

/// UTF-8 of at most `max` bytes.
#[inline]
pub(crate) fn text(bytes: &[u8], max: usize) -> Result<&str, Refusal> {
    if bytes.len() > max {
        return Err(Refusal::Bounds);
    }
    std::str::from_utf8(bytes).map_err(|_| Refusal::NotCanonical)
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

    /// Never empty: an empty field is not written, and no repeated field here may hold an empty
    /// element.
    pub(crate) fn bytes(self) -> Result<&'a [u8], Refusal> {
        match self {
            Value::Bytes(bytes) if !bytes.is_empty() => Ok(bytes),
            Value::Number(_) | Value::Bytes(_) => Err(Refusal::NotCanonical),
        }
    }

    pub(crate) fn text(self, max: usize) -> Result<&'a str, Refusal> {
        text(self.bytes()?, max)
    }
}

/// Bytes that `value` takes as a varint.
#[inline]
pub(crate) fn varint_len(value: u64) -> usize {
    ((64 - (value | 1).leading_zeros()) as usize).div_ceil(7)
}

/// Bytes that a number field takes; nothing for the default. Field numbers are below 16: one byte
/// of tag.
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

/// Writes fields into a piece of a buffer that has the room.
pub(crate) struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl<'a> Writer<'a> {
    /// # Panics
    /// Each of its functions, where `out` is too short: callers have computed the length.
    pub(crate) fn new(out: &'a mut [u8]) -> Self {
        Writer { out, at: 0 }
    }

    /// Bytes written.
    pub(crate) fn written(&self) -> usize {
        self.at
    }

    #[inline(always)]
    fn byte(&mut self, byte: u8) {
        self.out[self.at] = byte;
        self.at += 1;
    }

    #[inline(always)]
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.byte((value as u8) | 0x80);
            value >>= 7;
        }
        self.byte(value as u8);
    }

    #[inline(always)]
    pub(crate) fn number(&mut self, field: u8, value: u64) {
        if value != 0 {
            self.byte(field << 3);
            self.varint(value);
        }
    }

    #[inline(always)]
    pub(crate) fn bytes(&mut self, field: u8, value: &[u8]) {
        if !value.is_empty() {
            self.head(field, value.len());
            self.out[self.at..self.at + value.len()].copy_from_slice(value);
            self.at += value.len();
        }
    }

    /// Tag and length of a field whose `length` bytes follow.
    #[inline(always)]
    pub(crate) fn head(&mut self, field: u8, length: usize) {
        self.byte((field << 3) | LENGTH as u8);
        self.varint(length as u64);
    }
}

fn append(out: &mut Vec<u8>, length: usize, write: impl FnOnce(&mut Writer<'_>)) {
    let start = out.len();
    out.resize(start + length, 0);
    let mut writer = Writer::new(&mut out[start..]);
    write(&mut writer);
    debug_assert_eq!(writer.written(), length);
}

/// Appends a number; nothing for the default.
pub(crate) fn put_number(out: &mut Vec<u8>, field: u8, value: u64) {
    append(out, number_len(value), |w| w.number(field, value));
}

/// Appends bytes; nothing for none.
#[inline]
pub(crate) fn put_bytes(out: &mut Vec<u8>, field: u8, value: &[u8]) {
    append(out, bytes_len(value.len()), |w| w.bytes(field, value));
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

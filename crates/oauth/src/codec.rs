//! The small binary encoding of sealed values: length-prefixed, versioned by its user, one encoding
//! for one meaning.
//!
//! It is only ever read after an authentication tag held, so its strictness is a second line: a
//! value sealed by an older or newer version is refused and never half understood. Numbers are
//! LEB128 in their shortest form; an option is a byte 0 or 1.

/// Builds an encoded value.
#[derive(Default)]
pub struct Encoder {
    out: Vec<u8>,
}

impl Encoder {
    /// Starts with the version of the value's layout.
    pub fn new(version: u8) -> Self {
        let mut out = Vec::with_capacity(256);
        out.push(version);
        Encoder { out }
    }
    /// Fixed-length bytes, without a prefix.
    pub fn fixed<const N: usize>(&mut self, bytes: &[u8; N]) -> &mut Self {
        self.out.extend_from_slice(bytes);
        self
    }
    /// A number, shortest form.
    pub fn number(&mut self, mut value: u64) -> &mut Self {
        while value >= 0x80 {
            // The low seven bits, marked as not the last.
            self.out.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.out.push(value as u8);
        self
    }
    /// Bytes with their length in front.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
        self
    }
    /// Text with its length in front.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }
    /// True or false.
    pub fn flag(&mut self, flag: bool) -> &mut Self {
        self.out.push(u8::from(flag));
        self
    }
    /// Text that may be absent.
    pub fn optional_text(&mut self, text: Option<&str>) -> &mut Self {
        self.flag(text.is_some());
        if let Some(text) = text {
            self.text(text);
        }
        self
    }
    /// Several texts with their count in front.
    pub fn texts<'a>(
        &mut self,
        texts: impl IntoIterator<Item = &'a str, IntoIter: Clone>,
    ) -> &mut Self {
        let texts = texts.into_iter();
        self.number(texts.clone().count() as u64);
        for text in texts {
            self.text(text);
        }
        self
    }
    /// The encoded value.
    pub fn finish(self) -> Vec<u8> {
        self.out
    }
}

/// Reads an encoded value; every read is bounded by what is there.
pub struct Decoder<'a> {
    rest: &'a [u8],
}

/// The bytes are not an encoding of the expected kind and version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value cannot be read")]
pub struct Undecodable;

impl<'a> Decoder<'a> {
    /// Refuses any other version.
    pub fn new(bytes: &'a [u8], version: u8) -> Result<Self, Undecodable> {
        match bytes.split_first() {
            Some((&found, rest)) if found == version => Ok(Decoder { rest }),
            _ => Err(Undecodable),
        }
    }
    /// Fixed-length bytes.
    pub fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Undecodable> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or(Undecodable)?;
        self.rest = rest;
        Ok(*head)
    }
    /// A number in its shortest form.
    pub fn number(&mut self) -> Result<u64, Undecodable> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.fixed::<1>()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte has room for one bit only.
            if shift == 63 && bits > 1 {
                return Err(Undecodable);
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return if byte == 0 && shift > 0 {
                    Err(Undecodable)
                } else {
                    Ok(value)
                };
            }
        }
        Err(Undecodable)
    }
    /// Bytes with their length in front.
    pub fn bytes(&mut self) -> Result<&'a [u8], Undecodable> {
        let length = usize::try_from(self.number()?).map_err(|_| Undecodable)?;
        let (head, rest) = self.rest.split_at_checked(length).ok_or(Undecodable)?;
        self.rest = rest;
        Ok(head)
    }
    /// UTF-8 text.
    pub fn text(&mut self) -> Result<&'a str, Undecodable> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Undecodable)
    }
    /// UTF-8 text, owned.
    pub fn string(&mut self) -> Result<String, Undecodable> {
        self.text().map(str::to_owned)
    }
    /// True or false, and no third value.
    pub fn flag(&mut self) -> Result<bool, Undecodable> {
        match self.fixed::<1>()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Undecodable),
        }
    }
    /// Text that may be absent.
    pub fn optional_string(&mut self) -> Result<Option<String>, Undecodable> {
        if self.flag()? {
            self.string().map(Some)
        } else {
            Ok(None)
        }
    }
    /// Several texts.
    pub fn strings(&mut self) -> Result<Vec<String>, Undecodable> {
        let count = self.number()?;
        // Each text takes at least its length byte, so a lying count cannot reserve memory.
        if count > self.rest.len() as u64 {
            return Err(Undecodable);
        }
        (0..count).map(|_| self.string()).collect()
    }
    /// Nothing may follow.
    pub fn finish(self) -> Result<(), Undecodable> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(Undecodable)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_round_trip_and_have_one_encoding(value: u64) {
            let mut encoder = Encoder::new(1);
            encoder.number(value);
            let bytes = encoder.finish();
            let mut decoder = Decoder::new(&bytes, 1).unwrap();
            prop_assert_eq!(decoder.number().unwrap(), value);
            decoder.finish().unwrap();
        }
        #[test]
        fn whatever_decodes_encodes_to_the_same_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
            let mut decoder = Decoder { rest: &bytes };
            if let Ok(value) = decoder.number() {
                let used = bytes.len() - decoder.rest.len();
                let mut encoder = Encoder { out: Vec::new() };
                encoder.number(value);
                prop_assert_eq!(&encoder.finish()[..], &bytes[..used]);
            }
        }
    }

    #[test]
    fn another_version_trailing_bytes_and_lying_counts_are_refused() {
        assert!(Decoder::new(&[2], 1).is_err());
        assert!(Decoder::new(&[], 1).is_err());
        assert!(Decoder::new(&[1, 0], 1).unwrap().finish().is_err());
        assert!(
            Decoder::new(&[1, 0xff, 0xff, 0xff, 0x7f], 1)
                .unwrap()
                .strings()
                .is_err()
        );
        assert!(Decoder::new(&[1, 2], 1).unwrap().flag().is_err());
    }
}

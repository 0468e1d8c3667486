//! Writing.

/// Appends CBOR items to a buffer. The caller writes map keys in order; [`crate::Decoder`] refuses
/// what it got wrong.
#[derive(Debug, Default)]
pub struct Encoder {
    out: Vec<u8>,
}

impl Encoder {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty buffer with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Encoder {
            out: Vec::with_capacity(bytes),
        }
    }

    /// Bytes written so far.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// What was written.
    pub fn finish(self) -> Vec<u8> {
        self.out
    }

    fn head(&mut self, major: u8, value: u64) -> &mut Self {
        let major = major << 5;
        let bytes = value.to_be_bytes();
        match value {
            // The lengths were just compared: the casts lose nothing.
            0..24 => self.out.push(major | value as u8),
            24..0x100 => self.out.extend_from_slice(&[major | 24, value as u8]),
            0x100..0x1_0000 => {
                self.out.push(major | 25);
                self.out.extend_from_slice(&bytes[6..]);
            }
            0x1_0000..0x1_0000_0000 => {
                self.out.push(major | 26);
                self.out.extend_from_slice(&bytes[4..]);
            }
            _ => {
                self.out.push(major | 27);
                self.out.extend_from_slice(&bytes);
            }
        }
        self
    }

    /// An unsigned integer.
    pub fn uint(&mut self, value: u64) -> &mut Self {
        self.head(0, value)
    }

    /// Any integer of 64 bits.
    pub fn int(&mut self, value: i64) -> &mut Self {
        match u64::try_from(value) {
            Ok(value) => self.head(0, value),
            // -1 - value, which of a negative number is not negative.
            Err(_) => self.head(1, !value as u64),
        }
    }

    /// A byte string.
    pub fn bytes(&mut self, value: &[u8]) -> &mut Self {
        self.head(2, value.len() as u64);
        self.out.extend_from_slice(value);
        self
    }

    /// A byte string of `len` bytes that `write` appends.
    ///
    /// # Errors
    /// What `write` says.
    pub fn bytes_by<E>(
        &mut self,
        len: usize,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<&mut Self, E> {
        self.head(2, len as u64);
        write(&mut self.out)?;
        Ok(self)
    }

    /// A text string.
    pub fn text(&mut self, value: &str) -> &mut Self {
        self.head(3, value.len() as u64);
        self.out.extend_from_slice(value.as_bytes());
        self
    }

    /// The head of an array of so many items.
    pub fn array(&mut self, len: usize) -> &mut Self {
        self.head(4, len as u64)
    }

    /// The head of a map of so many pairs.
    pub fn map(&mut self, len: usize) -> &mut Self {
        self.head(5, len as u64)
    }

    /// A tag; its content follows.
    pub fn tag(&mut self, tag: u64) -> &mut Self {
        self.head(6, tag)
    }

    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.out.push(if value { 0xf5 } else { 0xf4 });
        self
    }

    /// `null`.
    pub fn null(&mut self) -> &mut Self {
        self.out.push(0xf6);
        self
    }

    /// Items that are encoded already.
    pub fn raw(&mut self, items: &[u8]) -> &mut Self {
        self.out.extend_from_slice(items);
        self
    }
}

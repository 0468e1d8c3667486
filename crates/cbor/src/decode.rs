//! Reading.

use crate::error::{Error, Result, ensure};
use crate::{MAX_BYTES, MAX_DEPTH};

/// Reads one item after the other.
#[derive(Debug, Clone)]
pub struct Decoder<'a> {
    data: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Decoder<'a> {
    /// At the first byte of `data`.
    ///
    /// # Errors
    /// [`Error::TooLarge`] beyond [`MAX_BYTES`].
    pub fn new(data: &'a [u8]) -> Result<Self> {
        ensure(data.len() <= MAX_BYTES, Error::TooLarge)?;
        Ok(Decoder {
            data,
            at: 0,
            depth: 0,
        })
    }

    /// Reads exactly one item with `read`.
    ///
    /// # Errors
    /// What `read` refuses; [`Error::Malformed`] for bytes after the item.
    pub fn whole<T, E: From<Error>>(
        data: &'a [u8],
        read: impl FnOnce(&mut Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let mut decoder = Self::new(data)?;
        let value = read(&mut decoder)?;
        decoder.end()?;
        Ok(value)
    }

    /// Nothing may follow.
    ///
    /// # Errors
    /// [`Error::Malformed`] if something does.
    pub fn end(&self) -> Result<()> {
        ensure(self.at == self.data.len(), Error::Malformed)
    }

    /// The major type of the next item, 0 to 7.
    ///
    /// # Errors
    /// [`Error::Malformed`] at the end.
    pub fn peek(&self) -> Result<u8> {
        self.data
            .get(self.at)
            .map(|byte| byte >> 5)
            .ok_or(Error::Malformed)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let rest = &self.data[self.at..];
        let taken = rest.get(..len).ok_or(Error::Malformed)?;
        self.at += len;
        Ok(taken)
    }

    /// Major type and argument; only the shortest form (RFC 8949 section 4.2.1).
    fn head(&mut self) -> Result<(u8, u64)> {
        let first = self.take(1)?[0];
        let (major, low) = (first >> 5, first & 0x1f);
        let width = match low {
            0..=23 => return Ok((major, u64::from(low))),
            24..=27 => 1_usize << (low - 24),
            // 28 to 30 are reserved, 31 is an indefinite length.
            _ => return Err(Error::NotCanonical),
        };
        // 24 to 27 after major type 7 are floats and extended simple values, of which none is used.
        ensure(major != 7, Error::Malformed)?;
        let value = self
            .take(width)?
            .iter()
            .fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        let least = match width {
            1 => 24,
            2 => 0x100,
            4 => 0x1_0000,
            _ => 0x1_0000_0000,
        };
        ensure(value >= least, Error::NotCanonical)?;
        Ok((major, value))
    }

    fn expect(&mut self, major: u8) -> Result<u64> {
        let (found, value) = self.head()?;
        ensure(found == major, Error::Malformed)?;
        Ok(value)
    }

    /// An unsigned integer.
    ///
    /// # Errors
    /// As all of these: [`Error::Malformed`] for another item or too few bytes,
    /// [`Error::NotCanonical`] for another form.
    pub fn uint(&mut self) -> Result<u64> {
        self.expect(0)
    }

    /// An integer of 64 bits, sign included.
    ///
    /// # Errors
    /// As [`uint`](Self::uint).
    pub fn int(&mut self) -> Result<i64> {
        let (major, value) = self.head()?;
        let value = i64::try_from(value).map_err(|_| Error::TooLarge)?;
        match major {
            0 => Ok(value),
            1 => Ok(!value),
            _ => Err(Error::Malformed),
        }
    }

    /// A byte string.
    ///
    /// # Errors
    /// As [`uint`](Self::uint).
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = self.expect(2)?;
        self.take(usize::try_from(len).map_err(|_| Error::TooLarge)?)
    }

    /// A byte string of exactly `N` bytes.
    ///
    /// # Errors
    /// As [`uint`](Self::uint), for another length too.
    pub fn fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.bytes()?.try_into().map_err(|_| Error::Malformed)
    }

    /// A text string.
    ///
    /// # Errors
    /// As [`uint`](Self::uint), for what is not UTF-8 too.
    pub fn text(&mut self) -> Result<&'a str> {
        let len = self.expect(3)?;
        let bytes = self.take(usize::try_from(len).map_err(|_| Error::TooLarge)?)?;
        std::str::from_utf8(bytes).map_err(|_| Error::Malformed)
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// As [`uint`](Self::uint).
    pub fn bool(&mut self) -> Result<bool> {
        match self.head()? {
            (7, 20) => Ok(false),
            (7, 21) => Ok(true),
            _ => Err(Error::Malformed),
        }
    }

    /// `null`.
    ///
    /// # Errors
    /// As [`uint`](Self::uint).
    pub fn null(&mut self) -> Result<()> {
        ensure(self.head()? == (7, 22), Error::Malformed)
    }

    /// The tag in front of an item.
    ///
    /// # Errors
    /// As [`uint`](Self::uint).
    pub fn tag(&mut self) -> Result<u64> {
        self.expect(6)
    }

    fn count(&mut self, major: u8, least_bytes: usize) -> Result<usize> {
        let len = usize::try_from(self.expect(major)?).map_err(|_| Error::TooLarge)?;
        let room = (self.data.len() - self.at) / least_bytes;
        ensure(len <= room, Error::Malformed)?;
        Ok(len)
    }

    /// The number of items of an array, which follow; no more than there are bytes left.
    ///
    /// # Errors
    /// As [`uint`](Self::uint).
    pub fn array(&mut self) -> Result<usize> {
        self.count(4, 1)
    }

    /// An array of `read`s, at most `most` of them.
    ///
    /// # Errors
    /// As [`uint`](Self::uint); [`Error::TooLarge`] for more items or too deep a nesting.
    pub fn list<T, E: From<Error>>(
        &mut self,
        most: usize,
        mut read: impl FnMut(&mut Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<Vec<T>, E> {
        let len = self.array()?;
        ensure(len <= most, Error::TooLarge)?;
        self.nested(|d| (0..len).map(|_| read(d)).collect())
    }

    /// An array of exactly this many items, read by `read`.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub fn tuple<T, E: From<Error>>(
        &mut self,
        len: usize,
        read: impl FnOnce(&mut Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        ensure(self.array()? == len, Error::Malformed)?;
        self.nested(read)
    }

    /// A map, read by `read` to its end.
    ///
    /// # Errors
    /// As [`list`](Self::list); [`Error::UnknownMember`] if `read` leaves pairs over.
    pub fn map<T, E: From<Error>>(
        &mut self,
        read: impl FnOnce(&mut MapReader<'_, 'a>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let left = self.count(5, 2)?;
        self.nested(|decoder| {
            let mut map = MapReader {
                decoder,
                left,
                last: None,
            };
            let value = read(&mut map)?;
            ensure(map.left == 0, Error::UnknownMember)?;
            Ok(value)
        })
    }

    /// Reads one level deeper.
    ///
    /// # Errors
    /// What `read` refuses; [`Error::TooLarge`] beyond [`MAX_DEPTH`].
    pub fn nested<T, E: From<Error>>(
        &mut self,
        read: impl FnOnce(&mut Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        ensure(self.depth < MAX_DEPTH, Error::TooLarge)?;
        self.depth += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn since(&self, start: usize) -> &'a [u8] {
        &self.data[start..self.at]
    }

    /// How many bytes were read.
    pub fn position(&self) -> usize {
        self.at
    }
}

/// The pairs of a map, whose keys ascend bytewise and never repeat (RFC 8949 section 4.2.1).
#[derive(Debug)]
pub struct MapReader<'d, 'a> {
    decoder: &'d mut Decoder<'a>,
    left: usize,
    last: Option<&'a [u8]>,
}

impl<'d, 'a> MapReader<'d, 'a> {
    /// Pairs not read yet.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Reads the next key with `read`; its value is read from [`value`](Self::value).
    ///
    /// # Errors
    /// What `read` refuses; [`Error::NotCanonical`] for a key that does not ascend.
    pub fn key<K, E: From<Error>>(
        &mut self,
        read: impl FnOnce(&mut Decoder<'a>) -> std::result::Result<K, E>,
    ) -> std::result::Result<K, E> {
        self.left = self.left.checked_sub(1).ok_or(Error::Malformed)?;
        let start = self.decoder.position();
        let key = read(self.decoder)?;
        let encoded = self.decoder.since(start);
        ensure(
            self.last.is_none_or(|last| last < encoded),
            Error::NotCanonical,
        )?;
        self.last = Some(encoded);
        Ok(key)
    }

    /// Where the value of the last key is read.
    pub fn value(&mut self) -> &mut Decoder<'a> {
        self.decoder
    }

    /// Whether the next pair has this unsigned key; then it is consumed and its value comes next.
    ///
    /// # Errors
    /// As [`key`](Self::key).
    pub fn at(&mut self, key: u64) -> Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        let start = self.decoder.position();
        if self.decoder.peek()? != 0 || self.decoder.uint()? != key {
            self.decoder.at = start;
            return Ok(false);
        }
        self.decoder.at = start;
        self.key(Decoder::uint)?;
        Ok(true)
    }

    /// The value under a key that has to be next.
    ///
    /// # Errors
    /// What `read` refuses; [`Error::Malformed`] if another key, or none, is next.
    pub fn required<T, E: From<Error>>(
        &mut self,
        key: u64,
        read: impl FnOnce(&mut Decoder<'a>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        ensure(self.at(key)?, Error::Malformed)?;
        read(self.decoder)
    }

    /// A number that is left out where it is 0.
    ///
    /// # Errors
    /// As [`Decoder::uint`]; [`Error::NotCanonical`] for a 0 that was written out.
    pub fn uint(&mut self, key: u64) -> Result<u64> {
        let value = self.optional(key, Decoder::uint)?;
        ensure(value != Some(0), Error::NotCanonical)?;
        Ok(value.unwrap_or(0))
    }

    /// A text that is left out where it is empty.
    ///
    /// # Errors
    /// As [`Decoder::text`]; [`Error::NotCanonical`] for an empty one that was written out.
    pub fn text(&mut self, key: u64) -> Result<&'a str> {
        let value = self.optional(key, Decoder::text)?;
        ensure(value != Some(""), Error::NotCanonical)?;
        Ok(value.unwrap_or(""))
    }

    /// A list that is left out where it is empty; at most `most` items, each read by `read`.
    ///
    /// # Errors
    /// As [`Decoder::list`]; [`Error::NotCanonical`] for an empty one that was written out.
    pub fn list<T, E: From<Error>>(
        &mut self,
        key: u64,
        most: usize,
        read: impl FnMut(&mut Decoder<'a>) -> std::result::Result<T, E>,
    ) -> std::result::Result<Vec<T>, E> {
        let items = self.optional(key, |d| d.list(most, read))?;
        let written_out = items.as_ref().is_some_and(Vec::is_empty);
        ensure(!written_out, Error::NotCanonical)?;
        Ok(items.unwrap_or_default())
    }

    /// The value under a key that may be next.
    ///
    /// # Errors
    /// What `read` refuses.
    pub fn optional<T, E: From<Error>>(
        &mut self,
        key: u64,
        read: impl FnOnce(&mut Decoder<'a>) -> std::result::Result<T, E>,
    ) -> std::result::Result<Option<T>, E> {
        if self.at(key)? {
            read(self.decoder).map(Some)
        } else {
            Ok(None)
        }
    }
}

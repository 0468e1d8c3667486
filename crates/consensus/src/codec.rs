//! Bytes of what is kept in the log and sent between nodes.
//!
//! Our own form, and not that of the consensus library's types: the library may change how it looks
//! inside without two versions of Signet ceasing to understand each other. Numbers are 64 bits,
//! big-endian; strings of bytes have a length of 32 bits before them. What is read is checked for
//! its lengths and for bytes that are left over, because it comes from another machine or a disk.
use signet_store::{Change, Key, Op, Outcome, Row, Table};

/// The bytes are not of the form that they should have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the bytes are not what they should be")]
pub(crate) struct Malformed;

impl From<Malformed> for std::io::Error {
    fn from(error: Malformed) -> std::io::Error {
        std::io::Error::new(std::io::ErrorKind::InvalidData, error)
    }
}

#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn new() -> Writer {
        Writer::default()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn u8(&mut self, value: u8) -> &mut Writer {
        self.0.push(value);
        self
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Writer {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn count(&mut self, count: usize) -> &mut Writer {
        // Invariant: what is counted here lies in memory, within MAX_MESSAGE.
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.0.extend_from_slice(&count.to_be_bytes());
        self
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Writer {
        self.count(bytes.len());
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn option<T>(
        &mut self,
        value: Option<T>,
        write: impl FnOnce(&mut Writer, T),
    ) -> &mut Writer {
        match value {
            None => {
                self.u8(0);
            }
            Some(value) => {
                self.u8(1);
                write(self, value);
            }
        }
        self
    }

    pub(crate) fn key(&mut self, key: &Key) -> &mut Writer {
        self.u8(key.table.number())
            .bytes(&key.partition)
            .bytes(&key.sort)
    }

    fn end(&mut self, end: Option<u64>) -> &mut Writer {
        self.option(end, |to, end| {
            to.u64(end);
        })
    }

    pub(crate) fn row(&mut self, row: &Row) -> &mut Writer {
        self.bytes(&row.value).u64(row.version).end(row.end)
    }

    fn op(&mut self, op: &Op) -> &mut Writer {
        match op {
            Op::Insert { key, value, end } => self.u8(0).key(key).bytes(value).end(*end),
            Op::Replace {
                key,
                version,
                value,
                end,
            } => self.u8(1).key(key).u64(*version).bytes(value).end(*end),
            Op::Remove { key, version } => self.u8(2).key(key).u64(*version),
            Op::Put { key, value, end } => self.u8(3).key(key).bytes(value).end(*end),
            Op::Delete { key } => self.u8(4).key(key),
        }
    }

    pub(crate) fn change(&mut self, change: &Change) -> &mut Writer {
        self.op(&change.first).count(change.then.len());
        for op in &change.then {
            self.op(op);
        }
        self
    }

    pub(crate) fn outcome(&mut self, outcome: &Outcome) -> &mut Writer {
        match outcome {
            Outcome::Done { version } => self.u8(1).u64(*version),
            Outcome::Refused(row) => self.u8(0).option(row.as_ref(), |to, row| {
                to.row(row);
            }),
        }
    }
}

pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    /// Nothing may be left.
    pub(crate) fn end(&self) -> Result<(), Malformed> {
        match self.0 {
            [] => Ok(()),
            _ => Err(Malformed),
        }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.take(1)?[0])
    }

    pub(crate) fn bool(&mut self) -> Result<bool, Malformed> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        let bytes = self.take(8)?;
        Ok(u64::from_be_bytes(bytes.try_into().map_err(|_| Malformed)?))
    }

    /// How many things follow, each of one byte at least: so a count cannot make a large
    /// allocation.
    pub(crate) fn count(&mut self) -> Result<usize, Malformed> {
        let bytes = self.take(4)?;
        let count = u32::from_be_bytes(bytes.try_into().map_err(|_| Malformed)?) as usize;
        match count <= self.0.len() {
            true => Ok(count),
            false => Err(Malformed),
        }
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let count = self.count()?;
        self.take(count)
    }

    pub(crate) fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Reader<'a>) -> Result<T, Malformed>,
    ) -> Result<Option<T>, Malformed> {
        match self.bool()? {
            false => Ok(None),
            true => read(self).map(Some),
        }
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed)
    }

    pub(crate) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Reader<'a>) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = self.count()?;
        (0..count).map(|_| read(self)).collect()
    }

    pub(crate) fn key(&mut self) -> Result<Key, Malformed> {
        Ok(Key {
            table: Table::from_number(self.u8()?).ok_or(Malformed)?,
            partition: self.bytes()?.to_vec(),
            sort: self.bytes()?.to_vec(),
        })
    }

    fn until(&mut self) -> Result<Option<u64>, Malformed> {
        self.option(Reader::u64)
    }

    pub(crate) fn row(&mut self) -> Result<Row, Malformed> {
        Ok(Row {
            value: self.bytes()?.to_vec(),
            version: self.u64()?,
            end: self.until()?,
        })
    }

    fn op(&mut self) -> Result<Op, Malformed> {
        let kind = self.u8()?;
        let key = self.key()?;
        Ok(match kind {
            0 => Op::Insert {
                key,
                value: self.bytes()?.to_vec(),
                end: self.until()?,
            },
            1 => Op::Replace {
                key,
                version: self.u64()?,
                value: self.bytes()?.to_vec(),
                end: self.until()?,
            },
            2 => Op::Remove {
                key,
                version: self.u64()?,
            },
            3 => Op::Put {
                key,
                value: self.bytes()?.to_vec(),
                end: self.until()?,
            },
            4 => Op::Delete { key },
            _ => return Err(Malformed),
        })
    }

    pub(crate) fn change(&mut self) -> Result<Change, Malformed> {
        Ok(Change {
            first: self.op()?,
            then: self.list(Reader::op)?,
        })
    }

    pub(crate) fn outcome(&mut self) -> Result<Outcome, Malformed> {
        Ok(match self.bool()? {
            true => Outcome::Done {
                version: self.u64()?,
            },
            false => Outcome::Refused(self.option(Reader::row)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_read_as_it_was_written_and_no_part_of_one_is() {
        let key = Key::with_sort(Table::Once, "a", "b");
        let value = b"x".to_vec();
        let change = Change {
            first: Op::Replace {
                key: key.clone(),
                version: 7,
                value: value.clone(),
                end: Some(9),
            },
            then: vec![
                Op::Put {
                    key: key.clone(),
                    value: value.clone(),
                    end: None,
                },
                Op::Delete { key: key.clone() },
                Op::Insert {
                    key: key.clone(),
                    value,
                    end: None,
                },
                Op::Remove { key, version: 1 },
            ],
        };
        let mut writer = Writer::new();
        writer.change(&change);
        let bytes = writer.finish();
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.change(), Ok(change));
        assert_eq!(reader.end(), Ok(()));
        for length in 0..bytes.len() {
            let mut reader = Reader::new(&bytes[..length]);
            assert_eq!(reader.change(), Err(Malformed), "{length}");
        }
    }

    #[test]
    fn a_count_is_no_larger_than_what_follows() {
        let mut reader = Reader::new(&[0xff, 0xff, 0xff, 0xff, 1]);
        assert_eq!(reader.list(Reader::u8), Err(Malformed));
    }
}

//! What a change still has to do once it is decided: in bytes, in the row that decided it.
use signet_store::{Key, Op, Table};

/// Seconds that a row stays after its end, and what is left of a removed one after its removal: far
/// longer than any try of a statement, so that none is taken for the first again.
pub const KEEP_SECONDS: u64 = 3600;

/// A time to live above this is not set: servers before 5.0 refuse what would end after 2038.
const LONGEST_TTL: u64 = 5 * 365 * 86_400;

/// No end.
pub(crate) const ENDLESS: i64 = i64::MAX;

/// The end of a removed row: it has always ended.
pub(crate) const REMOVED: i64 = 0;

/// What is written to one row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Write {
    pub(crate) key: Key,
    pub(crate) version: u64,
    /// None: the row is removed; its version stays for [`KEEP_SECONDS`].
    pub(crate) value: Option<Vec<u8>>,
    pub(crate) ends: i64,
    /// Seconds; 0 for none.
    pub(crate) ttl: i32,
}

/// CQL's integers are signed: what lies beyond them is as good as for ever.
pub(crate) fn seconds(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX).min(ENDLESS - 1)
}

fn ttl(end: Option<u64>, now: u64) -> i32 {
    let Some(end) = end else { return 0 };
    match end.saturating_sub(now).saturating_add(KEEP_SECONDS) {
        long if long > LONGEST_TTL => 0,
        short => i32::try_from(short).unwrap_or(0),
    }
}

impl Write {
    pub(crate) fn of(op: &Op, version: u64, now: u64) -> Write {
        match op {
            Op::Insert { key, value, end }
            | Op::Put { key, value, end }
            | Op::Replace {
                key, value, end, ..
            } => Write {
                key: key.clone(),
                version,
                value: Some(value.clone()),
                ends: end.map_or(ENDLESS, seconds),
                ttl: ttl(*end, now),
            },
            Op::Remove { key, .. } | Op::Delete { key } => Write::removal(key, version),
        }
    }

    pub(crate) fn removal(key: &Key, version: u64) -> Write {
        Write {
            key: key.clone(),
            version,
            value: None,
            ends: REMOVED,
            ttl: ttl(Some(0), 0),
        }
    }

    /// Bytes that it carries.
    pub(crate) fn weight(&self) -> usize {
        self.key.partition.len() + self.key.sort.len() + self.value.as_ref().map_or(0, Vec::len)
    }
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    // Invariant: keys and values are bounded far below 4 GiB.
    out.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// Reads from the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = u32::from_be_bytes(self.number()?);
        self.take(usize::try_from(length).ok()?)
    }

    fn key(&mut self) -> Option<Key> {
        let table = Table::from_number(self.number::<1>()?[0])?;
        let partition = self.bytes()?.to_vec();
        Some(Key::with_sort(table, partition, self.bytes()?))
    }

    fn write(&mut self) -> Option<Write> {
        Some(Write {
            key: self.key()?,
            version: u64::from_be_bytes(self.number()?),
            ends: i64::from_be_bytes(self.number()?),
            ttl: i32::from_be_bytes(self.number()?),
            value: match self.number::<1>()? {
                [0] => None,
                [1] => Some(self.bytes()?.to_vec()),
                _ => return None,
            },
        })
    }
}

fn put_key(out: &mut Vec<u8>, key: &Key) {
    out.push(key.table.number());
    put_bytes(out, &key.partition);
    put_bytes(out, &key.sort);
}

/// A key in bytes: where a locked row's change is decided.
pub(crate) fn key_bytes(key: &Key) -> Vec<u8> {
    let mut out = Vec::new();
    put_key(&mut out, key);
    out
}

/// None: those are no bytes of a key.
pub(crate) fn read_key(bytes: &[u8]) -> Option<Key> {
    let mut reader = Reader(bytes);
    let key = reader.key()?;
    reader.0.is_empty().then_some(key)
}

/// Writes in bytes.
pub(crate) fn writes_bytes(writes: &[Write]) -> Vec<u8> {
    let mut out = Vec::new();
    for write in writes {
        put_key(&mut out, &write.key);
        out.extend_from_slice(&write.version.to_be_bytes());
        out.extend_from_slice(&write.ends.to_be_bytes());
        out.extend_from_slice(&write.ttl.to_be_bytes());
        match &write.value {
            None => out.push(0),
            Some(value) => {
                out.push(1);
                put_bytes(&mut out, value);
            }
        }
    }
    out
}

/// None: those are no bytes of writes.
pub(crate) fn read_writes(bytes: &[u8]) -> Option<Vec<Write>> {
    let mut reader = Reader(bytes);
    let mut writes = Vec::new();
    while !reader.0.is_empty() {
        writes.push(reader.write()?);
    }
    Some(writes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writes() -> Vec<Write> {
        let key = Key::with_sort(Table::Session, [0u8, 255], "sort");
        let put = Op::Put {
            key: key.clone(),
            value: vec![7; 300],
            end: Some(2_000),
        };
        vec![
            Write::of(&put, u64::MAX, 1_000),
            Write::removal(&Key::new(Table::Once, ""), 5),
        ]
    }

    #[test]
    fn writes_are_read_as_they_were_written() {
        let writes = writes();
        let bytes = writes_bytes(&writes);
        assert_eq!(read_writes(&bytes), Some(writes.clone()));
        for cut in 1..bytes.len() {
            assert_ne!(read_writes(&bytes[..cut]), Some(writes.clone()), "{cut}");
        }
        let key = &writes[0].key;
        assert_eq!(read_key(&key_bytes(key)).as_ref(), Some(key));
        assert_eq!(read_key(&[key_bytes(key), vec![0]].concat()), None);
    }

    #[test]
    fn a_row_stays_an_hour_longer_than_it_lives_by_the_callers_clock() {
        let [put, removal] = &writes()[..] else {
            unreachable!("there are two");
        };
        assert_eq!((put.ttl, put.ends), (4_600, 2_000));
        assert_eq!((removal.ttl, removal.ends), (3_600, REMOVED));
        assert_eq!((ttl(None, 1), ttl(Some(u64::MAX), 1)), (0, 0));
        assert_eq!(ttl(Some(5), 1_000), 3_600);
    }
}

//! What travels between nodes.
use signet_cbor::{Decoder, Encoder, Error, Result};

/// One statement about one thing: a fragment of its state, which whoever hears it merges into what
/// they know. Hearing it twice, or late, is harmless.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Entry {
    /// Whose realm it is in; empty: the default realm's.
    pub realm: String,
    /// What kind of thing, a number that the registry gives out (`signet_registry`'s table of
    /// kinds).
    pub kind: u8,
    /// Its name within the kind.
    pub name: Vec<u8>,
    /// The fragment, opaque here.
    pub fragment: Vec<u8>,
    /// Unix seconds after which it concerns nothing any more; such an entry is forgotten.
    pub end: Option<u64>,
}

/// Longest entry that is announced, in bytes of its name, its realm and its fragment.
pub const MAX_ENTRY_BYTES: usize = 640 * 1024;

/// Longest name of an entry, in bytes.
pub const MAX_NAME_BYTES: usize = 4096;

/// Longest realm of an entry, in bytes.
pub const MAX_REALM_BYTES: usize = 256;

impl Entry {
    /// Bytes that it takes, nearly.
    pub fn len(&self) -> usize {
        self.realm.len() + self.name.len() + self.fragment.len() + 24
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.fragment.is_empty()
    }

    /// Whether it can be announced at all.
    pub fn fits(&self) -> bool {
        self.realm.len() <= MAX_REALM_BYTES
            && self.name.len() <= MAX_NAME_BYTES
            && self.len() <= MAX_ENTRY_BYTES
    }

    /// Whether it concerns nothing any more at `now`, Unix seconds.
    pub fn has_expired(&self, now: u64) -> bool {
        self.end.is_some_and(|end| end <= now)
    }

    /// Appends it.
    pub fn write(&self, out: &mut Encoder) {
        out.array(5)
            .text(&self.realm)
            .uint(u64::from(self.kind))
            .bytes(&self.name)
            .bytes(&self.fragment);
        match self.end {
            Some(end) => out.uint(end),
            None => out.null(),
        };
    }

    /// Reads what [`write`](Self::write) wrote.
    pub fn read(d: &mut Decoder<'_>) -> Result<Entry> {
        let entry = d.tuple(5, |d| {
            Ok::<_, Error>(Entry {
                realm: d.text()?.to_owned(),
                kind: u8::try_from(d.uint()?).map_err(|_| Error::TooLarge)?,
                name: d.bytes()?.to_vec(),
                fragment: d.bytes()?.to_vec(),
                end: match d.peek()? {
                    0 => Some(d.uint()?),
                    _ => {
                        d.null()?;
                        None
                    }
                },
            })
        })?;
        if entry.fits() {
            Ok(entry)
        } else {
            Err(Error::TooLarge)
        }
    }
}

//! A record as bytes: deterministic CBOR (RFC 8949 section 4.2.1), one encoding for one state.
//!
//! ```text
//! record  = { ? 0: stamp created, ? 1: stamp deleted, ? 2: [+ register],
//!             ? 3: [+ set whose adds win], ? 4: [+ set whose removes win] }
//! register = [member, stamp, bytes / null]
//! set      = [member, [+ [element, [* stamp] claims, [* stamp] undone, stamp allowed / null]]]
//! stamp    = [ms, seq, node]
//! ```
//!
//! Members, elements and stamps ascend; what does not count any more is not there.
use super::{
    dots::Dots,
    record::{Element, Elements, Record, Register},
};
use crate::hlc::Stamp;
use signet_cbor::{Decoder, Encoder, Error, Result};
use signet_store::NodeId;
use std::collections::BTreeMap;

/// Longest record that is read, in bytes. Whoever writes one looks at the length of
/// [`Record::to_bytes`] and refuses the edit, or calls [`Record::renew`].
pub const MAX_RECORD_BYTES: usize = 512 * 1024;

/// Longest name of a member that is read, in bytes.
pub const MAX_MEMBER_BYTES: usize = 64;

/// Longest element of a set that is read, in bytes.
pub const MAX_ELEMENT_BYTES: usize = 8 * 1024;

/// Longest value of a register that is read, in bytes.
pub const MAX_VALUE_BYTES: usize = 256 * 1024;

/// How many members, elements and stamps there may be is bounded by the bytes they take.
const ANY: usize = MAX_RECORD_BYTES;

impl Record {
    /// The one encoding of this state.
    pub fn to_bytes(&self) -> Vec<u8> {
        let parts = [
            self.created.is_some(),
            self.deleted.is_some(),
            !self.registers.is_empty(),
            !self.sets.is_empty(),
            !self.rights.is_empty(),
        ];
        let mut out = Encoder::with_capacity(256);
        out.map(parts.into_iter().filter(|there| *there).count());
        for (key, stamp) in [(0, &self.created), (1, &self.deleted)] {
            if let Some(stamp) = stamp {
                write_stamp(out.uint(key), stamp);
            }
        }
        if !self.registers.is_empty() {
            out.uint(2).array(self.registers.len());
            for (member, register) in &self.registers {
                write_stamp(out.array(3).text(member), &register.stamp);
                match &register.value {
                    Some(value) => out.bytes(value),
                    None => out.null(),
                };
            }
        }
        for (key, sets) in [(3, &self.sets), (4, &self.rights)] {
            if !sets.is_empty() {
                out.uint(key).array(sets.len());
                for (member, elements) in sets {
                    out.array(2).text(member).array(elements.len());
                    for (name, element) in elements {
                        write_element(&mut out, name, element);
                    }
                }
            }
        }
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote, and nothing else.
    ///
    /// # Errors
    /// [`Error::TooLarge`] beyond the limits of this module, [`Error::NotCanonical`] for another
    /// encoding of the state, [`Error::Malformed`] for what is no record.
    pub fn from_bytes(bytes: &[u8]) -> Result<Record> {
        if bytes.len() > MAX_RECORD_BYTES {
            return Err(Error::TooLarge);
        }
        let record = Decoder::whole(bytes, |d| {
            d.map(|m| {
                Ok::<_, Error>(Record {
                    created: m.optional(0, read_stamp)?,
                    deleted: m.optional(1, read_stamp)?,
                    registers: ascending(m.list(2, ANY, read_register)?)?,
                    sets: ascending(m.list(3, ANY, |d| read_set(d, false))?)?,
                    rights: ascending(m.list(4, ANY, |d| read_set(d, true))?)?,
                })
            })
        })?;
        let mut settled = record.clone();
        settled.settle();
        if settled == record {
            Ok(record)
        } else {
            Err(Error::NotCanonical)
        }
    }
}

/// Appends a stamp.
pub fn write_stamp(out: &mut Encoder, stamp: &Stamp) {
    out.array(3)
        .uint(stamp.ms)
        .uint(u64::from(stamp.seq))
        .text(stamp.node.as_str());
}

/// Reads a stamp.
pub fn read_stamp(d: &mut Decoder<'_>) -> Result<Stamp> {
    d.tuple(3, |d| {
        Ok(Stamp {
            ms: d.uint()?,
            seq: u32::try_from(d.uint()?).map_err(|_| Error::TooLarge)?,
            node: NodeId::parse(d.text()?).map_err(|_| Error::Malformed)?,
        })
    })
}

fn write_dots(out: &mut Encoder, dots: &Dots) {
    out.array(dots.len());
    for stamp in dots.iter() {
        write_stamp(out, stamp);
    }
}

fn read_dots(d: &mut Decoder<'_>) -> Result<Dots> {
    Dots::from_sorted(d.list(ANY, read_stamp)?).ok_or(Error::NotCanonical)
}

fn write_element(out: &mut Encoder, name: &[u8], element: &Element) {
    out.array(4).bytes(name);
    write_dots(out, &element.claims);
    write_dots(out, &element.undone);
    match &element.allowed {
        Some(stamp) => write_stamp(out, stamp),
        None => {
            out.null();
        }
    }
}

fn at_most<T: AsRef<[u8]> + ?Sized>(value: &T, most: usize) -> Result<&T> {
    if value.as_ref().len() > most {
        return Err(Error::TooLarge);
    }
    Ok(value)
}

/// The keys have to ascend strictly, or one state would have several encodings.
fn ascending<K: Ord, V>(pairs: Vec<(K, V)>) -> Result<BTreeMap<K, V>> {
    if pairs.windows(2).all(|two| two[0].0 < two[1].0) {
        Ok(pairs.into_iter().collect())
    } else {
        Err(Error::NotCanonical)
    }
}

fn read_member(d: &mut Decoder<'_>) -> Result<String> {
    Ok(at_most(d.text()?, MAX_MEMBER_BYTES)?.to_owned())
}

fn read_register(d: &mut Decoder<'_>) -> Result<(String, Register)> {
    d.tuple(3, |d| {
        let member = read_member(d)?;
        let stamp = read_stamp(d)?;
        let value = match d.peek()? {
            2 => Some(at_most(d.bytes()?, MAX_VALUE_BYTES)?.to_vec()),
            _ => {
                d.null()?;
                None
            }
        };
        Ok((member, Register { stamp, value }))
    })
}

fn read_set(d: &mut Decoder<'_>, with_permission: bool) -> Result<(String, Elements)> {
    d.tuple(2, |d| {
        let member = read_member(d)?;
        let elements = ascending(d.list(ANY, |d| read_element(d, with_permission))?)?;
        Ok((member, elements))
    })
}

fn read_element(d: &mut Decoder<'_>, with_permission: bool) -> Result<(Vec<u8>, Element)> {
    d.tuple(4, |d| {
        let name = at_most(d.bytes()?, MAX_ELEMENT_BYTES)?.to_vec();
        let claims = read_dots(d)?;
        let undone = read_dots(d)?;
        let allowed = match d.peek()? {
            4 if with_permission => Some(read_stamp(d)?),
            _ => {
                d.null()?;
                None
            }
        };
        Ok((
            name,
            Element {
                claims,
                undone,
                allowed,
            },
        ))
    })
}

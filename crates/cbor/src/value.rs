//! Any item as a tree: for what is not read field by field.

use crate::error::{Error, Result};
use crate::{Decoder, Encoder};

/// One CBOR item of the kinds that are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Major types 0 and 1.
    Int(i128),
    /// A byte string.
    Bytes(Vec<u8>),
    /// A text string.
    Text(String),
    /// An array.
    Array(Vec<Value>),
    /// A map; encoding sorts it.
    Map(Vec<(Value, Value)>),
    /// A tagged item.
    Tag(u64, Box<Value>),
    /// A boolean.
    Bool(bool),
    /// Null.
    Null,
}

impl Value {
    /// Reads exactly one item.
    ///
    /// # Errors
    /// As the [`Decoder`]'s methods.
    pub fn decode(data: &[u8]) -> Result<Value> {
        Decoder::whole(data, Value::read)
    }

    /// Reads the next item.
    ///
    /// # Errors
    /// As the [`Decoder`]'s methods.
    pub fn read(d: &mut Decoder<'_>) -> Result<Value> {
        Ok(match d.peek()? {
            0 => Value::Int(i128::from(d.uint()?)),
            1 => Value::Int(i128::from(d.int()?)),
            2 => Value::Bytes(d.bytes()?.to_vec()),
            3 => Value::Text(d.text()?.to_owned()),
            4 => Value::Array(d.list(usize::MAX, Value::read)?),
            5 => Value::Map(d.map(|map| {
                let mut pairs = Vec::new();
                while map.left() > 0 {
                    let key = map.key(|d| d.nested(Value::read))?;
                    pairs.push((key, Value::read(map.value())?));
                }
                Ok::<_, Error>(pairs)
            })?),
            6 => Value::Tag(d.tag()?, Box::new(d.nested(Value::read)?)),
            _ => {
                let mut ahead = d.clone();
                if ahead.null().is_ok() {
                    *d = ahead;
                    Value::Null
                } else {
                    Value::Bool(d.bool()?)
                }
            }
        })
    }

    /// The one encoding of the item.
    ///
    /// # Errors
    /// [`Error::NotCanonical`] for a map with two equal keys, [`Error::TooLarge`] for an integer
    /// beyond 64 bits.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut out = Encoder::new();
        self.write(&mut out)?;
        Ok(out.finish())
    }

    fn write(&self, out: &mut Encoder) -> Result<()> {
        match self {
            Value::Int(value) => {
                if let Ok(value) = u64::try_from(*value) {
                    out.uint(value);
                } else {
                    out.int(i64::try_from(*value).map_err(|_| Error::TooLarge)?);
                }
            }
            Value::Bytes(value) => {
                out.bytes(value);
            }
            Value::Text(value) => {
                out.text(value);
            }
            Value::Array(items) => {
                out.array(items.len());
                items.iter().try_for_each(|item| item.write(out))?;
            }
            Value::Map(pairs) => {
                let mut encoded = Vec::with_capacity(pairs.len());
                for (key, value) in pairs {
                    encoded.push((key.encode()?, value));
                }
                encoded.sort_by(|a, b| a.0.cmp(&b.0));
                if encoded.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                    return Err(Error::NotCanonical);
                }
                out.map(encoded.len());
                for (key, value) in encoded {
                    out.raw(&key);
                    value.write(out)?;
                }
            }
            Value::Tag(tag, content) => {
                out.tag(*tag);
                content.write(out)?;
            }
            Value::Bool(value) => {
                out.bool(*value);
            }
            Value::Null => {
                out.null();
            }
        }
        Ok(())
    }
}

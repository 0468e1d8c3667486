//! Names with values, as a CBOR map of text to text.

use crate::cbor::{Decoder, Encoder};
use crate::error::{Refusal, Result, ensure};

/// Names with values; each name once, in CBOR's order (shorter names first, then bytewise).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextMap(Vec<(String, String)>);

impl TextMap {
    /// Sorts the pairs.
    ///
    /// # Errors
    /// [`Refusal::InvalidValue`] for a name that repeats.
    pub fn new(mut pairs: Vec<(String, String)>) -> Result<TextMap> {
        pairs.sort_by(|a, b| (a.0.len(), &a.0).cmp(&(b.0.len(), &b.0)));
        let repeats = pairs.windows(2).any(|pair| pair[0].0 == pair[1].0);
        ensure(!repeats, Refusal::InvalidValue)?;
        Ok(TextMap(pairs))
    }

    /// Each name with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .find(|(own, _)| *own == name)
            .map(|(_, value)| value)
    }

    /// Whether it has no names.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn write(&self, out: &mut Encoder) {
        out.map(self.0.len());
        for (name, value) in &self.0 {
            out.text(name).text(value);
        }
    }

    pub(crate) fn read(d: &mut Decoder<'_>) -> Result<TextMap> {
        d.map(|map| {
            let mut pairs = Vec::new();
            while map.left() > 0 {
                let name = map.key(Decoder::text)?.to_owned();
                pairs.push((name, map.value().text()?.to_owned()));
            }
            Ok(TextMap(pairs))
        })
    }
}

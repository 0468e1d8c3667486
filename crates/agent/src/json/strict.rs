//! JSON without ambiguity: no member twice, no floats.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::error::{Refusal, Result};

/// Reads JSON text.
///
/// # Errors
/// [`Refusal::UnknownMember`] for a member that is named twice, [`Refusal::Malformed`] for floats
/// and everything that is not JSON; nesting is bounded by the parser (128).
pub fn parse(text: &[u8]) -> Result<Value> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let refused = |error: serde_json::Error| {
        if error.to_string().contains(TWICE) {
            Refusal::UnknownMember
        } else {
            Refusal::Malformed
        }
    };
    let value = Strict.deserialize(&mut deserializer).map_err(refused)?;
    deserializer.end().map_err(|_| Refusal::Malformed)?;
    Ok(value)
}

const TWICE: &str = "a member is named twice";

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without floats")
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(Strict)? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> std::result::Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(Strict)?;
            if all.insert(name, value).is_some() {
                return Err(de::Error::custom(TWICE));
            }
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_json_is_refused() {
        assert!(parse(b"{\"a\":1,\"b\":[null,true,\"x\"]}").is_ok());
        assert_eq!(parse(b"{\"a\":1,\"a\":1}"), Err(Refusal::UnknownMember));
        assert_eq!(
            parse(b"{\"a\":1,\"\\u0061\":2}"),
            Err(Refusal::UnknownMember)
        );
        for bad in [
            "{\"a\":1.0}",
            "{\"a\":-1}",
            "{} {}",
            "{",
            "",
            "{\"a\":1e3}",
            "{\"a\":18446744073709551616}",
        ] {
            assert_eq!(parse(bad.as_bytes()), Err(Refusal::Malformed), "{bad}");
        }
        let deep = "[".repeat(10_000);
        assert_eq!(parse(deep.as_bytes()), Err(Refusal::Malformed));
    }
}

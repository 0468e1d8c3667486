//! JSON without ambiguity: no member twice, no numbers but those that the binary form has.

use serde_json::{Map, Value};
use signet_encoding::json::{JsonError, Kind, Limits, Reader};

use crate::error::{Refusal, Result};

/// Length and count are bounded by whoever hands in the text.
const LIMITS: Limits = Limits {
    bytes: usize::MAX,
    depth: 127,
    members: usize::MAX,
};

/// Reads JSON text.
///
/// # Errors
/// [`Refusal::UnknownMember`] for a member that is named twice, [`Refusal::Malformed`] for
/// negative numbers, fractions, exponents, nesting beyond 127 and everything that is not JSON.
pub fn parse(text: &[u8]) -> Result<Value> {
    document(text).map_err(|error| match error == JsonError::Duplicate {
        true => Refusal::UnknownMember,
        false => Refusal::Malformed,
    })
}

fn document(text: &[u8]) -> std::result::Result<Value, JsonError> {
    let mut reader = Reader::new(text, &LIMITS)?;
    let value = value(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

fn value(reader: &mut Reader<'_>) -> std::result::Result<Value, JsonError> {
    Ok(match reader.kind()? {
        Kind::Null => {
            reader.null()?;
            Value::Null
        }
        Kind::Bool => reader.bool()?.into(),
        // `-0` is a number to the reader, and none here.
        Kind::Number => match reader.number()?.as_str().parse::<u64>() {
            Ok(number) => number.into(),
            Err(_) => return Err(JsonError::Type),
        },
        Kind::String => reader.string()?.into_owned().into(),
        Kind::Array => {
            let mut all = Vec::new();
            reader.array(|reader| {
                all.push(value(reader)?);
                Ok::<_, JsonError>(())
            })?;
            Value::Array(all)
        }
        Kind::Object => {
            let mut all = Map::new();
            reader.object(|reader, name| {
                all.insert(name.into_owned(), value(reader)?);
                Ok::<_, JsonError>(())
            })?;
            Value::Object(all)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn another_parser_reads_alike_what_is_accepted(
            text in r#"[ \n]?\{("[a-c]{0,2}":(0|-?[1-9][0-9]{0,22}|"[ab"\\/nu0-9]{0,8}"|true|null|[\[\]{},: ]{0,4}),?){0,3}\}?"#
        ) {
            let theirs = serde_json::from_str::<Value>(&text);
            match (parse(text.as_bytes()), theirs) {
                (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours, theirs),
                (Ok(_), Err(error)) => prop_assert!(false, "{}: {}", text, error),
                (Err(_), _) => {}
            }
        }
    }

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
            "{\"a\":-0}",
        ] {
            assert_eq!(parse(bad.as_bytes()), Err(Refusal::Malformed), "{bad}");
        }
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(parse(nested(127).as_bytes()).is_ok());
        assert_eq!(parse(nested(128).as_bytes()), Err(Refusal::Malformed));
        let deep = "[".repeat(10_000);
        assert_eq!(parse(deep.as_bytes()), Err(Refusal::Malformed));
    }
}

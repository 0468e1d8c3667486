//! What holds for every input, tried on many.

use proptest::collection::vec;
use proptest::prelude::*;
use signet_encoding::base64url;
use signet_encoding::json::{JsonError, Limits, Number, Object, Reader, Value, parse};

const WIDE: Limits = Limits {
    bytes: 1 << 20,
    depth: 64,
    members: 100_000,
};

fn values() -> impl Strategy<Value = Value<'static>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Value::Array),
            vec((any::<String>(), inner), 0..24).prop_map(|members| {
                let mut object = Object::new();
                for (name, value) in members {
                    object.insert(name, value);
                }
                Value::Object(object)
            }),
        ]
    })
}

fn serde(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => serde_number(number),
        Value::String(value) => (&**value).into(),
        Value::Array(elements) => elements.iter().map(serde).collect(),
        Value::Object(object) => {
            let members = object
                .iter()
                .map(|(name, value)| (name.to_owned(), serde(value)));
            serde_json::Value::Object(members.collect())
        }
    }
}

fn serde_number(number: &Number<'_>) -> serde_json::Value {
    match (
        number.as_str(),
        number.as_u64(),
        number.as_i64(),
        number.as_f64(),
    ) {
        ("-0", ..) => (-0.0).into(),
        (_, Some(value), ..) => value.into(),
        (_, None, Some(value), _) => value.into(),
        (.., Some(value)) => value.into(),
        _ => serde_json::Value::Null,
    }
}

proptest! {
    #[test]
    fn base64url_round_trips(data in vec(any::<u8>(), 0..200)) {
        let text = base64url::encode(&data);
        prop_assert_eq!(text.len(), base64url::encoded_len(data.len()));
        prop_assert_eq!(base64url::decode(text.as_bytes()).unwrap(), data);
    }

    #[test]
    fn what_base64url_decodes_is_the_encoding_of_the_result(text in "[A-Za-z0-9_=+/ -]{0,24}") {
        if let Ok(data) = base64url::decode(text.as_bytes()) {
            prop_assert_eq!(base64url::encode(&data), text);
        }
    }

    #[test]
    fn written_json_is_read_back_the_same(value in values()) {
        let mut text = Vec::new();
        value.write(&mut text);
        prop_assert_eq!(&parse(&text, &WIDE).unwrap(), &value);
        let other: serde_json::Value = serde_json::from_slice(&text).unwrap();
        prop_assert_eq!(other, serde(&value));
        // Skipping, reading raw and reading agree about where a value ends.
        let mut reader = Reader::new(&text, &WIDE).unwrap();
        prop_assert_eq!(reader.raw().unwrap().as_bytes(), &*text);
        reader.finish().unwrap();
    }

    #[test]
    fn another_parser_reads_alike_what_is_accepted(
        value in values(), at in any::<prop::sample::Index>(), with in "[\\[\\]{}:,\"\\\\u0-9a-f.eE+ntd -]{0,3}", cut in 0..4usize,
    ) {
        let mut text = Vec::new();
        value.write(&mut text);
        let at = at.index(text.len() + 1);
        let end = (at + cut).min(text.len());
        text.splice(at..end, with.bytes());
        let ours = parse(&text, &WIDE);
        let theirs = serde_json::from_slice::<serde_json::Value>(&text);
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(serde(&ours), theirs),
            // What is stricter here: duplicates and bounds, those of numbers among them.
            (Err(error), Ok(_)) => prop_assert!(matches!(error, JsonError::Duplicate | JsonError::Limit), "{:?}", error),
            (Ok(_), Err(error)) => prop_assert!(error.to_string().contains("out of range"), "{}", error),
            (Err(_), Err(_)) => {}
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in vec(any::<u8>(), 0..300)) {
        let _ = parse(&bytes, &Limits::default());
        let _ = base64url::decode(&bytes);
        let _ = base64url::decode_standard(&bytes);
    }
}

//! The codec against RFC 8949's rules and arbitrary input.

use proptest::prelude::*;

use crate::error::Error;
use crate::{Decoder, Encoder, MAX_BYTES, MAX_DEPTH, Value};

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2)
        .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hex"))
        .collect()
}

#[test]
fn rfc_8949_appendix_a_examples() {
    let cases = [
        ("00", Value::Int(0)),
        ("17", Value::Int(23)),
        ("1818", Value::Int(24)),
        ("1903e8", Value::Int(1000)),
        ("1bffffffffffffffff", Value::Int(u64::MAX.into())),
        ("20", Value::Int(-1)),
        ("3903e7", Value::Int(-1000)),
        ("f4", Value::Bool(false)),
        ("f6", Value::Null),
        (
            "c11a514b67b0",
            Value::Tag(1, Box::new(Value::Int(1_363_896_240))),
        ),
        ("4401020304", Value::Bytes(vec![1, 2, 3, 4])),
        ("62c3bc", Value::Text("\u{fc}".into())),
        ("80", Value::Array(vec![])),
        (
            "a26161016162820203",
            Value::Map(vec![
                (Value::Text("a".into()), Value::Int(1)),
                (
                    Value::Text("b".into()),
                    Value::Array(vec![Value::Int(2), Value::Int(3)]),
                ),
            ]),
        ),
    ];
    for (text, value) in cases {
        assert_eq!(Value::decode(&hex(text)), Ok(value.clone()), "{text}");
        assert_eq!(value.encode(), Ok(hex(text)), "{text}");
    }
}

#[test]
fn other_encodings_of_a_value_are_refused() {
    for text in [
        "1800",
        "1817",
        "190018",
        "1a00000100",
        "1b0000000000000001", // heads longer than needed
        "3800",
        "5800",
        "7800",
        "9800",
        "b800",
        "d800", // the same for the other types
        "9fff",
        "bfff",
        "5f4101ff",
        "7f6161ff", // indefinite lengths
        "a2616201616101",
        "a2020001 00",
        "a201000100", // unsorted, unsorted, twice
        "1c",
        "fc",
        "ff", // reserved, and a lone break
    ] {
        let data = hex(&text.replace(' ', ""));
        assert!(
            matches!(
                Value::decode(&data),
                Err(Error::NotCanonical | Error::Malformed)
            ),
            "{text}"
        );
    }
}

#[test]
fn floats_and_simple_values_are_refused() {
    for text in [
        "f90000",
        "fa47c35000",
        "fb3ff199999999999a",
        "f7",
        "f0",
        "f818",
    ] {
        assert_eq!(Value::decode(&hex(text)), Err(Error::Malformed), "{text}");
    }
}

#[test]
fn bytes_after_the_item_and_cut_items_are_refused() {
    let whole = hex("a26161016162820203");
    for len in 0..whole.len() {
        assert!(Value::decode(&whole[..len]).is_err(), "{len}");
    }
    let mut longer = whole;
    longer.push(0);
    assert_eq!(Value::decode(&longer), Err(Error::Malformed));
}

#[test]
fn lengths_beyond_the_input_allocate_nothing() {
    for text in [
        "9b7fffffffffffffff",
        "bb7fffffffffffffff",
        "5b7fffffffffffffff",
        "7bffffffffffffffff",
        "9a000fffff00",
    ] {
        assert!(Value::decode(&hex(text)).is_err(), "{text}");
    }
}

#[test]
fn nesting_and_size_are_bounded() {
    let mut deep = vec![0x81; MAX_DEPTH];
    deep.push(0);
    assert!(Value::decode(&deep).is_ok());
    deep.insert(0, 0x81);
    assert_eq!(Value::decode(&deep), Err(Error::TooLarge));
    let mut tags = vec![0xc1; MAX_DEPTH + 1];
    tags.push(0);
    assert_eq!(Value::decode(&tags), Err(Error::TooLarge));
    assert_eq!(Value::decode(&vec![0; MAX_BYTES + 1]), Err(Error::TooLarge));
}

#[test]
fn text_that_is_not_utf_8_is_refused() {
    assert_eq!(Value::decode(&hex("62c328")), Err(Error::Malformed));
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<u64>().prop_map(|v| Value::Int(v.into())),
        any::<i64>().prop_map(|v| Value::Int(v.into())),
        any::<Vec<u8>>().prop_map(Value::Bytes),
        ".*".prop_map(Value::Text),
        any::<bool>().prop_map(Value::Bool),
        Just(Value::Null),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            prop::collection::vec((".{0,4}", inner.clone()), 0..8).prop_map(|pairs| {
                Value::Map(
                    pairs
                        .into_iter()
                        .map(|(k, v)| (Value::Text(k), v))
                        .collect(),
                )
            }),
            (any::<u64>(), inner).prop_map(|(tag, v)| Value::Tag(tag, Box::new(v))),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back_in_one_encoding(value in values()) {
        if let Ok(encoded) = value.encode() {
            let read = Value::decode(&encoded).expect("its own encoding");
            prop_assert_eq!(read.encode(), Ok(encoded));
        }
    }

    #[test]
    fn whatever_is_accepted_is_the_one_encoding(data in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(value) = Value::decode(&data) {
            prop_assert_eq!(value.encode(), Ok(data));
        }
    }

    #[test]
    fn integers_keep_their_value(value in any::<i64>()) {
        let mut out = Encoder::new();
        out.int(value);
        let data = out.finish();
        prop_assert_eq!(Decoder::whole(&data, Decoder::int), Ok(value));
    }
}

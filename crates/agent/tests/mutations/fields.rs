//! The fields of the binary form: each changed to another value of its kind, left out, written
//! twice, moved.

use signet_agent::Refusal;
use signet_agent::cbor::{Encoder, Value};
use signet_agent::cose::{self, Message};
use signet_agent::object::Type;

use super::objects::{all, cast, verify};

type Pairs = Vec<(Value, Value)>;

/// The fields of a message's payload.
pub fn fields(message: &[u8]) -> Pairs {
    let payload = Message::parse(message).expect("parsed").payload().to_vec();
    let Value::Map(pairs) = Value::decode(&payload).expect("CBOR") else {
        panic!("a payload is a map");
    };
    pairs
}

pub fn number(key: &Value) -> u64 {
    let Value::Int(key) = key else {
        panic!("a field has a number");
    };
    u64::try_from(*key).expect("no field is below 0")
}

/// The message with these fields, as they stand, under the old signatures.
pub fn with_fields(message: &[u8], pairs: &Pairs) -> Vec<u8> {
    let mut payload = Encoder::new();
    payload.map(pairs.len());
    for (key, value) in pairs {
        payload.raw(&key.encode().expect("encoded"));
        payload.raw(&value.encode().expect("encoded"));
    }
    let parsed = Message::parse(message).expect("parsed");
    let signatures: Vec<_> = parsed
        .signatures()
        .iter()
        .map(|(alg, bytes)| (*alg, bytes.to_vec()))
        .collect();
    cose::assemble(&payload.finish(), &signatures).expect("assembled")
}

/// Another value of the same kind.
fn other(value: &Value) -> Value {
    match value {
        Value::Int(n) => Value::Int(n - 1),
        Value::Text(text) => Value::Text(format!("{text}x")),
        Value::Bool(value) => Value::Bool(!value),
        Value::Bytes(bytes) => {
            let mut bytes = bytes.clone();
            *bytes.last_mut().expect("no field is empty") ^= 1;
            Value::Bytes(bytes)
        }
        Value::Array(items) => {
            let mut items = items.clone();
            let last = items.pop().expect("no list is empty");
            items.push(other(&last));
            Value::Array(items)
        }
        Value::Map(pairs) => {
            let mut pairs = pairs.clone();
            let (key, value) = pairs.pop().expect("no map is empty");
            pairs.push((key, other(&value)));
            Value::Map(pairs)
        }
        Value::Tag(..) | Value::Null => panic!("no field is tagged or null"),
    }
}

/// Why a changed field is refused. Most are values like another, and the signature alone speaks.
fn reason(kind: Type, field: u64) -> Refusal {
    match (kind, field) {
        (_, 0) => Refusal::WrongType,
        (Type::Identity, 1 | 5 | 6) => Refusal::IdMismatch,
        (Type::Identity, 2) => Refusal::HistoryBroken,
        (_, 1) => Refusal::WrongSigner,
        // A `false` that is left out otherwise.
        (Type::Rotation, 7) => Refusal::NotCanonical,
        _ => Refusal::SignatureInvalid,
    }
}

#[test]
fn every_changed_field_of_every_object_is_refused_by_name() {
    let cast = cast();
    for file in all(&cast) {
        let pairs = fields(&file.message);
        assert!(pairs.len() >= 4, "{:?}", file.kind);
        for i in 0..pairs.len() {
            let mut changed = pairs.clone();
            changed[i].1 = other(&changed[i].1);
            let key = number(&pairs[i].0);
            let refused = verify(
                file.kind,
                &with_fields(&file.message, &changed),
                &cast.alice.document,
            );
            assert_eq!(
                refused,
                Err(reason(file.kind, key)),
                "{:?} field {key}",
                file.kind
            );
        }
    }
}

#[test]
fn every_field_left_out_written_twice_or_moved_is_refused() {
    let cast = cast();
    for file in all(&cast) {
        let pairs = fields(&file.message);
        let refused = |changed: &Pairs| {
            verify(
                file.kind,
                &with_fields(&file.message, changed),
                &cast.alice.document,
            )
            .expect_err("changed")
        };
        for i in 0..pairs.len() {
            let about = format!("{:?} field {}", file.kind, number(&pairs[i].0));
            let mut without = pairs.clone();
            without.remove(i);
            let named = [
                Refusal::Malformed,
                Refusal::InvalidValue,
                Refusal::SignatureInvalid,
                Refusal::HistoryBroken,
            ];
            assert!(named.contains(&refused(&without)), "{about}");
            let mut twice = pairs.clone();
            twice.insert(i, pairs[i].clone());
            let named = [
                Refusal::Malformed,
                Refusal::NotCanonical,
                Refusal::UnknownMember,
                // Of two fields that need each other, one was passed by.
                Refusal::InvalidValue,
            ];
            assert!(named.contains(&refused(&twice)), "{about}");
            for j in 0..i {
                let mut moved = pairs.clone();
                moved.swap(i, j);
                assert!(named.contains(&refused(&moved)), "{about}");
            }
        }
        let mut more = pairs.clone();
        more.push((Value::Int(23), Value::Int(1)));
        assert_eq!(refused(&more), Refusal::UnknownMember, "{:?}", file.kind);
    }
}

#[test]
fn every_reordered_list_is_refused() {
    let cast = cast();
    let mut lists = 0;
    for file in all(&cast) {
        let pairs = fields(&file.message);
        for i in 0..pairs.len() {
            let Value::Array(items) = &pairs[i].1 else {
                continue;
            };
            if items.len() < 2 {
                continue;
            }
            lists += 1;
            let mut items = items.clone();
            items.swap(0, 1);
            let mut changed = pairs.clone();
            changed[i].1 = Value::Array(items);
            let refused = verify(
                file.kind,
                &with_fields(&file.message, &changed),
                &cast.alice.document,
            )
            .expect_err("moved");
            let key = number(&pairs[i].0);
            let expected = match (file.kind, key) {
                (Type::Identity, 7) => Refusal::HistoryBroken,
                // Two parts of one value: keys, and a budget.
                (Type::Identity | Type::Grant | Type::Method, 5)
                | (Type::Rotation, 4)
                | (Type::Grant, 15) => Refusal::Malformed,
                _ => Refusal::NotCanonical,
            };
            assert_eq!(refused, expected, "{:?} field {key}", file.kind);
        }
    }
    assert!(lists > 9, "{lists}");
}

#[test]
fn a_default_that_is_written_out_is_another_encoding() {
    let cast = cast();
    // Fields that are left out where they are zero, empty or false.
    let empty = |kind: &str| match kind {
        "uint" => Value::Int(0),
        "text" => Value::Text(String::new()),
        "list" => Value::Array(Vec::new()),
        "map" => Value::Map(Vec::new()),
        "bytes" => Value::Bytes(Vec::new()),
        _ => Value::Bool(false),
    };
    let defaults: [(Type, &[(u64, &str)]); 8] = [
        (
            Type::Identity,
            &[(2, "uint"), (7, "list"), (8, "list"), (9, "list")],
        ),
        (
            Type::Grant,
            &[
                (2, "uint"),
                (4, "uint"),
                (8, "uint"),
                (11, "uint"),
                (13, "list"),
                (16, "list"),
                (17, "map"),
                (18, "list"),
                (19, "text"),
            ],
        ),
        (Type::Rotation, &[(2, "uint"), (6, "text"), (7, "bool")]),
        (
            Type::Receipt,
            &[
                (2, "uint"),
                (8, "uint"),
                (9, "text"),
                (11, "uint"),
                (12, "list"),
                (13, "list"),
                (14, "uint"),
            ],
        ),
        (Type::Proof, &[(2, "uint"), (6, "bytes")]),
        (Type::Revocation, &[(2, "uint"), (5, "text")]),
        (
            Type::Birth,
            &[(2, "uint"), (4, "uint"), (6, "list"), (7, "text")],
        ),
        (Type::Heartbeat, &[(2, "uint"), (3, "uint")]),
    ];
    let all = all(&cast);
    for (kind, fields_of) in defaults {
        let file = all
            .iter()
            .find(|file| file.kind == kind)
            .expect("one of each type");
        for (field, what) in fields_of {
            let mut pairs = fields(&file.message);
            pairs.retain(|(key, _)| number(key) != *field);
            let place = pairs
                .iter()
                .position(|(key, _)| number(key) > *field)
                .unwrap_or(pairs.len());
            pairs.insert(place, (Value::Int(i128::from(*field)), empty(what)));
            let refused = verify(
                kind,
                &with_fields(&file.message, &pairs),
                &cast.alice.document,
            );
            assert_eq!(
                refused,
                Err(Refusal::NotCanonical),
                "{kind:?} field {field}"
            );
        }
    }
}

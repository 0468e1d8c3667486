//! Identity files: each byte, each part, each order, each part of another file.

use signet_agent::Refusal;
use signet_agent::cbor::Value;
use signet_agent::file::{IdentityFile, Kind};
use signet_agent::identity::Created;

use super::named;
use super::objects::cast;
use signet_agent::object::Type;

fn seal(created: &Created) -> Vec<u8> {
    let file =
        IdentityFile::seal_cheaply(Kind::Current, &created.document, &created.keys, b"correct");
    file.expect("sealed").to_bytes()
}

fn open(data: &[u8]) -> Result<(), Refusal> {
    IdentityFile::parse(data)
        .and_then(|file| file.open(b"correct"))
        .map(|_| ())
}

fn parts(data: &[u8]) -> Vec<Value> {
    let Value::Array(parts) = Value::decode(data).expect("CBOR") else {
        panic!("a file is an array");
    };
    parts
}

fn whole(parts: Vec<Value>) -> Vec<u8> {
    Value::Array(parts).encode().expect("encoded")
}

/// What a changed file can be refused for.
fn named_of_a_file(reason: Refusal) -> bool {
    named(Type::Identity, reason) || reason == Refusal::FileNotAuthentic
}

#[test]
fn every_changed_byte_of_an_identity_file_is_refused() {
    let data = seal(&cast().alice);
    assert_eq!(open(&data), Ok(()));
    let sealed = parts(&data).pop().expect("the sealed half");
    let Value::Bytes(sealed) = sealed else {
        panic!("the sealed half is bytes");
    };
    for at in 0..data.len() {
        for flip in [0x01, 0x80] {
            let mut changed = data.clone();
            changed[at] ^= flip;
            let refused = open(&changed).expect_err("changed");
            assert!(named_of_a_file(refused), "byte {at}: {refused:?}");
            if at >= data.len() - sealed.len() {
                assert_eq!(refused, Refusal::FileNotAuthentic, "byte {at}");
            }
        }
        assert_eq!(open(&data[..at]), Err(Refusal::Malformed), "{at}");
    }
}

#[test]
fn every_part_of_another_identity_file_is_refused() {
    let cast = cast();
    let (one, other) = (parts(&seal(&cast.alice)), parts(&seal(&cast.bob)));
    let mut differing = 0;
    for i in 0..one.len() {
        if one[i] == other[i] {
            continue;
        }
        differing += 1;
        let mut mixed = one.clone();
        mixed[i] = other[i].clone();
        assert_eq!(
            open(&whole(mixed)),
            Err(Refusal::FileNotAuthentic),
            "part {i}"
        );
    }
    assert_eq!(differing, 3, "the document, the salt and the sealed half");
}

#[test]
fn every_changed_or_moved_part_of_an_identity_file_is_refused() {
    let own = parts(&seal(&cast().alice));
    let cost = |memory: i128, passes: i128, lanes: i128| {
        Value::Array(vec![
            Value::Int(memory),
            Value::Int(passes),
            Value::Int(lanes),
        ])
    };
    for (place, value, expected) in [
        (0, Value::Text("another".into()), Refusal::WrongType),
        (1, Value::Int(2), Refusal::WrongType),
        (2, Value::Int(2), Refusal::FileNotAuthentic),
        (2, Value::Int(3), Refusal::WrongType),
        (4, cost(16, 1, 1), Refusal::FileNotAuthentic),
        (4, cost(8, 2, 1), Refusal::FileNotAuthentic),
        (4, cost(8, 1 << 20, 1), Refusal::InvalidValue),
        (4, cost(1 << 30, 1, 1), Refusal::InvalidValue),
        (4, cost(8, 1, 0), Refusal::InvalidValue),
        (5, Value::Bytes(vec![0; 16]), Refusal::FileNotAuthentic),
        (5, Value::Bytes(vec![0; 15]), Refusal::Malformed),
        (6, Value::Bytes(Vec::new()), Refusal::FileNotAuthentic),
    ] {
        let mut changed = own.clone();
        changed[place] = value.clone();
        assert_eq!(open(&whole(changed)), Err(expected), "{place} {value:?}");
    }
    for i in 0..own.len() {
        for j in 0..i {
            if own[i] == own[j] {
                continue;
            }
            let mut moved = own.clone();
            moved.swap(i, j);
            let refused = open(&whole(moved)).expect_err("moved");
            assert!(named_of_a_file(refused), "{i} {j}: {refused:?}");
        }
        let mut without = own.clone();
        without.remove(i);
        assert_eq!(open(&whole(without)), Err(Refusal::Malformed), "{i}");
    }
}

//! The JSON form: each member changed, left out, doubled, moved, put in from another object.

use serde_json::Value;
use signet_agent::identity::{VerifiedDocument, create};
use signet_agent::json::File;
use signet_agent::object::Type;
use signet_agent::{Refusal, Result, Suite};

use super::objects::{Cast, all, cast, objects, verify};

/// Reads JSON, as a file is read, and verifies.
fn verify_json(value: &Value, alice: &VerifiedDocument) -> Result<()> {
    let file = File::read(value.to_string().as_bytes())?;
    verify(file.kind, &file.message, alice)
}

#[test]
fn every_object_reads_back_from_json_as_the_same_bytes() {
    let cast = cast();
    for file in all(&cast) {
        let text = file.write().expect("written");
        let read = File::read(text.as_bytes()).expect("its own JSON");
        assert_eq!(read.message, file.message, "{text}");
        assert_eq!(
            verify(file.kind, &file.message, &cast.alice.document),
            Ok(())
        );
    }
}

/// Every JSON value that differs from `value` in one place.
fn changes(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![Value::Bool(true)],
        Value::Bool(b) => vec![Value::Bool(!b), Value::Null],
        Value::Number(n) => {
            let n = n.as_u64().expect("unsigned");
            vec![
                (n + 1).into(),
                n.saturating_sub(1).into(),
                u64::MAX.into(),
                n.to_string().into(),
                Value::Null,
            ]
            .into_iter()
            .filter(|changed| changed != value)
            .collect()
        }
        Value::String(s) => {
            let mut out: Vec<Value> = vec![
                format!("{s}x").into(),
                "".into(),
                "*".into(),
                "*:*".into(),
                0.into(),
            ];
            for at in 0..s.len().min(60) {
                let mut bytes = s.clone().into_bytes();
                bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
                out.push(String::from_utf8(bytes).expect("ASCII").into());
            }
            out.retain(|changed| changed != value);
            out
        }
        Value::Array(items) => {
            let mut out = Vec::new();
            for i in 0..items.len() {
                for changed in changes(&items[i]) {
                    let mut all = items.clone();
                    all[i] = changed;
                    out.push(all.into());
                }
                let mut all = items.clone();
                all.remove(i);
                out.push(all.into());
                let mut all = items.clone();
                all.insert(i, items[i].clone());
                out.push(all.into());
                for j in 0..i {
                    let mut all = items.clone();
                    all.swap(i, j);
                    out.push(all.into());
                }
            }
            out
        }
        Value::Object(members) => {
            let mut out = Vec::new();
            for (name, member) in members {
                for changed in changes(member) {
                    let mut all = members.clone();
                    all[name] = changed;
                    out.push(all.into());
                }
                // An id may be left out: it is recomputed.
                if name != "id" || members["type"] == "identity" {
                    let mut all = members.clone();
                    all.remove(name);
                    out.push(all.into());
                }
            }
            let mut all = members.clone();
            all.insert("unknown".into(), 1.into());
            out.push(all.into());
            out
        }
    }
}

#[test]
fn every_changed_member_of_every_json_file_is_refused() {
    let cast = cast();
    for file in all(&cast) {
        let text = file
            .clone()
            .with_signer(&cast.alice.document)
            .write()
            .expect("written");
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(verify_json(&value, &cast.alice.document), Ok(()));
        let mut own = value.clone();
        let signer = own
            .as_object_mut()
            .and_then(|members| members.remove("signer"));
        let mut count = 0;
        for changed in changes(&own) {
            let refused = verify_json(&changed, &cast.alice.document).expect_err("changed");
            assert!(super::named(file.kind, refused), "{refused:?}: {changed}");
            count += 1;
        }
        assert!(count > 100, "{count}");
        // The companion is checked too.
        for changed in changes(&signer.expect("signer")) {
            let mut whole = value.clone();
            whole["signer"] = changed;
            let refused = verify_json(&whole, &cast.alice.document).expect_err("changed");
            assert!(
                super::named(Type::Identity, refused),
                "{refused:?}: {whole}"
            );
        }
    }
}

#[test]
fn every_part_of_another_valid_object_is_refused() {
    let cast = cast();
    for (one, other) in objects(&cast, 1).iter().zip(&objects(&cast, 2)) {
        let read = |file: &File| -> Value {
            serde_json::from_str(&file.write().expect("written")).expect("JSON")
        };
        let (one, other) = (read(one), read(other));
        for (name, value) in other.as_object().expect("object") {
            if one[name] == *value {
                let signer = cast.alice.document.id().to_string();
                assert!(name == "type" || *value == signer, "{name}: {value}");
                continue;
            }
            let mut mixed = one.clone();
            mixed[name] = value.clone();
            let refused = verify_json(&mixed, &cast.alice.document).expect_err(name);
            let named = [Refusal::DerivedMismatch, Refusal::SignatureInvalid];
            assert!(named.contains(&refused), "{name}: {refused:?}");
            // Also where the id is left out to be recomputed: then only the signature speaks.
            if name != "id" {
                mixed.as_object_mut().expect("object").remove("id");
                assert_eq!(
                    verify_json(&mixed, &cast.alice.document),
                    Err(Refusal::SignatureInvalid),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn an_object_in_alices_name_by_another_is_refused() {
    let cast = cast();
    let other = Cast {
        alice: create("alice", Suite::Ed25519, 1_000).expect("created"),
        bob: cast.bob,
    };
    let alice = create("alice", Suite::Ed25519, 1_000).expect("created");
    for file in objects(&other, 1) {
        assert_eq!(
            verify(file.kind, &file.message, &alice.document),
            Err(Refusal::WrongSigner)
        );
    }
}

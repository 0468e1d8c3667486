//! What the tests of sources share: the exports of vectors/moving, and what holds of every source.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use signet_crypto::foreign;

use super::{Options, SOURCES, Source};
use crate::moved::{Moved, Person};
use crate::read::Part;
use crate::report::Fate;

/// Where the exports are.
const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/moving");

/// The export of a source that lies with the vectors.
pub(super) fn vectors(source: &Source) -> Moved {
    let options = Options {
        rp_id: Some("auth.acme.example".to_owned()),
    };
    let path = Path::new(VECTORS).join(source.name);
    source.read_path(&path, &options).unwrap()
}

/// A document as the one file of an export, `x.json`.
pub(super) fn read(source: &Source, document: &Value) -> Result<Moved, String> {
    let part = Part {
        name: "x.json".to_owned(),
        bytes: document.to_string().into_bytes(),
    };
    (source.read)(&[part], &Options::default()).map_err(|error| error.to_string())
}

/// Why a document is refused.
#[track_caller]
pub(super) fn refusal(source: &Source, document: &Value) -> String {
    read(source, document).err().expect("a refusal")
}

/// Somebody who came over.
#[track_caller]
pub(super) fn person<'a>(moved: &'a Moved, name: &str) -> &'a Person {
    let mut people = moved.people.iter();
    people.find(|one| one.username == name).expect("somebody")
}

/// That somebody's old password verifies (`password` of scripts/moving-vectors.py), and no other.
#[track_caller]
pub(super) fn has_password(moved: &Moved, username: &str, name: &str) {
    let stored = person(moved, username).password_hash.as_deref();
    let stored = stored.expect("a hash");
    let password = format!("old-password-of-{name}");
    assert!(foreign::verify(password.as_bytes(), stored), "{username}");
    assert!(!foreign::verify(b"another", stored), "{username}");
}

/// What is found under a row, by what it is called there: how many.
pub(super) fn found(moved: &Moved, row: &crate::report::Row) -> u64 {
    let findings = moved
        .report
        .iter()
        .filter(|(_, what, ..)| *what == row.what);
    findings.map(|(.., finding)| finding.count).sum()
}

#[test]
fn every_finding_stands_under_a_row_of_its_source_and_repeats_no_secret() {
    // Ory's is made by its own tests, and Signet's by those of what it writes.
    let laid = |source: &&&Source| !["ory", "signet"].contains(&source.name);
    for source in SOURCES.iter().filter(laid) {
        let moved = vectors(source);
        assert!(!moved.report.is_empty(), "{}", source.name);
        for (fate, what, ..) in moved.report.iter() {
            let row = source.rows.iter().find(|row| row.what == what);
            assert_eq!(row.map(|row| row.fate), Some(fate), "{what}");
            assert_ne!(fate, Fate::Comes, "{what}");
        }
        let text = moved.report.to_text(source.rows) + &moved.report.to_json().to_string();
        for secret in [
            "the-secret-of",
            "$pbkdf2",
            "$argon2",
            "$2a$",
            "$2b$",
            "GEZDGNBVGY3TQOJQ",
        ] {
            assert!(!text.contains(secret), "{}: {secret}", source.name);
        }
    }
}

#[test]
fn a_source_has_a_name_of_its_own_and_each_row_once() {
    for (at, source) in SOURCES.iter().enumerate() {
        assert!(SOURCES[..at].iter().all(|other| other.name != source.name));
        for (at, row) in source.rows.iter().enumerate() {
            let before = &source.rows[..at];
            assert!(
                before.iter().all(|other| other.what != row.what),
                "{}",
                row.what
            );
        }
    }
}

/// How many values are in a document, itself among them.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(size).sum(),
        Value::Object(members) => members.values().map(size).sum(),
        _ => 0,
    }
}

/// Puts another value in the place of the one of this number.
fn replace(value: &mut Value, number: &mut usize, other: &Value) {
    if *number == 0 {
        *value = other.clone();
    }
    *number = number.wrapping_sub(1);
    match value {
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| replace(value, number, other)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|value| replace(value, number, other)),
        _ => {}
    }
}

fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!([null])),
        Just(json!({ "a": [1] })),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(json!(1e300)),
        "[ -~]{0,12}".prop_map(Value::from),
        Just(json!("scrypt$1024$a$8$1$AAAA")),
        Just(json!("$2b$04$x")),
        Just(json!("\u{0}\u{202e}*")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// One value of an export is another: it is read, or refused with its place, and whatever hash
    /// comes over is one that can be verified.
    #[test]
    fn an_export_with_one_other_value_is_read_or_refused(
        which in any::<prop::sample::Index>(),
        number in any::<prop::sample::Index>(),
        other in odd(),
    ) {
        let files = [
            ("authentik", "authentik/dump.json"),
            ("zitadel", "zitadel/export.json"),
            ("zitadel", "zitadel/apps.json"),
            ("auth0", "auth0/import.json"),
            ("auth0", "auth0/clients.json"),
            ("auth0", "auth0/connections/corporate.json"),
            ("auth0", "auth0/roles/clerk.json"),
            ("pocket-id", "pocket-id/database.json"),
        ];
        let (name, file) = files[which.index(files.len())];
        let source = Source::named(name).unwrap();
        let bytes = std::fs::read(Path::new(VECTORS).join(file)).unwrap();
        let mut document: Value = serde_json::from_slice(&bytes).unwrap();
        let mut number = number.index(size(&document));
        replace(&mut document, &mut number, &other);
        match read(source, &document) {
            Ok(moved) => for person in &moved.people {
                let hash = person.password_hash.as_deref();
                prop_assert!(hash.is_none_or(|hash| foreign::check(hash).is_ok()));
            },
            Err(said) => prop_assert!(said.starts_with("x.json"), "{}", said),
        }
    }

    #[test]
    fn whatever_bytes_a_file_has_it_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for source in SOURCES {
            let part = Part { name: "x.json".to_owned(), bytes: bytes.clone() };
            if let Err(error) = (source.read)(&[part], &Options::default()) {
                prop_assert!(error.to_string().starts_with("x.json"), "{}", error);
            }
        }
    }
}

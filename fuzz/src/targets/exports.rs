//! Exports of Keycloak. Rule: whatever a file has in it, it is read or refused with its place;
//! whose password hash is taken, it can be verified here.

use signet_moving::read::Part;
use signet_moving::sources::{Options, Source};

/// The input as the one file of an export.
pub fn run(data: &[u8]) {
    let part = Part {
        name: "export".to_owned(),
        bytes: data.to_vec(),
    };
    let source = Source::named("keycloak").expect("a row of the table");
    match (source.read)(&[part], &Options::default()) {
        Ok(moved) => {
            for person in &moved.people {
                let hash = person.password_hash.as_deref();
                assert!(hash.is_none_or(|hash| signet_crypto::foreign::check(hash).is_ok()));
            }
            drop(moved.report.to_text(source.rows));
        }
        Err(error) => assert!(error.to_string().starts_with("export")),
    }
}

//! Exports of other servers, one target for each source that has a form of its own. Rule: whatever
//! a file has in it, it is read or refused with its place; whose password hash is taken, it can be
//! verified here.

use signet_moving::read::Part;
use signet_moving::sources::{Options, Source};

/// The input as the one file of an export.
fn export(source: &str, data: &[u8]) {
    let part = Part {
        name: "export".to_owned(),
        bytes: data.to_vec(),
    };
    let source = Source::named(source).expect("a row of the table");
    let options = Options {
        rp_id: Some("host.example".to_owned()),
    };
    match (source.read)(&[part], &options) {
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

/// Realms and users of Keycloak.
pub fn keycloak(data: &[u8]) {
    export("keycloak", data);
}

/// Rows of authentik.
pub fn authentik(data: &[u8]) {
    export("authentik", data);
}

/// Organizations of ZITADEL.
pub fn zitadel(data: &[u8]) {
    export("zitadel", data);
}

/// Users, password hashes, clients, connections and roles of Auth0.
pub fn auth0(data: &[u8]) {
    export("auth0", data);
}

/// The database of Pocket ID.
pub fn pocket_id(data: &[u8]) {
    export("pocket-id", data);
}

//! With files of the documented forms (vectors/moving/auth0).

use serde_json::json;

use super::form::CustomHash;
use super::{SOURCE, passwords, rows};
use crate::read::Part;
use crate::sources::Options;
use crate::sources::trial::{found, has_password, person, refusal, vectors};

#[test]
fn users_come_over_with_the_hashes_of_the_other_file() {
    let moved = vectors(&SOURCE);
    let mut names: Vec<_> = moved.people.iter().map(|one| &*one.username).collect();
    names.sort_unstable();
    let address = |name: &str| format!("{name}@acme.example");
    let mut expected = vec!["ada".to_owned()];
    expected.extend(
        [
            "ben", "cleo", "dora", "emil", "finn", "gina", "hugo", "iris",
        ]
        .map(address),
    );
    assert_eq!(names, expected);
    has_password(&moved, "ada", "ada");
    for name in ["ben", "cleo", "dora", "emil", "finn", "iris"] {
        has_password(&moved, &address(name), name);
    }
    let ada = person(&moved, "ada");
    assert_eq!(ada.profile["nickname"], "ada");
    assert_eq!(ada.created_at, Some(1_714_564_800));
    assert_eq!(ada.attributes["plan"], "gold");
    // In both: the user's own.
    assert_eq!(ada.attributes["theme"], "dark");
    assert_eq!(
        (&*ada.identities[0].provider, &*ada.identities[0].subject),
        ("corporate", "ada-there")
    );
    let ben = person(&moved, "ben@acme.example");
    assert!(!ben.enabled);
    assert_eq!(ben.profile["phone_number_verified"], true);
    assert!(person(&moved, "iris@acme.example").email_verified);
    let app = &person(&moved, "cleo@acme.example").totp[0];
    assert_eq!(app.secret, "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    assert_eq!((app.algorithm, app.digits, app.period), ("SHA1", 6, 30));
    for (row, count) in [
        // The salt before the password, and MD5.
        (&rows::OTHER_PASSWORDS, 2),
        (&rows::OTHER_FACTORS, 1),
        (&rows::ENROLMENTS, 1),
        (&rows::NAMELESS, 1),
        (&rows::NESTED, 1),
        (&rows::METADATA, 1),
        (&rows::SETTINGS, 1),
    ] {
        assert_eq!(found(&moved, row), count, "{}", row.what);
    }
}

#[test]
fn applications_connections_and_roles_come_over() {
    let moved = vectors(&SOURCE);
    let [shop, spa, machine] = &moved.clients[..] else {
        panic!()
    };
    assert_eq!(
        shop.document["redirect_uris"],
        json!(["https://shop.acme.example/cb"])
    );
    assert_eq!(
        shop.document["grant_types"],
        json!(["authorization_code", "refresh_token", "client_credentials"])
    );
    assert_eq!(shop.document["consent"], "implicit");
    assert_eq!(shop.document["id_token_signed_response_alg"], "RS256");
    assert_eq!(
        shop.document["backchannel_logout_uri"],
        "https://shop.acme.example/logout"
    );
    assert_eq!(spa.document["token_endpoint_auth_method"], "none");
    assert_eq!(spa.document["consent"], "ask");
    assert_eq!(machine.document["any_secret_method"], true);
    assert!(
        machine.document["client_secret"]
            .as_str()
            .unwrap()
            .starts_with("the-secret")
    );
    let [corporate] = &moved.providers[..] else {
        panic!()
    };
    assert_eq!(corporate.document["issuer"], "https://id.acme.example");
    assert_eq!(corporate.document["label"], "Corporate");
    assert_eq!(moved.roles[0].description.as_deref(), Some("Sells"));
    for (row, count) in [
        (&rows::WILDCARDS, 1),
        (&rows::OTHER_GRANTS, 1),
        (&rows::SIGNATURES, 1),
        (&rows::CLIENT_METADATA, 1),
        (&rows::OTHER_CONNECTIONS, 1),
        (&rows::PERMISSIONS, 1),
        (&rows::ROLE_MEMBERS, 1),
    ] {
        assert_eq!(found(&moved, row), count, "{}", row.what);
    }
}

#[test]
fn a_mistake_is_named_with_its_line_or_place_and_never_with_its_value() {
    let part = Part {
        name: "users.ndjson".to_owned(),
        bytes: b"{\"email\":\"a@b.example\"}\n\n{\"email\":\"c@b.example\",\"password_hash\":[\"hunter2\"]}\n".to_vec(),
    };
    let error = (SOURCE.read)(&[part], &Options::default()).err().unwrap();
    assert_eq!(
        error.to_string(),
        "users.ndjson:3: password_hash: expected a string"
    );
    let said = refusal(
        &SOURCE,
        &json!({ "clients": [{ "client_id": "a", "callbacks": "x" }] }),
    );
    assert!(
        said.contains("clients[0].callbacks: expected a sequence"),
        "{said}"
    );
    let said = refusal(&SOURCE, &json!([{ "email": "a@b.example" }, { "huh": 1 }]));
    assert!(said.starts_with("x.json: [1]: neither a user"), "{said}");
    assert!(refusal(&SOURCE, &json!(7)).contains("neither a user"));
}

#[test]
fn a_hash_of_another_form_is_not_taken() {
    let salt = json!({ "value": "abcdefgh", "position": "suffix" });
    for (given, why) in [
        (
            json!({ "algorithm": "hmac", "hash": { "value": "00" } }),
            "",
        ),
        (
            json!({ "algorithm": "sha256", "hash": { "value": "00" } }),
            "no salt",
        ),
        (
            json!({ "algorithm": "sha256", "hash": { "value": "0" }, "salt": salt }),
            "encoding",
        ),
        (
            json!({ "algorithm": "scrypt", "hash": { "value": "00" }, "salt": salt, "cost": 3 }),
            "power",
        ),
        (
            json!({ "algorithm": "bcrypt", "hash": { "value": "$2a$04$x" } }),
            "malformed",
        ),
        (
            json!({ "algorithm": "sha1", "hash": { "value": "00" }, "salt": salt, "password": { "encoding": "utf16le" } }),
            "UTF-8",
        ),
    ] {
        let given: CustomHash = serde_json::from_value(given).unwrap();
        let error = passwords::custom(&given).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

//! With the export of a real Keycloak (vectors/moving/keycloak), and with what none wrote.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use signet_crypto::foreign;

use super::SOURCE;
use crate::moved::Moved;
use crate::read::Part;
use crate::report::Fate;
use crate::sources::Options;

fn real() -> Moved {
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/moving/keycloak");
    SOURCE
        .read_path(Path::new(place), &Options::default())
        .unwrap()
}

fn read(document: &Value) -> Result<Moved, String> {
    let part = Part {
        name: "x.json".to_owned(),
        bytes: document.to_string().into_bytes(),
    };
    (SOURCE.read)(&[part], &Options::default()).map_err(|error| error.to_string())
}

#[test]
fn a_real_export_comes_over_with_everything_that_people_log_in_with() {
    let moved = real();
    let counts = moved.counts();
    assert_eq!(counts["people"], 12);
    assert_eq!(counts["with_password"], 12);
    assert_eq!(counts["with_totp"], 3);
    assert_eq!(counts["with_passkey"], 1);
    assert_eq!(counts["clients"], 2);
    assert_eq!(counts["providers"], 1);
    let person = |number: usize| {
        let name = format!("person{number:05}");
        moved
            .people
            .iter()
            .find(|one| one.username == name)
            .unwrap()
    };
    // The passwords of the script's `password(N)`: PBKDF2-SHA512, PBKDF2-SHA256, Argon2.
    for (number, password, kind) in [
        (0, "Acme-pgbb6sqiwnlg", "$pbkdf2-sha512$"),
        (6, "Acme-j7pipa7lccpg", "$pbkdf2-sha256$"),
        (9, "Acme-cknxgjzt2vlo", "$argon2id$"),
    ] {
        let hash = person(number).password_hash.as_deref().unwrap();
        assert!(hash.starts_with(kind), "{number}");
        assert_eq!(foreign::check(hash), Ok(()));
        assert!(foreign::verify(password.as_bytes(), hash), "{number}");
    }
    let forms: Vec<_> = [0, 5, 10]
        .iter()
        .map(|number| {
            let app = &person(*number).totp[0];
            (app.algorithm, app.digits, app.period)
        })
        .collect();
    assert_eq!(forms, [("SHA1", 6, 30), ("SHA1", 8, 30), ("SHA256", 6, 30)]);
    assert_eq!(person(4).passkeys[0].rp_id, "localhost");
    assert!(person(8).must_change_password);
    assert!(!person(10).enabled);
    assert_eq!(person(2).identities[0].subject, "up-2");
    assert_eq!(person(1).consents[0].scope, "openid profile email");
    assert_eq!(person(1).attributes["badges"], json!(["gold", "silver"]));
    assert_eq!(person(1).attributes["cost_centre"], json!("CC-1"));
    // A manager is an employee, and may refund in the shop.
    assert_eq!(person(4).roles, ["employee", "manager", "shop/refund"]);
    assert_eq!(person(0).groups, ["backend"]);
    let groups: Vec<_> = moved
        .groups
        .iter()
        .map(|group| (&*group.name, group.parent.as_deref()))
        .collect();
    assert_eq!(
        groups,
        [
            ("engineering", None),
            ("sales", None),
            ("backend", Some("engineering")),
            ("sales: backend", Some("sales")),
        ]
    );
}

#[test]
fn clients_and_providers_of_a_real_export_are_documents_of_the_admin_api() {
    let moved = real();
    let shop = moved
        .clients
        .iter()
        .find(|one| one.client_id == "shop")
        .unwrap();
    assert_eq!(
        shop.document["redirect_uris"],
        json!(["https://shop.example/callback"])
    );
    assert_eq!(
        shop.document["post_logout_redirect_uris"],
        json!(["https://shop.example/bye"])
    );
    assert_eq!(
        shop.document["client_secret"],
        "the-secret-of-the-shop-that-is-long-enough"
    );
    assert_eq!(shop.document["consent"], "ask");
    assert_eq!(shop.document["require_pkce"], true);
    let app = moved
        .clients
        .iter()
        .find(|one| one.client_id == "phone-app")
        .unwrap();
    assert_eq!(app.document["application_type"], "native");
    assert_eq!(app.document["token_endpoint_auth_method"], "none");
    let corporate = &moved.providers[0];
    assert_eq!(corporate.name, "corporate");
    assert_eq!(
        corporate.document["token_endpoint_auth_method"],
        "client_secret_post"
    );
}

#[test]
fn what_has_no_counterpart_is_reported_under_a_row_of_the_table_and_without_secrets() {
    let moved = real();
    let what: Vec<_> = moved.report.iter().map(|(_, what, ..)| what).collect();
    for row in [
        "SAML clients",
        "Composite roles",
        "Realm keys",
        "Attributes of groups",
    ] {
        assert!(what.contains(&row), "{row}: {what:?}");
    }
    for (fate, what, ..) in moved.report.iter() {
        let row = SOURCE.rows.iter().find(|row| row.what == what);
        assert_eq!(row.map(|row| row.fate), Some(fate), "{what}");
        assert_ne!(fate, Fate::Comes, "{what}");
    }
    let text = moved.report.to_text(SOURCE.rows) + &moved.report.to_json().to_string();
    for secret in [
        "the-secret-of",
        "the-secret-at",
        "$pbkdf2",
        "ANQ6CVG3AEDEMHYGQZIQ",
    ] {
        assert!(!text.contains(secret), "{secret}");
    }
}

#[test]
fn a_mistake_of_the_shape_is_named_with_its_place_and_never_with_its_value() {
    let realm = |more: Value| {
        let mut realm = json!({ "realm": "r", "roles": { "realm": [] } });
        realm
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        read(&realm).err().unwrap_or_default()
    };
    let said =
        realm(json!({ "users": [{ "username": "a" }, { "username": "b", "enabled": "secret!" }] }));
    assert!(
        said.starts_with("x.json: users[1].enabled: expected a boolean (line 1"),
        "{said}"
    );
    let said = realm(json!({ "clients": [{ "clientId": "c", "secret": ["hunter2"] }] }));
    assert!(
        said.contains("clients[0].secret: expected a string"),
        "{said}"
    );
    assert!(!said.contains("hunter2"));
    let said = realm(json!({ "users": [{}] }));
    assert!(
        said.contains("users[0]: missing field `username`"),
        "{said}"
    );
    assert!(
        read(&json!({ "realm": "r" }))
            .err()
            .unwrap()
            .contains("neither a realm")
    );
    assert!(
        read(&json!({ "users": [{ "username": "a" }] }))
            .err()
            .unwrap()
            .contains("no realm")
    );
    let two = json!([{ "realm": "a", "roles": {} }, { "realm": "b", "roles": {} }]);
    assert!(
        read(&two)
            .err()
            .unwrap()
            .contains("a second realm, \"b\" beside \"a\"")
    );
}

#[test]
fn what_a_person_cannot_keep_is_reported_and_the_person_comes() {
    let credential = |kind: &str, secret: Value, data: Value| json!({ "type": kind, "secretData": secret.to_string(), "credentialData": data.to_string() });
    let otp = |data: Value| credential("otp", json!({ "value": "A".repeat(20) }), data);
    let realm = json!({
        "realm": "r",
        "roles": { "realm": [] },
        "users": [{
            "username": "alice",
            "requiredActions": ["CONFIGURE_TOTP"],
            "credentials": [
                credential("password", json!({ "value": "x", "salt": "y" }), json!({ "hashIterations": 1, "algorithm": "custom" })),
                otp(json!({ "subType": "hotp" })),
                otp(json!({ "subType": "totp", "algorithm": "HmacMD5" })),
                otp(json!({ "subType": "totp", "period": 600 })),
                credential("webauthn", json!({}), json!({})),
                credential("webauthn-passwordless", json!({}), json!({})),
                credential("recovery-authn-codes", json!({}), json!({})),
                json!({ "type": "otp", "secretData": "no json" }),
                json!({}),
            ],
        }],
    });
    let moved = read(&realm).unwrap();
    let alice = &moved.people[0];
    assert_eq!(alice.password_hash, None);
    assert!(alice.totp.is_empty() && alice.passkeys.is_empty());
    let count: u64 = moved.report.iter().map(|(.., finding)| finding.count).sum();
    assert!(count >= 11, "{}", moved.report.to_text(SOURCE.rows));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~]{0,12}".prop_map(Value::from),
        "\\{\"(value|algorithm|digits|subType)\":\"?[a-z0-9]{0,4}\"?\\}".prop_map(Value::from),
    ];
    let member = prop_oneof![
        Just("realm"),
        Just("roles"),
        Just("users"),
        Just("clients"),
        Just("groups"),
        Just("name"),
        Just("clientId"),
        Just("username"),
        Just("credentials"),
        Just("type"),
        Just("secretData"),
        Just("credentialData"),
        Just("attributes"),
        Just("composites"),
        Just("realmRoles"),
        Just("subGroups"),
        Just("redirectUris"),
        Just("identityProviders"),
        Just("config"),
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((member.clone(), inner), 0..8).prop_map(|members| {
                members
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_a_file_has_in_it_it_is_read_or_refused(document in any_json()) {
        if let Err(said) = read(&document) {
            prop_assert!(said.starts_with("x.json"), "{}", said);
        }
    }

    #[test]
    fn whatever_bytes_a_file_has_it_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let part = Part { name: "x.json".to_owned(), bytes };
        let _ = (SOURCE.read)(&[part], &Options::default());
    }
}

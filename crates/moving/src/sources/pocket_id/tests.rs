//! With a database of the documented form (vectors/moving/pocket-id).

use serde_json::json;

use super::{SOURCE, rows};
use crate::read::Part;
use crate::sources::Options;
use crate::sources::trial::{found, person, read, refusal, vectors};

#[test]
fn a_database_comes_over_with_its_passkeys() {
    let moved = vectors(&SOURCE);
    let ada = person(&moved, "ada");
    assert_eq!(ada.id.as_deref(), Some("9LidwmL7Rr-fX8NPTq_pAQ"));
    assert_eq!(ada.groups, ["staff", "europe"]);
    assert_eq!(ada.attributes["cost_centre"], "CC-7");
    assert_eq!(ada.profile["name"], "Ada Example");
    assert_eq!(ada.created_at, Some(1_764_074_342));
    assert!(ada.enabled && ada.email_verified);
    let passkey = &ada.passkeys[0];
    assert_eq!(passkey.rp_id, "auth.acme.example");
    assert_eq!(passkey.id, "dGhlIGNyZWRlbnRpYWwgb2YgYWRh");
    assert_eq!(
        (passkey.sign_count, passkey.backup_eligible),
        (0, Some(false))
    );
    assert_eq!(passkey.transports, ["internal"]);
    let consent = &ada.consents[0];
    assert_eq!(consent.scope, "openid profile email");
    let ben = person(&moved, "ben");
    assert!(!ben.enabled && ben.email.is_none());
}

#[test]
fn clients_come_over_with_the_secrets_that_are_kept_as_sha_256() {
    let moved = vectors(&SOURCE);
    let [shop, wiki, new] = &moved.clients[..] else {
        panic!()
    };
    assert_eq!(
        shop.document["redirect_uris"],
        json!(["https://shop.acme.example/cb"])
    );
    assert_eq!(shop.document["require_pkce"], true);
    let hash = signet_crypto::hash::sha256(b"the-secret-of-shop-which-is-long-enough");
    let hash = signet_encoding::base64url::encode(&hash);
    assert_eq!(shop.document["client_secret_sha256"], hash);
    assert!(!wiki.document.contains_key("client_secret_sha256"));
    assert_eq!(new.document["token_endpoint_auth_method"], "none");
    assert_eq!(
        new.document["grant_types"],
        json!([
            "urn:ietf:params:oauth:grant-type:device_code",
            "refresh_token"
        ])
    );
    for (row, count) in [
        (&rows::SECRETS, 1),
        (&rows::FEDERATED, 1),
        (&rows::NO_CALLBACK, 1),
        (&rows::ALLOWED_GROUPS, 1),
        (&rows::REAUTHENTICATION, 1),
        (&rows::ADMINISTRATORS, 1),
        (&rows::LDAP, 1),
        (&rows::GROUP_CLAIMS, 1),
        (&rows::API_KEYS, 1),
        (&rows::SESSIONS_AND_TOKENS, 1),
        (&rows::OTHERS, 1),
    ] {
        assert_eq!(found(&moved, row), count, "{}", row.what);
    }
}

#[test]
fn without_the_host_passkeys_are_reported_and_their_people_come() {
    let key = json!({ "user_id": "1", "credential_id": "AAAA", "public_key": "AAAA" });
    let lost = json!({ "user_id": "9", "credential_id": "AAAA", "public_key": "AAAA" });
    let tables =
        json!({ "users": [{ "id": "1", "username": "a" }], "webauthn_credentials": [key, lost] });
    let moved = read(&SOURCE, &json!({ "tables": tables })).unwrap();
    assert!(moved.people[0].passkeys.is_empty());
    assert_eq!(found(&moved, &rows::PASSKEYS), 2);
}

#[test]
fn a_mistake_is_named_with_its_place_and_never_with_its_value() {
    let said = refusal(
        &SOURCE,
        &json!({ "tables": { "users": [{ "id": "1", "username": 7 }] } }),
    );
    assert!(
        said.starts_with("x.json: tables.users[0].username: expected a string (line 1"),
        "{said}"
    );
    let key = json!({ "user_id": "1", "credential_id": "AAAA", "public_key": "hunter2!" });
    let said = refusal(
        &SOURCE,
        &json!({ "tables": { "webauthn_credentials": [key] } }),
    );
    assert!(
        said.contains("webauthn_credentials[0].public_key: expected bytes in base64"),
        "{said}"
    );
    assert!(!said.contains("hunter2"));
    let client = json!({ "id": "1", "callback_urls": "e30=" });
    let said = refusal(&SOURCE, &json!({ "tables": { "oidc_clients": [client] } }));
    assert!(
        said.contains("oidc_clients[0].callback_urls: expected JSON in base64"),
        "{said}"
    );
    assert!(refusal(&SOURCE, &json!({})).contains("missing field `tables`"));
    let part = Part {
        name: "export.zip".to_owned(),
        bytes: b"PK\x03\x04".to_vec(),
    };
    let error = (SOURCE.read)(&[part], &Options::default()).err().unwrap();
    assert!(error.to_string().contains("unpack it"), "{error}");
}

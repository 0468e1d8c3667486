//! With a dump of the documented form (vectors/moving/authentik).

use serde_json::{Value, json};

use super::{SOURCE, rows};
use crate::sources::trial::{found, has_password, person, read, refusal, vectors};

fn row(model: &str, pk: u64, fields: Value) -> Value {
    json!({ "model": model, "pk": pk, "fields": fields })
}

fn user(pk: u64, fields: Value) -> Value {
    row("authentik_core.user", pk, fields)
}

#[test]
fn a_dump_comes_over_with_everything_that_people_log_in_with() {
    let moved = vectors(&SOURCE);
    let names: Vec<_> = moved.people.iter().map(|one| &*one.username).collect();
    assert_eq!(names, ["ada", "ben", "cleo", "dora"]);
    for name in ["ada", "ben", "cleo"] {
        has_password(&moved, name, name);
    }
    let ada = person(&moved, "ada");
    assert_eq!(ada.id.as_deref(), Some("AAAAAAAAQACAAAAAAAAAAg"));
    assert_eq!(ada.groups, ["staff", "europe"]);
    assert_eq!(ada.created_at, Some(1_714_564_800));
    assert_eq!(ada.profile["locale"], "de");
    assert_eq!(ada.profile["phone_number"], "+49301234567");
    assert_eq!(ada.attributes["cost_centre"], "CC-7");
    assert_eq!(ada.attributes["teams"], json!(["red", "blue"]));
    assert!(ada.enabled && !ada.email_verified);
    let app = &ada.totp[0];
    assert_eq!(app.secret, "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    assert_eq!((app.algorithm, app.digits, app.period), ("SHA1", 8, 30));
    assert_eq!(
        (&*ada.identities[0].provider, &*ada.identities[0].subject),
        ("acme", "ada-there")
    );
    let consent = &ada.consents[0];
    assert_eq!(
        (&*consent.client_id, &*consent.scope),
        ("shop", "openid email")
    );
    assert_eq!(ada.consents.len(), 1);
    // Nobody has confirmed the app.
    assert!(person(&moved, "ben").totp.is_empty());
    let dora = person(&moved, "dora");
    assert!(!dora.enabled && dora.password_hash.is_none());
}

#[test]
fn groups_clients_and_sources_come_over_and_the_rest_is_reported() {
    let moved = vectors(&SOURCE);
    let groups: Vec<_> = moved
        .groups
        .iter()
        .map(|group| (&*group.name, group.parent.as_deref()))
        .collect();
    assert_eq!(
        groups,
        [
            ("staff", None),
            ("authentik Admins", None),
            ("europe", Some("staff"))
        ]
    );
    let [shop, cli] = &moved.clients[..] else {
        panic!()
    };
    assert_eq!(shop.document["client_name"], "Shop");
    assert_eq!(
        shop.document["redirect_uris"],
        json!(["https://shop.acme.example/cb"])
    );
    assert_eq!(shop.document["scope"], "openid email");
    assert_eq!(shop.document["consent"], "implicit");
    assert_eq!(shop.document["client_uri"], "https://shop.acme.example/");
    assert!(
        shop.document["client_secret"]
            .as_str()
            .unwrap()
            .starts_with("the-secret")
    );
    assert_eq!(cli.document["token_endpoint_auth_method"], "none");
    assert_eq!(
        cli.document["redirect_uris"],
        json!(["http://localhost:9999/cb"])
    );
    assert_eq!(cli.document["consent"], "ask");
    let acme = &moved.providers[0].document;
    assert_eq!(acme["issuer"], "https://id.acme.example");
    assert_eq!(acme["scope"], "openid email profile groups");
    for (row, count) in [
        (&rows::SERVICE_ACCOUNTS, 1),
        (&rows::NO_PASSWORD, 1),
        (&rows::OTHER_TOTP, 1),
        (&rows::WEBAUTHN, 1),
        (&rows::STATIC, 1),
        (&rows::PATTERNS, 2),
        (&rows::ADMINISTRATORS, 1),
        (&rows::GROUP_ATTRIBUTES, 1),
        (&rows::NESTED, 1),
        (&rows::EXPIRING_CONSENTS, 1),
        (&rows::POLICIES, 1),
        (&rows::OTHER_APPLICATIONS, 1),
        (&rows::SIGNATURES, 1),
        // The SAML provider.
        (&rows::OTHERS, 1),
    ] {
        assert_eq!(found(&moved, row), count, "{}", row.what);
    }
}

#[test]
fn a_mistake_is_named_with_its_place_and_never_with_its_value() {
    let said = refusal(
        &SOURCE,
        &json!([
            user(1, json!({ "username": "a" })),
            user(2, json!({ "username": 7 }))
        ]),
    );
    assert_eq!(said, "x.json: [1].fields.username: expected a string");
    let said = refusal(
        &SOURCE,
        &json!([user(1, json!({ "username": "a", "password": ["hunter2"] }))]),
    );
    assert_eq!(said, "x.json: [0].fields.password: expected a string");
    let said = refusal(
        &SOURCE,
        &json!([user(
            1,
            json!({ "username": "a", "ak_groups": [["staff"]] })
        )]),
    );
    assert!(
        said.contains("[0].fields.ak_groups[0]: expected a key"),
        "{said}"
    );
    let said = refusal(
        &SOURCE,
        &json!([{ "model": "authentik_core.user", "fields": {} }]),
    );
    assert!(said.contains("[0]: missing field `pk`"), "{said}");
    let said = refusal(&SOURCE, &json!({ "version": 1, "entries": [] }));
    assert!(said.contains("a blueprint"), "{said}");
    assert!(refusal(&SOURCE, &json!([])).contains("neither users nor providers"));
}

#[test]
fn groups_that_are_in_each_other_end_somewhere() {
    let group = |pk: u64, name: &str, parent: u64| {
        row(
            "authentik_core.group",
            pk,
            json!({ "name": name, "parent": parent }),
        )
    };
    let dump = json!([
        user(1, json!({ "username": "a", "ak_groups": [1, 2, 3] })),
        group(1, "x", 2),
        group(2, "y", 3),
        group(3, "z", 1),
    ]);
    let moved = read(&SOURCE, &dump).unwrap();
    assert_eq!(moved.groups.len(), 3);
    assert_eq!(moved.people[0].groups.len(), 3);
    // Each is made after the one that it is in.
    for (at, group) in moved.groups.iter().enumerate() {
        let before = &moved.groups[..at];
        let parent = group.parent.as_ref();
        assert!(parent.is_none_or(|parent| before.iter().any(|other| other.name == *parent)));
    }
}

#[test]
fn passwords_of_django_are_what_is_verified_here_or_nothing() {
    use super::passwords::read;
    assert_eq!(read(""), Err(None));
    assert_eq!(read("!abc"), Err(None));
    let bcrypt = "$2b$04$L.WRoyBdvXkRCsCtIB0iy.hDmxTE0NA11urmvM18QuATbwJXfl7pa";
    assert_eq!(read(&format!("bcrypt${bcrypt}")), Ok(bcrypt.to_owned()));
    for other in [
        "plain",
        "md5$a$b",
        "bcrypt_sha256$$2b$12$x",
        "bcrypt$x",
        "scrypt$3$a$8$1$AAAA",
        "pbkdf2_sha256$1$a",
    ] {
        assert!(matches!(read(other), Err(Some(_))), "{other}");
    }
}

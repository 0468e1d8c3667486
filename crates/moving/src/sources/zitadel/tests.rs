//! With an export of the documented form (vectors/moving/zitadel).

use serde_json::json;

use super::{SOURCE, rows};
use crate::sources::trial::{found, has_password, person, read, refusal, vectors};

#[test]
fn an_export_comes_over_with_everything_that_people_log_in_with() {
    let moved = vectors(&SOURCE);
    assert_eq!(moved.from, "organization ACME of ZITADEL");
    assert_eq!(moved.people.len(), 4);
    for name in ["ada", "ben", "cleo"] {
        has_password(&moved, name, name);
    }
    let ada = person(&moved, "ada");
    assert_eq!(ada.id, None);
    assert!(ada.email_verified && ada.enabled && ada.groups.is_empty());
    assert_eq!(ada.roles, ["clerk", "Shop: admin"]);
    assert_eq!(ada.attributes["cost_centre"], "CC-7");
    assert_eq!(ada.profile["name"], "Ada Example");
    assert_eq!(ada.profile["locale"], "de");
    assert_eq!(ada.profile["phone_number_verified"], true);
    let app = &ada.totp[0];
    assert_eq!(app.secret, "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    assert_eq!((app.algorithm, app.digits, app.period), ("SHA1", 6, 30));
    assert_eq!(
        (&*ada.identities[0].provider, &*ada.identities[0].subject),
        ("corporate", "ada-there")
    );
    let ben = person(&moved, "ben");
    assert!(ben.must_change_password);
    assert_eq!(ben.identities[0].subject, "ben-there");
    assert_eq!(ben.roles, ["Wiki: admin"]);
    assert_eq!(person(&moved, "dora").password_hash, None);
}

#[test]
fn applications_have_the_client_id_that_is_listed_or_that_a_key_names() {
    let moved = vectors(&SOURCE);
    let [shop, spa, signed] = &moved.clients[..] else {
        panic!()
    };
    assert_eq!(shop.client_id, "401@shop");
    assert_eq!(
        shop.document["grant_types"],
        json!(["authorization_code", "refresh_token"])
    );
    assert_eq!(
        shop.document["redirect_uris"],
        json!(["https://shop.acme.example/cb"])
    );
    // No list has it, and no key.
    assert_eq!(spa.client_id, "402");
    assert_eq!(spa.document["token_endpoint_auth_method"], "none");
    assert_eq!(
        spa.document["allowed_origins"],
        json!(["https://spa.acme.example"])
    );
    assert_eq!(signed.client_id, "403@shop");
    assert_eq!(signed.document["enabled"], false);
    let corporate = &moved.providers[0];
    assert_eq!(corporate.name, "corporate");
    assert_eq!(corporate.document["scope"], "openid profile");
    for (row, count) in [
        (&rows::CLIENT_IDS, 1),
        (&rows::SECRETS, 1),
        (&rows::CLIENT_KEYS, 1),
        (&rows::OTHER_GRANTS, 1),
        (&rows::API_APPS, 1),
        (&rows::MACHINES, 1),
        (&rows::MANAGERS, 1),
        (&rows::OTHER_PASSWORDS, 1),
        (&rows::METADATA, 1),
        // Of domains and the lockout policy.
        (&rows::SETTINGS, 2),
    ] {
        assert_eq!(found(&moved, row), count, "{}", row.what);
    }
}

#[test]
fn of_several_organizations_each_is_a_group_and_a_name_is_somebodys_once() {
    let org = |id: &str, name: &str| {
        let user = json!({ "userId": id, "user": { "userName": "ada" } });
        json!({ "orgId": id, "org": { "name": name }, "humanUsers": [user] })
    };
    let export = json!({ "dataOrgs": { "orgs": [org("1", "North"), org("2", "South")] } });
    let moved = read(&SOURCE, &export).unwrap();
    let groups: Vec<_> = moved.groups.iter().map(|group| &*group.name).collect();
    assert_eq!(groups, ["North", "South"]);
    assert_eq!(moved.people.len(), 1);
    assert_eq!(moved.people[0].groups, ["North"]);
    assert_eq!(found(&moved, &rows::SAME_NAMES), 1);
}

#[test]
fn a_mistake_is_named_with_its_place_and_never_with_its_value() {
    let human = json!({ "userId": "1", "user": { "userName": "a", "hashedPassword": { "value": ["hunter2"] } } });
    let said = refusal(
        &SOURCE,
        &json!({ "orgs": [{ "orgId": "1", "humanUsers": [human] }] }),
    );
    assert!(
        said.starts_with(
            "x.json: orgs[0].humanUsers[0].user.hashedPassword.value: expected a string (line 1"
        ),
        "{said}"
    );
    assert!(!said.contains("hunter2"));
    assert!(refusal(&SOURCE, &json!({ "orgs": [{}] })).contains("missing field `orgId`"));
    assert!(refusal(&SOURCE, &json!({ "users": [] })).contains("neither an export"));
    assert!(refusal(&SOURCE, &json!({ "orgs": [] })).contains("no organization"));
}

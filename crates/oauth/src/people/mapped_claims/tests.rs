use super::*;
use crate::people::{Attribute, AttributeType, Group, Held, Holdings, Role, claim_rules};
use crate::registry::Resource;
use crate::testing;
use std::sync::Arc;

fn registry(groups: usize) -> Registry {
    let mut people = People::default();
    for i in 0..groups {
        people.put_group(Arc::new(Group {
            id: format!("g{i:03}"),
            name: format!("group-{i:03}"),
            description: None,
            parent: None,
            roles: Vec::new(),
            external_id: None,
            revision: 1,
        }));
    }
    for name in ["admin", "web/editor", "web/viewer", "api/reader"] {
        people.put_role(Arc::new(Role {
            id: format!("id-{name}"),
            name: name.into(),
            description: None,
            revision: 1,
        }));
    }
    let level = Attribute {
        kind: AttributeType::Number,
        ..Attribute::new("level")
    };
    let badge = Attribute {
        verified: true,
        ..Attribute::new("badge")
    };
    for attribute in [level, badge] {
        let name = attribute.name.clone();
        people.attributes.insert(name, Arc::new(attribute));
    }
    Registry {
        scopes: Registry::standard_scopes(),
        people: Arc::new(people),
        ..Registry::default()
    }
}

fn alice(groups: usize) -> UserClaims {
    let held = |value, verified| Held { value, verified };
    UserClaims {
        sub: "u1".into(),
        email: Some("alice@example.test".into()),
        held: Holdings {
            groups: (0..groups).map(|i| format!("g{i:03}")).collect(),
            roles: ["admin", "web/editor", "web/viewer", "api/reader"]
                .map(|name| format!("id-{name}"))
                .to_vec(),
            attributes: [
                ("level".to_owned(), held(AttributeValue::Number(7), false)),
                (
                    "badge".to_owned(),
                    held(AttributeValue::Text("b-1".into()), false),
                ),
            ]
            .into(),
            ..Holdings::default()
        },
        ..UserClaims::default()
    }
}

fn client(rows: &str) -> Client {
    let mut client = Client::new("web", 0);
    client.scope = testing::scope("openid groups");
    client.claims = claim_rules::parse(rows.as_bytes(), TableOf::Client).expect(rows);
    client
}

fn text_of(mapped: &Mapped) -> String {
    let mut out = Vec::new();
    Writer::new(&mut out).object(|w| mapped.write(w));
    String::from_utf8(out).expect("UTF-8")
}

fn given(rows: &str, scope: &str, target: Target, user: &UserClaims) -> String {
    let (registry, client) = (registry(150), client(rows));
    let about = About {
        client: Some(&client),
        scope: &testing::scope(scope),
        audience: &[],
        single: &[],
    };
    let found = mapped(&registry, about, target, user, Room::JSON);
    assert!(about.gives(&registry, target) || found.is_empty());
    text_of(&found)
}

#[test]
fn the_scope_groups_gives_the_names_of_the_groups() {
    let groups = |scope| given("[]", scope, Target::IdToken, &alice(2));
    assert_eq!(groups("openid"), "{}");
    assert_eq!(
        groups("openid groups"),
        r#"{"groups":["group-000","group-001"]}"#
    );
    // Nobody knows from an absent list that there are no groups.
    assert_eq!(
        given("[]", "groups", Target::AccessToken, &alice(0)),
        r#"{"groups":[]}"#
    );
}

#[test]
fn presets_have_the_shapes_that_applications_read() {
    let rows =
        r#"["realm_access.roles","resource_access",{"claim":"roles","from":"client_roles"}]"#;
    assert_eq!(
        given(rows, "openid", Target::AccessToken, &alice(0)),
        r#"{"realm_access":{"roles":["admin"]},"resource_access":{"api":{"roles":["reader"]},"web":{"roles":["editor","viewer"]}},"roles":["editor","viewer"]}"#
    );
}

#[test]
fn a_name_becomes_the_value_that_the_row_gives_it() {
    let rows = r#"[{"claim":"role","from":"groups","as":"string",
        "values":[["group-009","Admin"],["group-001","Editor"],["group-000","Viewer"]],"default":"None"}]"#;
    let role = |groups| given(rows, "openid", Target::Userinfo, &alice(groups));
    assert_eq!(role(10), r#"{"role":"Admin"}"#);
    assert_eq!(role(2), r#"{"role":"Editor"}"#);
    assert_eq!(role(0), r#"{"role":"None"}"#);
}

#[test]
fn an_attribute_has_its_type_and_waits_until_somebody_vouches_for_it() {
    let rows = r#"[{"claim":"hr.level","from":"attribute:level"},{"claim":"hr.badge","from":"attribute:badge"}]"#;
    let mut user = alice(0);
    assert_eq!(
        given(rows, "openid", Target::IdToken, &user),
        r#"{"hr":{"level":7}}"#
    );
    if let Some(badge) = user.held.attributes.get_mut("badge") {
        badge.verified = true;
    }
    assert_eq!(
        given(rows, "openid", Target::IdToken, &user),
        r#"{"hr":{"level":7,"badge":"b-1"}}"#
    );
    // The schema says another type since it was written: then it is no value.
    user.held.attributes.insert(
        "level".into(),
        Held {
            value: AttributeValue::Text("seven".into()),
            verified: true,
        },
    );
    let text = r#"[{"claim":"level","from":"attribute:level","as":"string","default":"0"}]"#;
    assert_eq!(
        given(text, "openid", Target::IdToken, &user),
        r#"{"level":"0"}"#
    );
}

#[test]
fn a_list_that_does_not_fit_is_left_out_whole_and_named() {
    let rows = r#"[{"preset":"groups","at_most":3}]"#;
    let groups = |n| given(rows, "openid", Target::IdToken, &alice(n));
    assert!(groups(3).contains("group-002"));
    assert_eq!(groups(4), r#"{"omitted_claims":["groups"]}"#);
    // The first table that gives a claim gives it: that of the scope does not fill in for it.
    let also = given(rows, "openid groups", Target::IdToken, &alice(4));
    assert_eq!(also, r#"{"omitted_claims":["groups"]}"#);
}

#[test]
fn all_claims_together_have_a_bound() {
    let rows = r#"[{"claim":"a","from":"groups"},{"claim":"b","from":"groups"},{"claim":"c","from":"groups"},
        {"claim":"d","from":"groups"},{"claim":"e","from":"groups"},{"claim":"f","from":"groups"},
        {"claim":"g","from":"groups"},{"claim":"h","from":"value:x"}]"#;
    let text = given(rows, "openid", Target::IdToken, &alice(80));
    assert!(text.len() < MAX_CLAIM_BYTES + 64, "{}", text.len());
    assert!(text.contains(r#""omitted_claims":["g"]"#), "{text}");
    assert!(text.contains(r#""h":"x""#));
}

#[test]
fn a_resource_servers_table_is_for_its_own_tokens() {
    let mut registry = registry(1);
    registry.resources.insert(
        "https://api.example".into(),
        Arc::new(Resource {
            identifier: "https://api.example".into(),
            name: None,
            scopes: ScopeSet::EMPTY,
            access_token_signed_response_alg: None,
            access_token_format: None,
            access_token_lifetime: None,
            introspectors: Vec::new(),
            claims: claim_rules::parse(br#"["groups"]"#, TableOf::Resource).expect("reads"),
            revision: 1,
        }),
    );
    let scope = testing::scope("openid");
    let api = ["https://api.example".to_owned()];
    let other = ["https://other.example".to_owned()];
    let of = |audience: &[String], target| {
        let about = About {
            client: None,
            scope: &scope,
            audience,
            single: &[],
        };
        text_of(&mapped(&registry, about, target, &alice(1), Room::JSON))
    };
    assert_eq!(of(&api, Target::AccessToken), r#"{"groups":["group-000"]}"#);
    assert_eq!(of(&api, Target::IdToken), "{}");
    assert_eq!(of(&other, Target::AccessToken), "{}");
}

#[test]
fn a_claim_that_is_asked_for_singly_comes_where_the_client_may_ask_for_its_scope() {
    let registry = registry(2);
    let request = |text: &str| {
        crate::issued::claims::ClaimsRequest::parse(text)
            .expect(text)
            .id_token
    };
    let single = request(r#"{"id_token":{"groups":null}}"#);
    let scope = testing::scope("openid");
    let mut client = client("[]");
    let of = |client: &Client, single: &[ClaimRequest]| {
        let about = About {
            client: Some(client),
            scope: &scope,
            audience: &[],
            single,
        };
        text_of(&mapped(
            &registry,
            about,
            Target::IdToken,
            &alice(1),
            Room::JSON,
        ))
    };
    assert_eq!(of(&client, &single), r#"{"groups":["group-000"]}"#);
    assert_eq!(of(&client, &[]), "{}");
    let of_value = request(r#"{"id_token":{"groups":{"value":"no"}}}"#);
    assert_eq!(of(&client, &of_value), "{}");
    client.scope = testing::scope("openid");
    assert_eq!(of(&client, &single), "{}");
}

#[test]
fn a_small_room_takes_what_fits() {
    let (registry, client) = (registry(100), client(r#"["groups","roles"]"#));
    let about = About {
        client: Some(&client),
        scope: &testing::scope("openid"),
        audience: &[],
        single: &[],
    };
    let room = Room {
        one: 100,
        all: 1000,
        count: 8,
    };
    let found = mapped(&registry, about, Target::AccessToken, &alice(50), room);
    assert_eq!(
        text_of(&found),
        r#"{"omitted_claims":["groups"],"roles":["admin"]}"#
    );
}

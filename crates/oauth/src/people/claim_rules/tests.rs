use super::*;
use proptest::prelude::*;

const JWT: Option<AccessTokenFormat> = Some(AccessTokenFormat::Jwt);
const COMPACT: Option<AccessTokenFormat> = Some(AccessTokenFormat::Compact);

fn client(text: &str) -> Result<Vec<ClaimRule>, Fault> {
    parse(text.as_bytes(), TableOf::Client)
}

#[test]
fn a_preset_stands_for_its_claim_and_goes_everywhere_that_the_table_can() {
    let rules =
        client(r#"["groups","realm_access.roles",{"preset":"resource_access","in":["id_token"]}]"#);
    let rules = rules.expect("reads");
    assert_eq!(rules[0].claim, ["groups"]);
    assert!(
        Target::ALL
            .iter()
            .all(|to| rules[0].goes_to(*to, TableOf::Client))
    );
    assert_eq!(rules[1].claim, ["realm_access", "roles"]);
    assert!(!rules[2].goes_to(Target::Userinfo, TableOf::Client));
    let of_resource = parse(br#"["groups"]"#, TableOf::Resource).expect("reads");
    assert!(!of_resource[0].goes_to(Target::IdToken, TableOf::Resource));
    assert!(of_resource[0].goes_to(Target::Introspection, TableOf::Resource));
}

#[test]
fn what_the_protocol_means_something_by_cannot_be_mapped_over() {
    for name in RESERVED {
        let row = format!(r#"[{{"claim":"{name}","from":"groups"}}]"#);
        assert!(client(&row).is_err(), "{name}");
        let nested = format!(r#"[{{"claim":"{name}.x","from":"groups"}}]"#);
        assert!(client(&nested).is_err(), "{name}");
    }
    // Nobody's address is what an attribute says it is.
    assert!(client(r#"[{"claim":"email","from":"attribute:mail"}]"#).is_err());
    assert!(client(r#"[{"claim":"email_verified","from":"value:true"}]"#).is_err());
    assert!(client(r#"[{"claim":"email","from":"profile:name"}]"#).is_err());
    assert!(client(r#"[{"claim":"email","from":"profile:email"}]"#).is_ok());
    assert!(client(r#"[{"claim":"mail","from":"profile:email"}]"#).is_ok());
}

// LP15. A table at rest is still read, so that its client goes on.
#[test]
fn what_introspection_says_of_a_person_cannot_be_mapped_over() {
    for name in RESERVED_LATER {
        for claim in [(*name).to_owned(), format!("{name}.x")] {
            let row = format!(r#"[{{"claim":"{claim}","from":"groups"}}]"#);
            let rules = client(&row).expect("reads");
            assert!(
                check(&rules, TableOf::Client, None, JWT).is_err(),
                "{claim}"
            );
            assert!(rules[0].is_reserved_later());
        }
    }
    let other = client(r#"[{"claim":"user_name","from":"groups"}]"#).expect("reads");
    assert!(check(&other, TableOf::Client, None, JWT).is_ok());
}

#[test]
fn a_claim_that_could_not_fit_is_refused_when_it_is_written() {
    let row = |n: usize| client(&format!(r#"[{{"preset":"groups","at_most":{n}}}]"#));
    assert!(row(91).is_ok());
    assert!(row(92).is_err());
    let rules = row(91).expect("reads");
    assert!(check(&rules, TableOf::Client, None, JWT).is_ok());
    assert!(check(&rules, TableOf::Client, None, COMPACT).is_err());
    assert!(check(&row(30).expect("reads"), TableOf::Client, None, COMPACT).is_ok());
    let elsewhere = client(r#"[{"preset":"groups","in":["id_token","userinfo"]}]"#);
    assert!(check(&elsewhere.expect("reads"), TableOf::Client, None, COMPACT).is_ok());
}

#[test]
fn an_attribute_must_be_one_of_the_schema() {
    let rules = client(r#"[{"claim":"department","from":"attribute:department"}]"#);
    let rules = rules.expect("reads");
    let mut people = People::default();
    assert!(check(&rules, TableOf::Client, Some(&people), JWT).is_err());
    let mut attribute = crate::people::Attribute::new("department");
    people
        .attributes
        .insert("department".into(), attribute.clone().into());
    assert!(check(&rules, TableOf::Client, Some(&people), COMPACT).is_ok());
    attribute.max_bytes = 2048;
    people
        .attributes
        .insert("department".into(), attribute.into());
    assert!(check(&rules, TableOf::Client, Some(&people), JWT).is_ok());
    assert!(check(&rules, TableOf::Client, Some(&people), COMPACT).is_err());
}

#[test]
fn two_rows_of_a_table_never_give_one_claim() {
    assert!(client(r#"["groups","groups"]"#).is_err());
    assert!(client(r#"[{"claim":"a","from":"groups"},{"claim":"a.b","from":"roles"}]"#).is_err());
    assert!(client(r#"[{"claim":"a.c","from":"groups"},{"claim":"a.b","from":"roles"}]"#).is_ok());
    let apart = r#"[{"preset":"groups","in":["id_token"]},{"preset":"groups","in":["userinfo"]}]"#;
    assert!(client(apart).is_ok());
}

#[test]
fn a_dot_of_a_name_is_written_behind_a_backslash() {
    let rules = client(r#"[{"claim":"https://a\\.example/groups","from":"groups"}]"#);
    assert_eq!(rules.expect("reads")[0].claim, ["https://a.example/groups"]);
    for bad in ["", "a..b", ".a", "a.", "a b", "a.b.c.d.e", "a\\\\x"] {
        let row = format!(r#"[{{"claim":"{bad}","from":"groups"}}]"#);
        assert!(client(&row).is_err(), "{bad}");
    }
}

#[test]
fn what_a_row_does_not_have_is_refused() {
    for bad in [
        r#"{}"#,
        r#"[1]"#,
        r#"["admin"]"#,
        r#"[{}]"#,
        r#"[{"claim":"a"}]"#,
        r#"[{"claim":"a","from":"b"}]"#,
        r#"[{"claim":"a","from":"attribute:"}]"#,
        r#"[{"claim":"a","from":"profile:sub"}]"#,
        r#"[{"claim":"a","from":"groups","script":"x"}]"#,
        r#"[{"claim":"a","from":"groups","in":[]}]"#,
        r#"[{"claim":"a","from":"groups","in":["cookie"]}]"#,
        r#"[{"claim":"a","from":"groups","as":"object"}]"#,
        r#"[{"claim":"a","from":"groups","default":"x"}]"#,
        r#"[{"claim":"a","from":"attribute:b","values":[["x","y"]]}]"#,
        r#"[{"claim":"a","from":"groups","values":[["x"]]}]"#,
        r#"[{"claim":"a","from":"groups","at_most":0}]"#,
        r#"[{"preset":"groups","claim":"x"}]"#,
        r#"[{"preset":"resource_access","as":"string"}]"#,
    ] {
        assert!(client(bad).is_err(), "{bad}");
    }
    let resource = parse(
        br#"[{"preset":"groups","in":["id_token"]}]"#,
        TableOf::Resource,
    );
    assert!(resource.is_err());
}

#[test]
fn a_table_is_written_as_it_was_read() {
    let text = r#"["groups",{"claim":"role","from":"groups","as":"string","values":[["admins","Admin"]],"default":"Viewer"}]"#;
    let rules = client(text).expect("reads");
    assert_eq!(to_json(&rules), text);
    assert_eq!(client(&to_json(&rules)).expect("reads"), rules);
    assert_eq!(groups()[0].claim, ["groups"]);
}

proptest! {
    #[test]
    fn reading_never_panics(text in ".{0,200}") {
        let _ = client(&text);
        let _ = client(&format!(r#"[{{"claim":{text:?},"from":"groups"}}]"#));
    }
}

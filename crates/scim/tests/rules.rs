//! Filters, patches and projections, by the specification's own examples and by chance.
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use signet_scim::{
    Kind,
    filter::{self, MAX_DEPTH, MAX_FILTER_BYTES, MAX_TERMS},
    patch,
    project::Projection,
};

fn person() -> Map<String, Value> {
    let person = json!({
        "id": "2819c223", "userName": "bjensen", "active": true, "title": "Tour Guide",
        "name": {"familyName": "O'Malley", "givenName": "Barbara"},
        "emails": [
            {"value": "bjensen@example.com", "type": "work", "primary": true},
            {"value": "babs@jensen.org", "type": "home"}],
        "meta": {"resourceType": "User", "lastModified": "2011-05-13T04:42:34Z"},
        "urn:x:Enterprise": {"department": "Tours", "level": 7},
    });
    person.as_object().unwrap().clone()
}

#[track_caller]
fn holds(text: &str, expected: bool) {
    let filter = filter::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(filter.holds(&person()), expected, "{text}");
    let again = filter::parse(&filter.to_string()).unwrap();
    assert_eq!(again.holds(&person()), expected, "{again}");
}

#[test]
fn the_filters_of_the_specification_hold() {
    // RFC 7644 figure 1, on a person of its own.
    for (text, expected) in [
        (r#"userName eq "bjensen""#, true),
        (r#"userName eq "BJensen""#, true),
        (r#"id eq "2819C223""#, false),
        (r#"name.familyName co "O'Malley""#, true),
        (r#"userName sw "J""#, false),
        (
            r#"urn:ietf:params:scim:schemas:core:2.0:User:userName sw "b""#,
            true,
        ),
        ("title pr", true),
        ("nickName pr", false),
        (r#"meta.lastModified gt "2011-05-13T04:42:33Z""#, true),
        (r#"meta.lastModified lt "2011-05-13T04:42:34Z""#, false),
        (r#"title pr and userType eq "Employee""#, false),
        (r#"title pr or userType eq "Intern""#, true),
        (
            r#"userType ne "Employee" and not (emails co "example.com" or emails.value co "example.org")"#,
            false,
        ),
        (
            r#"emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp"]"#,
            true,
        ),
        (r#"emails[type eq "home" and primary eq true]"#, false),
        (r#"emails.type eq "home""#, true),
        ("active eq true", true),
        ("active eq false", false),
        ("urn:x:Enterprise:level ge 7", true),
        ("urn:x:Enterprise:level gt 7", false),
        ("nickName eq null", true),
        ("title eq null", false),
        (r#"not (userName eq "bjensen")"#, false),
        // `and` binds closer than `or`.
        (r#"title pr or title pr and nickName pr"#, true),
        (r#"(title pr or title pr) and nickName pr"#, false),
    ] {
        holds(text, expected);
    }
}

#[test]
fn what_is_no_filter_or_too_much_of_one_is_refused() {
    let deep = format!(
        "{}title pr{}",
        "(".repeat(MAX_DEPTH + 1),
        ")".repeat(MAX_DEPTH + 1)
    );
    let many = vec!["a pr"; MAX_TERMS + 1].join(" or ");
    let long = format!("a eq \"{}\"", "x".repeat(MAX_FILTER_BYTES));
    for bad in [
        "",
        "title",
        "title eq",
        "title is 1",
        "title pr title pr",
        "(title pr",
        "title pr)",
        "not title pr",
        "title eq {}",
        "title eq \"x",
        "a[b pr",
        "a [b pr]",
        "1a pr",
        "and",
        "title pr and",
        "title eq [1]",
        &deep,
        &many,
        &long,
    ] {
        let error = filter::parse(bad).expect_err(bad);
        assert_eq!(error.kind, Kind::InvalidFilter, "{bad}");
    }
    let deep = format!("{}title pr{}", "(".repeat(MAX_DEPTH), ")".repeat(MAX_DEPTH));
    assert!(filter::parse(&deep).is_ok());
    let by_name = filter::parse(r#"active eq true and userName eq "x""#).unwrap();
    assert_eq!(by_name.equals("username"), Some("x"));
    let either = filter::parse(r#"active eq true or userName eq "x""#).unwrap();
    assert_eq!(either.equals("userName"), None);
}

fn patched(operations: Value) -> Result<Map<String, Value>, Kind> {
    let body = json!({"schemas": [patch::PATCH_SCHEMA], "Operations": operations});
    let mut person = person();
    let done = patch::parse(&body).and_then(|operations| patch::apply(&mut person, &operations));
    done.map(|()| person).map_err(|error| error.kind)
}

#[test]
fn patches_do_what_the_specification_says() {
    let of = |operations| Value::Object(patched(operations).unwrap());
    let added = of(
        json!([{"op": "add", "path": "emails", "value": [{"value": "c@x.org", "type": "other", "primary": true}]}]),
    );
    assert_eq!(added["emails"].as_array().unwrap().len(), 3);
    assert_eq!(added["emails"][0]["primary"], false);
    let twice = of(json!([{"op": "add", "path": "emails", "value": {"value": "babs@jensen.org"}}]));
    assert_eq!(twice["emails"].as_array().unwrap().len(), 2);
    let merged =
        of(json!([{"op": "Add", "value": {"nickName": "Babs", "name": {"givenName": "B"}}}]));
    assert_eq!(
        merged["name"],
        json!({"familyName": "O'Malley", "givenName": "B"})
    );
    assert_eq!(merged["nickName"], "Babs");
    let replaced = of(json!([{"op": "replace", "path": "name.familyName", "value": "Jensen"}]));
    assert_eq!(replaced["name"]["familyName"], "Jensen");
    let replaced = of(
        json!([{"op": "replace", "path": "emails[type eq \"work\"].value", "value": "w@x.org"}]),
    );
    assert_eq!(replaced["emails"][0]["value"], "w@x.org");
    let made = of(
        json!([{"op": "replace", "path": "phoneNumbers[type eq \"work\"].value", "value": "+1"}]),
    );
    assert_eq!(
        made["phoneNumbers"],
        json!([{"type": "work", "value": "+1"}])
    );
    let removed = of(json!([{"op": "remove", "path": "emails[type eq \"home\"]"}]));
    assert_eq!(removed["emails"].as_array().unwrap().len(), 1);
    let removed =
        of(json!([{"op": "remove", "path": "emails", "value": [{"value": "babs@jensen.org"}]}]));
    assert_eq!(removed["emails"].as_array().unwrap().len(), 1);
    let removed = of(json!([{"op": "remove", "path": "TITLE"}]));
    assert!(removed.get("title").is_none());
    let extension =
        of(json!([{"op": "replace", "path": "urn:x:Enterprise:department", "value": "IT"}]));
    assert_eq!(extension["urn:x:Enterprise"]["department"], "IT");
    let dotted =
        of(json!([{"op": "replace", "value": {"name.givenName": "Babs", "active": false}}]));
    assert_eq!(
        (&dotted["name"]["givenName"], &dotted["active"]),
        (&json!("Babs"), &json!(false))
    );

    for (bad, kind) in [
        (json!([{"op": "remove"}]), Kind::NoTarget),
        (
            json!([{"op": "remove", "path": "emails[type eq \"none\"]"}]),
            Kind::NoTarget,
        ),
        (
            json!([{"op": "replace", "path": "emails[type ne \"x\" and value eq 1]", "value": {}}]),
            Kind::NoTarget,
        ),
        (
            json!([{"op": "add", "path": "a b", "value": 1}]),
            Kind::InvalidPath,
        ),
        (
            json!([{"op": "add", "path": "title.part", "value": 1}]),
            Kind::InvalidPath,
        ),
        (json!([{"op": "add", "value": 1}]), Kind::InvalidValue),
        (json!([{"op": "add", "path": "title"}]), Kind::InvalidValue),
        (
            json!([{"op": "move", "path": "title", "value": 1}]),
            Kind::InvalidSyntax,
        ),
        (
            json!([{"op": "add", "path": "emails[", "value": 1}]),
            Kind::InvalidPath,
        ),
        (
            json!([{"op": "add", "path": "emails[x]", "value": 1}]),
            Kind::InvalidFilter,
        ),
        (json!({}), Kind::InvalidSyntax),
        (
            json!(vec![json!({"op": "remove", "path": "title"}); 101]),
            Kind::TooMany,
        ),
    ] {
        assert_eq!(patched(bad.clone()), Err(kind), "{bad}");
    }
    // All or nothing.
    let mut untouched = person();
    let body = json!({"schemas": [patch::PATCH_SCHEMA], "Operations": [
        {"op": "remove", "path": "title"}, {"op": "remove", "path": "emails[type eq \"none\"]"}]});
    assert!(patch::apply(&mut untouched, &patch::parse(&body).unwrap()).is_err());
    assert_eq!(untouched, person());
}

#[test]
fn a_projection_leaves_what_was_asked_for() {
    let names = |list: &[&str]| -> Vec<String> { list.iter().map(|n| (*n).to_owned()).collect() };
    let of = |only: &[&str], without: &[&str]| {
        let mut person = person();
        let projection = Projection::new(&names(only), &names(without)).unwrap();
        projection.apply(&mut person);
        Value::Object(person)
    };
    let only = of(&["USERNAME", "name.givenName", "emails.value"], &[]);
    assert_eq!(only["name"], json!({"givenName": "Barbara"}));
    assert_eq!(only["emails"][1], json!({"value": "babs@jensen.org"}));
    assert_eq!((only.get("active"), only.get("id").is_some()), (None, true));
    let without = of(&[], &["emails.type", "name", "id"]);
    assert_eq!(without["emails"][1], json!({"value": "babs@jensen.org"}));
    assert_eq!(
        (without.get("name"), without.get("id").is_some()),
        (None, true)
    );
    assert!(Projection::new(&names(&["a"]), &names(&["b"])).is_err());
    let members = Projection::new(&[], &names(&["members"])).unwrap();
    assert!(!members.wants("members") && members.wants("displayName"));
}

/// Text that is nearly a filter.
fn scraps() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("title".to_owned()),
        Just("emails".to_owned()),
        Just("not".to_owned()),
        Just(" and ".to_owned()),
        Just(" or ".to_owned()),
        Just(" eq ".to_owned()),
        Just(" pr".to_owned()),
        Just("(".to_owned()),
        Just(")".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just("\"x\"".to_owned()),
        Just("\"".to_owned()),
        Just(" ".to_owned()),
        Just("\\".to_owned()),
        Just("ü".to_owned()),
        Just(".type".to_owned()),
        Just("1".to_owned()),
        ".{0,4}",
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// Nothing panics, and what can be read means the same when it is written and read again.
    #[test]
    fn a_filter_is_refused_or_read_and_means_what_it_says(text in scraps()) {
        if let Ok(filter) = filter::parse(&text) {
            let again = filter::parse(&filter.to_string());
            // Written out, what was nested by precedence has parentheses.
            if let Ok(again) = again {
                prop_assert_eq!(again.holds(&person()), filter.holds(&person()));
            }
        }
    }

    /// A filter and its opposite never agree.
    #[test]
    fn not_is_the_opposite(text in scraps()) {
        let opposite = format!("not ({text})");
        if let (Ok(filter), Ok(opposite)) = (filter::parse(&text), filter::parse(&opposite)) {
            prop_assert_ne!(filter.holds(&person()), opposite.holds(&person()));
        }
    }

    /// Nothing panics, a refused patch changes nothing, and the same replacement twice is one.
    #[test]
    fn a_patch_is_whole_or_nothing(
        act in proptest::sample::select(vec!["add", "replace", "remove"]),
        path in prop_oneof![scraps(), Just("emails[type eq \"work\"].value".to_owned()), Just("name".to_owned())],
        value in proptest::sample::select(vec![json!(1), json!("x"), json!([{"value": "y"}]), json!({"value": "z"}), Value::Null]),
    ) {
        let body = json!({"schemas": [patch::PATCH_SCHEMA], "Operations": [{"op": act, "path": path, "value": value}]});
        let Ok(operations) = patch::parse(&body) else { return Ok(()) };
        let mut once = person();
        if patch::apply(&mut once, &operations).is_err() {
            prop_assert_eq!(once, person());
            return Ok(());
        }
        if act == "replace" {
            let mut twice = once.clone();
            if patch::apply(&mut twice, &operations).is_ok() {
                prop_assert_eq!(twice, once);
            }
        }
    }
}

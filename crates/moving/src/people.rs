//! People on their way: attributes as they were found, and the schema that fits them all.
//!
//! What a name says decides: a standard claim goes into the profile, everything else becomes an
//! attribute, one text or a list of them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use signet_crypto::foreign;
use signet_encoding::base64url;
use signet_oauth::people::{
    MAX_ATTRIBUTE_BYTES, MAX_ATTRIBUTE_ITEMS, MAX_ATTRIBUTE_TOTAL_BYTES, MAX_ATTRIBUTES,
};

use crate::moved::{Attribute, Moved, Person};
use crate::names;
use crate::report::Row;

/// Members of a profile that are one text.
const PROFILE: [&str; 14] = [
    "name",
    "given_name",
    "family_name",
    "middle_name",
    "nickname",
    "profile",
    "picture",
    "website",
    "gender",
    "birthdate",
    "zoneinfo",
    "locale",
    "phone_number",
    "address",
];
/// Longest text of a profile.
const MAX_PROFILE_BYTES: usize = 512;
/// The least that a schema leaves room for.
const USUAL_BYTES: usize = 256;

/// A person with what they have beside the standard claims, by the names that it has there.
pub(crate) struct Draft {
    pub(crate) person: Person,
    pub(crate) attributes: BTreeMap<String, Vec<String>>,
}

/// What a schema has to hold of one attribute.
#[derive(Default)]
struct Seen {
    people: usize,
    longest: usize,
    most: usize,
    labels: Vec<String>,
}

/// Puts people into what is moved, with a schema that has their attributes. `row`: of attributes
/// that cannot be kept.
pub(crate) fn finish(moved: &mut Moved, drafts: Vec<Draft>, row: &Row) {
    let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
    let mut people = Vec::with_capacity(drafts.len());
    for Draft {
        mut person,
        attributes,
    } in drafts
    {
        let (report, username) = (&mut moved.report, &person.username);
        person.profile.retain(|member, value| {
            let fits = value.as_str().is_none_or(is_profile_text);
            if !fits {
                report.add(row, username, format!("{member}: too long"));
            }
            fits
        });
        let mut kept: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, mut values) in attributes {
            values.retain(|value| !value.is_empty());
            if values.is_empty() {
                continue;
            }
            let Some(folded) = names::attribute(&name) else {
                moved.report.add(
                    row,
                    &person.username,
                    format!("{name}: no name for a schema"),
                );
                continue;
            };
            if PROFILE.contains(&&*folded) && !person.profile.contains_key(&folded) {
                let text = values.swap_remove(0);
                match is_profile_text(&text) {
                    true => drop(person.profile.insert(folded, text.into())),
                    false => moved
                        .report
                        .add(row, &person.username, format!("{name}: too long")),
                }
                continue;
            }
            if folded == "phone_number_verified" {
                person.profile.insert(folded, (values[0] == "true").into());
                continue;
            }
            let bytes: usize = values.iter().map(String::len).sum();
            let fits = |text: &String| {
                text.len() <= MAX_ATTRIBUTE_BYTES && !text.chars().any(char::is_control)
            };
            if values.len() > MAX_ATTRIBUTE_ITEMS
                || bytes > MAX_ATTRIBUTE_TOTAL_BYTES
                || !values.iter().all(fits)
            {
                let why = format!("{name}: longer than an attribute can be, or of several lines");
                moved.report.add(row, &person.username, why);
                continue;
            }
            let all = seen.entry(folded.clone()).or_default();
            all.people += 1;
            all.longest = values
                .iter()
                .map(String::len)
                .max()
                .unwrap_or(0)
                .max(all.longest);
            all.most = all.most.max(values.len());
            if folded != name && !all.labels.contains(&name) {
                all.labels.push(name);
            }
            kept.insert(folded, values);
        }
        people.push((person, kept));
    }
    let schema = schema(moved, seen, row);
    moved.people = people
        .into_iter()
        .map(|(mut person, kept)| {
            for (name, values) in kept {
                let Some(attribute) = schema.get(&name) else {
                    continue;
                };
                let value = match attribute.kind {
                    "list" => json!(values),
                    _ => json!(values[0]),
                };
                let fits = values.len() <= attribute.max_items.max(1)
                    && values.iter().all(|text| text.len() <= attribute.max_bytes);
                match fits {
                    true => drop(person.attributes.insert(name, value)),
                    false => moved
                        .report
                        .add(row, &person.username, format!("{name}: too long")),
                }
            }
            person
        })
        .collect();
    moved.attributes = schema.into_values().collect();
}

/// Whether a member of a profile can be this text.
fn is_profile_text(text: &str) -> bool {
    text.len() <= MAX_PROFILE_BYTES && !text.chars().any(char::is_control)
}

/// The attributes that most people have, as many as a schema takes.
fn schema(
    moved: &mut Moved,
    seen: BTreeMap<String, Seen>,
    row: &Row,
) -> BTreeMap<String, Attribute> {
    let mut seen: Vec<(String, Seen)> = seen.into_iter().collect();
    seen.sort_by_key(|(_, all)| std::cmp::Reverse(all.people));
    for (name, _) in seen.iter().skip(MAX_ATTRIBUTES) {
        let why = format!("a schema has at most {MAX_ATTRIBUTES} attributes");
        moved.report.add(row, name, why);
    }
    let fitting = seen.into_iter().take(MAX_ATTRIBUTES).map(|(name, all)| {
        let is_list = all.most > 1;
        // A list's longest text times its items is bounded.
        let max_bytes = match is_list {
            true => all
                .longest
                .max(MAX_ATTRIBUTE_TOTAL_BYTES / MAX_ATTRIBUTE_ITEMS),
            false => all.longest.max(USUAL_BYTES),
        };
        let attribute = Attribute {
            label: all.labels.first().cloned(),
            kind: if is_list { "list" } else { "string" },
            max_bytes,
            max_items: match is_list {
                true => (MAX_ATTRIBUTE_TOTAL_BYTES / max_bytes).clamp(1, MAX_ATTRIBUTE_ITEMS),
                false => 1,
            },
            name: name.clone(),
        };
        (name, attribute)
    });
    fitting.collect()
}

/// Gives the person a member of the profile, if the text says something.
pub(crate) fn tell(person: &mut Person, member: &str, text: Option<&str>) {
    if let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) {
        person.profile.insert(member.to_owned(), text.into());
    }
}

/// Gives the person their names; `full` is made of the others where it is not said.
pub(crate) fn call(
    person: &mut Person,
    given: Option<&str>,
    family: Option<&str>,
    full: Option<&str>,
) {
    tell(person, "given_name", given);
    tell(person, "family_name", family);
    let both: Vec<&str> = [given, family].into_iter().flatten().collect();
    let full = full
        .map(str::to_owned)
        .filter(|full| !full.trim().is_empty());
    let full = full.unwrap_or_else(|| both.join(" "));
    tell(person, "name", Some(&full));
}

/// A password hash that can be verified here, or why not.
pub(crate) fn hash(stored: String) -> Result<String, String> {
    foreign::check(&stored).map_err(|error| error.to_string())?;
    Ok(stored)
}

/// The id here of an account whose id is a UUID: its 16 bytes.
pub(crate) fn id_of_uuid(text: &str) -> Option<String> {
    let shape = text.len() == 36
        && [8, 13, 18, 23]
            .iter()
            .all(|at| text.as_bytes()[*at] == b'-');
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    if !shape || digits.len() != 32 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let number = u128::from_str_radix(&digits, 16).ok()?;
    Some(base64url::encode(&number.to_be_bytes()))
}

/// The texts of an attribute; a list of them, or one.
pub(crate) fn texts(value: Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.into_iter().flat_map(texts).collect(),
        Value::String(text) => vec![text],
        Value::Number(number) => vec![number.to_string()],
        Value::Bool(value) => vec![value.to_string()],
        Value::Null | Value::Object(_) => Vec::new(),
    }
}

/// A member that is a text, or nothing.
pub(crate) fn text(value: &Value, name: &str) -> Option<String> {
    let text = value.get(name)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Fate;

    const ROW: Row = Row {
        what: "attributes",
        fate: Fate::InPart,
        note: "",
    };

    fn draft(name: &str, attributes: &[(&str, &[&str])]) -> Draft {
        Draft {
            person: Person {
                username: name.to_owned(),
                ..Person::default()
            },
            attributes: attributes
                .iter()
                .map(|(name, values)| {
                    let values = values.iter().map(|one| (*one).to_owned()).collect();
                    ((*name).to_owned(), values)
                })
                .collect(),
        }
    }

    #[test]
    fn an_attribute_that_somebody_has_twice_is_a_list_for_everybody() {
        let mut moved = Moved::default();
        let drafts = vec![
            draft("alice", &[("badge", &["gold"]), ("phoneNumber", &["+49"])]),
            draft(
                "bob",
                &[("badge", &["gold", "silver"]), ("costCentre", &["7"])],
            ),
        ];
        finish(&mut moved, drafts, &ROW);
        assert!(moved.report.is_empty());
        let [alice, bob] = &moved.people[..] else {
            panic!()
        };
        assert_eq!(alice.attributes["badge"], json!(["gold"]));
        assert_eq!(alice.profile["phone_number"], "+49");
        assert_eq!(bob.attributes["badge"], json!(["gold", "silver"]));
        assert_eq!(bob.attributes["cost_centre"], json!("7"));
        let kinds: Vec<_> = moved
            .attributes
            .iter()
            .map(|one| (&*one.name, one.kind))
            .collect();
        assert_eq!(kinds, [("badge", "list"), ("cost_centre", "string")]);
        assert_eq!(moved.attributes[1].label.as_deref(), Some("costCentre"));
    }

    #[test]
    fn what_a_schema_cannot_hold_is_reported_and_left_out() {
        let mut moved = Moved::default();
        let long = "x".repeat(MAX_ATTRIBUTE_BYTES + 1);
        let many: Vec<String> = (0..MAX_ATTRIBUTES + 2).map(|n| format!("a{n}")).collect();
        let mut attributes: Vec<(&str, &[&str])> = vec![];
        let value: &[&str] = &["v"];
        attributes.extend(many.iter().map(|name| (&**name, value)));
        let long: &[&str] = &[&long];
        attributes.push(("long", long));
        finish(&mut moved, vec![draft("alice", &attributes)], &ROW);
        assert_eq!(moved.attributes.len(), MAX_ATTRIBUTES);
        assert_eq!(moved.people[0].attributes.len(), MAX_ATTRIBUTES);
        let found: u64 = moved.report.iter().map(|(.., finding)| finding.count).sum();
        assert_eq!(found, 3);
    }
}

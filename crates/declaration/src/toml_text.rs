//! TOML as it is exported: one text for given values.
use serde_json::{Map, Value};
use std::fmt::Write;

/// A table of an array of tables.
pub(crate) fn table(out: &mut String, name: &str, members: &Map<String, Value>) {
    // Writing into a text does not fail.
    let _ = writeln!(out, "[[{}]]", key(name));
    for (name, member) in members {
        if !member.is_null() {
            let _ = writeln!(out, "{} = {}", key(name), value(member));
        }
    }
}

fn key(name: &str) -> String {
    let is_bare = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
    match !name.is_empty() && name.bytes().all(is_bare) {
        true => name.to_owned(),
        false => text(name),
    }
}

/// The escapes of JSON are those of TOML, which wants one more.
fn text(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn value(of: &Value) -> String {
    match of {
        Value::String(of) => text(of),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(value).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members = members.iter().filter(|(_, member)| !member.is_null());
            let members: Vec<String> = members
                .map(|(name, member)| format!("{} = {}", key(name), value(member)))
                .collect();
            match members.is_empty() {
                true => "{}".to_owned(),
                false => format!("{{ {} }}", members.join(", ")),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => of.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{node, read};
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,8}|[\u{0}-\u{ff}]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[ -~é]{1,4}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            members in prop::collection::btree_map("[ -~é]{1,6}", values(), 0..6),
        ) {
            let members: Map<String, Value> = members.into_iter().collect();
            let mut out = String::new();
            table(&mut out, "clients", &members);
            let read = read::parse("a.toml", &out).map_err(|(_, said)| said).unwrap();
            let expected = serde_json::json!({ "clients": [members] });
            prop_assert_eq!(Value::Object(node::to_object(&read)), expected);
        }
    }
}

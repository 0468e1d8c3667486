//! What a server has, as files of a directory: one text for one state.
use crate::toml_text;
use serde_json::{Map, Value, json};
use signet_admin::DECLARED;
use std::collections::{BTreeMap, BTreeSet};

/// An object of a server.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Exported {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) owner: String,
    pub(crate) members: Map<String, Value>,
    pub(crate) has_secret: bool,
}

/// What the admin API answered.
pub(crate) fn read(answer: &Value) -> Vec<Exported> {
    let objects = answer["objects"].as_array().into_iter().flatten();
    let objects = objects.map(|object| {
        let text = |member: &str| object[member].as_str().unwrap_or_default().to_owned();
        Exported {
            kind: text("kind"),
            name: text("name"),
            owner: text("owner"),
            members: object["members"].as_object().cloned().unwrap_or_default(),
            has_secret: object["has_secret"] == true,
        }
    });
    objects.collect()
}

/// What a directory can declare: what the configuration file, SCIM or a registration owns, what
/// every server has and who is kept elsewhere is not among it.
pub(crate) fn is_declarable(object: &Exported) -> bool {
    let of_directory = object.owner.strip_prefix("directory ");
    object.owner == "hand" || of_directory.is_some_and(|name| !name.starts_with("service "))
}

/// The files, by name, and the places of secrets that have to be filled.
pub(crate) fn files(objects: &[Exported]) -> (BTreeMap<String, String>, BTreeSet<String>) {
    let mut files = BTreeMap::new();
    let mut secrets = BTreeSet::new();
    for declared in DECLARED {
        let of_kind = objects.iter().filter(|one| one.kind == declared.kind());
        let mut of_kind: Vec<&Exported> = of_kind.filter(|one| is_declarable(one)).collect();
        of_kind.sort_by(|a, b| a.name.cmp(&b.name));
        let mut text = String::new();
        for object in of_kind {
            if !text.is_empty() {
                text.push('\n');
            }
            let mut members = object.members.clone();
            members.insert(declared.id.to_owned(), object.name.clone().into());
            if let Some(secret) = declared.secret.filter(|_| object.has_secret) {
                let place = format!("secrets/{}-{}", declared.kind(), file_name(&object.name));
                members.insert(secret.to_owned(), json!({ "file": place }));
                secrets.insert(place);
            }
            toml_text::table(&mut text, declared.table, &members);
        }
        if !text.is_empty() {
            files.insert(format!("{}.toml", declared.table), text);
        }
    }
    (files, secrets)
}

/// A name as a part of a file's name: different names stay different.
fn file_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte.is_ascii_alphanumeric() || b"-_".contains(&byte) {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!(".{byte:02x}")),
        }
    }
    out
}

/// Where two servers differ, as a plan that would make the first one like the second.
pub(crate) fn difference(one: &[Exported], other: &[Exported]) -> Value {
    let by_name = |objects: &[Exported]| -> BTreeMap<(usize, String), Exported> {
        let objects = objects.iter().filter(|object| is_declarable(object));
        let keyed = objects.filter_map(|object| {
            let kind = DECLARED.iter().position(|d| d.kind() == object.kind)?;
            Some(((kind, object.name.clone()), object.clone()))
        });
        keyed.collect()
    };
    let (one, other) = (by_name(one), by_name(other));
    let keys: BTreeSet<_> = one.keys().chain(other.keys()).collect();
    let mut changes = Vec::new();
    for key in keys {
        let (before, after) = (one.get(key), other.get(key));
        let act = match (before, after) {
            (None, _) => "add",
            (_, None) => "remove",
            (Some(_), Some(_)) => "change",
        };
        let none = Map::new();
        let then = before.map_or(&none, |object| &object.members);
        let now = after.map_or(&none, |object| &object.members);
        let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
        let members: Vec<Value> = names
            .into_iter()
            .filter(|name| then.get(*name) != now.get(*name))
            .map(|name| {
                let mut member = json!({ "name": name });
                for (side, value) in [("before", then.get(name)), ("after", now.get(name))] {
                    if let Some(value) = value {
                        member[side] = value.clone();
                    }
                }
                member
            })
            .collect();
        if act != "change" || !members.is_empty() {
            let (kind, name) = (DECLARED[key.0].kind(), &key.1);
            changes.push(json!({ "kind": kind, "name": name, "act": act, "members": members }));
        }
    }
    json!({ "changes": changes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_names_are_different_files() {
        let names = ["a/b", "a.2fb", "a b", "A", "a", "ä", "..", "."];
        let files: BTreeSet<String> = names.iter().map(|name| file_name(name)).collect();
        assert_eq!(files.len(), names.len());
        assert!(files.iter().all(|file| !file.contains('/')));
    }
}

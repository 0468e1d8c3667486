//! What stands in for values that have to be there and are not: with them the rest of a wrong file
//! can be read, and everything else that is wrong with it is found in the same run.
use crate::shape::shapes;
use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A member that has to be there, and is not.
pub(crate) struct Missing {
    /// Its table: `clients[1]`; empty: the file.
    pub(crate) table: String,
    /// What it is called.
    pub(crate) name: String,
}

/// Puts something into each table that lacks what its schema demands, and says where.
pub(crate) fn fill(root: &mut DeTable<'_>, schema: &Json) -> Vec<Missing> {
    let mut found = Vec::new();
    table(root, schema, schema, "", &mut found);
    found
}

fn table(own: &mut DeTable<'_>, node: &Json, root: &Json, path: &str, found: &mut Vec<Missing>) {
    let all = shapes(node, root);
    let tables: Vec<&&Json> = all
        .iter()
        .filter(|one| one["properties"].is_object())
        .collect();
    // One of several shapes: which of them was meant is not known.
    let [shape] = tables.as_slice() else { return };
    for name in shape["required"].as_array().into_iter().flatten() {
        let Some(name) = name.as_str() else { continue };
        let is_there = own.iter().any(|(key, _)| key.get_ref().as_ref() == name);
        if !is_there && let Some(value) = value(name, &shape["properties"][name], root) {
            own.insert(Spanned::new(0..0, name.to_owned().into()), value);
            found.push(Missing {
                table: path.to_owned(),
                name: name.to_owned(),
            });
        }
    }
    for (key, value) in own.iter_mut() {
        let name = key.get_ref().as_ref();
        let here = match path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        let member = &shape["properties"][name];
        match value.get_mut() {
            DeValue::Table(inner) => table(inner, member, root, &here, found),
            DeValue::Array(items) => {
                let lists = shapes(member, root);
                let Some(of) = lists.iter().find_map(|one| one.get("items")) else {
                    continue;
                };
                for (index, item) in items.iter_mut().enumerate() {
                    if let DeValue::Table(inner) = item.get_mut() {
                        table(inner, of, root, &format!("{here}[{index}]"), found);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Something that the member may be. Nobody is shown it: what is wrong with it is left out.
fn value(name: &str, node: &Json, root: &Json) -> Option<Spanned<DeValue<'static>>> {
    let all = shapes(node, root);
    let choice = all.iter().find_map(|one| {
        let first = one["enum"].as_array().and_then(|list| list.first());
        first.or(one.get("const"))?.as_str()
    });
    let is = |kind: &str| all.iter().any(|one| one["type"] == kind);
    let text = match name {
        // An address is a text to the schema.
        "address" | "listen" => "127.0.0.1:1",
        "issuer" => "https://id.invalid",
        _ => choice.unwrap_or("stand-in"),
    };
    let value = match () {
        () if choice.is_some() || is("string") => DeValue::String(text.to_owned().into()),
        () if is("array") => DeValue::Array(Default::default()),
        () if is("boolean") => DeValue::Boolean(false),
        () => return None,
    };
    Some(Spanned::new(0..0, value))
}

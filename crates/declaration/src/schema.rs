//! Values beside their JSON Schema: members that are not known, and values of a wrong type.
use crate::directory::Object;
use crate::mistake::Mistake;
use crate::node::{Data, Member, Node};
use serde_json::{Map, Value, json};
use signet_admin::DECLARED;
use signet_config::fault::nearest;
use signet_config::read::shapes;

/// The JSON Schema of a file of a directory.
pub(crate) fn whole() -> Value {
    let mut properties = Map::new();
    let mut definitions = Map::new();
    for declared in DECLARED {
        let mut schema = declared.schema();
        if let Some(Value::Object(own)) = schema.get_mut("$defs").map(Value::take) {
            definitions.extend(own);
        }
        if let Some(schema) = schema.as_object_mut() {
            schema.remove("$defs");
        }
        definitions.insert(declared.table.to_owned(), schema);
        let items = json!({ "$ref": format!("#/$defs/{}", declared.table) });
        let list = json!({ "type": "array", "items": items });
        properties.insert(declared.table.to_owned(), list);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A file of a directory of declarations",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "$defs": definitions,
    })
}

/// Mistakes of members beside the schema of their object.
pub(crate) fn members(
    object: &Object,
    members: &[Member],
    schema: &Value,
    root: &Value,
    mistakes: &mut Vec<Mistake>,
) {
    let shapes = shapes(schema, root);
    let is_closed = shapes
        .iter()
        .any(|shape| shape["additionalProperties"] == Value::Bool(false));
    for member in members {
        let name = member.name.as_str();
        let known = shapes
            .iter()
            .find_map(|shape| shape["properties"].get(name));
        let other = || {
            let open = shapes.iter().map(|shape| &shape["additionalProperties"]);
            open.into_iter().find(|schema| schema.is_object())
        };
        match known.or_else(other) {
            Some(schema) => value(object, member, &member.value, schema, root, mistakes),
            None if is_closed => {
                let all = shapes
                    .iter()
                    .filter_map(|shape| shape["properties"].as_object())
                    .flat_map(|properties| properties.keys().map(String::as_str));
                let what = format!("unknown member \"{name}\"");
                let mistake = object.mistake(member.line, what);
                mistakes.push(mistake.meant(nearest(name, all)));
            }
            None => {}
        }
    }
}

fn value(
    object: &Object,
    member: &Member,
    node: &Node,
    schema: &Value,
    root: &Value,
    mistakes: &mut Vec<Mistake>,
) {
    let shapes = shapes(schema, root);
    let name = &member.name;
    let mut types: Vec<&str> = Vec::new();
    let mut choices: Vec<&str> = Vec::new();
    for shape in &shapes {
        match &shape["type"] {
            Value::String(one) => types.push(one),
            Value::Array(several) => types.extend(several.iter().filter_map(Value::as_str)),
            _ => {}
        }
        let listed = shape["enum"].as_array().into_iter().flatten();
        choices.extend(listed.chain(shape.get("const")).filter_map(Value::as_str));
    }
    let kind = node.kind();
    let fits = types.is_empty()
        || types.contains(&kind)
        || (kind == "integer" && types.contains(&"number"));
    if !fits {
        types.retain(|one| *one != "null");
        types.dedup();
        let expected = types.iter().map(|one| word(one)).collect::<Vec<_>>();
        let what = format!("{name} is {}", word(kind));
        let mistake = object.mistake(node.line, what);
        mistakes.push(mistake.suggest(format!("{} is expected", expected.join(" or "))));
        return;
    }
    match &node.data {
        Data::Leaf(Value::String(text))
            if !choices.is_empty() && !choices.contains(&text.as_str()) =>
        {
            let near = nearest(text, choices.iter().copied());
            let what = format!("{name} cannot be that");
            let mistake = object.mistake(node.line, what);
            mistakes.push(match near {
                Some(near) => mistake.meant(Some(near)),
                None => mistake.suggest(format!("one of {}", choices.join(", "))),
            });
        }
        Data::Leaf(_) => {}
        Data::Table(inner) => members(object, inner, schema, root, mistakes),
        Data::List(items) => {
            let schema = shapes.iter().find_map(|shape| shape.get("items"));
            for item in items {
                if let Some(schema) = schema {
                    value(object, member, item, schema, root, mistakes);
                }
            }
        }
    }
}

/// A type in words.
fn word(kind: &str) -> &str {
    match kind {
        "string" => "a text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "a table",
        "null" => "nothing",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_terminal::output::pretty;

    fn refers<'s>(schema: &'s Value, found: &mut Vec<&'s str>) {
        match schema {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str));
                members.values().for_each(|member| refers(member, found));
            }
            Value::Array(items) => items.iter().for_each(|item| refers(item, found)),
            _ => {}
        }
    }

    /// Terraform's resources are made of this: the kinds, and the schema of their members.
    fn kinds() -> String {
        let kinds = DECLARED.iter().map(|declared| {
            json!({
                "kind": declared.kind(), "table": declared.table, "id": declared.id,
                "secret": declared.secret, "secret_is_first": declared.secret_is_first,
                "needs": declared.needs, "set_by_server": declared.set_by_server(),
            })
        });
        let kinds = json!({ "kinds": kinds.collect::<Vec<_>>(), "schema": whole() });
        format!("{}\n", pretty(&kinds))
    }

    #[test]
    fn terraform_has_the_kinds_and_members_that_the_table_has() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../integrations/terraform/internal/tables/kinds.json"
        );
        let made = kinds();
        if std::env::var_os("SIGNET_WRITE_DOCS").is_some() {
            std::fs::write(file, &made).expect("is written");
        }
        let kept = std::fs::read_to_string(file).unwrap_or_default();
        assert!(
            kept == made,
            "kinds.json is not what the table says: SIGNET_WRITE_DOCS=1 cargo test -p signet-declaration"
        );
    }

    #[test]
    fn the_schema_has_what_it_refers_to_and_every_object_its_name() {
        let schema = whole();
        let mut found = Vec::new();
        refers(&schema, &mut found);
        assert!(found.len() >= DECLARED.len());
        for reference in found {
            let pointer = reference.strip_prefix('#').expect("a reference inside");
            assert!(schema.pointer(pointer).is_some(), "{reference}");
        }
        for declared in DECLARED {
            let one = &schema["$defs"][declared.table];
            for member in std::iter::once(&declared.id).chain(declared.needs) {
                assert!(one["properties"].get(*member).is_some(), "{member}");
            }
            let refers = declared.refers.iter();
            for (path, kind) in refers {
                let name = path.split('.').next().unwrap_or_default();
                assert!(one["properties"].get(name).is_some(), "{path}");
                assert!(DECLARED.iter().any(|other| other.kind() == *kind), "{kind}");
            }
        }
    }
}

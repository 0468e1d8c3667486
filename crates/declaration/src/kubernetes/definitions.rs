//! The CustomResourceDefinitions: one for each kind that a directory declares, made of the schema
//! of its members.
//!
//! A definition's schema is structural: one type at each place, no references, no alternatives.
//! What a member's schema has beyond that is left out, and checked where the declarations are read.
use serde_json::{Map, Value, json};
use signet_admin::{DECLARED, Declared};
use signet_config::read::shapes;
use std::collections::BTreeSet;

/// The group of the API. The domain `internal` is for private use: nobody can own a name there.
pub(super) const GROUP: &str = "signet.internal";
/// The version of the definitions.
pub(super) const VERSION: &str = "v1";

/// What a kind's objects are called in Kubernetes: `SignetClient`. The names of most kinds alone
/// are taken there.
pub(super) fn kind(declared: &Declared) -> String {
    let words = declared.kind().split(|c: char| !c.is_ascii_alphanumeric());
    let mut name = "Signet".to_owned();
    for word in words {
        let mut chars = word.chars();
        name.extend(chars.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(chars.as_str());
    }
    name
}

/// Many of them, as paths of the API have them: `signetclients`.
pub(super) fn plural(declared: &Declared) -> String {
    let letters = declared.table.chars().filter(char::is_ascii_alphanumeric);
    format!("signet{}", letters.collect::<String>())
}

/// All of them, in the order in which changes are made.
pub(crate) fn all() -> Vec<Value> {
    DECLARED.iter().map(definition).collect()
}

fn definition(declared: &Declared) -> Value {
    let (kind, plural) = (kind(declared), plural(declared));
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.{GROUP}") },
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind,
                "listKind": format!("{kind}List"),
                "plural": plural,
                "singular": kind.to_ascii_lowercase(),
                "categories": ["signet"],
            },
            "versions": [{
                "name": VERSION,
                "served": true,
                "storage": true,
                "subresources": { "status": {} },
                "additionalPrinterColumns": columns(declared),
                "schema": { "openAPIV3Schema": object(declared) },
            }],
        },
    })
}

fn columns(declared: &Declared) -> Value {
    let applied = |member: &str| format!(".status.conditions[?(@.type==\"Applied\")].{member}");
    json!([
        { "name": "Id", "type": "string", "jsonPath": format!(".spec.{}", declared.id) },
        { "name": "Applied", "type": "string", "jsonPath": applied("status") },
        { "name": "Reason", "type": "string", "jsonPath": applied("reason") },
        { "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp" },
    ])
}

fn object(declared: &Declared) -> Value {
    json!({
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": { "type": "string" },
            "kind": { "type": "string" },
            "metadata": { "type": "object" },
            "spec": spec(declared),
            "status": status(),
        },
    })
}

fn spec(declared: &Declared) -> Value {
    let schema = declared.schema();
    let members = schema["properties"].as_object().into_iter().flatten();
    let mut properties: Map<String, Value> = members
        .map(|(name, member)| (name.clone(), structural(member, &schema)))
        .collect();
    if let Some(id) = properties.get_mut(declared.id) {
        id["description"] = "The name; that of the object where it is left out.".into();
    }
    if let Some(secret) = declared.secret {
        properties.insert(secret.to_owned(), secret_reference());
    }
    let mut spec = json!({ "type": "object", "properties": properties });
    if !declared.needs.is_empty() {
        spec["required"] = declared.needs.into();
    }
    spec
}

fn secret_reference() -> Value {
    json!({
        "type": "object",
        "description": "Where the secret is.",
        "required": ["secret"],
        "properties": {
            "secret": {
                "type": "object",
                "description": "A key of a Secret of the same namespace.",
                "required": ["name", "key"],
                "properties": {
                    "name": { "type": "string", "minLength": 1 },
                    "key": { "type": "string", "minLength": 1 },
                },
            },
        },
    })
}

fn status() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "properties": {
            "conditions": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["type"],
                "items": {
                    "type": "object",
                    "required": ["type", "status", "lastTransitionTime", "reason", "message"],
                    "properties": {
                        "type": text,
                        "status": { "type": "string", "enum": ["True", "False", "Unknown"] },
                        "reason": text,
                        "message": text,
                        "observedGeneration": { "type": "integer", "format": "int64" },
                        "lastTransitionTime": { "type": "string", "format": "date-time" },
                    },
                },
            },
        },
    })
}

/// Anything.
fn open() -> Value {
    json!({ "x-kubernetes-preserve-unknown-fields": true })
}

/// A schema as a definition may have it: the same values, or more.
fn structural(schema: &Value, root: &Value) -> Value {
    let shapes = shapes(schema, root);
    let mut types = BTreeSet::new();
    let mut choices: Vec<&Value> = Vec::new();
    let mut is_listed = true;
    for shape in &shapes {
        let own = types_of(shape);
        let listed: Vec<&Value> = match shape["enum"].as_array() {
            Some(listed) => listed.iter().collect(),
            None => shape.get("const").into_iter().collect(),
        };
        // A type beside the choices allows every value of it.
        is_listed &= own.is_empty() || own == ["null"] || !listed.is_empty();
        types.extend(own);
        choices.extend(listed);
    }
    let is_nullable = types.remove("null");
    if types.contains("number") {
        types.remove("integer");
    }
    let types: Vec<&str> = types.into_iter().collect();
    let mut out = match types.as_slice() {
        ["object"] => object_of(&shapes, root),
        ["array"] => {
            let items = shapes.iter().find_map(|shape| shape.get("items"));
            let items = items.map_or_else(open, |items| structural(items, root));
            json!({ "type": "array", "items": items })
        }
        [one] => json!({ "type": one }),
        _ => open(),
    };
    let is_one = types.len() == 1;
    if is_one && is_listed && !choices.is_empty() {
        let mut choices: Vec<Value> = choices.into_iter().cloned().collect();
        choices.dedup();
        choices.retain(|choice| !choice.is_null());
        if is_nullable {
            choices.push(Value::Null);
        }
        out["enum"] = choices.into();
    }
    if is_one && is_nullable {
        out["nullable"] = true.into();
    }
    if is_one {
        let typed = shapes
            .iter()
            .filter(|shape| types_of(shape).contains(&types[0]));
        let typed: Vec<_> = typed.collect();
        if let [one] = typed.as_slice() {
            for bound in BOUNDS {
                if let Some(value) = one.get(*bound) {
                    out[*bound] = value.clone();
                }
            }
        }
    }
    if let Some(text) = shapes
        .iter()
        .find_map(|shape| shape["description"].as_str())
    {
        out["description"] = text.into();
    }
    out
}

const BOUNDS: &[&str] = &[
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

fn types_of(shape: &Value) -> Vec<&str> {
    match &shape["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn object_of(shapes: &[&Value], root: &Value) -> Value {
    let mut properties = Map::new();
    for shape in shapes {
        let members = shape["properties"].as_object().into_iter().flatten();
        for (name, member) in members {
            let member = structural(member, root);
            properties
                .entry(name.clone())
                // Two alternatives with one member of different shapes.
                .and_modify(|known| {
                    if *known != member {
                        *known = open();
                    }
                })
                .or_insert(member);
        }
    }
    let typed = shapes
        .iter()
        .filter(|shape| types_of(shape).contains(&"object"));
    let typed: Vec<_> = typed.collect();
    let further = typed
        .iter()
        .find_map(|shape| shape["additionalProperties"].as_object());
    let is_closed = typed
        .iter()
        .all(|shape| shape["additionalProperties"] == Value::Bool(false));
    let mut out = json!({ "type": "object" });
    match (properties.is_empty(), further) {
        (true, Some(further)) => {
            let further = Value::Object(further.clone());
            out["additionalProperties"] = structural(&further, root);
        }
        (true, None) if !is_closed => out["x-kubernetes-preserve-unknown-fields"] = true.into(),
        (_, None) => out["properties"] = properties.into(),
        (false, Some(_)) => {
            out["properties"] = properties.into();
            out["x-kubernetes-preserve-unknown-fields"] = true.into();
        }
    }
    if let [one] = typed.as_slice()
        && let Some(required) = one.get("required")
    {
        out["required"] = required.clone();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubernetes::yaml;

    const KEPT: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../integrations/kubernetes/crds.yaml"
    );

    /// To write it again: `SIGNET_WRITE_DOCS=1 cargo test -p signet-declaration`.
    #[test]
    fn the_definitions_that_are_kept_are_those_of_the_table() {
        let made = format!(
            "# Made of the table of kinds that a directory declares: `signet config schema --kubernetes`.\n{}",
            yaml(&all())
        );
        if std::env::var_os("SIGNET_WRITE_DOCS").is_some() {
            std::fs::write(KEPT, &made).unwrap();
        }
        assert!(
            std::fs::read_to_string(KEPT).unwrap() == made,
            "integrations/kubernetes/crds.yaml is not what the table says: SIGNET_WRITE_DOCS=1 cargo test -p signet-declaration"
        );
    }

    fn walk(schema: &Value, path: &str) {
        for none in ["$ref", "oneOf", "anyOf", "allOf", "not", "const", "default"] {
            assert!(schema.get(none).is_none(), "{path}: {none}");
        }
        let is_open = schema["x-kubernetes-preserve-unknown-fields"] == true;
        assert!(schema["type"].is_string() || is_open, "{path}: no type");
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            walk(member, &format!("{path}.{name}"));
        }
        for inner in ["items", "additionalProperties"] {
            if let Some(inner) = schema.get(inner) {
                walk(inner, &format!("{path}[]"));
            }
        }
    }

    #[test]
    fn every_schema_is_structural_and_has_every_member() {
        let mut names = BTreeSet::new();
        for (declared, definition) in DECLARED.iter().zip(all()) {
            assert!(names.insert(definition["metadata"]["name"].to_string()));
            let version = &definition["spec"]["versions"][0];
            let schema = &version["schema"]["openAPIV3Schema"];
            walk(schema, declared.table);
            let spec = &schema["properties"]["spec"]["properties"];
            let of_file = declared.schema();
            for name in of_file["properties"].as_object().unwrap().keys() {
                assert!(spec.get(name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn alternatives_become_one_type_or_an_open_one() {
        let root = json!({ "$defs": { "Name": { "type": "string", "maxLength": 3 } } });
        for (schema, expected) in [
            (
                json!({ "anyOf": [{ "$ref": "#/$defs/Name" }, { "type": "null" }] }),
                json!({ "type": "string", "maxLength": 3, "nullable": true }),
            ),
            (
                json!({ "oneOf": [{ "const": "a", "type": "string" }, { "enum": ["b"], "type": "string" }] }),
                json!({ "type": "string", "enum": ["a", "b"] }),
            ),
            (
                json!({ "anyOf": [{ "enum": ["a"], "type": "string" }, { "type": "string" }] }),
                json!({ "type": "string" }),
            ),
            (json!({ "type": ["string", "boolean"] }), open()),
            (json!(true), open()),
            (
                json!({ "type": ["integer", "null"], "format": "uint64", "minimum": 0 }),
                json!({ "type": "integer", "minimum": 0, "nullable": true }),
            ),
            (
                json!({ "type": "object", "additionalProperties": { "type": "string" } }),
                json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            ),
        ] {
            assert_eq!(structural(&schema, &root), expected, "{schema}");
        }
    }
}

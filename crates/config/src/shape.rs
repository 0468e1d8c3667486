//! The JSON Schema of the file, and how it is walked.
use crate::model::Config;
use crate::settings::SETTINGS;
use serde_json::Value as Json;

/// The JSON Schema of the file, from the types.
pub fn schema() -> Json {
    let mut schema = schemars::schema_for!(Config).to_value();
    bound(&mut schema);
    schema
}

/// Puts what the rows of the settings know into the schema: ranges, owners, and when a change
/// counts.
fn bound(schema: &mut Json) {
    for setting in SETTINGS {
        let (table, member) = setting.path.rsplit_once('.').unwrap_or(("", setting.path));
        let mut at = String::new();
        for name in table.split('.').filter(|name| !name.is_empty()) {
            at = format!("{at}/properties/{name}");
            // A table of the file is a type of its own, which it refers to.
            if let Some(node) = schema.pointer(&at) {
                let refers = shapes(node, schema)
                    .into_iter()
                    .find_map(|one| one["$ref"].as_str()?.strip_prefix('#'));
                at = refers.map_or(at, str::to_owned);
            }
        }
        let Some(node) = schema.pointer_mut(&format!("{at}/properties/{member}")) else {
            continue;
        };
        if let Some(range) = setting.range() {
            node["minimum"] = if range.or_zero { 0 } else { range.least }.into();
            if let Some(most) = range.most {
                node["maximum"] = most.into();
            }
        }
        node["x-owner"] = setting.owner.name().into();
        node["x-takes-effect"] = setting.takes_effect.name().into();
    }
}

/// The alternatives of a schema: itself, what it refers to, and what it offers to choose from.
pub fn shapes<'s>(schema: &'s Json, root: &'s Json) -> Vec<&'s Json> {
    let mut found = vec![schema];
    let mut next = 0;
    // Bounded by the schema itself, which does not refer to itself.
    while let Some(shape) = found.get(next).copied() {
        next += 1;
        if let Some(target) = shape["$ref"].as_str().and_then(|r| r.strip_prefix('#')) {
            found.extend(root.pointer(target));
        }
        for choice in ["anyOf", "oneOf", "allOf"] {
            found.extend(shape[choice].as_array().into_iter().flatten());
        }
    }
    found
}

//! Patches (RFC 7644 section 3.5.2): what a list of operations makes of a resource.
use crate::{
    attribute::AttributePath,
    error::{Error, Kind},
    filter::Filter,
    key_of, member,
    path::Target,
};
use serde_json::{Map, Value};

/// Most operations of one patch.
pub const MAX_OPERATIONS: usize = 100;
/// The schema of the message.
pub const PATCH_SCHEMA: &str = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// Adds a value.
    Add,
    /// Replaces values.
    Replace,
    /// Takes values away.
    Remove,
}

/// An operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Operation {
    /// What it does.
    pub act: Act,
    /// On what; none: on the resource.
    pub target: Option<Target>,
    /// With what.
    pub value: Option<Value>,
}

fn syntax(detail: &str) -> Error {
    Error::new(Kind::InvalidSyntax, detail)
}

/// Reads the body of a patch.
///
/// # Errors
/// [`Kind::InvalidSyntax`], [`Kind::InvalidPath`], [`Kind::InvalidFilter`], [`Kind::NoTarget`],
/// [`Kind::TooMany`].
pub fn parse(body: &Value) -> Result<Vec<Operation>, Error> {
    let body = body
        .as_object()
        .ok_or_else(|| syntax("a patch is an object"))?;
    let schemas = member(body, "schemas").and_then(Value::as_array);
    let names_it = schemas.is_some_and(|list| {
        list.iter()
            .filter_map(Value::as_str)
            .any(|schema| schema.eq_ignore_ascii_case(PATCH_SCHEMA))
    });
    if !names_it {
        return Err(syntax("the schema of a patch is PatchOp"));
    }
    let list = member(body, "Operations").and_then(Value::as_array);
    let list = list.ok_or_else(|| syntax("Operations is missing"))?;
    if list.len() > MAX_OPERATIONS {
        return Err(Error::new(
            Kind::TooMany,
            "the patch has too many operations",
        ));
    }
    list.iter().map(operation).collect()
}

fn operation(value: &Value) -> Result<Operation, Error> {
    let object = value
        .as_object()
        .ok_or_else(|| syntax("an operation is an object"))?;
    let op = member(object, "op").and_then(Value::as_str).unwrap_or("");
    // Some clients write `Add`.
    let act = match op.to_ascii_lowercase().as_str() {
        "add" => Act::Add,
        "replace" => Act::Replace,
        "remove" => Act::Remove,
        _ => return Err(syntax("op is add, replace or remove")),
    };
    let target = match member(object, "path") {
        None | Some(Value::Null) => None,
        Some(Value::String(path)) => Some(Target::parse(path)?),
        Some(_) => return Err(Error::new(Kind::InvalidPath, "path is a text")),
    };
    let value = member(object, "value").cloned();
    match (act, &target, &value) {
        (Act::Remove, None, _) => Err(Error::new(Kind::NoTarget, "a removal names a path")),
        (Act::Add | Act::Replace, _, None) => {
            Err(Error::new(Kind::InvalidValue, "value is missing"))
        }
        (Act::Add | Act::Replace, None, Some(Value::Object(_)))
        | (Act::Add | Act::Replace, Some(_), Some(_))
        | (Act::Remove, Some(_), _) => Ok(Operation { act, target, value }),
        (Act::Add | Act::Replace, None, Some(_)) => Err(Error::new(
            Kind::InvalidValue,
            "without a path the value is an object",
        )),
    }
}

/// Applies operations in their order; all of them, or the resource stays as it was.
///
/// # Errors
/// [`Kind::NoTarget`] where a filter finds nothing, [`Kind::InvalidValue`], [`Kind::InvalidPath`].
pub fn apply(resource: &mut Map<String, Value>, operations: &[Operation]) -> Result<(), Error> {
    let mut changed = resource.clone();
    for operation in operations {
        one(&mut changed, operation)?;
    }
    *resource = changed;
    Ok(())
}

fn one(resource: &mut Map<String, Value>, operation: &Operation) -> Result<(), Error> {
    let Some(target) = &operation.target else {
        let Some(Value::Object(members)) = &operation.value else {
            return Err(Error::new(Kind::InvalidValue, "the value is an object"));
        };
        for (name, value) in members {
            whole(resource, name, operation.act, value)?;
        }
        return Ok(());
    };
    let place = of_schema(resource, &target.attribute);
    let key = key_of(place, &target.attribute.name);
    match &target.filter {
        Some(filter) => chosen(place, &key, filter, target.part.as_deref(), operation),
        None => simple(place, &key, target.attribute.part.as_deref(), operation),
    }
}

/// A member of a value without a path. Some clients write paths as names there (`name.givenName`).
fn whole(
    resource: &mut Map<String, Value>,
    name: &str,
    act: Act,
    value: &Value,
) -> Result<(), Error> {
    let is_extension = name.contains(':') && value.is_object();
    let target = match is_extension {
        true => None,
        false => Some(Target::parse(name)?),
    };
    if let Some(target) = target {
        let operation = Operation {
            act,
            target: Some(target),
            value: Some(value.clone()),
        };
        return one(resource, &operation);
    }
    let key = key_of(resource, name);
    match (resource.get_mut(&key), value) {
        (Some(Value::Object(known)), Value::Object(new)) => {
            for (name, value) in new {
                whole(known, name, act, value)?;
            }
        }
        _ => drop(resource.insert(key, value.clone())),
    }
    Ok(())
}

/// The object that an attribute is a member of: that of its schema, where the resource has one.
fn of_schema<'a>(
    resource: &'a mut Map<String, Value>,
    path: &AttributePath,
) -> &'a mut Map<String, Value> {
    let key = path
        .schema
        .as_deref()
        .map(|schema| key_of(resource, schema));
    match key {
        Some(key) if resource.get(&key).is_some_and(Value::is_object) => {
            // Invariant: it is an object, by the line above.
            resource[&key].as_object_mut().expect("an object")
        }
        Some(_) | None => resource,
    }
}

/// An attribute, or a part of it, without a filter.
fn simple(
    place: &mut Map<String, Value>,
    key: &str,
    part: Option<&str>,
    operation: &Operation,
) -> Result<(), Error> {
    let value = operation.value.as_ref();
    match (part, operation.act) {
        (None, Act::Remove) => {
            remove(place, key, value);
            Ok(())
        }
        (None, Act::Replace) => {
            let value = value.cloned().unwrap_or(Value::Null);
            put(place, key, value, false);
            Ok(())
        }
        (None, Act::Add) => {
            let value = value.cloned().unwrap_or(Value::Null);
            put(place, key, value, true);
            Ok(())
        }
        (Some(part), act) => {
            let entry = place
                .entry(key.to_owned())
                .or_insert_with(|| Value::Object(Map::new()));
            if entry.is_null() {
                *entry = Value::Object(Map::new());
            }
            // Of a multi-valued attribute, the part of each value.
            let objects: Vec<&mut Map<String, Value>> = match entry {
                Value::Object(object) => vec![object],
                Value::Array(list) => list.iter_mut().filter_map(Value::as_object_mut).collect(),
                _ => {
                    return Err(Error::new(Kind::InvalidPath, "the attribute has no parts"));
                }
            };
            for object in objects {
                let part = key_of(object, part);
                match (act, value) {
                    (Act::Remove, _) => drop(object.remove(&part)),
                    (Act::Add | Act::Replace, Some(value)) => {
                        put(object, &part, value.clone(), act == Act::Add)
                    }
                    (Act::Add | Act::Replace, None) => {}
                }
            }
            Ok(())
        }
    }
}

/// Puts a value in its place. `add`: to a list it is added, unless it is there, and members of an
/// object join those that are there.
fn put(place: &mut Map<String, Value>, key: &str, value: Value, add: bool) {
    let known = place.get_mut(key);
    match (known, value) {
        (Some(Value::Array(known)), Value::Array(new)) if add => {
            for one in new {
                join(known, one);
            }
        }
        (Some(Value::Array(known)), one) if add => join(known, one),
        // RFC 7644 sections 3.5.2.1 and 3.5.2.3: of a complex attribute, the parts that are named.
        (Some(Value::Object(known)), Value::Object(new)) => {
            for (name, value) in new {
                let name = key_of(known, &name);
                known.insert(name, value);
            }
        }
        (_, value) => drop(place.insert(key.to_owned(), value)),
    }
}

/// Adds a value to a list that does not have it. A new primary value is the only one.
fn join(list: &mut Vec<Value>, value: Value) {
    let id = |value: &Value| value.get("value").cloned();
    let is_there = list.iter().any(|known| {
        *known == value
            || (value.as_object().is_some_and(|object| object.len() == 1)
                && id(&value).is_some()
                && id(known) == id(&value))
    });
    if is_there {
        return;
    }
    if value.get("primary") == Some(&Value::Bool(true)) {
        for known in list.iter_mut().filter_map(Value::as_object_mut) {
            if known.get("primary") == Some(&Value::Bool(true)) {
                known.insert("primary".to_owned(), Value::Bool(false));
            }
        }
    }
    list.push(value);
}

/// Takes an attribute away; with values, those of a list that are named so, as some clients do.
fn remove(place: &mut Map<String, Value>, key: &str, value: Option<&Value>) {
    let named: Vec<&Value> = match value {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(Value::Object(_)) => value.into_iter().collect(),
        Some(_) | None => Vec::new(),
    };
    let id = |value: &Value| value.get("value").cloned();
    match place.get_mut(key) {
        Some(Value::Array(list)) if !named.is_empty() => list.retain(|known| {
            !named
                .iter()
                .any(|one| *one == known || (id(one).is_some() && id(one) == id(known)))
        }),
        Some(_) | None => drop(place.remove(key)),
    }
}

/// The values of a multi-valued attribute that a filter finds.
fn chosen(
    place: &mut Map<String, Value>,
    key: &str,
    filter: &Filter,
    part: Option<&str>,
    operation: &Operation,
) -> Result<(), Error> {
    let no_target = || Error::new(Kind::NoTarget, "the path finds no value");
    let is_one = |value: &Value| value.as_object().is_some_and(|object| filter.holds(object));
    let list = match place.get_mut(key) {
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Error::new(Kind::InvalidPath, "the attribute has one value")),
        None if operation.act == Act::Remove => return Err(no_target()),
        None => match place
            .entry(key.to_owned())
            .or_insert_with(|| Value::Array(Vec::new()))
        {
            Value::Array(list) => list,
            _ => return Err(no_target()),
        },
    };
    if operation.act == Act::Remove && part.is_none() {
        let before = list.len();
        list.retain(|value| !is_one(value));
        return match list.len() < before {
            true => Ok(()),
            false => Err(no_target()),
        };
    }
    let value = operation.value.clone().unwrap_or(Value::Null);
    if !list.iter().any(is_one) {
        // A new value that the filter describes: `emails[type eq "work"].value` of a person
        // without one, as several directories send it.
        let made = (operation.act != Act::Remove)
            .then(|| described(filter))
            .flatten();
        let mut made = made.ok_or_else(no_target)?;
        assign(&mut made, part, value)?;
        list.push(Value::Object(made));
        return Ok(());
    }
    for found in list.iter_mut().filter(|value| is_one(value)) {
        let Value::Object(found) = found else {
            continue;
        };
        match (operation.act, part) {
            (Act::Remove, Some(part)) => {
                let part = key_of(found, part);
                found.remove(&part);
            }
            (Act::Remove, None) => {}
            (Act::Add | Act::Replace, part) => assign(found, part, value.clone())?,
        }
    }
    Ok(())
}

fn assign(object: &mut Map<String, Value>, part: Option<&str>, value: Value) -> Result<(), Error> {
    match (part, value) {
        (Some(part), value) => {
            let part = key_of(object, part);
            object.insert(part, value);
            Ok(())
        }
        (None, Value::Object(members)) => {
            for (name, value) in members {
                let name = key_of(object, &name);
                object.insert(name, value);
            }
            Ok(())
        }
        (None, _) => Err(Error::new(Kind::InvalidValue, "the value is an object")),
    }
}

/// The value that a filter of equalities describes.
fn described(filter: &Filter) -> Option<Map<String, Value>> {
    use crate::filter::Operator;
    match filter {
        Filter::Compare(path, Operator::Eq, value) if path.part.is_none() => {
            Some(Map::from_iter([(path.name.clone(), value.clone())]))
        }
        Filter::And(a, b) => {
            let mut both = described(a)?;
            both.extend(described(b)?);
            Some(both)
        }
        Filter::Compare(..)
        | Filter::Or(..)
        | Filter::Not(_)
        | Filter::Present(_)
        | Filter::Values(..) => None,
    }
}

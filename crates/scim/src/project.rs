//! Which attributes of a resource are answered (RFC 7644 section 3.9).
use crate::{
    attribute::AttributePath,
    error::{Error, Kind},
    key_of, member,
};
use serde_json::{Map, Value};

/// Most attributes that a request names.
pub const MAX_ATTRIBUTES: usize = 64;

/// What is answered always (RFC 7643 section 7: `returned` is `always`).
const ALWAYS: [&str; 3] = ["id", "schemas", "meta"];

/// What a request asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Projection {
    /// Everything.
    #[default]
    All,
    /// These, and what is always answered.
    Only(Vec<AttributePath>),
    /// Everything but these.
    Without(Vec<AttributePath>),
}

fn paths(list: &[String]) -> Result<Vec<AttributePath>, Error> {
    if list.len() > MAX_ATTRIBUTES {
        return Err(Error::new(Kind::TooMany, "too many attributes"));
    }
    list.iter().map(|path| AttributePath::parse(path)).collect()
}

impl Projection {
    /// Reads `attributes` and `excludedAttributes`, of which a request has one.
    ///
    /// # Errors
    /// [`Kind::InvalidValue`] for both, [`Kind::InvalidPath`], [`Kind::TooMany`].
    pub fn new(only: &[String], without: &[String]) -> Result<Projection, Error> {
        match (only, without) {
            ([], []) => Ok(Projection::All),
            (only, []) => Ok(Projection::Only(paths(only)?)),
            ([], without) => Ok(Projection::Without(paths(without)?)),
            _ => Err(Error::new(
                Kind::InvalidValue,
                "a request has attributes or excludedAttributes",
            )),
        }
    }

    /// Whether an attribute could be answered: what costs something is not made for nothing.
    pub fn wants(&self, name: &str) -> bool {
        let named = |path: &AttributePath| path.name.eq_ignore_ascii_case(name);
        match self {
            Projection::All => true,
            Projection::Only(paths) => paths.iter().any(named),
            Projection::Without(paths) => {
                !paths.iter().any(|path| named(path) && path.part.is_none())
            }
        }
    }

    /// Leaves of a resource what was asked for.
    pub fn apply(&self, resource: &mut Map<String, Value>) {
        match self {
            Projection::All => {}
            Projection::Only(paths) => {
                let mut kept = Map::new();
                for (name, value) in &*resource {
                    if ALWAYS
                        .iter()
                        .any(|always| always.eq_ignore_ascii_case(name))
                    {
                        kept.insert(name.clone(), value.clone());
                    }
                }
                for path in paths {
                    keep(resource, &mut kept, path);
                }
                *resource = kept;
            }
            Projection::Without(paths) => {
                for path in paths {
                    drop_one(resource, path);
                }
            }
        }
    }
}

fn keep(from: &Map<String, Value>, to: &mut Map<String, Value>, path: &AttributePath) {
    let Some(value) = member(from, &path.name) else {
        return;
    };
    let key = key_of(from, &path.name);
    let Some(part) = &path.part else {
        to.insert(key, value.clone());
        return;
    };
    let of = |object: &Map<String, Value>| -> Map<String, Value> {
        let found = member(object, part).map(|value| (key_of(object, part), value.clone()));
        found.into_iter().collect()
    };
    match value {
        Value::Object(object) => {
            let known = to.entry(key).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(known) = known {
                known.extend(of(object));
            }
        }
        Value::Array(list) => {
            let known = to
                .entry(key)
                .or_insert_with(|| Value::Array(vec![Value::Object(Map::new()); list.len()]));
            let known = known.as_array_mut().into_iter().flatten();
            for (known, one) in known.zip(list) {
                if let (Value::Object(known), Value::Object(one)) = (known, one) {
                    known.extend(of(one));
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn drop_one(resource: &mut Map<String, Value>, path: &AttributePath) {
    let key = key_of(resource, &path.name);
    if ALWAYS
        .iter()
        .any(|always| always.eq_ignore_ascii_case(&key))
    {
        return;
    }
    let Some(part) = &path.part else {
        resource.remove(&key);
        return;
    };
    let drop_part = |object: &mut Map<String, Value>| {
        let part = key_of(object, part);
        object.remove(&part);
    };
    match resource.get_mut(&key) {
        Some(Value::Object(object)) => drop_part(object),
        Some(Value::Array(list)) => list
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .for_each(drop_part),
        Some(_) | None => {}
    }
}

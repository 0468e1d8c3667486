//! Fields of a form, made of an operation's own schema, and back: what was typed becomes the
//! document that a program would send.
//!
//! A member of an object that is described is a field of its own (`profile.given_name`); what has
//! no fixed members is JSON. A field that is left empty leaves its member out, so that it is at its
//! default, unless the schema says that it must be there.

use serde_json::{Map, Number, Value};

/// How deep members of members become fields.
const MAX_DEPTH: usize = 3;
/// What a document refers to. Parts of paths that end a reference.
pub(crate) struct Schemas(pub(crate) Map<String, Value>);

impl Schemas {
    /// A schema without the ways around it: references, and choices of which one is nothing.
    /// Descriptions of the outermost stay.
    fn plain(&self, schema: &Value) -> Value {
        let mut schema = schema.clone();
        for _ in 0..8 {
            let inner = if let Some(reference) = schema["$ref"].as_str() {
                let name = reference.rsplit('/').next().unwrap_or_default();
                self.0.get(name).cloned()
            } else {
                let of = |word: &str| schema[word].as_array().cloned();
                let is_null = |one: &Value| one["type"] == "null";
                let choices = of("anyOf").or_else(|| of("oneOf"));
                let parts = choices.map(|all| {
                    let kept = all.into_iter().filter(|one| !is_null(one));
                    kept.collect::<Vec<_>>()
                });
                match parts.or_else(|| of("allOf")) {
                    Some(mut one) if one.len() == 1 => one.pop(),
                    Some(_) | None => None,
                }
            };
            let Some(mut inner) = inner else { break };
            for word in ["description", "default"] {
                if let (Some(own), Some(members)) = (schema.get(word), inner.as_object_mut()) {
                    members.insert(word.to_owned(), own.clone());
                }
            }
            schema = inner;
        }
        schema
    }
}

/// What is typed or chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A line.
    Text,
    /// A line that is not shown, and never filled in.
    Secret,
    /// A whole number.
    Number,
    /// Yes or no.
    Flag,
    /// Yes, no, or as it is by default.
    MaybeFlag,
    /// One of these.
    Choice(Vec<String>),
    /// Some of these.
    Choices(Vec<String>),
    /// Texts, one a line.
    Lines,
    /// Anything else.
    Json,
}

/// A field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Its member, with those that it is in: `profile.given_name`.
    pub(crate) name: String,
    /// What is typed.
    pub(crate) input: Input,
    /// What it is for, as the tables say it.
    pub(crate) about: String,
    /// The member must be there.
    pub(crate) required: bool,
    /// What counts where nothing is said.
    pub(crate) default: Option<Value>,
}

/// The fields of a document, and the objects among its members that must be there.
pub(crate) struct Fields {
    pub(crate) fields: Vec<Field>,
    objects: Vec<String>,
}

/// What is wrong with a field, or (with no name) with the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) field: Option<String>,
    pub(crate) why: Why,
}

/// See [`Wrong`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// No whole number.
    NotANumber,
    /// No JSON; line and column.
    NotJson(u64, u64),
    /// What the operation said, in English.
    Said(String),
}

impl Fields {
    /// Of a document's schema. `but`: members that are not asked for here.
    pub(crate) fn of(schema: &Value, schemas: &Schemas, but: &[&str]) -> Fields {
        let mut made = Fields {
            fields: Vec::new(),
            objects: Vec::new(),
        };
        let schema = schemas.plain(schema);
        made.add("", &schema, schemas, 0, but);
        // What must be there is asked for first; else the tables' order counts.
        made.fields.sort_by_key(|field| !field.required);
        made
    }

    fn add(&mut self, within: &str, schema: &Value, schemas: &Schemas, depth: usize, but: &[&str]) {
        let required = schema["required"].as_array();
        let is_required =
            |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            let about = member["description"].as_str();
            let member = schemas.plain(member);
            let about = about.or(member["description"].as_str()).unwrap_or_default();
            let is_read_only = about.starts_with("Read-only") || member["readOnly"] == true;
            if is_read_only || (within.is_empty() && but.contains(&name.as_str())) {
                continue;
            }
            let full = match within {
                "" => name.clone(),
                within => format!("{within}.{name}"),
            };
            let has_members = member["properties"]
                .as_object()
                .is_some_and(|m| !m.is_empty());
            if has_members && depth < MAX_DEPTH {
                if is_required(name) {
                    self.objects.push(full.clone());
                }
                self.add(&full, &member, schemas, depth + 1, but);
                continue;
            }
            let default = member.get("default").filter(|value| !value.is_null());
            self.fields.push(Field {
                input: input(name, &member, is_required(name), default.is_some(), schemas),
                about: about.to_owned(),
                required: is_required(name),
                default: default.cloned(),
                name: full,
            });
        }
    }

    /// The document of what was typed. `typed`: the value of a field, by its name; of one of
    /// [`Input::Choices`] that of `name:choice`.
    pub(crate) fn document<'f>(
        &self,
        typed: impl Fn(&str) -> Option<&'f str>,
    ) -> Result<Value, Vec<Wrong>> {
        let (mut root, mut wrong) = (Map::new(), Vec::new());
        for object in &self.objects {
            put(&mut root, object, Value::Object(Map::new()));
        }
        for field in &self.fields {
            match field.value(&typed) {
                Ok(Some(value)) => put(&mut root, &field.name, value),
                Ok(None) => {}
                Err(why) => wrong.push(Wrong {
                    field: Some(field.name.clone()),
                    why,
                }),
            }
        }
        match wrong.is_empty() {
            true => Ok(Value::Object(root)),
            false => Err(wrong),
        }
    }

    /// The field that a refusal is about: the one whose member its words begin with, or name.
    pub(crate) fn about(&self, code: &str, said: &str) -> Option<&Field> {
        // Some codes name a member themselves: `invalid_redirect_uri`.
        let coded = code
            .strip_prefix("invalid_")
            .filter(|name| name.contains('_'));
        let mut fields = self.fields.iter();
        let named = fields.find(|field| Some(field.name.trim_end_matches('s')) == coded);
        named.or_else(|| self.said(said))
    }

    fn said(&self, said: &str) -> Option<&Field> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
        let words: Vec<&str> = said
            .split(|c| !is_part(c))
            .map(|w| w.trim_matches('.'))
            .collect();
        let last = |field: &Field| field.name.rsplit('.').next().map(str::to_owned);
        let of = |word: &str| {
            let mut fields = self.fields.iter();
            fields.find(|field| field.name == word || last(field).as_deref() == Some(word))
        };
        words.into_iter().find_map(|word| {
            // `name` and `scope` are words of sentences, too: only as the first one they name.
            of(word).filter(|field| field.name.contains('_') || said.starts_with(word))
        })
    }
}

fn input(name: &str, member: &Value, required: bool, defaulted: bool, schemas: &Schemas) -> Input {
    let is = |kind: &str| {
        let types = &member["type"];
        types == kind
            || types
                .as_array()
                .is_some_and(|all| all.iter().any(|t| t == kind))
    };
    let nullable = is("null");
    if let Some(names) = choices(member) {
        return Input::Choice(names);
    }
    if is("boolean") {
        return match (required || defaulted) && !nullable {
            true => Input::Flag,
            false => Input::MaybeFlag,
        };
    }
    if is("integer") {
        return Input::Number;
    }
    if is("array") {
        let items = schemas.plain(&member["items"]);
        return match choices(&items) {
            Some(names) => Input::Choices(names),
            None if items["type"] == "string" => Input::Lines,
            None => Input::Json,
        };
    }
    match is("string") {
        true if is_secret(name) => Input::Secret,
        true => Input::Text,
        false => Input::Json,
    }
}

/// Whether a member of this name is shown to nobody while it is typed.
fn is_secret(name: &str) -> bool {
    name == "token" || name.contains("password") || name.contains("secret")
}

/// The names of a choice: an `enum`, or alternatives that are one value each.
fn choices(schema: &Value) -> Option<Vec<String>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(names) = schema["enum"].as_array() {
        return names
            .iter()
            .filter(|one| !one.is_null())
            .map(text)
            .collect();
    }
    let alternatives = schema["oneOf"].as_array()?;
    let name = |one: &Value| text(&one["const"]).or_else(|| choices(one)?.pop());
    alternatives.iter().map(name).collect()
}

fn put(within: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        None => {
            within.insert(name.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = within
                .entry(first)
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

/// The value of a member, by its name with those that it is in.
pub(crate) fn member<'v>(document: &'v Value, name: &str) -> Option<&'v Value> {
    let mut value = document;
    for part in name.split('.') {
        value = value.get(part)?;
    }
    Some(value)
}

impl Field {
    /// What is typed, as the member's value; None: it is left out.
    fn value<'f>(&self, typed: &impl Fn(&str) -> Option<&'f str>) -> Result<Option<Value>, Why> {
        if let Input::Choices(names) = &self.input {
            let is_chosen = |name: &&String| typed(&format!("{}:{name}", self.name)).is_some();
            let chosen: Vec<Value> = names
                .iter()
                .filter(is_chosen)
                .map(|name| Value::String(name.clone()))
                .collect();
            let is_there = self.required || !chosen.is_empty();
            return Ok(is_there.then_some(Value::Array(chosen)));
        }
        let text = typed(&self.name).unwrap_or_default();
        let trimmed = text.trim();
        let value = match &self.input {
            Input::Flag => Some(Value::Bool(!trimmed.is_empty())),
            Input::MaybeFlag => match trimmed {
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                _ => None,
            },
            Input::Number if trimmed.is_empty() => None,
            Input::Number => {
                let number: i64 = trimmed.parse().map_err(|_| Why::NotANumber)?;
                Some(Value::Number(Number::from(number)))
            }
            Input::Lines => {
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                let lines: Vec<Value> = lines.map(|line| Value::String(line.to_owned())).collect();
                (self.required || !lines.is_empty()).then_some(Value::Array(lines))
            }
            Input::Json if trimmed.is_empty() => None,
            Input::Json => {
                let parsed: Result<Value, serde_json::Error> = serde_json::from_str(trimmed);
                let place = |error: serde_json::Error| {
                    Why::NotJson(error.line() as u64, error.column() as u64)
                };
                Some(parsed.map_err(place)?)
            }
            // A password keeps its spaces.
            Input::Secret => (!text.is_empty()).then(|| Value::String(text.to_owned())),
            Input::Text | Input::Choice(_) => {
                let is_there = self.required || !trimmed.is_empty();
                is_there.then(|| Value::String(trimmed.to_owned()))
            }
            // Invariant: answered above.
            Input::Choices(_) => None,
        };
        Ok(value)
    }

    /// What a field shows of a document.
    pub(crate) fn text(&self, document: &Value) -> String {
        let value = member(document, &self.name).or(self.default.as_ref());
        match (&self.input, value) {
            (Input::Secret, _) | (_, None | Some(Value::Null)) => String::new(),
            (Input::Flag, Some(value)) => match value == &Value::Bool(true) {
                true => "true".to_owned(),
                false => String::new(),
            },
            (Input::Lines | Input::Choices(_), Some(Value::Array(items))) => {
                let texts = items.iter().map(|item| match item {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                });
                texts.collect::<Vec<_>>().join("\n")
            }
            (Input::Json, Some(value)) => serde_json::to_string_pretty(value).unwrap_or_default(),
            (_, Some(Value::String(text))) => text.clone(),
            (_, Some(other)) => other.to_string(),
        }
    }

    /// What was typed, as [`Field::text`] shows a document.
    pub(crate) fn typed<'f>(&self, typed: impl Fn(&str) -> Option<&'f str>) -> String {
        match &self.input {
            Input::Choices(names) => {
                let is_chosen = |name: &&String| typed(&format!("{}:{name}", self.name)).is_some();
                let chosen = names.iter().filter(is_chosen).cloned();
                chosen.collect::<Vec<_>>().join("\n")
            }
            Input::Flag => match typed(&self.name) {
                Some(_) => "true".to_owned(),
                None => String::new(),
            },
            Input::Secret => String::new(),
            Input::Text
            | Input::Number
            | Input::MaybeFlag
            | Input::Choice(_)
            | Input::Lines
            | Input::Json => typed(&self.name).unwrap_or_default().to_owned(),
        }
    }
}

//! A value of a file, with the line of each part of it.
use serde_json::{Map, Value};

/// A value, and the line that it begins in.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) data: Data,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    Table(Vec<Member>),
    List(Vec<Node>),
    Leaf(Value),
}

/// A member of a table.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) value: Node,
}

impl Node {
    /// The value without lines.
    pub(crate) fn to_json(&self) -> Value {
        match &self.data {
            Data::Table(members) => Value::Object(to_object(members)),
            Data::List(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            Data::Leaf(value) => value.clone(),
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Leaf(Value::String(text)) => Some(text),
            Data::Table(_) | Data::List(_) | Data::Leaf(_) => None,
        }
    }

    /// The JSON Schema's name of its type.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.data {
            Data::Table(_) => "object",
            Data::List(_) => "array",
            Data::Leaf(Value::String(_)) => "string",
            Data::Leaf(Value::Bool(_)) => "boolean",
            Data::Leaf(Value::Number(number)) if number.is_f64() => "number",
            Data::Leaf(Value::Number(_)) => "integer",
            Data::Leaf(Value::Null | Value::Array(_) | Value::Object(_)) => "null",
        }
    }
}

/// Members without lines.
pub(crate) fn to_object(members: &[Member]) -> Map<String, Value> {
    let members = members.iter();
    members
        .map(|member| (member.name.clone(), member.value.to_json()))
        .collect()
}

/// The member of this name.
pub(crate) fn member<'m>(members: &'m [Member], name: &str) -> Option<&'m Member> {
    members.iter().find(|member| member.name == name)
}

/// Where the lines of a text begin.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn of(text: &str) -> Lines {
        let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        Lines(ends.map(|(at, _)| at + 1).collect())
    }

    /// The line of a byte, from 1.
    pub(crate) fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|begin| *begin <= offset) + 1
    }
}

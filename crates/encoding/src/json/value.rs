//! The small tree, for documents whose members are looked up rather than read once.

use super::{error::JsonError, number::Number};
use std::borrow::Cow;

/// One JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// a number, as written
    Number(Number<'a>),
    /// a string, unescaped
    String(Cow<'a, str>),
    /// an array
    Array(Vec<Value<'a>>),
    /// an object
    Object(Object<'a>),
}

/// Members in order of appearance, names unique.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl<'a> Object<'a> {
    /// An object without members.
    pub fn new() -> Self {
        Object::default()
    }

    /// The value of a member.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        let (_, value) = self.members.iter().find(|(known, _)| known == name)?;
        Some(value)
    }

    /// Members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value<'a>)> {
        self.members.iter().map(|(name, value)| (&**name, value))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// True without members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Adds a member, or replaces the value of the one with this name where it stands.
    pub fn insert(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Value<'a>>) {
        let (name, value) = (name.into(), value.into());
        match self.members.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.members.push((name, value)),
        }
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) -> Option<Value<'a>> {
        let index = self.members.iter().position(|(known, _)| known == name)?;
        Some(self.members.remove(index).1)
    }

    /// A string member: None where it is absent, [`JsonError::Type`] where it is something else.
    pub fn string(&self, name: &str) -> Result<Option<&str>, JsonError> {
        self.typed(name, Value::as_str)
    }

    /// An exact, unsigned number member, as [`Object::string`].
    pub fn u64(&self, name: &str) -> Result<Option<u64>, JsonError> {
        self.typed(name, Value::as_u64)
    }

    /// A boolean member, as [`Object::string`].
    pub fn bool(&self, name: &str) -> Result<Option<bool>, JsonError> {
        self.typed(name, Value::as_bool)
    }

    /// An object member, as [`Object::string`].
    pub fn object(&self, name: &str) -> Result<Option<&Object<'a>>, JsonError> {
        self.typed(name, Value::as_object)
    }

    /// A member that is an array of strings, as [`Object::string`].
    pub fn strings(&self, name: &str) -> Result<Option<Vec<&str>>, JsonError> {
        self.typed(name, |value| {
            value.as_array()?.iter().map(Value::as_str).collect()
        })
    }

    fn typed<'s, T>(
        &'s self,
        name: &str,
        read: impl FnOnce(&'s Value<'a>) -> Option<T>,
    ) -> Result<Option<T>, JsonError> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => read(value).map(Some).ok_or(JsonError::Type),
        }
    }

    /// Adds a member whose name is not there yet, as in [`Reader::object`](super::Reader::object),
    /// which has seen that.
    #[inline]
    pub fn push_unique(&mut self, name: Cow<'a, str>, value: Value<'a>) {
        self.members.push((name, value));
    }

    /// Without borrows.
    pub fn into_owned(self) -> Object<'static> {
        let owned = |(name, value): (Cow<'_, str>, Value<'_>)| {
            (Cow::Owned(name.into_owned()), value.into_owned())
        };
        Object {
            members: self.members.into_iter().map(owned).collect(),
        }
    }
}

impl<'a> IntoIterator for Object<'a> {
    type Item = (Cow<'a, str>, Value<'a>);
    type IntoIter = std::vec::IntoIter<Self::Item>;
    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

impl<'a> Value<'a> {
    /// The string.
    #[inline]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(value) => Some(value),
            _ => None,
        }
    }

    /// The number, if [`Number::as_u64`] gives one.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Value::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// The number, if [`Number::as_i64`] gives one.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Number(number) => number.as_i64(),
            _ => None,
        }
    }

    /// Seconds since 1970, if [`Number::as_numeric_date`] gives them.
    pub fn as_numeric_date(&self) -> Option<u64> {
        match self {
            Value::Number(number) => number.as_numeric_date(),
            _ => None,
        }
    }

    /// The boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of the array.
    #[inline]
    pub fn as_array(&self) -> Option<&[Value<'a>]> {
        match self {
            Value::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The object.
    #[inline]
    pub fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Without borrows.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Bool(value) => Value::Bool(value),
            Value::Number(number) => Value::Number(number.into_owned()),
            Value::String(value) => Value::String(Cow::Owned(value.into_owned())),
            Value::Array(elements) => {
                Value::Array(elements.into_iter().map(Value::into_owned).collect())
            }
            Value::Object(object) => Value::Object(object.into_owned()),
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Value::String(Cow::Borrowed(value))
    }
}

impl From<String> for Value<'_> {
    fn from(value: String) -> Self {
        Value::String(Cow::Owned(value))
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<u64> for Value<'_> {
    fn from(value: u64) -> Self {
        Value::Number(value.into())
    }
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Value::Number(value.into())
    }
}

impl<'a> From<Object<'a>> for Value<'a> {
    fn from(value: Object<'a>) -> Self {
        Value::Object(value)
    }
}

impl<'a, T: Into<Value<'a>>> From<Vec<T>> for Value<'a> {
    fn from(values: Vec<T>) -> Self {
        Value::Array(values.into_iter().map(Into::into).collect())
    }
}

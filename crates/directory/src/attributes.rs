//! The values of attributes, by the realm's schema ([`signet_oauth::people`]), as they rest.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use signet_oauth::people::{self, AttributeValue, MAX_ATTRIBUTES};

/// The value of an attribute, as JSON has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Boolean(bool),
    /// A whole number.
    Number(i64),
    /// One line.
    Text(String),
    /// Several lines.
    List(Vec<String>),
}

impl Value {
    /// As the rules have it.
    pub fn to_attribute(&self) -> AttributeValue {
        match self {
            Value::Boolean(value) => AttributeValue::Boolean(*value),
            Value::Number(value) => AttributeValue::Number(*value),
            Value::Text(text) => AttributeValue::Text(text.clone()),
            Value::List(list) => AttributeValue::List(list.clone()),
        }
    }
}

/// An attribute of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredAttribute {
    /// Its value.
    pub value: Value,
    /// An administrator or a directory vouches for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verified: bool,
}

/// What a directory says of its person's attributes, as far as values can be such.
pub(crate) fn cleaned(given: BTreeMap<String, Value>) -> BTreeMap<String, StoredAttribute> {
    let fits = |value: &Value| {
        let line = |text: &String| {
            text.len() <= people::MAX_ATTRIBUTE_BYTES && !text.chars().any(char::is_control)
        };
        match value {
            Value::Boolean(_) | Value::Number(_) => true,
            Value::Text(text) => line(text),
            Value::List(list) => {
                list.len() <= people::MAX_ATTRIBUTE_ITEMS
                    && list.iter().map(String::len).sum::<usize>()
                        <= people::MAX_ATTRIBUTE_TOTAL_BYTES
                    && list.iter().all(line)
            }
        }
    };
    given
        .into_iter()
        .filter(|(name, value)| name.len() <= people::MAX_NAME_BYTES && fits(value))
        .take(MAX_ATTRIBUTES)
        .map(|(name, value)| {
            let verified = true;
            (name, StoredAttribute { value, verified })
        })
        .collect()
}

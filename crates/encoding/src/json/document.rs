//! A whole document as a tree.

use super::{
    error::JsonError,
    limits::Limits,
    reader::Reader,
    value::{Object, Value},
};

/// Reads a document whose top level is any value.
pub fn parse<'a>(text: &'a [u8], limits: &Limits) -> Result<Value<'a>, JsonError> {
    let mut reader = Reader::new(text, limits)?;
    let value = reader.value()?;
    reader.finish()?;
    Ok(value)
}

/// As [`parse`]; the top level must be an object.
pub fn parse_object<'a>(text: &'a [u8], limits: &Limits) -> Result<Object<'a>, JsonError> {
    match parse(text, limits)? {
        Value::Object(object) => Ok(object),
        _ => Err(JsonError::Type),
    }
}

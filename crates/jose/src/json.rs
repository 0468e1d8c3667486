//! Strict JSON: UTF-8, no duplicate members (compared after unescaping), no lone surrogates, nothing after the value, bounded.
//! Two ways to read: a pull `Reader` (schema reading, borrows, no tree: hot paths) and a small tree `Value`
//! (registration documents, the `claims` parameter, outbound answers). One way to write: `Writer`.
use std::borrow::Cow;
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub bytes: usize,
    pub depth: usize,
    pub members: usize,
}
impl Default for Limits {
    fn default() -> Self {
        Limits {
            bytes: 64 * 1024,
            depth: 16,
            members: 512,
        }
    }
}
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    Number(Number<'a>),
    String(Cow<'a, str>),
    Array(Vec<Value<'a>>),
    Object(Object<'a>),
}
/// The literal text of a number; the readers give i64/u64 (exact, no fraction), NumericDate (fraction cut), f64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number<'a>(&'a str);
/// Members in order of appearance, names unique.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Value<'a>)>,
}
impl<'a> Object<'a> {
    pub fn get(&self, _name: &str) -> Option<&Value<'a>> {
        todo!()
    }
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value<'a>)> {
        self.members.iter().map(|(k, v)| (&**k, v))
    }
}
impl<'a> Value<'a> {
    pub fn as_str(&self) -> Option<&str> {
        todo!()
    }
    pub fn as_u64(&self) -> Option<u64> {
        todo!()
    }
    pub fn as_i64(&self) -> Option<i64> {
        todo!()
    }
    pub fn as_bool(&self) -> Option<bool> {
        todo!()
    }
    pub fn as_array(&self) -> Option<&[Value<'a>]> {
        todo!()
    }
    pub fn as_object(&self) -> Option<&Object<'a>> {
        todo!()
    }
    pub fn into_owned(self) -> Value<'static> {
        todo!()
    }
    /// Compact text, members in order.
    pub fn write(&self, _out: &mut Vec<u8>) {
        todo!()
    }
}
pub fn parse<'a>(_text: &'a [u8], _limits: &Limits) -> Result<Value<'a>, JsonError> {
    todo!()
}
/// As `parse`, the top level must be an object.
pub fn parse_object<'a>(_text: &'a [u8], _limits: &Limits) -> Result<Object<'a>, JsonError> {
    todo!()
}
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    #[error("malformed JSON at byte {0}")]
    Malformed(usize),
    #[error("a member name appears twice")]
    Duplicate,
    #[error("JSON beyond its limits")]
    Limit,
    #[error("a member has the wrong type")]
    Type,
}

/// Writes compact JSON straight into a buffer; commas are its business.
/// `w.object(|w| { w.member("iss").string(iss); w.member("exp").number(exp); w.member("aud").array(|w| ..) })`
pub struct Writer<'b> {
    out: &'b mut Vec<u8>,
    first: bool,
}
impl<'b> Writer<'b> {
    pub fn new(out: &'b mut Vec<u8>) -> Self {
        Writer { out, first: true }
    }
    pub fn object(&mut self, _f: impl FnOnce(&mut Writer<'_>)) {
        todo!()
    }
    pub fn array(&mut self, _f: impl FnOnce(&mut Writer<'_>)) {
        todo!()
    }
    pub fn member(&mut self, _name: &str) -> &mut Self {
        todo!()
    }
    pub fn string(&mut self, _value: &str) {
        todo!()
    }
    pub fn number(&mut self, _value: u64) {
        todo!()
    }
    pub fn integer(&mut self, _value: i64) {
        todo!()
    }
    pub fn bool(&mut self, _value: bool) {
        todo!()
    }
    pub fn null(&mut self) {
        todo!()
    }
    /// Already encoded JSON, written as it is.
    pub fn raw(&mut self, _json: &[u8]) {
        todo!()
    }
    pub fn value(&mut self, _value: &Value<'_>) {
        todo!()
    }
}

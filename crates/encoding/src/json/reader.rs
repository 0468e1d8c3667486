//! The pull reader: a document is read in the order in which it stands, into whatever the schema
//! wants.

use super::{
    error::JsonError,
    limits::{Limits, MAX_DEPTH},
    number::Number,
    text,
    value::{Object, Value},
};
use std::borrow::Cow;
use std::collections::HashSet;

/// Reads one document without building a tree.
///
/// ```
/// # use signet_encoding::json::{JsonError, Limits, Reader};
/// let mut exp = None;
/// let mut reader = Reader::new(br#"{"exp":1795000000.5,"x":[1,{}]}"#, &Limits::default())?;
/// reader.object(|r, name| -> Result<(), JsonError> {
///     if name == "exp" {
///         exp = Some(r.numeric_date()?);
///     }
///     Ok(()) // a member that is not read is skipped, and checked all the same
/// })?;
/// reader.finish()?;
/// assert_eq!(exp, Some(1_795_000_000));
/// # Ok::<(), JsonError>(())
/// ```
///
/// Strings are borrowed unless they hold an escape. An error ends the reading: what was read before
/// it is not to be used.
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    members: usize,
}

/// What the next value is, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// a number
    Number,
    /// a string
    String,
    /// an array
    Array,
    /// an object
    Object,
}

impl<'a> Reader<'a> {
    /// Checks length and UTF-8 of the whole text; nothing else yet.
    pub fn new(text: &'a [u8], limits: &Limits) -> Result<Self, JsonError> {
        if text.len() > limits.bytes {
            return Err(JsonError::Limit);
        }
        let text =
            std::str::from_utf8(text).map_err(|error| JsonError::Malformed(error.valid_up_to()))?;
        Reader::of_text(text, limits)
    }

    /// As [`Reader::new`], of a text that is known to be UTF-8.
    pub fn of_text(text: &'a str, limits: &Limits) -> Result<Self, JsonError> {
        if text.len() > limits.bytes {
            return Err(JsonError::Limit);
        }
        Ok(Reader {
            text,
            at: 0,
            depth: limits.depth.min(MAX_DEPTH),
            members: limits.members,
        })
    }

    /// Nothing but white space may be left.
    pub fn finish(mut self) -> Result<(), JsonError> {
        self.white_space();
        match self.at == self.text.len() {
            true => Ok(()),
            false => Err(self.malformed()),
        }
    }

    /// What the next value is. Reads white space only.
    #[inline]
    pub fn kind(&mut self) -> Result<Kind, JsonError> {
        self.white_space();
        match self.byte() {
            Some(b'n') => Ok(Kind::Null),
            Some(b't' | b'f') => Ok(Kind::Bool),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b'"') => Ok(Kind::String),
            Some(b'[') => Ok(Kind::Array),
            Some(b'{') => Ok(Kind::Object),
            _ => Err(self.malformed()),
        }
    }

    #[inline]
    fn expect(&mut self, kind: Kind) -> Result<(), JsonError> {
        match self.kind()? == kind {
            true => Ok(()),
            false => Err(JsonError::Type),
        }
    }

    /// Reads an object: `member` is called for each name, with the reader at its value, and reads
    /// that value or leaves it to be skipped.
    pub fn object<E: From<JsonError>>(
        &mut self,
        mut member: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.expect(Kind::Object)?;
        self.open()?;
        if self.closes(b'}') {
            return Ok(());
        }
        let mut names = Names::new();
        loop {
            self.count()?;
            self.white_space();
            self.punctuation(b'"')?;
            let (name, behind) = text::read(self.text, self.at)?;
            self.at = behind;
            names.insert(name.clone())?;
            self.white_space();
            self.punctuation(b':')?;
            // Behind the white space, so that looking at the kind alone does not count as reading.
            self.white_space();
            let before = self.at;
            member(self, name)?;
            if self.at == before {
                self.skip()?;
            }
            if self.closes(b'}') {
                return Ok(());
            }
            self.punctuation(b',')?;
        }
    }

    /// Reads an array: `element` is called with the reader at each element, and reads it or leaves
    /// it to be skipped.
    pub fn array<E: From<JsonError>>(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.expect(Kind::Array)?;
        self.open()?;
        if self.closes(b']') {
            return Ok(());
        }
        loop {
            self.count()?;
            self.white_space();
            let before = self.at;
            element(self)?;
            if self.at == before {
                self.skip()?;
            }
            if self.closes(b']') {
                return Ok(());
            }
            self.punctuation(b',')?;
        }
    }

    /// Reads a string.
    #[inline]
    pub fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        self.expect(Kind::String)?;
        let (value, behind) = text::read(self.text, self.at + 1)?;
        self.at = behind;
        Ok(value)
    }

    /// Reads an array of strings.
    pub fn strings(&mut self) -> Result<Vec<Cow<'a, str>>, JsonError> {
        let mut values = Vec::new();
        self.array(|reader| -> Result<(), JsonError> {
            values.push(reader.string()?);
            Ok(())
        })?;
        Ok(values)
    }

    /// Reads a number, as written. One that other parsers read as something else, or only with
    /// effort, is refused: beyond [`MAX_DIGITS`] digits, infinite as a double (RFC 7493 section
    /// 2.2), or not zero and yet zero as a double.
    pub fn number(&mut self) -> Result<Number<'a>, JsonError> {
        self.expect(Kind::Number)?;
        let start = self.at;
        self.eat(b'-');
        match self.byte() {
            // RFC 8259 section 6: no leading zeros.
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        let number = Number(Cow::Borrowed(&self.text[start..self.at]));
        match number.is_read_alike_everywhere() {
            true => Ok(number),
            // JSON, but beyond what every parser reads alike.
            false => Err(JsonError::Limit),
        }
    }

    /// Reads an exact number: [`Number::as_u64`].
    #[inline]
    pub fn u64(&mut self) -> Result<u64, JsonError> {
        self.number()?.as_u64().ok_or(JsonError::Type)
    }

    /// Reads an exact number: [`Number::as_i64`].
    pub fn i64(&mut self) -> Result<i64, JsonError> {
        self.number()?.as_i64().ok_or(JsonError::Type)
    }

    /// Reads seconds since 1970: [`Number::as_numeric_date`].
    #[inline]
    pub fn numeric_date(&mut self) -> Result<u64, JsonError> {
        self.number()?.as_numeric_date().ok_or(JsonError::Type)
    }

    /// Reads `true` or `false`.
    pub fn bool(&mut self) -> Result<bool, JsonError> {
        self.expect(Kind::Bool)?;
        let value = self.byte() == Some(b't');
        self.literal(if value { "true" } else { "false" })?;
        Ok(value)
    }

    /// Reads `null`.
    pub fn null(&mut self) -> Result<(), JsonError> {
        self.expect(Kind::Null)?;
        self.literal("null")
    }

    /// Reads the next value into a tree.
    pub fn value(&mut self) -> Result<Value<'a>, JsonError> {
        Ok(match self.kind()? {
            Kind::Null => {
                self.null()?;
                Value::Null
            }
            Kind::Bool => Value::Bool(self.bool()?),
            Kind::Number => Value::Number(self.number()?),
            Kind::String => Value::String(self.string()?),
            Kind::Array => {
                let mut elements = Vec::new();
                self.array(|reader| -> Result<(), JsonError> {
                    elements.push(reader.value()?);
                    Ok(())
                })?;
                Value::Array(elements)
            }
            Kind::Object => {
                let mut object = Object::default();
                self.object(|reader, name| -> Result<(), JsonError> {
                    let value = reader.value()?;
                    object.push_unique(name, value);
                    Ok(())
                })?;
                Value::Object(object)
            }
        })
    }

    /// Passes over the next value; it is held to every rule all the same.
    pub fn skip(&mut self) -> Result<(), JsonError> {
        match self.kind()? {
            Kind::Null => self.null(),
            Kind::Bool => self.bool().map(drop),
            Kind::Number => self.number().map(drop),
            Kind::String => self.string().map(drop),
            Kind::Array => self.array(|reader| reader.skip()),
            Kind::Object => self.object(|reader, _| reader.skip()),
        }
    }

    /// Passes over the next value and gives its text, checked.
    pub fn raw(&mut self) -> Result<&'a str, JsonError> {
        self.white_space();
        let start = self.at;
        self.skip()?;
        Ok(&self.text[start..self.at])
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn white_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte() {
            self.at += 1;
        }
    }

    #[inline]
    fn eat(&mut self, byte: u8) -> bool {
        let found = self.byte() == Some(byte);
        self.at += usize::from(found);
        found
    }

    #[inline]
    fn punctuation(&mut self, byte: u8) -> Result<(), JsonError> {
        match self.eat(byte) {
            true => Ok(()),
            false => Err(self.malformed()),
        }
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.byte() {
            self.at += 1;
        }
        match self.at > start {
            true => Ok(()),
            false => Err(self.malformed()),
        }
    }

    fn literal(&mut self, literal: &'static str) -> Result<(), JsonError> {
        match self.text.as_bytes()[self.at..].starts_with(literal.as_bytes()) {
            true => {
                self.at += literal.len();
                Ok(())
            }
            false => Err(self.malformed()),
        }
    }

    /// Behind an opening bracket.
    #[inline]
    fn open(&mut self) -> Result<(), JsonError> {
        self.depth = self.depth.checked_sub(1).ok_or(JsonError::Limit)?;
        self.at += 1;
        Ok(())
    }

    /// Reads `bracket` if it stands next, and leaves one level then.
    #[inline]
    fn closes(&mut self, bracket: u8) -> bool {
        self.white_space();
        let closes = self.eat(bracket);
        self.depth += usize::from(closes);
        closes
    }

    #[inline]
    fn count(&mut self) -> Result<(), JsonError> {
        self.members = self.members.checked_sub(1).ok_or(JsonError::Limit)?;
        Ok(())
    }

    fn malformed(&self) -> JsonError {
        JsonError::Malformed(self.at)
    }
}

/// Names compared one by one before a hash set takes over: most objects have fewer.
const FEW: usize = 16;

/// The names seen in one object. Few cost no allocation; many go to a hash set with a random key,
/// so that neither a long object nor chosen names make it quadratic.
struct Names<'a> {
    /// each name's length and first seven bytes: what differs here need not be compared further
    marks: [u64; FEW],
    few: [Cow<'a, str>; FEW],
    length: usize,
    many: Option<HashSet<Cow<'a, str>>>,
}

/// Equal for equal names.
fn mark(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let mut first = [0; 8];
    let length = bytes.len().min(7);
    first[..length].copy_from_slice(&bytes[..length]);
    first[7] = bytes.len() as u8;
    u64::from_le_bytes(first)
}

impl<'a> Names<'a> {
    fn new() -> Self {
        Names {
            marks: [0; FEW],
            few: [const { Cow::Borrowed("") }; FEW],
            length: 0,
            many: None,
        }
    }

    fn insert(&mut self, name: Cow<'a, str>) -> Result<(), JsonError> {
        let (few, length) = (&mut self.few, self.length);
        if length < FEW {
            let mark = mark(&name);
            let same = |at: usize| self.marks[at] == mark && few[at] == name;
            if (0..length).any(same) {
                return Err(JsonError::Duplicate);
            }
            self.marks[length] = mark;
            few[length] = name;
            self.length += 1;
            return Ok(());
        }
        let many = self
            .many
            .get_or_insert_with(|| few.iter_mut().map(std::mem::take).collect());
        match many.insert(name) {
            true => Ok(()),
            false => Err(JsonError::Duplicate),
        }
    }
}

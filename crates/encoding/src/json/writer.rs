//! Writing compact JSON without a tree.

use super::{
    text,
    value::{Object, Value},
};

/// Writes compact JSON straight into a buffer; commas are its business.
///
/// ```
/// # use signet_encoding::json::Writer;
/// let mut out = Vec::new();
/// Writer::new(&mut out).object(|w| {
///     w.member("iss").string("https://as.example");
///     w.member("aud").array(|w| {
///         w.string("a");
///         w.string("b");
///     });
///     w.member("exp").number(1_795_000_000);
/// });
/// assert_eq!(out, br#"{"iss":"https://as.example","aud":["a","b"],"exp":1795000000}"#);
/// ```
///
/// The caller keeps names unique and writes exactly one value behind each
/// [`member`](Writer::member); in debug builds a member without its value is an assertion.
pub struct Writer<'b> {
    out: &'b mut Vec<u8>,
    /// nothing stands before the next value that a comma would have to part it from
    first: bool,
}

impl<'b> Writer<'b> {
    /// Appends one value to `out`.
    #[inline]
    pub fn new(out: &'b mut Vec<u8>) -> Self {
        Writer { out, first: true }
    }

    /// An object whose members `f` writes.
    pub fn object(&mut self, f: impl FnOnce(&mut Writer<'_>)) {
        self.nested(b'{', b'}', f);
    }

    /// An array whose elements `f` writes.
    pub fn array(&mut self, f: impl FnOnce(&mut Writer<'_>)) {
        self.nested(b'[', b']', f);
    }

    fn nested(&mut self, open: u8, close: u8, f: impl FnOnce(&mut Writer<'_>)) {
        self.comma();
        self.out.push(open);
        f(&mut Writer::new(self.out));
        debug_assert!(self.out.last() != Some(&b':'), "a member without a value");
        self.out.push(close);
    }

    /// The name of the member whose value is written next.
    #[inline]
    pub fn member(&mut self, name: &str) -> &mut Self {
        self.comma();
        text::write(name, self.out);
        self.out.push(b':');
        self.first = true;
        self
    }

    /// A string.
    #[inline]
    pub fn string(&mut self, value: &str) {
        self.comma();
        text::write(value, self.out);
    }

    /// An array of strings.
    pub fn strings<S: AsRef<str>>(&mut self, values: impl IntoIterator<Item = S>) {
        self.array(|w| {
            for value in values {
                w.string(value.as_ref());
            }
        });
    }

    /// A string that holds `data` in base64url.
    pub fn base64url(&mut self, data: &[u8]) {
        self.comma();
        self.out.push(b'"');
        crate::base64url::encode_into(data, self.out);
        self.out.push(b'"');
    }

    /// A number.
    pub fn number(&mut self, mut value: u64) {
        self.comma();
        let mut digits = [0; 20];
        let mut start = digits.len();
        loop {
            start -= 1;
            digits[start] = b'0' + (value % 10) as u8;
            value /= 10;
            if value == 0 {
                break;
            }
        }
        self.out.extend_from_slice(&digits[start..]);
    }

    /// A number that may be negative.
    pub fn integer(&mut self, value: i64) {
        if value < 0 {
            self.comma();
            self.out.push(b'-');
            self.first = true;
        }
        self.number(value.unsigned_abs());
    }

    /// `true` or `false`.
    #[inline]
    pub fn bool(&mut self, value: bool) {
        self.raw(if value { b"true" } else { b"false" });
    }

    /// `null`.
    pub fn null(&mut self) {
        self.raw(b"null");
    }

    /// One value that is JSON text already; written as it is.
    #[inline]
    pub fn raw(&mut self, json: &[u8]) {
        self.comma();
        self.out.extend_from_slice(json);
    }

    /// A value of the tree.
    pub fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::Null => self.null(),
            Value::Bool(value) => self.bool(*value),
            Value::Number(number) => self.raw(number.as_str().as_bytes()),
            Value::String(value) => self.string(value),
            Value::Array(elements) => {
                self.array(|w| elements.iter().for_each(|element| w.value(element)))
            }
            Value::Object(object) => self.object(|w| w.members(object)),
        }
    }

    /// All members of `object`, inside the object that is being written.
    pub fn members(&mut self, object: &Object<'_>) {
        for (name, value) in object.iter() {
            self.member(name).value(value);
        }
    }

    #[inline]
    fn comma(&mut self) {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
    }
}

impl Object<'_> {
    /// Appends compact text, members in order.
    pub fn write(&self, out: &mut Vec<u8>) {
        Writer::new(out).object(|w| w.members(self));
    }
}

impl Value<'_> {
    /// Appends compact text, members in order.
    pub fn write(&self, out: &mut Vec<u8>) {
        Writer::new(out).value(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(f: impl FnOnce(&mut Writer<'_>)) -> String {
        let mut out = Vec::new();
        f(&mut Writer::new(&mut out));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn commas_part_members_and_elements_only() {
        assert_eq!(written(|w| w.object(|_| ())), "{}");
        assert_eq!(written(|w| w.array(|_| ())), "[]");
        let text = written(|w| {
            w.object(|w| {
                w.member("a").array(|w| {
                    w.integer(-1);
                    w.integer(-2);
                    w.null();
                    w.array(|w| w.bool(true));
                });
                w.member("b").object(|w| w.member("c").raw(b"[1]"));
                w.member("d").strings(["x", "y"]);
                w.member("e").base64url(b"foo");
            });
        });
        assert_eq!(
            text,
            r#"{"a":[-1,-2,null,[true]],"b":{"c":[1]},"d":["x","y"],"e":"Zm9v"}"#
        );
    }

    #[test]
    fn numbers_are_written_to_their_ends() {
        assert_eq!(written(|w| w.number(0)), "0");
        assert_eq!(written(|w| w.number(u64::MAX)), u64::MAX.to_string());
        assert_eq!(written(|w| w.integer(i64::MIN)), i64::MIN.to_string());
        assert_eq!(written(|w| w.integer(i64::MAX)), i64::MAX.to_string());
    }

    #[test]
    fn only_what_must_be_escaped_is() {
        assert_eq!(
            written(|w| w.string("a\"\\/\u{8}\u{c}\n\r\t\0\u{1f}\u{7f}é😀</script>")),
            "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\u{7f}é😀</script>\""
        );
    }
}

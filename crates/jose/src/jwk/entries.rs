//! The entries of a published key set, each as it stands in the document.
//!
//! A set that cannot be read leaves the set before it in use, and with it every key that the new
//! one withdraws. So this reader looks at no more than it has to: where strings, arrays and objects
//! begin and end, and which members the outermost object has. What stands inside an entry, or
//! inside a member that nobody reads, is not its business: an entry is read strictly afterwards, by
//! itself, and is left out where it is odd.
//!
//! Strict about what would let two readers see two sets: a document with two members `keys`, or
//! whose brackets do not match, is refused.

use super::JwkError;
use signet_encoding::json::{self, JsonError, Limits};

/// RFC 8259 section 8.1: a parser may ignore a byte order mark rather than call it an error.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of each entry of the array `keys`, to be read strictly, each by itself.
///
/// # Errors
/// The document has more than `most` bytes, is no object, or has no array `keys` or two of them.
pub fn entries(document: &[u8], most: usize) -> Result<Vec<&[u8]>, JwkError> {
    if document.len() > most {
        return Err(JsonError::Limit.into());
    }
    let text = document.strip_prefix(BYTE_ORDER_MARK).unwrap_or(document);
    let mut scanner = Scanner { text, at: 0 };
    let mut keys = None;
    scanner.within(b'{', b'}', |scanner| {
        let name = scanner.string()?;
        scanner.punctuation(b':')?;
        match is_keys(name) {
            false => scanner.value().map(drop),
            true if keys.is_some() => Err(JsonError::Duplicate.into()),
            true if scanner.peek() != Some(b'[') => Err(JwkError::Member("keys")),
            true => {
                let mut found = Vec::new();
                scanner.within(b'[', b']', |scanner| {
                    found.push(scanner.value()?);
                    Ok(())
                })?;
                keys = Some(found);
                Ok(())
            }
        }
    })?;
    match scanner.peek() {
        None => keys.ok_or(JwkError::Member("keys")),
        Some(_) => Err(scanner.malformed()),
    }
}

/// Whether a member's name is `keys`, in any spelling that JSON has for it. A name that strict JSON
/// refuses is another name.
fn is_keys(name: &[u8]) -> bool {
    let read = json::parse(name, &Limits::default());
    read.is_ok_and(|name| name.as_str() == Some("keys"))
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    fn malformed(&self) -> JwkError {
        JsonError::Malformed(self.at).into()
    }

    /// The next byte behind white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn punctuation(&mut self, byte: u8) -> Result<(), JwkError> {
        match self.peek() == Some(byte) {
            true => {
                self.at += 1;
                Ok(())
            }
            false => Err(self.malformed()),
        }
    }

    /// Reads what stands between two brackets, by commas.
    fn within(
        &mut self,
        opens: u8,
        closes: u8,
        mut element: impl FnMut(&mut Self) -> Result<(), JwkError>,
    ) -> Result<(), JwkError> {
        self.punctuation(opens)?;
        if self.peek() == Some(closes) {
            self.at += 1;
            return Ok(());
        }
        loop {
            element(self)?;
            if self.peek() == Some(closes) {
                self.at += 1;
                return Ok(());
            }
            self.punctuation(b',')?;
        }
    }

    /// A string with its quotes, whatever is between them.
    fn string(&mut self) -> Result<&'a [u8], JwkError> {
        self.punctuation(b'"')?;
        let start = self.at - 1;
        loop {
            match self.text.get(self.at) {
                None => return Err(self.malformed()),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(&self.text[start..self.at]);
                }
                // What follows a backslash ends no string.
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
            }
        }
    }

    /// One value: a string, a word or number, or all between two brackets that belong together.
    /// Does not recurse: how deep a foreign member is nested is bounded by the document's length.
    fn value(&mut self) -> Result<&'a [u8], JwkError> {
        let mut closing = Vec::new();
        self.peek();
        let start = self.at;
        loop {
            match self.peek() {
                None => return Err(self.malformed()),
                Some(b'"') => drop(self.string()?),
                Some(b'{') => self.bracket(&mut closing, b'}'),
                Some(b'[') => self.bracket(&mut closing, b']'),
                Some(byte @ (b'}' | b']')) => match closing.pop() == Some(byte) {
                    true => self.at += 1,
                    false => return Err(self.malformed()),
                },
                Some(b',' | b':') if !closing.is_empty() => {
                    self.at += 1;
                    continue;
                }
                Some(b',' | b':') => return Err(self.malformed()),
                Some(_) => self.word(),
            }
            if closing.is_empty() {
                return Ok(&self.text[start..self.at]);
            }
        }
    }

    fn bracket(&mut self, closing: &mut Vec<u8>, closes: u8) {
        closing.push(closes);
        self.at += 1;
    }

    /// A number, or anything else without structure.
    fn word(&mut self) {
        const ENDS: &[u8] = b" \t\n\r\"{}[],:";
        while let Some(byte) = self.text.get(self.at)
            && !ENDS.contains(byte)
        {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 1024;

    fn texts(document: &str) -> Vec<&str> {
        let found = entries(document.as_bytes(), MOST).expect(document);
        let text = |entry| std::str::from_utf8(entry).unwrap();
        found.into_iter().map(text).collect()
    }

    #[test]
    fn each_entry_is_given_as_it_stands() {
        let document = "\u{feff} {\"a\":{\"keys\":[0]}, \"keys\" : [ {\"x\":[1,{\"y\":\"]}\\\"\"}]} ,7,\"a,b\",null] ,\"b\":[[]] } ";
        assert_eq!(
            texts(document),
            [r#"{"x":[1,{"y":"]}\""}]}"#, "7", r#""a,b""#, "null"]
        );
        assert_eq!(texts(r#"{"k\u0065ys":[1]}"#), ["1"]);
        assert!(texts(r#"{"keys":[]}"#).is_empty());
    }

    #[test]
    fn what_is_odd_in_one_place_hides_no_other() {
        for odd in [
            "1e400",
            "1234567890123456789012345678901",
            r#""\ud800""#,
            r#"{"a":1,"a":2}"#,
            "\"\u{1}\"",
            "01",
            "nonsense",
            r#"{"kty" "EC"}"#,
            &format!("{}{}", "[".repeat(100), "]".repeat(100)),
        ] {
            let document = format!(r#"{{"foreign":{odd},"foreign":{odd},"keys":[{odd},{{}}]}}"#);
            assert_eq!(texts(&document), [odd, "{}"]);
        }
        let not_text = b"{\"a\":\"\xff\",\"keys\":[\"\xff\",1]}";
        assert_eq!(entries(not_text, MOST).unwrap(), [&b"\"\xff\""[..], b"1"]);
    }

    #[test]
    fn what_two_readers_would_read_differently_is_refused() {
        for document in [
            "",
            "[]",
            "7",
            "{}",
            r#"{"keys":"x"}"#,
            r#"{"keys":{}}"#,
            r#"{"keys":[1],"keys":[2]}"#,
            r#"{"keys":[1],"k\u0065ys":[2]}"#,
            r#"{"keys":[1]"#,
            r#"{"keys":[1}]"#,
            r#"{"keys":[1,]}"#,
            r#"{"keys":[,1]}"#,
            r#"{"keys":[1]} x"#,
            r#"{"keys":[1]}}"#,
            r#"{"keys":[1 2]}"#,
            r#"{"keys":["1]}"#,
            r#"{"keys":["1\"#,
            r#"{"keys":[{"a":[}]}]}"#,
            r#"{"keys":[1],}"#,
            r#"{"keys" [1]}"#,
            "\u{feff}\u{feff}{\"keys\":[]}",
        ] {
            assert!(entries(document.as_bytes(), MOST).is_err(), "{document}");
        }
        let long = format!(r#"{{"keys":[]}}{}"#, " ".repeat(MOST));
        assert_eq!(
            entries(long.as_bytes(), MOST),
            Err(JwkError::Json(JsonError::Limit))
        );
    }
}

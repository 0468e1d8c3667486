//! JSON with the line of every value. The parser that everybody has keeps no places, so it decides
//! whether a text is JSON, and this walks along a text of which that is known.
use crate::node::{Data, Lines, Member, Node};
use serde_json::Value;

/// Reads a text.
///
/// # Errors
/// Line and words of the first mistake.
pub(crate) fn parse(text: &str) -> Result<Node, (usize, String)> {
    let is_json = serde_json::from_str::<Value>(text);
    is_json.map_err(|error| {
        let said = error.to_string();
        let said = said.split(" at line ").next().unwrap_or_default();
        (error.line(), format!("not JSON: {said}"))
    })?;
    let mut walk = Walk {
        text,
        at: 0,
        lines: Lines::of(text),
    };
    walk.value().ok_or((1, "not JSON".to_owned()))
}

struct Walk<'t> {
    text: &'t str,
    at: usize,
    lines: Lines,
}

impl Walk<'_> {
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn string(&mut self) -> Option<String> {
        let begin = self.at;
        let mut escaped = false;
        let inside = self.text.as_bytes()[begin + 1..].iter();
        let length = inside
            .take_while(|b| {
                let ends = **b == b'"' && !escaped;
                escaped = **b == b'\\' && !escaped;
                !ends
            })
            .count();
        self.at = begin + length + 2;
        serde_json::from_str(self.text.get(begin..self.at)?).ok()
    }

    fn value(&mut self) -> Option<Node> {
        let first = self.peek()?;
        let line = self.lines.at(self.at);
        let data = match first {
            b'{' => {
                self.at += 1;
                let mut members = Vec::new();
                while !self.take(b'}') {
                    self.peek()?;
                    let line = self.lines.at(self.at);
                    let name = self.string()?;
                    self.take(b':');
                    let value = self.value()?;
                    members.push(Member { name, line, value });
                    self.take(b',');
                }
                Data::Table(members)
            }
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                while !self.take(b']') {
                    items.push(self.value()?);
                    self.take(b',');
                }
                Data::List(items)
            }
            b'"' => Data::Leaf(Value::String(self.string()?)),
            _ => {
                let rest = &self.text[self.at..];
                let ends = |c: char| c.is_ascii_whitespace() || ",]}".contains(c);
                let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
                self.at += word.len();
                Data::Leaf(serde_json::from_str(word).ok()?)
            }
        };
        Some(Node { line, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".{0,4}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_json_is_read_as_it_is(value in values()) {
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                prop_assert_eq!(parse(&text).unwrap().to_json(), value.clone());
            }
        }
    }

    #[test]
    fn a_member_has_its_line() {
        let node = parse("{\n \"a\": 1,\n \"b\": [\n  {}]\n}").unwrap();
        let Data::Table(members) = node.data else {
            panic!("a table")
        };
        assert_eq!((members[0].line, members[1].line), (2, 3));
    }
}

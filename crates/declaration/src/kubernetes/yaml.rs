//! YAML as it is written: one text for given values.
use serde_json::Value;

/// Documents one after the other.
pub(crate) fn documents(values: &[Value]) -> String {
    let mut out = String::new();
    for value in values {
        out.push_str("---\n");
        block(&mut out, value, 0, true);
    }
    out
}

/// A value below a key or a dash, from a new line where it has parts.
fn block(out: &mut String, value: &Value, depth: usize, begun: bool) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (at, (name, member)) in members.iter().enumerate() {
                indent(out, if begun && at == 0 { 0 } else { depth });
                out.push_str(&scalar(&Value::from(name.as_str())));
                out.push(':');
                below(out, member, depth + 1);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                indent(out, if begun && at == 0 { 0 } else { depth });
                out.push_str("- ");
                block(out, item, depth + 1, true);
            }
        }
        Value::Object(_) => out.push_str("{}\n"),
        Value::Array(_) => out.push_str("[]\n"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&scalar(value));
            out.push('\n');
        }
    }
}

fn below(out: &mut String, value: &Value, depth: usize) {
    let has_parts = match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    out.push(if has_parts { '\n' } else { ' ' });
    block(out, value, depth, !has_parts);
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("  ", depth));
}

/// A text is plain where nothing can take it for another type; else as in JSON, which YAML reads.
fn scalar(value: &Value) -> String {
    let Some(text) = value.as_str() else {
        return value.to_string();
    };
    let first = text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./".contains(&b);
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_word = words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match first && !is_word && text.bytes().all(is_plain) {
        true => text.to_owned(),
        false => value.to_string().replace('\u{7f}', "\\u007f"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_is_one_text() {
        let value = json!({
            "a": { "on": true, "list": ["x", { "b": 1, "c": [[], {}] }, [1, 2]] },
            "none": null, "text": "two words: \"1\"", "y": "no",
        });
        let expected = "---\na:\n  list:\n    - x\n    - b: 1\n      c:\n        - []\n        - {}\n    - - 1\n      - 2\n  \"on\": true\nnone: null\ntext: \"two words: \\\"1\\\"\"\n\"y\": \"no\"\n";
        assert_eq!(documents(&[value]), expected);
    }
}

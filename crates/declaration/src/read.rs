//! Files as values with lines.
use crate::json;
use crate::node::{Data, Lines, Member, Node};
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads a file's text: JSON where its name says so, else TOML.
///
/// # Errors
/// Line and words of the first mistake.
pub(crate) fn parse(name: &str, text: &str) -> Result<Vec<Member>, (usize, String)> {
    if name.ends_with(".json") {
        return match json::parse(text)?.data {
            Data::Table(members) => Ok(members),
            Data::List(_) | Data::Leaf(_) => {
                Err((1, "a file is an object: {\"clients\": [...]}".to_owned()))
            }
        };
    }
    let lines = Lines::of(text);
    match DeTable::parse(text) {
        Ok(table) => Ok(members(table.get_ref(), &lines)),
        Err(error) => {
            let line = error.span().map_or(1, |span| lines.at(span.start));
            let said = error.message().lines().next().unwrap_or_default();
            Err((line, format!("not TOML: {said}")))
        }
    }
}

fn members(table: &DeTable<'_>, lines: &Lines) -> Vec<Member> {
    let members = table.iter().map(|(key, value)| Member {
        name: key.get_ref().to_string(),
        line: lines.at(key.span().start),
        value: node(value, lines),
    });
    let mut members: Vec<Member> = members.collect();
    // In the order of the file, whatever the parser's is.
    members.sort_by_key(|member| member.line);
    members
}

fn node(value: &Spanned<DeValue<'_>>, lines: &Lines) -> Node {
    let data = match value.get_ref() {
        DeValue::Table(table) => Data::Table(members(table, lines)),
        DeValue::Array(items) => Data::List(items.iter().map(|item| node(item, lines)).collect()),
        DeValue::String(text) => Data::Leaf(Value::from(text.to_string())),
        DeValue::Boolean(is) => Data::Leaf(Value::from(*is)),
        DeValue::Integer(integer) => {
            let read = i64::from_str_radix(integer.as_str(), integer.radix());
            Data::Leaf(read.map_or(Value::Null, Value::from))
        }
        DeValue::Float(float) => {
            let read: Option<f64> = float.as_str().parse().ok();
            Data::Leaf(read.map_or(Value::Null, Value::from))
        }
        // The admin API has moments as texts.
        DeValue::Datetime(moment) => Data::Leaf(Value::from(moment.to_string())),
    };
    Node {
        line: lines.at(value.span().start),
        data,
    }
}

//! `NAME=VALUE` arguments: members of a record, as the admin API names them. `NAME+=VALUE` and
//! `NAME-=VALUE` add one element of a list and take one out.

use serde_json::{Map, Value};

use signet_config::duration::Duration;
use signet_terminal::output::Failure;

/// What an argument does to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Set,
    Add,
    Take,
}

/// One argument. The value is JSON where it reads as such (true, 600, ["a"], null), and text
/// otherwise.
#[derive(Clone, Debug)]
pub struct Field {
    name: String,
    act: Act,
    value: Value,
}

/// Secret members cannot be set this way.
const SECRET: [&str; 3] = ["password", "client_secret", "secret"];
/// A list that is written as words in one text (RFC 6749 section 3.3).
const WORDS: &str = "scope";

impl std::str::FromStr for Field {
    type Err = String;
    fn from_str(text: &str) -> Result<Field, String> {
        let (name, value) = text
            .split_once('=')
            .ok_or("expected NAME=VALUE, NAME+=VALUE or NAME-=VALUE")?;
        let (name, act) = if let Some(name) = name.strip_suffix('+') {
            (name, Act::Add)
        } else if let Some(name) = name.strip_suffix('-') {
            (name, Act::Take)
        } else {
            (name, Act::Set)
        };
        if name.is_empty()
            || !name
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        {
            return Err("a name has lower-case letters, digits and underscores".into());
        }
        if SECRET.contains(&name) {
            return Err("secrets are never arguments: others on this machine can read them".into());
        }
        let text = || Value::String(value.into());
        let value = match act {
            Act::Set => serde_json::from_str(value).unwrap_or_else(|_| text()),
            // One element: a redirect_uri is never JSON.
            Act::Add | Act::Take => text(),
        };
        Ok(Field {
            name: name.into(),
            act,
            value,
        })
    }
}

impl Field {
    /// Is it about this member?
    pub fn is(&self, name: &str) -> bool {
        self.name == name
    }
}

/// A secret member, which did not come as an argument.
pub fn secret(name: &str, value: String) -> Field {
    Field {
        name: name.to_owned(),
        act: Act::Set,
        value: value.into(),
    }
}

/// Whether all of these only add and take out: then they can be done again on what somebody else
/// wrote meanwhile.
pub fn merge(fields: &[Field]) -> bool {
    fields.iter().all(|field| field.act != Act::Set)
}

/// Whether a member is a length of time, in seconds.
fn is_length(name: &str) -> bool {
    name.ends_with("_lifetime") || name == "default_max_age"
}

/// Puts the fields into a record. `lists`: the members whose values are lists; one that was written
/// without brackets is a list of its words.
pub fn put(
    record: &mut Map<String, Value>,
    fields: &[Field],
    lists: &[String],
) -> Result<(), Failure> {
    for Field { name, act, value } in fields {
        let is_list = lists.contains(name);
        if *act == Act::Set {
            let value = match value {
                Value::String(text) if is_list => {
                    text.split_whitespace().map(Value::from).collect()
                }
                // A length of time may have a unit, as in the configuration file. What is none, the
                // server refuses by name, as it does every value.
                Value::String(text) if is_length(name) => match Duration::parse(text) {
                    Ok(length) => length.0.into(),
                    Err(_) => value.clone(),
                },
                other => other.clone(),
            };
            record.insert(name.clone(), value);
            continue;
        }
        let add = *act == Act::Add;
        match record.get_mut(name) {
            Some(Value::Array(items)) => {
                items.retain(|item| item != value);
                if add {
                    items.push(value.clone());
                }
            }
            Some(Value::String(words)) if name == WORDS => {
                let one = value.as_str().unwrap_or_default();
                let mut kept: Vec<&str> = words
                    .split(' ')
                    .filter(|w| !w.is_empty() && *w != one)
                    .collect();
                if add {
                    kept.push(one);
                }
                *words = kept.join(" ");
            }
            Some(Value::Null) | None if name == WORDS || is_list => {
                if add && is_list {
                    record.insert(name.clone(), Value::Array(vec![value.clone()]));
                } else if add {
                    record.insert(name.clone(), value.clone());
                }
            }
            _ => {
                return Err(Failure::no(
                    "invalid_request",
                    format!("{name} is no list: {name}=VALUE sets it"),
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_is_json_where_it_reads_as_json_and_text_otherwise() {
        let read = |text: &str| text.parse::<Field>().map(|f| f.value).ok();
        assert_eq!(read("require_pkce=false"), Some(Value::Bool(false)));
        assert_eq!(read("access_token_lifetime=60"), Some(60.into()));
        assert_eq!(
            read("redirect_uris=[\"https://a/\"]"),
            Some(json!(["https://a/"]))
        );
        assert_eq!(read("client_name=My = App"), Some("My = App".into()));
        assert_eq!(read("Name=x"), None);
        assert_eq!(read("x"), None);
    }

    #[test]
    fn a_secret_is_no_argument() {
        for text in ["password=x", "client_secret=x", "client_secret+=x"] {
            assert!(text.parse::<Field>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_list_needs_no_brackets_and_takes_single_elements() {
        let lists = ["resources".to_owned(), "contacts".to_owned()];
        let mut record = json!({ "resources": ["a", "b"], "scope": "x y", "name": "n" });
        let record = record.as_object_mut().unwrap();
        let mut apply =
            |text: &str| put(record, &[text.parse().unwrap()], &lists).map(|()| record.clone());
        assert_eq!(
            apply("resources+=c").unwrap()["resources"],
            json!(["a", "b", "c"])
        );
        assert_eq!(
            apply("resources+=c").unwrap()["resources"],
            json!(["a", "b", "c"])
        );
        assert_eq!(
            apply("resources-=a").unwrap()["resources"],
            json!(["b", "c"])
        );
        assert_eq!(
            apply("resources=d e").unwrap()["resources"],
            json!(["d", "e"])
        );
        assert_eq!(
            apply("access_token_lifetime=5m").unwrap()["access_token_lifetime"],
            300
        );
        // No length: the server refuses it, with the member's name.
        assert_eq!(
            apply("access_token_lifetime=5x").unwrap()["access_token_lifetime"],
            "5x"
        );
        assert_eq!(apply("contacts+=me").unwrap()["contacts"], json!(["me"]));
        assert_eq!(apply("scope+=z").unwrap()["scope"], "x y z");
        assert_eq!(apply("scope-=x").unwrap()["scope"], "y z");
        assert!(apply("name+=x").is_err());
    }
}

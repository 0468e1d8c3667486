//! `NAME=VALUE` arguments: members of a record, as the admin API names them.

use serde_json::{Map, Value};

/// One `NAME=VALUE`. The value is JSON where it reads as such (true, 600, ["a"], null), and text otherwise.
#[derive(Clone, Debug)]
pub struct Field {
    name: String,
    value: Value,
}

/// Members that hold secrets have their own ways in.
const SECRET: [&str; 3] = ["password", "client_secret", "secret"];

impl std::str::FromStr for Field {
    type Err = String;
    fn from_str(text: &str) -> Result<Field, String> {
        let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
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
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.into()));
        Ok(Field {
            name: name.into(),
            value,
        })
    }
}

/// Puts the fields into a record.
pub fn put(record: &mut Map<String, Value>, fields: Vec<Field>) {
    for field in fields {
        record.insert(field.name, field.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_json_where_it_reads_as_json_and_text_otherwise() {
        let read = |text: &str| text.parse::<Field>().map(|f| f.value).ok();
        assert_eq!(read("require_pkce=false"), Some(Value::Bool(false)));
        assert_eq!(read("access_token_lifetime=60"), Some(60.into()));
        assert_eq!(
            read("redirect_uris=[\"https://a/\"]"),
            Some(serde_json::json!(["https://a/"]))
        );
        assert_eq!(read("client_name=My = App"), Some("My = App".into()));
        assert_eq!(read("Name=x"), None);
        assert_eq!(read("x"), None);
    }

    #[test]
    fn a_secret_is_no_argument() {
        assert!("password=x".parse::<Field>().is_err());
        assert!("client_secret=x".parse::<Field>().is_err());
    }
}

//! What a setting is, for whoever sets it: the documentation, type and default of its type beside
//! its row.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::{
    fault::nearest,
    read::{schema, shapes},
    settings::{Form, SETTINGS, Setting, row},
};

/// A setting, or a member of a record of the file, with what is known of it.
#[derive(Clone, Debug)]
pub struct Explained {
    /// Its name: `lifetimes.code`, `clients.redirect_uris`.
    pub path: String,
    /// What it is for.
    pub documentation: String,
    /// What may be written: "a length of time, from 5s to 10m".
    pub shape: String,
    /// What counts where nothing is written; null: nothing.
    pub default: Value,
    /// The row of the setting, or of the list that the member belongs to.
    pub setting: &'static Setting,
}

impl Explained {
    /// For scripts.
    pub fn to_json(&self) -> Value {
        json!({
            "path": self.path,
            "documentation": self.documentation,
            "type": self.shape,
            "default": self.default,
            "owner": self.setting.owner.name(),
            "takes_effect": self.setting.takes_effect.name(),
        })
    }
}

/// The setting of this name; of a table, every setting in it; of a list, the list and each member
/// of its records.
///
/// # Errors
/// Unknown: the nearest name, if any.
pub fn explain(path: &str) -> Result<Vec<Explained>, Option<String>> {
    let root = schema();
    let mut found = Vec::new();
    // `clients[0].scope`, as an error names it.
    let plain: String = path
        .split('.')
        .map(|part| part.split('[').next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join(".");
    walk(&root, &root, "", &mut |own, node, _| {
        let within = own.strip_prefix(&*plain);
        if within.is_some_and(|rest| plain.is_empty() || rest.is_empty() || rest.starts_with('.')) {
            found.extend(explained(own, node, &root));
        }
    });
    // The manual's order; members of a record stay in theirs.
    let place = |one: &Explained| SETTINGS.iter().position(|row| row.path == one.setting.path);
    found.sort_by_key(place);
    if !found.is_empty() {
        return Ok(found);
    }
    let mut known = Vec::new();
    walk(&root, &root, "", &mut |own, _, _| {
        known.push(own.to_owned())
    });
    let known = known.iter().map(String::as_str);
    // Somebody may know the last word of it alone.
    let last = |one: &str| one.rsplit('.').next() == plain.rsplit('.').next();
    let by_word = known.clone().find(|one| last(one)).map(str::to_owned);
    Err(by_word.or_else(|| nearest(&plain, known)))
}

/// The names of all settings: what has no members of its own, and lists.
#[cfg(test)]
pub(crate) fn leaves() -> Vec<String> {
    let root = schema();
    let mut found = Vec::new();
    walk(&root, &root, "", &mut |own, _, of_record| {
        if !of_record {
            found.push(own.to_owned());
        }
    });
    found
}

/// Calls `each` with every setting of a table, its schema, and whether it is a member of a record.
fn walk(node: &Value, root: &Value, path: &str, each: &mut dyn FnMut(&str, &Value, bool)) {
    members(node, root, path, false, each);
}

fn members(
    node: &Value,
    root: &Value,
    path: &str,
    of_record: bool,
    each: &mut dyn FnMut(&str, &Value, bool),
) {
    for shape in shapes(node, root) {
        let Some(properties) = shape["properties"].as_object() else {
            continue;
        };
        for (name, member) in properties {
            let own = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            let alternatives = shapes(member, root);
            let is_table = alternatives.iter().any(|one| one["properties"].is_object());
            if is_table && !is_secret(member, root) {
                members(member, root, &own, of_record, each);
                continue;
            }
            each(&own, member, of_record);
            // The records of a list, one level deep.
            for list in alternatives.iter().filter(|_| !of_record) {
                members(&list["items"], root, &own, true, each);
            }
        }
    }
}

/// A table of the file: what it is for, and whether it need not be there.
pub(crate) fn table(path: &str) -> Option<(String, bool)> {
    let root = schema();
    let mut node = &root;
    for name in path.split('.') {
        let found = shapes(node, &root).into_iter();
        node = found
            .filter_map(|shape| shape["properties"].get(name))
            .next()?;
    }
    let documentation = node["description"].as_str().unwrap_or_default();
    let is_optional = node.get("default").is_none_or(Value::is_null);
    Some((documentation.replace('\n', " "), is_optional))
}

fn is_secret(node: &Value, root: &Value) -> bool {
    let refers = |one: &&Value| one["$ref"] == "#/$defs/SecretRef";
    shapes(node, root).iter().any(refers)
}

fn explained(path: &str, node: &Value, root: &Value) -> Option<Explained> {
    let text = |node: &Value| node["description"].as_str().map(str::to_owned);
    Some(Explained {
        path: path.to_owned(),
        documentation: text(node).unwrap_or_default().replace('\n', " "),
        shape: shape(path, node, root),
        default: node.get("default").cloned().unwrap_or_default(),
        setting: row(path)?,
    })
}

/// What may be written.
fn shape(path: &str, node: &Value, root: &Value) -> String {
    let alternatives = shapes(node, root);
    let refers = |name: &str| {
        let target = format!("#/$defs/{name}");
        alternatives.iter().any(|one| one["$ref"] == *target)
    };
    let is = |kind: &str| {
        let named = |one: &&Value| match &one["type"] {
            Value::Array(kinds) => kinds.iter().any(|one| one == kind),
            one => one == kind,
        };
        alternatives.iter().any(named)
    };
    let choices: Vec<String> = alternatives
        .iter()
        .flat_map(|one| {
            let listed = one["enum"].as_array().into_iter().flatten();
            listed.chain(one.get("const"))
        })
        .filter_map(Value::as_str)
        .map(|choice| format!("\"{choice}\""))
        .collect();
    let is_duration = refers("Duration");
    let mut text = if is_secret(node, root) && !is("array") {
        "where a secret is: { file = \"PATH\" } or { env = \"NAME\" }".to_owned()
    } else if is_duration {
        "a length of time".to_owned()
    } else if !choices.is_empty() {
        choices.join(", ")
    } else if is("boolean") {
        "true or false".to_owned()
    } else if is("array") {
        "a list".to_owned()
    } else if is("integer") {
        "a number".to_owned()
    } else if is("object") {
        "a table".to_owned()
    } else {
        "a text".to_owned()
    };
    let range = row(path).filter(|row| row.path == path);
    if let Some(range) = range.and_then(Setting::range) {
        let _ = write!(text, ", {}", range.text(Form::of(is_duration)));
    }
    text
}

/// docs/settings.md: the settings as tables, one for each table of the file.
pub fn manual() -> String {
    let mut page = String::from(MANUAL);
    let mut section = None;
    let all = explain("").unwrap_or_default();
    for one in all.iter().filter(|one| one.path == one.setting.path) {
        let own = one.path.rsplit_once('.').map_or("", |(table, _)| table);
        let own = own.split('.').next().unwrap_or_default();
        if section != Some(own) {
            section = Some(own);
            let heading = match own {
                "" if page.len() == MANUAL.len() => "At the head of the file".to_owned(),
                "" => "Lists of records".to_owned(),
                own => format!("`[{own}]`"),
            };
            let _ = write!(
                page,
                "\n## {heading}\n\n| setting | what it is | what may be written | default | of | counts at a |\n|---|---|---|---|---|---|\n"
            );
        }
        let cell = |text: &str| text.replace('|', "\\|");
        let default = match &one.default {
            Value::Null => String::new(),
            default => format!("`{default}`"),
        };
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} | {} |",
            one.path,
            cell(&one.documentation),
            cell(&one.shape),
            cell(&default),
            one.setting.owner.name(),
            one.setting.takes_effect.name(),
        );
    }
    page
}

const MANUAL: &str = "# Settings

What the configuration file can say. `signet explain NAME` prints a setting with its value in your file, and `signet explain clients`
the members of a list's records; [signet.example.toml](signet.example.toml) is a file with comments. A setting of the process counts for
everything that it serves, one of the realm for an issuer with its people and clients. A change counts when the file is read again (SIGHUP:
*reload*) or when the process starts again (*restart*); a reload names what still waits for a restart.

This page is made of the types and the table that the server runs on: `SIGNET_WRITE_DOCS=1 cargo test -p signet-config` writes it.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_has_documentation_type_range_default_owner_and_effect() {
        let found = explain("lifetimes.code").expect("a setting");
        let [code] = &*found else { panic!("{found:?}") };
        assert_eq!(code.documentation, "Authorization codes.");
        assert_eq!(code.shape, "a length of time, from 5s to 10m");
        assert_eq!(code.default, "1m");
        assert_eq!(
            (code.setting.owner.name(), code.setting.takes_effect.name()),
            ("realm", "reload")
        );
    }

    #[test]
    fn every_setting_is_documented() {
        for one in explain("").expect("all") {
            // Members of other records are documented where those are.
            if one.path == one.setting.path {
                assert!(!one.documentation.is_empty(), "{}", one.path);
            }
            assert!(!one.shape.is_empty(), "{}", one.path);
        }
    }

    #[test]
    fn a_table_is_its_settings_and_a_list_its_members() {
        let names = |path: &str| -> Vec<String> {
            let found = explain(path).expect(path);
            found.into_iter().map(|one| one.path).collect()
        };
        assert_eq!(names("mail.smtp").len(), 6);
        let clients = names("clients");
        assert_eq!(clients[0], "clients");
        assert!(clients.contains(&"clients.redirect_uris".to_owned()));
        assert_eq!(names("clients[3].redirect_uris"), ["clients.redirect_uris"]);
    }

    #[test]
    fn a_name_that_is_none_gets_the_nearest() {
        for (wrong, right) in [
            ("lifetimes.access_tokens", "lifetimes.access_token"),
            ("access_token_lifetime", "clients.access_token_lifetime"),
            ("lifetime.code", "lifetimes.code"),
        ] {
            assert_eq!(
                explain(wrong).unwrap_err().as_deref(),
                Some(right),
                "{wrong}"
            );
        }
        assert!(explain("zzzzzzzz").is_err());
    }

    #[test]
    fn no_default_is_a_secret() {
        for one in explain("").expect("all") {
            let name = one.path.rsplit('.').next().unwrap_or_default();
            if ["password", "client_secret", "client_secrets"].contains(&name) {
                let empty = one.default.is_null() || one.default == json!([]);
                assert!(empty, "{}: {}", one.path, one.default);
            }
        }
    }

    #[test]
    fn the_manual_is_what_the_server_runs_on() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");
        let made = manual();
        if std::env::var_os("SIGNET_WRITE_DOCS").is_some() {
            std::fs::write(file, &made).expect("is written");
        }
        let kept = std::fs::read_to_string(file).unwrap_or_default();
        assert!(
            kept == made,
            "docs/settings.md is not what the types say: SIGNET_WRITE_DOCS=1 cargo test -p signet-config"
        );
    }
}

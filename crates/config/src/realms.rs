//! The configuration of a further realm: the process', with what the realm has of its own in its
//! place.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value};
use signet_oauth::registry::{RealmEntries, RealmEntry};
use signet_store::RealmId;

use crate::{
    fault::{Faults, nearest},
    model::{self, Config},
    settings::{Owner, SETTINGS, Setting, values},
};

/// Whether a setting is a list of records, which have commands of their own.
pub fn is_records(path: &str) -> bool {
    DECLARED.contains(&path)
}

/// What the file declares for the first realm alone.
const DECLARED: &[&str] = &[
    "clients",
    "users",
    "resources",
    "scopes",
    "attributes",
    "roles",
    "groups",
    "rules",
    "providers",
    "realms",
];

/// The settings that the record of a realm may have.
pub fn of_record() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(|row| {
        row.owner == Owner::Realm && row.path != "issuer" && !DECLARED.contains(&row.path)
    })
}

/// The configuration that a realm is made of.
///
/// # Errors
/// What is wrong with the record, one sentence for each setting.
pub fn of_realm(config: &Config, entry: &RealmEntry) -> Result<Config, Vec<String>> {
    let mut whole = values(config);
    let mut wrong = Vec::new();
    if let Some(members) = whole.as_object_mut() {
        DECLARED.iter().for_each(|list| drop(members.remove(*list)));
        members.insert("issuer".to_owned(), entry.issuer.clone().into());
    }
    lay(&mut whole, &entry.settings, &mut wrong);
    match wrong.is_empty() {
        true => read(whole).map_err(|why| vec![format!("settings: {why}")]),
        false => Err(wrong),
    }
}

/// Names every setting of a record that is wrong by itself, whatever the process' configuration is.
pub fn wrong_settings(settings: &BTreeMap<String, String>) -> Vec<String> {
    // Nothing that a realm has of its own needs more of it.
    let mut whole = serde_json::json!({ "issuer": "https://realm.invalid", "listeners": [] });
    let mut wrong = Vec::new();
    lay(&mut whole, settings, &mut wrong);
    wrong
}

/// Lays settings over a configuration. Those that are wrong are named, and left out.
fn lay(whole: &mut Value, settings: &BTreeMap<String, String>, wrong: &mut Vec<String>) {
    for (path, value) in settings {
        if !of_record().any(|row| row.path == path) {
            wrong.push(unknown(path));
            continue;
        }
        let value: Value = match serde_json::from_str(value) {
            Ok(value) => value,
            Err(_) => {
                wrong.push(format!("settings: {path}: is not JSON"));
                continue;
            }
        };
        let mut next = whole.clone();
        put(&mut next, path, value.clone());
        // Each by itself, so that each is named; what needs another one is judged with all of them.
        match read(next) {
            Err(why) if !why.contains("missing field") => {
                wrong.push(format!("settings: {path}: {why}"));
            }
            Ok(_) | Err(_) => put(whole, path, value),
        }
    }
}

/// The realms that the file declares.
pub(crate) fn declared(config: &Config, faults: &mut Faults) -> RealmEntries {
    let mut realms = RealmEntries::default();
    for (i, realm) in config.realms.iter().enumerate() {
        let entry = entry(config, realm);
        if let Err(error) = RealmId::parse(&entry.name) {
            faults.add(format!("realms[{i}].name"), error.to_string());
            continue;
        }
        if let Err(fault) = entry.check() {
            faults.add(format!("realms[{i}]"), fault);
            continue;
        }
        realms.insert(entry.name.clone(), Arc::new(entry));
    }
    realms
}

/// The issuer of a realm that the file declares.
pub fn issuer_of(config: &Config, realm: &model::Realm) -> String {
    let issuer = realm.issuer.clone();
    issuer.unwrap_or_else(|| format!("{}/{}", config.issuer, realm.name))
}

/// Settings by their names, in tables or not, as the record of a realm has them: each value as
/// JSON.
pub fn by_name<'a>(
    settings: impl IntoIterator<Item = (&'a String, &'a Value)>,
) -> BTreeMap<String, String> {
    let mut named = BTreeMap::new();
    for (name, value) in settings {
        flatten(name.clone(), value, &mut named);
    }
    named
}

pub(crate) fn entry(config: &Config, realm: &model::Realm) -> RealmEntry {
    RealmEntry {
        name: realm.name.clone(),
        made_as: None,
        issuer: issuer_of(config, realm),
        description: realm.description.clone(),
        suspended: realm.suspended,
        deletes_at: None,
        settings: by_name(&realm.settings),
        created_at: 0,
        revision: 0,
    }
}

/// Settings in their tables, by their names.
fn flatten(path: String, value: &Value, settings: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(members) if !of_record().any(|row| row.path == path) => {
            for (name, value) in members {
                flatten(format!("{path}.{name}"), value, settings);
            }
        }
        value => drop(settings.insert(path, value.to_string())),
    }
}

fn read(values: Value) -> Result<Config, String> {
    serde_json::from_value(values).map_err(|error| error.to_string())
}

fn put(values: &mut Value, path: &str, value: Value) {
    let mut place = values;
    for member in path.split('.') {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        place = &mut place[member];
    }
    *place = value;
}

fn unknown(path: &str) -> String {
    if let Some(row) = SETTINGS.iter().find(|row| row.path == path) {
        let why = match row.owner {
            Owner::Process => "belongs to the process: it is set in its configuration file",
            Owner::Realm => "is no setting of a realm's record: records have commands of their own",
        };
        return format!("settings: {path}: {why}");
    }
    match nearest(path, of_record().map(|row| row.path)) {
        Some(near) => {
            format!("settings: there is no setting \"{path}\"; did you mean \"{near}\"?")
        }
        None => format!("settings: there is no setting \"{path}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use std::path::Path;

    fn config() -> Config {
        toml::from_str(
            "issuer = \"https://id.example\"\nlisteners = [{ address = \"127.0.0.1:1\", protocol = \"http\" }]\nusers = [{ username = \"ada\" }]\n[lifetimes]\ncode = \"30s\"\n",
        )
        .expect("a file")
    }

    fn entry(settings: &[(&str, &str)]) -> RealmEntry {
        let settings = settings.iter();
        RealmEntry {
            name: "acme".to_owned(),
            made_as: None,
            issuer: "https://id.example/acme".to_owned(),
            description: None,
            suspended: false,
            deletes_at: None,
            settings: settings
                .map(|(path, value)| ((*path).to_owned(), (*value).to_owned()))
                .collect::<BTreeMap<_, _>>(),
            created_at: 0,
            revision: 0,
        }
    }

    #[test]
    fn a_realm_has_the_process_settings_but_for_its_own_and_nothing_that_the_file_declares() {
        let own = entry(&[
            ("lifetimes.access_token", "\"2m\""),
            ("brand.name", "\"Acme\""),
            ("mail.from", "\"id@acme.example\""),
            ("mail.directory", "\"mail\""),
        ]);
        let made = of_realm(&config(), &own).expect("a realm");
        assert_eq!(made.issuer, "https://id.example/acme");
        assert_eq!(made.lifetimes.code.0, 30);
        assert_eq!(made.lifetimes.access_token.0, 120);
        assert_eq!(made.brand.name.as_deref(), Some("Acme"));
        assert_eq!(made.mail.expect("mail").from, "id@acme.example");
        assert!(made.users.is_empty());
    }

    #[test]
    fn every_setting_of_a_record_that_is_wrong_is_named() {
        let own = entry(&[
            ("lifetimes.acess_token", "1"),
            ("lifetimes.code", "[]"),
            ("limits.connections", "1"),
            ("clients", "[]"),
        ]);
        let wrong = of_realm(&config(), &own).expect_err("four mistakes");
        assert_eq!(wrong.len(), 4, "{wrong:?}");
        let said = wrong.join("\n");
        for part in [
            "did you mean \"lifetimes.access_token\"?",
            "settings: lifetimes.code: ",
            "limits.connections: belongs to the process",
            "clients: is no setting of a realm's record",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let own = entry(&[("lifetimes.code", "\"5d\"")]);
        let wrong = check::of_realm(&config(), Path::new("."), &own, true).expect_err("too long");
        assert!(
            wrong[0].starts_with("lifetimes.code: must be from"),
            "{wrong:?}"
        );
    }

    #[test]
    fn the_file_declares_realms_with_settings_in_tables_or_by_name() {
        let text = |realms: &str| -> Config {
            let whole = format!(
                "issuer = \"https://id.example\"\nlisteners = [{{ address = \"127.0.0.1:1\", protocol = \"http\" }}]\n{realms}"
            );
            toml::from_str(&whole).expect("a file")
        };
        let config = text(
            "[[realms]]\nname = \"acme\"\n[realms.settings]\n\"lifetimes.code\" = \"30s\"\n[realms.settings.brand]\nname = \"Acme\"\n[realms.settings.agents.constraints]\nx-a = \"most\"\n",
        );
        let mut faults = Faults::default();
        check::realms(&config, Path::new("."), true, &mut faults);
        assert_eq!(faults.0, []);
        let realms = declared(&config, &mut faults);
        let acme = &realms["acme"];
        assert_eq!(acme.issuer, "https://id.example/acme");
        let names: Vec<&str> = acme.settings.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["agents.constraints", "brand.name", "lifetimes.code"]
        );

        let config = text(
            "[[realms]]\nname = \"A\"\n[[realms]]\nname = \"b\"\nissuer = \"https://id.example\"\n[realms.settings.lifetimes]\ncod = 1\n",
        );
        check::realms(&config, Path::new("."), true, &mut faults);
        let said: Vec<&str> = faults.0.iter().map(|fault| &*fault.path).collect();
        assert_eq!(
            said,
            ["realms[0].name", "realms[1].settings", "realms[1].issuer"]
        );
    }

    /// What a realm inherits goes through JSON: nothing may be lost on the way.
    #[test]
    fn a_configuration_is_the_same_after_it_was_written_as_json() {
        let example = crate::example::with_all_said();
        let example: Config = toml::from_str(&example).expect("the example");
        for config in [config(), example] {
            let written = values(&config);
            assert_eq!(values(&read(written.clone()).expect("itself")), written);
        }
    }
}

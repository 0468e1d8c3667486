//! Access rules that the configuration declares.

use std::{collections::BTreeSet, sync::Arc};

use signet_oauth::people::access_rules::{MAX_RULES, Rules};
use signet_registry::rules::check_classes;

use super::{fault::Faults, model::Config};

/// What the configuration declares of access rules, and what is wrong with it. Clients and groups
/// that a rule names may be the store's; people are named by the ids of their accounts.
pub(crate) fn rules(config: &Config, faults: &mut Faults) -> Rules {
    let mut rules = Rules::new();
    if config.rules.len() > MAX_RULES {
        faults.add("rules", format!("at most {MAX_RULES}"));
    }
    let mut names = BTreeSet::new();
    for (i, entry) in config.rules.iter().enumerate() {
        let path = format!("rules[{i}]");
        let Some(name) = entry.name.as_deref() else {
            faults.add(path, "name is missing");
            continue;
        };
        if !names.insert(name) {
            faults.add(
                format!("{path}.name"),
                format!("there are two with the name \"{name}\""),
            );
        }
        if entry.revision.is_some() {
            faults.add(format!("{path}.revision"), "is the server's own");
        }
        let rule = entry.rule(name);
        match rule.and_then(|rule| check_classes(&rule).map(|()| rule)) {
            Ok(rule) => drop(rules.insert(name.to_owned(), Arc::new(rule))),
            Err(fault) => faults.add(path, fault),
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_rules_are_read_and_what_is_wrong_is_said_with_its_place() {
        let read = |text: &str| {
            let text = format!("issuer = \"https://id.example\"\nlisteners = []\n{text}");
            let config: Config = toml::from_str(&text).expect(&text);
            let mut faults = Faults::default();
            let rules = rules(&config, &mut faults);
            let faults: Vec<String> = faults.0.into_iter().map(|fault| fault.path).collect();
            (rules, faults)
        };
        let (rules, faults) = read(
            "[access]\ndefault = \"deny\"\n\
             [[rules]]\nname = \"weekend\"\neffect = \"deny\"\ngroups = [\"staff\"]\n\
             [rules.when]\ndays = [\"sat\", \"sun\"]\nzone = \"Europe/Berlin\"\n\
             [rules.except]\ngroups = [\"on call\"]\n",
        );
        assert_eq!(faults, Vec::<String>::new());
        let rule = &rules["weekend"];
        assert_eq!(rule.window.days.len(), 2);
        assert_eq!(rule.except.who.groups, ["on call"]);
        for (text, path) in [
            ("[[rules]]\neffect = \"deny\"\n", "rules[0]"),
            (
                "[[rules]]\nname = \"a\"\neffect = \"deny\"\nnetworks = [\"10.0.0.1/8\"]\n",
                "rules[0]",
            ),
            (
                "[[rules]]\nname = \"a\"\neffect = \"deny\"\nacr = [\"no such\"]\n",
                "rules[0]",
            ),
            (
                "[[rules]]\nname = \"a\"\neffect = \"deny\"\n[[rules]]\nname = \"a\"\neffect = \"allow\"\n",
                "rules[1].name",
            ),
        ] {
            assert_eq!(read(text).1, [path], "{text}");
        }
    }
}

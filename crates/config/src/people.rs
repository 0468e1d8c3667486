//! Groups, roles, attributes and tables of claims that the configuration declares.
//!
//! A declared group or role has its id from its name, so that every node, after every restart,
//! means the same by what accounts hold.

use std::sync::Arc;

use signet_crypto::hash::sha256;
use signet_encoding::base64url;
use signet_oauth::issued::format::AccessTokenFormat;
use signet_oauth::people::claim_rules::{self, ClaimRule, TableOf};
use signet_oauth::people::{
    Attribute, Group, MAX_ATTRIBUTES, MAX_GROUP_ROLES, MAX_GROUPS, MAX_ROLES, People, Role,
    check_description, check_group_name, check_role_name,
};

use super::{
    fault::Faults,
    model::{self, Config},
};

/// The id of a declared record. `kind` keeps a group's from a role's.
fn id_of(kind: &str, name: &str) -> String {
    let hash = sha256(format!("declared {kind}\0{name}").as_bytes());
    base64url::encode(&hash[..16])
}

/// What the configuration declares of people, and what is wrong with it.
pub fn people(config: &Config, faults: &mut Faults) -> People {
    let mut people = People::default();
    for (list, count, most) in [
        ("attributes", config.attributes.len(), MAX_ATTRIBUTES),
        ("roles", config.roles.len(), MAX_ROLES),
        ("groups", config.groups.len(), MAX_GROUPS),
    ] {
        if count > most {
            faults.add(list, format!("at most {most}"));
        }
    }
    for (i, entry) in config.attributes.iter().enumerate() {
        let attribute = attribute(entry);
        match attribute.check() {
            Ok(()) => drop(
                people
                    .attributes
                    .insert(entry.name.clone(), Arc::new(attribute)),
            ),
            Err(fault) => faults.add(format!("attributes[{i}]"), fault),
        }
    }
    for (i, entry) in config.roles.iter().enumerate() {
        let name = match &entry.client {
            None => entry.name.clone(),
            Some(client) => format!("{client}/{}", entry.name),
        };
        let path = format!("roles[{i}]");
        if let Err(fault) = check_role_name(&name) {
            faults.add(format!("{path}.name"), fault);
            continue;
        }
        if entry.name.contains('/') {
            faults.add(
                format!("{path}.name"),
                "has no slash: client says whose role it is",
            );
        }
        if let Err(fault) = check_description(entry.description.as_deref()) {
            faults.add(format!("{path}.description"), fault);
        }
        people.put_role(Arc::new(Role {
            id: id_of("role", &name),
            name,
            description: entry.description.clone(),
            revision: 0,
        }));
    }
    for (i, entry) in config.groups.iter().enumerate() {
        let path = format!("groups[{i}]");
        if let Err(fault) = check_group_name(&entry.name) {
            faults.add(format!("{path}.name"), fault);
            continue;
        }
        if let Err(fault) = check_description(entry.description.as_deref()) {
            faults.add(format!("{path}.description"), fault);
        }
        if entry.roles.len() > MAX_GROUP_ROLES {
            faults.add(
                format!("{path}.roles"),
                format!("at most {MAX_GROUP_ROLES}"),
            );
        }
        for name in entry
            .roles
            .iter()
            .filter(|name| !people.roles.contains_key(*name))
        {
            faults.add(
                format!("{path}.roles"),
                format!("this file defines no role \"{name}\""),
            );
        }
        people.put_group(Arc::new(Group {
            id: id_of("group", &entry.name),
            name: entry.name.clone(),
            description: entry.description.clone(),
            parent: entry.parent.clone(),
            roles: entry.roles.iter().map(|name| id_of("role", name)).collect(),
            external_id: None,
            revision: 0,
        }));
    }
    for (i, entry) in config.groups.iter().enumerate() {
        let path = format!("groups[{i}].parent");
        match &entry.parent {
            Some(parent) if !people.groups.contains_key(parent) => {
                faults.add(path, format!("this file defines no group \"{parent}\""));
            }
            Some(_) if people.depth(&entry.name).is_none() => {
                faults.add(
                    path,
                    "a group is not inside itself, and groups are at most 8 deep",
                );
            }
            Some(_) | None => {}
        }
    }
    people
}

fn attribute(entry: &model::Attribute) -> Attribute {
    let with = Attribute::new(entry.name.clone());
    Attribute {
        label: entry.label.clone(),
        kind: entry.kind.into(),
        read: entry.read.into(),
        write: entry.write.into(),
        verified: entry.verified,
        max_bytes: entry.max_bytes.unwrap_or(with.max_bytes),
        max_items: entry.max_items.unwrap_or(with.max_items),
        ..with
    }
}

/// A table of claims.
pub fn claims(
    rows: &[serde_json::Value],
    of: TableOf,
    format: Option<AccessTokenFormat>,
    path: &str,
    faults: &mut Faults,
) -> Vec<ClaimRule> {
    let read = serde_json::to_vec(rows).map_err(|_| "claims is a list of rows");
    let read = read.and_then(|text| claim_rules::parse(&text, of));
    let read = read.and_then(|rules| {
        // Attributes may be the store's.
        claim_rules::check(&rules, of, None, format)?;
        Ok(rules)
    });
    read.unwrap_or_else(|fault| {
        faults.add(format!("{path}.claims"), fault);
        Vec::new()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (People, Vec<String>) {
        let text = format!("issuer = \"https://id.example\"\nlisteners = []\n{text}");
        let config: Config = toml::from_str(&text).expect(&text);
        let mut faults = Faults::default();
        let people = people(&config, &mut faults);
        let faults = faults.0.into_iter().map(|fault| fault.path).collect();
        (people, faults)
    }

    #[test]
    fn declared_groups_have_the_same_ids_after_every_restart() {
        let text = "[[roles]]\nname = \"editor\"\nclient = \"web\"\n\
            [[groups]]\nname = \"staff\"\nroles = [\"web/editor\"]\n\
            [[groups]]\nname = \"engineering\"\nparent = \"staff\"\n\
            [[attributes]]\nname = \"department\"\nread = \"person\"\n";
        let (people, faults) = read(text);
        assert_eq!(faults, Vec::<String>::new());
        let (again, _) = read(text);
        assert_eq!(people.groups["staff"], again.groups["staff"]);
        let role = &people.roles["web/editor"];
        assert_eq!(people.groups["staff"].roles, std::slice::from_ref(&role.id));
        assert_eq!(people.depth("engineering"), Some(2));
        assert!(people.attributes.contains_key("department"));
    }

    #[test]
    fn what_cannot_be_is_found_before_it_is_in_effect() {
        for (text, path) in [
            (
                "[[groups]]\nname = \"a\"\nparent = \"b\"\n",
                "groups[0].parent",
            ),
            (
                "[[groups]]\nname = \"a\"\nparent = \"a\"\n",
                "groups[0].parent",
            ),
            ("[[groups]]\nname = \"a/b\"\n", "groups[0].name"),
            (
                "[[groups]]\nname = \"a\"\nroles = [\"x\"]\n",
                "groups[0].roles",
            ),
            ("[[roles]]\nname = \"a/b\"\n", "roles[0].name"),
            ("[[attributes]]\nname = \"A\"\n", "attributes[0]"),
            (
                "[[attributes]]\nname = \"a\"\nmax_bytes = 9999\n",
                "attributes[0]",
            ),
        ] {
            let (_, faults) = read(text);
            assert_eq!(faults, [path], "{text}");
        }
    }

    #[test]
    fn a_table_of_claims_that_cannot_be_is_a_fault_of_its_entry() {
        let mut faults = Faults::default();
        let rows = [
            serde_json::json!("groups"),
            serde_json::json!({"claim": "sub", "from": "groups"}),
        ];
        assert_eq!(
            claims(&rows[..1], TableOf::Scope, None, "scopes[0]", &mut faults).len(),
            1
        );
        assert!(claims(&rows, TableOf::Scope, None, "scopes[0]", &mut faults).is_empty());
        assert_eq!(faults.0[0].path, "scopes[0].claims");
    }
}

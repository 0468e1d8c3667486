//! The kinds of records that a directory declares: one row each. Reading a directory, its schema,
//! the order of the changes, plan, apply and export are made of these rows.
use super::person::Person;
use crate::operations::administration::roles as administrators;
use crate::operations::model::{ResourceDocument, ScopeDocument};
use crate::operations::models::people::{
    AttributeChange, AttributeDocument, GroupDocument, RoleChange, RoleDocument,
};
use crate::operations::{clients, people as records, providers, realms, resources, rules, users};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use signet_crypto::Secret;
use signet_oauth::administration::AdministratorRole;
use signet_oauth::people::access_rules::AccessRule;
use signet_oauth::people::provider::Provider;
use signet_oauth::people::{Attribute, Group, Role};
use signet_oauth::registry::{Resource, ScopeEntry};
use signet_operation::facts::SchemaOf;
use signet_operation::noun::Noun;
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::words;
use signet_realm::state::{Realm, Snapshot};
use signet_registry::kinds::{RecordKind, Stored};
use signet_registry::provider_document::ProviderDocument;
use signet_registry::rules::RuleForm;
use std::pin::Pin;

/// A kind of object, as a directory has it.
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    noun: Noun,
    /// In whose area a change of one is.
    pub area: Area,
    /// What its tables are called in a file: `[[clients]]`.
    pub table: &'static str,
    /// The member that names one.
    pub id: &'static str,
    /// Members that the server alone sets, and that are not declared.
    read_only: &'static [&'static str],
    /// The member that is a secret, which is never written where the others are.
    pub secret: Option<&'static str>,
    /// The secret counts for an object that is made, and is its holder's own afterwards.
    pub secret_is_first: bool,
    /// Members that have to be there, beside the name.
    pub needs: &'static [&'static str],
    /// Members whose texts are names of objects of a kind.
    pub refers: &'static [(&'static str, &'static str)],
    written: &'static [SchemaOf],
}

impl Declared {
    /// One of them, in words: `client`.
    pub const fn kind(&self) -> &'static str {
        self.noun.name
    }

    /// The schemas of all members, without the secret.
    fn members(&self, generator: &mut SchemaGenerator) -> Map<String, Value> {
        let mut members = Map::new();
        for written in self.written {
            let schema = written(generator);
            let found = schema.get("properties").and_then(Value::as_object);
            for (name, member) in found.into_iter().flatten() {
                members.insert(name.clone(), member.clone());
            }
        }
        members
    }

    /// Schemas of the members that the server alone sets, but for the revision.
    pub fn set_by_server(&self) -> Map<String, Value> {
        let mut members = self.members(&mut SchemaGenerator::default());
        members.retain(|name, _| self.is_set_by_server(name));
        members
    }

    fn is_set_by_server(&self, member: &str) -> bool {
        member != REVISION && self.read_only.contains(&member)
    }

    /// The JSON Schema of one of them: the members that can be declared.
    pub fn schema(&self) -> Value {
        let mut generator = SchemaGenerator::default();
        let mut properties = self.members(&mut generator);
        properties.retain(|name, _| !self.read_only.contains(&name.as_str()));
        if let Some(secret) = self.secret {
            properties.insert(secret.to_owned(), json!({ "$ref": "#/$defs/Secret" }));
        }
        let required: Vec<&str> = std::iter::once(self.id)
            .chain(self.needs.iter().copied())
            .collect();
        let mut definitions = Value::Object(generator.definitions().clone());
        definitions["Secret"] = json!({
            "description": "Where the secret is: a file, an environment variable, the output of a command, or a file that is made with a new one.",
            "oneOf": [
                one_of("file", json!({ "type": "string" })),
                one_of("env", json!({ "type": "string" })),
                one_of("command", json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 })),
                one_of("generate", json!({ "type": "string" })),
            ],
        });
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
            "$defs": definitions,
        })
    }
}

fn one_of(name: &str, schema: Value) -> Value {
    json!({
        "type": "object", "properties": { name: schema }, "required": [name],
        "additionalProperties": false,
    })
}

/// What a function of a row gives.
pub(crate) type Doing<'a> = Pin<Box<dyn Future<Output = Result<(), Problem>> + Send + 'a>>;

/// A kind of record with what the server does with one.
pub(crate) struct Kind {
    pub(crate) declared: Declared,
    pub(crate) record: RecordKind,
    /// The member of the stored form that has its secret.
    pub(crate) stored_secret: &'static str,
    shown: fn(&Snapshot, &str) -> Option<Value>,
    pub(crate) put: for<'a> fn(&'a Realm, &'a str, Value, Option<Secret<String>>) -> Doing<'a>,
    pub(crate) remove: for<'a> fn(&'a Realm, &'a str) -> Doing<'a>,
}

/// A record as a directory declares it.
pub(crate) struct Document {
    pub(crate) members: Map<String, Value>,
    pub(crate) revision: u64,
    pub(crate) has_secret: bool,
    /// What the server alone sets.
    pub(crate) set_by_server: Map<String, Value>,
}

impl Kind {
    /// Names of the records that a snapshot has, in order.
    pub(crate) fn names(&self, snapshot: &Snapshot) -> Vec<String> {
        let of_kind = self.record.row().registry;
        let mut names = of_kind.map_or_else(Vec::new, |of| (of.names)(&snapshot.registry));
        if self.record == RecordKind::Scope {
            // Those that every server has are among them.
            names = snapshot
                .registry
                .scopes
                .iter()
                .map(|s| s.name.clone())
                .collect();
        }
        names.sort_unstable();
        names
    }

    /// The record of this name, without what the server alone sets.
    pub(crate) fn document(&self, snapshot: &Snapshot, name: &str) -> Option<Document> {
        let Value::Object(mut members) = (self.shown)(snapshot, name)? else {
            return None;
        };
        let revision = members.get("revision").and_then(Value::as_u64);
        let has_secret = match self.record {
            RecordKind::Client => {
                let client = snapshot.registry.clients.get(name);
                client.is_some_and(|client| !client.secrets.is_empty())
            }
            RecordKind::Provider => members.get("has_secret") == Some(&Value::Bool(true)),
            _ => false,
        };
        let mut set_by_server = members.clone();
        set_by_server.retain(|member, _| self.declared.is_set_by_server(member));
        let is_client = self.record == RecordKind::Client;
        members.retain(|member, value| {
            // A client's members are shown where they are not at their defaults; a list of another
            // record is empty unless it is given.
            let is_empty = match value {
                Value::Array(items) => items.is_empty() && !is_client,
                Value::Object(items) => items.is_empty() && !is_client,
                Value::Null => true,
                _ => false,
            };
            !is_empty && !self.declared.read_only.contains(&member.as_str())
        });
        Some(Document {
            members,
            revision: revision.unwrap_or_default(),
            has_secret,
            set_by_server,
        })
    }
}

/// Members as a type of the admin API reads them.
fn read<T: DeserializeOwned>(members: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(members).map_err(|error| Problem::invalid(words::of(&error)))
}

fn value<T: Serialize>(document: &T) -> Option<Value> {
    serde_json::to_value(document).ok()
}

/// The revision that is replaced; none: the record is new.
fn revision<T: Stored>(realm: &Realm, name: &str) -> Option<u64> {
    T::get(&realm.snapshot().registry, name).and_then(|record| record.revision())
}

fn without(mut members: Value, id: &str) -> Value {
    if let Some(members) = members.as_object_mut() {
        members.remove(id);
    }
    members
}

const REVISION: &str = "revision";

/// Every kind, in the order in which changes are made: what one names comes before it. Users come
/// last of all.
pub const DECLARED: &[Declared] = &[
    REALMS,
    ATTRIBUTES,
    SCOPES,
    CLIENTS,
    ROLES,
    GROUPS,
    RESOURCES,
    RULES,
    PROVIDERS,
    ADMINISTRATOR_ROLES,
    USERS,
];

const REALMS: Declared = Declared {
    noun: realms::REALMS,
    area: Area::Realms,
    table: "realms",
    id: "name",
    read_only: &[REVISION, "made_as", "deletes_at", "created_at"],
    secret: None,
    secret_is_first: false,
    needs: &[],
    refers: &[("like", "realm")],
    written: realms::REALMS.written,
};
const ATTRIBUTES: Declared = Declared {
    noun: records::ATTRIBUTES,
    area: Area::People,
    table: "attributes",
    id: "name",
    read_only: &[REVISION],
    secret: None,
    secret_is_first: false,
    needs: &[],
    refers: &[],
    written: records::ATTRIBUTES.written,
};
const SCOPES: Declared = Declared {
    noun: resources::SCOPES,
    area: Area::Clients,
    table: "scopes",
    id: "name",
    read_only: &[REVISION],
    secret: None,
    secret_is_first: false,
    needs: &["description"],
    refers: &[],
    written: &[named::<crate::operations::model::ScopeChange>],
};
const CLIENTS: Declared = Declared {
    noun: clients::CLIENTS,
    area: Area::Clients,
    table: "clients",
    id: "client_id",
    read_only: &[REVISION, "created_at", "subject_type"],
    secret: Some("client_secret"),
    secret_is_first: false,
    needs: &[],
    refers: &[("scope", "scope")],
    written: clients::CLIENTS.written,
};
const ROLES: Declared = Declared {
    noun: records::ROLES,
    area: Area::People,
    table: "roles",
    id: "name",
    read_only: &[REVISION, "id", "client_id"],
    secret: None,
    secret_is_first: false,
    needs: &[],
    refers: &[("name", "client")],
    written: records::ROLES.written,
};
const GROUPS: Declared = Declared {
    noun: records::GROUPS,
    area: Area::People,
    table: "groups",
    id: "name",
    read_only: &[REVISION, "id"],
    secret: None,
    secret_is_first: false,
    needs: &[],
    refers: &[("parent", "group"), ("roles", "role")],
    written: records::GROUPS.written,
};
const RESOURCES: Declared = Declared {
    noun: resources::RESOURCES,
    area: Area::Clients,
    table: "resources",
    id: "identifier",
    read_only: &[REVISION],
    secret: None,
    secret_is_first: false,
    needs: &[],
    refers: &[("introspectors", "client"), ("scope", "scope")],
    written: resources::RESOURCES.written,
};
const RULES: Declared = Declared {
    noun: rules::RULES,
    area: Area::Access,
    table: "rules",
    id: "name",
    read_only: &[REVISION],
    secret: None,
    secret_is_first: false,
    needs: &["effect"],
    refers: &[
        ("groups", "group"),
        ("clients", "client"),
        ("except.groups", "group"),
    ],
    written: rules::RULES.written,
};
const PROVIDERS: Declared = Declared {
    noun: providers::PROVIDERS,
    area: Area::Providers,
    table: "providers",
    id: "name",
    read_only: &[
        REVISION,
        "redirect_uri",
        "backchannel_logout_uri",
        "post_logout_redirect_uri",
        "has_secret",
    ],
    secret: Some("client_secret"),
    secret_is_first: false,
    needs: &["client_id"],
    refers: &[("exchange_clients", "client")],
    written: providers::PROVIDERS.written,
};
const ADMINISTRATOR_ROLES: Declared = Declared {
    noun: administrators::ADMINISTRATOR_ROLES,
    area: Area::Administration,
    table: "administrator_roles",
    id: "name",
    read_only: &[REVISION, "built_in"],
    secret: None,
    secret_is_first: false,
    needs: &["operations"],
    refers: &[],
    written: administrators::ADMINISTRATOR_ROLES.written,
};
pub(super) const USERS: Declared = Declared {
    noun: users::USERS,
    area: Area::People,
    table: "users",
    id: "username",
    read_only: &[],
    secret: Some("password"),
    secret_is_first: true,
    needs: &[],
    refers: &[("groups", "group"), ("roles", "role")],
    written: &[Person::json_schema],
};

/// A schema with the name, which the path of the admin API has.
fn named<T: JsonSchema>(generator: &mut SchemaGenerator) -> schemars::Schema {
    let mut schema = T::json_schema(generator);
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("name".to_owned(), json!({ "type": "string" }));
    }
    schema
}

/// The kinds that are records of the registry, in the order of [`DECLARED`].
pub(crate) const KINDS: &[Kind] = &[
    Kind {
        declared: REALMS,
        record: RecordKind::Realm,
        stored_secret: "",
        shown: |snapshot, name| value(&realms::declared(&snapshot.registry, name)?),
        put: |realm, name, members, _| {
            Box::pin(async move { realms::declare(realm, name, read(members)?).await })
        },
        remove: |realm, name| Box::pin(realms::withdraw(realm, name)),
    },
    Kind {
        declared: ATTRIBUTES,
        record: RecordKind::Attribute,
        stored_secret: "",
        shown: |snapshot, name| {
            let found = snapshot.registry.people.attributes.get(name)?;
            value(&AttributeDocument::new(found))
        },
        put: |realm, name, members, _| {
            Box::pin(async move {
                let wanted: AttributeChange = read(members)?;
                records::same_name(wanted.name.as_deref(), name)?;
                let attribute = wanted.attribute(name.to_owned())?;
                let known = revision::<Attribute>(realm, name);
                realm.write_attribute(attribute, known).await?;
                Ok(())
            })
        },
        remove: |realm, name| {
            Box::pin(async move { Ok(realm.remove_record::<Attribute>(name, None).await?) })
        },
    },
    Kind {
        declared: SCOPES,
        record: RecordKind::Scope,
        stored_secret: "",
        shown: |snapshot, name| value(&ScopeDocument::from(snapshot.registry.scope(name)?)),
        put: |realm, name, members, _| {
            Box::pin(async move {
                let mut members = without(members, "name");
                // What is left out is at its default, and not as it was.
                for (member, default) in [("descriptions", json!({})), ("claims", json!([]))] {
                    if members.get(member).is_none() {
                        members[member] = default;
                    }
                }
                let wanted = read(members)?;
                resources::put_scope(realm, name.to_owned(), wanted).await?;
                Ok(())
            })
        },
        remove: |realm, name| {
            Box::pin(async move { Ok(realm.remove_record::<ScopeEntry>(name, None).await?) })
        },
    },
    Kind {
        declared: CLIENTS,
        record: RecordKind::Client,
        stored_secret: "secrets",
        shown: |snapshot, name| {
            let found = snapshot.registry.clients.get(name)?;
            serde_json::from_slice(&clients::shown_document(found)).ok()
        },
        put: |realm, name, members, secret| {
            Box::pin(async move {
                let members = members.to_string();
                clients::declare(realm, name, members.as_bytes(), secret.as_ref()).await
            })
        },
        remove: |realm, name| Box::pin(clients::withdraw(realm, name)),
    },
    Kind {
        declared: ROLES,
        record: RecordKind::Role,
        stored_secret: "",
        shown: |snapshot, name| {
            let found = snapshot.registry.people.roles.get(name)?;
            value(&RoleDocument::new(found))
        },
        put: |realm, name, members, _| {
            Box::pin(async move {
                let wanted: RoleChange = read(members)?;
                records::same_name(wanted.name.as_deref(), name)?;
                let known = revision::<Role>(realm, name);
                realm.write_role(name, wanted.description, known).await?;
                Ok(())
            })
        },
        remove: |realm, name| {
            Box::pin(async move { Ok(realm.remove_record::<Role>(name, None).await?) })
        },
    },
    Kind {
        declared: GROUPS,
        record: RecordKind::Group,
        stored_secret: "",
        shown: |snapshot, name| {
            let people = &snapshot.registry.people;
            value(&GroupDocument::new(people.groups.get(name)?, people))
        },
        put: |realm, name, members, _| {
            Box::pin(async move {
                let known = revision::<Group>(realm, name);
                records::put_group(realm, name, read(members)?, known).await
            })
        },
        remove: |realm, name| Box::pin(async move { Ok(realm.remove_group(name).await?) }),
    },
    Kind {
        declared: RESOURCES,
        record: RecordKind::Resource,
        stored_secret: "",
        shown: |snapshot, name| {
            value(&ResourceDocument::from(
                &**snapshot.registry.resource(name)?,
            ))
        },
        put: |realm, name, members, _| {
            Box::pin(async move {
                let known = revision::<Resource>(realm, name);
                resources::put(realm, name.to_owned(), read(members)?, known).await?;
                Ok(())
            })
        },
        remove: |realm, name| {
            Box::pin(async move { Ok(realm.remove_record::<Resource>(name, None).await?) })
        },
    },
    Kind {
        declared: RULES,
        record: RecordKind::Rule,
        stored_secret: "",
        shown: |snapshot, name| value(&RuleForm::of(snapshot.registry.rules.get(name)?)),
        put: |realm, name, members, _| {
            Box::pin(async move {
                let known = revision::<AccessRule>(realm, name);
                rules::put(realm, name, read(members)?, known).await
            })
        },
        remove: |realm, name| {
            Box::pin(async move { Ok(realm.remove_record::<AccessRule>(name, None).await?) })
        },
    },
    Kind {
        declared: PROVIDERS,
        record: RecordKind::Provider,
        stored_secret: "sealed_secret",
        shown: |snapshot, name| {
            let found = snapshot.registry.providers.get(name)?;
            value(&ProviderDocument::new(found, &snapshot.settings.issuer))
        },
        put: |realm, name, mut members, secret| {
            Box::pin(async move {
                if let Some(secret) = secret {
                    members["client_secret"] = secret.expose().as_str().into();
                }
                let known = revision::<Provider>(realm, name);
                providers::put(realm, name.to_owned(), read(members)?, known).await?;
                Ok(())
            })
        },
        remove: |realm, name| {
            Box::pin(async move { Ok(realm.remove_record::<Provider>(name, None).await?) })
        },
    },
    Kind {
        declared: ADMINISTRATOR_ROLES,
        record: RecordKind::AdministratorRole,
        stored_secret: "",
        shown: |snapshot, name| {
            let found = snapshot.registry.administrator_roles.get(name)?;
            value(&administrators::RoleDocument::new(found))
        },
        put: |realm, name, members, _| {
            Box::pin(async move {
                let known = revision::<AdministratorRole>(realm, name);
                administrators::declare(realm, name, read(members)?, known).await
            })
        },
        remove: |realm, name| {
            Box::pin(async move { Ok(realm.remove_record::<AdministratorRole>(name, None).await?) })
        },
    },
];

//! Kinds of records and operations, as the admin API's tables have them: what belongs to what
//! follows from the paths.
//!
//! Of a kind whose records are at `/admin/v1/clients`, `GET` there lists, `POST` there makes one,
//! and below `/admin/v1/clients/{client_id}` are the operations of one record: `GET`, `PUT` and
//! `DELETE` of itself, and what goes further down, of which a `GET` without a further name is a
//! part of the record's page, and everything else an act.

use schemars::SchemaGenerator;
use serde_json::{Map, Value};
use signet_admin::{NOUNS, Noun};
use signet_operation::adapter::Row;
use signet_operation::facts::{Described, Facts, Method};
use signet_operation::right::Right;

use super::fields::Schemas;

/// A row.
pub(crate) type Operation = &'static dyn Row;

/// The tables.
pub(crate) struct Catalog {
    nouns: Vec<Noun>,
    rows: Vec<Operation>,
}

impl Catalog {
    /// Those of the admin API.
    pub(crate) fn house() -> Catalog {
        Catalog {
            nouns: NOUNS.to_vec(),
            rows: signet_admin::rows().collect(),
        }
    }

    #[cfg(test)]
    pub(crate) fn with(mut self, noun: Noun, rows: &[Operation]) -> Catalog {
        self.nouns.push(noun);
        self.rows.extend(rows);
        self
    }

    /// Every operation.
    pub(crate) fn operations(&self) -> impl Iterator<Item = Operation> {
        self.rows.iter().copied()
    }

    /// The operation of this name.
    pub(crate) fn operation(&self, id: &str) -> Option<Operation> {
        self.operations().find(|row| row.facts().id == id)
    }

    /// Every kind.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = Kind<'_>> {
        let nouns = self.nouns.iter();
        nouns.map(|noun| Kind {
            catalog: self,
            noun: *noun,
        })
    }

    /// The kind whose path this is, without its beginning: `clients`.
    pub(crate) fn kind(&self, name: &str) -> Option<Kind<'_>> {
        self.kinds().find(|kind| kind.slug() == name)
    }

    fn at(&self, method: Method, path: &str) -> Option<Operation> {
        self.operations().find(|row| {
            let facts = row.facts();
            facts.method == method && facts.path == path
        })
    }

    /// The operation that shows what another one writes.
    pub(crate) fn shows(&self, of: &Facts) -> Option<Operation> {
        self.at(Method::Get, of.path)
            .filter(|_| !names(of.path).is_empty())
    }

    /// The kind whose record an operation is about, and whether it is the record itself.
    pub(crate) fn kind_of(&self, facts: &Facts) -> Option<Kind<'_>> {
        let mut kinds: Vec<Kind<'_>> = self
            .kinds()
            .filter(|kind| {
                let list = kind.noun.list;
                facts.path == list
                    || facts
                        .path
                        .strip_prefix(list)
                        .is_some_and(|p| p.starts_with('/'))
            })
            .collect();
        kinds.sort_by_key(|kind| kind.noun.list.len());
        kinds.pop()
    }
}

/// The names in a path's braces.
pub(crate) fn names(path: &'static str) -> Vec<&'static str> {
    path.split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
        .collect()
}

/// A kind of record.
#[derive(Clone, Copy)]
pub(crate) struct Kind<'c> {
    catalog: &'c Catalog,
    pub(crate) noun: Noun,
}

impl Kind<'_> {
    /// Its name in an address: `clients`; `people-x` of one whose path has several parts.
    pub(crate) fn slug(&self) -> String {
        let path = self.noun.path().trim_start_matches('/');
        let parts = path.split('/').filter(|part| !part.starts_with('{'));
        parts.collect::<Vec<_>>().join("-")
    }

    /// Lists them.
    pub(crate) fn list(&self) -> Option<Operation> {
        let listed = self.catalog.at(Method::Get, self.noun.list);
        listed.filter(|_| names(self.noun.list).is_empty())
    }

    /// The path of one, where one has a path.
    fn one(&self) -> Option<&'static str> {
        let paths = self.catalog.operations().map(|row| row.facts().path);
        let one = |path: &&'static str| {
            let rest = path.strip_prefix(self.noun.list).unwrap_or_default();
            let name = rest
                .strip_prefix("/{")
                .and_then(|rest| rest.strip_suffix('}'));
            name.is_some_and(|name| !name.contains('/'))
        };
        let mut own = paths.filter(one);
        own.next()
    }

    /// The name of the segment that names one.
    pub(crate) fn segment(&self) -> Option<&'static str> {
        names(self.one()?).last().copied()
    }

    fn of_one(&self, method: Method) -> Option<Operation> {
        self.catalog.at(method, self.one()?)
    }

    /// Shows one.
    pub(crate) fn show(&self) -> Option<Operation> {
        self.of_one(Method::Get)
    }

    /// Replaces one.
    pub(crate) fn replace(&self) -> Option<Operation> {
        self.of_one(Method::Put)
    }

    /// Removes one.
    pub(crate) fn remove(&self) -> Option<Operation> {
        self.of_one(Method::Delete)
    }

    /// Makes one: a `POST` to all of them, or a `PUT` under a new name.
    pub(crate) fn make(&self) -> Option<Operation> {
        let posted = self.catalog.at(Method::Post, self.noun.list);
        posted.or_else(|| self.replace())
    }

    fn below_one(&self) -> impl Iterator<Item = Operation> {
        let one = self.one().map(|one| format!("{one}/"));
        self.catalog.operations().filter(move |row| {
            one.as_deref()
                .is_some_and(|one| row.facts().path.starts_with(one))
        })
    }

    /// What a record's page shows beside the record: lists and documents of its own.
    pub(crate) fn parts(&self) -> Vec<Operation> {
        self.below_one()
            .filter(|row| {
                let facts = row.facts();
                let named = names(facts.path).len() == 1;
                facts.method == Method::Get && named && !facts.id.starts_with("export")
            })
            .collect()
    }

    /// What can be done with a record, beside changing and removing it.
    pub(crate) fn acts(&self) -> Vec<Operation> {
        self.below_one()
            .filter(|row| {
                let facts = row.facts();
                names(facts.path).len() == 1
                    && (facts.method != Method::Get || facts.id.starts_with("export"))
            })
            .collect()
    }

    /// What can be done with an entry of a part of a record: the rows below it.
    pub(crate) fn acts_of(&self, part: &Facts) -> Vec<Operation> {
        let below = format!("{}/", part.path);
        self.below_one()
            .filter(|row| {
                let facts = row.facts();
                facts.method != Method::Get && facts.path.starts_with(&below)
            })
            .collect()
    }

    /// What is done with all of them together, or beside any.
    pub(crate) fn beside(&self) -> Vec<Operation> {
        let below = format!("{}/", self.noun.list);
        let made = self.make().map(|row| row.facts().id);
        self.catalog
            .operations()
            .filter(|row| {
                let facts = row.facts();
                facts.path.starts_with(&below)
                    && names(facts.path).is_empty()
                    && Some(facts.id) != made
            })
            .collect()
    }
}

/// What an operation reads, as a form needs it.
pub(crate) struct Reads {
    /// Of the path.
    pub(crate) segments: Vec<&'static str>,
    /// Of the query: name, and what it does.
    pub(crate) query: Vec<(String, String)>,
    /// The revision that is replaced; `Some(true)`: it has to be named.
    pub(crate) revision: Option<bool>,
    /// The body.
    pub(crate) body: Option<Value>,
    /// The answer.
    pub(crate) answer: Option<Value>,
    /// What they refer to.
    pub(crate) schemas: Schemas,
}

impl Reads {
    /// Of a row.
    pub(crate) fn of(row: Operation) -> Reads {
        let mut generator = SchemaGenerator::default();
        let Described {
            parameters,
            request,
            response,
            ..
        } = row.describe(&mut generator);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let of = |place: &'static str| parameters.iter().filter(move |one| one["in"] == place);
        let definitions: Map<String, Value> = generator.definitions().clone();
        Reads {
            segments: names(row.facts().path),
            query: of("query")
                .map(|one| (text(&one["name"]), text(&one["description"])))
                .collect(),
            revision: of("header")
                .find(|one| one["name"] == "If-Match")
                .map(|one| one["required"] == true),
            body: request.map(|schema| schema.to_value()),
            answer: response.map(|schema| schema.to_value()),
            schemas: Schemas(definitions),
        }
    }

    /// Members of the query that choose what a list shows: all but those of pages.
    pub(crate) fn filters(&self) -> Vec<(String, String)> {
        let filters = self.query.iter();
        let filters = filters.filter(|(name, _)| name != "after" && name != "limit");
        filters.cloned().collect()
    }
}

/// Whether two factors of the last minutes are asked for.
pub(crate) fn wants_fresh(facts: &Facts) -> bool {
    facts.is_final() || facts.needs == Right::Reveal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_a_kind_follows_from_the_paths() {
        let catalog = Catalog::house();
        let id = |row: Option<Operation>| row.map(|row| row.facts().id).unwrap_or_default();
        let users = catalog.kind("users").unwrap();
        assert_eq!(id(users.list()), "listUsers");
        assert_eq!(id(users.show()), "showUser");
        assert_eq!(id(users.make()), "createUser");
        assert_eq!(id(users.replace()), "replaceUser");
        assert_eq!(id(users.remove()), "removeUser");
        let parts: Vec<_> = users.parts().iter().map(|row| row.facts().id).collect();
        for part in [
            "listSessions",
            "listGrants",
            "listConsents",
            "listCredentials",
        ] {
            assert!(parts.contains(&part), "{part}: {parts:?}");
        }
        let acts: Vec<_> = users.acts().iter().map(|row| row.facts().id).collect();
        for act in ["setEmail", "disableUser", "inviteUser", "exportUser"] {
            assert!(acts.contains(&act), "{act}: {acts:?}");
        }
        let clients = catalog.kind("clients").unwrap();
        assert_eq!(id(clients.make()), "createClient");
        assert_eq!(clients.segment(), Some("client_id"));
        let rules = catalog.kind("rules").unwrap();
        assert_eq!(id(rules.make()), "writeRule");
        // One whose records have no path of their own.
        let keys = catalog.kind("keys").unwrap();
        assert_eq!(id(keys.show()), "");
        let beside: Vec<_> = keys.beside().iter().map(|row| row.facts().id).collect();
        assert_eq!(beside, ["rotateKeys", "rotateSealingKey"]);
    }

    #[test]
    fn an_operation_that_ends_something_says_so() {
        // Words of the rows' own sentences. What is said not to is undone by doing the opposite.
        let words = [
            "End ", "end ", "Revoke", "revoke ", "Stop ", "Remove ", "for good", "Suspend",
        ];
        let undone = [
            "changeRedirectUris",
            "changePostLogoutRedirectUris",
            "setUserAttributes",
            "changeUserGroups",
            "changeUserRoles",
            "setEmail",
        ];
        for row in Catalog::house().operations() {
            let facts = row.facts();
            let changes = facts.needs != Right::Read;
            if changes && words.iter().any(|word| facts.summary.contains(word)) {
                let is_undone = undone.contains(&facts.id);
                assert!(
                    facts.is_final() || is_undone,
                    "{}: {}",
                    facts.id,
                    facts.summary
                );
            }
        }
    }
}

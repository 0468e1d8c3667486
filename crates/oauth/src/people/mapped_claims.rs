//! What the tables of claims ([`claim_rules`]) say of one person, for one token or answer.
//!
//! Which tables count: the client's, those of the resource servers that an access token is meant
//! for, those of the granted scopes; in this order, and the first that gives a claim gives it.
//! Nothing here reads a store: groups, roles and schema are the snapshot's, and what a person holds
//! came with their account.
//!
//! **Sizes.** A list with more entries than its row allows is left out, and so is a claim that does
//! not fit into what is left of the token: whole, never cut, and its name stands in
//! `omitted_claims` beside those that are there. Who grants something for a group grants nothing
//! then; who refuses something for one looks at `omitted_claims` first.
use crate::client::Client;
use crate::issued::claims::ClaimRequest;
use crate::issued::session::UserClaims;
use crate::people::claim_rules::{ClaimRule, Form, MAX_CLAIM_BYTES, Source, TableOf, Target};
use crate::people::{AttributeValue, People, standard_claims};
use crate::registry::{Registry, ScopeEntry};
use crate::scope::ScopeSet;
use signet_encoding::json::Writer;

/// The member that names claims which did not fit.
pub const OMITTED: &str = "omitted_claims";

/// Room for mapped claims: of one claim, and of all of them together, in bytes of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Of one.
    pub one: usize,
    /// Of all, with their names.
    pub all: usize,
    /// How many, `omitted_claims` aside.
    pub count: usize,
}

impl Room {
    /// What JSON has: tokens and answers.
    pub const JSON: Room = Room {
        one: MAX_CLAIM_BYTES,
        all: MAX_CLAIM_BYTES,
        count: usize::MAX,
    };
}

/// The claims of one token or answer, by name, as JSON text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapped {
    members: Vec<(String, Vec<u8>)>,
}

impl Mapped {
    /// Their names and values, ascending by name.
    pub fn members(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.members
            .iter()
            .map(|(name, json)| (name.as_str(), json.as_slice()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Writes them as members of the open object.
    pub fn write(&self, w: &mut Writer<'_>) {
        for (name, json) in &self.members {
            w.member(name).raw(json);
        }
    }

    /// Takes out what is written already.
    pub fn without(&mut self, is_written: impl Fn(&str) -> bool) {
        self.members.retain(|(name, _)| !is_written(name));
    }
}

/// What a token or answer is about: which tables count.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The client that the token was issued to; none: it is gone.
    pub client: Option<&'a Client>,
    /// What was granted.
    pub scope: &'a ScopeSet,
    /// Whom the access token is meant for.
    pub audience: &'a [String],
    /// Claims that were asked for singly for this token or answer (OpenID Connect Core section
    /// 5.5).
    pub single: &'a [ClaimRequest],
}

/// A row that counts.
struct Counted<'a> {
    row: &'a ClaimRule,
    /// Because its claim was asked for by name.
    singly: bool,
}

impl<'a> About<'a> {
    /// The rows that count, in the order in which they give.
    fn rows(self, registry: &'a Registry, target: Target) -> impl Iterator<Item = Counted<'a>> {
        let of_client = self.client.into_iter().flat_map(|client| &client.claims);
        let of_client = of_client.filter(move |row| row.goes_to(target, TableOf::Client));
        let resources = self
            .audience
            .iter()
            .filter_map(|aud| registry.resource(aud));
        let of_resources = resources
            .flat_map(|resource| &resource.claims)
            .filter(move |row| row.goes_to(target, TableOf::Resource));
        let granted = registry.scopes.iter();
        let granted = granted.filter(move |entry| self.scope.contains(&entry.name));
        let of_scopes = granted
            .flat_map(|entry| &entry.claims)
            .filter(move |row| row.goes_to(target, TableOf::Scope));
        let asked = registry.scopes.iter().flat_map(move |entry| {
            let rows = entry.claims.iter();
            rows.filter(move |row| self.may_ask(entry) && self.asks(row.name()))
        });
        let given = of_client.chain(of_resources).chain(of_scopes);
        let given = given.map(|row| Counted { row, singly: false });
        given.chain(asked.map(|row| Counted { row, singly: true }))
    }

    /// A claim is given singly only to a client that may ask for a scope which gives it.
    fn may_ask(self, entry: &ScopeEntry) -> bool {
        self.client
            .is_some_and(|client| client.scope.contains(&entry.name))
    }

    fn asks(self, name: &str) -> bool {
        self.single.iter().any(|request| request.name == name)
    }

    /// Whether any table gives something there: where none does, nobody has to be looked up.
    pub fn gives(self, registry: &Registry, target: Target) -> bool {
        self.rows(registry, target).next().is_some()
    }
}

/// The claims about a person for a token or answer.
pub fn mapped(
    registry: &Registry,
    about: About<'_>,
    target: Target,
    user: &UserClaims,
    room: Room,
) -> Mapped {
    let mut rows = about.rows(registry, target).peekable();
    if rows.peek().is_none() {
        return Mapped::default();
    }
    let person = Person {
        people: &registry.people,
        user,
        client: about.client.map(|client| client.client_id.as_str()),
    };
    let mut tree = Vec::new();
    let mut omitted: Vec<&str> = Vec::new();
    for Counted { row, singly } in rows {
        let is_kept_out = row.is_reserved_later() || is_taken(&tree, &row.claim);
        if is_kept_out || omitted.contains(&row.name()) {
            continue;
        }
        match person.value(row) {
            Given::Nothing => {}
            Given::TooMany => omitted.push(row.name()),
            Given::Value(json) if singly && !about.would_do(row, &json) => {}
            Given::Value(json) => put(&mut tree, &row.claim, json),
        }
    }
    let mut members: Vec<(String, Vec<u8>)> = Vec::with_capacity(tree.len());
    let mut left = room.all;
    for (name, node) in &tree {
        let mut json = Vec::new();
        node.write(&mut Writer::new(&mut json));
        let taken = name.len() + json.len();
        // A nested claim of which a part did not fit is not half there.
        if omitted.contains(&name.as_str()) {
            continue;
        }
        if json.len() > room.one || taken > left || members.len() == room.count {
            omitted.push(name);
            continue;
        }
        left -= taken;
        members.push((name.clone(), json));
    }
    if !omitted.is_empty() {
        omitted.sort_unstable();
        let mut json = Vec::new();
        Writer::new(&mut json).strings(&omitted);
        members.push((OMITTED.to_owned(), json));
    }
    members.sort_unstable();
    Mapped { members }
}

impl About<'_> {
    /// OpenID Connect Core section 5.5.1: a claim that was asked for with values is given if its
    /// value is one of them.
    fn would_do(self, row: &ClaimRule, json: &[u8]) -> bool {
        let asked = self
            .single
            .iter()
            .find(|request| request.name == row.name() && !request.values.is_empty());
        let Some(request) = asked else { return true };
        if row.claim.len() > 1 {
            return true;
        }
        request.values.iter().any(|value| {
            let mut text = Vec::new();
            Writer::new(&mut text).string(value);
            text == json
        })
    }
}

/// A claim, or an object of them.
enum Node {
    Json(Vec<u8>),
    Object(Vec<(String, Node)>),
}

impl Node {
    fn write(&self, w: &mut Writer<'_>) {
        match self {
            Node::Json(json) => w.raw(json),
            Node::Object(members) => w.object(|w| {
                for (name, node) in members {
                    node.write(w.member(name));
                }
            }),
        }
    }
}

/// Whether something stands at this place, above or below it.
fn is_taken(tree: &[(String, Node)], path: &[String]) -> bool {
    let Some((name, rest)) = path.split_first() else {
        return true;
    };
    match tree.iter().find(|(known, _)| known == name) {
        None => false,
        Some((_, Node::Json(_))) => true,
        Some((_, Node::Object(_))) if rest.is_empty() => true,
        Some((_, Node::Object(members))) => is_taken(members, rest),
    }
}

/// Puts a value at a place where nothing stands.
fn put(tree: &mut Vec<(String, Node)>, path: &[String], json: Vec<u8>) {
    let Some((name, rest)) = path.split_first() else {
        return;
    };
    if rest.is_empty() {
        tree.push((name.clone(), Node::Json(json)));
        return;
    }
    let at = tree.iter().position(|(known, _)| known == name);
    let at = at.unwrap_or_else(|| {
        tree.push((name.clone(), Node::Object(Vec::new())));
        tree.len() - 1
    });
    if let Some((_, Node::Object(members))) = tree.get_mut(at) {
        put(members, rest, json);
    }
}

/// What a row comes to.
enum Given {
    Nothing,
    TooMany,
    Value(Vec<u8>),
}

struct Person<'a> {
    people: &'a People,
    user: &'a UserClaims,
    client: Option<&'a str>,
}

impl Person<'_> {
    fn value(&self, row: &ClaimRule) -> Given {
        match &row.from {
            Source::Attribute(name) => self.attribute(row, name),
            Source::Profile(name) => match standard_claims::has(name, self.user) {
                false => row.no_value(),
                true => {
                    let mut json = Vec::new();
                    standard_claims::write_value(&mut Writer::new(&mut json), name, self.user);
                    row.in_form(json, standard_claims::text(name, self.user))
                }
            },
            Source::Value(text) => {
                let mut json = Vec::new();
                Writer::new(&mut json).string(text);
                row.in_form(json, Some(text))
            }
            Source::Groups => {
                let groups = self.people.groups_of(&self.user.held);
                row.named(groups.into_iter())
            }
            Source::Roles => {
                let roles = self.people.roles_of(&self.user.held);
                let of_realm = roles.into_values().filter(|role| role.client().is_none());
                row.named(of_realm.map(|role| role.short()))
            }
            Source::ClientRoles(client) => {
                let Some(client) = client.as_deref().or(self.client) else {
                    return Given::Nothing;
                };
                let roles = self.people.roles_of(&self.user.held);
                let of_client = roles
                    .into_values()
                    .filter(|role| role.client() == Some(client));
                row.named(of_client.map(|role| role.short()))
            }
            Source::RolesByClient => {
                let roles = self.people.roles_of(&self.user.held);
                let mut by_client: Vec<(&str, Vec<&str>)> = Vec::new();
                let mut count = 0;
                for role in roles.into_values() {
                    let Some(client) = role.client() else {
                        continue;
                    };
                    count += 1;
                    match by_client.iter_mut().find(|(known, _)| *known == client) {
                        Some((_, names)) => names.push(role.short()),
                        None => by_client.push((client, vec![role.short()])),
                    }
                }
                if count > row.at_most {
                    return Given::TooMany;
                }
                if by_client.is_empty() {
                    return Given::Nothing;
                }
                let mut json = Vec::new();
                Writer::new(&mut json).object(|w| {
                    for (client, names) in &by_client {
                        w.member(client)
                            .object(|w| w.member("roles").strings(names));
                    }
                });
                Given::Value(json)
            }
        }
    }

    fn attribute(&self, row: &ClaimRule, name: &str) -> Given {
        let held = self.user.held.attributes.get(name);
        let (Some(held), Some(attribute)) = (held, self.people.attributes.get(name)) else {
            return row.no_value();
        };
        // What the schema was when it was written may not be what it is now.
        if attribute.accepts(&held.value).is_err() || (attribute.verified && !held.verified) {
            return row.no_value();
        }
        let mut json = Vec::new();
        let w = &mut Writer::new(&mut json);
        let number;
        let first = match &held.value {
            AttributeValue::Text(text) => {
                w.string(text);
                Some(text.as_str())
            }
            AttributeValue::Number(n) => {
                w.integer(*n);
                number = n.to_string();
                Some(number.as_str())
            }
            AttributeValue::Boolean(value) => {
                w.bool(*value);
                Some(if *value { "true" } else { "false" })
            }
            AttributeValue::List(list) => {
                if list.len() > row.at_most {
                    return Given::TooMany;
                }
                w.strings(list);
                match row.form {
                    Form::Natural | Form::List => return Given::Value(json),
                    Form::String => list.first().map(String::as_str),
                }
            }
        };
        row.in_form(json, first)
    }
}

impl ClaimRule {
    fn no_value(&self) -> Given {
        match &self.default {
            None => Given::Nothing,
            Some(text) => {
                let mut json = Vec::new();
                Writer::new(&mut json).string(text);
                Given::Value(json)
            }
        }
    }

    /// One value, as the row wants it. `text`: the same as a text, where it is one.
    fn in_form(&self, json: Vec<u8>, text: Option<&str>) -> Given {
        let mut out = Vec::new();
        match self.form {
            Form::Natural => return Given::Value(json),
            Form::List => Writer::new(&mut out).array(|w| w.raw(&json)),
            Form::String => match text {
                Some(text) => Writer::new(&mut out).string(text),
                None => return Given::Value(json),
            },
        }
        Given::Value(out)
    }

    /// Names of groups or roles, as the row wants them.
    fn named<'n>(&self, names: impl Iterator<Item = &'n str>) -> Given {
        let prefix = self.prefix.as_deref().unwrap_or("");
        let names: Vec<&str> = names.filter(|name| name.starts_with(prefix)).collect();
        let called: Vec<&str> = match self.values.is_empty() {
            true => names,
            false => {
                let has = |pair: &&(String, String)| names.contains(&pair.0.as_str());
                let mut called: Vec<&str> = Vec::new();
                for (_, value) in self.values.iter().filter(has) {
                    if !called.contains(&value.as_str()) {
                        called.push(value);
                    }
                }
                called
            }
        };
        let mut json = Vec::new();
        match self.form {
            Form::String => match called.first() {
                None => return self.no_value(),
                Some(first) => Writer::new(&mut json).string(first),
            },
            Form::Natural | Form::List => {
                if called.len() > self.at_most {
                    return Given::TooMany;
                }
                Writer::new(&mut json).strings(called);
            }
        }
        Given::Value(json)
    }
}

#[cfg(test)]
mod tests;

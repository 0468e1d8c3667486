//! What a realm says of its people beside their accounts: the schema of attributes, groups and
//! roles.
//!
//! These are records of the registry, so every request finds them in its snapshot. Who is in a
//! group or has a role stands in the person's own account, by the record's id: an id is drawn when
//! a record is made, so one that is removed and made again under its name gives nothing to those
//! who were in the first one.
//!
//! Groups are a forest: a group has one parent at the most, and whoever is in a group is in its
//! parent. Whoever changes them keeps them without a circle; whoever walks them is bounded all the
//! same, for records of one moment may come to a node one after another.

pub mod access_rules;
pub mod claim_rules;
pub mod mapped_claims;
pub mod passkeys;
pub mod provider;
pub mod sign_up;
pub mod standard_claims;
pub mod userinfo;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The longest name of a group, a role or an attribute, in bytes.
pub const MAX_NAME_BYTES: usize = 64;
/// The longest description, in bytes.
pub const MAX_DESCRIPTION_BYTES: usize = 512;
/// Most groups of a realm.
pub const MAX_GROUPS: usize = 10_000;
/// Most groups on a way from a group to the outermost one, both included.
pub const MAX_GROUP_DEPTH: usize = 8;
/// Most roles of a realm, of all clients together.
pub const MAX_ROLES: usize = 10_000;
/// Most roles that one group gives.
pub const MAX_GROUP_ROLES: usize = 64;
/// Most attributes of a schema.
pub const MAX_ATTRIBUTES: usize = 64;
/// The longest text of an attribute that a schema can allow, in bytes.
pub const MAX_ATTRIBUTE_BYTES: usize = 2048;
/// Most texts of an attribute that is a list.
pub const MAX_ATTRIBUTE_ITEMS: usize = 64;
/// The most that one attribute may take, in bytes: all texts of a list together.
pub const MAX_ATTRIBUTE_TOTAL_BYTES: usize = 4096;
/// The whole numbers that every reader of JSON reads as they were written (RFC 8259 section 6).
pub const MAX_NUMBER: i64 = (1 << 53) - 1;

/// A group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Drawn when it is made: what accounts name it by.
    pub id: String,
    /// Its name, which is the realm's own and never changes.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// The group that everybody in this one is in, too.
    pub parent: Option<String>,
    /// Ids of the roles that everybody in it has.
    pub roles: Vec<String>,
    /// What whoever provisions it calls it (RFC 7643 section 3.1).
    pub external_id: Option<String>,
    /// Grows at every write.
    pub revision: u64,
}

/// A role, of the realm or of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Drawn when it is made: what accounts and groups name it by.
    pub id: String,
    /// Its whole name: `NAME` of the realm, `CLIENT_ID/NAME` of a client.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// Grows at every write.
    pub revision: u64,
}

impl Role {
    /// The client whose role it is; none: the realm's.
    pub fn client(&self) -> Option<&str> {
        split(&self.name).0
    }

    /// Its name without the client's.
    pub fn short(&self) -> &str {
        split(&self.name).1
    }
}

/// The client and the short name that a role's whole name says: a short name has no slash.
fn split(name: &str) -> (Option<&str>, &str) {
    match name.rsplit_once('/') {
        Some((client, short)) => (Some(client), short),
        None => (None, name),
    }
}

/// What is wrong with a name or a definition, in words for whoever wrote it.
pub type Fault = &'static str;

fn plain(text: &str) -> bool {
    let fits = |c: char| !c.is_control() && !matches!(c, '"' | '\\' | '/' | '=');
    !text.is_empty()
        && text.len() <= MAX_NAME_BYTES
        && text.trim() == text
        && text.chars().all(fits)
}

/// Whether a group may have this name. It is written into tokens as it is: characters that JSON
/// would write longer are not in it.
///
/// # Errors
/// What it must be.
pub fn check_group_name(name: &str) -> Result<(), Fault> {
    plain(name).then_some(()).ok_or(
        "a group's name has 1 to 64 bytes, no control characters, none of \" \\ / = and no space at its ends",
    )
}

/// Whether a role may have this whole name.
///
/// # Errors
/// What it must be.
pub fn check_role_name(name: &str) -> Result<(), Fault> {
    let (client, short) = split(name);
    let client_fits =
        |id: &str| !id.is_empty() && id.len() <= 128 && id.bytes().all(|b| b.is_ascii_graphic());
    (plain(short) && client.is_none_or(client_fits))
        .then_some(())
        .ok_or("a role is NAME or CLIENT_ID/NAME; the name has 1 to 64 bytes, no control characters and none of \" \\ / =")
}

/// Whether a description is one.
///
/// # Errors
/// What it must be.
pub fn check_description(text: Option<&str>) -> Result<(), Fault> {
    text.is_none_or(|text| {
        !text.is_empty()
            && text.len() <= MAX_DESCRIPTION_BYTES
            && !text.chars().any(char::is_control)
    })
    .then_some(())
    .ok_or("description must be a short text")
}

/// What an attribute's value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttributeType {
    /// One line.
    String,
    /// A whole number that every reader of JSON reads exactly.
    Number,
    /// Yes or no.
    Boolean,
    /// Several lines.
    List,
}
crate::issued::names::wire_names!(AttributeType { String = "string", Number = "number", Boolean = "boolean", List = "list" });

/// Who may do something with an attribute. Each includes those after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Who {
    /// The person, and administrators.
    Person,
    /// Administrators.
    Administrator,
    /// Nobody here: the directory that the person comes from gives it.
    Nobody,
}
crate::issued::names::wire_names!(Who { Person = "person", Administrator = "administrator", Nobody = "nobody" });

/// An attribute of people, as the schema has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name: lower-case letters, digits and underscores.
    pub name: String,
    /// What the account page calls it; none: its name.
    pub label: Option<String>,
    /// What its value is.
    pub kind: AttributeType,
    /// Who sees it, here. Claims are another matter: their table says what goes into them.
    pub read: Who,
    /// Who writes it.
    pub write: Who,
    /// Only a value that an administrator or a directory vouches for becomes a claim. What the
    /// person writes waits for that.
    pub verified: bool,
    /// The longest text, in bytes.
    pub max_bytes: usize,
    /// Most texts of a list.
    pub max_items: usize,
    /// Grows at every write.
    pub revision: u64,
}

impl Attribute {
    /// One with the defaults: a short text that administrators read and write.
    pub fn new(name: impl Into<String>) -> Attribute {
        Attribute {
            name: name.into(),
            label: None,
            kind: AttributeType::String,
            read: Who::Administrator,
            write: Who::Administrator,
            verified: false,
            max_bytes: 256,
            max_items: 16,
            revision: 0,
        }
    }

    /// Whether a schema can have it.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), Fault> {
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        let name = &self.name;
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(fits) {
            return Err(
                "an attribute's name has 1 to 64 lower-case letters, digits and underscores",
            );
        }
        check_description(self.label.as_deref()).map_err(|_| "label must be a short text")?;
        if !(1..=MAX_ATTRIBUTE_BYTES).contains(&self.max_bytes) {
            return Err("max_bytes must be from 1 to 2048");
        }
        if !(1..=MAX_ATTRIBUTE_ITEMS).contains(&self.max_items) {
            return Err("max_items must be from 1 to 64");
        }
        if self.longest() > MAX_ATTRIBUTE_TOTAL_BYTES {
            return Err("max_bytes times max_items must be at most 4096");
        }
        if self.write == Who::Person && self.read != Who::Person {
            return Err("what the person may write they may read");
        }
        if self.write == Who::Administrator && self.read == Who::Nobody {
            return Err("what administrators may write they may read");
        }
        Ok(())
    }

    /// Bytes of the longest value, without what JSON adds.
    pub fn longest(&self) -> usize {
        match self.kind {
            AttributeType::String => self.max_bytes,
            AttributeType::List => self.max_bytes * self.max_items,
            AttributeType::Number => 17,
            AttributeType::Boolean => 5,
        }
    }

    /// Whether a value is one of this attribute.
    ///
    /// # Errors
    /// What it must be.
    pub fn accepts(&self, value: &AttributeValue) -> Result<(), Fault> {
        let line = |text: &String| {
            !text.is_empty() && text.len() <= self.max_bytes && !text.chars().any(char::is_control)
        };
        match (self.kind, value) {
            (AttributeType::String, AttributeValue::Text(text)) => line(text)
                .then_some(())
                .ok_or("must be one line, not longer than its max_bytes"),
            (AttributeType::Number, AttributeValue::Number(n)) => (-MAX_NUMBER..=MAX_NUMBER)
                .contains(n)
                .then_some(())
                .ok_or("must be a whole number of at most 53 bits"),
            (AttributeType::Boolean, AttributeValue::Boolean(_)) => Ok(()),
            (AttributeType::List, AttributeValue::List(list)) => {
                (!list.is_empty() && list.len() <= self.max_items && list.iter().all(line))
                    .then_some(())
                    .ok_or("must be one to max_items lines, none longer than max_bytes")
            }
            (AttributeType::String, _) => Err("must be a text"),
            (AttributeType::Number, _) => Err("must be a whole number"),
            (AttributeType::Boolean, _) => Err("must be true or false"),
            (AttributeType::List, _) => Err("must be a list of texts"),
        }
    }
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AttributeValue {
    /// One line.
    Text(String),
    /// A whole number.
    Number(i64),
    /// Yes or no.
    Boolean(bool),
    /// Several lines.
    List(Vec<String>),
}

/// What a person's account says of them beside the standard claims.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Ids of the groups that they were put into.
    pub groups: Vec<String>,
    /// Names of the groups that the directory which they come from has them in.
    pub groups_outside: Vec<String>,
    /// Ids of the roles that they were given.
    pub roles: Vec<String>,
    /// Attributes that may become claims, by name: a value that waits for somebody to vouch for it
    /// is marked so.
    pub attributes: BTreeMap<String, Held>,
}

/// A value of an attribute, and whether somebody vouches for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The value.
    pub value: AttributeValue,
    /// An administrator or a directory vouches for it.
    pub verified: bool,
}

/// Groups, roles and attributes of one moment.
#[derive(Clone, Default, Debug)]
pub struct People {
    /// By name.
    pub groups: HashMap<String, Arc<Group>>,
    /// By whole name.
    pub roles: HashMap<String, Arc<Role>>,
    /// By name.
    pub attributes: BTreeMap<String, Arc<Attribute>>,
    group_names: HashMap<String, String>,
    role_names: HashMap<String, String>,
}

impl People {
    /// Puts a group in the place of the one with its name.
    pub fn put_group(&mut self, group: Arc<Group>) {
        self.forget_group(&group.name.clone());
        self.group_names
            .insert(group.id.clone(), group.name.clone());
        self.groups.insert(group.name.clone(), group);
    }

    /// Takes a group out.
    pub fn forget_group(&mut self, name: &str) {
        if let Some(gone) = self.groups.remove(name) {
            self.group_names.remove(&gone.id);
        }
    }

    /// Puts a role in the place of the one with its name.
    pub fn put_role(&mut self, role: Arc<Role>) {
        self.forget_role(&role.name.clone());
        self.role_names.insert(role.id.clone(), role.name.clone());
        self.roles.insert(role.name.clone(), role);
    }

    /// Takes a role out.
    pub fn forget_role(&mut self, name: &str) {
        if let Some(gone) = self.roles.remove(name) {
            self.role_names.remove(&gone.id);
        }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.roles.is_empty() && self.attributes.is_empty()
    }

    /// The group of this id.
    pub fn group_of_id(&self, id: &str) -> Option<&Arc<Group>> {
        self.groups.get(self.group_names.get(id)?)
    }

    /// The role of this id.
    pub fn role_of_id(&self, id: &str) -> Option<&Arc<Role>> {
        self.roles.get(self.role_names.get(id)?)
    }

    /// The names of every group that a person is in: those that they were put into, and what those
    /// are in. A group that is gone is none.
    pub fn groups_of<'a>(&'a self, held: &'a Holdings) -> BTreeSet<&'a str> {
        let by_id = held.groups.iter().filter_map(|id| self.group_of_id(id));
        let by_name = held.groups_outside.iter();
        let by_name = by_name.filter_map(|name| self.groups.get(name));
        let mut found = BTreeSet::new();
        for group in by_id.chain(by_name) {
            let mut next = Some(group);
            // The records of one moment may come one after another: a circle ends the walk here.
            while let Some(group) = next {
                if !found.insert(group.name.as_str()) {
                    break;
                }
                let parent = group.parent.as_ref();
                next = parent.and_then(|parent| self.groups.get(parent));
            }
        }
        found
    }

    /// Every role that a person has: their own, and those of their groups.
    pub fn roles_of<'a>(&'a self, held: &'a Holdings) -> BTreeMap<&'a str, &'a Role> {
        let groups = self.groups_of(held);
        let given = groups.iter().filter_map(|name| self.groups.get(*name));
        let given = given.flat_map(|group| &group.roles);
        let ids = held.roles.iter().chain(given);
        let roles = ids.filter_map(|id| self.role_of_id(id));
        roles.map(|role| (role.name.as_str(), &**role)).collect()
    }

    /// How many groups there are from this one to the outermost, both included; none: there is a
    /// circle, or more than [`MAX_GROUP_DEPTH`].
    pub fn depth(&self, name: &str) -> Option<usize> {
        let mut depth = 0;
        let mut next = self.groups.get(name);
        while let Some(group) = next {
            depth += 1;
            if depth > MAX_GROUP_DEPTH {
                return None;
            }
            next = group.parent.as_ref().and_then(|name| self.groups.get(name));
        }
        Some(depth)
    }

    /// Whether every group has its way to an outermost one within [`MAX_GROUP_DEPTH`].
    ///
    /// # Errors
    /// The name of one that has not.
    pub fn check_depths(&self) -> Result<(), &str> {
        let mut names: Vec<&String> = self.groups.keys().collect();
        names.sort_unstable();
        match names.into_iter().find(|name| self.depth(name).is_none()) {
            None => Ok(()),
            Some(name) => Err(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn group(name: &str, parent: Option<&str>, roles: &[&str]) -> Arc<Group> {
        Arc::new(Group {
            id: format!("id-{name}"),
            name: name.into(),
            description: None,
            parent: parent.map(str::to_owned),
            roles: roles.iter().map(|role| format!("id-{role}")).collect(),
            external_id: None,
            revision: 1,
        })
    }

    fn role(name: &str) -> Arc<Role> {
        Arc::new(Role {
            id: format!("id-{name}"),
            name: name.into(),
            description: None,
            revision: 1,
        })
    }

    fn held(groups: &[&str], roles: &[&str]) -> Holdings {
        Holdings {
            groups: groups.iter().map(|name| format!("id-{name}")).collect(),
            roles: roles.iter().map(|name| format!("id-{name}")).collect(),
            ..Holdings::default()
        }
    }

    #[test]
    fn whoever_is_in_a_group_is_in_its_parents_and_has_their_roles() {
        let mut people = People::default();
        people.put_group(group("staff", None, &["reader"]));
        people.put_group(group("engineering", Some("staff"), &["web/editor"]));
        people.put_group(group("backend", Some("engineering"), &[]));
        people.put_group(group("sales", None, &[]));
        for name in ["reader", "web/editor", "auditor"] {
            people.put_role(role(name));
        }
        let alice = held(&["backend"], &["auditor"]);
        let groups: Vec<&str> = people.groups_of(&alice).into_iter().collect();
        assert_eq!(groups, ["backend", "engineering", "staff"]);
        let roles: Vec<&str> = people.roles_of(&alice).into_keys().collect();
        assert_eq!(roles, ["auditor", "reader", "web/editor"]);
        assert_eq!(people.roles["web/editor"].client(), Some("web"));
        assert_eq!(people.roles["web/editor"].short(), "editor");
        assert_eq!(people.depth("backend"), Some(3));
    }

    #[test]
    fn a_group_that_was_made_again_has_none_of_the_people_of_the_first() {
        let mut people = People::default();
        people.put_group(group("staff", None, &[]));
        let alice = held(&["staff"], &[]);
        people.forget_group("staff");
        assert!(people.groups_of(&alice).is_empty());
        let mut again = Group::clone(&group("staff", None, &[]));
        again.id = "another".into();
        people.put_group(Arc::new(again));
        assert!(people.groups_of(&alice).is_empty());
    }

    #[test]
    fn an_attribute_takes_its_own_type_and_sizes() {
        let mut attribute = Attribute::new("level");
        let text = |n: usize| AttributeValue::Text("x".repeat(n));
        assert!(attribute.accepts(&text(256)).is_ok());
        assert!(attribute.accepts(&text(257)).is_err());
        assert!(
            attribute
                .accepts(&AttributeValue::Text("a\nb".into()))
                .is_err()
        );
        attribute.kind = AttributeType::Number;
        assert!(
            attribute
                .accepts(&AttributeValue::Number(MAX_NUMBER))
                .is_ok()
        );
        assert!(
            attribute
                .accepts(&AttributeValue::Number(MAX_NUMBER + 1))
                .is_err()
        );
        assert!(attribute.accepts(&text(1)).is_err());
        attribute.kind = AttributeType::List;
        attribute.max_items = 2;
        let list = |n: usize| AttributeValue::List(vec!["a".into(); n]);
        assert!(attribute.accepts(&list(2)).is_ok());
        assert!(attribute.accepts(&list(3)).is_err());
        assert!(attribute.accepts(&list(0)).is_err());
        assert!(attribute.check().is_ok());
        attribute.max_bytes = 2048;
        attribute.max_items = 64;
        assert!(attribute.check().is_err());
        let hidden = Attribute {
            write: Who::Person,
            read: Who::Administrator,
            ..Attribute::new("hidden")
        };
        assert!(hidden.check().is_err());
    }

    #[test]
    fn names_are_those_that_a_token_writes_as_they_are() {
        for good in ["staff", "Domain Admins", "größe", "a.b:c@d"] {
            assert!(check_group_name(good).is_ok(), "{good}");
            assert!(check_role_name(good).is_ok(), "{good}");
        }
        assert!(check_role_name("https://app.example/client/editor").is_ok());
        for bad in [
            "",
            " a",
            "a ",
            "a\"b",
            "a\\b",
            "a/b",
            "a=b",
            "a\nb",
            &"x".repeat(65),
        ] {
            assert!(check_group_name(bad).is_err(), "{bad}");
        }
        for bad in ["", "/editor", "web/", "a b/editor"] {
            assert!(check_role_name(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        /// Whatever came to a node in whatever order: a walk ends.
        #[test]
        fn a_walk_through_any_records_ends(parents in proptest::collection::vec(0..12_usize, 12)) {
            let mut people = People::default();
            for (child, parent) in parents.iter().enumerate() {
                let parent = (*parent != child).then(|| parent.to_string());
                people.put_group(group(&child.to_string(), parent.as_deref(), &[]));
            }
            for child in 0..12 {
                let name = child.to_string();
                prop_assert!(people.groups_of(&held(&[&name], &[])).contains(name.as_str()));
                let _ = people.depth(&name);
            }
        }
    }
}

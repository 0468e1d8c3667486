//! The table of kinds: what nodes tell each other of, and how two writers' changes of one member
//! come together.
//!
//! A record travels as a [`signet_merge::crdt::Record`] with one member for each member of its
//! stored form. Two rules:
//!
//! - **The last writer** holds for a member with one value.
//! - **A list is a set.** Of what people more often miss than regret (a redirect URI, a contact)
//!   adding wins over removing; of what grants something (a scope, a grant type, a secret) removing
//!   wins.
//!
//! Numbers below 16 are the cluster's own. A number is part of what travels and is never reused.
use signet_oauth::client::metadata::{Member, Shape};

/// How two changes of one member come together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The later one holds.
    LastWriter,
    /// A list: an element that one adds and another removes at the same time is in it.
    AddWins,
    /// A list: an element that one adds and another removes at the same time is not in it.
    RemoveWins,
    /// Words, separated by spaces: as [`Rule::RemoveWins`].
    Words,
}

/// What kind of thing is told of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RecordKind {
    /// A client, by `client_id`.
    Client,
    /// A resource server, by its identifier.
    Resource,
    /// A scope, by its name.
    Scope,
    /// A signing key, by `kid`; its private half sealed.
    Key,
    /// A revocation, by its subject: grows only, until its end.
    Revocation,
    /// A group of people, by its name.
    Group,
    /// A role, by its whole name.
    Role,
    /// An attribute of the people's schema, by its name.
    Attribute,
    /// An access rule, by its name.
    Rule,
    /// An identity provider, by its name; its secret sealed.
    Provider,
}

/// A row of [`KINDS`].
#[derive(Debug)]
pub struct KindRow {
    /// The kind.
    pub kind: RecordKind,
    /// What it is called on the wire.
    pub number: u8,
    /// In words.
    pub what: &'static str,
    rule: fn(&str) -> Rule,
}

/// Every kind, in the order of [`RecordKind`].
///
/// What is not here no node has in memory from the store: agents and what is said of them are read
/// there each time; settings and realms are a node's own configuration, and become a
/// `Delta::Configuration` when that is read again. A number that this version does not know is a
/// later version's, and is kept for it.
pub const KINDS: [KindRow; 10] = [
    KindRow {
        kind: RecordKind::Client,
        number: 16,
        what: "clients",
        rule: rule_of_client,
    },
    KindRow {
        kind: RecordKind::Resource,
        number: 17,
        what: "resource servers",
        rule: rule_of_resource,
    },
    KindRow {
        kind: RecordKind::Scope,
        number: 18,
        what: "scopes",
        rule: last_writer,
    },
    KindRow {
        kind: RecordKind::Key,
        number: 19,
        what: "signing keys",
        rule: last_writer,
    },
    KindRow {
        kind: RecordKind::Revocation,
        number: 21,
        what: "revocations",
        rule: last_writer,
    },
    KindRow {
        kind: RecordKind::Group,
        number: 24,
        what: "groups",
        rule: rule_of_group,
    },
    KindRow {
        kind: RecordKind::Role,
        number: 25,
        what: "roles",
        rule: last_writer,
    },
    KindRow {
        kind: RecordKind::Attribute,
        number: 26,
        what: "attributes of people",
        rule: last_writer,
    },
    // A list that is empty is no condition: lists of two writers that merge could say what neither
    // said.
    KindRow {
        kind: RecordKind::Rule,
        number: 28,
        what: "access rules",
        rule: last_writer,
    },
    KindRow {
        kind: RecordKind::Provider,
        number: 29,
        what: "identity providers",
        rule: rule_of_provider,
    },
];

/// What grants something, among the lists of clients.
const GRANTING: [&str; 4] = ["grant_types", "resources", "may_act_for", "allowed_origins"];

fn rule_of_client(member: &str) -> Rule {
    if member == "secrets" {
        return Rule::RemoveWins;
    }
    match Member::named(member).map(|row| row.shape) {
        Some(Shape::List | Shape::NameList(_)) if GRANTING.contains(&member) => Rule::RemoveWins,
        Some(Shape::List | Shape::NameList(_)) => Rule::AddWins,
        Some(Shape::Scope) => Rule::Words,
        Some(
            Shape::Text
            | Shape::Url
            | Shape::Name(_)
            | Shape::Flag
            | Shape::Seconds
            | Shape::Time
            | Shape::KeySet
            | Shape::ClaimTable,
        )
        | None => Rule::LastWriter,
    }
}

fn rule_of_resource(member: &str) -> Rule {
    match member {
        "scopes" | "introspectors" => Rule::RemoveWins,
        _ => Rule::LastWriter,
    }
}

fn rule_of_group(member: &str) -> Rule {
    match member {
        "roles" => Rule::RemoveWins,
        _ => Rule::LastWriter,
    }
}

fn rule_of_provider(member: &str) -> Rule {
    match member {
        "domains" => Rule::RemoveWins,
        _ => Rule::LastWriter,
    }
}

const fn last_writer(_: &str) -> Rule {
    Rule::LastWriter
}

impl RecordKind {
    /// Its row.
    pub const fn row(self) -> &'static KindRow {
        &KINDS[self as usize]
    }

    /// The kind that is called so on the wire.
    pub fn of_number(number: u8) -> Option<RecordKind> {
        let row = KINDS.iter().find(|row| row.number == number)?;
        Some(row.kind)
    }

    /// How changes of a member of the stored form come together.
    pub fn rule(self, member: &str) -> Rule {
        (self.row().rule)(member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_kinds_and_no_number_is_the_clusters_own() {
        for (at, row) in KINDS.iter().enumerate() {
            assert_eq!(row.kind as usize, at);
            assert!(row.number >= 16, "{}", row.what);
            assert_eq!(RecordKind::of_number(row.number), Some(row.kind));
        }
        assert_eq!(RecordKind::of_number(0), None);
    }

    #[test]
    fn every_list_of_a_client_is_a_set() {
        for member in signet_oauth::client::metadata::MEMBERS {
            let is_list = matches!(member.shape, Shape::List | Shape::NameList(_));
            let rule = RecordKind::Client.rule(member.name);
            let is_set = matches!(rule, Rule::AddWins | Rule::RemoveWins);
            assert_eq!(is_set, is_list, "{}", member.name);
        }
        assert_eq!(RecordKind::Client.rule("scope"), Rule::Words);
        assert_eq!(RecordKind::Client.rule("redirect_uris"), Rule::AddWins);
        assert_eq!(RecordKind::Client.rule("secrets"), Rule::RemoveWins);
    }
}

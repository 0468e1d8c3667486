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
mod access_rule;
mod administrator_role;
mod attribute;
mod client;
mod group;
mod provider;
mod realm;
mod resource;
mod role;
mod scope;

use crate::record_kind::last_writer;
pub use crate::record_kind::{
    AnyStored, InRegistry, KindRow, Most, Record, RecordKind, Rows, Rule, Stored,
};
use signet_store::{Key, Table};

/// Every kind, in the order of [`RecordKind`].
///
/// What is not here no node has in memory from the store: agents and what is said of them are read
/// there each time; settings are a node's own configuration, and become a `Delta::Configuration`
/// when that is read again. A number that this version does not know is a
/// later version's, and is kept for it.
pub const KINDS: [KindRow; 12] = [
    client::ROW,
    resource::ROW,
    scope::ROW,
    KindRow {
        kind: RecordKind::Key,
        number: 19,
        what: "signing keys",
        rows: Rows::Table(Table::SigningKey),
        rule: last_writer,
        registry: None,
    },
    KindRow {
        kind: RecordKind::Revocation,
        number: 21,
        what: "revocations",
        rows: Rows::Table(Table::Revocation),
        rule: last_writer,
        registry: None,
    },
    group::ROW,
    role::ROW,
    attribute::ROW,
    access_rule::ROW,
    provider::ROW,
    realm::ROW,
    administrator_role::ROW,
];

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

    /// The row of the record of this name.
    pub fn key(self, name: &str) -> Key {
        self.row().rows.key(name)
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
    fn no_two_kinds_have_one_place() {
        for (at, row) in KINDS.iter().enumerate() {
            let others = KINDS.iter().skip(at + 1);
            assert!(
                others.clone().all(|other| other.rows != row.rows),
                "{}",
                row.what
            );
            assert!(
                others.clone().all(|other| other.number != row.number),
                "{}",
                row.what
            );
        }
    }
}

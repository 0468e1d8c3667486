//! What a change needs of a disk that is full.
use crate::{Change, Op, Table};

/// How much a change needs the disk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Need {
    /// It ends or revokes something, or records that: possible as long as anything is.
    Ends,
    /// It notes that a proof was used, as the authentication of a revocation does: possible while
    /// half of the reserve is left.
    Proves,
    /// It makes something: not possible on a full disk.
    Grows,
}

impl Need {
    /// What a change needs: as much as its neediest operation, unless it revokes something.
    pub fn of(change: &Change) -> Need {
        let mut need = Need::Ends;
        for op in std::iter::once(&change.first).chain(&change.then) {
            let table = match op {
                Op::Insert { key, .. } | Op::Replace { key, .. } | Op::Put { key, .. } => key.table,
                Op::Remove { .. } | Op::Delete { .. } => continue,
            };
            need = need.max(match table {
                Table::Revocation => return Need::Ends,
                // What agents revoke and refuse is kept there, bounded for each.
                Table::Audit | Table::Setting | Table::AgentStatement => Need::Ends,
                // They go with the change that they tell of, which says what it needs.
                Table::Stamps | Table::Gossip | Table::ChangeLog => Need::Ends,
                // What is to be sent because of a change goes with it, which says what it needs.
                // And what waits must be able to leave.
                Table::Outbox => Need::Ends,
                Table::Once => Need::Proves,
                Table::Client
                | Table::Resource
                | Table::SigningKey
                | Table::User
                | Table::UserLookup
                | Table::Credential
                | Table::UserLink
                | Table::Consent
                | Table::Agent
                | Table::AgentRoot
                | Table::UserAgent
                | Table::Family
                | Table::Session
                | Table::UserSession
                | Table::UserGrant
                | Table::SessionClient
                | Table::OneTimeCode
                | Table::DeviceCode
                | Table::UserCode
                | Table::PushedRequest
                | Table::Attempts
                | Table::AgentGrant
                | Table::AgentHolding
                | Table::AgentUse => Need::Grows,
            });
        }
        need
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

    fn put(table: Table) -> Op {
        Op::Put {
            key: Key::new(table, "x"),
            value: Vec::new(),
            end: Some(1),
        }
    }

    fn delete(table: Table) -> Op {
        Op::Delete {
            key: Key::new(table, "x"),
        }
    }

    #[test]
    fn what_ends_something_needs_the_disk_least() {
        let need = |first: Op, then: Vec<Op>| Need::of(&Change { first, then });
        assert_eq!(need(delete(Table::Session), vec![]), Need::Ends);
        let logout = vec![
            delete(Table::UserSession),
            put(Table::Revocation),
            put(Table::Audit),
        ];
        assert_eq!(need(delete(Table::Session), logout), Need::Ends);
        assert_eq!(need(put(Table::Setting), vec![]), Need::Ends);
        // A password is changed, and everything that stood on the old one ends.
        assert_eq!(
            need(put(Table::User), vec![put(Table::Revocation)]),
            Need::Ends
        );
        assert_eq!(
            need(put(Table::Once), vec![put(Table::Audit)]),
            Need::Proves
        );
        assert_eq!(
            need(put(Table::Once), vec![put(Table::Family)]),
            Need::Grows
        );
        // A login that ends the session before it begins one.
        assert_eq!(
            need(delete(Table::Session), vec![put(Table::Session)]),
            Need::Grows
        );
    }
}

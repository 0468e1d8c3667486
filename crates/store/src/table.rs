//! Every table of the store, one row each.

/// What kind of thing a row is. The number on disk is part of the format and never reused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Table {
    // Registry: loaded whole at start.
    /// partition: `client_id`
    Client,
    /// partition: resource identifier (RFC 8707 URI)
    Resource,
    /// partition: `kid`
    SigningKey,
    /// partition: name of the setting
    Setting,
    /// partition: kind and name of a record of the registry; when each of its members was written,
    /// and by which node. Only where several nodes write one store.
    Stamps,
    /// partition: a stream of what a node tells, sort: number of the batch. Only in a node's own
    /// store, never in one that several nodes share.
    Gossip,
    /// What the audit trail keeps in the store: its identity, where it ends, and lines that came
    /// with a change and are not yet in it.
    Audit,
    // Directory.
    /// partition: user id
    User,
    /// partition: login name or e-mail, folded; value: user id
    UserLookup,
    /// partition: user id, sort: `client_id`
    Consent,
    /// partition: user id, sort: kind and id of the credential
    Credential,
    /// partition: hash of a directory's name and a person's id in it; value: user id
    UserLink,
    // Agents.
    /// partition: agent id; its document, and whether an operator registered it
    Agent,
    /// partition: agent id; the one user who bound this identity to their account
    AgentRoot,
    /// partition: user id, sort: agent id; the identities that a user bound
    UserAgent,
    /// partition: what it is about, sort: whose it is; revocations and declarations of refusal
    AgentStatement,
    // Flow state: every row with an end.
    /// Codes, assertion ids, DPoP proof ids, pushed requests, one-time links: what may happen once.
    Once,
    /// Refresh families; the value holds the current generation.
    Family,
    /// partition: session id
    Session,
    /// partition: user id, sort: session id
    UserSession,
    /// partition: user id, sort: family (grant) id
    UserGrant,
    /// partition: public session id, sort: `client_id`; who takes part in a session
    SessionClient,
    /// What goes out: notices to clients, mails. partition: its kind, and whether it waits or is
    /// done; sort: when it is due and its id
    Outbox,
    /// One-time codes sent by mail.
    OneTimeCode,
    /// partition: device code id
    DeviceCode,
    /// partition: `user_code`, value: device code id
    UserCode,
    /// partition: id of the pushed request
    PushedRequest,
    /// Failed attempts, counted.
    Attempts,
    /// partition: subject of the revocation; loaded whole at start
    Revocation,
    /// partition: id of an agent's grant that was exchanged
    AgentGrant,
    /// partition: a user, an agent or a grant, sort: what belongs to it; lists for people
    AgentHolding,
    /// partition: id of an agent's grant; how often it was used
    AgentUse,
    /// partition: a span of time, sort: place in it; what changed of registry, keys and
    /// revocations, for nodes that did not hear it from each other. Only where several nodes write
    /// one store.
    ChangeLog,
}

/// How `get` and `partition` read a table in a store of which several nodes hold a copy. `page` is
/// always of the node's own copy: it is for start-up and for people. An engine with one copy reads
/// everything as the latest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reads {
    /// Everything that was answered before, on any node: what may happen once, what a decision
    /// about a person, a session or an agent rests on, and what is rewritten from what was read.
    Latest,
    /// As the latest; without a majority the node's own copy. The registry, which every node holds
    /// in memory and follows: what is read here only grows what it believes, and is never older
    /// than what it believed. Whatever is written from it names the version that was read.
    Followed,
    /// The node's own copy, which holds at least what this node was answered: what only this node
    /// writes, what reaches it by other ways too, and what nothing is decided by.
    Local,
}

impl Table {
    /// All tables, in the order of their numbers.
    pub const ALL: &'static [Table] = &[
        Table::Client,
        Table::Resource,
        Table::SigningKey,
        Table::Setting,
        Table::Stamps,
        Table::Gossip,
        Table::Audit,
        Table::User,
        Table::UserLookup,
        Table::Consent,
        Table::Credential,
        Table::UserLink,
        Table::Agent,
        Table::AgentRoot,
        Table::UserAgent,
        Table::AgentStatement,
        Table::Once,
        Table::Family,
        Table::Session,
        Table::UserSession,
        Table::UserGrant,
        Table::SessionClient,
        Table::Outbox,
        Table::OneTimeCode,
        Table::DeviceCode,
        Table::UserCode,
        Table::PushedRequest,
        Table::Attempts,
        Table::Revocation,
        Table::AgentGrant,
        Table::AgentHolding,
        Table::AgentUse,
        Table::ChangeLog,
    ];

    /// The table's number on disk, whether its rows must carry an end, how they are read where
    /// several nodes hold them, and whether most requests read one and few change it.
    const fn row(self) -> (u8, bool, Reads, bool) {
        use Reads::{Followed, Latest, Local};
        match self {
            Table::Client => (1, false, Followed, false),
            Table::Resource => (2, false, Followed, false),
            Table::SigningKey => (3, false, Followed, false),
            Table::Setting => (4, false, Followed, false),
            Table::Stamps => (15, false, Followed, false),
            Table::Gossip => (32, false, Local, false),
            Table::Audit => (8, false, Local, false),
            Table::User => (5, false, Latest, true),
            Table::UserLookup => (6, false, Latest, true),
            Table::Consent => (7, false, Latest, true),
            Table::Credential => (13, false, Latest, false),
            Table::UserLink => (14, false, Latest, false),
            Table::Agent => (9, false, Latest, false),
            Table::AgentRoot => (10, false, Latest, false),
            Table::UserAgent => (11, false, Latest, false),
            Table::AgentStatement => (12, false, Latest, false),
            Table::Once => (16, true, Latest, false),
            Table::Family => (17, true, Latest, false),
            Table::Session => (18, true, Latest, true),
            Table::UserSession => (19, true, Latest, false),
            Table::UserGrant => (20, true, Latest, false),
            Table::SessionClient => (40, true, Latest, false),
            Table::Outbox => (41, true, Latest, false),
            Table::OneTimeCode => (21, true, Latest, false),
            Table::DeviceCode => (22, true, Latest, false),
            Table::UserCode => (23, true, Latest, false),
            Table::PushedRequest => (24, true, Latest, false),
            Table::Attempts => (25, true, Latest, false),
            Table::Revocation => (26, true, Local, false),
            Table::AgentGrant => (27, true, Latest, true),
            Table::AgentHolding => (28, true, Local, false),
            Table::AgentUse => (29, true, Latest, false),
            Table::ChangeLog => (30, true, Local, false),
        }
    }

    /// The table's number on disk.
    pub const fn number(self) -> u8 {
        self.row().0
    }

    /// The table with this number on disk.
    pub fn from_number(number: u8) -> Option<Table> {
        Table::ALL
            .iter()
            .copied()
            .find(|table| table.number() == number)
    }

    /// Whether a row without an end is refused: nothing short-lived may stay for ever.
    pub const fn must_end(self) -> bool {
        self.row().1
    }

    /// How its rows are read where several nodes hold them.
    pub const fn reads(self) -> Reads {
        self.row().2
    }

    /// Whether an engine in this process keeps rows that were read in memory, for the next read.
    pub const fn is_kept(self) -> bool {
        self.row().3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_a_number_of_its_own() {
        for table in Table::ALL {
            assert_eq!(Table::from_number(table.number()), Some(*table));
        }
        assert_eq!(Table::from_number(0), None);
    }
}

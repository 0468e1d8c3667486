//! Whom or what a revocation concerns.

/// A kind of subject.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One token.
    Jti,
    /// A grant: its refresh tokens and every access token that was issued under it.
    Grant,
    /// A login session.
    Session,
    /// A user.
    User,
    /// A client.
    Client,
    /// A delegation of an agent chain.
    AgentGrant,
    /// An agent.
    Agent,
    /// The issuer: everything.
    Issuer,
}

/// How a kind is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KindRow {
    /// the kind
    pub kind: Kind,
    /// the member of a line that holds the id
    pub member: &'static str,
    /// the first byte of a store's key
    pub tag: u8,
    /// whether it concerns what was issued up to a moment; otherwise it concerns everything
    pub has_epoch: bool,
}

const fn row(kind: Kind, member: &'static str, tag: u8, has_epoch: bool) -> KindRow {
    KindRow {
        kind,
        member,
        tag,
        has_epoch,
    }
}

/// Every kind, in the order of [`Kind`].
pub const KINDS: [KindRow; 8] = [
    row(Kind::Jti, "jti", b'j', false),
    row(Kind::Grant, "grant_id", b'g', false),
    row(Kind::Session, "sid", b's', false),
    row(Kind::User, "sub", b'u', true),
    row(Kind::Client, "client_id", b'c', true),
    row(Kind::AgentGrant, "agent_grant", b'd', false),
    row(Kind::Agent, "agent", b'a', true),
    row(Kind::Issuer, "iss", b'i', true),
];

impl Kind {
    /// How it is written.
    pub const fn row(self) -> &'static KindRow {
        &KINDS[self as usize]
    }

    /// The kind whose keys begin with this byte.
    pub fn of_tag(tag: u8) -> Option<Kind> {
        KINDS.iter().find(|row| row.tag == tag).map(|row| row.kind)
    }

    /// The kind whose lines have this member.
    pub fn of_member(member: &str) -> Option<Kind> {
        KINDS
            .iter()
            .find(|row| row.member == member)
            .map(|row| row.kind)
    }
}

/// Whom or what a revocation concerns. Epochs are Unix milliseconds: everything that was issued up
/// to that moment.
///
/// `J`: ids of tokens; `G`: ids of grants; `D`: ids of delegations; `T`: ids that are text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject<J, G, D, T> {
    /// One token, by its `jti`.
    Jti(J),
    /// All tokens of a grant, by `grant_id`.
    Grant(G),
    /// All tokens of a session, by its public `sid`.
    Session(T),
    /// All tokens of a user (`sub`) that were issued up to this moment.
    User(T, u64),
    /// All tokens of a client (`client_id`) that were issued up to this moment.
    Client(T, u64),
    /// All tokens whose agent chain has this delegation in it (`agent_grants`).
    AgentGrant(D),
    /// All tokens, issued up to this moment, that an agent acts in: as an actor (`act`), as the
    /// subject or as the client.
    Agent(T, u64),
    /// Everything of an issuer (`iss`) that was issued up to this moment.
    Issuer(T, u64),
}

impl<J, G, D, T> Subject<J, G, D, T> {
    /// Its kind.
    pub const fn kind(&self) -> Kind {
        match self {
            Subject::Jti(_) => Kind::Jti,
            Subject::Grant(_) => Kind::Grant,
            Subject::Session(_) => Kind::Session,
            Subject::User(..) => Kind::User,
            Subject::Client(..) => Kind::Client,
            Subject::AgentGrant(_) => Kind::AgentGrant,
            Subject::Agent(..) => Kind::Agent,
            Subject::Issuer(..) => Kind::Issuer,
        }
    }

    /// The moment up to which it concerns what was issued, Unix milliseconds; None for a kind that
    /// concerns everything.
    pub const fn epoch_ms(&self) -> Option<u64> {
        match self {
            Subject::User(_, epoch_ms)
            | Subject::Client(_, epoch_ms)
            | Subject::Agent(_, epoch_ms)
            | Subject::Issuer(_, epoch_ms) => Some(*epoch_ms),
            Subject::Jti(_) | Subject::Grant(_) | Subject::Session(_) | Subject::AgentGrant(_) => {
                None
            }
        }
    }

    /// The same subject with another epoch, where its kind has one.
    #[must_use]
    pub fn with_epoch(self, epoch_ms: u64) -> Subject<J, G, D, T> {
        match self {
            Subject::User(user, _) => Subject::User(user, epoch_ms),
            Subject::Client(client, _) => Subject::Client(client, epoch_ms),
            Subject::Agent(agent, _) => Subject::Agent(agent, epoch_ms),
            Subject::Issuer(issuer, _) => Subject::Issuer(issuer, epoch_ms),
            other @ (Subject::Jti(_)
            | Subject::Grant(_)
            | Subject::Session(_)
            | Subject::AgentGrant(_)) => other,
        }
    }

    /// Puts it together again. `jti`, `grant`, `delegation` and `text` read the id that the kind
    /// has; `epoch_ms` counts for the kinds that have one.
    ///
    /// # Errors
    /// Those of the four.
    pub fn made<E>(
        kind: Kind,
        epoch_ms: u64,
        jti: impl FnOnce() -> Result<J, E>,
        grant: impl FnOnce() -> Result<G, E>,
        delegation: impl FnOnce() -> Result<D, E>,
        text: impl FnOnce() -> Result<T, E>,
    ) -> Result<Subject<J, G, D, T>, E> {
        Ok(match kind {
            Kind::Jti => Subject::Jti(jti()?),
            Kind::Grant => Subject::Grant(grant()?),
            Kind::Session => Subject::Session(text()?),
            Kind::User => Subject::User(text()?, epoch_ms),
            Kind::Client => Subject::Client(text()?, epoch_ms),
            Kind::AgentGrant => Subject::AgentGrant(delegation()?),
            Kind::Agent => Subject::Agent(text()?, epoch_ms),
            Kind::Issuer => Subject::Issuer(text()?, epoch_ms),
        })
    }

    /// The same subject under other ids.
    pub fn map<K, H, E, U>(
        self,
        jti: impl FnOnce(J) -> K,
        grant: impl FnOnce(G) -> H,
        delegation: impl FnOnce(D) -> E,
        text: impl FnOnce(T) -> U,
    ) -> Subject<K, H, E, U> {
        match self {
            Subject::Jti(own) => Subject::Jti(jti(own)),
            Subject::Grant(own) => Subject::Grant(grant(own)),
            Subject::Session(own) => Subject::Session(text(own)),
            Subject::User(own, epoch_ms) => Subject::User(text(own), epoch_ms),
            Subject::Client(own, epoch_ms) => Subject::Client(text(own), epoch_ms),
            Subject::AgentGrant(own) => Subject::AgentGrant(delegation(own)),
            Subject::Agent(own, epoch_ms) => Subject::Agent(text(own), epoch_ms),
            Subject::Issuer(own, epoch_ms) => Subject::Issuer(text(own), epoch_ms),
        }
    }

    /// The id, as whatever the four make of it.
    pub fn id<'s, R>(
        &'s self,
        jti: impl FnOnce(&'s J) -> R,
        grant: impl FnOnce(&'s G) -> R,
        delegation: impl FnOnce(&'s D) -> R,
        text: impl FnOnce(&'s T) -> R,
    ) -> R {
        match self {
            Subject::Jti(own) => jti(own),
            Subject::Grant(own) => grant(own),
            Subject::AgentGrant(own) => delegation(own),
            Subject::Session(own)
            | Subject::User(own, _)
            | Subject::Client(own, _)
            | Subject::Agent(own, _)
            | Subject::Issuer(own, _) => text(own),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_kinds_and_says_of_each_what_its_subject_says() {
        for (at, row) in KINDS.iter().enumerate() {
            assert_eq!(row.kind as usize, at);
            assert_eq!(Kind::of_tag(row.tag), Some(row.kind));
            assert_eq!(Kind::of_member(row.member), Some(row.kind));
            let text = || Ok::<_, ()>("id");
            let subject = Subject::made(row.kind, 7, text, text, text, text).unwrap();
            assert_eq!(subject.kind(), row.kind);
            assert_eq!(subject.epoch_ms(), row.has_epoch.then_some(7));
            assert_eq!(subject.id(|id| *id, |id| *id, |id| *id, |id| *id), "id");
        }
        assert_eq!(Kind::of_tag(b'?'), None);
        assert_eq!(Kind::of_member("end"), None);
    }
}

//! What the server asks its index about a token.

use crate::{Facts, GrantId, Jti};

/// A token, a refresh token or a session, as far as it can be revoked. Absent parts are parts that
/// it does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RevocationQuery<'a> {
    /// an access token's id
    pub jti: Option<Jti>,
    /// the ids of the tokens that it was exchanged from (RFC 8693)
    pub subject_jtis: &'a [Jti],
    /// when it was issued, Unix milliseconds: compared with the epochs of user, client and agents
    pub issued_at_ms: u64,
    /// the grant, which is the refresh family
    pub grant_id: Option<GrantId>,
    /// the session, by its public id
    pub sid: Option<&'a str>,
    /// the person; none for a client's own token
    pub user_id: Option<&'a str>,
    /// the client; none for a session
    pub client_id: Option<&'a str>,
    /// the ids of all delegations of the agent chain behind it
    pub agent_grants: &'a [[u8; 32]],
    /// every actor's `sub`; an agent that is the user or the client need not be named again
    pub agents: &'a [String],
}

impl Facts for RevocationQuery<'_> {
    type Jti = Jti;
    type Grant = GrantId;
    type Delegation = [u8; 32];

    fn jti(&self) -> Option<&Jti> {
        self.jti.as_ref()
    }

    fn subject_jtis(&self) -> impl Iterator<Item = &Jti> {
        self.subject_jtis.iter()
    }

    fn issued_ms(&self) -> u64 {
        self.issued_at_ms
    }

    fn grant_id(&self) -> Option<&GrantId> {
        self.grant_id.as_ref()
    }

    fn sid(&self) -> Option<&str> {
        self.sid
    }

    fn user(&self) -> Option<&str> {
        self.user_id
    }

    fn client(&self) -> Option<&str> {
        self.client_id
    }

    fn agent_grants(&self) -> impl Iterator<Item = &[u8; 32]> {
        self.agent_grants.iter()
    }

    fn agents(&self) -> impl Iterator<Item = &str> {
        self.agents.iter().map(String::as_str)
    }
}

//! What a grant decides, as data: the tokens to make, and the once-only conditions that must hold
//! first.
use crate::error::OAuthError;
use crate::id::{CodeId, DeviceId, GrantId, Jti};
use crate::issued::names::AccessTokenFormat;
use crate::issued::sealed::{Confirmation, RefreshToken};
use crate::scope::ScopeSet;
use signet_crypto::Algorithm;
pub use signet_revocation::RevocationQuery;

/// A condition that must be committed before anything is answered: one atomic call of the store
/// each. Ends are Unix seconds, after which the row may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SingleUse {
    /// A client assertion's `jti` (RFC 7523 section 3, item 7). A refusal is `invalid_client`.
    Assertion {
        /// whose assertion
        client_id: String,
        /// at most 256 bytes
        jti: String,
        /// after the assertion's own end
        end: u64,
    },
    /// A DPoP proof's `jti`, per key (RFC 9449 section 11.1). A refusal is `invalid_dpop_proof`.
    DpopProof {
        /// thumbprint of the proof's key
        jkt: String,
        /// at most 256 bytes
        jti: String,
        /// after the proof is too old to be accepted
        end: u64,
    },
    /// An authorization code. A refusal is a second use: revoke the grant (RFC 6749 section 4.1.2),
    /// answer `invalid_grant`. Where it holds and `family_end` is set, the family's row (generation
    /// 0, that end) is written in the same change.
    Code {
        /// the row
        id: CodeId,
        /// what a second use revokes
        grant_id: GrantId,
        /// after the code's own end
        end: u64,
        /// a refresh family begins, and lives at most this long
        family_end: Option<u64>,
    },
    /// An approved device code: its record, which was read before, is replaced under its version by
    /// the consumed one. A refusal is `invalid_grant`. `family_end` as with [`SingleUse::Code`].
    DeviceCode {
        /// the row
        id: DeviceId,
        /// the row's version when it was read
        version: u64,
        /// what a poll makes of the record, as it is stored
        consumed: Vec<u8>,
        /// the row's end, which stays
        end: Option<u64>,
        /// the grant that begins
        grant_id: GrantId,
        /// a refresh family begins, and lives at most this long
        family_end: Option<u64>,
    },
    /// Refresh rotation: the family's row must be at `from` and goes to `from + 1`, and keeps who
    /// rotated it. A missing row is a family that ended. Another generation is a replay: revoke the
    /// grant and log it, unless the row is at exactly `from + 1`, was written less than
    /// `retry.window` seconds ago, and by the very same `retry.by`; then this is the documented
    /// retry, the condition counts as held and the row stays.
    Rotate {
        /// the family
        grant_id: GrantId,
        /// the presented generation
        from: u64,
        /// absolute end of the family
        end: u64,
        /// whose retry would be answered; none: nobody's
        retry: Option<Retry>,
    },
    /// An agent's proof of possession, by the hash of what it says: once. A refusal is
    /// `invalid_request`.
    AgentProof {
        /// under whose name it is counted: the agent that signed it, or the user who asked for it
        by: String,
        /// the proof's id
        id: [u8; 32],
        /// after the proof is too old to be accepted
        end: u64,
    },
    /// One use of an agent's grant is counted, and what it may spend: refused where the grant's
    /// bounds do not allow both. A refusal is `invalid_request`. These come last: whatever else
    /// refuses spends nothing.
    AgentUse {
        /// the grant
        grant: [u8; 32],
        /// the most uses; none: unbounded
        max_uses: Option<u64>,
        /// the most that may be spent; none: unbounded
        budget: Option<u64>,
        /// what this use may spend
        spend: u64,
        /// after the grant's own end
        end: u64,
    },
    /// The family's row must be at `generation`, and stays (rotation off). A missing row is an
    /// ended family, another generation a replay.
    Current {
        /// the family
        grant_id: GrantId,
        /// the presented generation
        generation: u64,
    },
}

/// Who may repeat a rotation whose answer was lost, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// digest of how the client was authenticated and of the key or certificate that it proved
    pub by: [u8; 32],
    /// seconds; 0: never
    pub window: u64,
}

/// Tokens to make. The caller signs; the access token first, so that `at_hash` can be computed.
#[derive(Clone, Debug)]
pub struct Issue {
    /// Always.
    pub access_token: AccessToken,
    /// Where `openid` was granted.
    pub id_token: Option<IdToken>,
    /// Where the client may refresh.
    pub refresh: Option<Refresh>,
    /// RFC 8693 section 2.2.1, of the access token.
    pub issued_token_type: Option<&'static str>,
}

/// An access token before it has an id, a time and a signature.
#[derive(Clone, Debug)]
pub struct AccessToken {
    /// `client_id`
    pub client_id: String,
    /// `sub`: the person, or the client itself
    pub sub: String,
    /// `aud`, at least one
    pub audience: Vec<String>,
    /// `scope`
    pub scope: ScopeSet,
    /// seconds
    pub lifetime: u64,
    /// how it is written
    pub format: AccessTokenFormat,
    /// what it is signed with as a JWT; compact tokens are signed with the one key that the server
    /// has for them
    pub algorithm: Algorithm,
    /// the grant it ends with
    pub grant_id: Option<GrantId>,
    /// the session it ends with
    pub sid: Option<String>,
    /// when the person was authenticated
    pub auth_time: Option<u64>,
    /// what was done then
    pub acr: Option<String>,
    /// how
    pub amr: Vec<String>,
    /// `cnf`
    pub confirmation: Option<Confirmation>,
    /// encoded JSON of `act` (RFC 8693 section 4.1)
    pub act: Option<String>,
    /// `subject_jtis`: the ids of the tokens that it was exchanged from, the latest first. Revoking
    /// one of them revokes it.
    pub subject_jtis: Vec<Jti>,
    /// the `claims` request parameter's JSON, for userinfo; carried as the claim `claims`
    pub claims: Option<String>,
    /// where it was issued under a chain of delegations: what of it the token carries
    pub chain: Option<Box<ChainClaims>>,
}

/// What a token that was issued under a chain of delegations says besides `act`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainClaims {
    /// `agent_grants`: the ids of the whole chain's grants, the root's first. Revoking one of them
    /// ends the token.
    pub grants: Vec<[u8; 32]>,
    /// encoded JSON of `authorization_details` (RFC 9396 section 9.1)
    pub authorization_details: String,
}

/// An ID token; `sub`, `sid`, `auth_time`, `acr` and `amr` are the access token's.
#[derive(Clone, Debug)]
pub struct IdToken {
    /// what it is signed with
    pub algorithm: Algorithm,
    /// seconds
    pub lifetime: u64,
    /// of the authorization request; none after a refresh (OpenID Connect Core section 12.2)
    pub nonce: Option<String>,
    /// the `claims` request parameter's JSON
    pub claims: Option<String>,
    /// the session, even where the access token does not end with it
    pub sid: Option<String>,
}

/// What becomes of the refresh token.
#[derive(Clone, Debug)]
pub enum Refresh {
    /// a new one to seal
    New(Box<RefreshToken>),
    /// rotation off: the presented one goes on, and none is in the answer
    Keep,
}

/// What a decision does to what a person granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantState {
    /// Nothing: the token is the client's own, or comes from another token.
    None,
    /// It begins, and is listed for its person, so that it can be withdrawn.
    Begins {
        /// the grant
        grant_id: GrantId,
        /// the end of the refresh family that begins with it, Unix seconds; none: it cannot be
        /// refreshed
        family_end: Option<u64>,
    },
    /// It is continued, if its session is (OpenID Connect Core section 11).
    Continues,
}

/// The name of a row of the store that a grant decides on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowName {
    /// of a device's code
    DeviceCode(DeviceId),
}

/// A row as it was read.
#[derive(Clone, Copy, Debug)]
pub struct StoredRow<'a> {
    /// what is in it
    pub value: &'a [u8],
    /// what a change of it must find
    pub version: u64,
    /// its end, Unix seconds
    pub end: Option<u64>,
}

/// A refusal, and what it leaves.
#[derive(Clone, Debug)]
pub struct Refused {
    /// what the client receives
    pub error: OAuthError,
    /// what the row that the grant named becomes, under its version: a poll is remembered. Of two
    /// at once one is written, which is enough.
    pub row: Option<Vec<u8>>,
}

impl From<OAuthError> for Refused {
    fn from(error: OAuthError) -> Refused {
        Refused { error, row: None }
    }
}

/// In order: `once` conditions are committed one by one; any refusal stops, and nothing is issued.
/// What an unauthenticated caller could send (assertion ids, proofs) comes first; the code or
/// refresh token is last, so that nobody else can consume it (known fault A12).
#[derive(Clone, Debug)]
pub struct Decision {
    /// conditions, in order
    pub single_use: Vec<SingleUse>,
    /// what happens to a person's grant when all held
    pub grant: GrantState,
    /// what to make when all held
    pub issue: Issue,
}

/// The revocation index, as the rules see it. An implementation that does not know says so, and
/// that refuses (known fault A7).
pub trait Revocations {
    /// Whether anything that this token hangs on was revoked.
    fn is_revoked(&self, token: &RevocationQuery<'_>) -> Result<bool, Unavailable>;
}

/// The state that would decide cannot be reached. Never read as "not revoked".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the state that decides is unavailable")]
pub struct Unavailable;

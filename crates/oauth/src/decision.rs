//! What a grant decides: tokens to issue and the one state change that must hold first.
use crate::{scope::ScopeSet, sealed::Confirmation};
/// The once-only condition that must be committed before anything is answered. One atomic call of the store each.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Once {
    /// An authorization code: a second use ends the grant (RFC 6749 section 4.1.2).
    Code {
        id: [u8; 16],
        grant_id: [u8; 16],
        end: u64,
    },
    /// Refresh rotation: the family must be at `from`; a mismatch is a replay and ends the family.
    Rotate {
        grant_id: [u8; 16],
        from: u64,
        end: u64,
    },
    /// A client assertion's `jti`.
    Assertion {
        client_id: String,
        jti: String,
        end: u64,
    },
    /// A DPoP proof's `jti`, per key.
    DpopProof { jkt: String, jti: String, end: u64 },
    /// An approved device code.
    DeviceCode { id: [u8; 16] },
}
/// Tokens to make. The caller signs; `access_token` first, so that `at_hash` can be computed.
#[derive(Clone, Debug)]
pub struct Issue {
    pub access_token: AccessToken,
    pub id_token: Option<IdToken>,
    pub refresh: Option<Refresh>,
    pub scope: ScopeSet,
    /// RFC 8693 section 2.2.1
    pub issued_token_type: Option<&'static str>,
}
#[derive(Clone, Debug)]
pub struct AccessToken {
    pub client_id: String,
    pub sub: String,
    pub audience: Vec<String>,
    pub scope: ScopeSet,
    pub lifetime: u64,
    pub algorithm: signet_crypto::Algorithm,
    pub grant_id: Option<[u8; 16]>,
    pub sid: Option<String>,
    pub auth_time: Option<u64>,
    pub acr: Option<String>,
    pub amr: Vec<String>,
    pub confirmation: Option<Confirmation>,
    /// encoded JSON of `act`
    pub act: Option<String>,
    pub claims: Option<String>,
}
#[derive(Clone, Debug)]
pub struct IdToken {
    pub algorithm: signet_crypto::Algorithm,
    pub nonce: Option<String>,
    pub include_auth_time: bool,
}
#[derive(Clone, Debug)]
pub enum Refresh {
    New(crate::sealed::RefreshToken),
    /// rotation off: the presented one goes on
    Keep,
}
/// In order: `once` conditions are committed one by one; any refusal stops and nothing is issued.
#[derive(Clone, Debug)]
pub struct Decision {
    pub once: Vec<Once>,
    pub issue: Issue,
}

//! What codes and refresh tokens say about themselves, inside the seal. Encoded compactly (own length-prefixed binary, versioned), opened by `Keyring`.
use crate::scope::ScopeSet;
/// An authorization code's content: everything `/token` needs. `id` names the once-row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationCode {
    pub id: [u8; 16],
    pub grant_id: [u8; 16],
    pub client_id: String,
    pub redirect_uri: String,
    pub redirect_uri_was_sent: bool,
    pub code_challenge: Option<String>,
    pub nonce: Option<String>,
    pub scope: ScopeSet,
    pub resources: Vec<String>,
    pub user_id: String,
    pub sid: String,
    pub auth_time: u64,
    pub acr: String,
    pub amr: Vec<String>,
    pub claims: Option<String>,
    pub dpop_jkt: Option<String>,
    pub issued_at: u64,
    pub expires_at: u64,
}
/// A refresh token's content. `generation` is compared with the family's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshToken {
    pub grant_id: [u8; 16],
    pub generation: u64,
    pub client_id: String,
    pub scope: ScopeSet,
    pub resources: Vec<String>,
    pub user_id: String,
    pub sid: Option<String>,
    pub auth_time: u64,
    pub acr: String,
    pub amr: Vec<String>,
    pub claims: Option<String>,
    pub nonce: Option<String>,
    pub confirmation: Option<Confirmation>,
    pub issued_at: u64,
    pub expires_at: u64,
    pub family_expires_at: u64,
}
/// `cnf` (RFC 7800): what a token is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmation {
    Jkt(String),
    X5tS256(String),
}

//! The forms that an access token can have: one claims model, written and read by one [`Format`]
//! each.
//!
//! A format knows its wire form, its signature and its claims' encoding. It knows nothing of
//! issuers, ends and revocation: those are judged in one place for all formats
//! ([`crate::issued::access_token`]). A key serves one format only, so no token of one can be shown
//! as one of the other.
use crate::id::{Jti, write_jti};
mod compact;
mod jwt;
mod write;

pub use crate::issued::names::AccessTokenFormat;
pub use write::write_access_token;
pub(crate) use write::{token_type, write_agent_grants, write_confirmation};

use crate::error::OAuthError;
use crate::issued::token_facts::VerifiedAccessToken;
use crate::people::mapped_claims::{Mapped, Room};
use crate::request::{IssuerKeys, IssuerSigners};
use crate::token::decision::AccessToken;

impl AccessTokenFormat {
    /// The format that a token string has by its outer form; none for what is no access token (a
    /// refresh token, say). Nothing of the string is believed for it.
    pub fn of(token: &str) -> Option<AccessTokenFormat> {
        AccessTokenFormat::ALL
            .iter()
            .copied()
            .find(|format| format.implementation().has_form(token))
    }

    /// What writes and reads it.
    pub fn implementation(self) -> &'static dyn Format {
        match self {
            AccessTokenFormat::Jwt => &jwt::Jwt,
            AccessTokenFormat::Compact => &compact::Compact,
        }
    }
}

/// One form of access tokens.
pub trait Format: Sync {
    /// Whether a string looks like this format, and like no other.
    fn has_form(&self, token: &str) -> bool;

    /// Whether a token can be written. Asked before anything of the request is spent.
    ///
    /// # Errors
    /// What the client hears.
    fn admits(&self, token: &AccessToken, issuer: &str) -> Result<(), OAuthError>;

    /// Room for claims that are mapped, beside what the token says anyway. Of a token that was
    /// admitted.
    fn room(&self, token: &AccessToken) -> Room;

    /// Appends the signed token in its wire form, which is ASCII.
    ///
    /// # Errors
    /// [`NotWritten`]; `out` is then not to be used.
    fn write(
        &self,
        token: &AccessToken,
        stamp: &Stamp<'_>,
        keys: &dyn IssuerSigners,
        out: &mut Vec<u8>,
    ) -> Result<(), NotWritten>;

    /// Signature under a key that is still ours, kind, claims by schema. Who issued it and whether
    /// it has expired is the caller's to judge.
    fn read(&self, keys: &dyn IssuerKeys, token: &str) -> Option<VerifiedAccessToken>;
}

/// What a token gets when it is made.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a> {
    /// `iss`
    pub issuer: &'a str,
    /// `jti`: [`Stamp::id`]
    pub id: Jti,
    /// `iat`, Unix seconds
    pub now: u64,
    /// what it says of the person, within [`Format::room`]
    pub mapped: &'a Mapped,
}

impl Stamp<'_> {
    /// An id: 6 bytes of Unix milliseconds and 10 random ones. The time lets an epoch revoke all
    /// tokens before it.
    pub fn id(now_ms: u64, random: [u8; 10]) -> Jti {
        let mut bytes = [0; 16];
        bytes[..6].copy_from_slice(&now_ms.to_be_bytes()[2..]);
        bytes[6..].copy_from_slice(&random);
        Jti::new(bytes)
    }

    /// The id as `jti` has it.
    pub fn jti(&self) -> String {
        write_jti(&self.id)
    }
}

/// Why a token could not be made; none of it is the client's fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotWritten {
    /// Nothing signs.
    #[error("there is no active key for this format and algorithm")]
    NoKey,
    /// The token does not fit the format, and [`Format::admits`] was not asked.
    #[error("the token does not fit its format")]
    DoesNotFit,
    /// The cryptography library failed.
    #[error("signing failed")]
    Signing,
}

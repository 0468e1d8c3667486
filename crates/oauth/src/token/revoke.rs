//! Revocation: RFC 7009. Signature and owner are checked before anything is written: nobody puts
//! entries in the list with tokens that are not theirs, or not tokens (known fault A8), and an
//! entry lives as long as whatever it concerns (known fault A9).
use crate::client::Client;
use crate::error::{ErrorCode, OAuthError};
use crate::id::{GrantId, Jti, read_jti};
use crate::issued::access_token;
use crate::issued::format::AccessTokenFormat;
use crate::issued::sealed::RefreshToken;
use crate::params::Params;
use crate::request::Context;

/// Entries outlive what they concern by this many seconds: verifiers' clocks differ.
pub const MARGIN: u64 = 120;

/// What must be durable before the answer, which is an empty 200.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revocation {
    /// nothing to do: not a token of ours, or an expired one (RFC 7009 section 2.2)
    Nothing,
    /// one access token
    AccessToken {
        /// its id
        jti: Jti,
        /// Unix seconds; the entry may go then
        end: u64,
    },
    /// a whole grant: its refresh family, and every access token that was issued under it
    Grant {
        /// the grant
        grant_id: GrantId,
        /// whose grant it was
        user_id: String,
        /// Unix seconds; the entry may go then
        end: u64,
    },
}

/// Decides what an authenticated client's request revokes. Public clients may revoke their own (RFC
/// 7009 section 2.1).
///
/// # Errors
/// `invalid_request` without `token`, `unauthorized_client` for another client's token.
pub fn decide(
    context: &Context<'_>,
    client: &Client,
    params: &Params,
) -> Result<Revocation, OAuthError> {
    let token = params.require("token")?;
    if AccessTokenFormat::of(token).is_some() {
        // Whether it is revoked already is not asked: once more does no harm, and works where the
        // index cannot answer.
        let Some(facts) =
            access_token::verify(context, token).filter(|facts| context.now() < facts.exp)
        else {
            return Ok(Revocation::Nothing);
        };
        owned(&facts.client_id, client)?;
        let end = facts.exp + MARGIN;
        // The signature held, so the id is one of ours; another shape could never be looked up.
        return Ok(match read_jti(&facts.jti) {
            Some(jti) => Revocation::AccessToken { jti, end },
            None => Revocation::Nothing,
        });
    }
    let Ok(token) = RefreshToken::open(context.keyring, token) else {
        return Ok(Revocation::Nothing);
    };
    owned(&token.client_id, client)?;
    // A rotated or idle token still names its family: its holder may revoke it. Only a family that
    // is gone needs nothing.
    let longest = longest_access_token(context, client);
    let end = token.family_expires_at + longest + MARGIN;
    match context.now() >= end {
        true => Ok(Revocation::Nothing),
        false => Ok(Revocation::Grant {
            grant_id: token.grant_id,
            user_id: token.user_id,
            end,
        }),
    }
}

/// The longest life, in seconds, of an access token that this client can hold. A record or a
/// setting may have allowed longer ones before it was changed, so a day, the most that the settings
/// ever allow, counts as well.
pub fn longest_access_token(context: &Context<'_>, client: &Client) -> u64 {
    const DAY: u64 = 86_400;
    client
        .access_token_lifetime
        .unwrap_or(0)
        .max(context.settings.access_token_lifetime)
        .max(DAY)
}

fn owned(client_id: &str, client: &Client) -> Result<(), OAuthError> {
    // RFC 7009 section 2.1: refused, and the client is informed.
    match client_id == client.client_id {
        true => Ok(()),
        false => Err(OAuthError::new(
            ErrorCode::UnauthorizedClient,
            "the token was given to another client",
        )),
    }
}

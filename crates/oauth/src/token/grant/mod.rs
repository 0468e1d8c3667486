//! The grants: one file each, one line each in [`GRANTS`].
//!
//! A grant gets an authenticated client and a request, and decides. It changes nothing: what must
//! happen once is in the decision's `once`, with the grant's own condition last (known fault A12);
//! what happens to a person's grant is its `grant`; what a refusal leaves is in the [`Refused`].
mod agent_chain;
mod authorization_code;
mod client_credentials;
mod device_code;
mod person;
mod refresh_token;
mod token_exchange;
mod token_type;
mod upstream_exchange;

pub use agent_chain::SCOPE_ACTION;
pub use token_type::{ACCESS_TOKEN_TYPE, JWT_TYPE, SUBJECT_TOKEN_TYPES};
pub(crate) use upstream_exchange::decide as decide_upstream;
pub use upstream_exchange::{UPSTREAM_TOKEN_TYPE, UpstreamExchange};

use crate::client::{Client, GrantType};
use crate::error::{ErrorCode, OAuthError};
use crate::issued::access_token::TokenLookup;
use crate::issued::agent_grants::PresentedChain;
use crate::issued::sealed::Confirmation;
use crate::params::Params;
use crate::request::{Context, PeerCertificate, unavailable};
use crate::scope::ScopeSet;
use crate::token::client_auth::Credentials;
use crate::token::decision::{Decision, Refused, RevocationQuery, RowName, StoredRow};

/// What a grant must know of the store before it can decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// a row of the store
    pub row: Option<RowName>,
    /// the chain of delegations that the request presents, and its standing
    pub chain: bool,
}

/// What a request asks its grant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// Tokens of this issuer.
    Tokens,
    /// A token of an identity provider, which only that provider can give
    /// ([`super::decide_upstream_begun`]).
    ProviderToken,
}

/// One row: a grant, what it must know, what it is asked for, and what decides it.
pub struct Grant {
    /// `grant_type` is its `as_str`
    pub grant_type: GrantType,
    pub(crate) gives: fn(&Params) -> Gives,
    pub(crate) needs: fn(&Context<'_>, &Params, &Client) -> Needs,
    pub(crate) decide: fn(&GrantRequest<'_>) -> Result<Decision, Refused>,
}

/// The grant that a request names.
pub(crate) fn named(name: &str) -> Option<&'static Grant> {
    GRANTS.iter().find(|row| row.grant_type.as_str() == name)
}

/// What a request asks for, whoever sent it; none: its grant is unknown.
pub fn asked_for(params: &Params) -> Option<Gives> {
    let grant = named(params.get("grant_type")?)?;
    Some((grant.gives)(params))
}

/// Every grant. The metadata's `grant_types_supported` is this list.
pub const GRANTS: &[Grant] = &[
    Grant {
        grant_type: GrantType::AuthorizationCode,
        gives: tokens,
        needs: nothing,
        decide: |request| Ok(authorization_code::decide(request)?),
    },
    Grant {
        grant_type: GrantType::RefreshToken,
        gives: tokens,
        needs: nothing,
        decide: |request| Ok(refresh_token::decide(request)?),
    },
    Grant {
        grant_type: GrantType::ClientCredentials,
        gives: tokens,
        needs: nothing,
        decide: |request| Ok(client_credentials::decide(request)?),
    },
    Grant {
        grant_type: GrantType::DeviceCode,
        gives: tokens,
        needs: device_code::needs,
        decide: device_code::decide,
    },
    Grant {
        grant_type: GrantType::TokenExchange,
        gives: upstream_exchange::gives,
        needs: token_exchange::needs,
        decide: |request| Ok(token_exchange::decide(request)?),
    },
];

/// Tokens of this issuer, always.
fn tokens(_: &Params) -> Gives {
    Gives::Tokens
}

/// The value itself, or the snapshot, says everything.
fn nothing(_: &Context<'_>, _: &Params, _: &Client) -> Needs {
    Needs::default()
}

/// What a grant decides on: a client that is authenticated, and a binding that is proven.
pub(crate) struct GrantRequest<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) client: &'a Client,
    pub(crate) params: &'a Params,
    /// how the client was authenticated
    pub(crate) credentials: &'a Credentials<'a>,
    /// the certificate of the connection, if there is one
    pub(crate) certificate: Option<PeerCertificate<'a>>,
    /// what new tokens are bound to
    pub(crate) confirmation: Option<Confirmation>,
    /// what our own access tokens are worth
    pub(crate) lookup: &'a dyn TokenLookup,
    /// the row that [`Needs::row`] names, where it is there
    pub(crate) row: Option<StoredRow<'a>>,
    /// the chain that [`crate::issued::agent_grants::read`] gave, with its standing
    pub(crate) chain: Option<&'a PresentedChain>,
}

impl GrantRequest<'_> {
    /// The scope of a request within what is allowed: all of it where none was asked for.
    fn scope_within(&self, allowed: &ScopeSet) -> Result<ScopeSet, OAuthError> {
        let Some(text) = self.params.get("scope") else {
            return Ok(allowed.clone());
        };
        let asked = ScopeSet::parse(text)?;
        match asked.is_subset(allowed) {
            true => Ok(asked),
            false => Err(OAuthError::new(
                ErrorCode::InvalidScope,
                "the scope is wider than what was granted",
            )),
        }
    }

    /// `invalid_grant` where anything that the grant hangs on was revoked; a refusal, too, where
    /// that cannot be said (known fault A7).
    fn refuse_revoked(&self, identity: &RevocationQuery<'_>) -> Result<(), OAuthError> {
        match self.context.revocations.is_revoked(identity) {
            Ok(false) => Ok(()),
            Ok(true) => Err(invalid_grant("revoked")),
            Err(_) => Err(unavailable()),
        }
    }
}

/// One public answer for every code or refresh token that is not good; the log has the reason.
fn invalid_grant(hint: &'static str) -> OAuthError {
    OAuthError::invalid_grant(
        "the grant is invalid, expired, revoked, or was issued to another client",
    )
    .with_hint(hint)
}

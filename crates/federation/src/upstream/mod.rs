//! This server as a client of identity providers: what it fetches of them, and what it believes.
//!
//! Every connection goes through [`signet_realm::outbound`], under its bounds, and is counted for
//! the caller's address and for the host ([`signet_realm::budgets`]). What a provider says of a
//! person is believed where its ID token holds under our own verifier, or where its API answers an
//! access token that it has just given.
mod hint;
mod metadata;
mod password;
mod person;
mod refresh_token;
mod token;
mod verify;

pub use hint::open_id_token;
pub use person::{Person, claim};
pub(crate) use refresh_token::open_refresh_token;
pub use signet_fetched::providers::Metadata;
pub use token::{NotRefreshed, Tokens, challenge};

use signet_ldap::LdapError;
use signet_oauth::people::provider::Provider;
use signet_verify::Refusal;

use signet_realm::budgets::{Act, Caller};
use signet_realm::outbound::{Call, FetchError, Reply};
use signet_realm::state::Realm;

/// Why a provider's person could not be found out. What people read of it is
/// [`Trouble::text`]; the rest is for the log.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Trouble {
    /// It was not asked: too many requests to it, or of this caller.
    #[error("too many requests to this provider")]
    TooMany,
    /// It does not answer, or nothing that can be read.
    #[error("it cannot be reached: {}{}", .0, setting(.0))]
    Fetch(#[from] FetchError),
    /// What it says of itself does not hold.
    #[error("its metadata is not right: {0}")]
    Metadata(&'static str),
    /// It refused the code.
    #[error("it refused: {0}")]
    Refused(String),
    /// Its answer is not what was asked for.
    #[error("its answer is not right: {0}")]
    Answer(&'static str),
    /// It is a directory, and did not answer.
    #[error("its directory: {0}")]
    Directory(#[from] LdapError),
    /// Its ID token or logout token does not hold.
    #[error("its token does not hold: {0}")]
    Token(Refusal),
    /// This server's own part is missing.
    #[error("this server cannot show it who it is: {0}")]
    Own(&'static str),
}

/// Which setting an operator may have to change, for the log.
fn setting(error: &FetchError) -> &'static str {
    match error {
        FetchError::Address => {
            " ([outbound] allow_loopback and allow_private_addresses let a name have addresses of this machine and of private networks)"
        }
        _ => "",
    }
}

impl Trouble {
    /// The id of the text that a person reads.
    pub fn text(&self) -> &'static str {
        match self {
            Trouble::TooMany => "provider-too-many",
            Trouble::Fetch(_) | Trouble::Directory(_) => "provider-unreachable",
            Trouble::Refused(_) => "provider-denied",
            Trouble::Answer(_) | Trouble::Token(_) => "provider-unverified",
            Trouble::Metadata(_) | Trouble::Own(_) => "provider-setup",
        }
    }

    /// Something was answered, and it is not what was asked for.
    fn arrived(&self) -> bool {
        match self {
            Trouble::Fetch(error) => error.is_of_content(),
            Trouble::Metadata(_) | Trouble::Answer(_) => true,
            Trouble::TooMany
            | Trouble::Refused(_)
            | Trouble::Directory(_)
            | Trouble::Token(_)
            | Trouble::Own(_) => false,
        }
    }

    /// What the audit trail calls it.
    pub fn code(&self) -> &'static str {
        match self {
            Trouble::TooMany => "too_many_attempts",
            Trouble::Fetch(_) | Trouble::Directory(_) => "provider_unreachable",
            Trouble::Metadata(_) => "provider_metadata",
            Trouble::Refused(_) => "provider_refused",
            Trouble::Answer(_) => "provider_answer",
            Trouble::Token(_) => "provider_token",
            Trouble::Own(_) => "provider_configuration",
        }
    }
}

/// One provider, asked on behalf of one caller.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// The realm whose provider it is.
    pub realm: &'a Realm,
    /// Its record.
    pub provider: &'a Provider,
    /// For whom.
    pub caller: Caller,
    /// Unix seconds.
    pub now: u64,
}

impl Asking<'_> {
    /// Counts a request to this URL.
    fn spend(&self, url: &str) -> Result<(), Trouble> {
        let spent = self
            .realm
            .budgets
            .spend_at(Act::Provider, self.caller, url, self.now);
        spent.map_err(|_| Trouble::TooMany)
    }

    async fn get(&self, url: &str, accept: &'static str) -> Result<bytes::Bytes, Trouble> {
        self.spend(url)?;
        Ok(self.realm.host.outbound.get(url, accept).await?)
    }

    async fn call(&self, call: &Call<'_>) -> Result<Reply, Trouble> {
        self.spend(call.url)?;
        Ok(self.realm.host.outbound.call(call).await?)
    }
}

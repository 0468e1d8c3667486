//! Client metadata as RFC 7591, RFC 8705, RFC 9126, RFC 9449 and OpenID Connect Registration name
//! it: the table of its members, reading, writing, and the checks that hold for every client,
//! whoever registered it.
mod check;
mod kind;
mod members;
mod read;
mod write;

pub use check::{BadMember, check, check_sector};
pub use kind::Shape;
pub use members::{MEMBERS, Member, SetBy};
pub(crate) use read::sector_identifier_uri;
pub use read::{Rules, read};
pub use write::{write, write_policy};

use crate::error::{ErrorCode, OAuthError};

fn invalid(description: &'static str) -> OAuthError {
    OAuthError::new(ErrorCode::InvalidClientMetadata, description)
}

fn invalid_redirect(description: &'static str) -> OAuthError {
    OAuthError::new(ErrorCode::InvalidRedirectUri, description)
}

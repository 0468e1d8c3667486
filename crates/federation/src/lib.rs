//! Other identity providers: this server as their client.
//!
//! - [`upstream`]: what is fetched of a provider, and what is believed of it; and whose a password
//!   is at a server that people move away from.
//! - [`upstream_tokens`]: the refresh tokens of providers that people's links keep, sealed.
//!
//! It knows no page and no session: the person's way there and back is the login's.
#![forbid(unsafe_code)]

mod mapped;
pub mod migrate;
pub mod profile;
pub mod upstream;
pub mod upstream_tokens;

pub use mapped::Mapped;

//! Fetching what a client's record points to: `jwks_uri`, `sector_identifier_uri`.
//!
//! Whoever may register a client chooses these URLs, so every fetch is treated as hostile: https only, no redirects, no
//! credentials, bounded in time and size, and never to an address that is not public. The name is resolved once and the
//! connection goes to the address that was checked, so that a second answer of the name server changes nothing.
mod address;
mod client_keys;
mod fetch;

pub use address::is_public;
pub use client_keys::ClientKeysCache;
pub use fetch::{FetchError, Outbound, OutboundOptions};

//! The keys that clients' records point to (`jwks_uri`), fetched and kept.
//!
//! The fetching itself, under its bounds, is signet-verify's: whoever may register a client chooses
//! these URLs, so every fetch is treated as hostile.
mod client_keys;
mod logos;

pub use client_keys::{ClientKeysCache, Payer};
pub use logos::{LOGO_LIFETIME, LOGO_RETRY, Logos, MAX_LOGO_BYTES, MAX_LOGOS};
pub use signet_verify::fetch::{Call, FetchError, Outbound, OutboundOptions, Reply, is_public};

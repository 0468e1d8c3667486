//! What was fetched of others and is kept for a while: the keys that clients' records point to
//! (`jwks_uri`, [`ClientKeysCache`]), and what identity providers say of themselves
//! ([`providers`]).
//!
//! The fetching itself, under its bounds, is signet-verify's: whoever may register a client chooses
//! these URLs, so every fetch is treated as hostile.
#![forbid(unsafe_code)]

mod client_keys;
pub mod providers;

pub use client_keys::{ClientKeysCache, Payer};
